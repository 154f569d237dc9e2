//! The program `callgate-hook`: `callgate hook` and nothing else.
//!
//! An agent starts a hook at every step and waits for it. A small program starts sooner than the
//! large one, which has thousands of relocations to process first.

#[allow(dead_code, reason = "a hook looks for what opens the gate, and reports nothing else")]
mod claude_settings;
#[allow(dead_code, unused_imports, reason = "a hook uses few of the settings, and no flags")]
mod config;
mod disk;
mod hook;
#[allow(dead_code, reason = "a hook recognises commands, and writes none")]
mod hook_command;
#[allow(dead_code, reason = "a hook judges one call, and then ends")]
mod policy;
#[allow(dead_code, reason = "the settings know how to get a token, which a hook has no use for")]
mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    hook::main(std::env::args_os().skip(1))
}
