//! Which words of a command lead outside the folders in which commands may work.
//!
//! This applies to the commands of our own runtime, which has such folders. It reads words and is
//! not a sandbox: a program can reach whatever the user can, through links that it finds itself
//! (`grep -R`), from a folder that it enters (`tar -C`), and a script can build a path from pieces
//! or wildcards. What is seen: every part of an argument between its ends, separators such as `=`,
//! `:`, `,`, `@` or a blank, and the letters of an option, if it is an absolute path, leads out by
//! `..`, `~`, `$HOME` or a `file:` URL, or through a symbolic link. An absolute path whose first
//! name does not exist, such as the pattern `/foo/`, counts only where it could be created.
//!
//! A program that is named by a path must be in those folders, links and `..` followed, or
//! directly in one of the usual folders of programs.

mod starts;

use crate::act::Act;
use crate::disk::{Disk, DiskEntry, PathFollower};
use crate::place::{self, is_in, path_below};
use crate::shell::ShellWord;
use crate::shown::short_path;
use starts::{LONGEST_NAME, PathStart, is_host, is_separator, path_starts};

/// A command with more possible paths is asked about without checking them all, because each takes
/// looks at the disk.
const MOST_LOOKS: usize = 50_000;
/// Characters that a shell does not leave in a name.
const SHELL_CHARACTERS: &str = "'\"`;|&<>()[]{}$*?!#\\";
/// Folders of programs even if PATH does not contain them.
const PROGRAMS: [&str; 7] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/bin"];
/// Devices that commands use everywhere. They are outside of every folder, and nothing is kept in
/// them.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

#[derive(Debug, Clone, Default)]
pub struct CommandBounds {
    /// Those folders, absolute.
    pub roots: Vec<String>,
    /// The folders in which programs are found by their names.
    pub programs: Vec<String>,
    /// The home of the user who runs the commands, if known.
    pub home: Option<String>,
    /// Whether a new file can be created in the root folder of the system.
    pub is_root_writable: bool,
}

struct CommandPlace<'a> {
    cwd: &'a str,
    bounds: &'a CommandBounds,
    follower: PathFollower<'a>,
}

/// Returns why a person has to be asked about a command, if so.
pub(crate) fn outside_path_reason(
    act: &Act,
    bounds: &CommandBounds,
    disk: &dyn Disk,
) -> Option<String> {
    let cwd = act.run_in.as_deref()?;
    // Our own runtime starts one program, without a shell.
    let command = act.script.as_ref()?.commands.first()?;
    let words: Vec<&str> = command.words.iter().filter_map(ShellWord::text).collect();
    let (program, args) = words.split_first()?;
    let place = CommandPlace { cwd, bounds, follower: PathFollower::new(disk) };
    look_through(program, args, &place).err()
}

fn look_through(command: &str, args: &[&str], place: &CommandPlace<'_>) -> Result<(), String> {
    let roots: Vec<String> =
        place.bounds.roots.iter().filter_map(|root| place.follower.real_path(root)).collect();
    // A loop of links leads nowhere, so not inside either.
    let cwd = place.follower.real_path(place.cwd).unwrap_or_default();
    let mut search = OutsideSearch { place, cwd, roots, left: MOST_LOOKS };
    if !search.is_inside(&search.cwd) {
        return Err(place.outside_message("the command would run in", place.cwd));
    }
    search.check_program(command)?;
    args.iter().flat_map(|arg| path_starts(arg)).try_for_each(|start| search.follow_start(&start))
}

/// Searches for paths that lead outside; an error is the reason to ask.
struct OutsideSearch<'a> {
    place: &'a CommandPlace<'a>,
    /// Without symbolic links, as are the roots.
    cwd: String,
    roots: Vec<String>,
    /// The remaining number of queries of the disk.
    left: usize,
}

struct PathWay<'a> {
    at: String,
    /// An absolute path before its first name.
    is_top: bool,
    /// The letters of an option before it.
    letters: Option<&'a str>,
}

/// Whether a path begins with somebody's home folder.
enum HomePrefix<'a> {
    Not,
    /// Ours, and what follows it.
    Ours(&'a str),
    /// Another person's.
    Others,
}

