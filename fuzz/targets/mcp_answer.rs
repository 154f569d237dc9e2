//! Gives arbitrary bytes to [`callgate_fuzz::mcp_answer`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::mcp_answer(data));
