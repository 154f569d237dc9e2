//! Commands that only look: list, read, search, find.

use super::deed::{Deed, Lines};
use super::plan::Fault;
use super::words::{Phrase, Word};

/// Words around the name of a folder.
const AROUND_FOLDER: [&str; 36] = [
    "all",
    "and",
    "are",
    "at",
    "content",
    "contents",
    "current",
    "directories",
    "directory",
    "everything",
    "file",
    "files",
    "folder",
    "folders",
    "from",
    "here",
    "in",
    "inside",
    "is",
    "me",
    "my",
    "names",
    "of",
    "project",
    "repo",
    "repository",
    "the",
    "there",
    "this",
    "under",
    "whats",
    "what’s",
    "what's",
    "what",
    "workspace",
    ",",
];
/// Words around the name of a file.
const AROUND_FILE: [&str; 13] = [
    "all", "and", "content", "contents", "file", "files", "me", "of", "out", "text", "the",
    "whole", ",",
];
/// Words that mean the last file or folder that was named.
const IT: [&str; 4] = ["it", "that", "this", "them"];
/// Words that say where something is looked for.
const IN: [&str; 5] = ["in", "inside", "under", "within", "below"];
/// Places that are the whole project.
const EVERYWHERE: [&str; 8] =
    ["here", "everywhere", "files", "project", "repo", "repository", "workspace", "folder"];

pub(super) fn list(part: &Phrase<'_>) -> Vec<Deed> {
    let paths: Vec<Deed> =
        named(part, &AROUND_FOLDER).map(|word| Deed::List { path: word.text.to_owned() }).collect();
    if paths.is_empty() { vec![Deed::List { path: ".".into() }] } else { paths }
}

/// The words that are no filler.
fn named<'a>(part: &Phrase<'a>, around: &'static [&str]) -> impl Iterator<Item = Word<'a>> {
    part.words
        .clone()
        .into_iter()
        .filter(move |word| !word.text.is_empty() && !word.is_one_of(around))
}

/// "what's in src", "what does notes.txt say".
pub(super) fn question(part: &Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    let asks_what_is_in =
        part.has(&["in", "inside", "here", "files", "say", "says", "contain", "contains", "under"]);
    let more =
        ["does", "do", "say", "says", "contain", "contains", "have", "has", "you", "see", "'s"];
    let names: Vec<Word<'_>> =
        named(part, &AROUND_FOLDER).filter(|word| !word.is_one_of(&more)).collect();
    match &names[..] {
        _ if !asks_what_is_in => Err(Fault::Unknown),
        [] => Ok(vec![Deed::List { path: ".".into() }]),
        [name] if is_file(name.text) => {
            Ok(vec![Deed::Read { path: name.text.to_owned(), lines: None }])
        }
        [name] => Ok(vec![Deed::List { path: name.text.to_owned() }]),
        _ => Err(Fault::Unknown),
    }
}

/// Whether it looks like the name of a file: it has a dot in it.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.trim_start_matches('.').contains('.')
}

pub(super) fn read(mut part: Phrase<'_>, last: Option<&str>) -> Result<Vec<Deed>, Fault> {
    const EXAMPLE: &str = "read README.md lines 1-20";
    let lines = take_lines(&mut part);
    part.eat_all(&AROUND_FILE);
    if lines.is_none() && part.has(&["what's", "whats", "what"]) {
        return question(&part);
    }
    if part.words.first().is_some_and(|word| word.is_one_of(&IN)) {
        return Ok(list(&part));
    }
    let place = part.split_last(&IN, |rest| named(rest, &AROUND_FOLDER).count() == 1);
    let (part, folder) = match place {
        Some((names, rest)) => (names, named(&rest, &AROUND_FOLDER).next()),
        None => (part, None),
    };
    let mut deeds = Vec::new();
    for word in named(&part, &AROUND_FILE) {
        let path = match (word.is_one_of(&IT), last, folder) {
            (true, Some(last), _) => last.to_owned(),
            (true, None, _) => return Err(Fault::Unfinished(EXAMPLE)),
            (_, _, Some(folder)) => format!("{}/{}", folder.text.trim_end_matches('/'), word.text),
            _ => word.text.to_owned(),
        };
        deeds.push(Deed::Read { path, lines });
    }
    if deeds.is_empty() { Err(Fault::Unfinished(EXAMPLE)) } else { Ok(deeds) }
}

