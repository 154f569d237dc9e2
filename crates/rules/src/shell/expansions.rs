//! Expansions with braces: `${NAME…}`, which may contain commands, and `{a,b}`.

use callgate_wire::desk::SegmentStyle;

use super::lists::{DefaultValue, ShellReader};
use super::quotes::ENDS;
use super::word::{ShellWord, ValueChange, WordExpansion, WordPiece};
use crate::steps;

/// The longest sequence such as `{a..f}` whose members are written out.
const LONGEST_SEQUENCE: u32 = 26;

/// The operator after the name in `${NAME…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BracedOperator {
    None,
    Default,
    Assign,
    Instead,
    Fail,
    CutPrefix,
    CutSuffix,
    Other,
}

impl ShellReader<'_> {
    /// Parses `${…}`, which may contain commands.
    pub(super) fn parse_braced(&mut self, word: &mut ShellWord, is_quoted: bool) {
        let rest = &self.chars[self.at..];
        if rest.starts_with(&['H', 'O', 'M', 'E', '}']) {
            self.at += 5;
            return self.push_variable("HOME".into(), false, word);
        }
        self.note_doubt("a variable");
        if self.peek() == Some('(') {
            // Flags of one shell, of which some evaluate the value.
            self.note_broken("an expansion with flags");
        }
        let is_length = self.peek() == Some('#')
            && self.peek_at(1).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        self.at += usize::from(is_length);
        let name = self.braced_name();
        let elements = self.skip_subscript();
        let operator = self.braced_operator();
        if operator == BracedOperator::Other && self.peek() == Some('@') {
            self.note_broken("an expansion that evaluates its value");
        }
        let Some(inside) = self.braced_word(is_quoted, operator) else {
            word.push_piece(WordPiece::Unknown);
            return self.note_broken("an unfinished expansion");
        };
        // What is inserted may be run as a line, for example by `eval`.
        self.script.bodies.push(inside.first_text());
        if operator == BracedOperator::Assign {
            let value = DefaultValue { name: name.clone(), value: inside.clone() };
            self.script.defaults.push(value);
        }
        let is_odd = name.is_empty() || elements.is_none();
        let change = match operator {
            _ if is_odd => ValueChange::Other,
            _ if is_length => ValueChange::Length,
            BracedOperator::None | BracedOperator::Fail if elements == Some(true) => {
                ValueChange::Elements
            }
            BracedOperator::None | BracedOperator::Fail => ValueChange::Keep,
            BracedOperator::Default | BracedOperator::Assign => ValueChange::Default(inside),
            BracedOperator::Instead => ValueChange::Instead(inside),
            BracedOperator::CutPrefix => ValueChange::CutPrefix(inside),
            BracedOperator::CutSuffix => ValueChange::CutSuffix(inside),
            BracedOperator::Other => ValueChange::Other,
        };
        word.push_expansion(WordExpansion::Variable { name, is_quoted, change });
    }

    /// Skips the name of a variable; an empty one if something else is next.
    fn braced_name(&mut self) -> String {
        let is_name = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
        let rest = &self.chars[self.at..];
        let mut length = rest.iter().take_while(is_name).count();
        if length == 0 && matches!(rest.first(), Some('@' | '*')) {
            length = 1;
        }
        let name = rest[..length].iter().collect();
        self.at += length;
        name
    }

    /// Skips `[…]` after a name: true if it stands for all elements, none if it is not known for
    /// which, and false if there is no subscript, or one of a single element.
    fn skip_subscript(&mut self) -> Option<bool> {
        if self.peek() != Some('[') {
            return Some(false);
        }
        let rest = &self.chars[self.at + 1..];
        let is_plain = |c: &&char| c.is_ascii_alphanumeric() || matches!(**c, '@' | '*' | '_');
        let length = rest.iter().take_while(is_plain).count();
        if rest.get(length) != Some(&']') {
            return None;
        }
        let is_all = matches!(rest[..length], ['@' | '*']);
        self.at += length + 2;
        Some(is_all)
    }

    fn braced_operator(&mut self) -> BracedOperator {
        let colon = usize::from(self.peek() == Some(':'));
        let (operator, length) = match (self.peek_at(colon), self.peek_at(colon + 1)) {
            (Some('}'), _) if colon == 0 => (BracedOperator::None, 0),
            (Some('-'), _) => (BracedOperator::Default, 1),
            (Some('='), _) => (BracedOperator::Assign, 1),
            // One shell assigns with `::=` whatever the value is.
            (Some(':'), Some('=')) if colon == 1 => (BracedOperator::Assign, 2),
            (Some('+'), _) => (BracedOperator::Instead, 1),
            (Some('?'), _) => (BracedOperator::Fail, 1),
            (Some('#'), Some('#')) if colon == 0 => (BracedOperator::CutPrefix, 2),
            (Some('#'), _) if colon == 0 => (BracedOperator::CutPrefix, 1),
            (Some('%'), Some('%')) if colon == 0 => (BracedOperator::CutSuffix, 2),
            (Some('%'), _) if colon == 0 => (BracedOperator::CutSuffix, 1),
            _ => return BracedOperator::Other,
        };
        self.at += colon + length;
        operator
    }

    /// Parses the word up to the `}` that ends an expansion.
    fn braced_word(&mut self, is_quoted: bool, operator: BracedOperator) -> Option<ShellWord> {
        let mut inside = ShellWord::default();
        self.depth += 1;
        if self.depth > super::DEEPEST {
            steps::note_omission();
            self.at = self.chars.len();
        }
        // In double quotes a single quote is literal in a value, and a quote in a pattern.
        let is_value = matches!(
            operator,
            BracedOperator::Default
                | BracedOperator::Assign
                | BracedOperator::Instead
                | BracedOperator::Fail
        );
        let mut is_closed = false;
        while let Some(c) = self.next() {
            match c {
                '}' => {
                    is_closed = true;
                    break;
                }
                '\'' if is_quoted && is_value => inside.push(c),
                '\'' | '"' if is_quoted => {
                    // Shells differ in where such a quote ends.
                    self.note_broken("a quote within an expansion");
                    inside.push(c);
                }
                '\'' => self.parse_single_quote(&mut inside),
                '"' => self.parse_double_quote(&mut inside),
                '\\' => inside.push(self.next().unwrap_or('\\')),
                '$' => self.parse_dollar(&mut inside, is_quoted),
                '`' => {
                    self.at -= 1;
                    self.parse_backticks(&mut inside, is_quoted);
                }
                '*' | '?' | '[' if !is_quoted => inside.push_piece(WordPiece::Glob(c)),
                c => inside.push(c),
            }
        }
        self.depth -= 1;
        is_closed.then_some(inside)
    }

    /// Parses a `{` or `}`. They are literal when alone and around a name: `{}`, `HEAD@{1}`.
    pub(super) fn parse_brace(&mut self, word: &mut ShellWord) {
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
            self.paint_since(self.at - 1, SegmentStyle::Variable);
            self.note_doubt("a brace expansion");
            if c == '}' { word.push(c) } else { self.brace_expansion(word) }
        }
    }

    /// Parses the rest of `{a,b}`. Without a comma or two dots it is literal.
    fn brace_expansion(&mut self, word: &mut ShellWord) {
        let begin = self.at;
        // Otherwise each of many open braces would lead to a search up to the same place.
        if begin < self.open_braces_to {
            return word.push('{');
        }
        let mut parts = vec![ShellWord::default()];
        self.depth += 1;
        let is_deep = self.depth > super::DEEPEST;
        let mut is_closed = false;
        while let Some(c) = self.peek().filter(|c| !ENDS.contains(*c) && !is_deep) {
            let Some(part) = parts.last_mut() else { break };
            match c {
                '}' => {
                    self.at += 1;
                    is_closed = true;
                    break;
                }
                ',' => {
                    self.at += 1;
                    if !steps::spend_budget(steps::WORD) {
                        self.stop_reading();
                    }
                    parts.push(ShellWord::default());
                }
                c => {
                    let is_first = part.is_empty();
                    let mut taken = std::mem::take(part);
                    self.word_part(c, is_first, &mut taken);
                    if let Some(part) = parts.last_mut() {
                        *part = taken;
                    }
                }
            }
        }
        self.depth -= 1;
        if is_deep {
            self.open_braces_to = self.chars.len();
            return self.stop_nesting();
        }
        if !is_closed {
            self.open_braces_to = self.at;
        }
        let members = match parts.as_slice() {
            [only] => only.text().and_then(sequence_members),
            _ => Some(parts),
        };
        if let Some(members) = members.filter(|_| is_closed) {
            word.push_expansion(WordExpansion::Braces(members));
        } else {
            word.push('{');
            self.at = begin;
        }
    }
}

