//! Makes a line of a seed: something that is denied or guarded, behind several techniques.

use super::dice::LineDice;
use super::quotes;
use super::tables::{
    FRAGMENTS, HOMES, PROGRAM_FOLDERS, PROJECTS, READS, Technique, WILDCARDS, WRITES,
};
use super::wraps::{BLANKS, COMMANDS, SCRIPTS};

/// Commands that are denied or guarded. The last word of some is an expansion, which stays as it
/// is.
const RUNS: &[&[&str]] = &[
    &["git", "push"],
    &["git", "push"],
    &["git", "push"],
    &["git", "push", "origin", "main"],
    &["git", "push", "--force"],
    &["git", "-C", "src", "push"],
    &["git", "--no-pager", "push"],
    &["git", "-c", "a=b", "push"],
    &["git", "-c", "alias.p=push", "p"],
    &["callgate", "uninstall"],
    &["callgate", "uninstall"],
    &["callgate", "rules", "allow"],
    &["killall", "callgate"],
    &["pkill", "-f", "callgate"],
    &["kill", "$VICTIM"],
    &["kill", "-9", "\"$VICTIM\""],
];
/// The most turns of one line; each has a bit.
const MOST_TURNS: u32 = 64;
/// The longest line. Nothing is added to a longer one.
const LONGEST: usize = 300;

/// A line that hides something.
pub(crate) struct HiddenLine {
    pub(crate) text: String,
    /// The techniques that were used, in order.
    pub(crate) techniques: Vec<&'static str>,
    /// How many turns there were.
    pub(crate) turns: u32,
}

/// Returns the line of a seed, for a home. The turns whose bits are set do nothing, which makes
/// a smaller line of the same kind.
pub(crate) fn line(seed: u64, home: &str, left_out: u64) -> HiddenLine {
    LineGrammar::new(seed, home, left_out).make()
}

/// Returns for each technique a line that uses no other, as the one of a seed.
pub(crate) fn examples(seed: u64, home: &str) -> Vec<(Technique, String)> {
    let mut examples = Vec::new();
    let words = ["git".to_owned(), "push".to_owned()];
    let aws = ["$HOME/.aws/credentials", "$HOME/.aws", "credentials"].map(str::to_owned);
    let mut add = |techniques: &[Technique], parts: &TemplateParts<'_>, ends: [&str; 2]| {
        for technique in techniques {
            let mut grammar = LineGrammar::new(seed, home, 0);
            let mut dice = grammar.dice.clone();
            let written = grammar.written(&mut dice, *technique, parts);
            let line = grammar.after_before(&format!("{}{written}{}", ends[0], ends[1]));
            examples.push((*technique, line));
        }
    };
    add(FRAGMENTS, &TemplateParts { fragment: "pu", ..TemplateParts::default() }, ["git ", "''sh"]);
    add(
        WILDCARDS,
        &TemplateParts { fragment: "edentials", ..TemplateParts::default() },
        ["cat ~/.aws/cr", ""],
    );
    add(HOMES, &TemplateParts::default(), ["cat ", ".aws/credentials"]);
    add(PROJECTS, &TemplateParts::default(), [": > ", ".claude/settings.local.json"]);
    add(PROGRAM_FOLDERS, &TemplateParts::default(), ["", "git push"]);
    let path = TemplateParts { path: aws, ..TemplateParts::default() };
    add(READS, &path, ["", ""]);
    add(WRITES, &path, ["", ""]);
    add(COMMANDS, &TemplateParts { words: &words, ..TemplateParts::default() }, ["", ""]);
    add(SCRIPTS, &TemplateParts { script: "git push", ..TemplateParts::default() }, ["", ""]);
    examples
}

struct LineGrammar<'a> {
    seed: u64,
    home: &'a str,
    left_out: u64,
    turns: u32,
    /// Decides what does not depend on the turns that are left out.
    dice: LineDice,
    /// Commands that have to run first.
    before: Vec<String>,
    names: usize,
    techniques: Vec<&'static str>,
}

/// The parts that the marks of a template stand for.
#[derive(Default)]
struct TemplateParts<'a> {
    fragment: &'a str,
    words: &'a [String],
    script: &'a str,
    path: [String; 3],
}

impl<'a> LineGrammar<'a> {
    fn new(seed: u64, home: &'a str, left_out: u64) -> Self {
        Self {
            seed,
            home,
            left_out,
            turns: 0,
            dice: LineDice::new(seed, u64::MAX),
            before: Vec::new(),
            names: 0,
            techniques: Vec::new(),
        }
    }

