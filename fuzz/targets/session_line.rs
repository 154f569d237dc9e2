//! Gives arbitrary bytes to [`callgate_fuzz::session_line`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::session_line(data));
