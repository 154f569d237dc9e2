//! Asks Claude Code something that only a function of this process can answer.
//!
//! `cargo run --example ask_claude` needs the Claude Code CLI, installed and signed in. It prints
//! events as they happen: what the agent says, which function it calls, and what that returns.

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use std::sync::atomic::{AtomicU32, Ordering};

use callgate_claude::{ClaudeEvent, Model, ToolTransport, blocking};
use callgate_tools::{Host, NoArguments, Tool};

static TICKETS: AtomicU32 = AtomicU32::new(41);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let draw = Tool::blocking("draw_ticket", "Draws the next ticket.", |_: NoArguments, _| {
        format!("ticket {}", TICKETS.fetch_add(1, Ordering::Relaxed) + 1)
    });
    let mut model = Model::new();
    model.set_tools(Host::new([draw])?, ToolTransport::Auto);

    let question = std::env::args().nth(1);
    let question = question.unwrap_or_else(|| "Draw two tickets and tell me both numbers.".into());
    for event in blocking::stream(&model, question)? {
        match event? {
            ClaudeEvent::Started(started) => println!("agent    {} is ready", started.model),
            ClaudeEvent::Text(text) => println!("says     {text}"),
            ClaudeEvent::ToolUse(call) => println!("calls    {} {}", call.name, call.input),
            ClaudeEvent::ToolResult(result) => println!("gets     {}", result.text()),
            ClaudeEvent::Finished(answer) => {
                println!("answer   {}", answer.text);
                println!("cost     {} dollars", answer.cost_usd.unwrap_or_default());
            }
            _ => {}
        }
    }
    println!("tickets drawn here: {}", TICKETS.load(Ordering::Relaxed) - 41);
    Ok(())
}