/// Takes a range of lines out of the words: `lines 10-20`, `from line 10 to 20`, `first 5 lines`.
fn take_lines(part: &mut Phrase<'_>) -> Option<Lines> {
    let at = part.words.iter().position(|word| word.is_one_of(&["line", "lines"]))?;
    let number =
        |at: usize| part.words.get(at).filter(|word| word.quote.is_none())?.text.parse().ok();
    let before = |back: usize, words: &[&str]| {
        at.checked_sub(back).is_some_and(|at| part.words[at].is_one_of(words))
    };
    if before(2, &["first", "top"])
        && let Some(count) = number(at - 1)
    {
        part.words.drain(at - 2..=at);
        return Some(Lines { first: 1, count: Some(u64::max(count, 1)) });
    }
    let (first, last, used) = range(part, at + 1)?;
    let is_open = part.words[at].is("line") && before(1, &["from", "at"]);
    let start = (0..at).rev().take_while(|at| {
        part.words[*at].is_one_of(&["from", "at", "starting", "beginning", "with", ",", "("])
    });
    let start = start.last().unwrap_or(at);
    part.words.drain(start..at + 1 + used);
    let last = last.unwrap_or(if is_open { u64::MAX } else { first });
    let (first, last) = (first.min(last).max(1), first.max(last).max(1));
    Some(Lines { first, count: (last < u64::MAX).then(|| last - first + 1) })
}

/// The numbers from a word on: the first, the last if there is one, and how many words they took.
fn range(part: &Phrase<'_>, at: usize) -> Option<(u64, Option<u64>, usize)> {
    let text = |at: usize| part.words.get(at).filter(|word| word.quote.is_none()).map(|w| w.text);
    let first = text(at)?;
    if let Some((first, last)) = first.split_once(['-', '–', '—']) {
        return Some((first.parse().ok()?, Some(last.parse().ok()?), 1));
    }
    let first = first.parse().ok()?;
    let is_range = part
        .words
        .get(at + 1)
        .is_some_and(|word| word.is_one_of(&["to", "-", "–", "and", "until", "through", "till"]));
    let skip = usize::from(part.words.get(at + 2).is_some_and(|word| word.is("line")));
    match text(at + 2 + skip).and_then(|last| last.parse().ok()).filter(|_| is_range) {
        Some(last) => Some((first, Some(last), 3 + skip)),
        None => Some((first, None, 1)),
    }
}

/// Where to look, taken from the end: `… in src`, `… in the src folder`.
fn take_place(part: Phrase<'_>) -> (Phrase<'_>, Option<String>) {
    let around = ["the", "folder", "directory", "file", "all", "this", "my", "files", "whole"];
    let place = |rest: &Phrase<'_>| -> Option<Option<String>> {
        let names: Vec<Word<'_>> =
            rest.words.iter().filter(|word| !word.is_one_of(&around)).copied().collect();
        match &names[..] {
            [] if !rest.words.is_empty() => Some(None),
            [name] if name.is_one_of(&EVERYWHERE) => Some(None),
            [name] => Some(Some(name.text.to_owned())),
            _ => None,
        }
    };
    match part.split_last(&IN, |rest| place(rest).is_some()) {
        Some((before, rest)) => (before, place(&rest).flatten()),
        None => (part, None),
    }
}

pub(super) fn search(mut part: Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    const EXAMPLE: &str = "search for TODO in src";
    let is_for = part.eat(&["for"]);
    if part.words.first().is_some_and(|word| word.is_one_of(&["file", "files", "folders"])) {
        return find(part);
    }
    let mut path = None;
    if !is_for && let Some((place, pattern)) = part.split_first(&["for"]) {
        // "search src for TODO"
        let place: Vec<Word<'_>> = named(&place, &AROUND_FOLDER).collect();
        let [place] = &place[..] else { return Err(Fault::Unfinished(EXAMPLE)) };
        path = Some(place.text.to_owned());
        part = pattern;
    }
    text(part, path, EXAMPLE)
}

