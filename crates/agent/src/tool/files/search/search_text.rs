//! `search_text`: finds lines by their text.

use std::time::Instant;

use memchr::{memchr, memchr_iter, memrchr};
use serde::Serialize;
use serde_json::json;

use super::glob::GlobPattern;
use super::hidden::HiddenFilter;
use super::needle::{Needle, NeedleResult};
use super::search_files::parse_filter;
use super::walk::{FolderStep, FolderWalk, MOST_TIME, SearchGaps, WalkEntry, result_prefix};
use crate::tool::CallOutcome;
use crate::tool::files::beneath::{open_child_file, read_whole_file};
use crate::tool::files::error_text::{FileKind, cannot_text, errno_text};
use crate::tool::files::input::FileToolInput;
use crate::tool::files::name::shown_name;
use crate::tool::files::roots::FileLocation;
use crate::tool::files::{CancelFlag, FileContext};

/// The default and the maximum number of lines.
const USUAL_RESULTS: u64 = 100;
const MOST_RESULTS: u64 = 1000;
/// The limit of a shown line in bytes, and how many of them precede the match.
const LONGEST_LINE: usize = 400;
const BEFORE: usize = 120;

/// Why a search ended early.
const TOO_LATE: &str = "it takes too long, for which a simpler pattern may help";

#[derive(Debug, Serialize)]
pub(in crate::tool::files) struct TextMatch {
    path: String,
    line: usize,
    text: String,
}

pub(in crate::tool::files) fn search_text(
    context: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<CallOutcome, String> {
    let pattern = input.text("pattern")?;
    let path = input.optional_text("path")?.unwrap_or(".");
    let needle = Needle::from_pattern(pattern, input.flag("regex")?, input.flag("ignoreCase")?)
        .map_err(|reason| cannot_text("search for", pattern, reason))?;
    let glob = input.optional_text("glob")?;
    let only = glob
        .map(|glob| parse_filter(glob).map_err(|reason| cannot_text("use the glob", glob, reason)))
        .transpose()?;
    let most = input.count("maxResults")?.unwrap_or(USUAL_RESULTS).min(MOST_RESULTS);
    let includes_ignored = input.flag("includeIgnored")?;
    let filter = HiddenFilter::new(&context.hidden, "search_text", context.roots.absolute(path));
    let until = Instant::now() + MOST_TIME;
    let mut search = TextSearch::new(context, needle, only, most, filter, stop, until);
    let mut gaps = context
        .roots
        .locate(path)
        .and_then(|place| search.search_place(&place, path, includes_ignored))
        .map_err(|reason| cannot_text("search", path, reason))?;
    // A cancellation ends the search as the time limit does, and must not pass for a result.
    stop.check_unset().map_err(|reason| cannot_text("search", path, reason))?;
    gaps.hidden = search.filter.count;
    if search.is_late {
        gaps.ended = Some(TOO_LATE);
    }
    let truncated = search.is_full || gaps.is_unfinished();
    let text = search.text(pattern) + &gaps.notes();
    let result = json!({
        "matches": search.found,
        "searched": search.searched,
        "truncated": truncated,
        "leftOutByRules": gaps.hidden,
    });
    Ok(CallOutcome::done(&result, text))
}

pub(in crate::tool::files) struct TextSearch<'a> {
    context: &'a FileContext,
    needle: Needle,
    only: Option<Vec<GlobPattern>>,
    most: u64,
    filter: HiddenFilter,
    stop: &'a CancelFlag,
    until: Instant,
    pub(in crate::tool::files) found: Vec<TextMatch>,
    /// The remaining bytes for the model.
    room: usize,
    searched: usize,
    /// The numbers of skipped files: too large, binary, unreadable.
    large: usize,
    binary: usize,
    unread: usize,
    is_full: bool,
    /// Whether the time limit ended the search.
    pub(in crate::tool::files) is_late: bool,
}

impl<'a> TextSearch<'a> {
    pub(in crate::tool::files) fn new(
        context: &'a FileContext,
        needle: Needle,
        only: Option<Vec<GlobPattern>>,
        most: u64,
        filter: HiddenFilter,
        stop: &'a CancelFlag,
        until: Instant,
    ) -> Self {
        Self {
            context,
            needle,
            only,
            most,
            filter,
            stop,
            until,
            found: Vec::new(),
            room: context.limits.max_result,
            searched: 0,
            large: 0,
            binary: 0,
            unread: 0,
            is_full: false,
            is_late: false,
        }
    }

