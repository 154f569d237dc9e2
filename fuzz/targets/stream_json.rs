//! Gives arbitrary bytes to [`callgate_fuzz::stream_json`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::stream_json(data));
