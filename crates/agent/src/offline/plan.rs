//! From a message to what is to be done.

use super::deed::Deed;
use super::words::{Phrase, Word, scan};
use super::{change, look, say};

/// How many things one message may ask for.
pub(super) const MOST_DEEDS: usize = 10;
/// How much of a message is looked at; only what is to be written may be longer.
pub(super) const LONGEST_MESSAGE: usize = 1024 * 1024;

/// What a message asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// These steps, one after the other; what is in one step may happen at once.
    Do(Vec<Vec<Deed>>),
    /// An answer without doing anything.
    Say(String),
}

/// Why a part of a message leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is no command.
    Unknown,
    /// It is the beginning of one; this is a whole one.
    Unfinished(&'static str),
    /// It cannot be run without a shell, and why.
    Shell(String),
    /// Something else is in the way.
    Because(String),
}

/// How a part of a message follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glue {
    And,
    Then,
}

/// Words with which a part begins that asks for something.
const VERBS: [&str; 27] = [
    "cat",
    "change",
    "create",
    "display",
    "edit",
    "exec",
    "execute",
    "find",
    "grep",
    "list",
    "locate",
    "look",
    "ls",
    "open",
    "print",
    "put",
    "read",
    "replace",
    "run",
    "save",
    "search",
    "show",
    "start",
    "substitute",
    "view",
    "what's",
    "write",
];
/// Words before it that ask for nothing.
const POLITE: [&str; 28] = [
    "please",
    "can",
    "could",
    "would",
    "will",
    "you",
    "hey",
    "hi",
    "hello",
    "ok",
    "okay",
    "now",
    "first",
    "next",
    "also",
    "just",
    "kindly",
    "and",
    "then",
    "let's",
    "lets",
    "i",
    "want",
    "to",
    "need",
    "finally",
    ",",
    "afterwards",
];

/// Reads a message.
pub(super) fn plan(message: &str) -> Plan {
    if message.len() > LONGEST_MESSAGE {
        return Plan::Say(say::too_long());
    }
    let message = unquoted(message.trim());
    if let Some(words) = say::small_talk(message) {
        return Plan::Say(words);
    }
    match steps(message) {
        Ok(steps) if steps.iter().map(Vec::len).sum::<usize>() > MOST_DEEDS => {
            Plan::Say(say::too_many())
        }
        Ok(steps) => Plan::Do(steps),
        Err((part, fault)) => Plan::Say(say::fault(message, part, &fault)),
    }
}

/// A message that stands in quotes as a whole, without them.
fn unquoted(message: &str) -> &str {
    match scan(message)[..] {
        [Word { text, quote: Some(_), .. }] => text.trim(),
        _ => message,
    }
}

/// The steps of a message; of one that is not understood the part that is not, and why.
fn steps(message: &str) -> Result<Vec<Vec<Deed>>, (&str, Fault)> {
    if let Some(deed) = change::written_below(message) {
        return Ok(vec![vec![deed]]);
    }
    let mut steps: Vec<Vec<Deed>> = Vec::new();
    for (glue, words) in parts(message) {
        let part = Phrase::new(message, words);
        let shown = part.text().unwrap_or(message);
        let last = steps.iter().flatten().rev().find_map(Deed::path).map(ToOwned::to_owned);
        let deeds = read(part, last.as_deref()).map_err(|fault| (shown, fault))?;
        let may_join = |step: &&mut Vec<Deed>| {
            glue == Glue::And && step.iter().chain(&deeds).all(Deed::is_read_only)
        };
        match steps.last_mut().filter(may_join) {
            Some(step) => step.extend(deeds),
            None => steps.push(deeds),
        }
        if steps.iter().map(Vec::len).sum::<usize>() > MOST_DEEDS {
            break;
        }
    }
    if steps.is_empty() { Err((message, Fault::Unknown)) } else { Ok(steps) }
}

/// The parts of a message, each of which asks for one kind of thing.
fn parts(message: &str) -> Vec<(Glue, Vec<Word<'_>>)> {
    let mut parts = vec![(Glue::Then, Vec::new())];
    let words = scan(message);
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1);
        let glue = if word.is_one_of(&["then", "\n"]) {
            Some(Glue::Then)
        } else if word.is("and") && next.is_some_and(|next| next.is_one_of(&VERBS)) {
            Some(Glue::And)
        } else {
            None
        };
        match (glue, parts.last_mut()) {
            (Some(glue), _) => parts.push((glue, Vec::new())),
            (None, Some((_, part))) => part.push(*word),
            (None, None) => {}
        }
    }
    let is_filled = |part: &(Glue, Vec<Word<'_>>)| !is_filler(&part.1);
    parts.into_iter().filter(is_filled).collect()
}

fn is_filler(words: &[Word<'_>]) -> bool {
    words.iter().all(|word| word.is_one_of(&[",", ";", "and", "then"]))
}

/// Reads one part. `last` is the file or folder that was named before, which `it` means.
fn read(mut part: Phrase<'_>, last: Option<&str>) -> Result<Vec<Deed>, Fault> {
    let is_question = part.words.iter().take(3).any(|word| {
        word.is_one_of(&["what", "what's", "whats", "which", "where", "can", "could", "would"])
    });
    part.eat_all(&POLITE);
    part.eat_back(&[",", ";", "and"]);
    part.eat_stop(is_question);
    part.eat_back(&["please", "thanks", ","]);
    if let [.., for_, me] = &part.words[..]
        && for_.is("for")
        && me.is("me")
    {
        part.words.truncate(part.words.len() - 2);
    }
    part.eat_stop(is_question);
    if is_about_system(&part) {
        return Ok(vec![Deed::System]);
    }
    let Some(verb) = part.words.first().copied() else { return Err(Fault::Unknown) };
    if verb.quote.is_some() {
        return Err(Fault::Unknown);
    }
    part.words.remove(0);
    match verb.text.to_lowercase().as_str() {
        "list" | "ls" | "dir" | "list_files" => Ok(look::list(&part)),
        "what's" | "whats" | "what’s" | "what" | "which" => look::question(&part),
        "read" | "show" | "cat" | "open" | "view" | "print" | "display" | "read_file" => {
            look::read(part, last)
        }
        "look" if part.eat(&["at"]) => look::read(part, last),
        "look" if part.eat(&["in", "into", "inside"]) => Ok(look::list(&part)),
        "search" | "grep" | "look" | "search_text" => look::search(part),
        "find" | "locate" | "search_files" => look::find(part),
        "where" => look::place(part),
        "write" | "save" | "put" | "write_file" => change::write(part),
        "create" => change::create(part),
        "replace" | "change" | "substitute" => change::replace(part, last),
        "edit" | "in" | "edit_file" => change::edit(part),
        "run" | "execute" | "exec" | "start" | "$" | "run_shell_command" => change::run(part),
        _ => Err(Fault::Unknown),
    }
}

/// Whether the machine is meant: "system info", "what machine is this".
fn is_about_system(part: &Phrase<'_>) -> bool {
    let begins = part.words.first().is_some_and(|word| {
        word.is_one_of(&[
            "about",
            "describe",
            "get",
            "get_system_info",
            "give",
            "machine",
            "os",
            "show",
            "sysinfo",
            "system",
            "tell",
            "what",
            "which",
        ])
    });
    let things = ["system", "machine", "computer", "os", "sysinfo", "get_system_info"];
    let others = ["in", "file", "files", "folder", "named", "called", "does", "say"];
    begins && part.words.len() <= 8 && part.has(&things) && !part.has(&others)
}
