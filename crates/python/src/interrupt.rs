//! Ctrl-C that always ends the process.

use pyo3::prelude::*;

/// Exit status of a command that Ctrl-C ended: 128 + SIGINT.
#[cfg(unix)]
const INTERRUPTED: i32 = 128 + libc::SIGINT;

/// From now on the second SIGINT ends the process, whatever it is doing. Python itself only records
/// a signal until the main thread runs its next Python instruction, which an algorithm may never
/// reach. For commands, not for sessions in which a first Ctrl-C may have been long ago.
#[cfg(unix)]
#[pyfunction]
pub fn end_at_second_interrupt(py: Python<'_>) -> PyResult<()> {
    use std::io::{IsTerminal, Read, Write};
    use std::os::fd::IntoRawFd;

    let (mut signals, to_here) = std::io::pipe()?;
    // Open for the life of the process. Python's signal handler writes the number of each signal.
    let to_here = to_here.into_raw_fd();
    py.import("os")?.call_method1("set_blocking", (to_here, false))?;
    py.import("signal")?.call_method1("set_wakeup_fd", (to_here,))?;
    std::thread::spawn(move || {
        let mut interrupts = 0;
        let mut number = [0];
        while signals.read_exact(&mut number).is_ok() {
            interrupts += i32::from(i32::from(number[0]) == libc::SIGINT);
            if interrupts == 2 {
                let mut stderr = std::io::stderr();
                // A progress bar hides the cursor.
                let cursor = if stderr.is_terminal() { "\x1b[?25h" } else { "" };
                let _ = writeln!(stderr, "\r{cursor}selfclock: interrupted twice");
                exit_now();
            }
        }
    });
    Ok(())
}

/// Ends the process without handlers, which might wait for the hanging part.
#[cfg(unix)]
#[allow(unsafe_code)]
fn exit_now() -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(INTERRUPTED) }
}

/// Does nothing: there are no such signals here.
#[cfg(not(unix))]
#[pyfunction]
pub fn end_at_second_interrupt() {}