/// Returns the members of a sequence such as `a..c` or `1..10`.
fn sequence_members(text: &str) -> Option<Vec<ShellWord>> {
    let mut ends = text.split("..");
    // A third number is the step, which only leaves some members out.
    let (first, last, _) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() {
        return None;
    }
    let is_number = |end: &str| end.trim_start_matches('-').parse::<u64>().is_ok();
    if is_number(first) && is_number(last) {
        let minus = ShellWord::known("-");
        let mut number = ShellWord::default();
        number.push_piece(WordPiece::Digits);
        let is_negative = first.starts_with('-') || last.starts_with('-');
        // Numbers are not listed, because `{1..9999999}` would be as many words.
        return Some(if is_negative { vec![number, minus] } else { vec![number] });
    }
    let letter = |end: &str| end.parse::<char>().ok().map(u32::from);
    let (from, to) = (letter(first)?, letter(last)?);
    let (from, to) = (from.min(to), from.max(to));
    let mut unknown = ShellWord::default();
    unknown.push_piece(WordPiece::Unknown);
    if to - from > LONGEST_SEQUENCE {
        return Some(vec![unknown]);
    }
    let letters = (from..=to).filter_map(char::from_u32);
    Some(letters.map(|c| ShellWord::known(&c.to_string())).collect())
}
