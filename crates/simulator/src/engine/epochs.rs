//! Later values, in epochs: intervals of equal length, each sorted shortly before it begins.
//!
//! If every flow has a different delay, values are scheduled in no particular order, and sorted
//! lanes (see [`super::lanes`]) would be as many as the delays. A value is appended to its epoch
//! instead, whatever its position in it: no search, and no branch that depends on its time. An
//! epoch has some forty values, which are sorted while they are in the L1 cache. This is a calendar
//! queue (Brown 1988) whose days are sorted when they come, as in the ladder queue (Tang et al.
//! 2005).

use super::lanes::Due;
use super::memory;
use selfclock_congestion::units::Time;

/// Target number of values per epoch, and averages beyond which the length is adapted.
const AIM: u64 = 40;
const FEWEST: u64 = 14;
const MOST: u64 = 110;
/// Maximum number of values: two megabytes of packets. More would leave the cache before their
/// turn; a lane, written and read in order, is then faster whatever its length.
pub const MOST_VALUES: usize = 1 << 15;
/// Number of epochs in that average.
const OBSERVED: u64 = 64;
/// Keys of a chunk: two cache lines.
const CHUNK: usize = 16;
/// No chunk.
const NONE: u32 = u32::MAX;
/// Minimum and maximum number of epochs that are distinguished at once.
const FEWEST_EPOCHS: u64 = 1 << 10;
const MOST_EPOCHS: u64 = 1 << 20;
/// log2 of the longest and the shortest length, ps: a third of a second and a nanosecond.
const LONGEST: u32 = 38;
const SHORTEST: u32 = 10;

/// The keys of an epoch's values, in chunks. A key holds the time since the epoch began, and in its
/// low bits the value's slot.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    first: u32,
    last: u32,
    count: u32,
}

impl Epoch {
    const EMPTY: Self = Self { first: NONE, last: NONE, count: 0 };
}

/// Values by the epoch in which they are due.
#[derive(Clone, Debug)]
pub struct Epochs<T> {
    /// log2 of the length of an epoch, ps.
    shift: u32,
    /// Number of the first epoch that is still closed: earlier ones accept no values.
    closed: u64,
    /// Epochs, indexed by number modulo their count, a power of two.
    epochs: Vec<Epoch>,
    /// One bit per epoch: whether it has values.
    filled: Vec<u64>,
    /// Chunks of keys, the successor of each in its epoch or in the free list, and the head of that
    /// list.
    keys: Vec<[u64; CHUNK]>,
    next: Vec<u32>,
    free: u32,
    /// Values, each in the slot freed last, which is still in the cache, and the free slots.
    values: Vec<T>,
    left: Vec<u32>,
    /// Slot of the value added last.
    last: u32,
    count: usize,
    /// The earliest non-empty epoch, as last reported; `u64::MAX` without one.
    told: u64,
    /// Since the last adaptation of the length: epochs opened, their values, and values refused as
    /// too late.
    opened: u64,
    opened_values: u64,
    refused: u64,
    /// The keys of the epoch being opened, in order.
    sorted: Vec<u64>,
}

impl<T> Default for Epochs<T> {
    /// No epochs: nothing can be added.
    fn default() -> Self {
        Self {
            shift: SHORTEST,
            closed: 0,
            epochs: Vec::new(),
            filled: Vec::new(),
            keys: Vec::new(),
            next: Vec::new(),
            free: NONE,
            values: Vec::new(),
            left: Vec::new(),
            last: 0,
            count: 0,
            told: u64::MAX,
            opened: 0,
            opened_values: 0,
            refused: 0,
            sorted: Vec::new(),
        }
    }
}

