//! Exports of the module: a request buffer, a call, and the location of its reply.
//!
//! Plain exports, not `wasm-bindgen`: functions of numbers need no generated JavaScript and no tool
//! of a matching version.

// An exported name must be unique in the program, which the compiler cannot check; there is no
// other unsafe code.
#![allow(unsafe_code)]

use crate::laboratory::Laboratory;
use crate::reply::Reply;
use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = RefCell::default();
    static LABORATORY: RefCell<Laboratory> = RefCell::default();
    static REPLY: RefCell<Reply> = RefCell::default();
    static PANIC: RefCell<String> = RefCell::default();
}

/// Makes room for a request of `length` bytes of UTF-8; returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *const u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; length];
        input.as_ptr()
    })
}

/// Processes the request. After a trap the module is unusable; [`panic`] may know why.
#[unsafe(no_mangle)]
pub extern "C" fn call() {
    std::panic::set_hook(Box::new(|reason| PANIC.set(reason.to_string())));
    let request = String::from_utf8_lossy(&INPUT.take()).into_owned();
    REPLY.set(LABORATORY.with_borrow_mut(|laboratory| laboratory.answer(&request)));
}

/// Address of the JSON of the last reply.
#[unsafe(no_mangle)]
pub extern "C" fn json() -> *const u8 {
    REPLY.with_borrow(|reply| reply.json.as_ptr())
}

/// Length of the JSON of the last reply, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn json_length() -> usize {
    REPLY.with_borrow(|reply| reply.json.len())
}

/// Address of the arrays of the last reply.
#[unsafe(no_mangle)]
pub extern "C" fn arrays() -> *const u8 {
    REPLY.with_borrow(|reply| reply.arrays.bytes().as_ptr())
}

/// Length of the arrays of the last reply, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn arrays_length() -> usize {
    REPLY.with_borrow(|reply| reply.arrays.bytes().len())
}

/// Address of the reason of a panic.
#[unsafe(no_mangle)]
pub extern "C" fn panic() -> *const u8 {
    PANIC.with_borrow(|reason| reason.as_ptr())
}

/// Length of the reason of a panic, in bytes; zero without one.
#[unsafe(no_mangle)]
pub extern "C" fn panic_length() -> usize {
    PANIC.with_borrow(String::len)
}
