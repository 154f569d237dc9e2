//! `read_file`: reads a text file, or some of its lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use memchr::{memchr, memchr_iter};
use serde_json::json;

use super::beneath::read_whole_file;
use super::error_text::{cannot_text, io_text};
use super::input::FileToolInput;
use super::seen_files::ContentMark;
use super::{CancelFlag, FileContext};
use crate::tool::CallOutcome;

/// The last byte at which a range of lines may begin in a file that is too large to be read as a
/// whole.
pub(super) const MOST_SKIPPED: u64 = 1024 * 1024 * 1024;
const BLOCK: usize = 64 * 1024;

/// The requested lines, and the limit of their bytes.
#[derive(Debug, Clone, Copy)]
struct LineRange {
    first: u64,
    lines: u64,
    bytes: usize,
}

struct FileExcerpt {
    text: String,
    first: u64,
    /// The number of the last line; `first` minus one if there is none.
    last: u64,
    /// The number of lines in the file, if it was read as a whole.
    total: Option<u64>,
    more: bool,
    /// Whether its only line is too long to be shown as a whole.
    is_cut: bool,
    size: u64,
}

pub(super) fn read_file(
    context: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<CallOutcome, String> {
    let path = input.text("path")?;
    let (offset, limit) = (input.count("offset")?, input.count("limit")?);
    let range = LineRange {
        first: offset.unwrap_or(1),
        lines: limit.unwrap_or(u64::MAX),
        bytes: context.limits.max_result.max(1),
    };
    let is_range = offset.is_some() || limit.is_some();
    let part = read_part(context, input, range, is_range, stop)
        .map_err(|reason| cannot_text("read", path, reason))?;
    let result = json!({
        "path": path,
        "content": part.text,
        "firstLine": part.first,
        "lastLine": part.last,
        "totalLines": part.total,
        "more": part.more,
        "size": part.size,
    });
    Ok(CallOutcome::done(&result, for_model(part)))
}

fn read_part(
    context: &FileContext,
    input: &FileToolInput,
    range: LineRange,
    is_range: bool,
    stop: &CancelFlag,
) -> Result<FileExcerpt, String> {
    let place = context.locate_file(input.text("path")?)?;
    let (file, stat) = place.open_file()?;
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    let most = context.limits.max_file;
    if is_range && size > most {
        let part = read_streamed(file, range, size, stop)?;
        // Not by its content, of which only a part was read.
        context.seen.note_seen(&input.conversation, &place, ContentMark::from_stat(&stat));
        return Ok(part);
    }
    let bytes = read_whole_file(file, most)?.ok_or_else(|| {
        format!(
            "it has more than {most} bytes, the limit for a whole file: give `offset` and \
             `limit`, which count lines, or use search_text"
        )
    })?;
    // The model also learns that a file is binary, and may then replace it.
    context.seen.note_seen(&input.conversation, &place, context.seen.mark(&bytes));
    let size = bytes.len() as u64;
    check_text(&bytes, size)?;
    let total = memchr_iter(b'\n', &bytes).count() as u64 + u64::from(ends_open(&bytes));
    let mut rest = &*bytes;
    skip_to_line(&mut rest, range.first, most, stop)?;
    Ok(FileExcerpt { total: Some(total), ..take_lines(rest, range, size)? })
}

fn ends_open(bytes: &[u8]) -> bool {
    bytes.last().is_some_and(|last| *last != b'\n')
}

/// Reads lines from a file that is too large to be read as a whole.
fn read_streamed(
    file: File,
    range: LineRange,
    size: u64,
    stop: &CancelFlag,
) -> Result<FileExcerpt, String> {
    let mut reader = BufReader::with_capacity(BLOCK, file);
    skip_to_line(&mut reader, range.first, MOST_SKIPPED, stop)?;
    let mut bytes = Vec::new();
    // One more tells whether there is more.
    let room = range.bytes as u64 + 1;
    reader.take(room).read_to_end(&mut bytes).map_err(|error| io_text(&error))?;
    take_lines(&bytes, range, size)
}

/// Seeks to the beginning of the line `first`, skipping at most `most` bytes.
pub(super) fn skip_to_line(
    reader: &mut impl BufRead,
    first: u64,
    most: u64,
    stop: &CancelFlag,
) -> Result<(), String> {
    let (mut left, mut skipped) = (first - 1, 0);
    while left > 0 {
        stop.check_unset()?;
        let block = reader.fill_buf().map_err(|error| io_text(&error))?;
        if block.is_empty() {
            return Err(format!("it ends before line {first}: read it from an earlier one"));
        }
        // Otherwise a gigabyte of a binary file would be skipped before its lines are refused.
        if memchr(0, block).is_some() {
            return Err("it is binary: it is not shown".to_owned());
        }
        let mut used = block.len();
        for at in memchr_iter(b'\n', block) {
            left -= 1;
            if left == 0 {
                used = at + 1;
                break;
            }
        }
        reader.consume(used);
        skipped += used as u64;
        if skipped > most {
            return Err(format!(
                "line {first} begins after more than {most} bytes: use a program that cuts the \
                 file"
            ));
        }
    }
    Ok(())
}

/// Returns the requested lines at the beginning of `bytes` that fit.
fn take_lines(bytes: &[u8], range: LineRange, size: u64) -> Result<FileExcerpt, String> {
    let (mut used, mut lines, mut is_cut) = (0, 0, false);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if lines == range.lines || used + line.len() > range.bytes {
            break;
        }
        used += line.len();
        lines += 1;
    }
    // With no line at all the model would be told to read on where it already is.
    if used == 0 && !bytes.is_empty() {
        (used, lines, is_cut) = (whole_characters(&bytes[..range.bytes]), 1, true);
    }
    if bytes.is_empty() && range.first > 1 {
        return Err(format!("it ends before line {}: read it from an earlier one", range.first));
    }
    let text = check_text(&bytes[..used], size)?.to_owned();
    let last = range.first + lines - 1;
    let more = used < bytes.len();
    Ok(FileExcerpt { text, first: range.first, last, total: None, more, is_cut, size })
}

/// Returns the length of the bytes without an incomplete character at their end.
fn whole_characters(bytes: &[u8]) -> usize {
    match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Returns the bytes as text, or the reason why they are not text.
pub(super) fn check_text(bytes: &[u8], size: u64) -> Result<&str, String> {
    if memchr(0, bytes).is_some() {
        return Err(format!("it is binary ({size} bytes): it is not shown"));
    }
    str::from_utf8(bytes).map_err(|_| {
        format!("it is binary or in another encoding than UTF-8 ({size} bytes): it is not shown")
    })
}

/// Returns the text for the model, with a note if it is not the whole file.
fn for_model(part: FileExcerpt) -> String {
    let FileExcerpt { mut text, first, last, total, more, is_cut, .. } = part;
    if text.is_empty() {
        return "(the file is empty)".to_owned();
    }
    if !more && first == 1 {
        return text;
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
    let cut = if is_cut { ", which is longer than a result may be and was cut" } else { "" };
    let next = if more && total != Some(last) {
        format!("read on with offset {}", last + 1)
    } else {
        "the end".to_owned()
    };
    text + &format!("[lines {first} to {last}{of}{cut}: {next}]")
}