impl<T: Due> Epochs<T> {
    /// Empty epochs, from this time on, for `count` values due within `span` ps.
    pub fn new(from: Time, span: u64, count: u64) -> Self {
        let mut epochs = Self::default();
        epochs.begin(from, shift_of((span / count.max(1)).saturating_mul(AIM)), FEWEST_EPOCHS);
        epochs
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the epoch of this time is closed, and near enough to be distinguished.
    #[inline(always)]
    pub fn takes(&mut self, time: Time) -> bool {
        let number = time.picoseconds() >> self.shift;
        // A number before the first closed one wraps to nearly 2^64.
        let takes = number.wrapping_sub(self.closed) < self.epochs.len() as u64;
        self.refused += u64::from(!takes && number > self.closed);
        takes
    }

    /// Adds a value to its epoch, which must [accept](Self::takes) it. True if this makes
    /// [`Self::opening`] earlier.
    #[inline(always)]
    pub fn add(&mut self, time: Time, value: &T) -> bool {
        let number = time.picoseconds() >> self.shift;
        self.last = match self.left.pop() {
            Some(place) => {
                self.values[place as usize] = *value;
                place
            }
            None => self.new_place(*value),
        };
        self.note(number, time, self.last);
        let is_earlier = number < self.told;
        if is_earlier {
            self.told = number;
        }
        is_earlier
    }

    /// The value added last.
    #[inline(always)]
    pub fn last_mut(&mut self) -> &mut T {
        &mut self.values[self.last as usize]
    }

    /// Adds the key of a value to its epoch.
    #[inline(always)]
    fn note(&mut self, number: u64, time: Time, place: u32) {
        let index = number as usize & (self.epochs.len() - 1);
        let offset = self.epochs[index].count as usize % CHUNK;
        if offset == 0 {
            self.add_chunk(index);
        }
        let epoch = &mut self.epochs[index];
        epoch.count += 1;
        self.count += 1;
        let within = time.picoseconds() - (number << self.shift);
        self.keys[epoch.last as usize][offset] = within << (64 - self.shift) | u64::from(place);
    }

    /// Grows by one slot.
    #[cold]
    #[inline(never)]
    fn new_place(&mut self, value: T) -> u32 {
        if self.values.len() == self.values.capacity() {
            // A large array grows by an eighth: see [`super::ring`].
            let more = (self.values.len() / 8).max(64);
            memory::reserve(&mut self.values, more);
        }
        self.values.push(value);
        (self.values.len() - 1) as u32
    }

    /// When to open the next epochs: one epoch ahead, so that values are known before their turn.
    pub fn opening(&self) -> Time {
        Time::from_picoseconds(self.told.saturating_sub(1) << self.shift)
    }

    /// Appends a chunk to an epoch.
    #[cold]
    #[inline(never)]
    fn add_chunk(&mut self, place: usize) {
        let mut chunk = self.free;
        if chunk == NONE {
            self.keys.push([0; CHUNK]);
            self.next.push(NONE);
            chunk = (self.next.len() - 1) as u32;
        } else {
            self.free = self.next[chunk as usize];
        }
        self.next[chunk as usize] = NONE;
        let epoch = &mut self.epochs[place];
        match epoch.last {
            NONE => epoch.first = chunk,
            last => self.next[last as usize] = chunk,
        }
        epoch.last = chunk;
        self.filled[place / 64] |= 1 << (place % 64);
    }

    /// Call at [`Self::opening`]. Shows the values of the opened epochs in the order of time and
    /// order number. True if there is a next opening to wait for that is not already awaited.
    pub fn open(&mut self, now: Time, mut show: impl FnMut(&T)) -> bool {
        if self.told == u64::MAX || self.opening() > now {
            return false;
        }
        let until = self.told + 1;
        while let Some(number) = self.first_filled().filter(|&number| number < until) {
            self.open_epoch(number, &mut show);
        }
        self.closed = self.closed.max(until);
        if self.opened >= OBSERVED {
            self.adapt(&mut show);
        }
        let first = self.first_filled();
        self.told = first.unwrap_or(u64::MAX);
        if let Some(first) = first {
            self.prefetch(first);
        }
        first.is_some()
    }

    /// The first epoch that has values.
    fn first_filled(&self) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let places = self.epochs.len() as u64;
        let mut number = self.closed;
        loop {
            let place = number & (places - 1);
            let rest = self.filled[place as usize / 64] >> (place % 64);
            if rest != 0 {
                return Some(number + u64::from(rest.trailing_zeros()));
            }
            number += 64 - place % 64;
        }
    }

