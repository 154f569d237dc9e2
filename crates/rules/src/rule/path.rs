//! Patterns of paths: `*` and `?` within a name, `**` across folders.

use crate::act::Act;
use crate::glob::{
    ComparisonBias, PatternToken, begins_otherwise, can_meet, is_text, literal_toks,
};
use crate::place::join_path;
use crate::rule::command::CommandPattern;
use crate::shell::{ShellCommand, ShellWord, operands};
use crate::steps;

/// The most `**` of a pattern: each doubles the forms that are compared with every path.
const MOST_CROSSINGS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathRoot {
    Absolute,
    Home,
    Project,
}

/// A pattern of paths. Like that of commands it is kept as a text, and taken apart when it is
/// compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    pub(crate) text: Box<str>,
    root: PathRoot,
    crossing_count: usize,
}

impl PathPattern {
    /// Parses a pattern. One that is neither absolute nor begins with `~/` is in the project.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let root = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => PathRoot::Home,
            Some(_) => return Err("the home of another user cannot be named by `~`".into()),
            None if text.starts_with('/') => PathRoot::Absolute,
            None => PathRoot::Project,
        };
        let mut pattern = Self { text: text.into(), root, crossing_count: 0 };
        let crossings = pattern.segments().filter(|segment| *segment == "**");
        pattern.crossing_count = crossings.count();
        if text.is_empty() {
            return Err("an empty path matches nothing".into());
        }
        if pattern.segments().any(|segment| segment == "..") {
            return Err("write the path without `..`".into());
        }
        if pattern.segments().any(|segment| segment.contains("**") && segment != "**") {
            return Err("`**` stands for whole folders; write it between slashes".into());
        }
        if pattern.crossing_count > MOST_CROSSINGS {
            return Err(format!("the pattern has more than {MOST_CROSSINGS} `**`"));
        }
        Ok(pattern)
    }

    /// Returns the names after the root. A slash at the end means everything below.
    fn segments(&self) -> impl Iterator<Item = &str> {
        let rest = if self.root == PathRoot::Home { &self.text[1..] } else { &self.text };
        // `a/**/` already covers everything below; a second `**` would demand one more folder.
        let is_below = rest.ends_with('/') && !rest.trim_end_matches('/').ends_with("**");
        rest.split('/')
            .filter(|segment| !matches!(*segment, "" | "."))
            .chain(is_below.then_some("**"))
    }

    /// Returns one form of the pattern below a root. Every `**` may also be no folder at all; the
    /// bits of `crossed` say which of them are at least one.
    fn toks<'a>(
        &'a self,
        root: &'a str,
        mut crossed: usize,
    ) -> impl Iterator<Item = PatternToken> + 'a {
        let segments = self.segments().filter(move |segment| {
            let is_named = *segment != "**";
            let is_crossed = crossed & 1 == 1;
            crossed >>= usize::from(!is_named);
            is_named || is_crossed
        });
        let toks = segments.flat_map(|segment| {
            let (name, crossing) =
                if segment == "**" { ("", Some(PatternToken::Cross)) } else { (segment, None) };
            let name = name.chars().map(|c| match c {
                '*' => PatternToken::Run,
                '?' => PatternToken::One,
                c => PatternToken::Is(c),
            });
            [PatternToken::Is('/')].into_iter().chain(name).chain(crossing)
        });
        root.chars().map(PatternToken::Is).chain(toks)
    }

    /// Returns the folder within the root before the first wildcard.
    fn fixed_folder(&self) -> String {
        self.segments()
            .take_while(|segment| !segment.contains(['*', '?']))
            .flat_map(|segment| ["/", segment])
            .collect()
    }

    /// Returns true if the pattern is in the project, wherever that is.
    pub(crate) fn is_relative(&self) -> bool {
        self.root == PathRoot::Project
    }

    /// Returns true if `is_it` holds for a root of the pattern. The home and the project have two
    /// names if they are links.
    fn any_root(&self, act: &Act, is_it: impl Fn(&str) -> bool) -> bool {
        let is_it = |root: &str| is_it(root.trim_end_matches('/'));
        match self.root {
            PathRoot::Absolute => is_it(""),
            PathRoot::Home => act.homes().any(is_it),
            PathRoot::Project => act.projects().any(is_it),
        }
    }

    fn fits(
        &self,
        path: &[PatternToken],
        act: &Act,
        lean: ComparisonBias,
        with_below: bool,
    ) -> bool {
        self.any_root(act, |root| self.fits_in(root, path, lean, with_below))
    }

    fn fits_in(
        &self,
        root: &str,
        path: &[PatternToken],
        lean: ComparisonBias,
        with_below: bool,
    ) -> bool {
        (0..1 << self.crossing_count).any(|crossed| {
            if begins_otherwise(path, self.toks(root, crossed), lean) || !steps::spend_budget(16) {
                return false;
            }
            let mut toks: Vec<PatternToken> = self.toks(root, crossed).collect();
            if toks.is_empty() {
                // The root of the disk is the one folder whose name ends in a slash.
                toks.push(PatternToken::Is('/'));
            }
            if can_meet(path, &toks, lean) {
                return true;
            }
            toks.extend([PatternToken::Is('/'), PatternToken::Cross]);
            with_below && can_meet(path, &toks, lean)
        })
    }

    /// Returns true if the path matches exactly.
    fn is_match(&self, path: &str, act: &Act) -> bool {
        self.fits(&literal_toks(path), act, ComparisonBias::Strict, false)
    }

    /// Returns true if the path could match, or be below one that does.
    fn could_be(&self, path: &[PatternToken], act: &Act) -> bool {
        self.fits(path, act, ComparisonBias::Generous, true)
    }

    /// Returns true if a folder matches or is in a matching one.
    pub(crate) fn holds(&self, folder: &str, act: &Act, lean: ComparisonBias) -> bool {
        self.fits(&literal_toks(folder), act, lean, true)
    }

    /// Returns true if something that matches is below this path. For a search, anything that may
    /// be there is enough; which files a command visits is unknown, so only a folder that the
    /// pattern names counts.
    fn is_below(&self, path: &[PatternToken], act: &Act) -> bool {
        let mut above = path.to_vec();
        // Otherwise what is below the root would begin with two slashes.
        if above == [PatternToken::Is('/')] {
            above.clear();
        }
        above.extend([PatternToken::Is('/'), PatternToken::Cross]);
        if act.is_search {
            return self.fits(&above, act, ComparisonBias::Generous, false);
        }
        let fixed = self.fixed_folder();
        let names_it = |root: &str| {
            can_meet(&above, &literal_toks(&format!("{root}{fixed}")), ComparisonBias::Generous)
        };
        !fixed.is_empty() && self.any_root(act, names_it)
    }
}

