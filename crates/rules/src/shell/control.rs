//! Keywords, the patterns of `case`, `[[ … ]]` and arrays.

use callgate_wire::desk::SegmentStyle;

use super::arithmetic::variable_names;
use super::lists::{OpenCommand, ShellReader};
use super::quotes::ENDS;
use super::word::{ShellWord, WordExpansion, WordPiece};
use crate::steps;

impl ShellReader<'_> {
    /// Notes a keyword at the beginning of a command.
    pub(super) fn note_keyword(&mut self, word: &str) {
        if !self.regions.handle_keyword(word, self.script.commands.len()) {
            self.script.has_odd_regions = true;
        }
        self.script.has_loops |=
            matches!(word, "for" | "while" | "until" | "select" | "repeat" | "foreach");
    }

    /// Returns true if these words are `case WORD in`; patterns follow.
    pub(super) fn begins_patterns(&mut self, open: &OpenCommand) -> bool {
        let words = &open.command.words;
        let is = |at: usize, text: &str| {
            words.get(at).is_some_and(|word| !word.is_quoted && word.text() == Some(text))
        };
        let begins = (words.len() == 3 && is(0, "case") && is(2, "in"))
            || (words.len() == 1 && is(0, "in") && self.regions.awaits_in());
        if begins {
            self.regions.begin_patterns();
        }
        begins
    }

    /// Parses `a | b)` before the commands of a branch, or the `esac` after the last one.
    pub(super) fn case_pattern(&mut self) {
        loop {
            match self.peek() {
                Some('\n' | ' ' | '\t') => self.at += 1,
                Some('#') => self.skip_comment(),
                _ => break,
            }
        }
        let esac: Vec<char> = "esac".chars().collect();
        let is_esac = self.chars[self.at..].starts_with(&esac)
            && self.peek_at(4).is_none_or(|c| ENDS.contains(c));
        if is_esac || self.peek().is_none() {
            self.regions.begin_branch(self.script.commands.len());
            return;
        }
        let begin = self.at;
        // The parenthesis before a pattern is optional.
        self.eat_char('(');
        loop {
            self.skip_blanks();
            let before = self.at;
            self.parse_word();
            let is_word = self.at > before;
            self.skip_blanks();
            match self.peek() {
                Some('|') if is_word => self.at += 1,
                Some(')') if is_word => {
                    self.at += 1;
                    break;
                }
                _ => {
                    self.note_broken("a pattern of unknown form");
                    break;
                }
            }
        }
        self.paint_since(begin, SegmentStyle::Word);
        self.regions.begin_branch(self.script.commands.len());
    }

    /// Parses the rest of `[[ … ]]`, in which parentheses and arrows are operators of their own.
    pub(super) fn parse_condition(&mut self, open: &mut OpenCommand) {
        self.note_doubt("control flow");
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '&' | '|' | '(' | ')' | '<' | '>' => self.at += 1,
                ';' => break,
                _ => {
                    let begin = self.at;
                    let word = self.parse_word();
                    self.paint_since(begin, SegmentStyle::Word);
                    let is_end = !word.is_quoted && word.text() == Some("]]");
                    self.take_word(word, open);
                    if is_end {
                        return;
                    }
                }
            }
        }
        self.note_broken("an unfinished condition");
    }

    /// Notes that an element is assigned whose index has these parts. A shell evaluates it as
    /// arithmetic.
    pub(super) fn note_index(&mut self, index: &[WordPiece]) {
        self.note_doubt("an assignment to an element");
        for piece in index {
            match piece {
                WordPiece::Text(text) => self.script.numbers.extend(variable_names(text)),
                WordPiece::Expansion(expansion) => match &**expansion {
                    WordExpansion::Variable { name, .. } => self.script.numbers.push(name.clone()),
                    WordExpansion::Output { commands, .. } => {
                        self.script.number_outputs.push(commands.clone());
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// Parses the elements of an array after `NAME=`.
    pub(super) fn parse_array(&mut self, word: &mut ShellWord) {
        self.at += 1;
        self.note_doubt("a function or an array");
        let mut elements = Vec::new();
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\n') => self.at += 1,
                Some('#') => self.skip_comment(),
                Some(')') => {
                    self.at += 1;
                    break;
                }
                Some(c) if !ENDS.contains(c) && steps::spend_budget(steps::WORD) => {
                    let mut element = self.parse_word();
                    // With an index the order of the elements is not that of the words.
                    if element.first_text().starts_with('[') {
                        // `[index]=value`.
                        element = ShellWord::default();
                        element.push_piece(WordPiece::Unknown);
                    }
                    elements.push(element);
                }
                _ => {
                    self.note_broken("an unfinished array");
                    break;
                }
            }
        }
        word.push_expansion(WordExpansion::Array(elements));
    }
}
