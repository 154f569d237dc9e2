//! The diff of an edit, in the unified form.

use std::fmt::Write as _;
use std::ops::Range;

use callgate_mask::text::diff_lines;
use memchr::{memchr, memchr_iter, memrchr};

use super::name::shown_name;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// Returns the diff of replacing the `length` bytes at each of `places` by `new`. The places are
/// sorted and do not overlap. The diff is cut if it is longer than `most` bytes.
pub(super) fn unified_diff(
    path: &str,
    text: &str,
    length: usize,
    new: &str,
    places: &[usize],
    most: usize,
) -> String {
    let name = shown_name(path.as_bytes());
    let mut out = format!("--- {name}\n+++ {name}\n");
    // How many lines of both texts are done.
    let (mut done, mut old_lines, mut new_lines) = (0, 0, 0);
    let count = |text: &str| memchr_iter(b'\n', text.as_bytes()).count() as u64;
    for (stretch, inside) in changed_stretches(text, length, places) {
        // Checked for each stretch, because a replacement may occur a million times.
        if out.len() > most {
            break;
        }
        let skipped = count(&text[done..stretch.start]);
        let old = &text[stretch.clone()];
        let edited = replace_places(text, stretch.clone(), length, new, &places[inside]);
        let before = [old_lines + skipped, new_lines + skipped];
        write_hunks(&mut out, [old, &edited], before, stretch.end == text.len(), most);
        done = stretch.end;
        old_lines = before[0] + count(old);
        new_lines = before[1] + count(&edited);
    }
    out
}

/// Returns this part of a text after the `length` bytes at each of the places were replaced by
/// `new`.
pub(super) fn replace_places(
    text: &str,
    part: Range<usize>,
    length: usize,
    new: &str,
    places: &[usize],
) -> String {
    let mut edited = String::with_capacity(part.len() + places.len() * new.len());
    let mut copied = part.start;
    for place in places {
        edited.push_str(&text[copied..*place]);
        edited.push_str(new);
        copied = place + length;
    }
    edited + &text[copied..part.end]
}

/// Returns the ranges of whole lines that change, with the lines around them, and the places in
/// each.
fn changed_stretches(
    text: &str,
    length: usize,
    places: &[usize],
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    // The end of the line in which the last place ended. A long line may have a million places, and
    // is searched only once.
    let mut line_end = 0;
    for (index, place) in places.iter().enumerate() {
        let end = place + length;
        if let Some((_, inside)) = found.last_mut()
            && end <= line_end
        {
            inside.end = index + 1;
            continue;
        }
        line_end = memchr(b'\n', &text.as_bytes()[end..]).map_or(text.len(), |at| end + at);
        let (start, end) = (context_start(text, *place), context_end(text, end));
        match found.last_mut() {
            Some((stretch, inside)) if start <= stretch.end => {
                stretch.end = end.max(stretch.end);
                inside.end = index + 1;
            }
            _ => found.push((start..end, index..index + 1)),
        }
    }
    found
}

/// Returns the start of the lines that are shown before `at`.
fn context_start(text: &str, at: usize) -> usize {
    let mut start = memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |at| at + 1);
    for _ in 0..CONTEXT {
        start = memrchr(b'\n', &text.as_bytes()[..start.saturating_sub(1)]).map_or(0, |at| at + 1);
    }
    start
}

/// Returns the end of the lines that are shown after `at`.
fn context_end(text: &str, at: usize) -> usize {
    // A text that ends with a line ends before the next one, which is the first of the context.
    let mut end = at;
    for _ in 0..=CONTEXT {
        end = memchr(b'\n', &text.as_bytes()[end..]).map_or(text.len(), |found| end + found + 1);
    }
    end
}

/// Writes the hunks of a stretch that is after `before` lines of both texts. Of what is longer than
/// `most` bytes, the lines are only counted.
fn write_hunks(out: &mut String, texts: [&str; 2], before: [u64; 2], is_last: bool, most: usize) {
    let open = texts.map(|text| {
        let is_open = is_last && !text.is_empty() && !text.ends_with('\n');
        is_open.then(|| text.lines().count() as u64)
    });
    let mut next = before.map(|lines| lines + 1);
    let (mut at, mut first) = (out.len(), next);
    for line in diff_lines(texts[0], texts[1]) {
        // Unchanged lines that are left out end a hunk.
        let gap = line.old.map_or(0, |number| before[0] + number - next[0]);
        if gap > 0 {
            insert_heading(out, at, first, next);
            next = next.map(|number| number + gap);
            (at, first) = (out.len(), next);
        }
        let sides = [line.old, line.new];
        if out.len() <= most {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{line}");
            if sides.iter().zip(open).any(|(side, open)| side.is_some() && *side == open) {
                out.push_str("\\ No newline at end of file\n");
            }
        }
        next = [0, 1].map(|side| next[side] + u64::from(sides[side].is_some()));
    }
    insert_heading(out, at, first, next);
}

/// Writes the heading of a hunk that begins at `at` in `out` with the lines `first` and ends before
/// the lines `next`.
fn insert_heading(out: &mut String, at: usize, first: [u64; 2], next: [u64; 2]) {
    let [old, new] = [next[0] - first[0], next[1] - first[1]];
    if old + new > 0 {
        // An empty side is named by the line before it.
        let [old_start, new_start] =
            [first[0] - u64::from(old == 0), first[1] - u64::from(new == 0)];
        out.insert_str(at, &format!("@@ -{old_start},{old} +{new_start},{new} @@\n"));
    }
}