    fn open_epoch(&mut self, number: u64, show: &mut impl FnMut(&T)) {
        self.closed = number + 1;
        let place = number as usize & (self.epochs.len() - 1);
        let Epoch { first, count, .. } = std::mem::replace(&mut self.epochs[place], Epoch::EMPTY);
        self.filled[place / 64] &= !(1 << (place % 64));
        self.count -= count as usize;
        self.opened += 1;
        self.opened_values += u64::from(count);
        self.sorted.clear();
        let (mut chunk, mut rest) = (first, count as usize);
        while chunk != NONE {
            self.sorted.extend(&self.keys[chunk as usize][..rest.min(CHUNK)]);
            rest = rest.saturating_sub(CHUNK);
            let behind = self.next[chunk as usize];
            self.next[chunk as usize] = self.free;
            self.free = chunk;
            chunk = behind;
        }
        self.sorted.sort_unstable();
        self.sort_equal_times();
        let places = self.places();
        for &key in &self.sorted {
            show(&self.values[(key & places) as usize]);
            self.left.push((key & places) as u32);
        }
    }

    /// The slot bits of a key.
    fn places(&self) -> u64 {
        (1 << (64 - self.shift)) - 1
    }

    /// Values at equal times are in the order of their order numbers.
    fn sort_equal_times(&mut self) {
        let places = self.places();
        let mut from = 0;
        while from + 1 < self.sorted.len() {
            let time = self.sorted[from] | places;
            let mut to = from + 1;
            while to < self.sorted.len() && self.sorted[to] <= time {
                to += 1;
            }
            if to - from > 1 {
                let values = &self.values;
                self.sorted[from..to].sort_unstable_by_key(|&key| values[(key & places) as usize].order());
            }
            from = to;
        }
    }

    /// Prefetches the values of an epoch.
    fn prefetch(&self, number: u64) {
        let (places, epoch) = (self.places(), self.epochs[number as usize & (self.epochs.len() - 1)]);
        let (mut chunk, mut rest) = (epoch.first, epoch.count as usize);
        while chunk != NONE {
            for &key in self.keys[chunk as usize].iter().take(rest) {
                memory::prefetch::<0, { usize::MAX }, T>(&self.values[(key & places) as usize]);
            }
            rest = rest.saturating_sub(CHUNK);
            chunk = self.next[chunk as usize];
        }
    }

    /// Adapts the length of the epochs when they have become too full, too empty, or too few.
    #[cold]
    fn adapt(&mut self, show: &mut impl FnMut(&T)) {
        let each = self.opened_values / self.opened;
        let too_few = self.refused > self.opened_values / 16;
        (self.opened, self.opened_values, self.refused) = (0, 0, 0);
        if (FEWEST..=MOST).contains(&each) && !too_few {
            return;
        }
        let length = (1_u64 << self.shift).saturating_mul(AIM) / each.max(1);
        let shift = shift_of(length);
        // An epoch that begins in the middle of a longer one must be opened before these can be.
        while shift > self.shift && !self.closed.is_multiple_of(1 << (shift - self.shift)) {
            self.open_epoch(self.closed, show);
        }
        let from = Time::from_picoseconds(self.closed << self.shift);
        let mut values: Vec<T> = Vec::with_capacity(self.count);
        while let Some(number) = self.first_filled() {
            self.open_epoch(number, &mut |value| values.push(*value));
        }
        let span = values.last().map_or(0, |last| last.time().since(from).picoseconds() >> shift);
        let wanted = if too_few { 2 * self.epochs.len() as u64 } else { self.epochs.len() as u64 };
        let places = wanted.max((2 * span).next_power_of_two()).max(FEWEST_EPOCHS);
        // A length that would need more epochs is not adopted.
        let (shift, places) =
            if places > MOST_EPOCHS { (self.shift, self.epochs.len() as u64) } else { (shift, places) };
        self.begin(from, shift, places);
        for value in &values {
            self.add(value.time(), value);
        }
        self.opened = 0;
        self.opened_values = 0;
    }

    /// Empty epochs of this length, the first of which begins at `from`.
    fn begin(&mut self, from: Time, shift: u32, places: u64) {
        self.shift = shift;
        self.closed = from.picoseconds().div_ceil(1 << shift);
        self.epochs.clear();
        self.epochs.resize(places as usize, Epoch::EMPTY);
        self.filled.clear();
        self.filled.resize(places as usize / 64, 0);
    }
}

/// log2 of about this length.
fn shift_of(length: u64) -> u32 {
    (63 - length.max(1).leading_zeros()).clamp(SHORTEST, LONGEST)
}
