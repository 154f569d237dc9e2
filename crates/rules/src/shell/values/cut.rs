//! Values without a prefix or a suffix: `${x#…}` and `${x%…}`.

use super::fields::{Fields, WordChoices};
use super::{ShellWord, WordPiece};

/// Cuts a prefix or a suffix off values. The result is unknown unless the values end, or begin,
/// with known text.
pub(super) fn cut_values(values: WordChoices, pattern: &ShellWord, is_prefix: bool) -> WordChoices {
    let mut choices = WordChoices::default();
    for pieces in values.into_single_words() {
        // The value stays as it is if the pattern does not match.
        choices.add_fields(Fields(vec![pieces.clone()]));
        match cut_one(&pieces, &pattern.first_text(), is_prefix) {
            Some(cut) => choices.add_fields(Fields(vec![cut])),
            None => return WordChoices::unknown(),
        }
    }
    choices
}

fn cut_one(pieces: &[WordPiece], pattern: &str, is_prefix: bool) -> Option<Vec<WordPiece>> {
    let is_plain = |text: &str| !text.contains(['*', '?', '[', '\0']);
    // Digits without some of their digits are digits.
    if pieces.iter().all(|piece| *piece == WordPiece::Digits) {
        return Some(pieces.to_vec());
    }
    if let ([WordPiece::Text(text)], true) = (pieces, is_plain(pattern)) {
        let cut = if is_prefix { text.strip_prefix(pattern) } else { text.strip_suffix(pattern) };
        return Some(vec![WordPiece::Text(cut.unwrap_or(text).to_owned())]);
    }
    if is_prefix {
        // `${x##*/}` is the last name.
        if let Some((last, _)) = pieces.split_last()
            && matches!(pattern, "*/")
        {
            return match last {
                WordPiece::Text(text) if text.contains('/') => {
                    let name = text.rsplit('/').next().unwrap_or_default();
                    Some(vec![WordPiece::Text(name.to_owned())])
                }
                _ => Some(after_slash(pieces)),
            };
        }
        let (first, rest) = pieces.split_first()?;
        let WordPiece::Text(text) = first else { return None };
        let text = text.strip_prefix(pattern).filter(|_| is_plain(pattern))?;
        return Some([&[WordPiece::Text(text.to_owned())], rest].concat());
    }
    let (last, rest) = pieces.split_last()?;
    let text = match last {
        WordPiece::Text(text) => text.as_str(),
        // The end of a name that only has wildcards is a shorter name.
        WordPiece::Glob('*') | WordPiece::Listing => return Some(pieces.to_vec()),
        _ => return None,
    };
    let kept = match pattern.strip_suffix('*') {
        Some(mark) if is_plain(mark) && !mark.is_empty() => &text[..text.rfind(mark)?],
        None if is_plain(pattern) => text.strip_suffix(pattern)?,
        _ => return None,
    };
    Some([rest, &[WordPiece::Text(kept.to_owned())]].concat())
}

/// Returns the parts after the last slash.
fn after_slash(pieces: &[WordPiece]) -> Vec<WordPiece> {
    let has_slash =
        |piece: &WordPiece| matches!(piece, WordPiece::Text(text) if text.contains('/'));
    let Some(at) = pieces.iter().rposition(has_slash) else { return pieces.to_vec() };
    let mut found = Vec::new();
    if let WordPiece::Text(text) = &pieces[at] {
        found.push(WordPiece::Text(text.rsplit('/').next().unwrap_or_default().to_owned()));
    }
    found.extend_from_slice(&pieces[at + 1..]);
    found
}
