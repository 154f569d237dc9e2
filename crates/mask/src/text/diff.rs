//! A line diff for edits, short and with bounded work.
//!
//! The common beginning and end are found without splitting lines. Between them a longest common
//! subsequence is computed if there are few lines. Many lines are first taken apart at those that
//! occur once in each text, as in a patience diff; where even then too many are left, all old ones
//! are shown as removed and all new ones as added, which is also true. An agent chooses the texts,
//! so the algorithms of most libraries, whose worst case is quadratic, would let it hold up a desk.

use std::collections::HashMap;

use callgate_wire::desk::{ChangedLine, LineOperation};
use memchr::{memchr, memchr_iter, memrchr};

/// How many unchanged lines are shown before and after a change.
const CONTEXT: usize = 3;

/// The most lines of each text that are compared with each other.
const DIFF_LINES: usize = 512;

/// A line with its end, and whether it is shown.
type ComparedLine<'a> = (LineOperation, &'a str, bool);

/// Returns the lines that differ between `old` and `new`, with a few unchanged ones around them.
/// Their numbers show where unchanged lines are left out. Returns nothing when the texts are the
/// same. A last line that lost or gained its newline counts as changed.
pub fn diff_lines<'a>(old: &'a str, new: &'a str) -> impl Iterator<Item = ChangedLine> + 'a {
    let (start, old_end, new_end) = differing_range(old, new);
    let (skipped, before) = last_lines(&old[..start]);
    let same = |text: &'a str| {
        text.split_inclusive('\n').map(|line| (LineOperation::Same, line, true)).take(CONTEXT)
    };
    let middle = compare_texts(&old[start..old_end], &new[start..new_end]);
    let lines = same(before).chain(middle).chain(same(&old[old_end..]));
    let (mut old_number, mut new_number) = (skipped, skipped);
    // Otherwise the last lines of texts that are the same would be shown as context.
    lines.take_while(move |_| old != new).filter_map(move |(op, text, is_shown)| {
        let (is_old, is_new) = (op != LineOperation::Added, op != LineOperation::Removed);
        old_number += u64::from(is_old);
        new_number += u64::from(is_new);
        is_shown.then(|| ChangedLine {
            op,
            old: is_old.then_some(old_number),
            new: is_new.then_some(new_number),
            text: text.strip_suffix('\n').unwrap_or(text).to_owned(),
        })
    })
}

/// Returns the difference of two pieces of a file, like [`diff_lines`]. What follows their last
/// lines is the same, so that these are whole lines in both.
pub fn diff_pieces(old: &str, new: &str) -> Vec<ChangedLine> {
    let is_cut = |text: &str| !text.is_empty() && !text.ends_with('\n');
    if is_cut(old) && is_cut(new) {
        diff_lines(&format!("{old}\n"), &format!("{new}\n")).collect()
    } else {
        diff_lines(old, new).collect()
    }
}

/// Returns where the first differing line begins, and where in each text the last one ends.
fn differing_range(old: &str, new: &str) -> (usize, usize, usize) {
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

/// Returns how many lines are not shown before a change, and those that are.
fn last_lines(text: &str) -> (u64, &str) {
    let bytes = text.as_bytes();
    let mut from = text.len();
    for _ in 0..CONTEXT {
        from = memrchr(b'\n', &bytes[..from.saturating_sub(1)]).map_or(0, |at| at + 1);
    }
    (memchr_iter(b'\n', &bytes[..from]).count() as u64, &text[from..])
}

fn compare_texts<'a>(old: &'a str, new: &'a str) -> Vec<ComparedLine<'a>> {
    let lines = |text: &'a str| text.split_inclusive('\n').collect::<Vec<&str>>();
    let (old, new) = (lines(old), lines(new));
    let mut compared = Vec::with_capacity(old.len().max(new.len()));
    let (mut i, mut j) = (0, 0);
    for (at, other) in find_anchors(&old, &new) {
        compare_between_anchors(&old[i..at], &new[j..other], &mut compared);
        compared.push((LineOperation::Same, old[at], true));
        (i, j) = (at + 1, other + 1);
    }
    compare_between_anchors(&old[i..], &new[j..], &mut compared);
    fold_unchanged(&mut compared);
    compared
}

fn compare_between_anchors<'a>(
    old: &[&'a str],
    new: &[&'a str],
    compared: &mut Vec<ComparedLine<'a>>,
) {
    // Beside an anchor there may be equal lines that occur more than once.
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(old, new)| old == new).count();
    let same = |line: &&'a str| (LineOperation::Same, *line, true);
    compared.extend(old[..start].iter().map(same));
    let (rest, news) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if rest.len().max(news.len()) <= DIFF_LINES {
        compared.extend(compare_by_subsequence(rest, news));
    } else {
        compared.extend(rest.iter().map(|line| (LineOperation::Removed, *line, true)));
        compared.extend(news.iter().map(|line| (LineOperation::Added, *line, true)));
    }
    compared.extend(old[old.len() - end..].iter().map(same));
}

/// Returns where the lines are that occur once in each of two long texts and in the same order: a
/// longest list of them.
fn find_anchors(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len().max(new.len()) <= DIFF_LINES {
        return Vec::new();
    }
    // For each line the number of its occurrences and the last of them, in both texts.
    let mut places: HashMap<&str, [(usize, usize); 2]> = HashMap::new();
    for (side, lines) in [old, new].into_iter().enumerate() {
        for (at, line) in lines.iter().enumerate() {
            let place = &mut places.entry(line).or_default()[side];
            *place = (place.0 + 1, at);
        }
    }
    let unique = old.iter().enumerate().filter_map(|(at, line)| match places[line] {
        [(1, _), (1, other)] => Some((at, other)),
        _ => None,
    });
    // The last pair of the best list of each length, and what comes before each pair in its list.
    let mut lasts: Vec<usize> = Vec::new();
    let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (at, other) in unique {
        let length = lasts.partition_point(|last| pairs[*last].1 < other);
        let before = length.checked_sub(1).map(|shorter| lasts[shorter]);
        match lasts.get_mut(length) {
            Some(last) => *last = pairs.len(),
            None => lasts.push(pairs.len()),
        }
        pairs.push((at, other, before));
    }
    let mut found = Vec::with_capacity(lasts.len());
    let mut next = lasts.last().copied();
    while let Some((at, other, before)) = next.map(|pair| pairs[pair]) {
        found.push((at, other));
        next = before;
    }
    found.reverse();
    found
}

/// Walks along a longest common subsequence. The table has at most `DIFF_LINES`² small numbers.
fn compare_by_subsequence<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<ComparedLine<'a>> {
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
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((LineOperation::Same, old[i], true));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            lines.push((LineOperation::Removed, old[i], true));
            i += 1;
        } else {
            lines.push((LineOperation::Added, new[j], true));
            j += 1;
        }
    }
    lines
}

/// Hides long stretches of unchanged lines between changes.
fn fold_unchanged(lines: &mut [ComparedLine<'_>]) {
    let is_same = |line: &ComparedLine<'_>| line.0 == LineOperation::Same;
    for stretch in lines.chunk_by_mut(|a, b| is_same(a) == is_same(b)) {
        let count = stretch.len();
        if is_same(&stretch[0]) && count > 2 * CONTEXT + 1 {
            stretch[CONTEXT..count - CONTEXT].iter_mut().for_each(|line| line.2 = false);
        }
    }
}