/// Looks for a text.
fn text(
    mut part: Phrase<'_>,
    path: Option<String>,
    example: &'static str,
) -> Result<Vec<Deed>, Fault> {
    let ignores_case = take_case(&mut part);
    let (mut part, place) = if path.is_some() { (part, path) } else { take_place(part) };
    if part.words.len() > 1 {
        part.eat_back(&["everywhere"]);
    }
    part.eat_before(&["all", "any", "the", "occurrences", "of", "lines", "with"]);
    part.eat_before(&["word", "text", "string", "phrase"]);
    let pattern = part.text().filter(|text| !text.is_empty());
    let pattern = pattern.ok_or(Fault::Unfinished(example))?.to_owned();
    Ok(vec![Deed::Text { pattern, path: place, ignores_case }])
}

/// Takes "ignoring case" away from the end.
fn take_case(part: &mut Phrase<'_>) -> bool {
    if part.words.len() > 2 && part.words[part.words.len() - 1].is("case") {
        let said = part.words[part.words.len() - 2].is_one_of(&["ignoring", "ignore", "any"]);
        if said {
            part.words.truncate(part.words.len() - 2);
            part.eat_back(&[",", "and"]);
            return true;
        }
    }
    false
}

pub(super) fn find(mut part: Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    const EXAMPLE: &str = "find *.rs in src";
    part.eat_before(&["me", "all", "the", "any", "every", "for", "out", "a"]);
    let texts = [
        "text",
        "lines",
        "line",
        "occurrences",
        "uses",
        "usages",
        "mentions",
        "word",
        "string",
        "phrase",
        "references",
    ];
    if part.words.len() > 1 && part.eat(&texts) {
        part.eat_all(&["of", "to", "with", "containing", "that", "contain", "have"]);
        return text(part, None, "search for TODO in src");
    }
    if part.words.len() > 1 && part.eat(&["file", "files", "folder", "folders"]) {
        let contents = ["containing", "mentioning", "contain", "mention", "contains", "mentions"];
        part.eat_all(&["that", "which", "whose"]);
        if part.words.len() > 1 && part.eat(&contents) {
            return text(part, None, "search for TODO in src");
        }
        part.eat_all(&[
            "named", "called", "matching", "like", "names", "name", "is", "with", "the",
        ]);
    }
    let (mut part, path) = take_place(part);
    if part.words.len() > 1 {
        part.eat_back(&["file", "files"]);
    }
    match &part.words[..] {
        [word] if !word.text.is_empty() && (word.quote.is_none() || !word.text.contains(' ')) => {
            Ok(vec![Deed::Names { pattern: word.text.to_owned(), path }])
        }
        [] => Err(Fault::Unfinished(EXAMPLE)),
        // Several words are hardly the name of a file.
        _ => text(part, path, EXAMPLE),
    }
}

/// "where is main.rs", "where is Desk defined".
pub(super) fn place(mut part: Phrase<'_>) -> Result<Vec<Deed>, Fault> {
    const EXAMPLE: &str = "where is main.rs";
    if part.eat_all(&["is", "are", "'s"]) == 0 {
        return Err(Fault::Unknown);
    }
    part.eat_all(&["the", "file", "word", "text"]);
    let said = ["defined", "used", "mentioned", "declared", "called", "written", "it"];
    let is_text = part.eat_back(&said) > 0;
    let (part, path) = take_place(part);
    match &part.words[..] {
        [word] if !is_text && word.quote.is_none() && is_file(word.text) => {
            Ok(vec![Deed::Names { pattern: word.text.to_owned(), path }])
        }
        [word] if word.is_one_of(&IT) => Err(Fault::Unfinished(EXAMPLE)),
        [_] => text(part, path, EXAMPLE),
        _ => Err(Fault::Unknown),
    }
}
