//! Gives arbitrary bytes to [`callgate_fuzz::approval_line`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::approval_line(data));
