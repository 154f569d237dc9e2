//! Paths as text: absolute and without `.`, `..` and double slashes.
//!
//! Nothing here accesses a disk, so a symbolic link is a name like any other; only the
//! [links](link) that every system has are known.

pub(crate) mod link;

use crate::glob::{PatternToken, literal_toks};
use crate::steps;

/// The cost of keeping one more path.
const PATH: usize = 32;

/// The longest path, in bytes, that a system accepts: `PATH_MAX` also counts the NUL at its end.
pub(crate) const LONGEST: usize = 4_095;

/// The folders to which `~` and relative paths refer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaseFolders<'a> {
    /// The working folder, absolute.
    pub(crate) cwd: &'a str,
    /// The user's home, absolute.
    pub(crate) home: &'a str,
}

/// Returns the absolute path that `text` names, with `..` resolved; it cannot lead above the root.
pub(crate) fn resolve_path(text: &str, base: BaseFolders<'_>) -> String {
    let whole = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", base.home),
        _ if text.starts_with('/') => text.to_owned(),
        _ => format!("{}/{text}", base.cwd),
    };
    normal_path(&whole)
}

/// Returns the absolute path that a word means in a folder. A shell has already expanded `~`, so
/// one that is still there is a name.
pub(crate) fn join_path(cwd: &str, word: &str) -> String {
    normal_path(&if word.starts_with('/') { word.to_owned() } else { format!("{cwd}/{word}") })
}

/// Returns a path in a folder, as it is; an absolute path stays that path.
pub(crate) fn path_below(folder: &str, name: &str) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    format!("{}/{name}", folder.trim_end_matches('/'))
}

/// Returns an absolute path without `.`, `..` and double slashes, and without the links of a
/// process to the root.
pub(crate) fn normal_path(path: &str) -> String {
    let toks = normal_toks(&literal_toks(path));
    let chars =
        toks.iter().filter_map(|tok| if let PatternToken::Is(c) = tok { Some(*c) } else { None });
    chars.collect()
}

/// Returns the same as [`normal_path`] for a path with wildcards. The target of a `..` after a
/// wildcard that may itself match slashes is unknown, and so is everything before it.
pub(crate) fn normal_toks(path: &[PatternToken]) -> Vec<PatternToken> {
    // A path that a system accepts is always resolved; callers with many paths check the budget.
    if !steps::spend_budget(PATH + path.len()) && path.len() > LONGEST {
        return vec![PatternToken::Is('/')];
    }
    let mut segments: Vec<&[PatternToken]> = Vec::new();
    let unknown: &[PatternToken] = &[PatternToken::Cross];
    for segment in path.split(|tok| *tok == PatternToken::Is('/')) {
        match segment {
            [] | [PatternToken::Is('.')] => {}
            [PatternToken::Is('.'), PatternToken::Is('.')] => {
                if link::is_lost(&segments) {
                    // It stays unknown, however far up it leads.
                } else if link::climbs_unknown(&segments) {
                    segments = link::ANYWHERE.to_vec();
                } else if segments.iter().any(|segment| segment.contains(&PatternToken::Cross)) {
                    segments = vec![unknown];
                } else {
                    segments.pop();
                }
            }
            segment => segments.push(segment),
        }
        // After each name, because a process's link to the root may be in the middle of a path.
        if link::is_root(&segments) {
            segments.clear();
        }
    }
    if segments.is_empty() {
        return vec![PatternToken::Is('/')];
    }
    let mut toks = Vec::with_capacity(path.len() + 1);
    for segment in segments {
        toks.push(PatternToken::Is('/'));
        toks.extend_from_slice(segment);
    }
    toks
}

/// Returns the absolute path of a part of a word in a folder.
pub(crate) fn placed_toks(
    part: &[PatternToken],
    folder: &[PatternToken],
    home: &str,
) -> Vec<PatternToken> {
    let mut whole = match part {
        // A part that begins with anything may be absolute, and then it includes every folder.
        [PatternToken::Is('/') | PatternToken::Cross, ..] => Vec::new(),
        [PatternToken::Is('~')] | [PatternToken::Is('~'), PatternToken::Is('/'), ..] => {
            literal_toks(home)
        }
        _ => [folder, &[PatternToken::Is('/')]].concat(),
    };
    let is_home = matches!(
        part,
        [PatternToken::Is('~')] | [PatternToken::Is('~'), PatternToken::Is('/'), ..]
    );
    whole.extend_from_slice(if is_home { &part[1..] } else { part });
    normal_toks(&whole)
}

/// Returns true if `path` is `folder` or is in it; both are normal.
pub(crate) fn is_in(path: &str, folder: &str) -> bool {
    match path.strip_prefix(folder) {
        // The root is the one folder that ends in a slash.
        Some(rest) => rest.is_empty() || rest.starts_with('/') || folder.ends_with('/'),
        None => false,
    }
}

/// Returns the folders above a normal path, the nearest first, the root last.
pub(crate) fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.char_indices().rev().filter(|(_, c)| *c == '/').filter_map(move |(at, _)| {
        let folder = if at == 0 { "/" } else { &path[..at] };
        (folder != path).then_some(folder)
    })
}

pub(crate) fn last_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