    fn make(mut self) -> HiddenLine {
        let wraps = [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4][self.dice.below(12)];
        let mut script = match self.dice.below(10) {
            0..4 => self.command(),
            4..7 => self.file(READS, &[".aws", "credentials"], true),
            7 => self.file(WRITES, &[".aws", "credentials"], true),
            8 => self.file(WRITES, &[".claude", "settings.local.json"], false),
            _ => self.file(WRITES, &[".config", "callgate", "rules.toml"], true),
        };
        for _ in 0..wraps {
            let Some((dice, technique)) = self.turn(SCRIPTS) else { continue };
            if script.len() < LONGEST {
                let parts = TemplateParts { script: &script, ..TemplateParts::default() };
                script = self.with_before(dice, technique, &parts);
            }
        }
        HiddenLine { text: script, techniques: self.techniques, turns: self.turns }
    }

    /// Takes a turn: a technique and the dice for its details, or nothing if it is left out.
    fn turn(&mut self, techniques: &[Technique]) -> Option<(LineDice, Technique)> {
        let turn = self.turns.min(MOST_TURNS - 1);
        self.turns = turn + 1;
        if self.left_out >> turn & 1 == 1 {
            return None;
        }
        let mut dice = LineDice::new(self.seed, u64::from(turn));
        let technique = *dice.pick(techniques);
        self.techniques.push(technique.0);
        Some((dice, technique))
    }

    /// Returns a simple command that is denied, in disguise.
    fn command(&mut self) -> String {
        let run = *self.dice.pick(RUNS);
        let mut words: Vec<String> = run.iter().map(|word| self.word(word)).collect();
        if run[0] != "kill" && self.dice.one_in(12) {
            let folder = self.turn(PROGRAM_FOLDERS).map_or("", |(_, folder)| folder.2);
            words[0].insert_str(0, folder);
        }
        let fits_braces = self.dice.one_in(16) && run.len() == 2 && run[0] != "kill";
        if fits_braces && self.turn(&[("braces around words", "", "")]).is_some() {
            words = vec![format!("{{{},{}}}", words[0], words[1])];
        }
        for _ in 0..[0, 0, 0, 1, 1, 1, 2][self.dice.below(7)] {
            let Some((mut dice, technique)) = self.turn(COMMANDS) else { continue };
            let parts = TemplateParts { words: &words, ..TemplateParts::default() };
            words = vec![self.written(&mut dice, technique, &parts)];
        }
        let command = self.spaced(&words);
        self.after_before(&command)
    }

    /// Returns a command that touches a file, in disguise.
    fn file(&mut self, table: &[Technique], path: &[&str], is_in_home: bool) -> String {
        let (bases, plain) = if is_in_home { (HOMES, "~/") } else { (PROJECTS, "") };
        let plain = ("plain path", "", plain);
        let (mut dice, base) =
            self.turn(bases).unwrap_or((LineDice::new(self.seed, u64::MAX), plain));
        let mut folder = self.written(&mut dice, base, &TemplateParts::default());
        let mut names: Vec<String> = Vec::new();
        for name in path {
            let hidden = name.strip_prefix('.');
            let fragments = self.fragments(hidden.unwrap_or(name), true);
            names.push(if hidden.is_some() { format!(".{fragments}") } else { fragments });
        }
        if path[0] == ".aws" && self.dice.one_in(12) && self.turn(&[("link", "", "")]).is_some() {
            names[0] = "keys".into();
        }
        let name = names.pop().expect("a name");
        folder += &names.join("/");
        let path = [format!("{folder}/{name}"), folder, name];
        let parts = TemplateParts { path, ..TemplateParts::default() };
        let plain = (LineDice::new(self.seed, u64::MAX), table[0]);
        let (dice, technique) = self.turn(table).unwrap_or(plain);
        self.with_before(dice, technique, &parts)
    }

    /// Returns a filled template, after the commands that have to run before it.
    fn with_before(
        &mut self,
        mut dice: LineDice,
        technique: Technique,
        parts: &TemplateParts<'_>,
    ) -> String {
        let command = self.written(&mut dice, technique, parts);
        self.after_before(&command)
    }

    /// Returns a filled template, and keeps the commands that have to run before it.
    fn written(
        &mut self,
        dice: &mut LineDice,
        technique: Technique,
        parts: &TemplateParts<'_>,
    ) -> String {
        self.names += 1;
        let names = self.names;
        let before = self.fill(technique.1, parts, names, dice);
        self.before.extend((!before.is_empty()).then_some(before));
        self.fill(technique.2, parts, names, dice)
    }

    /// Puts the commands that have to run first before a command.
    fn after_before(&mut self, command: &str) -> String {
        let mut script = String::new();
        for before in std::mem::take(&mut self.before) {
            script += &before;
            if !before.ends_with('\n') {
                script += *self.dice.pick(&["; ", "; ", "\n", " && ", ";"]);
            }
        }
        script + command
    }

