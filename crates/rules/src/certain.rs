//! What a call certainly runs and names: what a person would say who reads the line.

use callgate_mask::programs::{WRAPPERS, is_one_of};
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use crate::act::{Act, url::host_of};
use crate::place::{BaseFolders, is_in, last_name, resolve_path};
use crate::shell::names::{LANGUAGES, MOVERS, SEARCHERS};
use crate::shell::{ShellCommand, ShellWord, code, operands};
use crate::shown::short_command;
use crate::steps;

/// The folders in the root of the systems that we know. A word such as `/users/{id}` is no path.
const ROOT_FOLDERS: &WordList = words!(
    "Applications Library System Users Volumes bin boot dev etc home lib lib32 lib64 libx32 media \
    mnt nix opt private proc root run sbin snap srv sys tmp usr var"
);
/// Programs whose arguments are about another machine or a container.
const ELSEWHERE: &WordList = words!("docker podman nerdctl kubectl oc lxc ssh vagrant adb");
/// Their options, and those of others, whose value is a file of this machine.
const FILE_OPTIONS: [&str; 6] = ["-v", "--volume", "--file", "--env-file", "-C", "--mount"];
/// Options after which a program begins.
const RUN_OPTIONS: [&str; 7] = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"];

pub(crate) struct CertainRun<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [ShellWord],
}

impl<'a> CertainRun<'a> {
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.words.iter().filter_map(ShellWord::text)
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.words.first().and_then(ShellWord::text).is_some_and(|text| last_name(text) == name)
    }

    pub(crate) fn is_known(&self) -> bool {
        self.words.iter().all(ShellWord::is_known)
    }

    pub(crate) fn render_line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(ShellWord::render_text).collect();
        format!("`{}`", short_command(&words.join(" ")))
    }
}

pub(crate) struct CertainReading<'a> {
    act: &'a Act,
    /// The commands that run, as far as they are known.
    commands: Vec<&'a ShellCommand>,
    /// The paths that they name, absolute.
    paths: Vec<String>,
}

impl<'a> CertainReading<'a> {
    pub(crate) fn from_act(act: &'a Act) -> Self {
        let running = act.runs.running_commands().filter(|_| act.script.is_some());
        // What runs on another machine or in a container names no file and no program of this one.
        let elsewhere: Vec<&ShellCommand> =
            running.clone().filter(|run| is_elsewhere(run)).collect();
        let commands: Vec<&ShellCommand> = running
            .clone()
            .filter(|command| !elsewhere.iter().any(|other| is_within(command, other)))
            .collect();
        let mut reading = Self { act, commands, paths: Vec::new() };
        let mut paths: Vec<String> = act.paths.iter().chain(&act.cwds).cloned().collect();
        let base = BaseFolders { cwd: &act.project, home: &act.home };
        let texts = act.strings.iter().filter(|text| !text.contains(char::is_whitespace));
        paths.extend(texts.filter_map(|text| path_in(text)).map(|path| resolve_path(path, base)));
        for command in &reading.commands {
            reading.add_paths(command, &mut paths);
        }
        reading.paths = paths;
        reading
    }

    /// Returns the paths that it names, absolute.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Returns the programs that run: those of its commands, and those that these start.
    pub(crate) fn runs(&self) -> impl Iterator<Item = CertainRun<'a>> {
        self.commands.iter().flat_map(|command| {
            certain_starts(&command.words)
                .into_iter()
                .map(|at| CertainRun { words: &command.words[at..] })
        })
    }

    /// Returns the assignments before its commands.
    pub(crate) fn assigns(&self) -> impl Iterator<Item = &'a str> {
        self.commands.iter().flat_map(|command| &command.assigns).filter_map(ShellWord::text)
    }

    /// Returns the one of these paths that is in the project, or the first. A command may run in
    /// several folders after a `cd`, and what may as well be in the project is not certainly
    /// outside.
    fn nearest_to_project(&self, paths: impl Iterator<Item = String> + Clone) -> Option<String> {
        let is_inside = |path: &String| self.act.projects().any(|project| is_in(path, project));
        paths.clone().find(is_inside).or_else(|| paths.into_iter().next())
    }

    /// Adds the paths that a command names. A word counts in each folder in which it may run, and
    /// so do these folders.
    fn add_paths(&self, command: &ShellCommand, paths: &mut Vec<String>) {
        let program = command.words.first().and_then(ShellWord::text);
        if program.is_some() && command.other_folders.is_empty() {
            paths.extend(self.nearest_to_project(command.folders.iter().cloned()));
        }
        let programs: Vec<&str> = certain_starts(&command.words)
            .iter()
            .filter_map(|at| command.words[*at].text())
            .collect();
        let is = |list: &WordList| programs.iter().any(|program| is_one_of(program, list));
        let texts = operands::harmless_texts(command);
        let counts = operands::unknown_counts(command);
        let is_named = |at: usize| {
            let is_after_option = || {
                let before = at.checked_sub(1).and_then(|at| command.words[at].text());
                before.is_some_and(|option| FILE_OPTIONS.contains(&option))
            };
            let is_file = counts.contains(&at) && !texts.contains(&at) || is(words!("cd pushd"));
            // What `configure` names is used by what it writes, later.
            is_file && !is(words!("configure")) && (!is(ELSEWHERE) || is_after_option())
        };
        let names_root = is(MOVERS) || is(SEARCHERS) || is(words!("ls du df tree stat"));
        let words = command.words.iter().enumerate();
        let words = words.filter(|(at, _)| *at > 0 && is_named(*at)).map(|(_, word)| word);
        let mut add = |path: &str| {
            let place =
                |cwd: &String| resolve_path(path, BaseFolders { cwd, home: &self.act.home });
            paths.extend(self.nearest_to_project(command.folders.iter().map(place)));
        };
        for text in words.chain(&command.redirects).filter_map(ShellWord::text) {
            let path = if text == "/" && names_root { Some(text) } else { path_in(text) };
            path.into_iter().for_each(&mut add);
            if is(LANGUAGES) {
                let quoted = code::words_of(text).quoted;
                let far = quoted.iter().filter(|text| text.starts_with(['/', '~']));
                far.filter_map(|text| path_in(text)).for_each(&mut add);
            }
        }
        // A program in a folder of programs is not what a command is about.
        let program = program.filter(|text| text.contains('/') && !text.contains("/bin/"));
        let folder = command.folders.first();
        if let (Some(program), Some(cwd)) = (program.and_then(path_in), folder) {
            paths.push(resolve_path(program, BaseFolders { cwd, home: &self.act.home }));
        }
    }
}

