//! A line diff for edits, short and with bounded work.
//!
//! The common beginning and end are found without splitting lines. Between them a longest common
//! subsequence is computed if there are few lines; otherwise all old lines are shown as removed and
//! all new ones as added, which is also true.

use std::fmt;

use memchr::{memchr, memchr_iter, memrchr};

/// How many unchanged lines are shown before and after a change.
const CONTEXT: usize = 3;

/// The most lines of each text that are compared and shown. Of more, only the number is shown.
pub const DIFF_LINES: usize = 512;

/// How a line changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineChange {
    /// The line is in both texts.
    Same,
    /// The line is only in the old text.
    Removed,
    /// The line is only in the new text.
    Added,
    /// This many lines are not shown: unchanged ones, or more than [`DIFF_LINES`] of a kind.
    Gap(OmittedLines, usize),
}

/// The kind of lines that are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmittedLines {
    /// Unchanged lines.
    Both,
    /// Removed lines.
    Old,
    /// Added lines.
    New,
}

/// One line of a diff. Written out, it begins with a blank, `-`, `+` or `…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLine<'a> {
    /// How it changed.
    pub change: LineChange,
    /// Its text without the newline; empty for a gap.
    pub text: &'a str,
}

impl fmt::Display for DiffLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, count) = match self.change {
            LineChange::Same => return write!(f, " {}", self.text),
            LineChange::Removed => return write!(f, "-{}", self.text),
            LineChange::Added => return write!(f, "+{}", self.text),
            LineChange::Gap(OmittedLines::Both, count) => ("unchanged", count),
            LineChange::Gap(OmittedLines::Old, count) => ("more removed", count),
            LineChange::Gap(OmittedLines::New, count) => ("more added", count),
        };
        write!(f, "… {count} {kind} line{}", if count == 1 { "" } else { "s" })
    }
}

/// Returns the lines that differ between `old` and `new`, with a few unchanged ones around them.
/// Empty when the texts are the same. A last line that lost or gained its newline counts as
/// changed.
#[must_use]
pub fn diff<'a>(old: &'a str, new: &'a str) -> Vec<DiffLine<'a>> {
    if old == new {
        return Vec::new();
    }
    let (start, old_end, new_end) = differing(old, new);
    let mut lines = before(&old[..start]);
    middle(&old[start..old_end], &new[start..new_end], &mut lines);
    after(&old[old_end..], &mut lines);
    fold(&lines)
}

/// Returns where the first differing line begins, and where in each text the last one ends.
fn differing(old: &str, new: &str) -> (usize, usize, usize) {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let start = memrchr(b'\n', &old.as_bytes()[..same]).map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (&old.as_bytes()[start..], &new.as_bytes()[start..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(a, b)| a == b).count();
    // The common end begins after a newline that is common too, so that whole lines are left.
    let common = &old_rest[old_rest.len() - tail..];
    let both_at_start = tail == old_rest.len() || tail == new_rest.len();
    let whole_lines = |rest: &[u8]| rest.len() == tail || rest[rest.len() - tail - 1] == b'\n';
    let skipped = if both_at_start && whole_lines(old_rest) && whole_lines(new_rest) {
        0
    } else {
        memchr(b'\n', common).map_or(tail, |at| at + 1)
    };
    let kept = tail - skipped;
    (start, old.len() - kept, new.len() - kept)
}

fn line(change: LineChange, text: &str) -> DiffLine<'_> {
    DiffLine { change, text: text.strip_suffix('\n').unwrap_or(text) }
}

fn before(text: &str) -> Vec<DiffLine<'_>> {
    let bytes = text.as_bytes();
    let mut from = text.len();
    for _ in 0..CONTEXT {
        from = memrchr(b'\n', &bytes[..from.saturating_sub(1)]).map_or(0, |at| at + 1);
    }
    let skipped = memchr_iter(b'\n', &bytes[..from]).count();
    let gap = (skipped > 0).then(|| line(LineChange::Gap(OmittedLines::Both, skipped), ""));
    gap.into_iter()
        .chain(text[from..].split_inclusive('\n').map(|text| line(LineChange::Same, text)))
        .collect()
}

fn after<'a>(text: &'a str, lines: &mut Vec<DiffLine<'a>>) {
    let mut rest = text.split_inclusive('\n');
    lines.extend(rest.by_ref().take(CONTEXT).map(|text| line(LineChange::Same, text)));
    let skipped = rest.count();
    if skipped > 0 {
        lines.push(line(LineChange::Gap(OmittedLines::Both, skipped), ""));
    }
}

fn middle<'a>(old: &'a str, new: &'a str, lines: &mut Vec<DiffLine<'a>>) {
    let mut old_rest = old.split_inclusive('\n');
    let mut new_rest = new.split_inclusive('\n');
    let old: Vec<&str> = old_rest.by_ref().take(DIFF_LINES).collect();
    let new: Vec<&str> = new_rest.by_ref().take(DIFF_LINES).collect();
    let (more_old, more_new) = (old_rest.count(), new_rest.count());
    if more_old + more_new > 0 {
        one_side(&old, LineChange::Removed, LineChange::Gap(OmittedLines::Old, more_old), lines);
        one_side(&new, LineChange::Added, LineChange::Gap(OmittedLines::New, more_new), lines);
        return;
    }
    subsequence(&old, &new, lines);
}

fn one_side<'a>(
    texts: &[&'a str],
    change: LineChange,
    gap: LineChange,
    lines: &mut Vec<DiffLine<'a>>,
) {
    lines.extend(texts.iter().map(|text| line(change, text)));
    if !matches!(gap, LineChange::Gap(_, 0)) {
        lines.push(line(gap, ""));
    }
}

/// Walks along a longest common subsequence. The table has at most `DIFF_LINES`² small numbers.
fn subsequence<'a>(old: &[&'a str], new: &[&'a str], lines: &mut Vec<DiffLine<'a>>) {
    let width = new.len() + 1;
    let mut longest = vec![0_u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(line(LineChange::Same, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            lines.push(line(LineChange::Removed, old[i]));
            i += 1;
        } else {
            lines.push(line(LineChange::Added, new[j]));
            j += 1;
        }
    }
}

/// Folds long stretches of unchanged lines between changes.
fn fold<'a>(lines: &[DiffLine<'a>]) -> Vec<DiffLine<'a>> {
    let mut folded = Vec::with_capacity(lines.len());
    for stretch in
        lines.chunk_by(|a, b| (a.change == LineChange::Same) == (b.change == LineChange::Same))
    {
        let is_long = stretch[0].change == LineChange::Same && stretch.len() > 2 * CONTEXT + 1;
        if !is_long {
            folded.extend(stretch);
            continue;
        }
        let hidden = stretch.len() - 2 * CONTEXT;
        folded.extend(&stretch[..CONTEXT]);
        folded.push(line(LineChange::Gap(OmittedLines::Both, hidden), ""));
        folded.extend(&stretch[stretch.len() - CONTEXT..]);
    }
    folded
}
