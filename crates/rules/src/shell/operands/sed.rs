//! Which scripts for `sed` use nothing but the files that they are given.

use std::iter::Peekable;
use std::str::Chars;

/// Commands that take at most a number, and only use the text.
const PLAIN: &str = "=dDgGhHlnNpPqQxzF";
/// Flags of a substitution that only use the text.
const FLAGS: &str = "gpiIm0123456789";

/// Returns true if every command of the script is known, and none reads or writes a file (`r`,
/// `w`) or runs a command (`e`, or the flag of a substitution).
pub(super) fn is_harmless_script(script: &str) -> bool {
    are_all(script, false)
}

/// Returns true if every command of the script is known, and none runs a command.
pub(crate) fn runs_nothing(script: &str) -> bool {
    are_all(script, true)
}

fn are_all(script: &str, may_use_files: bool) -> bool {
    let mut chars = script.chars().peekable();
    if script.is_empty() || script.contains('\0') {
        return false;
    }
    loop {
        skip_chars(&mut chars, |c| c == ';' || c == '}' || c.is_ascii_whitespace());
        if chars.peek().is_none() {
            return true;
        }
        if parse_sed_command(&mut chars, may_use_files).is_none() {
            return false;
        }
    }
}

fn skip_chars(chars: &mut Peekable<Chars<'_>>, while_it_is: impl Fn(char) -> bool) {
    while chars.next_if(|c| while_it_is(*c)).is_some() {}
}

/// Parses one command with its addresses; `None` if it is not known to run nothing, or uses a file,
/// a label or a text and may not.
fn parse_sed_command(chars: &mut Peekable<Chars<'_>>, may_use_files: bool) -> Option<()> {
    match parse_letter(chars)? {
        // The commands of a block follow without a separator.
        '{' => return Some(()),
        's' => {
            two_texts(chars)?;
            skip_chars(chars, |c| FLAGS.contains(c));
            if may_use_files && chars.next_if_eq(&'w').is_some() {
                skip_chars(chars, |c| c != '\n');
            }
        }
        // A text or the name of a file ends with the line.
        'a' | 'i' | 'c' | 'r' | 'w' | 'R' | 'W' | '#' if may_use_files => {
            skip_chars(chars, |c| c != '\n');
        }
        ':' | 'b' | 't' | 'T' if may_use_files => {
            skip_chars(chars, |c| !matches!(c, ';' | '}' | '\n'));
        }
        'y' => two_texts(chars)?,
        c if PLAIN.contains(c) => skip_chars(chars, |c| c == ' ' || c.is_ascii_digit()),
        _ => return None,
    }
    skip_chars(chars, |c| c == ' ');
    matches!(chars.peek(), None | Some(';' | '}' | '\n')).then_some(())
}

/// Parses the addresses of a command, and returns its letter.
fn parse_letter(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    parse_address(chars)?;
    skip_chars(chars, |c| c == ' ');
    if chars.next_if_eq(&',').is_some() {
        skip_chars(chars, |c| c == ' ');
        parse_address(chars)?;
    }
    skip_chars(chars, |c| c == ' ' || c == '!');
    chars.next()
}

/// Parses an address if there is one: a line, `$`, or a regular expression.
fn parse_address(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    match chars.peek() {
        Some('/') => {
            chars.next();
            skip_to_delimiter(chars, '/')?;
            skip_chars(chars, |c| c == 'I' || c == 'M');
        }
        Some('\\') => return None,
        _ => skip_chars(chars, |c| c.is_ascii_digit() || "$~+".contains(c)),
    }
    Some(())
}

/// Parses the two texts of a command that replaces one by the other.
fn two_texts(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    let mark = parse_delimiter(chars)?;
    skip_to_delimiter(chars, mark)?;
    skip_to_delimiter(chars, mark)
}

fn parse_delimiter(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    chars.next().filter(|c| c.is_ascii_punctuation() && !matches!(c, '\\' | '[' | ']' | ';' | '}'))
}

/// Skips to the next delimiter. Whether one within brackets counts differs between programs, so
/// such a text is unknown.
fn skip_to_delimiter(chars: &mut Peekable<Chars<'_>>, mark: char) -> Option<()> {
    let mut is_bracket = false;
    loop {
        match chars.next()? {
            '\n' => return None,
            c if c == mark => return (!is_bracket).then_some(()),
            // In brackets a backslash may be literal or not.
            '\\' if is_bracket => return None,
            '\\' => {
                chars.next().filter(|c| *c != '\n')?;
            }
            '[' => is_bracket = true,
            ']' => is_bracket = false,
            _ => {}
        }
    }
}