/// Checks that there are paths, and that all of them and their targets match.
pub(crate) fn check_all_paths(
    patterns: &[PathPattern],
    paths: &[String],
    act: &Act,
) -> Result<(), String> {
    if paths.is_empty() {
        return Err("it names no path".into());
    }
    let is_meant = |path: &&String| patterns.iter().any(|pattern| pattern.is_match(path, act));
    let leads = paths.iter().flat_map(|path| act.targets_of(path));
    match paths.iter().chain(leads).find(|path| !is_meant(path)) {
        Some(path) => Err(format!("the path is {path}")),
        None => Ok(()),
    }
}

/// Returns which pattern matches one of the paths that the act could touch, or why none does. A
/// path that is certainly one of the exceptions does not count.
pub(crate) fn find_touched_pattern(
    patterns: &[PathPattern],
    exceptions: &[PathPattern],
    paths: &[Vec<PatternToken>],
    act: &Act,
) -> Result<String, String> {
    let is_excepted = |path: &[PatternToken]| {
        // A path with a wildcard may become another one than the exception.
        is_text(path) && exceptions.iter().any(|p| p.fits(path, act, ComparisonBias::Strict, false))
    };
    for pattern in patterns {
        let mut touched = paths.iter().take_while(|_| !steps::is_spent());
        if act.is_lost || touched.any(|path| pattern.could_be(path, act) && !is_excepted(path)) {
            return Ok(format!("it could touch {}", pattern.text));
        }
    }
    Err("it touches other paths".into())
}

