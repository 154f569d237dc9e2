//! Keys with names, whole and byte by byte. What is no key is tried in the tests of the desk.

use super::*;

/// The same keys come out whole and byte by byte.
fn check(bytes: &[u8], expected: &[KeyStroke]) {
    assert_eq!(KeyDecoder::default().decode_keys(bytes), expected, "{:?}", bytes.escape_ascii());
    let mut decoder = KeyDecoder::default();
    let single: Vec<KeyStroke> =
        bytes.iter().flat_map(|byte| decoder.decode_keys(&[*byte])).collect();
    assert_eq!(single, expected, "{:?} byte by byte", bytes.escape_ascii());
}

#[test]
fn keys_have_names() {
    let keys: [(&[u8], KeyStroke); 22] = [
        (b"\x1b[A", KeyStroke::Up),
        (b"\x1bOB", KeyStroke::Down),
        (b"\x1b[C", KeyStroke::Right),
        (b"\x1b[D", KeyStroke::Left),
        (b"\x1b[1;5C", KeyStroke::WordRight),
        (b"\x1b[1;3D", KeyStroke::WordLeft),
        (b"\x1b[H", KeyStroke::Home),
        (b"\x1bOF", KeyStroke::End),
        (b"\x1b[1~", KeyStroke::Home),
        (b"\x1b[3~", KeyStroke::Delete),
        (b"\x1b[Z", KeyStroke::BackTab),
        (b"\x1b\r", KeyStroke::ModifiedEnter),
        (b"\x1b[13;2u", KeyStroke::ModifiedEnter),
        (b"\x1b[27;2;13~", KeyStroke::ModifiedEnter),
        (b"\x1b\x7f", KeyStroke::AltBackspace),
        (b"\x1bb", KeyStroke::Alt('b')),
        (b"\x03", KeyStroke::Ctrl('c')),
        (b"\x1a", KeyStroke::Ctrl('z')),
        (b"\t", KeyStroke::Tab),
        (b"\r", KeyStroke::Enter),
        (b"\n", KeyStroke::LineFeed),
        (b"\x08", KeyStroke::Backspace),
    ];
    for (bytes, key) in keys {
        check(bytes, &[key]);
        check(&[b"x", bytes, b"y"].concat(), &[KeyStroke::Char('x'), key, KeyStroke::Char('y')]);
    }
}

#[test]
fn a_paste_keeps_its_lines_and_nothing_in_it_is_a_key() {
    let [a, tab, newline, d] = ['a', '\t', '\n', 'd'].map(KeyStroke::Pasted);
    let expected = [a, tab, newline, d, KeyStroke::PasteEnd, KeyStroke::Ctrl('c')];
    check(b"\x1b[200~a\t\nd\x1b[201~\x03", &expected);
    check(b"\x1b[200~\x03\x1b[A\x1bb\x1b\r\x1b[201~", &[KeyStroke::PasteEnd]);
}
