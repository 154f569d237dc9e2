//! Programs that pass what they read, or what they find, to another one: `xargs`, `find -exec`.

use callgate_mask::programs::is_one_of;
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use super::ShellCommand;
use super::names::LANGUAGES;
use super::values::{ShellValues, split_value};
use super::word::{ShellWord, WordPiece};

/// Programs that append what they read to the words of another program.
const FEEDERS: &WordList = words!("xargs gxargs parallel");
/// Programs that put what they find into the words of another program.
const FINDERS: &WordList = words!("find gfind fd fdfind");
/// The most forms of a command that are made of what it reads. Each is judged by itself.
const MOST_READ: usize = 8;

/// Returns the forms of a command with the words that it gets from elsewhere.
pub(super) fn fed_forms(command: ShellCommand, values: &ShellValues<'_>) -> Vec<ShellCommand> {
    let names = |list: &WordList| {
        let mut texts = command.words.iter().flat_map(ShellWord::texts);
        texts.any(|text| is_one_of(&text, list))
    };
    if names(FEEDERS) {
        return with_read(&command, values);
    }
    if command.is_piped && command.words.first().is_some_and(|word| word.could_name(LANGUAGES)) {
        return with_program(command, values);
    }
    if names(FINDERS) {
        return vec![with_found(command)];
    }
    vec![command]
}

/// Returns the forms of `xargs` with each thing that it could read.
fn with_read(command: &ShellCommand, values: &ShellValues<'_>) -> Vec<ShellCommand> {
    let read = match command.fed_by {
        // A redirected input takes the place of the pipe.
        Some(feeder) if !command.reads_file => values.printed_by(feeder, 1),
        _ => vec![vec![WordPiece::Unknown]],
    };
    // Too many forms count as one that is not known, so that none of them is left out.
    let read = if read.len() > MOST_READ { vec![vec![WordPiece::Unknown]] } else { read };
    let mark = replaced_text(&command.words);
    let form = |pieces: &Vec<WordPiece>| {
        let mut form = command.clone();
        match &mark {
            Some(mark) => replace_mark(&mut form.words, mark, pieces),
            None => form.words.extend(words_of(pieces)),
        }
        form
    };
    read.iter().map(form).collect()
}

/// Returns an interpreter with the program that it may read as one more word.
fn with_program(command: ShellCommand, values: &ShellValues<'_>) -> Vec<ShellCommand> {
    let printed = command.fed_by.map(|feeder| values.printed_by(feeder, 1)).unwrap_or_default();
    let printed = printed.into_iter().map(ShellWord::of_pieces).filter(ShellWord::is_known);
    let documents = values.script.bodies.iter().map(|body| ShellWord::known(body));
    let programs: Vec<ShellWord> =
        if command.has_here_text { documents.collect() } else { printed.collect() };
    let forms = programs.into_iter().take(MOST_READ).map(|program| {
        let mut form = command.clone();
        form.words.push(program);
        form
    });
    let mut forms: Vec<ShellCommand> = forms.collect();
    if forms.is_empty() {
        forms.push(command);
    }
    forms
}

/// Returns the words that a line becomes.
fn words_of(pieces: &[WordPiece]) -> Vec<ShellWord> {
    let words = split_value(pieces).into_iter().map(|pieces| {
        let mut word = ShellWord::of_pieces(pieces);
        // The feeder splits what it reads at blanks, and a part that is not known may have some.
        word.may_split = !word.is_known();
        word
    });
    words.collect()
}

/// Returns the text that `xargs -I` replaces.
fn replaced_text(words: &[ShellWord]) -> Option<String> {
    let texts: Vec<String> = words.iter().map(ShellWord::first_text).collect();
    for (at, text) in texts.iter().enumerate() {
        let mark = match text.as_str() {
            "-I" | "-J" => texts.get(at + 1).map(String::as_str),
            "-i" | "--replace" => Some("{}"),
            text => {
                text.strip_prefix("-I").or_else(|| text.strip_prefix("--replace=")).or_else(|| {
                    (at == 0 && text.ends_with("parallel") && has_braces(words)).then_some("{}")
                })
            }
        };
        if let Some(mark) = mark.filter(|mark| !mark.is_empty()) {
            return Some(mark.to_owned());
        }
    }
    None
}

fn has_braces(words: &[ShellWord]) -> bool {
    words.iter().any(|word| word.first_text().contains("{}"))
}

/// Puts these pieces in place of each occurrence of a text.
fn replace_mark(words: &mut [ShellWord], mark: &str, pieces: &[WordPiece]) {
    for word in words {
        let Some(text) = word.text().filter(|text| text.contains(mark)) else { continue };
        let mut replaced = ShellWord::known("");
        for (at, part) in text.split(mark).enumerate() {
            if at > 0 {
                for piece in pieces {
                    replaced.push_joined(piece.clone());
                }
            }
            replaced.push_text(part);
        }
        *word = replaced;
    }
}

/// Returns a `find` whose actions name what it finds.
fn with_found(mut command: ShellCommand) -> ShellCommand {
    let folders: Vec<String> = command
        .words
        .iter()
        .skip(1)
        .map_while(|word| word.text().filter(|text| !text.starts_with(['-', '('])))
        .map(|text| format!("{}/", text.trim_end_matches('/')))
        .collect();
    let first = folders.first().map_or("./", String::as_str);
    let found = [WordPiece::Text(first.to_owned()), WordPiece::Listing];
    replace_mark(&mut command.words, "{}", &found);
    command
}
