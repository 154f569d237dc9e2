//! Gives arbitrary bytes to [`callgate_fuzz::hook_input`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::hook_input(data));
