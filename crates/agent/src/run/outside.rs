//! Which words of a command lead outside of the folders that commands may work in.
//!
//! This reads words, it is no sandbox: a program can reach whatever the user can, and a script can
//! put a path together from pieces. What is seen: absolute paths, `..`, `~` and `$HOME`, paths
//! behind `=`, `:`, `,`, `@` or an option's letter, `file:` URLs, paths within a script that is
//! an argument, and symbolic links. An absolute path whose first name does not exist, such as the
//! pattern `/foo/`, counts only where it could be created.

use std::fs;
use std::path::{Component, Path, PathBuf};

use callgate_rules::mask;
use rustix::fs::{Access, access};

/// A command with more pieces that may be paths is asked about without looking further.
pub(super) const MOST_PIECES: usize = 2000;
/// How many symbolic links a path may lead through, as the kernel has it.
const MOST_LINKS: usize = 40;
/// How much of a path is shown.
const LONGEST_SHOWN: usize = 200;
/// Where programs are even if PATH does not say so.
const PROGRAMS: [&str; 7] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/bin"];
/// Devices that everybody may use.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// What is asked of the disk.
pub(super) trait Disk {
    /// Where a symbolic link leads.
    fn link(&self, path: &Path) -> Option<PathBuf>;
    /// Whether something is there.
    fn exists(&self, path: &Path) -> bool;
    /// Whether a new name can be made in the root folder.
    fn is_root_writable(&self) -> bool;
}

/// The disk of this machine.
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn exists(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    fn is_root_writable(&self) -> bool {
        access("/", Access::WRITE_OK).is_ok()
    }
}

/// Where a command runs.
pub(super) struct Place<'a> {
    pub(super) cwd: &'a Path,
    pub(super) roots: &'a [PathBuf],
    /// The folders of PATH.
    pub(super) programs: &'a [PathBuf],
    pub(super) home: Option<PathBuf>,
    pub(super) disk: &'a dyn Disk,
}

/// Why a person has to be asked about a command, if so.
pub(super) fn reason(command: &str, args: &[String], place: &Place<'_>) -> Option<String> {
    let roots: Vec<PathBuf> = place.roots.iter().filter_map(|root| place.real(root)).collect();
    if command.contains('/') && !place.is_program(command, &roots) {
        return Some(place.words("the program is", command));
    }
    let mut seen = 0;
    for arg in args {
        for piece in pieces(arg) {
            seen += 1;
            if seen > MOST_PIECES {
                return Some("the command has more words than are looked through for paths".into());
            }
            if let Some(path) = place.outside(&piece, &roots) {
                return Some(place.words("the command names", &path));
            }
        }
    }
    None
}

/// A part of an argument that may be a path.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// Stands alone, or behind a sign.
    Whole(&'a str),
    /// Stands right behind the letters of an option.
    Glued(&'a str),
    /// From a `file:` URL.
    Url(String),
}

/// Whether a path begins with somebody's home folder.
enum Home {
    Not,
    At(PathBuf),
    /// It is another person's, or nobody knows where ours is.
    Unknown,
}

fn pieces(arg: &str) -> impl Iterator<Item = Piece<'_>> {
    let is_sign = |c: char| c.is_whitespace() || "'\"`;|&<>()[]{},=".contains(c);
    let home = arg.contains("${HOME").then_some(Piece::Whole("$HOME"));
    arg.split(is_sign).flat_map(parts).chain(home).filter(|piece| !piece.is_empty())
}

fn parts(word: &str) -> Vec<Piece<'_>> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let is_file = scheme.to_lowercase().ends_with("file");
        // What stands behind another scheme is a host.
        return if is_file { vec![Piece::Url(url_path(rest))] } else { Vec::new() };
    }
    word.split(':').flat_map(|part| option(part.trim_start_matches('@'))).collect()
}

fn option(part: &str) -> Vec<Piece<'_>> {
    let Some(rest) = part.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return vec![Piece::Whole(part)];
    };
    let mut letters = rest.chars();
    letters.next();
    let value = letters.as_str().trim_start_matches('@');
    let slash = value.find('/').filter(|at| *at > 0);
    let glued = slash.map(|at| Piece::Glued(&value[at..]));
    [Piece::Whole(value)].into_iter().chain(glued).collect()
}

