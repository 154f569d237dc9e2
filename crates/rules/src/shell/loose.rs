//! Everything in a command line that could run, for rules that forbid.
//!
//! A deny has to find its command behind wrappers, in the arguments of shells and interpreters, in
//! here-documents and in lines that were not understood. Finding too much does no harm here.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use callgate_mask::programs::{INTERPRETERS, SHELLS, WRAPPERS};

use super::names::{CAN_RUN, LANGUAGES};
use super::values::ShellValues;
use super::word::WordPiece;
use super::{DEEPEST, GAP, ShellCommand, ShellScript, ShellWord, code, feeds, operands};
use crate::glob::Tok;
use crate::place::{BaseFolders, last_name};
use crate::steps;

/// Programs whose arguments are a command line.
const LINE_TAKERS: &str = "eval trap su ssh watch at batch emulate";
/// Programs that run what they read.
const LINE_READERS: &str = "source . ssh su at batch parallel";
/// Commands of a shell that evaluate the text between brackets in their words.
const EVALUATORS: &str = "test [ [[ read printf unset declare typeset local export readonly let \
    mapfile readarray wait getopts compgen complete print";
/// Variables of one shell that define what names mean.
const TABLES: [&str; 6] = ["aliases[", "galiases[", "saliases[", "functions[", "commands[", "dis_"];
/// Variables whose value a shell runs, or that name a file which it runs.
const RUN_VARIABLES: [&str; 9] = [
    "PS0", "PS1", "PS2", "PS4", "PROMPT", "PROMPT_COMMAND", "BASH_ENV", "ENV", "ZDOTDIR",
];

/// All commands that could run, and where in their words they could begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct PossibleRuns {
    /// The commands of the line and those found in its words.
    pub(crate) commands: Vec<ShellCommand>,
    /// For each possible beginning: the command's index, and the word's index in it.
    pub(crate) starts: Vec<(usize, usize)>,
    /// Why it could run any command at all, in words that follow "it has".
    pub(crate) anything: Option<&'static str>,
    /// Which of the commands are in a line that runs, rather than in a text that may be one.
    runs: Vec<bool>,
    /// The texts that were read already, each as what and in which folder.
    read: HashSet<u64>,
}

/// How a text is read in which commands may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum TextKind {
    /// A shell runs it as a line.
    Line,
    /// It may be a line, or data.
    Possible,
    /// It is a program in another language.
    Code,
    /// It is a program in a language in which backticks start programs.
    Script,
}

/// Where a text is found.
#[derive(Clone, Copy)]
struct TextPlace<'a> {
    base: BaseFolders<'a>,
    depth: usize,
    /// The values of the line that contains it, and the command there.
    outer: Option<(&'a ShellValues<'a>, usize)>,
    /// Whether a program in another language certainly runs.
    runs_code: bool,
}

/// How the commands of a line are read.
#[derive(Debug, Clone, Copy)]
struct ReadLine {
    kind: TextKind,
    /// How the texts are read that a command of the line may run.
    body_kind: TextKind,
    /// Whether any word may be run.
    is_open: bool,
}

/// Who runs what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputReader {
    Shell,
    Language,
}

impl PossibleRuns {
    /// Finds everything that could run in a script.
    pub(crate) fn of(script: &ShellScript, home: &str) -> Self {
        let mut runs = Self::default();
        runs.extend(script, home, false);
        runs
    }

    /// Adds everything that could run in another script. Code of another language may contain a
    /// command anywhere.
    pub(crate) fn extend(&mut self, script: &ShellScript, home: &str, is_code: bool) {
        let base = BaseFolders { cwd: "/", home };
        let place = TextPlace { base, depth: 0, outer: None, runs_code: is_code };
        self.add(script, place, if is_code { TextKind::Possible } else { TextKind::Line });
        self.read.clear();
    }

