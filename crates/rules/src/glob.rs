//! Patterns of text, and whether two of them can match the same text.
//!
//! A rule's pattern and a shell word that is not yet expanded have the same form here: a list of
//! [`PatternToken`]s. A known text is one without wildcards, so one question answers both: can
//! these two [match](can_meet) the same text?

use crate::steps;

/// The most steps of one comparison without a budget; anything larger is not compared.
const MOST_STEPS: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternToken {
    /// This character.
    Is(char),
    /// One character other than `/`.
    One,
    /// Any characters other than `/`.
    Run,
    /// Any characters at all.
    Cross,
    /// Some path beneath a folder, as a program lists it. In a comparison it is any text; as a path
    /// it stands for the folder that is searched.
    Beneath,
    Digits,
    /// The beginning of a shell's `*` at the start of a name: it comes before a
    /// [`PatternToken::Run`], and the two together are nothing, or characters of which the first is
    /// not a dot.
    Shy,
    /// A shell's `?` at the start of a name: one character, but no `/` and no dot.
    ShyOne,
}

impl PatternToken {
    /// Returns the character that it matches, if there is only one.
    pub(crate) fn character(self) -> Option<char> {
        if let Self::Is(c) = self { Some(c) } else { None }
    }
}

/// In which direction a comparison errs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComparisonBias {
    /// For allowing: case matters, and what is too large to compare is different.
    Strict,
    /// For denying, asking and guarding: case is ignored, and what is too large is equal.
    Generous,
}

pub(crate) fn literal_toks(text: &str) -> Vec<PatternToken> {
    // `chars` promises only a fourth of the length, so `collect` would grow the list several times.
    let mut toks = Vec::with_capacity(text.len());
    toks.extend(text.chars().map(PatternToken::Is));
    toks
}

/// Returns true if some text matches both patterns.
pub(crate) fn can_meet(one: &[PatternToken], other: &[PatternToken], lean: ComparisonBias) -> bool {
    // What cannot be compared any more is different. The verdict is to ask then, not to allow.
    if steps::is_spent() {
        return false;
    }
    let length = one.len().min(other.len());
    // Nearly always the first or the last characters already differ.
    let (mut one, mut other) = (one, other);
    while let ([PatternToken::Is(a), rest @ ..], [PatternToken::Is(b), others @ ..]) = (one, other)
    {
        if !is_same(*a, *b, lean) {
            steps::spend_budget(1 + (length - one.len().min(other.len())) / 4);
            return false;
        }
        (one, other) = (rest, others);
    }
    if !steps::spend_budget(1 + length / 4) {
        return false;
    }
    while let ([rest @ .., PatternToken::Is(a)], [others @ .., PatternToken::Is(b)]) = (one, other)
    {
        if !is_same(*a, *b, lean) {
            return false;
        }
        (one, other) = (rest, others);
    }
    match (one, other) {
        ([], []) => true,
        // A known text and a pattern of nothing but wildcards need no search either.
        (text, [PatternToken::Cross]) | ([PatternToken::Cross], text) if is_text(text) => true,
        ([PatternToken::Is(_), ..], []) | ([], [PatternToken::Is(_), ..]) => false,
        _ => meet_slowly(one, other, lean),
    }
}

/// Returns true if a path certainly begins differently from a pattern, so that the two cannot
/// match. It is a quick check before [`can_meet`].
pub(crate) fn begins_otherwise(
    path: &[PatternToken],
    mut pattern: impl Iterator<Item = PatternToken>,
    lean: ComparisonBias,
) -> bool {
    for (at, tok) in path.iter().enumerate() {
        let (PatternToken::Is(c), Some(PatternToken::Is(wanted))) = (tok, pattern.next()) else {
            return false;
        };
        if !is_same(*c, wanted, lean) {
            steps::spend_budget(1 + at / 8);
            return true;
        }
    }
    matches!(pattern.next(), Some(PatternToken::Is(_)))
}

/// Returns true if a pattern is a known text.
pub(crate) fn is_text(toks: &[PatternToken]) -> bool {
    toks.iter().all(|tok| matches!(tok, PatternToken::Is(_)))
}