impl OutsideSearch<'_> {
    fn check_program(&self, command: &str) -> Result<(), String> {
        // The rules may have read it as something other than one name.
        if command.contains(|c: char| c.is_whitespace() || SHELL_CHARACTERS.contains(c)) {
            let shown = short_path(command);
            return Err(format!(
                "the name of the program, `{shown}`, has characters that a shell would interpret"
            ));
        }
        let file = path_below(self.place.cwd, command);
        // Without a slash the program is looked up on PATH, which the user has set and not the
        // agent.
        let is_fine = !command.contains('/')
            || self.place.is_usual(&file)
            || self.place.follower.real_path(&file).is_some_and(|file| self.is_inside(&file));
        if is_fine { Ok(()) } else { Err(self.place.outside_message("the program is", command)) }
    }

    /// Follows all paths that begin here.
    fn follow_start(&mut self, start: &PathStart<'_>) -> Result<(), String> {
        let (text, letters) = match start {
            PathStart::Whole(text) | PathStart::Word(text) => (*text, None),
            PathStart::Glued { letters, text } => (*text, Some(*letters)),
            PathStart::Url(text) => (text.as_str(), None),
        };
        let text = &text[..text.floor_char_boundary(place::LONGEST)];
        if DEVICES.iter().any(|device| text.strip_prefix(device).is_some_and(is_end)) {
            return Ok(());
        }
        self.spend_look()?;
        let mut from = 0;
        let is_top = text.starts_with('/');
        let at = if is_top { "/".to_owned() } else { self.cwd.clone() };
        let mut way = PathWay { at, is_top, letters };
        match at_home(text) {
            HomePrefix::Not => {}
            HomePrefix::Others => {
                return self.report_outside(text.split(is_separator).next().unwrap_or(text));
            }
            HomePrefix::Ours(rest) => {
                let name = &text[..text.len() - rest.len()];
                let home = self.place.bounds.home.as_ref();
                let home = home.and_then(|home| self.place.follower.real_path(home));
                // A home that is not known counts as outside.
                let Some(home) = home else { return self.report_outside(name) };
                if rest.starts_with('/') {
                    (way.at, from) = (home, name.len());
                } else if !self.is_inside(&home) {
                    return self.report_outside(name);
                }
            }
        }
        self.follow_path(way, text, from, matches!(start, PathStart::Whole(_) | PathStart::Url(_)))
    }

    /// Follows the path in `text` from `from` on; it may end before every separator.
    fn follow_path(
        &mut self,
        mut way: PathWay<'_>,
        text: &str,
        mut from: usize,
        whole: bool,
    ) -> Result<(), String> {
        loop {
            let end = text[from..].find('/').map_or(text.len(), |at| from + at);
            let name = &text[from..end];
            // No path ends later, because the kernel accepts no longer name.
            for (at, _) in
                name.match_indices(is_separator).take_while(|(at, _)| *at <= LONGEST_NAME)
            {
                self.check_ending(&way, &text[..from + at], &name[..at], false)?;
            }
            if end == text.len() {
                return self.check_ending(&way, text, name, whole);
            }
            if !self.enter_folder(&mut way, name, text, end)? {
                return Ok(());
            }
            from = end + 1;
        }
    }

    /// Checks a path that ends with `name`. One with a separator in its name may be two words,
    /// unless it exists or is the whole argument.
    fn check_ending(
        &mut self,
        way: &PathWay<'_>,
        text: &str,
        name: &str,
        whole: bool,
    ) -> Result<(), String> {
        self.spend_look()?;
        if text.is_empty() || (way.is_top && !self.is_somewhere(way, name)) {
            return Ok(());
        }
        let at = self.place.extend_path(&way.at, name);
        if at.is_some_and(|at| self.is_inside(&at)) {
            return Ok(());
        }
        let must_exist = !whole && name.contains(is_separator);
        let is_fine = must_exist && !self.place.exists(&path_below(&way.at, name));
        if is_fine { Ok(()) } else { self.report_outside(text) }
    }

    /// Continues below `name`, which ends at `end`; returns whether that makes sense.
    fn enter_folder(
        &mut self,
        way: &mut PathWay<'_>,
        name: &str,
        text: &str,
        end: usize,
    ) -> Result<bool, String> {
        self.spend_look()?;
        if way.is_top && !is_dots(name) && !self.is_somewhere(way, name) {
            return Ok(false);
        }
        let rest = &text[end..];
        // Two dots lead back from a folder that may be created until then, but not from a host.
        let is_vain = !rest.contains("/..") || is_host(text, end);
        if name.contains(is_separator) && is_vain && !self.place.exists(&path_below(&way.at, name))
        {
            return Ok(false);
        }
        // The target of a variable is unknown, and so is what is above it.
        let is_unknown = name.contains('$') && rest.strip_prefix("/..").is_some_and(is_end);
        let at = self.place.extend_path(&way.at, name).filter(|_| !is_unknown);
        let Some(at) = at else { return self.report_outside(text).map(|()| false) };
        way.at = at;
        // `/../x` is more likely the rest of something else than another form of `/x`.
        way.is_top &= matches!(name, "" | ".") || (name == ".." && way.letters.is_some());
        Ok(true)
    }

    /// Returns true if an absolute path with this first name can lead to something. After an
    /// option's letters, most paths are the rest of a relative path: such a path is not assumed to
    /// be new, and the root folder is not meant if the letters end with an existing name.
    fn is_somewhere(&self, way: &PathWay<'_>, name: &str) -> bool {
        let exists = |name: &str| self.place.exists(&path_below(&way.at, name));
        match way.letters {
            None if is_dots(name) => true,
            None => exists(name) || self.place.bounds.is_root_writable,
            Some(letters) if is_dots(name) => {
                let mut ends = letters.char_indices().map(|(at, _)| &letters[at..]);
                !ends.any(|end| self.place.exists(&path_below(&self.cwd, end)))
            }
            Some(_) => exists(name),
        }
    }

    fn spend_look(&mut self) -> Result<(), String> {
        let many = || String::from("the command has more words than are looked through for paths");
        self.left = self.left.checked_sub(1).ok_or_else(many)?;
        if self.place.follower.is_spent() { Err(many()) } else { Ok(()) }
    }

    fn is_inside(&self, path: &str) -> bool {
        self.roots.iter().any(|root| is_in(path, root))
    }

    fn report_outside(&self, path: &str) -> Result<(), String> {
        Err(self.place.outside_message("the command names", path))
    }
}

