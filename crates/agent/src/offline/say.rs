//! What the engine says of itself and of what it does not understand.

use super::deed::{Deed, in_words};
use super::plan::{Fault, LONGEST_MESSAGE, MOST_DEEDS};

/// Who speaks, in one line.
pub(super) const WHO: &str = "I am callgate's offline stand-in, not a model: I understand a \
    handful of commands and use the real tools. To talk to a model, set `ANTHROPIC_API_KEY` and \
    start again.";

/// Said where there is nothing to say.
pub(super) const NOTHING: &str = "I have nothing to add. Say `help` for what I understand.";

/// What can be said.
const EXAMPLES: &str = "\
- list files in src
- read README.md lines 1-20
- read Cargo.toml and README.md
- search for TODO in src
- find *.rs
- write \"hello\" to notes.txt
- replace \"hello\" with \"goodbye\" in notes.txt
- run make test
- system info
- list files, then read README.md";

/// How much of a message is repeated.
const LONGEST_QUOTE: usize = 120;

/// An answer to a message that asks for nothing to be done.
pub(super) fn small_talk(message: &str) -> Option<String> {
    let plain: String = message
        .chars()
        .take(80)
        .filter(|c| c.is_alphanumeric() || c.is_whitespace())
        .collect::<String>()
        .to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    match words.join(" ").as_str() {
        "" if message.chars().all(|c| "?!. ".contains(c)) => Some(help()),
        "help"
        | "help me"
        | "commands"
        | "usage"
        | "what can you do"
        | "what do you understand"
        | "what can i say"
        | "what can i ask"
        | "who are you"
        | "what are you"
        | "how do you work" => Some(help()),
        "hello" | "hi" | "hey" | "hello there" | "hi there" | "good morning" | "good evening"
        | "good afternoon" | "hallo" => {
            Some("Hello! Say `help` for what I understand, or try: list files".into())
        }
        "thanks" | "thank you" | "bye" | "goodbye" | "ok" | "okay" | "good" | "great" => {
            Some("You are welcome.".into())
        }
        "test" | "ping" => Some("I am here. Say `help` for what I understand.".into()),
        _ => None,
    }
}

fn help() -> String {
    format!(
        "{WHO}\n\nYou can say, for instance:\n\n{EXAMPLES}\n\nPut what has blanks in it in quotes. \
         One message may ask for several things with \"and\" and \"then\". Commands run without a \
         shell."
    )
}

/// The same words without the line of who speaks.
pub(super) fn without_who(words: &str) -> &str {
    words.strip_prefix(WHO).map_or(words, str::trim_start)
}

/// The answer to a message that was not understood. `part` is where.
pub(super) fn fault(message: &str, part: &str, fault: &Fault) -> String {
    let nothing = if part.trim() == message.trim() { "" } else { " I have done nothing yet." };
    let part = quote(part);
    match fault {
        Fault::Unknown => format!(
            "I do not understand {part}.{nothing} I am no model and know only a few commands, such \
             as:\n\n{EXAMPLES}"
        ),
        Fault::Unfinished(example) => format!(
            "I understand {part} only in part.{nothing} A whole command looks like this: {example}\n\
             \nPut what has blanks in it, or a word like \"then\", in quotes."
        ),
        Fault::Shell(why) => format!(
            "I run commands without a shell, and {part} needs one: {why}.{nothing} Run a single \
             program with its arguments, or ask for a shell yourself: run sh -c '…'"
        ),
        Fault::Because(why) => format!("{why}{nothing}"),
    }
}

fn quote(part: &str) -> String {
    let line = part.lines().next().unwrap_or_default();
    let end = line.floor_char_boundary(LONGEST_QUOTE);
    let shown: String = line[..end].chars().filter(|c| !c.is_control()).collect();
    let more = if end < part.trim_end().len() { "…" } else { "" };
    if shown.trim().is_empty() { "that".into() } else { format!("“{shown}{more}”") }
}

/// The answer to a message that is too long.
pub(super) fn too_long() -> String {
    format!(
        "That is too long for me: I read at most {LONGEST_MESSAGE} bytes. Say `help` for what I understand."
    )
}

/// The answer to a message that asks for too much.
pub(super) fn too_many() -> String {
    format!(
        "That is too much at once, so I have done nothing: ask for at most {MOST_DEEDS} things."
    )
}

/// Said where a tool is not there.
pub(super) fn missing(tool: &str) -> String {
    format!("I cannot do that: the tool {tool} is not available here.")
}

/// Said where something went wrong before all was done.
pub(super) fn stopped(left: &[Vec<Deed>]) -> String {
    let left = left.iter().flatten().map(|deed| in_words(deed.tool(), &deed.input()));
    format!("\n\nI stopped there. Not done: {}.", left.collect::<Vec<_>>().join(", "))
}
