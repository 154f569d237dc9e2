//! Commands that change something: write, replace, run.

use super::argv;
use super::deed::Deed;
use super::plan::Fault;
use super::words::{Phrase, Word, scan};

const WRITE: &str = "write \"hello\" to notes.txt";
const REPLACE: &str = "replace \"old\" with \"new\" in notes.txt";
const RUN: &str = "run make test";

/// Words between what is written and where.
const TO: [&str; 4] = ["to", "into", "in", "as"];
/// Words before the name of a file.
const FILE: [&str; 9] = ["a", "an", "the", "new", "empty", "file", "called", "named", "text"];
/// Words between a file and what comes into it.
const WITH: [&str; 5] = [":", "with", "containing", "saying", "that"];

/// A message whose first line ends with a colon and names a file, and whose other lines are to be
/// written into it.
pub(super) fn written_below(message: &str) -> Option<Deed> {
    let (first, below) = message.split_once('\n')?;
    let mut header = Phrase::new(first, scan(first));
    let has_colon = header.words.pop().is_some_and(|word| word.is(":"));
    header.eat_all(&["please"]);
    if !has_colon || !header.eat(&["write", "save", "put", "create"]) {
        return None;
    }
    header.eat_all(&["this", "the", "following", "text", "content", "lines"]);
    header.eat_all(&TO);
    header.eat_all(&FILE);
    header.eat_back(&["with", "containing", "saying", "this", "content", "text"]);
    let [Word { text: path, .. }] = header.words[..] else { return None };
    Some(Deed::Write {
        path: path.to_owned(),
        content: ended(unfenced(below.trim_start_matches('\n'))),
    })
}

/// What is between the fences of a code block, or the text itself.
fn unfenced(text: &str) -> &str {
    let inner = text.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.and_then(|inner| inner.split_once('\n')).map_or(text, |(_, code)| code)
}

/// A text file ends with the end of a line.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

pub(super) fn write(mut part: Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    if part.words.first().is_some_and(|word| word.is_one_of(&TO))
        || part.words.get(1).is_some_and(|word| word.is(":"))
    {
        part.eat(&TO);
        return create(part);
    }
    let is_path = |rest: &Phrase<'_>| path(rest).is_some();
    let (what, place) = part.split_last(&TO, is_path).ok_or(Fault::Unfinished(WRITE))?;
    let (content, path) = what.text().zip(path(&place)).ok_or(Fault::Unfinished(WRITE))?;
    Ok(vec![Deed::Write { path, content: ended(content) }])
}

/// The one path that is named.
fn path(part: &Phrase<'_>) -> Option<String> {
    let mut part = part.clone();
    part.eat_before(&FILE);
    match part.words[..] {
        [word] if !word.text.is_empty() => Some(word.text.to_owned()),
        _ => None,
    }
}

/// "create notes.txt with hello", "create an empty file notes.txt".
pub(super) fn create(mut part: Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    let is_empty = part.has(&["empty"]);
    part.eat_all(&FILE);
    let unfinished = || Fault::Unfinished("create notes.txt with \"hello\"");
    let (name, content) = match part.split_first(&WITH) {
        Some((name, mut content)) => {
            content.eat_all(&WITH);
            if content.words.len() > 1 {
                content.eat(&["the"]);
            }
            if content.words.len() > 1 && content.eat(&["text", "content", "contents", "line"]) {
                content.eat(&[":"]);
            }
            (name, ended(content.text().ok_or_else(unfinished)?))
        }
        None if is_empty => (part, String::new()),
        None => return Err(unfinished()),
    };
    let path = path(&name).ok_or_else(unfinished)?;
    Ok(vec![Deed::Write { path, content }])
}

/// "replace a with b in notes.txt", "change a to b in notes.txt everywhere".
pub(super) fn replace(mut part: Phrase<'_>, last: Option<&str>) -> Result<Vec<Deed>, Fault> {
    let is_everywhere = part.eat_back(&["everywhere"]) > 0;
    let place = part.split_last(&["in"], |rest| path(rest).is_some());
    let (what, place) = place.ok_or(Fault::Unfinished(REPLACE))?;
    let path = path(&place).map(|path| match last {
        Some(last) if place.has(&["it"]) => last.to_owned(),
        _ => path,
    });
    swap(what, path, is_everywhere)
}

/// "in notes.txt replace a with b", "edit notes.txt: replace a with b".
pub(super) fn edit(mut part: Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    let is_everywhere = part.eat_back(&["everywhere"]) > 0;
    let verbs = ["replace", "change", "substitute"];
    let (mut name, what) = part.split_first(&verbs).ok_or(Fault::Unfinished(REPLACE))?;
    name.eat_back(&[",", ":", "and", "to"]);
    swap(what, path(&name), is_everywhere)
}

/// "a with b", in a file.
fn swap(
    mut what: Phrase<'_>,
    path: Option<String>,
    is_everywhere: bool,
) -> Result<Vec<Deed>, Fault> {
    let is_everywhere = what.eat(&["all", "every", "each"]) || is_everywhere;
    what.eat_before(&["occurrences", "occurrence", "of"]);
    let halves = what.split_first(&["with", "by", "to", "into"]);
    let (old, new) = halves.ok_or(Fault::Unfinished(REPLACE))?;
    let is_nothing = matches!(new.words[..], [word] if word.is("nothing"));
    let new = if is_nothing { Some("") } else { new.text() };
    let (old, new) = old.text().zip(new).ok_or(Fault::Unfinished(REPLACE))?;
    let path = path.filter(|_| !old.is_empty()).ok_or(Fault::Unfinished(REPLACE))?;
    Ok(vec![Deed::Edit { path, old: old.to_owned(), new: new.to_owned(), is_everywhere }])
}

pub(super) fn run(mut part: Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    if part.words.len() > 1 && part.words[0].is("the") {
        part.eat(&["the"]);
        if !part.eat(&["command", "program"]) {
            return Err(Fault::Unfinished(RUN));
        }
    } else if part.words.len() > 1 {
        part.eat(&["command"]);
    }
    part.eat(&[":"]);
    let (line, cwd) = match &part.words[..] {
        [] => return Err(Fault::Unfinished(RUN)),
        [line] if line.quote.is_some() => (line.text, None),
        [line, in_, place] if line.quote == Some('`') && in_.is("in") => {
            (line.text, Some(place.text.to_owned()))
        }
        [.., in_, place] if in_.is("in") && part.words.len() > 2 => {
            return Err(Fault::Because(format!(
                "I cannot tell whether `in {}` belongs to the command. Put the command in \
                 backquotes: run `make test` in {}",
                place.text, place.text
            )));
        }
        _ => (part.text().unwrap_or_default(), None),
    };
    let argv = argv::split(line).map_err(Fault::Shell)?;
    if argv.first().is_none_or(String::is_empty) {
        return Err(Fault::Unfinished(RUN));
    }
    Ok(vec![Deed::Run { argv, cwd }])
}
