//! Paths as text: absolute and without `.`, `..` and double slashes.
//!
//! Nothing here looks at a disk, so a symbolic link is a name like any other; only the
//! [links](link) that every system has are known.

pub(crate) mod link;

use crate::glob::{Tok, literal};
use crate::steps;

/// What it costs to keep one more path.
const PATH: usize = 32;

/// The longest path, in bytes, that a system takes.
pub(crate) const LONGEST: usize = 4_095;

/// The folders against which `~` and relative paths are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaseFolders<'a> {
    /// The working folder, absolute.
    pub(crate) cwd: &'a str,
    /// The user's home, absolute.
    pub(crate) home: &'a str,
}

/// Returns the absolute path that `text` names, with `..` resolved; it cannot climb above the root.
pub(crate) fn resolve(text: &str, base: BaseFolders<'_>) -> String {
    let whole = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", base.home),
        _ if text.starts_with('/') => text.to_owned(),
        _ => format!("{}/{text}", base.cwd),
    };
    normal(&whole)
}

/// Returns the absolute path that a word means in a folder. A shell has already resolved what `~`
/// stands for, so that one which is still there is a name.
pub(crate) fn join(cwd: &str, word: &str) -> String {
    normal(&if word.starts_with('/') { word.to_owned() } else { format!("{cwd}/{word}") })
}

/// Returns an absolute path without `.`, `..` and double slashes, and without the links of a
/// process to the root.
pub(crate) fn normal(path: &str) -> String {
    let toks = normal_toks(&literal(path));
    let chars = toks.iter().filter_map(|tok| if let Tok::Is(c) = tok { Some(*c) } else { None });
    chars.collect()
}

/// Returns the same as [`normal`] for a path with wildcards. What a `..` leads to after a wildcard
/// that may itself contain slashes is unknown, and then so is everything before it.
pub(crate) fn normal_toks(path: &[Tok]) -> Vec<Tok> {
    // A path that a system takes is resolved all the same; whoever has many looks at the budget.
    if !steps::spend(PATH + path.len()) && path.len() > LONGEST {
        return vec![Tok::Is('/')];
    }
    let mut segments: Vec<&[Tok]> = Vec::new();
    let unknown: &[Tok] = &[Tok::Cross];
    for segment in path.split(|tok| *tok == Tok::Is('/')) {
        match segment {
            [] | [Tok::Is('.')] => {}
            [Tok::Is('.'), Tok::Is('.')] => {
                if link::is_lost(&segments) {
                    // It stays lost, wherever it climbs.
                } else if link::climbs_unknown(&segments) {
                    segments = link::ANYWHERE.to_vec();
                } else if segments.iter().any(|segment| segment.contains(&Tok::Cross)) {
                    segments = vec![unknown];
                } else {
                    segments.pop();
                }
            }
            segment => segments.push(segment),
        }
        if link::is_root(&segments) {
            segments.clear();
        }
    }
    if segments.is_empty() {
        return vec![Tok::Is('/')];
    }
    let mut toks = Vec::with_capacity(path.len() + 1);
    for segment in segments {
        toks.push(Tok::Is('/'));
        toks.extend_from_slice(segment);
    }
    toks
}

/// Returns true if `path` is `folder` or lies in it; both are normal.
pub(crate) fn is_in(path: &str, folder: &str) -> bool {
    match path.strip_prefix(folder) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || folder.ends_with('/'),
        None => false,
    }
}

/// Returns the folders above a normal path, the nearest first, the root last.
pub(crate) fn above(path: &str) -> impl Iterator<Item = &str> {
    path.char_indices().rev().filter(|(_, c)| *c == '/').filter_map(move |(at, _)| {
        let folder = if at == 0 { "/" } else { &path[..at] };
        (folder != path).then_some(folder)
    })
}

/// Returns the last name of a path.
pub(crate) fn last_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::glob::{Lean, meets};

    const BASE: BaseFolders<'_> = BaseFolders { cwd: "/home/ada/engine", home: "/home/ada" };

    fn check(text: &str, expected: &str) {
        assert_eq!(resolve(text, BASE), expected, "{text:?}");
        if !text.starts_with('~') {
            let whole =
                if text.starts_with('/') { text.into() } else { format!("{}/{text}", BASE.cwd) };
            assert_eq!(normal_toks(&literal(&whole)), literal(expected), "{text:?}");
        }
    }

    #[test]
    fn paths_are_resolved_by_their_letters() {
        check("a", "/home/ada/engine/a");
        check("./a//b/", "/home/ada/engine/a/b");
        check("../x", "/home/ada/x");
        check("../../../../../etc/passwd", "/etc/passwd");
        check("", "/home/ada/engine");
        check("/", "/");
        check("/..", "/");
        check("/a/b/../../c", "/c");
        check("~", "/home/ada");
        check("~/x/../y", "/home/ada/y");
        check("~root/x", "/home/ada/engine/~root/x");
        check("a~", "/home/ada/engine/a~");
        check("/proc/self/root/etc/passwd", "/etc/passwd");
        check("/proc//1/./root/../etc", "/etc");
        check("/proc/thread-self/root/proc/9/root", "/");
        check("/proc/self/rooted/x", "/proc/self/rooted/x");
        check("/x/proc/self/root/y", "/x/proc/self/root/y");
        check("/proc/self/cwd/../x", "/proc/self/cwd/x");
        check("/proc/net/../root/x", "/proc/self/cwd/root/x");
        check("/dev/fd/../root/x", "/proc/self/cwd/root/x");
        check("/proc/../x", "/x");
    }

    #[test]
    fn a_climb_out_of_the_unknown_may_lead_anywhere() {
        let toks = |text: &str| -> Vec<Tok> {
            text.chars().map(|c| if c == '+' { Tok::Cross } else { Tok::Is(c) }).collect()
        };
        assert_eq!(normal_toks(&toks("/a/+/../b")), toks("/+/b"));
        assert!(meets(&normal_toks(&toks("/a/+/../b")), &literal("/c/b"), Lean::Strict));
        assert_eq!(normal_toks(&toks("/a/x/../+")), toks("/a/+"));
    }

    #[test]
    fn a_folder_holds_itself_and_what_is_below() {
        for (path, folder, expected) in [
            ("/a/b", "/a", true),
            ("/a", "/a", true),
            ("/ab", "/a", false),
            ("/a", "/", true),
            ("/", "/a", false),
        ] {
            assert_eq!(is_in(path, folder), expected, "{path} in {folder}");
        }
        assert_eq!(above("/a/b/c").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(above("/").count(), 0);
        assert_eq!(last_name("/a/b/"), "b");
    }

    proptest! {
        #[test]
        fn a_normal_path_stays_as_it_is(text in "[a./~]{0,12}") {
            let path = resolve(&text, BASE);
            prop_assert_eq!(normal(&path), path.clone());
            prop_assert!(path.starts_with('/') && !path.contains("//"));
            prop_assert!(!path.split('/').any(|segment| segment == ".." || segment == "."));
        }
    }
}