    fn spaced(&mut self, words: &[String]) -> String {
        let mut line = String::new();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                let blanks = BLANKS.len();
                line += BLANKS[self.dice.below(blanks)];
            }
            line += word;
        }
        line
    }

    /// Returns a word in disguise.
    fn word(&mut self, text: &str) -> String {
        if text.contains('$') { text.into() } else { self.fragments(text, false) }
    }

    /// Returns a text in several fragments, some of them in disguise.
    fn fragments(&mut self, text: &str, is_path: bool) -> String {
        let mut out = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let len =
                if self.dice.one_in(2) { rest.len() } else { 1 + self.dice.below(rest.len()) };
            let (fragment, after) = rest.split_at(len);
            rest = after;
            let is_plain = self.dice.below(5) < 3;
            let is_wild = is_path && self.dice.one_in(3);
            let table = if is_wild { WILDCARDS } else { FRAGMENTS };
            let turn = if is_plain { None } else { self.turn(table) };
            let written = match turn {
                Some((mut dice, technique)) => {
                    let parts = TemplateParts { fragment, ..TemplateParts::default() };
                    self.written(&mut dice, technique, &parts)
                }
                None => fragment.to_owned(),
            };
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = out.trim_end_matches(is_name);
            if end.ends_with('$') && written.starts_with(is_name) {
                out += "''";
            }
            out += &written;
        }
        out
    }

    /// Returns a template with its parts.
    fn fill(
        &self,
        template: &str,
        parts: &TemplateParts<'_>,
        names: usize,
        dice: &mut LineDice,
    ) -> String {
        let mut pieces = template.split('§');
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let mark = piece.chars().next().expect("a mark after the sign");
            out += &self.part(mark, parts, names, dice);
            out += &piece[mark.len_utf8()..];
        }
        out
    }

    fn part(
        &self,
        mark: char,
        parts: &TemplateParts<'_>,
        names: usize,
        dice: &mut LineDice,
    ) -> String {
        let TemplateParts { fragment, words, script, path } = parts;
        let (first, second) = fragment.split_at(fragment.len() / 2);
        match mark {
            't' => (*fragment).into(),
            'r' => fragment.chars().rev().collect(),
            'o' => quotes::octal(fragment),
            '6' => quotes::base64(&format!("{fragment}\n")),
            'a' => quotes::ansi(fragment, dice),
            'u' => fragment.to_uppercase(),
            '-' => ranged(fragment, dice),
            '1' => first.into(),
            '2' => second.into(),
            'g' => wildcard(fragment, dice),
            'k' => bracket(fragment, dice),
            'S' => ended(script),
            's' if script.contains(['\n', '#']) => ended(script),
            's' => (*script).into(),
            'q' => quotes::word(script, dice),
            'n' => script.replace('\'', "'\\''"),
            'b' => quotes::within_backticks(&ended(script)),
            'l' => quotes::within_literal(script).replace('\'', "'\\''"),
            'h' => ended_line(script),
            'H' => ended_line(&quotes::within_document(script)),
            'E' => format!("E{names}"),
            'x' => format!("x{names}"),
            'y' => format!("y{names}"),
            'f' => format!("f{names}"),
            'c' => words.join(" "),
            'C' => words.join(" ").replace('\'', "'\\''"),
            'i' => words[..words.len() - 1].join(" "),
            'w' => words[0].clone(),
            'W' => words[1..].join(" "),
            ',' => words.join(","),
            'z' => words.last().expect("a word").clone(),
            'p' => path[0].clone(),
            'D' => path[1].clone(),
            'B' => path[2].clone(),
            '~' => self.home.into(),
            mark => panic!("no part has the mark {mark}"),
        }
    }
}

/// Returns a script after which another command may follow.
fn ended(script: &str) -> String {
    if script.contains(['\n', '#']) { ended_line(script) } else { format!("{script}; ") }
}

fn ended_line(script: &str) -> String {
    if script.ends_with('\n') { script.into() } else { format!("{script}\n") }
}

/// Returns a text with a wildcard for some of its characters.
fn wildcard(text: &str, dice: &mut LineDice) -> String {
    let at = dice.below(text.len());
    match dice.below(3) {
        0 => format!("{}*", &text[..at]),
        1 => format!("{}*{}", &text[..at], &text[at + 1..]),
        _ => format!("{}?{}", &text[..at], &text[at + 1..]),
    }
}

/// Returns a text with a range of one character.
fn ranged(text: &str, dice: &mut LineDice) -> String {
    let at = dice.below(text.len());
    format!("{}{{{c}..{c}}}{}", &text[..at], &text[at + 1..], c = &text[at..=at])
}

/// Returns a text with brackets around one of its characters.
fn bracket(text: &str, dice: &mut LineDice) -> String {
    let at = dice.below(text.len());
    let (before, c, after) = (&text[..at], &text[at..=at], &text[at + 1..]);
    let brackets = match dice.below(6) {
        0 => format!("[{c}]"),
        1 => "[!+]".into(),
        2 => "[^+]".into(),
        3 => "[[:graph:]]".into(),
        4 => "[--z]".into(),
        _ => format!("[+{c}]"),
    };
    format!("{before}{brackets}{after}")
}
