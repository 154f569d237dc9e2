//! Quotes with the escapes of C: `$'…'`.

use super::lists::ShellReader;
use super::word::{ShellWord, WordPiece};

impl ShellReader<'_> {
    /// Parses `$'…'` with the escapes of C. In a shell that does not know them, the quote ends
    /// elsewhere, so the text only counts for a deny.
    pub(super) fn parse_ansi_quote(&mut self, word: &mut ShellWord) {
        self.note_doubt("a quote with escapes");
        word.is_quoted = true;
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                // A shell without such quotes ends here.
                '\\' if self.peek() == Some('\'') => {
                    self.note_broken("a quote with escapes");
                    self.parse_escape(word);
                }
                '\\' => self.parse_escape(word),
                c => word.push(c),
            }
        }
        self.note_broken("an unfinished quote");
    }

    fn parse_escape(&mut self, word: &mut ShellWord) {
        let Some(c) = self.next() else { return };
        let known = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => c,
            'x' => return self.parse_character_code(2, 16, word),
            'u' => return self.parse_character_code(4, 16, word),
            'U' => return self.parse_character_code(8, 16, word),
            '0'..='7' => {
                self.at -= 1;
                return self.parse_character_code(3, 8, word);
            }
            // `\cX` is a control character; other letters stay with their backslash in some shells.
            _ => {
                self.note_doubt("an unknown escape");
                return word.push_piece(WordPiece::Unknown);
            }
        };
        word.push(known);
    }

    /// Parses a character by its number, in at most this many digits.
    fn parse_character_code(&mut self, most: usize, radix: u32, word: &mut ShellWord) {
        let mut digits = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_digit(radix) && digits.len() < most) {
            digits.push(c);
            self.at += 1;
        }
        match u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32) {
            Some(c) if c.is_ascii() && c != '\0' => word.push(c),
            Some(c) if c != '\0' && radix == 16 && most > 2 => {
                self.note_doubt("an unknown escape");
                word.push(c);
            }
            _ => {
                // Bytes of longer characters, and a NUL that ends the text, are left to the shell.
                self.note_doubt("an unknown escape");
                word.push_piece(WordPiece::Unknown);
            }
        }
    }
}
