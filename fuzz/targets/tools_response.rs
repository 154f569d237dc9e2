//! Gives arbitrary bytes to [`callgate_fuzz::tools_response`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::tools_response(data));
