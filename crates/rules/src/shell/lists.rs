//! Lists, pipelines and subshells: where commands begin and end.
//!
//! It never gives up: what does not follow the grammar is noted as unclear, every operator ends a
//! command, and parsing continues.

use callgate_wire::desk::SegmentStyle;

use super::names::{CONTROL, OPENERS, has};
use super::paint::SegmentPaint;
use super::{
    DEEPEST, LONGEST_LINE, MOST_COMMANDS, MOST_WORDS, ShellCommand, ShellScript, ShellWord,
};
use crate::steps;

/// Parses a whole text.
pub(super) fn read(text: &str, home: &str, depth: usize) -> ShellScript {
    let mut reader = ShellReader::new(text, home, depth);
    reader.list(false);
    reader.script
}

/// Parses a whole text, and returns the styles of its characters.
pub(super) fn paint(text: &str) -> SegmentPaint {
    let mut reader = ShellReader::new(text, "/", 0);
    reader.paint = Some(SegmentPaint::new(reader.chars.len()));
    reader.list(false);
    reader.paint.unwrap_or_else(|| SegmentPaint::new(0))
}

/// Parses a here-document, of which only the expansions are commands.
pub(super) fn read_document(text: &str, home: &str, depth: usize) -> ShellScript {
    let mut reader = ShellReader::new(text, home, depth);
    reader.document();
    reader.script
}

/// Where a here-document ends.
pub(super) struct HereDocument {
    pub(super) end: String,
    pub(super) strips_tabs: bool,
    /// Whether nothing in it is expanded.
    pub(super) is_literal: bool,
}

pub(super) struct ShellReader<'a> {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    /// Up to where the alternatives of a brace expansion were kept.
    pub(super) kept_to: usize,
    pub(super) depth: usize,
    pub(super) home: &'a str,
    words: usize,
    pub(super) script: ShellScript,
    pub(super) here: Vec<HereDocument>,
    /// The styles of the characters, if the caller needs them.
    paint: Option<SegmentPaint>,
}

/// What has been read of a command so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CommandContent {
    #[default]
    Nothing,
    /// A word, an assignment or a redirect.
    Something,
    /// A subshell instead of words.
    Group,
}

/// The command that is being read.
#[derive(Default)]
pub(super) struct OpenCommand {
    pub(super) command: ShellCommand,
    /// What has been read of it so far.
    pub(super) stands: CommandContent,
    /// A simpler shell takes `&>` for the end of the command, so nothing may follow.
    pub(super) is_ended: bool,
    /// An operator before it requires it.
    is_owed: bool,
}

impl<'a> ShellReader<'a> {
    /// Returns a reader of `text`, or of nothing if the budget does not suffice.
    fn new(text: &str, home: &'a str, depth: usize) -> Self {
        let mut reader = Self {
            chars: Vec::new(),
            at: 0,
            kept_to: 0,
            depth,
            home: home.trim_end_matches('/'),
            words: 0,
            script: ShellScript::default(),
            here: Vec::new(),
            paint: None,
        };
        if text.len() > LONGEST_LINE {
            steps::cut();
            reader.broken("more text than is read");
        }
        if steps::spend(text.len().min(LONGEST_LINE)) {
            reader.chars = text.chars().take(LONGEST_LINE).collect();
        } else {
            reader.stop();
        }
        reader
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<char> {
        self.chars.get(self.at + offset).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Steps over this character if it is next.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn doubt(&mut self, reason: &'static str) {
        self.script.doubt(reason);
    }

    /// Notes the style of the characters from `begin` up to here, except for those within that have
    /// another style.
    pub(super) fn paint(&mut self, begin: usize, style: SegmentStyle) {
        if let Some(paint) = &mut self.paint {
            paint.paint(begin, self.at, style);
        }
    }

    /// Notes that not even the beginnings of commands are known.
    pub(super) fn broken(&mut self, reason: &'static str) {
        self.script.doubt(reason);
        self.script.is_broken = true;
    }

    /// Notes that something is nested too deeply to be read.
    pub(super) fn stop_nesting(&mut self) {
        steps::cut();
        self.broken("too much nesting");
    }

    /// Adds what was found in a substitution. Why it is unclear does not matter: a substitution
    /// always is.
    pub(super) fn add_inner(&mut self, inner: ShellScript) {
        self.script.is_broken |= inner.is_broken;
        self.script.commands.extend(inner.commands);
        self.script.bodies.extend(inner.bodies);
    }

    /// Ends the parsing, because the budget is spent.
    pub(super) fn stop(&mut self) {
        steps::cut();
        self.broken("more text than is read");
        self.at = self.chars.len();
    }

    /// Parses commands up to the end, or up to the `)` that closes this list.
    pub(super) fn list(&mut self, in_parens: bool) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.stop_nesting();
            self.at = self.chars.len();
        }
        let mut open = OpenCommand::default();
        let mut is_closed = !in_parens;
        let mut is_empty = true;
        while let Some(c) = self.peek() {
            is_empty &= matches!(c, ' ' | '\t' | '\n' | ')');
            match c {
                ' ' | '\t' => self.at += 1,
                '\\' if self.peek_at(1) == Some('\n') => {
                    self.at += 2;
                    self.paint(self.at - 2, SegmentStyle::Operator);
                }
                ')' if in_parens => {
                    self.at += 1;
                    self.paint(self.at - 1, SegmentStyle::Operator);
                    is_closed = true;
                    break;
                }
                '#' => self.comment(),
                '\n' | ';' | '&' | '|' | '(' | ')' => self.operator(&mut open),
                _ => self.part(&mut open),
            }
        }
        if open.is_owed && open.stands == CommandContent::Nothing {
            self.doubt("an unfinished list");
        }
        self.close(&mut open);
        if !is_closed {
            self.broken("an unfinished parenthesis");
        }
        if in_parens && is_empty {
            self.doubt("a function or an array");
        }
        self.depth -= 1;
    }

