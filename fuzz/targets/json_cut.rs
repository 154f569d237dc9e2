//! Gives arbitrary bytes to [`callgate_fuzz::json_cut`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::json_cut(data));
