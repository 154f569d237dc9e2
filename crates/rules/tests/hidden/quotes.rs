//! Spells a known text so that a shell reads it again.

use super::dice::LineDice;

pub(crate) fn word(text: &str, dice: &mut LineDice) -> String {
    match dice.below(8) {
        0..3 => single(text),
        3..5 => double(text),
        5 => ansi(text, dice),
        6 if text.len() > 1 => {
            let mut at = dice.below(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            format!("{}{}", single(&text[..at]), double(&text[at..]))
        }
        _ => escaped(text),
    }
}

pub(crate) fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

pub(crate) fn double(text: &str) -> String {
    format!("\"{}\"", before_each(text, |c| matches!(c, '\\' | '"' | '$' | '`')))
}

/// Returns a text as it is written in a here-document that is expanded.
pub(crate) fn within_document(text: &str) -> String {
    before_each(text, |c| matches!(c, '\\' | '$' | '`'))
}

/// Returns a text as it is written between backticks.
pub(crate) fn within_backticks(text: &str) -> String {
    before_each(text, |c| matches!(c, '\\' | '`'))
}

/// Returns a text as it is written between the double quotes of awk, Python or Perl.
pub(crate) fn within_literal(text: &str) -> String {
    before_each(text, |c| matches!(c, '\\' | '"')).replace('\n', "\\n").replace('\t', "\\t")
}

fn before_each(text: &str, is_special: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if is_special(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns a text with a backslash before each character that needs one.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("'\n'"),
            c if c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-') => out.push(c),
            c if !c.is_ascii() => out.push(c),
            c => {
                out.push('\\');
                out.push(c);
            }
        }
    }
    if out.is_empty() { "''".into() } else { out }
}

/// Returns a text in `$'…'`, some of its characters as escapes.
pub(crate) fn ansi(text: &str, dice: &mut LineDice) -> String {
    let chars: String = text.chars().map(|c| ansi_char(c, dice)).collect();
    format!("$'{chars}'")
}

fn ansi_char(c: char, dice: &mut LineDice) -> String {
    let code = u32::from(c);
    match (c, dice.below(12)) {
        ('\'' | '\\', _) => format!("\\{c}"),
        ('\n', _) => "\\n".into(),
        (c, 0) if c.is_ascii() => format!("\\x{code:02x}"),
        (c, 1) if c.is_ascii() => format!("\\{code:03o}"),
        (_, 2) => format!("\\u{code:04x}"),
        (_, 3) => format!("\\U{code:08X}"),
        _ => c.into(),
    }
}

/// Returns a text as octal escapes of `printf`.
pub(crate) fn octal(text: &str) -> String {
    let escapes: Vec<String> = text.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    escapes.concat()
}

pub(crate) fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |at: usize| usize::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[bits >> (18 - 6 * at) & 63];
            out.push(if at > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}
