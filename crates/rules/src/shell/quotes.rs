//! One word: quotes, escapes and expansions.

use callgate_wire::desk::SegmentStyle;

use super::lists::ShellReader;
use super::word::{ShellWord, WordPiece};
use crate::steps;

impl ShellReader<'_> {
    /// Parses a word up to the blank or operator that ends it.
    pub(super) fn word(&mut self) -> ShellWord {
        let mut word = ShellWord::default();
        if !steps::spend(steps::WORD) {
            self.stop();
            return word;
        }
        let begin = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    self.at += 1;
                    self.single(&mut word);
                }
                '"' => {
                    self.at += 1;
                    self.double(&mut word);
                }
                '\\' => self.backslash(&mut word),
                '$' => {
                    self.at += 1;
                    self.dollar(&mut word, false);
                }
                '`' => self.backticks(&mut word),
                '{' | '}' => self.brace(&mut word),
                _ => {
                    self.at += 1;
                    self.plain(c, self.at - 1 == begin, &mut word);
                }
            }
        }
        word
    }

    /// Parses a character outside quotes that does not end the word.
    fn plain(&mut self, c: char, is_first: bool, word: &mut ShellWord) {
        match c {
            '*' | '?' => word.push_piece(WordPiece::Glob(c)),
            '[' if !(is_first && self.ends_word()) => word.push_piece(WordPiece::Glob('[')),
            '~' => self.tilde(is_first, word),
            '=' if is_first => {
                self.paint(self.at - 1, SegmentStyle::Unclear);
                self.doubt("a character with a special meaning");
                word.push(c);
            }
            '=' => {
                if !word.has_equals && !word.is_quoted {
                    word.value_at =
                        word.text().filter(|name| is_assignable(name)).map(|name| name.len() + 1);
                }
                word.has_equals = true;
                word.push(c);
            }
            '!' if !(is_first && self.ends_word()) => {
                self.paint(self.at - 1, SegmentStyle::Unclear);
                self.doubt("a character with a special meaning");
                word.push(c);
            }
            c if c.is_ascii_graphic() => word.push(c),
            // Shells differ in how they treat blanks of other alphabets and control characters.
            c => {
                self.paint(self.at - 1, SegmentStyle::Unclear);
                self.doubt("an unquoted character that is not ASCII");
                word.push(c);
            }
        }
    }

    /// Returns true if the word is complete.
    fn ends_word(&self) -> bool {
        self.peek().is_none_or(|c| " \t\n;&|<>()".contains(c))
    }

    /// Parses a `~`, which is the home at the beginning of a word, and may be after `=` and `:`.
    fn tilde(&mut self, is_first: bool, word: &mut ShellWord) {
        if is_first && (self.peek() == Some('/') || self.ends_word()) {
            word.push_text(self.home);
            word.is_quoted = true;
        } else if is_first || word.ends_with(['=', ':']) {
            self.paint(self.at - 1, SegmentStyle::Unclear);
            self.doubt("a tilde of unknown meaning");
            word.push_piece(WordPiece::Unknown);
        } else {
            word.push('~');
        }
    }

    /// Parses a `{` or `}`. They are literal when alone and around a name: `{}`, `HEAD@{1}`.
    fn brace(&mut self, word: &mut ShellWord) {
        let Some(c) = self.next() else { return };
        let is_name = |c: &&char| c.is_ascii_alphanumeric() || "_-/:@^".contains(**c);
        let name: String = self.chars[self.at..].iter().take_while(is_name).collect();
        let is_alone = word.is_empty() && self.ends_word();
        if c == '{'
            && self.peek_at(name.len()) == Some('}')
            && (name.is_empty() || !word.is_empty())
        {
            self.at += name.len() + 1;
            word.push_text(&format!("{{{name}}}"));
        } else if is_alone {
            word.push(c);
        } else {
            self.paint(self.at - 1, SegmentStyle::Variable);
            self.doubt("a brace expansion");
            word.push_piece(WordPiece::Unknown);
            self.alternatives();
        }
    }

    /// Keeps the rest of a word with braces as words that may be run. It includes that of nested
    /// braces.
    fn alternatives(&mut self) {
        if self.at < self.kept_to {
            return;
        }
        let goes_on = |c: &&char| !" \t\n;&|<>()".contains(**c);
        let rest: String = self.chars[self.at..].iter().take_while(goes_on).collect();
        self.kept_to = self.at + rest.chars().count();
        self.script.bodies.push(rest.replace(['{', '}', ','], " "));
    }

    fn single(&mut self, word: &mut ShellWord) {
        let begin = self.at - 1;
        word.is_quoted = true;
        while let Some(c) = self.next() {
            match c {
                '\'' => return self.paint(begin, SegmentStyle::String),
                '\0' => self.doubt("a NUL"),
                c => word.push(c),
            }
        }
        self.paint(begin, SegmentStyle::Unclear);
        self.broken("an unfinished quote");
    }

    pub(super) fn double(&mut self, word: &mut ShellWord) {
        let begin = self.at - 1;
        word.is_quoted = true;
        while let Some(c) = self.peek() {
            match c {
                '`' => {
                    self.backticks(word);
                    continue;
                }
                '"' => {
                    self.at += 1;
                    return self.paint(begin, SegmentStyle::String);
                }
                '$' => {
                    self.at += 1;
                    self.dollar(word, true);
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
                '\0' => self.doubt("a NUL"),
                c => word.push(c),
            }
            self.at += 1;
        }
        self.paint(begin, SegmentStyle::Unclear);
        self.broken("an unfinished quote");
    }

    /// Parses a whole here-document: all of it is text except for its expansions.
    pub(super) fn document(&mut self) {
        let mut word = ShellWord::default();
        while let Some(c) = self.peek() {
            match c {
                '`' => self.backticks(&mut word),
                '$' => {
                    self.at += 1;
                    self.dollar(&mut word, true);
                }
                '\\' => {
                    self.at += 1;
                    self.next();
                }
                _ => self.at += 1,
            }
        }
    }

    fn backslash(&mut self, word: &mut ShellWord) {
        self.at += 1;
        match self.next() {
            Some('\n') if word.is_empty() => {}
            Some('\n') => self.doubt("a line break within a word"),
            Some(c) if c.is_ascii_graphic() || c == ' ' || c == '\t' => {
                word.is_quoted = true;
                word.push(c);
            }
            Some(c) => {
                self.doubt("an unquoted character that is not ASCII");
                word.push(c);
            }
            None => self.doubt("a backslash at the end"),
        }
    }

    /// Parses what follows a `$`.
    fn dollar(&mut self, word: &mut ShellWord, in_quotes: bool) {
        let begin = self.at - 1;
        self.expansion(word, in_quotes);
        self.paint(begin, SegmentStyle::Variable);
    }

    fn expansion(&mut self, word: &mut ShellWord, in_quotes: bool) {
        match self.peek() {
            Some('\'') if !in_quotes => {
                self.at += 1;
                self.ansi(word);
            }
            Some('"') if !in_quotes => {
                self.at += 1;
                self.doubt("a translated text");
                self.double(word);
            }
            Some('(') => {
                self.at += 1;
                self.paint(self.at - 2, SegmentStyle::Operator);
                self.doubt("a substitution");
                word.push_piece(WordPiece::Unknown);
                self.list(true);
            }
            Some('{') => {
                self.at += 1;
                self.braced(word);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.variable(word, in_quotes),
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                self.doubt("a variable");
                word.push_piece(WordPiece::Unknown);
            }
            Some('"' | ' ' | '\t' | '\n') => word.push('$'),
            None if !in_quotes => word.push('$'),
            _ => {
                self.doubt("a character with a special meaning");
                word.push('$');
            }
        }
    }

    fn variable(&mut self, word: &mut ShellWord, in_quotes: bool) {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        self.expand(&name, in_quotes, word);
    }

    /// Parses a variable. Only the home is known.
    fn expand(&mut self, name: &str, in_quotes: bool, word: &mut ShellWord) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
        let is_whole = in_quotes || self.home.chars().all(is_plain);
        // A shell may read a colon or a bracket after the name as a part of the expansion.
        let is_ended = self.ends_word() || matches!(self.peek(), Some('/' | '"'));
        if name == "HOME" && is_whole && is_ended {
            word.push_text(self.home);
            word.is_quoted = true;
        } else {
            self.doubt("a variable");
            word.push_piece(WordPiece::Unknown);
        }
    }

    /// Parses `${…}`, which may contain commands.
    fn braced(&mut self, word: &mut ShellWord) {
        let rest = &self.chars[self.at..];
        if rest.starts_with(&['H', 'O', 'M', 'E', '}']) {
            self.at += 5;
            self.expand("HOME", false, word);
            return;
        }
        self.doubt("a variable");
        let has_value = self.is_followed_by_value();
        let mut inside = ShellWord::default();
        self.depth += 1;
        if self.depth > super::DEEPEST {
            steps::cut();
            self.at = self.chars.len();
        }
        while let Some(c) = self.next() {
            match c {
                '}' => {
                    self.depth -= 1;
                    self.script.bodies.push(inside.known_text());
                    if has_value {
                        word.push_alternative(inside);
                    } else {
                        word.push_piece(WordPiece::Unknown);
                    }
                    return;
                }
                '\'' => self.single(&mut inside),
                '"' => self.double(&mut inside),
                '\\' => {
                    self.next();
                }
                '$' => self.dollar(&mut inside, false),
                '`' => {
                    self.at -= 1;
                    self.backticks(&mut inside);
                }
                c => inside.push(c),
            }
        }
        self.depth -= 1;
        word.push_piece(WordPiece::Unknown);
        self.broken("an unfinished expansion");
    }

    /// Skips the name and the operator of `${NAME:-value}` and the like, if they are next.
    fn is_followed_by_value(&mut self) -> bool {
        let is_name = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
        let rest = &self.chars[self.at..];
        let special = usize::from(matches!(rest.first(), Some('@' | '*' | '!' | '#' | '?' | '$')));
        let name = special + rest[special..].iter().take_while(is_name).count();
        let colon = usize::from(rest.get(name) == Some(&':'));
        let has_value = matches!(rest.get(name + colon), Some('-' | '=' | '+'));
        if has_value {
            self.at += name + colon + 1;
        }
        has_value
    }

    /// Parses `` `…` ``, a command line with one more level of backslashes.
    fn backticks(&mut self, word: &mut ShellWord) {
        let begin = self.at;
        self.at += 1;
        self.doubt("a substitution");
        word.push_piece(WordPiece::Unknown);
        let mut inside = String::new();
        loop {
            match self.next() {
                None => {
                    self.broken("an unfinished quote");
                    break;
                }
                Some('`') => break,
                Some('\\') if matches!(self.peek(), Some('`' | '\\' | '$' | '"')) => {
                    inside.extend(self.next());
                }
                Some(c) => inside.push(c),
            }
        }
        self.paint(begin, SegmentStyle::Variable);
        if self.depth >= super::DEEPEST {
            return self.stop_nesting();
        }
        let script = super::lists::read(&inside, self.home, self.depth);
        self.add_inner(script);
    }
}

/// Returns true if `NAME`, `NAME+` or `NAME[…]` before a `=` is the name of a variable.
fn is_assignable(name: &str) -> bool {
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
