//! Where in an argument a path may begin. This reads text alone.

/// Longer paths are none for the kernel.
pub(super) const LONGEST_PATH: usize = 4096;
/// Longer names are none either.
pub(super) const LONGEST_NAME: usize = 255;
/// Behind these and `://` stands a host, not a path.
const HOSTS: [&str; 11] =
    ["http", "https", "ws", "wss", "ftp", "ftps", "ssh", "sftp", "git", "git+ssh", "git+https"];

/// A place where a path may begin: all text from there on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start<'a> {
    /// The whole argument.
    Whole(&'a str),
    /// Behind a sign, or behind letters that it cannot belong to.
    Word(&'a str),
    /// The first `/` behind the letters of an option, which may be its value's name.
    Glued { letters: &'a str, text: &'a str },
    /// The path of a `file:` URL.
    Url(String),
}

/// Whether a path may end before this character, and another begin behind it.
pub(super) fn is_sign(c: char) -> bool {
    c.is_whitespace() || "'\"`;|&<>()[]{},=:@".contains(c)
}

/// All places, the whole argument first.
pub(super) fn starts(arg: &str) -> impl Iterator<Item = Start<'_>> {
    let behind = arg.match_indices(is_sign).map(|(at, sign)| at + sign.len());
    let behind = behind.filter(|at| *at < arg.len() && !is_host(arg, *at));
    let words =
        behind.flat_map(|at| [Start::Word(&arg[at..])].into_iter().chain(glued(&arg[at..])));
    [Start::Whole(arg)]
        .into_iter()
        .chain(glued(arg))
        .chain(words)
        .chain(parents(arg))
        .chain(homes(arg))
        .chain(files(arg))
}

/// Whether a host stands at `at`, behind the `:` of a scheme.
pub(super) fn is_host(text: &str, at: usize) -> bool {
    let Some(before) = text[..at].strip_suffix(':').filter(|_| text[at..].starts_with("//")) else {
        return false;
    };
    let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next();
    scheme.is_some_and(|scheme| HOSTS.iter().any(|host| host.eq_ignore_ascii_case(scheme)))
}

/// The values that may stand right behind the letters of an option. A value begins before the
/// first `/` or with it: letters are no `/`.
fn glued(word: &str) -> impl Iterator<Item = Start<'_>> {
    let is_option = word.starts_with('-');
    let end = word.find(|c| c == '/' || is_sign(c)).unwrap_or(word.len());
    let (option, rest) = word.split_at(if is_option { end } else { 0 });
    let is_long = option.starts_with("--");
    let first = option.ceil_char_boundary(option.len().saturating_sub(LONGEST_NAME)).max(1);
    let letters = option.get(first..).unwrap_or_default().char_indices();
    let inner = letters
        .filter(move |(at, c)| !is_long || first + at == 1 || matches!(c, '.' | '~'))
        .map(move |(at, _)| Start::Word(&word[first + at..]));
    let last = match rest.chars().next() {
        Some('/') if option.len() > 2 => {
            Some(Start::Glued { letters: &option[first..], text: rest })
        }
        Some(_) if is_option => Some(Start::Word(rest)),
        _ => None,
    };
    inner.chain(last)
}

/// `../` behind something else than a `/`.
fn parents(arg: &str) -> impl Iterator<Item = Start<'_>> {
    let is_name = |at: usize| arg[..at].ends_with(['/', '.']);
    arg.match_indices("../")
        .filter(move |(at, _)| !is_name(*at))
        .map(|(at, _)| Start::Word(&arg[at..]))
}

/// The home folder, wherever a shell would put it.
fn homes(arg: &str) -> impl Iterator<Item = Start<'_>> {
    let braced = arg.contains("${HOME").then_some(Start::Word("$HOME"));
    arg.match_indices("$HOME").map(|(at, _)| Start::Word(&arg[at..])).chain(braced)
}

fn files(arg: &str) -> impl Iterator<Item = Start<'_>> {
    let lower = arg.to_ascii_lowercase();
    let found: Vec<usize> =
        lower.match_indices("file:").map(|(at, name)| at + name.len()).collect();
    found.into_iter().map(|at| Start::Url(url_path(&arg[at..])))
}

/// The path of a `file:` URL: behind the host, with `%41` resolved.
fn url_path(rest: &str) -> String {
    // A byte may be written as three.
    let rest = &rest[..rest.floor_char_boundary(3 * LONGEST_PATH)];
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
