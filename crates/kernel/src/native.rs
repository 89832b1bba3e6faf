//! Entry points for the kernel part in `bpf/native.bpf.c`: a connection under an algorithm, decided
//! in the kernel. Compiled for BPF alone; on the host the same [`Flow`] replays what was recorded.

/// The entry points of an object: `object! { TYPE, words, |setup, next| controller }` for a
/// [`Flow`](crate::bridge::Flow) of this type of controller, whose parameters are `u64` words
/// ([`Selection::parameter_words`]), handed over by `next`.
///
/// [`Selection::parameter_words`]: selfclock_congestion::Selection::parameter_words
#[macro_export]
macro_rules! object {
    ($control:ty, $words:expr, |$setup:ident, $next:ident| $make:expr) => {
        type SelfclockFlow = $crate::bridge::Flow<$control>;

        /// Bytes that a connection takes.
        #[unsafe(no_mangle)]
        pub static SC_FLOW_SIZE: u64 = size_of::<SelfclockFlow>() as u64;

        /// A connection begins.
        ///
        /// # Safety
        /// `place` has room for a connection.
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
                // Of no value, hence the default.
                if given { words[at & 63] } else { u64::MAX }
            };
            unsafe { place.write($crate::bridge::Flow::new(event, |$setup| $make)) };
        }

        /// An ACK of a connection.
        #[unsafe(no_mangle)]
        pub extern "C" fn sc_ack(
            flow: &mut SelfclockFlow,
            event: &$crate::event::KernelEvent,
            answer: &mut $crate::bridge::Answer,
        ) {
            *answer = flow.ack(event);
        }

        /// Something else happened to a connection: apart, for the stack of a program is small.
        #[unsafe(no_mangle)]
        pub extern "C" fn sc_other(
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
