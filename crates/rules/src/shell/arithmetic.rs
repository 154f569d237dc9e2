//! Arithmetic: `$((…))` and `((…))`.

use super::lists::ShellReader;

/// The characters of an expression that contains no quotes and no substitutions.
const PLAIN: &str = " \t\n+-*/%<>=!&|?:,~^${}[]().#_@";

impl ShellReader<'_> {
    /// Skips an expression whose second parenthesis is at this offset, and returns true; false if
    /// it is not certainly an expression. The names in it get numbers, and the commands of its
    /// substitutions are found.
    pub(super) fn skip_arithmetic(&mut self, offset: usize) -> bool {
        let begin = self.at;
        let is_skipped = self.parse_arithmetic(offset);
        if !is_skipped {
            self.at = begin;
        }
        is_skipped
    }

    fn parse_arithmetic(&mut self, offset: usize) -> bool {
        self.at += offset + 1;
        let mut open = 0_usize;
        let mut text = String::new();
        loop {
            let Some(c) = self.next() else { return false };
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.eat_char(')') => break,
                // The first parenthesis is closed before the second: it is a subshell.
                ')' => return false,
                // The three expressions of `for ((…; …; …))`.
                ';' if offset == 0 => {}
                '$' if self.peek() == Some('(') && self.peek_at(1) != Some('(') => {
                    self.at += 1;
                    let first = self.script.commands.len();
                    self.parse_region(|reader| reader.parse_list(true));
                    let commands = first..self.script.commands.len();
                    self.script.number_outputs.push(commands);
                    // A digit stands for its output, which is examined by way of `number_outputs`.
                    text.push('0');
                    continue;
                }
                '$' if self.peek() == Some('(') => return false,
                c if c.is_ascii_alphanumeric() || PLAIN.contains(c) => {}
                _ => return false,
            }
            text.push(c);
        }
        if has_two_words(&text) {
            return false;
        }
        for name in variable_names(&text) {
            if offset == 0 {
                // In a shell without such a command the parentheses are two subshells.
                self.add_program(&name);
            }
            self.script.numbers.push(name);
        }
        true
    }
}

/// Returns the names of the variables in an expression.
pub(super) fn variable_names(text: &str) -> impl Iterator<Item = String> {
    text.split(|c| !is_name(c))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .map(ToOwned::to_owned)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns true if two names follow each other without an operator, as in a command.
fn has_two_words(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let mut before = words.next();
    words.any(|word| {
        let ends = before.is_some_and(|before| before.ends_with(is_name));
        before = Some(word);
        ends && word.starts_with(|c| is_name(c) || c == '$')
    })
}
