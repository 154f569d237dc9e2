//! Gives arbitrary bytes to [`callgate_fuzz::judged`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::judged(data));
