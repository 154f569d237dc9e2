//! The program `callgate-hook`: `callgate hook` and nothing else.
//!
//! An agent starts a hook at every step and waits for it. A small program starts sooner than the
//! large one, which has thousands of relocations to process first.

use std::process::ExitCode;

fn main() -> ExitCode {
    callgate_hooks::main(std::env::args_os().skip(1))
}
