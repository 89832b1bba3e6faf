//! Memory hints. They affect only speed.
//!
//! With thousands of flows nearly everything that an event touches has left the caches since the
//! flow's last event. The next packets of a lane show what the next events will touch, so it is
//! prefetched while this one is computed. And where ten thousand flows have their state on
//! thousands of small pages, finding a page takes as long as reading it: large arrays request large
//! pages.

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a large page, on machines with this size.
const LARGE_PAGE: usize = 2 << 20;

/// Prefetches the cache lines from byte `FROM` up to byte `TO` of a value, or to its end.
#[inline(always)]
pub fn prefetch<const FROM: usize, const TO: usize, T>(value: &T) {
    prefetch_at::<FROM, TO, T>(value);
}

/// The same of whatever is at an address, which need not be valid.
#[inline(always)]
pub fn prefetch_at<const FROM: usize, const TO: usize, T>(address: *const T) {
    for line in FROM / LINE..TO.min(size_of::<T>()).div_ceil(LINE) {
        prefetch_line(address.cast::<u8>().wrapping_add(line * LINE));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code)]
fn prefetch_line(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint, valid for any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// No stable equivalent for other machines.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_address: *const u8) {}

/// An empty vector with this capacity, on large pages if it is large and the system supports them.
pub fn vector<T>(capacity: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(capacity);
    let room = values.spare_capacity_mut();
    if size_of_val(room) >= 2 * LARGE_PAGE {
        use_large_pages(room.as_mut_ptr().cast(), size_of_val(room));
    }
    values
}

/// Reserves room for exactly this many more values. Large vectors are extended in place.
pub fn reserve<T>(values: &mut Vec<T>, more: usize) {
    values.reserve_exact(more);
    let bytes = values.capacity() * size_of::<T>();
    if bytes >= 2 * LARGE_PAGE {
        use_large_pages(values.as_mut_ptr().cast(), bytes);
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn use_large_pages(start: *mut u8, bytes: usize) {
    // Only whole large pages inside it, so that neighbouring memory is unaffected.
    let skipped = start.align_offset(LARGE_PAGE);
    let Some(whole) = bytes.checked_sub(skipped).map(|rest| rest / LARGE_PAGE * LARGE_PAGE) else { return };
    // SAFETY: a hint about memory that the vector owns; its contents do not change. Failure,
    // without large pages, is harmless.
    unsafe { libc::madvise(start.wrapping_add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn use_large_pages(_start: *mut u8, _bytes: usize) {}
