//! Entry points for the kernel part in `bpf/native.bpf.c`: one connection under an algorithm,
//! decided in the kernel. Compiled only for BPF; on the host the same [`Flow`] replays recordings.

/// The entry points of an object: `object! { TYPE, words, |setup, next| controller }` for a
/// [`Flow`](crate::bridge::Flow) of this type of controller, whose parameters are `u64` words
/// ([`Selection::parameter_words`]), supplied by `next`.
///
/// [`Selection::parameter_words`]: selfclock_congestion::Selection::parameter_words
#[macro_export]
macro_rules! object {
    ($control:ty, $words:expr, |$setup:ident, $next:ident| $make:expr) => {
        type SelfclockFlow = $crate::bridge::Flow<$control>;

        /// Size of a connection in bytes.
        #[unsafe(no_mangle)]
        pub static SC_FLOW_SIZE: u64 = size_of::<SelfclockFlow>() as u64;

        // C reserves `u64[FLOW_WORDS]` of SC_FLOW_SIZE bytes.
        const _: () = assert!(align_of::<SelfclockFlow>() <= align_of::<u64>());
        const _: () = assert!(size_of::<SelfclockFlow>().is_multiple_of(size_of::<u64>()));

        /// A connection begins.
        ///
        /// # Safety
        /// `place` is aligned to 8 bytes and has room for a connection; the references are valid.
        #[unsafe(no_mangle)]
        #[allow(unused_mut, unused_variables)]
        pub unsafe extern "C" fn sc_begin(
            place: *mut SelfclockFlow,
            event: &$crate::event::KernelEvent,
            words: &[u64; 64],
        ) {
            let mut at = 0;
            let given = words[0] == $words as u64;
            let mut $next = || {
                at += 1;
                // An invalid word selects the default.
                if given { words[at & 63] } else { u64::MAX }
            };
            // SAFETY: aligned and large enough, as the caller vouches.
            unsafe { place.write($crate::bridge::Flow::new(event, |$setup| $make)) };
        }

        /// An ACK of a connection.
        ///
        /// # Safety
        /// `flow` was begun by [`sc_begin`], and nobody else accesses it or the answer.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn sc_ack(
            flow: &mut SelfclockFlow,
            event: &$crate::event::KernelEvent,
            answer: &mut $crate::bridge::Answer,
        ) {
            *answer = flow.ack(event);
        }

        /// Any other event of a connection; separate from ACKs because a program has a small stack.
        ///
        /// # Safety
        /// As of [`sc_ack`].
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn sc_other(
            flow: &mut SelfclockFlow,
            event: &$crate::event::KernelEvent,
            answer: &mut $crate::bridge::Answer,
        ) {
            *answer = flow.change(event);
        }

        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            loop {}
        }
    };
}
