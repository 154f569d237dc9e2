//! The parts of a command: words, keywords, subshells and functions.

use callgate_wire::desk::SegmentStyle;

use super::ShellWord;
use super::lists::{CommandContent, OpenCommand, ShellReader};
use super::names::{CONTROL, OPENERS, has};

impl ShellReader<'_> {
    pub(super) fn group(&mut self, open: &mut OpenCommand) {
        let is_for = matches!(open.command.words.as_slice(), [only] if only.text() == Some("for"));
        let is_start = open.stands == CommandContent::Nothing;
        if self.peek() == Some('(') && (is_start || is_for) && self.skip_arithmetic(0) {
            self.doubt("a parenthesis of unknown use");
            open.stands = if is_for { open.stands } else { CommandContent::Group };
            return;
        }
        if self.is_function(open) {
            self.doubt("a function or an array");
            *open = OpenCommand::default();
            return;
        }
        let is_timed =
            matches!(open.command.words.as_slice(), [only] if only.text() == Some("time"));
        if !is_start && !is_timed {
            self.broken("a parenthesis of unknown use");
        } else if self.peek() == Some('(') || is_timed {
            self.doubt("a parenthesis of unknown use");
        }
        self.close(open);
        self.region(|reader| reader.list(true));
        open.stands = CommandContent::Group;
    }

    /// Skips the `)` of `name()`, if it is next.
    pub(super) fn is_function(&mut self, open: &OpenCommand) -> bool {
        let command = &open.command;
        let is_name = command.words.len() == 1
            && command.assigns.is_empty()
            && command.redirects.is_empty()
            && command.words[0].text().is_some_and(|name| !name.is_empty());
        let blanks = self.chars[self.at..].iter().take_while(|c| matches!(c, ' ' | '\t')).count();
        let is_function = is_name && self.peek_at(blanks) == Some(')');
        if is_function {
            self.at += blanks + 1;
        }
        is_function
    }

    /// Parses a word or a redirect.
    pub(super) fn part(&mut self, open: &mut OpenCommand) {
        if self.is_redirect() {
            self.redirect(open, false);
            return;
        }
        let before = self.at;
        let mut word = self.word();
        debug_assert!(self.at > before, "a word has characters");
        let is_descriptor = matches!(self.peek(), Some('<' | '>'))
            && word.text().is_some_and(|text| text.starts_with('{') && text.ends_with('}'));
        if is_descriptor {
            // `{NAME}>file` puts the number of the file into a variable.
            self.doubt("a brace expansion");
            return;
        }
        if open.stands == CommandContent::Group {
            self.doubt("a word after a parenthesis");
            self.close(open);
        }
        let is_loop =
            matches!(open.command.words.as_slice(), [first, _] if first.text() == Some("for"));
        if is_loop && !word.is_quoted && word.text() == Some("do") {
            // `for NAME do` goes through the arguments.
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
            self.note_keyword(word.text().unwrap_or_default());
            return;
        }
        if word.value_at == Some(word.first_text().len()) && self.peek() == Some('(') {
            self.array(&mut word);
        }
        if self.paint.is_some() {
            self.paint(before, style_of(&word, open));
        }
        let is_test = open.command.words.is_empty() && !word.is_quoted && word.text() == Some("[[");
        self.take(word, open);
        if is_test {
            self.condition(open);
        }
        if self.begins_patterns(open) {
            self.close(open);
        }
    }

    /// Skips the keywords at the beginning of a command.
    pub(super) fn is_keyword(&mut self, word: &ShellWord, open: &mut OpenCommand) -> bool {
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
            if text != "}" {
                self.note_keyword(text);
            }
        }
        has(OPENERS, text)
    }
}

/// Returns what a word of a command is.
fn style_of(word: &ShellWord, open: &OpenCommand) -> SegmentStyle {
    let text = word.first_text();
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