/// Returns why the act, or one of the named commands, is about a path other than these, or why not.
/// An allow with these paths would not apply then.
pub(crate) fn find_path_outside(
    patterns: &[PathPattern],
    commands: Option<&[CommandPattern]>,
    act: &Act,
) -> Result<String, String> {
    // The doubts of a script are left out, because its commands are examined one by one below.
    let doubt = if act.script.is_none() { act.doubt_reason() } else { act.unsure.map(Into::into) };
    if let Some(reason) = doubt {
        return Ok(reason);
    }
    let fits = |paths: &[String]| check_all_paths(patterns, paths, act).err();
    if act.runs.commands.is_empty() {
        let reason = if act.paths.is_empty() { None } else { fits(&act.paths) };
        return reason.ok_or_else(|| "its paths are left out".into());
    }
    let is_named = |(command, words): &(&ShellCommand, &[ShellWord])| {
        commands.is_none_or(|patterns| {
            patterns.iter().any(|pattern| pattern.could_be(words, command, &act.home))
        })
    };
    for (command, _) in act.runs.all_runs().filter(is_named) {
        let reason = match reached_by(command) {
            Ok(paths) => fits(&paths),
            Err(reason) => Some(reason),
        };
        if let Some(reason) = reason {
            return Ok(reason);
        }
    }
    Err("its paths are left out".into())
}

/// Returns the paths that a command may use, as [`of_command`] does, with each text that a word
/// could be.
fn reached_by(command: &ShellCommand) -> Result<Vec<String>, String> {
    if command.words.iter().all(ShellWord::is_known) {
        return of_command(command);
    }
    let choices = |word: &ShellWord| {
        let pieces = word.choices().map(|pieces| ShellWord::of_pieces(pieces.to_vec()));
        pieces.collect::<Vec<ShellWord>>()
    };
    let words = command.words.iter().flat_map(choices).collect();
    of_command(&ShellCommand { words, ..command.clone() })
}

/// Returns which pattern matches something in a folder that is searched or moved as a whole.
pub(crate) fn find_pattern_beneath(
    patterns: &[PathPattern],
    folders: &[Vec<PatternToken>],
    act: &Act,
) -> Option<String> {
    let is_below = |pattern: &&PathPattern| folders.iter().any(|path| pattern.is_below(path, act));
    patterns.iter().find(is_below).map(|pattern| format!("it reaches {}", pattern.text))
}

/// Returns which pattern matches something in a folder whose contents another program is given.
pub(crate) fn find_listed_pattern(patterns: &[PathPattern], act: &Act) -> Option<String> {
    let is_below =
        |pattern: &&PathPattern| act.listed.iter().any(|path| pattern.is_below(path, act));
    patterns.iter().find(is_below).map(|pattern| format!("it could touch {}", pattern.text))
}

/// Returns all paths that a command may use: its folders, and every word as if it were a path,
/// except for [those that are not](operands). The error names a word that could be an unknown path.
pub(crate) fn of_command(command: &ShellCommand) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    let texts = operands::harmless_texts(command);
    let words = command.words.iter().enumerate().skip(1);
    let words = words.filter(|(at, _)| !texts.contains(at)).map(|(_, word)| word);
    for word in words.chain(&command.assigns) {
        let unknown = || format!("`{}` may be any path", word.render_text());
        let text = word.text().ok_or_else(unknown)?;
        let file = file_of_name(text);
        // Such a word may have a path inside that is not at its beginning, as in
        // `host:/etc/shadow`.
        let is_hidden =
            text.contains([':', '=', ',', '@']) && text.contains(['/', '~']) && file.is_none()
                || text.contains("..=");
        let is_option = text.starts_with('-') && text.len() > 1;
        if is_hidden || (is_option && (text.contains(['/', '~', '=']) || text.contains(".."))) {
            return Err(unknown());
        }
        if !is_option {
            paths.extend(command.folders.iter().map(|cwd| join_path(cwd, text)));
        }
        let value = text.split_once('=').map(|(_, value)| value);
        for part in [value, file].into_iter().flatten().filter(|_| !is_option) {
            paths.extend(command.folders.iter().map(|cwd| join_path(cwd, part)));
        }
    }
    // A program may use any file of its folder, whatever its words are.
    if paths.is_empty() || !operands::are_all(command) {
        paths.extend(command.folders.iter().cloned());
    }
    Ok(paths)
}

/// Returns the file of a word such as `tests/test_a.py::test_b`, as test runners name something
/// inside a file. What follows the file cannot be a path itself.
fn file_of_name(text: &str) -> Option<&str> {
    let (file, name) = text.split_once("::")?;
    let is_in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '[' | ']');
    let is_plain = !file.contains([':', '=', ',', '@']) && name.chars().all(is_in_name);
    Some(file).filter(|file| is_plain && !file.is_empty())
}
