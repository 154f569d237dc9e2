//! Where in an argument a path may begin. This examines only text.

use crate::place;

/// The longest name that the kernel accepts, in bytes.
pub(super) const LONGEST_NAME: usize = 255;
/// Schemes after whose `://` a host follows, not a path. After any other one, such as `sqlite`, a
/// path may follow.
const HOSTS: [&str; 11] =
    ["http", "https", "ws", "wss", "ftp", "ftps", "ssh", "sftp", "git", "git+ssh", "git+https"];

/// A position where a path may begin: all text from there on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathStart<'a> {
    Whole(&'a str),
    /// After a separator, or after letters that it cannot belong to.
    Word(&'a str),
    /// The first `/` after the letters of an option, which may be part of its value.
    Glued {
        letters: &'a str,
        text: &'a str,
    },
    /// The path of a `file:` URL.
    Url(String),
}

/// Returns true if a path may end before this character, and another begin after it.
pub(super) fn is_separator(c: char) -> bool {
    c.is_whitespace() || "'\"`;|&<>()[]{},=:@".contains(c)
}

/// Returns all places, the whole argument first.
pub(super) fn path_starts(arg: &str) -> impl Iterator<Item = PathStart<'_>> {
    let behind = arg.match_indices(is_separator).map(|(at, sign)| at + sign.len());
    let behind = behind.filter(|at| *at < arg.len() && !is_host(arg, *at));
    let words = behind
        .flat_map(|at| [PathStart::Word(&arg[at..])].into_iter().chain(glued_starts(&arg[at..])));
    [PathStart::Whole(arg)]
        .into_iter()
        .chain(glued_starts(arg))
        .chain(words)
        .chain(parent_starts(arg))
        .chain(home_starts(arg))
        .chain(file_url_starts(arg))
}

/// Returns true if a host follows at `at`, after the `:` of a scheme.
pub(super) fn is_host(text: &str, at: usize) -> bool {
    let Some(before) = text[..at].strip_suffix(':').filter(|_| text[at..].starts_with("//")) else {
        return false;
    };
    let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next();
    scheme.is_some_and(|scheme| HOSTS.iter().any(|host| host.eq_ignore_ascii_case(scheme)))
}

/// Returns the values that may follow the letters of an option without a separator. A value begins
/// before the first `/` or with it: letters are not `/`.
fn glued_starts(word: &str) -> impl Iterator<Item = PathStart<'_>> {
    let is_option = word.starts_with('-');
    let end = word.find(|c| c == '/' || is_separator(c)).unwrap_or(word.len());
    let (option, rest) = word.split_at(if is_option { end } else { 0 });
    let is_long = option.starts_with("--");
    // Only the last letters can belong to a name, because the kernel accepts no longer one.
    let first = option.ceil_char_boundary(option.len().saturating_sub(LONGEST_NAME)).max(1);
    let letters = option.get(first..).unwrap_or_default().char_indices();
    let inner = letters
        .filter(move |(at, c)| !is_long || first + at == 1 || matches!(c, '.' | '~'))
        .map(move |(at, _)| PathStart::Word(&word[first + at..]));
    let last = match rest.chars().next() {
        Some('/') if option.len() > 2 => {
            Some(PathStart::Glued { letters: &option[first..], text: rest })
        }
        Some(_) if is_option => Some(PathStart::Word(rest)),
        _ => None,
    };
    inner.chain(last)
}

/// Finds `../` after anything but a `/`.
fn parent_starts(arg: &str) -> impl Iterator<Item = PathStart<'_>> {
    let is_name = |at: usize| arg[..at].ends_with(['/', '.']);
    arg.match_indices("../")
        .filter(move |(at, _)| !is_name(*at))
        .map(|(at, _)| PathStart::Word(&arg[at..]))
}

/// Returns the home folder, wherever a shell would insert it.
fn home_starts(arg: &str) -> impl Iterator<Item = PathStart<'_>> {
    // What follows in the braces is not read, so the home itself has to be inside.
    let braced = arg.contains("${HOME").then_some(PathStart::Word("$HOME"));
    arg.match_indices("$HOME").map(|(at, _)| PathStart::Word(&arg[at..])).chain(braced)
}

fn file_url_starts(arg: &str) -> impl Iterator<Item = PathStart<'_>> {
    // Only ASCII is changed, so that positions in it are positions in `arg`.
    let lower = arg.to_ascii_lowercase();
    let found: Vec<usize> =
        lower.match_indices("file:").map(|(at, name)| at + name.len()).collect();
    found.into_iter().map(|at| PathStart::Url(url_path(&arg[at..])))
}

/// Returns the path of a `file:` URL: after the host, with `%41` decoded.
fn url_path(rest: &str) -> String {
    // A byte may be encoded as three.
    let rest = &rest[..rest.floor_char_boundary(3 * place::LONGEST)];
    let path = match rest.strip_prefix("//") {
        Some(host) => host.find('/').map_or("", |at| &host[at..]),
        None => rest,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.as_bytes();
    while let Some((&first, rest)) = left.split_first() {
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                left = &rest[2..];
            }
            _ => {
                bytes.push(first);
                left = rest;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