/// The path of a `file:` URL: behind the host, with `%41` resolved.
fn url_path(rest: &str) -> String {
    let path = rest.find('/').map_or("", |at| &rest[at..]);
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

impl Piece<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Whole(text) | Self::Glued(text) => text,
            Self::Url(text) => text,
        }
    }

    fn is_empty(&self) -> bool {
        self.text().is_empty()
    }
}

impl Place<'_> {
    /// The path, if it leads outside.
    fn outside(&self, piece: &Piece<'_>, roots: &[PathBuf]) -> Option<String> {
        let text = piece.text();
        let path = match self.at_home(text) {
            Home::Not => self.cwd.join(text),
            Home::At(path) => path,
            Home::Unknown => return Some(text.to_owned()),
        };
        if text.starts_with('/') && !self.is_somewhere(&path, matches!(piece, Piece::Glued(_))) {
            return None;
        }
        let is_fine = DEVICES.contains(&text) || self.is_inside(&path, roots);
        (!is_fine).then(|| text.to_owned())
    }

    fn at_home(&self, text: &str) -> Home {
        let tilde = text.strip_prefix('~');
        let Some(rest) = tilde.or_else(|| text.strip_prefix("$HOME")) else { return Home::Not };
        if rest.is_empty() || rest.starts_with('/') {
            let below = rest.trim_start_matches('/');
            return self.home.as_ref().map_or(Home::Unknown, |home| Home::At(home.join(below)));
        }
        let is_user = rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if tilde.is_some() && is_user { Home::Unknown } else { Home::Not }
    }

    /// Whether an absolute path can lead to something. Most of what is glued to an option is
    /// the rest of a relative path, so that there nothing is taken to be new.
    fn is_somewhere(&self, path: &Path, is_glued: bool) -> bool {
        let mut names = path.components().skip_while(|part| !matches!(part, Component::Normal(_)));
        let Some(first) = names.next() else { return !is_glued };
        self.disk.exists(&Path::new("/").join(first)) || (!is_glued && self.disk.is_root_writable())
    }

    fn is_inside(&self, path: &Path, roots: &[PathBuf]) -> bool {
        self.real(path).is_some_and(|path| roots.iter().any(|root| path.starts_with(root)))
    }

    fn is_program(&self, command: &str, roots: &[PathBuf]) -> bool {
        let file = self.cwd.join(command);
        let Some(folder) = file.parent().and_then(|folder| self.real(folder)) else { return false };
        let usual = PROGRAMS.iter().map(Path::new);
        let mut programs = usual.chain(self.programs.iter().map(PathBuf::as_path));
        let is_usual = file.file_name().is_some()
            && programs.any(|usual| usual == folder || self.real(usual).as_ref() == Some(&folder));
        is_usual || self.is_inside(&file, roots)
    }

    /// A path without symbolic links, `.` and `..`; `None` if its links lead in circles.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let mut links = MOST_LINKS;
        self.walk(path, &mut links)
    }

    fn walk(&self, path: &Path, links: &mut usize) -> Option<PathBuf> {
        let mut at = PathBuf::from("/");
        for part in path.components() {
            match part {
                Component::RootDir => at = PathBuf::from("/"),
                Component::ParentDir => drop(at.pop()),
                Component::CurDir | Component::Prefix(_) => {}
                Component::Normal(name) => {
                    at.push(name);
                    if let Some(target) = self.disk.link(&at) {
                        *links = links.checked_sub(1)?;
                        at.pop();
                        at = self.walk(&at.join(target), links)?;
                    }
                }
            }
        }
        Some(at)
    }

    fn words(&self, what: &str, path: &str) -> String {
        let mut shown = mask::text(path).into_shown();
        if shown.len() > LONGEST_SHOWN {
            shown.truncate(shown.floor_char_boundary(LONGEST_SHOWN));
            shown.push('…');
        }
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        format!("{what} `{shown}`, which is outside of {}", roots.join(", "))
    }
}

#[cfg(test)]
mod tests;
