//! The options and operands among the arguments of a program. A word may have several forms, such
//! as the values that a variable could have, and each of them counts.

use crate::glob::PatternToken;
use crate::shell::ShellWord;

/// Returns true if a word is an option in one of its forms.
pub(super) fn may_be_option(word: &ShellWord) -> bool {
    word.gapped_texts().any(|text| is_option(&text))
}

/// Returns true if a word is no option in one of its forms.
pub(super) fn may_be_operand(word: &ShellWord) -> bool {
    !word.gapped_texts().all(|text| is_option(&text))
}

fn is_option(text: &str) -> bool {
    text.starts_with('-') && text.len() > 1
}

/// Returns the last argument that is not an option. The word after an option may be its value, and
/// one that may be an option may be no operand, so the one before that counts as well.
pub(super) fn last_operands(arguments: &[ShellWord]) -> Vec<&ShellWord> {
    let mut found = Vec::new();
    let operands = arguments.iter().enumerate().rev().filter(|(_, word)| may_be_operand(word));
    for (at, word) in operands {
        found.push(word);
        let before = at.checked_sub(1).map(|before| &arguments[before]);
        let may_be_value =
            before.is_some_and(|before| may_be_option(before) && before.text() != Some("--"));
        if !may_be_value && !may_be_option(word) {
            break;
        }
    }
    found
}

/// Returns the letters by which a word tells `tar` what to do. Without a dash only the first word
/// has them: `tar xf x.tar`.
pub(super) fn archive_letters(at: usize, text: &str) -> Option<String> {
    match text.strip_prefix('-') {
        Some(rest) => (!rest.starts_with('-')).then(|| rest.to_owned()),
        None => (at == 0).then(|| text.to_owned()),
    }
}

/// Returns the values of some options: the next word, or the rest of the same word.
pub(super) fn option_values<'a>(
    arguments: &'a [ShellWord],
    options: &'a str,
) -> impl Iterator<Item = Vec<PatternToken>> + 'a {
    arguments.iter().enumerate().flat_map(move |(at, word)| {
        let mut values: Vec<Vec<PatternToken>> = Vec::new();
        for (text, toks) in word.gapped_texts().zip(word.patterns()) {
            let Some(begin) = option_end(&text, options) else { continue };
            match toks.get(begin..).unwrap_or_default() {
                [] => {
                    values.extend(arguments.get(at + 1).into_iter().flat_map(ShellWord::patterns));
                }
                rest => values.push(rest.to_vec()),
            }
        }
        values
    })
}

/// Returns where the value of the first of some options begins that a word is.
fn option_end(text: &str, options: &str) -> Option<usize> {
    options.split_ascii_whitespace().find_map(|option| value_at(text, option))
}

pub(super) fn names_one(text: &str, options: &str) -> bool {
    option_end(text, options).is_some()
}

/// Returns where the value begins in a word that is this option, perhaps among other letters or
/// abbreviated; at its end if it is in the next word.
fn value_at(text: &str, option: &str) -> Option<usize> {
    if let Some(letter) = option.strip_prefix('-').filter(|rest| rest.chars().count() == 1) {
        let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let at = cluster.find(letter)?;
        return cluster[..at].chars().all(char::is_alphabetic).then_some(at + 2);
    }
    let name = text.split('=').next().unwrap_or_default();
    // GNU programs accept any unambiguous beginning of a long option; shorter ones are ambiguous
    // nearly everywhere.
    let is_it = name == option || (name.len() > 3 && text.starts_with("--"));
    (is_it && option.starts_with(name)).then(|| (name.len() + 1).min(text.chars().count()))
}

/// Returns what follows this beginning in the forms of a word that have it.
pub(super) fn values_after(word: &ShellWord, beginning: &str) -> Vec<Vec<PatternToken>> {
    let forms = word.gapped_texts().zip(word.patterns());
    let those = forms.filter(|(text, _)| text.starts_with(beginning));
    those.map(|(_, toks)| toks.get(beginning.len()..).unwrap_or_default().to_vec()).collect()
}

/// Returns the files that a program changes in place, if it does. `letters` are the options that
/// take the rest of their word or the next one; without a program text among them, the first
/// argument is the text.
pub(super) fn in_place<'a>(
    arguments: &'a [ShellWord],
    letters: &str,
) -> Option<Vec<&'a ShellWord>> {
    let (mut is_in_place, mut has_text, mut is_value) = (false, false, false);
    let mut files = Vec::new();
    for word in arguments {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if may_be_operand(word) {
            files.push(word);
        }
        // The next word is a value only if it is one in every form of this one.
        is_value = true;
        for text in word.gapped_texts() {
            let mut takes_next = false;
            if !is_option(&text) {
                // An operand.
            } else if text.starts_with("--") {
                // Long options may be abbreviated.
                is_in_place |= text.starts_with("--in");
                let is_text = ["--expression", "--file"].iter().any(|name| text.starts_with(name));
                has_text |= is_text;
                takes_next = is_text && !text.contains('=');
            } else if let Some(at) = text.find(|c: char| c == 'i' || letters.contains(c)) {
                is_in_place |= text[at..].starts_with('i');
                has_text |= text[at..].starts_with(['e', 'E', 'f']);
                takes_next = !text[at..].starts_with('i') && at + 1 == text.len();
            }
            is_value &= takes_next;
        }
    }
    // Without `-e` or `-f` the first operand is the program text, and no file.
    if !has_text && !files.is_empty() {
        files.remove(0);
    }
    is_in_place.then_some(files)
}
