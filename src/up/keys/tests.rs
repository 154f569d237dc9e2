//! Keys and sequences as the desk reads them, whole and byte by byte.

use callgate_chat::KeyDecoder;

use super::*;

/// The decoder, with what its keys mean to the desk.
#[derive(Default)]
struct DeskKeys(KeyDecoder);

impl DeskKeys {
    fn keys(&mut self, bytes: &[u8]) -> Vec<TerminalKey> {
        self.0.decode_keys(bytes).into_iter().filter_map(desk_key).collect()
    }

    fn silence(&mut self) -> Option<TerminalKey> {
        self.0.handle_silence().and_then(desk_key)
    }

    fn is_waiting(&self) -> bool {
        self.0.is_waiting()
    }
}

/// The same keys come out whole and byte by byte.
fn check(bytes: &[u8], expected: &[TerminalKey]) {
    assert_eq!(DeskKeys::default().keys(bytes), expected, "{:?}", bytes.escape_ascii());
    let mut decoder = DeskKeys::default();
    let single: Vec<TerminalKey> = bytes.iter().flat_map(|byte| decoder.keys(&[*byte])).collect();
    assert_eq!(single, expected, "{:?} byte by byte", bytes.escape_ascii());
}

#[test]
fn characters_are_read_whole() {
    check(b"a\n", &[TerminalKey::Char('a'), TerminalKey::Enter]);
    check(b"A\r", &[TerminalKey::Char('A'), TerminalKey::Enter]);
    check("ä€".as_bytes(), &[TerminalKey::Char('ä'), TerminalKey::Char('€')]);
    check(b"\x7f\x01", &[TerminalKey::Backspace]);
    check(b"\xff\xfed", &[TerminalKey::Char('d')]);
}

#[test]
fn no_byte_of_a_sequence_is_a_key() {
    let sequences: [&[u8]; 14] = [
        b"\x1b[A",
        b"\x1b[a",
        b"\x1bOa",
        b"\x1bO2a",
        b"\x1b[1;5d",
        b"\x1b[[a",
        b"\x1b[123456789;123456789d",
        b"\x1b\x1b[a",
        b"\x1ba",
        b"\x1b(a",
        b"\x1b]11;rgb:aaaa/dddd\x07",
        b"\x1b]11;rgb:aaaa/dddd\x1b\\",
        b"\x9ba",
        b"\x1bPaaa\x1b\\",
    ];
    for sequence in sequences {
        check(sequence, &[]);
        check(&[b"x", sequence, b"s"].concat(), &[TerminalKey::Char('x'), TerminalKey::Char('s')]);
    }
}

#[test]
fn an_escape_is_a_key_when_nothing_follows() {
    let mut decoder = DeskKeys::default();
    assert_eq!((decoder.keys(b"\x1b"), decoder.is_waiting()), (vec![], true));
    assert_eq!((decoder.silence(), decoder.is_waiting()), (Some(TerminalKey::Escape), false));
    assert_eq!(decoder.silence(), None);
    assert_eq!(decoder.keys(b"d"), [TerminalKey::Char('d')]);
    decoder.keys(b"\x1b");
    decoder.silence();
    assert_eq!(decoder.keys(b"[as"), [TerminalKey::Char('s')], "the rest of an arrow came late");
    decoder.keys(b"\x1b[");
    assert_eq!(decoder.silence(), None);
    assert_eq!(decoder.keys(b"as"), [TerminalKey::Char('s')], "an arrow that was cut");
}

#[test]
fn a_paste_is_text_on_one_line() {
    let [a, blank, d] = ['a', ' ', 'd'].map(TerminalKey::Pasted);
    let expected = [a, blank, d, TerminalKey::Char('s')];
    check(b"\x1b[200~a\nd\x1b[201~s", &expected);
    // An escape inside is neither a key nor does it hide the end.
    check(b"\x1b[200~\x1b]a\x1b[201~s", &[TerminalKey::Char('s')]);
    let mut decoder = DeskKeys::default();
    decoder.keys(b"\x1b[200~\x1b");
    assert_eq!(decoder.silence(), None);
    assert_eq!(decoder.keys(b"[201~s"), [TerminalKey::Char('s')]);
}
