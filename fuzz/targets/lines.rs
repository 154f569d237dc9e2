//! Gives arbitrary bytes to [`callgate_fuzz::lines`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::lines(data));
