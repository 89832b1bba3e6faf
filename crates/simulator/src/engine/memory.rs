//! Hints to the machine about memory. They change nothing but the time that things take.
//!
//! With thousands of flows nearly everything that an event touches has left the caches since the
//! flow's last event. What the next events touch is known from the packets that are next in their
//! lane, so it is on its way while this one is computed. And where ten thousand flows have their
//! state on thousands of small pages, finding a page takes as long as reading it: large arrays ask
//! for large pages.

/// Bytes that the caches hold as one.
const LINE: usize = 64;
/// Bytes of a large page, of those machines that have them in this size.
const LARGE_PAGE: usize = 2 << 20;

/// Asks for the cache lines from byte `FROM` to before byte `TO` of a value, or to its end.
#[inline(always)]
pub fn prefetch<const FROM: usize, const TO: usize, T>(value: &T) {
    for line in FROM / LINE..TO.min(size_of::<T>()).div_ceil(LINE) {
        prefetch_line(std::ptr::from_ref(value).cast::<u8>().wrapping_add(line * LINE));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code)]
fn prefetch_line(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint that may be given any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// The language has no stable way to say it for other machines.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_address: *const u8) {}

/// An empty vector with this capacity, on large pages if it is large and the system has any.
pub fn vector<T>(capacity: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(capacity);
    let room = values.spare_capacity_mut();
    if size_of_val(room) >= 2 * LARGE_PAGE {
        use_large_pages(room.as_mut_ptr().cast(), size_of_val(room));
    }
    values
}

/// Reserves room for exactly this many more values. What is large is extended where it is.
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
    // Whole large pages within it, so that what lies beside it is left alone.
    let skipped = start.align_offset(LARGE_PAGE);
    let Some(whole) = bytes.checked_sub(skipped).map(|rest| rest / LARGE_PAGE * LARGE_PAGE) else { return };
    // SAFETY: a hint about memory that the vector owns; what it holds does not change. That it
    // fails where there are no large pages does not matter.
    unsafe { libc::madvise(start.wrapping_add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn use_large_pages(_start: *mut u8, _bytes: usize) {}
