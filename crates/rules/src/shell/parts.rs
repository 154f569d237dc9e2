//! The parts of a command: words, keywords, subshells and functions.

use callgate_wire::desk::SegmentStyle;

use super::ShellWord;
use super::lists::{CommandContent, OpenCommand, ShellReader};
use super::names::{CONTROL, DECLARERS, OPENERS};

impl ShellReader<'_> {
    pub(super) fn parse_group(&mut self, open: &mut OpenCommand) {
        let is_for = matches!(open.command.words.as_slice(), [only] if only.text() == Some("for"));
        let is_start = open.stands == CommandContent::Nothing;
        // Arithmetic is tried first; what is not arithmetic after all is read as a subshell below.
        if self.peek() == Some('(') && (is_start || is_for) && self.skip_arithmetic(0) {
            self.note_doubt("a parenthesis of unknown use");
            open.stands = if is_for { open.stands } else { CommandContent::Group };
            return;
        }
        if self.is_function(open) {
            self.note_doubt("a function or an array");
            // The name is defined here, and not run.
            let defined = std::mem::take(open).command;
            self.script.functions.extend(defined.words.iter().map(ShellWord::first_text));
            return;
        }
        let is_timed =
            matches!(open.command.words.as_slice(), [only] if only.text() == Some("time"));
        if !is_start && !is_timed {
            self.note_broken("a parenthesis of unknown use");
        } else if self.peek() == Some('(') || is_timed {
            self.note_doubt("a parenthesis of unknown use");
        }
        self.close_command(open);
        self.parse_region(|reader| reader.parse_list(true));
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

    pub(super) fn parse_part(&mut self, open: &mut OpenCommand) {
        if self.is_redirect() {
            self.parse_redirect(open, false);
            return;
        }
        let before = self.at;
        let mut word = self.parse_word();
        debug_assert!(self.at > before, "a word has characters");
        let is_descriptor = matches!(self.peek(), Some('<' | '>'))
            && word.text().is_some_and(|text| text.starts_with('{') && text.ends_with('}'));
        if is_descriptor {
            // `{NAME}>file` puts the number of the file into a variable.
            self.note_doubt("a brace expansion");
            return;
        }
        if open.stands == CommandContent::Group {
            self.note_doubt("a word after a parenthesis");
            self.close_command(open);
        }
        let is_loop =
            matches!(open.command.words.as_slice(), [first, _] if first.text() == Some("for"));
        if is_loop && !word.is_quoted && word.text() == Some("do") {
            // `for NAME do` goes through the arguments.
            self.close_command(open);
        }
        if open.command.words.is_empty() && self.is_keyword(&word, open) {
            self.paint_since(before, SegmentStyle::Operator);
            return;
        }
        if !word.is_quoted && matches!(word.text(), Some("{" | "}")) {
            self.paint_since(before, SegmentStyle::Operator);
            self.note_doubt("control flow");
            self.close_command(open);
            self.note_keyword(word.text().unwrap_or_default());
            return;
        }
        let assigns =
            || open.command.words.first().is_none_or(|program| program.could_name(DECLARERS));
        if word.has_open_index() && assigns() {
            // Some shells read an index up to its end, whatever is in it.
            self.note_broken("an index of unknown form");
        }
        if word.value_at == Some(word.first_text().len()) && self.peek() == Some('(') {
            self.parse_array(&mut word);
        }
        if self.paint.is_some() {
            self.paint_since(before, style_of(&word, open));
        }
        let is_test = open.command.words.is_empty() && !word.is_quoted && word.text() == Some("[[");
        self.take_word(word, open);
        if is_test {
            self.parse_condition(open);
        }
        if self.begins_patterns(open) {
            self.close_command(open);
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
        if CONTROL.contains(text) {
            self.note_doubt("control flow");
            // The caller notes the brace, which it also knows behind other words.
            if text != "}" {
                self.note_keyword(text);
            }
        }
        OPENERS.contains(text)
    }
}

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