    /// Skips a comment. It counts as understood only if a shell without comments would find nothing
    /// in it.
    fn comment(&mut self) {
        let begin = self.at;
        while let Some(c) = self.peek() {
            if c == '\n' {
                break;
            }
            if !(c.is_ascii_alphanumeric() || " \t#_-.,:/+@%".contains(c)) {
                self.doubt("a comment with special characters");
            }
            self.at += 1;
        }
        self.paint(begin, SegmentStyle::Comment);
    }

    fn operator(&mut self, open: &mut OpenCommand) {
        let Some(c) = self.next() else { return };
        let begin = self.at - 1;
        match c {
            '(' => {
                self.paint(begin, SegmentStyle::Operator);
                self.group(open);
            }
            ')' => {
                self.paint(begin, SegmentStyle::Unclear);
                self.doubt("a parenthesis of unknown use");
                self.close(open);
            }
            '\n' => {
                self.end(open, false, false);
                self.here_documents();
            }
            '&' if self.peek() == Some('>') => {
                self.paint(begin, SegmentStyle::Operator);
                self.redirect(open, true);
            }
            _ => {
                let twice = self.peek() == Some(c) || (c == '|' && self.peek() == Some('&'));
                self.at += usize::from(twice);
                self.paint(begin, SegmentStyle::Operator);
                self.breaks(begin, c == '&' && !twice);
                if c == ';' && (twice || self.peek() == Some('&')) {
                    self.doubt("control flow");
                }
                self.end(open, true, c == '|' || (c == '&' && twice));
            }
        }
    }

    /// Notes that a new line may begin before an operator, unless that is an `&` on its own or
    /// belongs to a list within.
    fn breaks(&mut self, begin: usize, is_background: bool) {
        if let Some(paint) = self.paint.as_mut().filter(|_| self.depth == 1 && !is_background) {
            paint.breaks.push(begin);
        }
    }

    /// Ends a command at an operator, which may require one before it and after it.
    fn end(&mut self, open: &mut OpenCommand, wants_one: bool, owes_next: bool) {
        let is_there = open.stands != CommandContent::Nothing;
        let was_owed = open.is_owed;
        if wants_one && !is_there {
            self.doubt("an operator without a command");
        }
        self.close(open);
        // A line may end after `&&`, `||` and `|`; the required command is still to come.
        open.is_owed = owes_next || (was_owed && !is_there);
    }

    fn group(&mut self, open: &mut OpenCommand) {
        let is_doubled = self.peek() == Some('(');
        if open.stands != CommandContent::Nothing || is_doubled {
            self.doubt("a parenthesis of unknown use");
        }
        self.close(open);
        self.list(true);
        open.stands = CommandContent::Group;
    }

    /// Parses a word or a redirect.
    fn part(&mut self, open: &mut OpenCommand) {
        if self.is_redirect() {
            self.redirect(open, false);
            return;
        }
        let before = self.at;
        let word = self.word();
        debug_assert!(self.at > before, "a word has characters");
        if open.stands == CommandContent::Group {
            self.doubt("a word after a parenthesis");
            self.close(open);
        }
        if open.command.words.is_empty() && self.is_keyword(&word, open) {
            self.paint(before, SegmentStyle::Operator);
            return;
        }
        if !word.is_quoted && matches!(word.text(), Some("{" | "}")) {
            self.paint(before, SegmentStyle::Operator);
            self.doubt("control flow");
            self.close(open);
            return;
        }
        if self.paint.is_some() {
            self.paint(before, style_of(&word, open));
        }
        self.take(word, open);
    }

    /// Skips the keywords at the beginning of a command.
    fn is_keyword(&mut self, word: &ShellWord, open: &mut OpenCommand) -> bool {
        let Some(text) =
            word.text().filter(|_| !word.is_quoted && open.stands == CommandContent::Nothing)
        else {
            return false;
        };
        if text == "!" {
            open.is_owed = true;
            return true;
        }
        if has(CONTROL, text) {
            self.doubt("control flow");
        }
        has(OPENERS, text)
    }

    fn take(&mut self, word: ShellWord, open: &mut OpenCommand) {
        if open.is_ended {
            self.doubt("a word after a redirect of all output");
        }
        self.words += 1;
        open.stands = CommandContent::Something;
        if self.words > MOST_WORDS || self.script.commands.len() >= MOST_COMMANDS {
            steps::cut();
            self.broken("more commands than are read");
            self.at = self.chars.len();
        } else if open.command.words.is_empty() && word.value_at.is_some() {
            open.command.assigns.push(word);
        } else {
            open.command.words.push(word);
        }
    }

    fn close(&mut self, open: &mut OpenCommand) {
        let OpenCommand { command, stands, .. } = std::mem::take(open);
        if stands != CommandContent::Something {
            return;
        }
        if command.words.is_empty() {
            self.doubt(if command.assigns.is_empty() { "no program" } else { "an assignment" });
        }
        if let Some(alternative) = command.alternative() {
            self.script.commands.push(alternative);
        }
        self.script.commands.push(command);
    }
}

/// Returns what a word of a command is.
fn style_of(word: &ShellWord, open: &OpenCommand) -> SegmentStyle {
    let text = word.known_text();
    if open.command.words.is_empty() {
        return if word.value_at.is_some() { SegmentStyle::Word } else { SegmentStyle::Program };
    }
    if text.starts_with('-') {
        SegmentStyle::Option
    } else if text.contains('/') || matches!(text.as_str(), "." | "..") {
        SegmentStyle::Path
    } else {
        SegmentStyle::Word
    }
}
