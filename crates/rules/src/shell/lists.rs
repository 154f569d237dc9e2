//! Lists, pipelines and subshells: where commands begin and end.
//!
//! It never gives up: what does not follow the grammar is noted as unclear, every operator ends a
//! command, and parsing continues.

use callgate_wire::desk::SegmentStyle;

use super::paint::SegmentPaint;
use super::regions::RegionTracker;
use super::{
    DEEPEST, LONGEST_LINE, MOST_COMMANDS, MOST_WORDS, ShellCommand, ShellScript, ShellWord,
};
use crate::steps;

pub(super) fn parse_script(text: &str, home: &str, depth: usize) -> ShellScript {
    let mut reader = ShellReader::new(text, home, depth);
    reader.parse_list(false);
    reader.script
}

/// Parses a whole text, and returns the styles of its characters.
pub(super) fn paint_text(text: &str) -> SegmentPaint {
    let mut reader = ShellReader::new(text, "/", 0);
    reader.paint = Some(SegmentPaint::new(reader.chars.len()));
    reader.parse_list(false);
    reader.paint.unwrap_or_else(|| SegmentPaint::new(0))
}

/// Where a here-document ends.
pub(super) struct HereDocument {
    pub(super) end: String,
    pub(super) strips_tabs: bool,
    /// Whether nothing in it is expanded.
    pub(super) is_literal: bool,
}

/// A value that `${NAME:=value}` may assign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DefaultValue {
    pub(crate) name: String,
    pub(crate) value: ShellWord,
}

pub(super) struct ShellReader<'a> {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    /// Up to where no brace is closed within its word.
    pub(super) open_braces_to: usize,
    pub(super) depth: usize,
    pub(super) home: &'a str,
    words: usize,
    pub(super) script: ShellScript,
    pub(super) here: Vec<HereDocument>,
    /// The conditions under which the next command runs.
    pub(super) regions: RegionTracker,
    /// The styles of the characters, if the caller needs them.
    pub(super) paint: Option<SegmentPaint>,
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

#[derive(Default)]
pub(super) struct OpenCommand {
    pub(super) command: ShellCommand,
    /// What has been read of it so far.
    pub(super) stands: CommandContent,
    /// A simpler shell takes `&>` for the end of the command, so nothing may follow.
    pub(super) is_ended: bool,
    /// An operator before it requires it.
    pub(super) is_owed: bool,
}

impl<'a> ShellReader<'a> {
    /// Returns a reader of `text`, or of nothing if the budget does not suffice.
    fn new(text: &str, home: &'a str, depth: usize) -> Self {
        let mut reader = Self {
            chars: Vec::new(),
            at: 0,
            open_braces_to: 0,
            depth,
            home: home.trim_end_matches('/'),
            words: 0,
            script: ShellScript::default(),
            here: Vec::new(),
            regions: RegionTracker::default(),
            paint: None,
        };
        if text.len() > LONGEST_LINE {
            steps::note_omission();
            reader.note_broken("more text than is read");
        }
        if steps::spend_budget(text.len().min(LONGEST_LINE)) {
            reader.chars = text.chars().take(LONGEST_LINE).collect();
        } else {
            reader.stop_reading();
        }
        reader
    }

    /// Reads another text with this reader: that of backticks, or a here-document.
    pub(super) fn parse_inside(&mut self, text: Vec<char>, work: impl FnOnce(&mut Self)) {
        if self.depth >= DEEPEST {
            return self.stop_nesting();
        }
        if !steps::spend_budget(text.len()) {
            return self.stop_reading();
        }
        let chars = std::mem::replace(&mut self.chars, text);
        let at = std::mem::take(&mut self.at);
        let open_braces_to = std::mem::take(&mut self.open_braces_to);
        // The ends of lines within must not begin here-documents that are due outside.
        let here = std::mem::take(&mut self.here);
        // The styles belong to the characters of the outer text.
        let paint = self.paint.take();
        self.depth += 1;
        work(self);
        self.depth -= 1;
        (self.chars, self.at, self.here, self.paint) = (chars, at, here, paint);
        self.open_braces_to = open_braces_to;
        if steps::is_spent() {
            self.stop_reading();
        }
    }

