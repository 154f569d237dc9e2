//! Redirects and here-documents.

use callgate_wire::desk::SegmentStyle;

use super::ShellWord;
use super::lists::{CommandContent, HereDocument, OpenCommand, ShellReader};
use crate::steps;

impl ShellReader<'_> {
    /// Returns true if a redirect is next, with or without the number of the file descriptor.
    pub(super) fn is_redirect(&self) -> bool {
        let digits = self.chars[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
        matches!(self.peek_at(digits), Some('<' | '>'))
    }

    /// Parses a redirect, of both outputs if there was an `&` before it.
    pub(super) fn parse_redirect(&mut self, open: &mut OpenCommand, is_both: bool) {
        let begin = self.at;
        let mut number = String::new();
        while let Some(c) = self.peek().filter(char::is_ascii_digit) {
            number.push(c);
            self.at += 1;
        }
        let Some(arrow) = self.next() else { return };
        if !steps::spend_budget(steps::WORD) {
            self.stop_reading();
            return;
        }
        open.stands = CommandContent::Something;
        match (arrow, self.peek()) {
            (_, Some('(')) => {
                self.at += 1;
                self.paint_since(begin, SegmentStyle::Operator);
                self.note_doubt("a substitution");
                // `<(…)` feeds the command, and `>(…)` is fed by it.
                open.command.is_piped |= arrow == '<';
                self.parse_region(|reader| reader.parse_list(true));
            }
            ('<', Some(_)) if self.is_numeric_range() => {
                self.note_broken("a range of numbers in a name");
            }
            ('<', Some('<')) => self.parse_here_operator(open, begin),
            _ => {
                let copies = !is_both && self.eat_char('&');
                // After `<` this is `<>`, which opens the file for writing, too.
                let is_double = !copies && self.eat_char('>');
                if !copies && !is_double && arrow == '>' {
                    // `>|` writes like `>`, even to a file that the shell was told to protect.
                    self.eat_char('|');
                }
                self.paint_since(begin, SegmentStyle::Operator);
                let target = self.parse_target();
                open.is_ended |= is_both;
                if !is_harmless_redirect(&number, copies, &target) || (copies && arrow == '<') {
                    self.note_doubt("a redirect to or from a file");
                }
                open.command.reads_file |= arrow == '<' && !copies;
                if (arrow == '>' || is_double) && !(copies && is_descriptor(&target)) {
                    open.command.written.push(target.clone());
                }
                open.command.redirects.push(target);
            }
        }
    }

    /// Returns the word after a redirect; an empty one if there is none.
    fn parse_target(&mut self) -> ShellWord {
        self.skip_blanks();
        match self.peek() {
            None | Some('\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' | '#') => {
                self.note_doubt("a redirect without a file");
                ShellWord::default()
            }
            _ => {
                let begin = self.at;
                let word = self.parse_word();
                self.paint_since(begin, SegmentStyle::Path);
                word
            }
        }
    }

    /// Parses `<<`, `<<-` and `<<<`.
    fn parse_here_operator(&mut self, open: &mut OpenCommand, begin: usize) {
        self.at += 1;
        open.command.is_piped = true;
        open.command.has_here_text = true;
        self.note_doubt("input written into the command");
        if self.eat_char('<') {
            self.paint_since(begin, SegmentStyle::Operator);
            let text = self.parse_target();
            self.script.bodies.push(text.first_text());
            // Its commands are found; the text itself is not a file.
            return;
        }
        let strips_tabs = self.eat_char('-');
        self.paint_since(begin, SegmentStyle::Operator);
        self.skip_blanks();
        let begin = self.at;
        let end = self.parse_target().gapped_text();
        let raw = &self.chars[begin..self.at.max(begin)];
        // In the word that ends it, only quotes are special, and they keep the text as it is.
        let is_literal = raw.iter().any(|c| matches!(c, '\'' | '"' | '\\'));
        let end = if is_literal { end } else { raw.iter().collect() };
        self.here.push(HereDocument { end, strips_tabs, is_literal });
    }

    /// Reads the here-documents that begin after this line end.
    pub(super) fn here_documents(&mut self) {
        for HereDocument { end, strips_tabs, is_literal } in std::mem::take(&mut self.here) {
            let begin = self.at;
            let mut body = String::new();
            while self.at < self.chars.len() {
                let line = self.take_line();
                let trimmed = if strips_tabs { line.trim_start_matches('\t') } else { &line };
                if trimmed == end {
                    break;
                }
                // Shells differ in whether such a line ends the document.
                let is_near = trimmed.starts_with(&end) && !end.is_empty();
                if is_near || (!is_literal && line.ends_with('\\')) {
                    self.note_broken("a here-document of uncertain end");
                }
                body.push_str(&line);
                body.push('\n');
            }
            self.paint_since(begin, SegmentStyle::String);
            if !is_literal {
                self.find_expansions(&body);
                // The program that reads it gets it without these backslashes.
                if body.contains('\\') {
                    let plain = body.replace("\\$", "$").replace("\\`", "`").replace("\\\\", "\\");
                    self.script.bodies.push(plain);
                }
            }
            // Also if nothing in it is expanded, because a shell may run it.
            self.script.bodies.push(body);
        }
    }

    /// Finds the commands that the shell runs to expand a here-document.
    fn find_expansions(&mut self, body: &str) {
        self.parse_inside(body.chars().collect(), |reader| {
            reader.parse_region(Self::parse_here_document);
        });
    }

    /// Returns true if `1-9>` follows, which one shell takes for a pattern.
    fn is_numeric_range(&self) -> bool {
        let mut rest = self.chars[self.at..].iter().skip_while(|c| c.is_ascii_digit());
        let has_dash = rest.next() == Some(&'-');
        has_dash && rest.find(|c| !c.is_ascii_digit()) == Some(&'>')
    }

    fn take_line(&mut self) -> String {
        let line: String = self.chars[self.at..].iter().take_while(|c| **c != '\n').collect();
        self.at = (self.at + line.chars().count() + 1).min(self.chars.len());
        line
    }
}

/// Returns true if the word after `>&` is not a file: a number, or `-`.
fn is_descriptor(target: &ShellWord) -> bool {
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    target.text().is_some_and(is_number)
}

/// Returns true if a redirect only changes which output is seen.
fn is_harmless_redirect(number: &str, copies: bool, target: &ShellWord) -> bool {
    let is_standard = matches!(number, "" | "0" | "1" | "2");
    match target.text() {
        Some("/dev/null") => is_standard,
        Some("1" | "2") => copies && is_standard && number != "0",
        _ => false,
    }
}
