//! Decodes keys from the bytes that a terminal sends. The bytes may be split anywhere, even inside
//! an arrow key, none of whose bytes may count as a key.

const ESCAPE: u8 = 0x1b;
/// The longest beginning of a sequence that is remembered: enough to recognise a paste.
const LONGEST_SEQUENCE: usize = 8;

/// A key that was pressed, or a character that was pasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyStroke {
    Char(char),
    /// A character of a pasted text: a line end, a tab, or one that is no control character.
    Pasted(char),
    /// The end of a pasted text.
    PasteEnd,
    /// A letter together with Ctrl.
    Ctrl(char),
    /// A character together with Alt.
    Alt(char),
    Enter,
    /// Ctrl-J, or Enter in a terminal that translates it.
    LineFeed,
    /// Enter together with Alt or Shift.
    ModifiedEnter,
    Backspace,
    AltBackspace,
    Delete,
    Tab,
    /// Tab together with Shift.
    BackTab,
    Escape,
    Up,
    Down,
    Left,
    Right,
    /// Left together with Ctrl or Alt.
    WordLeft,
    /// Right together with Ctrl or Alt.
    WordRight,
    Home,
    End,
}

/// A decoder with the beginning of a key that is not complete yet.
#[derive(Debug, Default)]
pub struct KeyDecoder {
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
    pub fn decode_keys(&mut self, bytes: &[u8]) -> Vec<KeyStroke> {
        bytes.iter().filter_map(|&byte| self.decode_byte(byte)).collect()
    }

    /// Returns true if an escape waits for what follows; see [`KeyDecoder::handle_silence`].
    pub fn is_waiting(&self) -> bool {
        self.state == DecoderState::Escape
    }

    /// Notes that nothing has followed, so that an escape was the key.
    pub fn handle_silence(&mut self) -> Option<KeyStroke> {
        if self.state != DecoderState::Escape {
            return None;
        }
        self.state = DecoderState::Late;
        // As a key it would interrupt the answer, which no pasted text may do.
        (!self.is_pasting).then_some(KeyStroke::Escape)
    }

    fn decode_byte(&mut self, byte: u8) -> Option<KeyStroke> {
        // In every state: a sequence that was cut off must not swallow the next one.
        if byte == ESCAPE {
            self.begun.clear();
            self.state = DecoderState::Escape;
            return None;
        }
        match self.state {
            DecoderState::Text => self.decode_text_byte(byte),
            // Only these two go on with an arrow key whose bytes came late. Anything else was
            // typed.
            DecoderState::Late if !matches!(byte, b'[' | b'O') => {
                self.state = DecoderState::Text;
                self.decode_text_byte(byte)
            }
            DecoderState::Escape | DecoderState::Late => self.decode_after_escape(byte),
            DecoderState::Control => self.decode_control_byte(byte),
            DecoderState::Single => self.decode_single_byte(byte),
            DecoderState::Words => {
                if matches!(byte, 0x07 | b'\r' | b'\n') {
                    self.state = DecoderState::Text;
                }
                None
            }
        }
    }

    fn decode_after_escape(&mut self, byte: u8) -> Option<KeyStroke> {
        self.sequence.clear();
        self.state = match byte {
            b'[' => DecoderState::Control,
            b'O' | b' '..=b'/' => {
                self.sequence.push(byte);
                DecoderState::Single
            }
            b']' | b'P' | b'X' | b'^' | b'_' => DecoderState::Words,
            _ => DecoderState::Text,
        };
        if self.state != DecoderState::Text || self.is_pasting {
            return None;
        }
        match byte {
            b'\r' | b'\n' => Some(KeyStroke::ModifiedEnter),
            0x7f | 0x08 => Some(KeyStroke::AltBackspace),
            b'!'..=b'~' => Some(KeyStroke::Alt(byte.into())),
            _ => None,
        }
    }