fn is_dots(name: &str) -> bool {
    matches!(name, "" | "." | "..")
}

/// Returns true if a name has ended before `rest`.
fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(|c| c == '/' || is_separator(c))
}

fn at_home(text: &str) -> HomePrefix<'_> {
    let tilde = text.strip_prefix('~');
    let Some(rest) = tilde.or_else(|| text.strip_prefix("$HOME")) else { return HomePrefix::Not };
    // `~+` and `~-` are folders in which a shell is or was.
    let is_user = |c: char| c.is_alphabetic() || matches!(c, '_' | '+' | '-');
    match tilde {
        _ if is_end(rest) => HomePrefix::Ours(rest),
        Some(rest) if rest.starts_with(is_user) => HomePrefix::Others,
        _ => HomePrefix::Not,
    }
}

impl CommandPlace<'_> {
    /// Returns true if a file is directly in a usual folder of programs. One that is reached
    /// through a link from elsewhere is not.
    fn is_usual(&self, file: &str) -> bool {
        let Some((folder, name)) = file.rsplit_once('/') else { return false };
        let usual = PROGRAMS.into_iter();
        let mut programs = usual.chain(self.bounds.programs.iter().map(String::as_str));
        !is_dots(name) && programs.any(|known| known == folder)
    }

    fn exists(&self, path: &str) -> bool {
        self.follower.entry(path) != DiskEntry::Missing
    }

    fn extend_path(&self, at: &str, name: &str) -> Option<String> {
        self.follower.walk(at.trim_end_matches('/').to_owned(), name)
    }

    fn outside_message(&self, what: &str, path: &str) -> String {
        let shown = short_path(path);
        format!("{what} `{shown}`, which is outside of {}", self.bounds.roots.join(", "))
    }
}

#[cfg(test)]
mod tests;
