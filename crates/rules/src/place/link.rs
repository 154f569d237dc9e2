//! The links that every system has: those of a process to its root, its folder and its files.

use std::sync::LazyLock;

use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};

/// A path that may lead anywhere: the working folder of a process.
pub(super) const ANYWHERE: [&[PatternToken]; 3] = [
    &[PatternToken::Is('p'), PatternToken::Is('r'), PatternToken::Is('o'), PatternToken::Is('c')],
    &[PatternToken::Is('s'), PatternToken::Is('e'), PatternToken::Is('l'), PatternToken::Is('f')],
    &[PatternToken::Is('c'), PatternToken::Is('w'), PatternToken::Is('d')],
];

/// Paths that may lead anywhere: `*` is one name, `+` is any path. They include a link to the root
/// for names with wildcards; a literal one has been resolved before. `/.vol` opens any file of
/// macOS by its numbers.
static LINKS: LazyLock<Vec<Vec<PatternToken>>> = LazyLock::new(|| {
    let links = "/proc/*/cwd /proc/*/cwd/+ /proc/*/exe /proc/*/exe/+ /proc/*/fd/+ \
                 /proc/*/map_files/+ /proc/*/task/+ /proc/*/root /proc/*/root/+ /dev/fd/+ /.vol/+/+";
    let tok = |c| match c {
        '*' => PatternToken::Run,
        '+' => PatternToken::Cross,
        c => PatternToken::Is(c),
    };
    links.split(' ').map(|link| link.chars().map(tok).collect()).collect()
});

/// Returns true if a normal path leads, or could lead, through a link that may lead anywhere.
pub(crate) fn leads_anywhere(path: &[PatternToken]) -> bool {
    LINKS.iter().any(|link| can_meet(path, link, ComparisonBias::Strict))
}

/// Returns true if these names are the link of a process to the root.
pub(super) fn is_root(names: &[&[PatternToken]]) -> bool {
    // A name that may itself contain slashes may be more than the process, so the third name is not
    // certainly its root.
    matches!(names, [proc, process, root]
        if is_exactly(proc, "proc") && is_exactly(root, "root") && !process.contains(&PatternToken::Cross))
}

/// Returns true if these names lead through a link that may lead anywhere.
pub(super) fn is_lost(names: &[&[PatternToken]]) -> bool {
    let is_link = |name: &[PatternToken]| {
        ["cwd", "exe", "fd", "map_files", "task"].iter().any(|link| is_exactly(name, link))
    };
    matches!(names, [proc, _, link, ..] if is_exactly(proc, "proc") && is_link(link))
}

/// Returns true if a `..` after these names leads to an unknown folder: some entries of `/proc`,
/// and `/dev/fd`, are links themselves.
pub(super) fn climbs_unknown(names: &[&[PatternToken]]) -> bool {
    match names {
        [first, second, ..] => {
            could_be(first, "proc") || (could_be(first, "dev") && could_be(second, "fd"))
        }
        _ => false,
    }
}

fn is_exactly(name: &[PatternToken], text: &str) -> bool {
    name == literal_toks(text)
}

/// Returns true if a name could be `text`. A completely unknown name is asked about anyway.
fn could_be(name: &[PatternToken], text: &str) -> bool {
    name != [PatternToken::Cross] && can_meet(name, &literal_toks(text), ComparisonBias::Strict)
}

/// Returns true if a folder, reached by this word from another, was reached through the link to the
/// root: a shell remembers the link, and `cd ..` goes back over it.
pub(crate) fn is_through_root(cwd: &str, word: &str) -> bool {
    let whole = if word.starts_with('/') { word.to_owned() } else { format!("{cwd}/{word}") };
    let names: Vec<&str> = whole.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    names.windows(3).any(|names| names[0] == "proc" && names[2] == "root")
}
