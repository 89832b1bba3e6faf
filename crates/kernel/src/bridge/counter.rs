//! Payload by the kernel's counts of segments, which are of 32 bits and of changing size.

/// A count of segments in bytes. Segments count with the MSS that holds when they are counted, so
/// that neither a change of the MSS nor an overflow of the count moves what was counted before.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The count as last seen, its bytes, and the MSS.
    count: u32,
    bytes: u64,
    mss: u32,
    /// The count when the MSS changed last, and the MSS before.
    then: (u32, u32),
}

impl Counter {
    /// A count that stands at `count`, with segments of `mss` bytes.
    pub fn new(count: u32, mss: u32) -> Self {
        let bytes = u64::from(count) * u64::from(mss);
        Self { count, bytes, mss, then: (count, mss) }
    }

    /// The count stands at `count` now.
    pub fn count(&mut self, count: u32, mss: u32) {
        if mss != self.mss {
            self.then = (self.count, self.mss);
            self.mss = mss;
        }
        self.bytes += u64::from(count.wrapping_sub(self.count)) * u64::from(mss);
        self.count = count;
        // Long ago: the distance must not overflow.
        if count.wrapping_sub(self.then.0) > 1 << 31 {
            self.then = (count, mss);
        }
    }

    /// Bytes so far.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes since the count stood at `count`.
    pub fn since(&self, count: u32) -> u64 {
        let all = self.count.wrapping_sub(count);
        let newer = all.min(self.count.wrapping_sub(self.then.0));
        let (newer, older) = (u64::from(newer), u64::from(all - newer));
        (newer * u64::from(self.mss) + older * u64::from(self.then.1)).min(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^32 - 1000 segments of 1448 bytes, then 3000 more, as a connection of 6.2 TB has.
    #[test]
    fn a_count_overflows() {
        let mut counter = Counter::new(u32::MAX - 999, 1448);
        let before = counter.bytes();
        assert_eq!(before, (u64::from(u32::MAX) - 999) * 1448);
        counter.count(2000, 1448);
        assert_eq!(counter.bytes() - before, 3000 * 1448);
        assert_eq!(counter.since(u32::MAX - 999), 3000 * 1448);
        assert_eq!(counter.since(1990), 10 * 1448);
    }

    /// 100 segments of 8948 bytes before the MTU falls to 1500, and 10 after: what was delivered
    /// before keeps its bytes.
    #[test]
    fn segments_change_their_size() {
        let mut counter = Counter::new(0, 8948);
        counter.count(100, 8948);
        counter.count(110, 1448);
        assert_eq!(counter.bytes(), 100 * 8948 + 10 * 1448);
        assert_eq!(counter.since(105), 5 * 1448);
        assert_eq!(counter.since(90), 10 * 8948 + 10 * 1448);
    }
}