    /// Reads something that runs in a shell of its own, or only under a condition.
    pub(super) fn parse_region(&mut self, work: impl FnOnce(&mut Self)) {
        let outside = self.regions.enter();
        work(self);
        self.regions.leave(outside);
    }

    /// Adds a program that one shell might run here.
    pub(super) fn add_program(&mut self, name: &str) {
        let command = ShellCommand { words: vec![ShellWord::known(name)], ..Default::default() };
        if self.script.commands.len() < MOST_COMMANDS {
            self.script.commands.push(command);
        }
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
    pub(super) fn eat_char(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    pub(super) fn note_doubt(&mut self, reason: &'static str) {
        self.script.note_doubt(reason);
    }

    /// Notes the style of the characters from `begin` up to here, except for those within that have
    /// another style.
    pub(super) fn paint_since(&mut self, begin: usize, style: SegmentStyle) {
        if let Some(paint) = &mut self.paint {
            paint.paint(begin, self.at, style);
        }
    }

    /// Notes that not even the beginnings of commands are known.
    pub(super) fn note_broken(&mut self, reason: &'static str) {
        self.script.note_doubt(reason);
        self.script.is_broken = true;
    }

    /// Notes that something is nested too deeply to be read.
    pub(super) fn stop_nesting(&mut self) {
        steps::note_omission();
        self.note_broken("too much nesting");
    }

    /// Ends the parsing, because the budget is spent.
    pub(super) fn stop_reading(&mut self) {
        steps::note_omission();
        self.note_broken("more text than is read");
        self.at = self.chars.len();
    }

    /// Parses commands up to the end, or up to the `)` that closes this list.
    pub(super) fn parse_list(&mut self, in_parens: bool) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.stop_nesting();
            self.at = self.chars.len();
        }
        let outside = self.regions.begin_list(self.script.commands.len());
        let mut open = OpenCommand::default();
        let mut is_closed = !in_parens;
        let mut is_empty = true;
        while let Some(c) = self.peek() {
            is_empty &= matches!(c, ' ' | '\t' | '\n' | ')');
            match c {
                ' ' | '\t' => self.at += 1,
                '\\' if self.peek_at(1) == Some('\n') => {
                    self.at += 2;
                    self.paint_since(self.at - 2, SegmentStyle::Operator);
                }
                _ if open.stands == CommandContent::Nothing && self.regions.is_at_pattern() => {
                    self.case_pattern();
                }
                ')' if in_parens => {
                    self.at += 1;
                    self.paint_since(self.at - 1, SegmentStyle::Operator);
                    is_closed = true;
                    break;
                }
                '#' => self.skip_comment(),
                '\n' | ';' | '&' | '|' | '(' | ')' => self.parse_operator(&mut open),
                _ => self.parse_part(&mut open),
            }
        }
        if open.is_owed && open.stands == CommandContent::Nothing {
            self.note_doubt("an unfinished list");
        }
        self.close_command(&mut open);
        if !self.regions.end_list(outside) {
            self.note_doubt("control flow");
            self.script.has_odd_regions = true;
        }
        if !is_closed {
            self.note_broken("an unfinished parenthesis");
        }
        // `()` defines a function or is an empty array, and no shell runs it as a subshell.
        if in_parens && is_empty {
            self.note_doubt("a function or an array");
        }
        self.depth -= 1;
    }

    /// Skips a comment. It counts as understood only if a shell without comments would find nothing
    /// in it.
    pub(super) fn skip_comment(&mut self) {
        let begin = self.at;
        while let Some(c) = self.peek() {
            if c == '\n' {
                break;
            }
            if !(c.is_ascii_alphanumeric() || " \t#_-.,:/+@%".contains(c)) {
                self.note_doubt("a comment with special characters");
            }
            self.at += 1;
        }
        self.paint_since(begin, SegmentStyle::Comment);
    }

