//! Later values, by epochs: stretches of time of one length, each sorted shortly before it begins.
//!
//! Where every flow has a delay of its own, what is scheduled comes in no order, and sorted lanes
//! (see [`super::lanes`]) would be as many as there are delays. A value is appended to its epoch
//! instead, wherever in it it falls: no search, and no branch that depends on its time. An epoch
//! has some forty values, which are sorted while they are in the first cache. This is a calendar
//! queue (Brown 1988) whose days are sorted when they come, as in the ladder queue (Tang et al.
//! 2005).

use super::lanes::Due;
use super::memory;
use selfclock_congestion::units::Time;

/// Values of an epoch that its length aims at, and those beyond which, on average, it is set anew.
const AIM: u64 = 40;
const FEWEST: u64 = 14;
const MOST: u64 = 110;
/// Values at most: two megabytes of packets. More would leave the cache before their turn, and a
/// lane, which is written and read in its order, is then quicker however many there are.
pub const MOST_VALUES: usize = 1 << 15;
/// Epochs over which that average is taken.
const OBSERVED: u64 = 64;
/// Keys of a chunk: two cache lines.
const CHUNK: usize = 16;
/// No chunk.
const NONE: u32 = u32::MAX;
/// Epochs that are told apart at once, at least and at most.
const FEWEST_EPOCHS: u64 = 1 << 10;
const MOST_EPOCHS: u64 = 1 << 20;
/// log2 of the longest and the shortest length, ps: a third of a second and a nanosecond.
const LONGEST: u32 = 38;
const SHORTEST: u32 = 10;

/// The keys of the values of an epoch, in chunks. A key is the time since the epoch began, and in
/// the low bits the value's place.
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
    /// Number of the first epoch that is still closed: values of earlier ones are not taken in.
    closed: u64,
    /// Epochs, by their number modulo how many there are, a power of two.
    epochs: Vec<Epoch>,
    /// For each of them a bit: it has values.
    filled: Vec<u64>,
    /// Chunks of keys, the chunk behind each in its epoch or among the free ones, and the first of
    /// those.
    keys: Vec<[u64; CHUNK]>,
    next: Vec<u32>,
    free: u32,
    /// Values, each in the place that was left last, which is still in the cache, and the places
    /// that are left.
    values: Vec<T>,
    left: Vec<u32>,
    /// The place of the value added last.
    last: u32,
    count: usize,
    /// The earliest epoch with values, as far as has been told; `u64::MAX`: there is none.
    told: u64,
    /// Of the epochs opened since the length was looked at: how many, and how many values they had;
    /// values refused as too late.
    opened: u64,
    opened_values: u64,
    refused: u64,
    /// The keys of the epoch that is being opened, in order.
    sorted: Vec<u64>,
}

impl<T> Default for Epochs<T> {
    /// None: nothing can be added.
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

    /// The epoch of this time is closed, and not too far away to be told apart.
    #[inline(always)]
    pub fn takes(&mut self, time: Time) -> bool {
        let number = time.picoseconds() >> self.shift;
        // A number before the first closed one is ahead by nearly 2^64.
        let takes = number.wrapping_sub(self.closed) < self.epochs.len() as u64;
        self.refused += u64::from(!takes && number > self.closed);
        takes
    }

    /// Adds a value to its epoch, which must be one that [takes](Self::takes) it. True if
    /// [`Self::opening`] is earlier now.
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

    /// One more place for a value.
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

    /// When to open the epochs next: one epoch ahead, so that what comes is known before its turn.
    pub fn opening(&self) -> Time {
        Time::from_picoseconds(self.told.saturating_sub(1) << self.shift)
    }

    /// One more chunk at the end of an epoch.
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

    /// The time of [`Self::opening`] has come. Shows the values of the epochs that are opened, in
    /// the order of time and order number. True if there is a next opening to wait for; where an
    /// earlier one came in between, it is waited for already.
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

    /// The bits of a key that are a place.
    fn places(&self) -> u64 {
        (1 << (64 - self.shift)) - 1
    }

    /// Values at one time stand in the order of their order numbers.
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

    /// Asks for the values of an epoch.
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

    /// Sets the length of the epochs anew where they have become too full, too empty, or too few.
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
        // An epoch that begins in the middle of a longer one has to be opened before these can be.
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
        // Lengths that would need more are left alone.
        let (shift, places) =
            if places > MOST_EPOCHS { (self.shift, self.epochs.len() as u64) } else { (shift, places) };
        self.begin(from, shift, places);
        for value in &values {
            self.add(value.time(), value);
        }
        self.opened = 0;
        self.opened_values = 0;
    }

    /// Empty epochs of this length, the first of which begins then.
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