/// Returns true if a command runs others on another machine or in a container.
fn is_elsewhere(command: &ShellCommand) -> bool {
    let texts = command.words.iter().filter_map(ShellWord::text);
    // The program may follow a wrapper and its options, as in `sudo -u root docker`.
    texts.take(4).any(|word| is_one_of(word, ELSEWHERE))
}

/// Returns true if a command is a line in an argument of another.
fn is_within(command: &ShellCommand, other: &ShellCommand) -> bool {
    let mut lines = other.words.iter().skip(1).filter_map(ShellWord::text);
    lines.any(|line| {
        let mut words = command.words.iter().filter_map(ShellWord::text);
        line.contains(' ')
            // Each command is compared with each line, so the cost would otherwise be their
            // product.
            && steps::spend_budget(line.len())
            && words.all(|word| line.contains(word))
    })
}

/// Returns the words at which a program certainly begins, with known words only.
fn certain_starts(words: &[ShellWord]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(text) = words.get(at).and_then(ShellWord::text) {
        starts.push(at);
        let is_wrapper = is_one_of(text, WRAPPERS);
        // `find` runs a program only after one of its actions; its other words are its own.
        let is_runner = !is_wrapper && is_one_of(text, words!("find gfind fd fdfind"));
        let next = words.iter().enumerate().skip(at + 1).find(|(at, word)| {
            let before = words[*at - 1].text().unwrap_or_default();
            if is_runner { RUN_OPTIONS.contains(&before) } else { is_wrapper && is_program(word) }
        });
        let Some((next, _)) = next else { break };
        at = next;
    }
    starts
}

/// Returns true for a word that names a program, rather than an option of a wrapper, a number or an
/// assignment.
fn is_program(word: &ShellWord) -> bool {
    word.text().is_none_or(|text| {
        !text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && !text.contains('=')
    })
}

/// Returns the path in a known word: the word itself, or what follows an option or a name.
fn path_in(text: &str) -> Option<&str> {
    if let Some(path) = text.strip_prefix("file://") {
        return path_in(path);
    }
    if is_address(text) {
        return None;
    }
    let begins = |text: &str| text.starts_with(['/', '~', '.']);
    let value = match text.strip_prefix('-') {
        Some(option) if option.starts_with('-') => option.split_once('=')?.1,
        Some(option) => option.get(1..).filter(|value| begins(value))?,
        None => match text.split_once('=') {
            // A path may contain a `=` itself, and then it is not `NAME=value`.
            Some((name, value)) if !name.contains(['/', '.']) => value,
            _ => text,
        },
    };
    // `-v /data:/mnt` names two places, of which only the first is on this machine.
    let value = if begins(value) { value.split(':').next().unwrap_or(value) } else { value };
    let is_home = |rest: &str| rest.is_empty() || rest.starts_with('/');
    let is_path = match value.strip_prefix('/') {
        Some(rest) => ROOT_FOLDERS.contains(rest.split('/').next().unwrap_or(rest)),
        None => value.strip_prefix('~').is_none_or(is_home),
    };
    (is_path && !value.is_empty() && !value.contains('\n')).then_some(value)
}

/// Returns true for a URL with a host, and for `user@host:path`.
fn is_address(text: &str) -> bool {
    if text.contains("://") {
        return host_of(text).is_some();
    }
    let host = text.split_once(':').map(|(host, _)| host);
    host.is_some_and(|host| host.contains('@') && !host.starts_with('-') && !host.contains('/'))
}