    fn parse_operator(&mut self, open: &mut OpenCommand) {
        let Some(c) = self.next() else { return };
        let begin = self.at - 1;
        match c {
            '(' => {
                self.paint_since(begin, SegmentStyle::Operator);
                self.parse_group(open);
            }
            ')' => {
                self.paint_since(begin, SegmentStyle::Unclear);
                self.note_broken("a parenthesis of unknown use");
                self.close_command(open);
            }
            '\n' => {
                self.end_command(open, false, false);
                self.regions.end_statement(self.script.commands.len());
                self.here_documents();
            }
            '&' if self.peek() == Some('>') => {
                self.paint_since(begin, SegmentStyle::Operator);
                self.parse_redirect(open, true);
            }
            _ => {
                let twice = self.peek() == Some(c) || (c == '|' && self.peek() == Some('&'));
                self.at += usize::from(twice);
                self.paint_since(begin, SegmentStyle::Operator);
                self.note_break(begin, c == '&' && !twice);
                // Bash also ends a branch with `;&` and `;;&`, and zsh with `;|`.
                let ends_branch = c == ';' && (twice || matches!(self.peek(), Some('&' | '|')));
                if ends_branch {
                    self.note_doubt("control flow");
                    self.at += usize::from(matches!(self.peek(), Some('&' | '|')));
                }
                // `|&` joins as `|` does, and also passes on the errors.
                let joins = c == '|' && (!twice || self.chars.get(self.at - 1) == Some(&'&'));
                self.end_command(open, true, c == '|' || (c == '&' && twice));
                self.follow_operator(c, twice, joins, ends_branch);
            }
        }
    }

    /// Notes under which conditions the next command runs, and what it reads.
    fn follow_operator(&mut self, c: char, twice: bool, joins: bool, ends_branch: bool) {
        let commands = &mut self.script.commands;
        match c {
            _ if ends_branch => self.regions.end_branch(commands.len()),
            '|' if joins => self.regions.continue_after_pipe(commands, self.depth),
            '|' => self.regions.continue_after_or(commands.len()),
            '&' if twice => self.regions.continue_after_and(commands.len()),
            '&' => {
                self.regions.enclose_background(commands);
                self.regions.end_statement(commands.len());
            }
            _ => self.regions.end_statement(commands.len()),
        }
    }

    /// Notes that a new line may begin before an operator, unless that is an `&` on its own or
    /// belongs to a list within.
    fn note_break(&mut self, begin: usize, is_background: bool) {
        if let Some(paint) = self.paint.as_mut().filter(|_| self.depth == 1 && !is_background) {
            paint.breaks.push(begin);
        }
    }

    /// Ends a command at an operator, which may require one before it and after it.
    fn end_command(&mut self, open: &mut OpenCommand, wants_one: bool, owes_next: bool) {
        let is_there = open.stands != CommandContent::Nothing;
        let was_owed = open.is_owed;
        if wants_one && !is_there {
            self.note_doubt("an operator without a command");
        }
        self.close_command(open);
        // A line may end after `&&`, `||` and `|`; the required command is still to come.
        open.is_owed = owes_next || (was_owed && !is_there);
    }

    pub(super) fn take_word(&mut self, word: ShellWord, open: &mut OpenCommand) {
        if open.is_ended {
            self.note_doubt("a word after a redirect of all output");
        }
        self.words += 1;
        open.stands = CommandContent::Something;
        if self.words > MOST_WORDS || self.script.commands.len() >= MOST_COMMANDS {
            steps::note_omission();
            self.note_broken("more commands than are read");
            self.at = self.chars.len();
        } else if open.command.words.is_empty() && word.value_at.is_some() {
            open.command.assigns.push(word);
        } else {
            open.command.words.push(word);
        }
    }

    pub(super) fn close_command(&mut self, open: &mut OpenCommand) {
        let OpenCommand { mut command, stands, .. } = std::mem::take(open);
        if stands != CommandContent::Something {
            return;
        }
        if command.words.is_empty() {
            // An assignment on its own, such as that of `PATH`, changes what later commands do.
            self.note_doubt(if command.assigns.is_empty() {
                "no program"
            } else {
                "an assignment"
            });
        }
        self.regions.place_command(&mut command, self.depth);
        self.script.commands.push(command);
    }
}
