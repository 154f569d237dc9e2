//! callgate: one program between a coding agent, your code, your screen and you.
//!
//! The commands that agents start come first, before anything is parsed or set up, because somebody
//! waits while they start.

mod agent;
mod agents;
mod answer_places;
mod ask;
mod chat;
mod cli;
mod config;
mod config_command;
mod doctor;
mod errand_thread;
mod failure;
mod install;
mod invocation;
mod left_open;
mod log;
mod machines;
mod mcp;
mod open;
mod pair;
mod program;
mod relay;
mod relay_command;
mod remote;
mod rules;
mod secrets;
mod served_settings;
mod shared_questions;
mod status;
mod stop;
mod team;
mod team_command;
mod team_database;
mod team_desk;
mod team_register;
mod terminal;
mod uninstall;
mod up;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(command) if command == "bridge" => callgate_tools::bridge::main(arguments),
        Some(command) if command == "hook" => callgate_hooks::main(arguments),
        Some(command) if command == "agent" => {
            agent::main(arguments).unwrap_or_else(cli::run_command_line)
        }
        _ => cli::run_command_line(),
    }
}
