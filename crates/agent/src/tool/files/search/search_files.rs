//! `search_files`: finds files and folders by name.

use serde_json::json;

use super::glob::{GlobDialect, GlobPattern, expand_braces, fold_case};
use super::hidden::HiddenFilter;
use super::walk::{FolderStep, FolderWalk, SearchGaps, WalkEntry, result_prefix};
use crate::tool::CallOutcome;
use crate::tool::files::error_text::{FileKind, cannot_text};
use crate::tool::files::input::FileToolInput;
use crate::tool::files::name::shown_name;
use crate::tool::files::roots::FileLocation;
use crate::tool::files::{CancelFlag, FileContext};

/// The default and the maximum number of results.
const USUAL_RESULTS: u64 = 200;
const MOST_RESULTS: u64 = 5000;

/// Ignores case and has no escapes, because the rules that judge a pattern have none.
const DIALECT: GlobDialect = GlobDialect { escapes: false, folds: true };

pub(in crate::tool::files) fn search_files(
    context: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<CallOutcome, String> {
    let pattern = input.text("pattern")?;
    let path = input.optional_text("path")?.unwrap_or(".");
    let most = input.count("maxResults")?.unwrap_or(USUAL_RESULTS).min(MOST_RESULTS);
    let includes_ignored = input.flag("includeIgnored")?;
    let wanted = NameFilter::from_pattern(pattern)
        .map_err(|reason| cannot_text("search for", pattern, reason))?;
    let start = context.roots.absolute(path).join(&wanted.prefix);
    let mut found = FoundFiles {
        base: result_prefix(path, &wanted.prefix),
        files: Vec::new(),
        room: context.limits.max_result,
        most,
        is_full: false,
        filter: HiddenFilter::new(&context.hidden, "search_files", start),
    };
    let mut gaps = context
        .roots
        .locate(path)
        .and_then(|place| search_folder(&place, &wanted, includes_ignored, &mut found, stop))
        .map_err(|reason| cannot_text("search", path, reason))?;
    gaps.hidden = found.filter.count;
    let mut text = found.files.join("\n");
    if found.files.is_empty() {
        text = format!(
            "nothing matches {}\n[a pattern with a `/` begins at the folder that is searched; `**/` \
             before it means any folder]",
            shown_name(pattern.as_bytes())
        );
    }
    if found.is_full {
        text += "\n[there are more: search a folder, or with another pattern]";
    }
    let truncated = found.is_full || gaps.is_unfinished();
    let result = json!({
        "files": found.files,
        "truncated": truncated,
        "leftOutByRules": gaps.hidden,
    });
    Ok(CallOutcome::done(&result, text + &gaps.notes()))
}

fn search_folder(
    place: &FileLocation<'_>,
    wanted: &NameFilter,
    includes_ignored: bool,
    found: &mut FoundFiles,
    stop: &CancelFlag,
) -> Result<SearchGaps, String> {
    if place.kind().map_err(crate::tool::files::error_text::errno_text)? != FileKind::Folder {
        return Err("it is not a folder: search the folder that contains it".to_owned());
    }
    let start = FileLocation { rest: place.rest.join(&wanted.prefix), ..place.clone() };
    if !matches!(start.kind(), Ok(FileKind::Folder)) {
        return Ok(SearchGaps::default());
    }
    FolderWalk::new(&start, includes_ignored, stop)?.visit_all(&mut |entry| {
        if wanted.fits(entry.path, entry.kind) && !found.add_entry(entry) {
            return FolderStep::Enough;
        }
        let is_deepest = wanted.deepest.is_some_and(|deepest| entry.path.len() >= deepest);
        // Like list_files, this shows the name of what may not be read, but nothing in it.
        let is_end = is_deepest || (entry.kind == FileKind::Folder && found.filter.hides(entry));
        if is_end { FolderStep::Past } else { FolderStep::On }
    })
}

struct FoundFiles {
    base: String,
    files: Vec<String>,
    most: u64,
    /// The remaining bytes for the model.
    room: usize,
    is_full: bool,
    filter: HiddenFilter,
}

impl FoundFiles {
    fn add_entry(&mut self, entry: &WalkEntry<'_>) -> bool {
        let mut path = self.base.clone().into_bytes();
        path.extend_from_slice(entry.bytes);
        let slash = if entry.kind == FileKind::Folder { "/" } else { "" };
        let path = format!("{}{slash}", shown_name(&path));
        if self.files.len() as u64 >= self.most || path.len() >= self.room {
            self.is_full = true;
            return false;
        }
        self.room -= path.len() + 1;
        self.files.push(path);
        true
    }
}

/// The pattern that names are compared with.
#[derive(Default)]
struct NameFilter {
    /// The folders at the beginning of the pattern, without wildcards.
    prefix: String,
    /// A part of a name, in lower case.
    word: Option<String>,
    patterns: Vec<GlobPattern>,
    /// Whether the pattern ends with a slash.
    only_folders: bool,
    deepest: Option<usize>,
}

impl NameFilter {
    fn from_pattern(pattern: &str) -> Result<Self, String> {
        check_pattern(pattern)?;
        let bare = pattern.trim_end_matches('/');
        let only_folders = bare.len() < pattern.len();
        let mut wanted = Self { only_folders, ..Self::default() };
        if !is_wild(bare) && !bare.contains('/') {
            wanted.word = Some(bare.chars().map(fold_case).collect());
            return Ok(wanted);
        }
        // Folders that are named are entered by their names, as the rules see them.
        let names: Vec<&str> = bare.split('/').collect();
        let fixed = names.iter().take_while(|name| !is_wild(name)).count().min(names.len() - 1);
        wanted.prefix = names[..fixed].join("/");
        let is_tied = names.len() > 1;
        let dialect = GlobDialect { folds: is_wild(pattern), ..DIALECT };
        for text in expand_braces(&names[fixed..].join("/"))? {
            // Again, because a `..` may arise only from the braces.
            check_pattern(&text)?;
            let pattern = GlobPattern::from_text(&text, dialect);
            let goes_anywhere = !is_tied && !text.contains('/');
            wanted.patterns.push(if goes_anywhere { pattern.at_any_depth() } else { pattern });
        }
        let depths: Option<Vec<usize>> = wanted.patterns.iter().map(GlobPattern::deepest).collect();
        wanted.deepest = depths.and_then(|depths| depths.into_iter().max());
        Ok(wanted)
    }

    fn fits(&self, path: &[&str], kind: FileKind) -> bool {
        if self.only_folders && kind != FileKind::Folder {
            return false;
        }
        match (&self.word, path.last()) {
            (Some(word), Some(name)) => {
                name.chars().map(fold_case).collect::<String>().contains(word.as_str())
            }
            _ => self.patterns.iter().any(|pattern| pattern.fits(path)),
        }
    }
}

fn is_wild(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

pub(in crate::tool::files) fn check_pattern(pattern: &str) -> Result<(), String> {
    let reason = if pattern.is_empty() {
        "it is empty: give a part of a name, or a pattern such as `**/*.rs`"
    } else if pattern.contains('\0') {
        "it contains a NUL, which no name can contain"
    } else if pattern.starts_with('/') {
        "it begins with `/`: give the folder as `path`, and a pattern from there"
    } else if pattern == "~" || pattern.starts_with("~/") {
        "`~` is not expanded here: give the folder as `path`"
    } else if pattern.split(['/', ',', '{', '}']).any(|name| name == "..") {
        "it has a `..`: give the folder as `path`, and a pattern from there"
    } else {
        return Ok(());
    };
    Err(reason.to_owned())
}

/// Returns an additional pattern that paths must match; without a slash it applies to names.
pub(in crate::tool::files) fn parse_filter(pattern: &str) -> Result<Vec<GlobPattern>, String> {
    check_pattern(pattern)?;
    let mut patterns = Vec::new();
    for text in expand_braces(pattern)? {
        check_pattern(&text)?;
        let pattern = GlobPattern::from_text(&text, DIALECT);
        patterns.push(if text.contains('/') { pattern } else { pattern.at_any_depth() });
    }
    Ok(patterns)
}
