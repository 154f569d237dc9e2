//! Gives arbitrary bytes to [`callgate_fuzz::prefixed`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::prefixed(data));