    /// Returns the words of every command that could run, the program first.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&ShellCommand, &[ShellWord])> {
        // Callers examine all of them, which takes long for a long line.
        self.beginnings().take_while(|(_, words)| steps::spend(words.len()))
    }

    /// Returns the same at a lower cost, for callers that examine the first words of most of them.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = (&ShellCommand, &[ShellWord])> {
        let counted = self.starts.iter().take_while(|_| steps::spend(1));
        counted.map(|(command, word)| {
            let command = &self.commands[*command];
            (command, &command.words[*word..])
        })
    }

    /// Returns true if a word in it is not known at all.
    pub(crate) fn has_unknown(&self) -> bool {
        let running = self.commands.iter().zip(&self.runs).filter(|(_, runs)| **runs);
        running.into_iter().any(|(command, _)| {
            !command.other_folders.is_empty() || all_words(command).any(ShellWord::has_unknown)
        })
    }

    /// Returns the runs with everything that is unknown counted as anything.
    pub(crate) fn opened(&self) -> Self {
        let mut opened = self.clone();
        let running = opened.commands.iter_mut().zip(&self.runs).filter(|(_, runs)| **runs);
        for (command, _) in running {
            let counts = operands::unknown_counts(command);
            for (at, word) in command.words.iter_mut().enumerate() {
                if counts.contains(&at) {
                    word.open();
                }
            }
            command.redirects.iter_mut().chain(&mut command.written).for_each(ShellWord::open);
            if !command.words.is_empty() {
                command.assigns.iter_mut().for_each(ShellWord::open);
            }
            for tok in command.other_folders.iter_mut().flatten().filter(|t| **t == Tok::Is(GAP)) {
                *tok = Tok::Cross;
            }
        }
        opened
    }

    /// Adds a command that is another form of this one.
    pub(crate) fn push_twin(&mut self, index: usize, command: ShellCommand) {
        let new = self.commands.len();
        let same: Vec<(usize, usize)> =
            self.starts.iter().filter(|(command, _)| *command == index).copied().collect();
        self.starts.extend(same.into_iter().map(|(_, word)| (new, word)));
        self.commands.push(command);
        self.runs.push(self.runs.get(index).copied().unwrap_or_default());
    }

    fn note_anything(&mut self, reason: &'static str) {
        self.anything.get_or_insert(reason);
    }

    fn add(&mut self, script: &ShellScript, place: TextPlace<'_>, kind: TextKind) {
        let values = ShellValues::of(script, place.outer);
        if kind == TextKind::Line {
            self.note_doubts(script, &values);
        }
        let reader = line_reader(script);
        let is_open = kind == TextKind::Possible || script.is_broken || reader.is_some();
        let body_kind = match reader {
            Some(InputReader::Shell) if kind == TextKind::Line => TextKind::Line,
            _ => TextKind::Possible,
        };
        let kind = ReadLine { kind, body_kind, is_open };
        for at in 0..script.commands.len() {
            let Some(forms) = values.expand(at) else {
                self.note_anything("more expansions than are followed");
                self.add_form(&script.commands[at], at, &values, place, kind);
                continue;
            };
            for form in forms {
                for form in feeds::fed(form, &values) {
                    self.add_form(&form, at, &values, place, kind);
                }
            }
        }
        if is_open {
            let cwd = script.commands.first().and_then(|command| command.folders.first());
            let base = BaseFolders { cwd: cwd.map_or("/", String::as_str), ..place.base };
            let runs_code = kind.kind == TextKind::Line;
            let place = TextPlace { base, outer: None, runs_code, ..place };
            for body in &script.bodies {
                self.read(body, place, body_kind, None);
                self.read(body, place, TextKind::Code, None);
            }
        }
    }

    /// Notes why a line that runs could run anything.
    fn note_doubts(&mut self, script: &ShellScript, values: &ShellValues<'_>) {
        if script.is_broken {
            self.note_anything("a form that is not understood");
        }
        if script.has_gaps {
            self.note_anything("a command line that is not known");
        }
        if values.evaluates_unknown() {
            self.note_anything("arithmetic with an unknown value");
        }
        if values.moves_home {
            self.note_anything("another home");
        }
    }

    fn add_form(
        &mut self,
        command: &ShellCommand,
        at: usize,
        values: &ShellValues<'_>,
        place: TextPlace<'_>,
        line: ReadLine,
    ) {
        // The commands of the line itself count, whatever the budget.
        if !steps::spend(command.words.len()) && place.depth > 0 {
            return;
        }
        let is_line = line.kind == TextKind::Line;
        if is_line && let Some(reason) = runs_anything(command).or_else(|| reads_unknown(command, values)) {
            self.note_anything(reason);
        }
        let index = self.commands.len();
        let starts = starts(command, line.is_open || !is_line);
        self.starts.extend(starts.into_iter().map(|word| (index, word)));
        self.commands.push(command.clone());
        self.runs.push(is_line);
        let own: String = command.shown();
        for (text, kind) in texts(command, line) {
            for cwd in command.folders.iter().take(if place.depth > 2 { 1 } else { 16 }) {
                let base = BaseFolders { cwd, ..place.base };
                let outer = Some((values, at));
                let place = TextPlace { base, outer, depth: place.depth, runs_code: is_line };
                self.read(&text, place, kind, Some(&own));
            }
        }
    }

    /// Parses a text as a command line, or finds the words of a program in another language.
    fn read(&mut self, text: &str, place: TextPlace<'_>, kind: TextKind, within: Option<&str>) {
        // A word that is a line of one word would contain itself again and again.
        if text.trim().is_empty() || steps::is_spent() || within == Some(text) {
            return;
        }
        let mut hasher = DefaultHasher::new();
        (text, kind, place.base.cwd).hash(&mut hasher);
        if !self.read.insert(hasher.finish()) {
            return;
        }
        if place.depth >= DEEPEST {
            return steps::cut();
        }
        let inner = TextPlace { depth: place.depth + 1, ..place };
        if matches!(kind, TextKind::Code | TextKind::Script) {
            return self.add_code(text, inner, kind == TextKind::Script);
        }
        let script = ShellScript::nested(text, place.base, place.depth + 1);
        self.add(&script, inner, kind);
    }

    /// Adds the words of a program in another language as one command, and its quoted texts as
    /// command lines.
    fn add_code(&mut self, text: &str, place: TextPlace<'_>, runs_backticks: bool) {
        let found = code::words_of(text);
        let is_run = place.runs_code && code::starts_programs(text, runs_backticks);
        let kind = if is_run { TextKind::Line } else { TextKind::Possible };
        let cwd = place.base.cwd.to_owned();
        let words: Vec<ShellWord> = found.words.iter().map(|word| ShellWord::known(word)).collect();
        if words.is_empty() || !steps::spend(words.len()) {
            return;
        }
        let index = self.commands.len();
        self.starts.extend((0..words.len()).map(|word| (index, word)));
        let folders = vec![cwd];
        self.commands.push(ShellCommand { words, folders, ..ShellCommand::default() });
        self.runs.push(false);
        for quoted in found.quoted.iter().filter(|quoted| quoted.contains(is_special)) {
            self.read(quoted, place, kind, None);
        }
    }
}