fn meet_slowly(one: &[PatternToken], other: &[PatternToken], lean: ComparisonBias) -> bool {
    for (text, pattern) in [(one, other), (other, one)] {
        if is_text(text)
            && pattern.iter().all(|tok| matches!(tok, PatternToken::Is(_) | PatternToken::Cross))
        {
            let steps = text.len().saturating_mul(1 + pattern.len() / 16);
            return steps::spend_budget(steps) && fits_pieces(text, pattern, lean);
        }
    }
    if one.len().saturating_mul(other.len()) > MOST_STEPS {
        return lean == ComparisonBias::Generous;
    }
    if !steps::spend_budget(one.len().saturating_mul(other.len())) {
        return false;
    }
    // `row[j]` says whether the first `i` tokens of one and the first `j` of the other can match
    // the same text.
    let width = other.len() + 1;
    // There are three rows, because a `Shy` may be skipped together with the `Run` after it.
    let mut rows = [vec![false; width], vec![false; width], vec![false; width]];
    rows[0][0] = true;
    for i in 0..=one.len() {
        for j in 0..width {
            if rows[0][j] {
                mark_reachable(&mut rows, one.get(i), other.get(j), j, lean);
            }
        }
        if i == one.len() {
            return rows[0][other.len()];
        }
        rows.rotate_left(1);
        rows[2].fill(false);
    }
    false
}

/// Returns true if a known text matches a pattern of texts with anything between them: each is
/// found as far to the left as possible, and the last has to be at the end.
fn fits_pieces(text: &[PatternToken], pattern: &[PatternToken], lean: ComparisonBias) -> bool {
    let mut pieces: Vec<&[PatternToken]> =
        pattern.split(|tok| *tok == PatternToken::Cross).collect();
    let is_at = |text: &[PatternToken], piece: &[PatternToken]| {
        text.len() >= piece.len() && text.iter().zip(piece).all(|(a, b)| can_be_same(*a, *b, lean))
    };
    let (first, last) = (pieces[0], pieces.pop().unwrap_or_default());
    if pieces.is_empty() {
        return text.len() == last.len() && is_at(text, last);
    }
    if !is_at(text, first) || text.len() < first.len() + last.len() {
        return false;
    }
    let (mut rest, end) = text[first.len()..].split_at(text.len() - first.len() - last.len());
    for piece in &pieces[1..] {
        let Some(at) = (0..=rest.len()).find(|at| is_at(&rest[*at..], piece)) else { return false };
        rest = &rest[at + piece.len()..];
    }
    is_at(end, last)
}

/// Marks what can be reached from the state in which `a` and `b` are next.
fn mark_reachable(
    rows: &mut [Vec<bool>; 3],
    a: Option<&PatternToken>,
    b: Option<&PatternToken>,
    j: usize,
    lean: ComparisonBias,
) {
    // Both may skip, which only leads forward: along the row, or into the following rows.
    match a {
        Some(a) if is_repeating(*a) => rows[1][j] = true,
        Some(PatternToken::Shy) => rows[2][j] = true,
        _ => {}
    }
    match b {
        Some(b) if is_repeating(*b) => rows[0][j + 1] = true,
        Some(PatternToken::Shy) if j + 2 < rows[0].len() => rows[0][j + 2] = true,
        _ => {}
    }
    if let (Some(a), Some(b)) = (a, b)
        && can_be_same(*a, *b, lean)
    {
        match (is_repeating(*a), is_repeating(*b)) {
            // Whatever both could consume together, skipping covers as well.
            (true, true) => {}
            (true, false) => rows[0][j + 1] = true,
            (false, true) => rows[1][j] = true,
            (false, false) => rows[1][j + 1] = true,
        }
    }
}

/// Returns true if it matches any number of characters.
fn is_repeating(tok: PatternToken) -> bool {
    matches!(
        tok,
        PatternToken::Run | PatternToken::Cross | PatternToken::Beneath | PatternToken::Digits
    )
}

/// Returns true if both can be the same character.
fn can_be_same(a: PatternToken, b: PatternToken, lean: ComparisonBias) -> bool {
    match (a, b) {
        (PatternToken::Is(a), PatternToken::Is(b)) => is_same(a, b, lean),
        (PatternToken::Is(c), tok) | (tok, PatternToken::Is(c)) => match tok {
            PatternToken::Cross | PatternToken::Beneath => true,
            PatternToken::Digits => c.is_ascii_digit(),
            PatternToken::Shy | PatternToken::ShyOne => c != '/' && c != '.',
            _ => c != '/',
        },
        // Any two wildcards have a character in common, such as a digit.
        _ => true,
    }
}

fn is_same(a: char, b: char, lean: ComparisonBias) -> bool {
    let folds =
        || a.eq_ignore_ascii_case(&b) || (!a.is_ascii() && a.to_lowercase().eq(b.to_lowercase()));
    a == b || (lean == ComparisonBias::Generous && folds())
}

/// Returns a pattern of names in a rule: `*` is any text, `?` any character.
pub(crate) fn name_pattern(text: &str) -> Vec<PatternToken> {
    let mut toks = Vec::with_capacity(text.len());
    toks.extend(text.chars().map(|c| match c {
        '*' => PatternToken::Cross,
        '?' => PatternToken::One,
        c => PatternToken::Is(c),
    }));
    toks
}

#[cfg(test)]
mod tests;
