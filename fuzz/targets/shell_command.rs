//! Gives arbitrary bytes to [`callgate_fuzz::shell_command`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::shell_command(data));
