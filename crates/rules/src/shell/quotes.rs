//! One word: quotes, escapes and expansions.

use callgate_wire::desk::SegmentStyle;

use super::lists::ShellReader;
use super::word::{GAP, ShellWord, ValueChange, WordExpansion, WordPiece, is_variable_name};
use crate::steps;

/// The characters that end a word outside quotes.
pub(super) const ENDS: &str = " \t\n;&|<>()";

impl ShellReader<'_> {
    /// Parses a word up to the blank or operator that ends it.
    pub(super) fn parse_word(&mut self) -> ShellWord {
        let mut word = ShellWord::default();
        if !steps::spend_budget(steps::WORD) {
            self.stop_reading();
            return word;
        }
        let begin = self.at;
        while let Some(c) = self.peek().filter(|c| !ENDS.contains(*c)) {
            self.word_part(c, self.at == begin, &mut word);
        }
        word
    }

    /// Parses the next part of a word, which begins with this character.
    pub(super) fn word_part(&mut self, c: char, is_first: bool, word: &mut ShellWord) {
        match c {
            '\'' => {
                self.at += 1;
                self.parse_single_quote(word);
            }
            '"' => {
                self.at += 1;
                self.parse_double_quote(word);
            }
            '\\' => self.parse_backslash(word),
            '$' => {
                self.at += 1;
                self.parse_dollar(word, false);
            }
            '`' => self.parse_backticks(word, false),
            '{' | '}' => self.parse_brace(word),
            _ => {
                self.at += 1;
                self.parse_plain(c, is_first, word);
            }
        }
    }

    /// Parses a character outside quotes that does not end the word.
    fn parse_plain(&mut self, c: char, is_first: bool, word: &mut ShellWord) {
        match c {
            '*' | '?' => word.push_piece(WordPiece::Glob(c)),
            // A `[` alone is a program.
            '[' if !(is_first && self.ends_word()) => word.push_piece(WordPiece::Glob('[')),
            '~' => self.parse_tilde(is_first, word),
            '=' if is_first => {
                self.paint_since(self.at - 1, SegmentStyle::Unclear);
                self.note_doubt("a character with a special meaning");
                // One shell puts the path of the program there whose name follows.
                let choice = [ShellWord::known("="), ShellWord::known("/usr/bin/")];
                word.push_expansion(WordExpansion::Choice(choice.into()));
            }
            '=' => {
                if word.value_at.is_none() {
                    word.value_at = self.find_value(word);
                }
                word.has_equals = true;
                word.push(c);
            }
            // An interactive shell puts an earlier command in its place.
            '!' if !(is_first && self.ends_word()) => {
                self.paint_since(self.at - 1, SegmentStyle::Unclear);
                self.note_doubt("a character with a special meaning");
                word.push(c);
            }
            c if c.is_ascii_graphic() => word.push(c),
            // A gap in a text that is itself a word.
            GAP => self.take_gap(word),
            // Shells differ in how they treat blanks of other alphabets and control characters.
            c => {
                self.paint_since(self.at - 1, SegmentStyle::Unclear);
                self.note_doubt("an unquoted character that is not ASCII");
                word.push(c);
            }
        }
    }

    /// Returns where the value begins if the text before a `=` makes the word an assignment.
    fn find_value(&mut self, word: &ShellWord) -> Option<usize> {
        if let Some(name) = word.text() {
            let is_name = !word.has_equals && !word.is_quoted && is_assignable(name);
            return is_name.then(|| name.len() + 1);
        }
        self.note_index(word.element_index()?);
        Some(word.first_text().len() + 1)
    }

    pub(super) fn ends_word(&self) -> bool {
        self.peek().is_none_or(|c| ENDS.contains(c))
    }

    /// Parses a `~`, which is the home at the beginning of a word, and may be after `=` and `:`.
    fn parse_tilde(&mut self, is_first: bool, word: &mut ShellWord) {
        if is_first && (self.peek() == Some('/') || self.ends_word()) {
            // A shell neither splits nor expands what a tilde has become.
            word.push_text(self.home);
            word.is_quoted = true;
        } else if is_first || word.ends_with(['=', ':']) {
            self.paint_since(self.at - 1, SegmentStyle::Unclear);
            self.note_doubt("a tilde of unknown meaning");
            if is_first || !(self.peek() == Some('/') || self.ends_word()) {
                // The name of a user, or a folder in which the shell was.
                let is_name = |c: &char| c.is_ascii_alphanumeric() || "_+-.".contains(*c);
                while self.peek().as_ref().is_some_and(is_name) {
                    self.at += 1;
                }
                return word.push_piece(WordPiece::Unknown);
            }
            let choice = [ShellWord::known(self.home), ShellWord::known("~")];
            word.push_expansion(WordExpansion::Choice(choice.into()));
        } else {
            word.push('~');
        }
    }

    pub(super) fn parse_single_quote(&mut self, word: &mut ShellWord) {
        let begin = self.at - 1;
        word.is_quoted = true;
        while let Some(c) = self.next() {
            match c {
                '\'' => return self.paint_since(begin, SegmentStyle::String),
                GAP => self.take_gap(word),
                c => word.push(c),
            }
        }
        self.paint_since(begin, SegmentStyle::Unclear);
        self.note_broken("an unfinished quote");
    }

    /// Takes a gap for anything: what is not known of a text, which a shell reads as a line.
    fn take_gap(&mut self, word: &mut ShellWord) {
        self.note_doubt("a NUL");
        self.script.has_gaps = true;
        word.push_piece(WordPiece::Unknown);
    }

    pub(super) fn parse_double_quote(&mut self, word: &mut ShellWord) {
        let begin = self.at - 1;
        word.is_quoted = true;
        while let Some(c) = self.peek() {
            match c {
                '`' => {
                    self.parse_backticks(word, true);
                    continue;
                }
                '"' => {
                    self.at += 1;
                    return self.paint_since(begin, SegmentStyle::String);
                }
                '$' => {
                    self.at += 1;
                    self.parse_dollar(word, true);
                    continue;
                }
                '\\' => match self.peek_at(1) {
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                        self.at += 1;
                        word.push(escaped);
                    }
                    Some('\n') => self.at += 1,
                    _ => word.push('\\'),
                },
                GAP => self.take_gap(word),
                c => word.push(c),
            }
            self.at += 1;
        }
        self.paint_since(begin, SegmentStyle::Unclear);
        self.note_broken("an unfinished quote");
    }

    /// Parses a whole here-document: all of it is text except for its expansions.
    pub(super) fn parse_here_document(&mut self) {
        let mut word = ShellWord::default();
        while let Some(c) = self.peek() {
            match c {
                '`' => self.parse_backticks(&mut word, true),
                '$' => {
                    self.at += 1;
                    self.parse_dollar(&mut word, true);
                }
                '\\' => {
                    self.at += 1;
                    self.next();
                }
                _ => self.at += 1,
            }
        }
    }

    fn parse_backslash(&mut self, word: &mut ShellWord) {
        self.at += 1;
        match self.next() {
            Some('\n') if word.is_empty() => {}
            Some('\n') => self.note_doubt("a line break within a word"),
            Some(c) if c.is_ascii_graphic() || c == ' ' || c == '\t' => {
                word.is_quoted = true;
                word.push(c);
            }
            Some(c) => {
                self.note_doubt("an unquoted character that is not ASCII");
                word.push(c);
            }
            None => self.note_doubt("a backslash at the end"),
        }
    }

    pub(super) fn parse_dollar(&mut self, word: &mut ShellWord, in_quotes: bool) {
        let begin = self.at - 1;
        self.parse_expansion(word, in_quotes);
        self.paint_since(begin, SegmentStyle::Variable);
    }

    fn parse_expansion(&mut self, word: &mut ShellWord, is_quoted: bool) {
        match self.peek() {
            Some('\'') if !is_quoted => {
                self.at += 1;
                self.parse_ansi_quote(word);
            }
            Some('"') if !is_quoted => {
                self.at += 1;
                self.note_doubt("a translated text");
                self.parse_double_quote(word);
            }
            // What turns out not to be arithmetic is a substitution that begins with a subshell.
            Some('(') if self.peek_at(1) == Some('(') && self.skip_arithmetic(1) => {
                self.note_doubt("a substitution");
                word.push_piece(WordPiece::Digits);
            }
            Some('(') => {
                self.at += 1;
                self.paint_since(self.at - 2, SegmentStyle::Operator);
                self.note_doubt("a substitution");
                let begin = self.script.commands.len();
                self.parse_region(|reader| reader.parse_list(true));
                let commands = begin..self.script.commands.len();
                word.push_expansion(WordExpansion::Output { commands, is_quoted });
            }
            Some('{') => {
                self.at += 1;
                self.parse_braced(word, is_quoted);
            }
            Some('[') => {
                self.note_broken("arithmetic in brackets");
                word.push_piece(WordPiece::Unknown);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.parse_variable(word, is_quoted),
            Some('#' | '?' | '$' | '!') => {
                self.at += 1;
                self.note_doubt("a variable");
                word.push_piece(WordPiece::Digits);
            }
            Some(c) if c.is_ascii_digit() || "@*-".contains(c) => {
                self.at += 1;
                self.note_doubt("a variable");
                let name = c.to_string();
                let change = ValueChange::Keep;
                word.push_expansion(WordExpansion::Variable { name, is_quoted, change });
            }
            // Marks of one shell before the name.
            Some('~' | '=' | '^' | '+')
                if self.peek_at(1).is_some_and(|c| c.is_ascii_alphabetic() || c == '_') =>
            {
                self.note_doubt("a character with a special meaning");
                word.push_piece(WordPiece::Unknown);
            }
            Some('"' | ' ' | '\t' | '\n') => word.push('$'),
            None if !is_quoted => word.push('$'),
            _ => {
                self.note_doubt("a character with a special meaning");
                word.push('$');
            }
        }
    }

    fn parse_variable(&mut self, word: &mut ShellWord, is_quoted: bool) {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        self.push_variable(name, is_quoted, word);
    }

    /// Parses a variable. Only the home is known.
    pub(super) fn push_variable(&mut self, name: String, is_quoted: bool, word: &mut ShellWord) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
        // A home with blanks or wildcards would become several words without quotes.
        let is_whole = is_quoted || self.home.chars().all(is_plain);
        // A shell may read a colon or a bracket after the name as a part of the expansion.
        let is_ended = self.ends_word() || matches!(self.peek(), Some('/' | '"'));
        if name == "HOME" && is_whole && is_ended {
            word.push_text(self.home);
            word.is_quoted = true;
            return;
        }
        self.note_doubt("a variable");
        let is_odd = matches!(self.peek(), Some(':' | '['));
        let change = if is_odd { ValueChange::Other } else { ValueChange::Keep };
        word.push_expansion(WordExpansion::Variable { name, is_quoted, change });
    }

    /// Parses `` `…` ``, a command line with one more level of backslashes.
    pub(super) fn parse_backticks(&mut self, word: &mut ShellWord, is_quoted: bool) {
        let begin = self.at;
        self.at += 1;
        self.note_doubt("a substitution");
        let mut inside = Vec::new();
        loop {
            match self.next() {
                None => {
                    self.note_broken("an unfinished quote");
                    break;
                }
                Some('`') => break,
                Some('\\') if matches!(self.peek(), Some('`' | '\\' | '$' | '"')) => {
                    inside.extend(self.next());
                }
                Some(c) => inside.push(c),
            }
        }
        self.paint_since(begin, SegmentStyle::Variable);
        let first = self.script.commands.len();
        self.parse_inside(inside, |reader| reader.parse_region(|reader| reader.parse_list(false)));
        let commands = first..self.script.commands.len();
        word.push_expansion(WordExpansion::Output { commands, is_quoted });
    }
}

/// Returns true if the text before a `=` is the name of a variable, perhaps with the `+` of `+=`.
fn is_assignable(name: &str) -> bool {
    is_variable_name(name.strip_suffix('+').unwrap_or(name))
}
