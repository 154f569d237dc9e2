//! The diff of an edit, in the unified form.

use std::fmt::Write as _;
use std::ops::Range;

use callgate_mask::text::{DiffLine, LineChange, OmittedLines, diff};
use memchr::{memchr, memchr_iter, memrchr};

use super::name::shown;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// Returns the diff of replacing the `length` bytes at each of `places` by `new`. The places are
/// sorted and do not overlap. The diff is cut if it is longer than `most` bytes.
pub(super) fn unified(
    path: &str,
    text: &str,
    length: usize,
    new: &str,
    places: &[usize],
    most: usize,
) -> String {
    let name = shown(path.as_bytes());
    let mut out = format!("--- {name}\n+++ {name}\n");
    let mut writer = HunkWriter { out: &mut out, old: 1, new: 1 };
    let mut done = 0;
    for (stretch, inside) in stretches(text, length, places) {
        if writer.out.len() > most {
            break;
        }
        let skipped = memchr_iter(b'\n', &text.as_bytes()[done..stretch.start]).count();
        writer.skip(skipped);
        let old = &text[stretch.clone()];
        let mut edited = String::new();
        let mut copied = stretch.start;
        for place in &places[inside] {
            edited.push_str(&text[copied..*place]);
            edited.push_str(new);
            copied = place + length;
        }
        edited.push_str(&text[copied..stretch.end]);
        writer.stretch(old, &edited, stretch.end == text.len());
        done = stretch.end;
    }
    out
}

/// Returns the ranges of whole lines that change, with the lines around them, and the places in
/// each.
fn stretches(text: &str, length: usize, places: &[usize]) -> Vec<(Range<usize>, Range<usize>)> {
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
        let (start, end) = (above(text, *place), below(text, end));
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
fn above(text: &str, at: usize) -> usize {
    let mut start = memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |at| at + 1);
    for _ in 0..CONTEXT {
        start = memrchr(b'\n', &text.as_bytes()[..start.saturating_sub(1)]).map_or(0, |at| at + 1);
    }
    start
}

/// Returns the end of the lines that are shown after `at`.
fn below(text: &str, at: usize) -> usize {
    // A text that ends with a line ends before the next one, which is the first of the context.
    let mut end = at;
    for _ in 0..=CONTEXT {
        end = memchr(b'\n', &text.as_bytes()[end..]).map_or(text.len(), |found| end + found + 1);
    }
    end
}

/// Writes hunks, and counts the lines of both texts.
struct HunkWriter<'a> {
    out: &'a mut String,
    old: usize,
    new: usize,
}

impl HunkWriter<'_> {
    fn skip(&mut self, lines: usize) {
        self.old += lines;
        self.new += lines;
    }

    fn stretch(&mut self, old: &str, new: &str, is_last: bool) {
        let lines = diff(old, new);
        let open = |text: &str| is_last && !text.is_empty() && !text.ends_with('\n');
        let last = (
            open(old).then(|| self.old + old.lines().count() - 1),
            open(new).then(|| self.new + new.lines().count() - 1),
        );
        for part in lines.chunk_by(|a, b| is_gap(a) == is_gap(b)) {
            match part[0].change {
                LineChange::Gap(OmittedLines::Both, count) => self.skip(count),
                _ => self.hunk(part, last),
            }
        }
    }

    fn hunk(&mut self, lines: &[DiffLine<'_>], last: (Option<usize>, Option<usize>)) {
        let count = |change: LineChange, side: OmittedLines| {
            let of = |line: &DiffLine<'_>| match line.change {
                LineChange::Gap(gap, lines) if gap == side => lines,
                other => usize::from(other == change || other == LineChange::Same),
            };
            lines.iter().map(of).sum::<usize>()
        };
        let (old, new) = (
            count(LineChange::Removed, OmittedLines::Old),
            count(LineChange::Added, OmittedLines::New),
        );
        let start = |first: usize, lines: usize| if lines == 0 { first - 1 } else { first };
        let (old_start, new_start) = (start(self.old, old), start(self.new, new));
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "@@ -{old_start},{old} +{new_start},{new} @@");
        for line in lines {
            let _ = writeln!(self.out, "{line}");
            let (is_old, is_new) = match line.change {
                LineChange::Same => (1, 1),
                LineChange::Removed => (1, 0),
                LineChange::Added => (0, 1),
                LineChange::Gap(OmittedLines::Old, lines) => (lines, 0),
                LineChange::Gap(_, lines) => (0, lines),
            };
            let is_open = (is_old == 1 && last.0 == Some(self.old))
                || (is_new == 1 && last.1 == Some(self.new));
            if is_open {
                self.out.push_str("\\ No newline at end of file\n");
            }
            self.old += is_old;
            self.new += is_new;
        }
    }
}

fn is_gap(line: &DiffLine<'_>) -> bool {
    matches!(line.change, LineChange::Gap(OmittedLines::Both, _))
}