fn all_words(command: &ShellCommand) -> impl Iterator<Item = &ShellWord> {
    command.words.iter().chain(&command.assigns).chain(&command.redirects)
}

/// Returns why a command could run anything.
fn runs_anything(command: &ShellCommand) -> Option<&'static str> {
    let program = command.words.first()?;
    if program.is_anything() || (program.may_split && program.first_text().starts_with(GAP)) {
        return Some("a program whose name is not known");
    }
    let table = program.first_text();
    if TABLES.iter().any(|name| table.starts_with(name)) {
        return Some("a table of the shell");
    }
    let is_setting = |word: &ShellWord| word.first_text().starts_with("GIT_CONFIG");
    let names_alias = |word: &ShellWord| word.first_text().contains("alias.");
    if command.assigns.iter().any(is_setting)
        || (program.could_name("git") && command.words.iter().any(names_alias))
    {
        return Some("an alias of git");
    }
    let is_definition = |word: &ShellWord| word.first_text().contains('=') || word.has_unknown();
    if program.could_name("alias") && command.words[1..].iter().any(is_definition) {
        return Some("an alias");
    }
    if program.could_name("hash enable autoload zmodload") && command.words.len() > 2 {
        return Some("a command that changes the meaning of names");
    }
    let is_compared = |word: &ShellWord| {
        word.text().is_some_and(|text| matches!(text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"))
    };
    let is_test = program.text() == Some("[[") && command.words.iter().any(is_compared);
    if (is_test || program.text() == Some("let")) && command.words.iter().any(ShellWord::has_unknown) {
        return Some("arithmetic with an unknown value");
    }
    let runs_sed = program.could_name("sed gsed")
        && operands::sed_scripts(&command.words[1..]).any(|script| {
            script.texts().any(|text| !operands::is_quiet_sed(&text))
        });
    if runs_sed {
        return Some("a script for sed that could run commands");
    }
    let has_code_gap = program_starts(command).any(|at| takes_gap(&command.words[at..]));
    has_code_gap.then_some("a program text that is not known")
}

/// Returns true if a program gets a text to run of which something is not known.
fn takes_gap(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let Some(name) = program.text() else { return false };
    let is = |list: &str| callgate_mask::programs::is_one_of(name, list);
    if is(LINE_TAKERS) {
        return rest.iter().any(ShellWord::has_unknown);
    }
    let is_shell = is(SHELLS);
    if !is_shell && !is(LANGUAGES) && !is("sed gsed") {
        return false;
    }
    if is("sed gsed") || is("awk gawk mawk nawk") {
        return operands::program_text(name, rest).is_some_and(ShellWord::has_unknown);
    }
    let gives_code = |word: &ShellWord| {
        word.text().is_some_and(|text| {
            text.starts_with('-')
                && (matches!(text, "--eval" | "--print" | "--command")
                    || (!text.starts_with("--") && text.ends_with(['c', 'e', 'E', 'r', 'p'])))
        })
    };
    words.windows(2).any(|two| gives_code(&two[0]) && two[1].has_unknown())
}

/// Returns who in a line runs what it reads, which may be any part of the line.
fn line_reader(script: &ShellScript) -> Option<InputReader> {
    // A file that the line has written may be run by it.
    let writes = script.commands.iter().any(|command| {
        let is_file = |word: &ShellWord| {
            !matches!(word.text(), Some("/dev/null" | "1" | "2" | "/dev/stderr" | "/dev/stdout"))
        };
        command.redirects.iter().any(is_file) || command.program() == Some("tee")
    });
    let written: Vec<String> = script
        .commands
        .iter()
        .flat_map(|command| &command.redirects)
        .map(|word| last_name(&word.first_text()).to_owned())
        .collect();
    let is_written = |command: &ShellCommand| {
        let program = command.words.first().map(|word| last_name(&word.first_text()).to_owned());
        program.is_some_and(|name| !name.is_empty() && written.contains(&name))
    };
    if script.commands.iter().any(is_written) {
        return Some(InputReader::Shell);
    }
    let readers = script.commands.iter().filter_map(|command| reader_of(command, writes));
    readers.reduce(|one, other| if one == InputReader::Shell { one } else { other })
}

/// Returns how a command runs what it reads, if it does.
fn reader_of(command: &ShellCommand, writes: bool) -> Option<InputReader> {
    let is_operand = |word: &ShellWord| {
        let text = word.first_text();
        text == "-c"
            || (!text.starts_with('-') && text != "/dev/stdin" && !text.starts_with("/dev/fd"))
    };
    let names_file = |word: &ShellWord| {
        RUN_VARIABLES.iter().any(|name| word.first_text().starts_with(&format!("{name}=")))
    };
    let reads_variable = writes && command.assigns.iter().chain(&command.words).any(names_file);
    let reader = |at: usize| {
        let (program, rest) = (&command.words[at], &command.words[at + 1..]);
        let has_input = command.is_piped || command.reads_file || rest.is_empty();
        let reads = (has_input || writes) && (!has_code(rest) || command.is_piped)
            || !rest.iter().any(is_operand);
        if program.could_name(SHELLS) || program.could_name(LINE_READERS) {
            reads.then_some(InputReader::Shell)
        } else if program.could_name(LANGUAGES) && has_input && !rest.iter().any(is_operand) {
            Some(InputReader::Language)
        } else {
            None
        }
    };
    let found = program_starts(command).find_map(reader);
    found.or_else(|| reads_variable.then_some(InputReader::Shell))
}

/// Returns true if an option of a shell gives it a command line.
fn has_code(words: &[ShellWord]) -> bool {
    words.iter().any(|word| {
        let text = word.first_text();
        text.starts_with('-') && !text.starts_with("--") && text.contains('c')
    })
}

/// Returns why a shell could read anything from another command.
fn reads_unknown(command: &ShellCommand, values: &ShellValues<'_>) -> Option<&'static str> {
    let is_shell = |at: usize| {
        let (program, rest) = (&command.words[at], &command.words[at + 1..]);
        let is_script = |word: &ShellWord| !word.first_text().starts_with('-');
        program.could_name(SHELLS) && !has_code(rest) && !rest.iter().any(is_script)
    };
    let is_fed = command.is_piped && !command.has_here_text;
    if !is_fed || !program_starts(command).any(is_shell) {
        return None;
    }
    let reason = "a shell that runs what is not known";
    let Some(feeder) = command.fed_by else { return Some(reason) };
    let printed = values.printed_by(feeder, 1);
    printed.iter().flatten().any(|piece| !matches!(piece, WordPiece::Text(_))).then_some(reason)
}

/// Returns the words at which a program may begin.
fn starts(command: &ShellCommand, is_open: bool) -> Vec<usize> {
    let Some(program) = command.words.first() else { return Vec::new() };
    let is_feeder = program.could_name("xargs gxargs");
    if is_open || (!is_feeder && (program.could_name(INTERPRETERS) || program.could_name(SHELLS))) {
        (0..command.words.len()).collect()
    } else if program.could_name(WRAPPERS) {
        wrapped(&command.words)
    } else if program.could_name("git") {
        started_by_git(&command.words)
    } else if program.may_split {
        // It may be no word at all.
        vec![0, 1.min(command.words.len() - 1)]
    } else {
        vec![0]
    }
}

/// Returns the words at which a shell would find a program: not every word of a program in another
/// language.
fn program_starts(command: &ShellCommand) -> impl Iterator<Item = usize> {
    let is_language = command.words.first().is_some_and(|program| program.could_name(LANGUAGES));
    let starts = if is_language { vec![0] } else { starts(command, false) };
    starts.into_iter()
}

/// Returns the words at which git starts another program.
fn started_by_git(words: &[ShellWord]) -> Vec<usize> {
    let mut starts = vec![0];
    for (at, word) in words.iter().enumerate().skip(1).take(words.len().saturating_sub(2)) {
        let is_before = |text: &str| {
            matches!(text, "foreach" | "run" | "-x" | "--exec" | "--recursive" | "--quiet")
        };
        if word.text().is_some_and(is_before) {
            let rest = &words[at + 1..];
            let inner = if rest[0].could_name(WRAPPERS) { wrapped(rest) } else { vec![0] };
            starts.extend(inner.into_iter().map(|inner| at + 1 + inner));
        }
    }
    starts
}

/// Returns the words of a wrapper up to the first that is certainly the program, and so on through
/// wrappers.
fn wrapped(words: &[ShellWord]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut after_option = false;
    // A lock, a folder, a mask or a user comes before the program.
    let takes_operand =
        |word: &ShellWord| word.could_name("flock chroot taskset faketime setuidgid chpst runuser su");
    let mut is_operand_due = words.first().is_some_and(takes_operand);
    for (at, word) in words.iter().enumerate().skip(1) {
        starts.push(at);
        if word.could_name("git") {
            starts.extend(started_by_git(&words[at..]).into_iter().skip(1).map(|i| at + i));
        }
        if word.could_name(INTERPRETERS) || word.could_name(SHELLS) {
            starts.extend(at + 1..words.len());
            break;
        }
        let is_option = word.could_begin_with("-") || word.may_split;
        let is_own = word.could_contain("=")
            || word.first_text().starts_with(|c: char| c.is_ascii_digit());
        if !is_option && !is_own && !after_option && is_operand_due {
            is_operand_due = false;
        } else if !is_option && !is_own && !after_option && !word.could_name(WRAPPERS) {
            break;
        }
        after_option = is_option && !word.first_text().contains('=');
    }
    starts
}

/// Returns the texts in a command's words that may be command lines or programs themselves.
fn texts(command: &ShellCommand, line: ReadLine) -> Vec<(String, TextKind)> {
    let ReadLine { kind, body_kind, is_open } = line;
    let is_line = kind == TextKind::Line;
    let Some(program) = command.words.first() else { return assigned(command, is_line).collect() };
    let is = |list: &str| program.could_name(list);
    let takes_texts = |at: usize| {
        let word = &command.words[at];
        [INTERPRETERS, SHELLS, WRAPPERS, LINE_TAKERS].iter().any(|list| word.could_name(list))
    };
    let looks_inside = is_open || program_starts(command).any(takes_texts);
    // The output of a harmless program is run only if something in the line runs it.
    let harmless = if is_open { Vec::new() } else { operands::harmless_texts(command) };
    let kind = if is_line && runs_texts(command) { TextKind::Line } else { body_kind };
    let evaluates = is_line && is(EVALUATORS);
    let names = |list: &str| starts(command, false).iter().any(|at| command.words[*at].could_name(list));
    let is_code = names(LANGUAGES);
    let code = if names("perl ruby php") { TextKind::Script } else { TextKind::Code };
    let mut texts = Vec::new();
    for (at, word) in command.words.iter().enumerate().filter(|(at, _)| !harmless.contains(at)) {
        for text in word.texts() {
            if looks_inside && text.contains(is_special) {
                if is_code {
                    texts.push((text.clone(), code));
                }
                if !is_code || kind == TextKind::Line {
                    texts.extend(glued(&text).map(|text| (text, kind)));
                    texts.push((text.clone(), kind));
                }
            }
            if looks_inside || is(CAN_RUN) {
                texts.extend(after_equals(&text).map(|text| (text, TextKind::Possible)));
            }
            if at > 0 && is("sed gsed") {
                texts.push((text.replace(is_sed_mark, " "), TextKind::Code));
                texts.push((text.clone(), TextKind::Code));
            }
            if evaluates && (text.contains("$(") || text.contains('`')) {
                texts.push((text.clone(), TextKind::Line));
            }
            if at > 0 && is("git") && gives_git_command(&command.words, at) {
                texts.push((text.trim_start_matches('!').to_owned(), TextKind::Line));
            }
        }
    }
    if is_line && is("eval") {
        // It joins its words.
        let joined: Vec<String> = command.words[1..].iter().map(ShellWord::first_text).collect();
        texts.push((joined.join(" "), TextKind::Line));
    }
    texts.extend(assigned(command, is_line));
    texts
}

/// Returns the values of the assignments of a command.
fn assigned(command: &ShellCommand, is_line: bool) -> impl Iterator<Item = (String, TextKind)> {
    command.assigns.iter().flat_map(move |assign| {
        let value = |text: String| assign.value_at.and_then(|at| text.get(at..).map(Into::into));
        let name = assign.first_text();
        let is_run = is_line
            && RUN_VARIABLES.iter().any(|run| name.starts_with(&format!("{run}=")));
        let kind = if is_run { TextKind::Line } else { TextKind::Possible };
        assign.texts().filter_map(value).map(move |text: String| (text, kind))
    })
}

/// Returns true if a program of the command certainly runs a text that it is given.
fn runs_texts(command: &ShellCommand) -> bool {
    let takes_line = |at: usize| {
        let (program, rest) = (&command.words[at], &command.words[at + 1..]);
        let has_option = rest.iter().any(|word| {
            let text = word.first_text();
            text.starts_with('-') && !text.starts_with("--") && text.contains('c')
        });
        let splits = program.could_name("env")
            && rest.iter().any(|word| {
                word.could_begin_with("-S") || word.could_begin_with("--split")
            });
        program.could_name(LINE_TAKERS) || splits || (program.could_name(SHELLS) && has_option)
    };
    program_starts(command).any(takes_line)
}

/// Returns true if git runs this word as a command line.
fn gives_git_command(words: &[ShellWord], at: usize) -> bool {
    let before = words[at - 1].text().unwrap_or_default();
    let has_command = |name: &str| words.iter().any(|word| word.text() == Some(name));
    match before {
        "-x" | "--exec" => has_command("rebase") || has_command("difftool"),
        "--extcmd" | "--tree-filter" | "--index-filter" | "--msg-filter" | "--env-filter"
        | "--commit-filter" | "--parent-filter" | "--tag-name-filter" | "--setup"
        | "--upload-pack" | "--receive-pack" | "foreach" => true,
        _ => {
            let is_foreach = |word: &ShellWord| word.text() == Some("foreach");
            words[..at].iter().any(is_foreach)
                || words[at].text().is_some_and(|text| text.starts_with("--exec="))
        }
    }
}

fn is_sed_mark(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~'))
}

/// Returns the text after the letter of an option, as in `-S'git push'`, and after a colon.
fn glued(text: &str) -> impl Iterator<Item = String> {
    let is_option = text.starts_with('-') && !text.starts_with("--");
    let letters = is_option.then(|| text.chars().skip(2).collect::<String>());
    let after_colon = text.split_once(':').map(|(_, rest)| rest.trim_start_matches('!').to_owned());
    let after_mark = text.strip_prefix(['!', ':', '+']).map(|rest| rest.trim_start_matches('!').to_owned());
    letters.into_iter().chain(after_colon).chain(after_mark).filter(|text| !text.is_empty())
}

/// Returns the text after each `=` of an option.
fn after_equals(text: &str) -> impl Iterator<Item = String> {
    let after =
        |(at, _): (usize, &str)| text[at + 1..].trim_start_matches(['!', '\'', '"']).to_owned();
    text.match_indices('=').take(4).map(after).filter(|value| !value.is_empty())
}

fn is_special(c: char) -> bool {
    c.is_whitespace() || ";&|<>()`$'\"!{}=,".contains(c)
}
