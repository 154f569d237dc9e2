//! `callgate agent`: the agent runtime.

mod gate;
mod settings;