    fn search_place(
        &mut self,
        place: &FileLocation<'_>,
        path: &str,
        all: bool,
    ) -> Result<SearchGaps, String> {
        match place.kind().map_err(errno_text)? {
            FileKind::Folder => {
                let base = result_prefix(path, "");
                FolderWalk::new(place, all, self.stop)?
                    .visit_all(&mut |entry| self.visit(entry, &base))
            }
            FileKind::File => {
                let (file, _) = place.open_file()?;
                let most = self.context.limits.max_file;
                let bytes = read_whole_file(file, most)?
                    .ok_or_else(|| format!("it has more than {most} bytes, the limit"))?;
                self.search_file(&bytes, path.as_bytes());
                Ok(SearchGaps::default())
            }
            other => Err(other.refusal().to_owned()),
        }
    }

    fn visit(&mut self, entry: &WalkEntry<'_>, base: &str) -> FolderStep {
        let fits = |only: &Vec<GlobPattern>| only.iter().any(|pattern| pattern.fits(entry.path));
        let is_wanted = match entry.kind {
            FileKind::File => self.only.as_ref().is_none_or(fits),
            kind => kind == FileKind::Folder,
        };
        if is_wanted && self.filter.hides(entry) {
            return FolderStep::Past;
        }
        if !is_wanted || entry.kind == FileKind::Folder {
            return FolderStep::On;
        }
        match open_child_file(entry.folder, entry.name).and_then(|(file, stat)| {
            let most = self.context.limits.max_file;
            // By its size, so that a large file is not read up to the limit only to be left out.
            let is_large = u64::try_from(stat.st_size).is_ok_and(|size| size > most);
            if is_large { Ok(None) } else { read_whole_file(file, most) }
        }) {
            Ok(Some(bytes)) => {
                let mut path = base.as_bytes().to_vec();
                path.extend_from_slice(entry.bytes);
                self.search_file(&bytes, &path);
            }
            Ok(None) => self.large += 1,
            Err(_) => self.unread += 1,
        }
        if self.is_full || self.is_late { FolderStep::Enough } else { FolderStep::On }
    }

    pub(in crate::tool::files) fn search_file(&mut self, bytes: &[u8], path: &[u8]) {
        // grep and git take a file with a zero byte for binary, too.
        if memchr(0, bytes).is_some() {
            self.binary += 1;
            return;
        }
        self.searched += 1;
        let (mut from, mut line, mut counted) = (0, 1, 0);
        while from < bytes.len() {
            let (stop, until) = (self.stop, self.until);
            let goes_on = || !stop.is_set() && Instant::now() <= until;
            let at = match self.needle.find(bytes, from, goes_on) {
                // A match at the end of the file is empty, and in no line.
                NeedleResult::At(at) if at < bytes.len() => at,
                NeedleResult::At(_) | NeedleResult::Nowhere => return,
                NeedleResult::Stopped => {
                    self.is_late = true;
                    return;
                }
            };
            // From the last match on: counted from the beginning, many matches in a large file
            // would take long.
            line += memchr_iter(b'\n', &bytes[counted..at]).count();
            counted = at;
            let start = memrchr(b'\n', &bytes[..at]).map_or(0, |at| at + 1);
            let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
            if !self.add_match(path, line, &bytes[start..end], at - start) {
                return;
            }
            // A line is shown once, however often it matches.
            from = end + 1;
        }
    }

    fn add_match(&mut self, path: &[u8], line: usize, text: &[u8], at: usize) -> bool {
        let path = shown_name(path).into_owned();
        let text = line_excerpt(text, at);
        // With the line's number and what JSON puts around the three.
        let length = path.len() + text.len() + 24;
        if self.found.len() as u64 >= self.most || length > self.room {
            self.is_full = true;
            return false;
        }
        self.room -= length;
        self.found.push(TextMatch { path, line, text });
        true
    }

    fn text(&self, pattern: &str) -> String {
        let lines: Vec<String> =
            self.found.iter().map(|m| format!("{}:{}:{}", m.path, m.line, m.text)).collect();
        let mut out = lines.join("\n");
        if lines.is_empty() {
            let shown = shown_name(pattern.as_bytes());
            out = format!("{shown} occurs in none of the {} files searched", self.searched);
        }
        if self.is_full {
            out += "\n[there are more: search a folder, or for something rarer]";
        }
        for (count, what) in
            [(self.large, "too large"), (self.binary, "binary"), (self.unread, "unreadable")]
        {
            if count > 0 {
                out = format!("{out}\n[files left out, {what}: {count}]");
            }
        }
        out
    }
}

/// Returns a line in the form in which it is shown; for a long one, the part around the match at
/// `at`.
fn line_excerpt(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    let is_middle = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut start = at.saturating_sub(BEFORE).min(line.len() - LONGEST_LINE);
    let mut end = start + LONGEST_LINE;
    while is_middle(start) {
        start += 1;
    }
    while is_middle(end) {
        end -= 1;
    }
    let (before, after) =
        (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{}{after}", String::from_utf8_lossy(&line[start..end.max(start)]))
}
