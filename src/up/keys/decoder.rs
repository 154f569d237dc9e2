//! Decodes keys from the bytes that a terminal sends. The bytes may be split anywhere, even inside
//! an arrow key, none of whose bytes may count as a key.

use callgate_approval::terminal::TerminalKey;

const ESCAPE: u8 = 0x1b;
/// The longest beginning of a sequence that is remembered: enough to recognise a paste.
const LONGEST_SEQUENCE: usize = 8;

/// A decoder with the beginning of a key that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct KeyDecoder {
    state: DecoderState,
    /// The beginning of a character, at most three bytes.
    begun: Vec<u8>,
    /// The beginning of a control sequence, at most [`LONGEST_SEQUENCE`] bytes.
    sequence: Vec<u8>,
    is_pasting: bool,
}

/// Where in an escape sequence we are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum DecoderState {
    /// Outside of any sequence.
    #[default]
    Text,
    /// After an escape, which is a key if nothing follows.
    Escape,
    /// After an escape that was taken for a key; the rest of a sequence may still come.
    Late,
    /// After `ESC [`: until a final byte.
    Control,
    /// After `ESC O` and the like: one more byte, and numbers before it.
    Single,
    /// After `ESC ]` and the like: until BEL, another escape or the end of the line. The end of the
    /// line is in no such text, and helps whoever pressed Alt and a bracket.
    Words,
}

impl KeyDecoder {
    /// Returns the keys that are complete now.
    pub(super) fn keys(&mut self, bytes: &[u8]) -> Vec<TerminalKey> {
        bytes.iter().filter_map(|&byte| self.byte(byte)).collect()
    }

    /// Returns true if an escape waits for what follows; see [`KeyDecoder::silence`].
    pub(super) fn is_waiting(&self) -> bool {
        self.state == DecoderState::Escape
    }

    /// Notes that nothing has followed, so that an escape was the key.
    pub(super) fn silence(&mut self) -> Option<TerminalKey> {
        if self.state != DecoderState::Escape {
            return None;
        }
        self.state = DecoderState::Late;
        (!self.is_pasting).then_some(TerminalKey::Escape)
    }

    fn byte(&mut self, byte: u8) -> Option<TerminalKey> {
        if byte == ESCAPE {
            self.begun.clear();
            self.state = DecoderState::Escape;
            return None;
        }
        match self.state {
            DecoderState::Text => return self.text(byte),
            DecoderState::Late if !matches!(byte, b'[' | b'O') => {
                self.state = DecoderState::Text;
                return self.text(byte);
            }
            DecoderState::Escape | DecoderState::Late => self.escape(byte),
            DecoderState::Control => self.control(byte),
            DecoderState::Single if matches!(byte, b'0'..=b'9' | b';') => {}
            DecoderState::Single => self.state = DecoderState::Text,
            DecoderState::Words if matches!(byte, 0x07 | b'\r' | b'\n') => {
                self.state = DecoderState::Text;
            }
            DecoderState::Words => {}
        }
        None
    }

    fn escape(&mut self, byte: u8) {
        self.state = match byte {
            b'[' => DecoderState::Control,
            b'O' | b' '..=b'/' => DecoderState::Single,
            b']' | b'P' | b'X' | b'^' | b'_' => DecoderState::Words,
            // A key that was pressed together with Alt.
            _ => DecoderState::Text,
        };
        self.sequence.clear();
    }

    fn control(&mut self, byte: u8) {
        match byte {
            // The function keys of the Linux console have a second bracket and a letter behind it.
            b'[' if self.sequence.is_empty() => self.state = DecoderState::Single,
            b' '..=b'?' if self.sequence.len() < LONGEST_SEQUENCE => self.sequence.push(byte),
            b' '..=b'?' => {}
            _ => {
                self.state = DecoderState::Text;
                match (byte, &*self.sequence) {
                    (b'~', b"200") => self.is_pasting = true,
                    (b'~', b"201") => self.is_pasting = false,
                    _ => {}
                }
            }
        }
    }

    fn text(&mut self, byte: u8) -> Option<TerminalKey> {
        // Some terminals begin a sequence with one byte, which begins no character.
        if self.begun.is_empty() && matches!(byte, 0x9b | 0x8f) {
            self.escape(byte - 0x40);
            return None;
        }
        self.begun.push(byte);
        let c = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.chars().next(),
            Err(error) if error.error_len().is_none() => return None,
            // Bytes that are not UTF-8 are dropped.
            Err(_) => None,
        };
        self.begun.clear();
        if self.is_pasting { pasted(c?) } else { key(c?) }
    }
}

fn key(c: char) -> Option<TerminalKey> {
    match c {
        '\r' | '\n' => Some(TerminalKey::Enter),
        '\u{7f}' | '\u{8}' => Some(TerminalKey::Backspace),
        c if c.is_control() => None,
        c => Some(TerminalKey::Char(c)),
    }
}

/// Returns the key for a pasted character. A reply is one line, and only Enter sends it.
fn pasted(c: char) -> Option<TerminalKey> {
    match c {
        '\r' | '\n' | '\t' => Some(TerminalKey::Pasted(' ')),
        c if c.is_control() => None,
        c => Some(TerminalKey::Pasted(c)),
    }
}

#[cfg(test)]
mod tests;
