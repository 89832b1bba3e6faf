//! Storage of a rarely used part of a connection.

/// A value on the heap, so that its holder stays small.
#[cfg(not(target_arch = "bpf"))]
pub type Held<T> = alloc::boxed::Box<T>;

/// A value stored inline: a program in the Linux kernel cannot allocate memory.
#[cfg(target_arch = "bpf")]
#[derive(Clone, Debug, Default)]
pub struct Held<T>(T);

#[cfg(target_arch = "bpf")]
impl<T> Held<T> {
    /// Holds this value.
    #[inline(always)]
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

#[cfg(target_arch = "bpf")]
impl<T> core::ops::Deref for Held<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(target_arch = "bpf")]
impl<T> core::ops::DerefMut for Held<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