    fn decode_control_byte(&mut self, byte: u8) -> Option<KeyStroke> {
        match byte {
            // The function keys of the Linux console have a second bracket and a letter behind it.
            b'[' if self.sequence.is_empty() => self.state = DecoderState::Single,
            b' '..=b'?' if self.sequence.len() < LONGEST_SEQUENCE => self.sequence.push(byte),
            // The rest of a sequence that is too long to be known is no key either.
            b' '..=b'?' => {}
            _ => {
                self.state = DecoderState::Text;
                return self.finish_sequence(byte);
            }
        }
        None
    }

    /// Returns the key of a whole control sequence.
    fn finish_sequence(&mut self, last: u8) -> Option<KeyStroke> {
        match (last, &*self.sequence) {
            (b'~', b"200") => self.is_pasting = true,
            (b'~', b"201") => {
                self.is_pasting = false;
                return Some(KeyStroke::PasteEnd);
            }
            _ => {}
        }
        if self.is_pasting { None } else { control_key(last, &self.sequence) }
    }

    fn decode_single_byte(&mut self, byte: u8) -> Option<KeyStroke> {
        if matches!(byte, b'0'..=b'9' | b';') {
            return None;
        }
        self.state = DecoderState::Text;
        let is_key = self.sequence == b"O" && !self.is_pasting;
        if is_key { control_key(byte, b"") } else { None }
    }

    fn decode_text_byte(&mut self, byte: u8) -> Option<KeyStroke> {
        // Some terminals begin a sequence with one byte, which begins no character.
        if self.begun.is_empty() && matches!(byte, 0x9b | 0x8f) {
            return self.decode_after_escape(byte - 0x40);
        }
        self.begun.push(byte);
        let c = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.chars().next(),
            Err(error) if error.error_len().is_none() => return None,
            // Bytes that are not UTF-8 are dropped.
            Err(_) => None,
        };
        self.begun.clear();
        if self.is_pasting { pasted_key(c?) } else { character_key(c?) }
    }
}

/// Returns the key of a control sequence with these parameters and this last byte.
fn control_key(last: u8, parameters: &[u8]) -> Option<KeyStroke> {
    let is_plain = matches!(parameters, b"" | b"1");
    // Shift, Alt and Ctrl are the bits of the second parameter minus one.
    let moves_by_word = matches!(parameters, b"1;3" | b"1;5" | b"5" | b"3");
    match last {
        b'A' if is_plain => Some(KeyStroke::Up),
        b'B' if is_plain => Some(KeyStroke::Down),
        b'C' if is_plain => Some(KeyStroke::Right),
        b'D' if is_plain => Some(KeyStroke::Left),
        b'C' if moves_by_word => Some(KeyStroke::WordRight),
        b'D' if moves_by_word => Some(KeyStroke::WordLeft),
        b'H' if is_plain => Some(KeyStroke::Home),
        b'F' if is_plain => Some(KeyStroke::End),
        b'Z' => Some(KeyStroke::BackTab),
        b'~' => match parameters {
            b"1" | b"7" => Some(KeyStroke::Home),
            b"4" | b"8" => Some(KeyStroke::End),
            b"3" => Some(KeyStroke::Delete),
            b"27;2;13" => Some(KeyStroke::ModifiedEnter),
            _ => None,
        },
        b'u' if matches!(parameters, b"13;2" | b"13;3") => Some(KeyStroke::ModifiedEnter),
        _ => None,
    }
}

fn character_key(c: char) -> Option<KeyStroke> {
    match c {
        '\r' => Some(KeyStroke::Enter),
        '\n' => Some(KeyStroke::LineFeed),
        '\t' => Some(KeyStroke::Tab),
        '\u{7f}' | '\u{8}' => Some(KeyStroke::Backspace),
        '\u{1}'..='\u{1a}' => Some(KeyStroke::Ctrl(char::from(c as u8 + b'a' - 1))),
        c if c.is_control() => None,
        c => Some(KeyStroke::Char(c)),
    }
}

fn pasted_key(c: char) -> Option<KeyStroke> {
    let is_text = !c.is_control() || matches!(c, '\r' | '\n' | '\t');
    is_text.then_some(KeyStroke::Pasted(c))
}

#[cfg(test)]
mod tests;
