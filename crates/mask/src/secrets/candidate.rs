//! Distinguishes a secret from what only takes its place: a reference, a type, a word of prose.

use super::names::NameStrength;
use crate::word_list::WordList;
use crate::words;

/// Returns true for a character that separates commands, redirects or substitutes in a shell.
pub(super) fn is_operator(byte: u8) -> bool {
    matches!(byte, b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' | b'`')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameLink {
    /// `name=value`, `name = value`
    Equals { is_spaced: bool, starts_line: bool },
    /// `name: value`, `name:value`
    Colon { is_spaced: bool, starts_line: bool },
    /// `--name value`
    Option,
    /// `?name=value`
    Query,
    /// `<name>value</name>`, or a member of a JSON object
    Member,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SecretCandidate<'a> {
    pub(super) level: NameStrength,
    pub(super) link: NameLink,
    pub(super) is_quoted: bool,
    pub(super) value: &'a [u8],
    /// What follows on the same line.
    pub(super) after: &'a [u8],
}

impl SecretCandidate<'_> {
    pub(super) fn is_secret(&self) -> bool {
        let value = self.value;
        if value.is_empty() || is_reference(value) || is_nothing(value) || is_place(value) {
            return false;
        }
        let by_level = match self.level {
            NameStrength::Weak => value.len() >= 16 && is_random(value),
            NameStrength::Token => !(value.len() < 6 && value.iter().all(u8::is_ascii_digit)),
            NameStrength::Pass => self.is_for_pass(),
            NameStrength::Strong => true,
        };
        by_level
            && (self.is_quoted || self.is_by_link())
            && !runs_something(value)
            && !(self.may_run() && is_more_than_a_word(value))
    }

    fn may_run(&self) -> bool {
        !matches!(self.link, NameLink::Query | NameLink::Member)
    }

    /// Returns true if a value after the word `pass` is a secret. Test runners print `PASS: name`,
    /// and counts follow the word too.
    fn is_for_pass(&self) -> bool {
        let is_number = self.value.iter().all(u8::is_ascii_digit);
        match self.link {
            NameLink::Colon { .. } => self.is_quoted || (!is_number && is_unwordly(self.value)),
            _ => !is_number || self.value.len() >= 4,
        }
    }

    /// Returns true if a value without quotes is a secret, and not code or prose.
    fn is_by_link(&self) -> bool {
        let is_word = !is_unwordly(self.value);
        let is_last =
            self.after.trim_ascii().is_empty() || self.after.trim_ascii().starts_with(b"#");
        let next = self.after.first();
        let value = self.value;
        match self.link {
            NameLink::Query | NameLink::Member => true,
            NameLink::Option => !is_short_word(value),
            // `token = read_token(…)` is a call.
            _ if next == Some(&b'(') || is_code(value) => false,
            NameLink::Equals { is_spaced: false, .. } => {
                !(is_path_of_names(value) && matches!(next, Some(b',' | b')')))
            }
            // `const LONGEST: usize = 12;`
            NameLink::Equals { .. } if value.iter().all(u8::is_ascii_digit) => is_last,
            // A single word is a password in settings and a variable in code.
            NameLink::Equals { starts_line, .. } if is_word || is_path_of_names(value) => {
                let is_setting = starts_line && is_last && self.level == NameStrength::Strong;
                is_setting && is_word && !value.contains(&b'.')
            }
            NameLink::Equals { .. } => true,
            // `name: type = value`
            NameLink::Colon { .. } if self.after.trim_ascii_start().starts_with(b"=") => false,
            NameLink::Colon { is_spaced: false, .. } => !is_word && is_random(value),
            NameLink::Colon { starts_line: true, .. } if self.level == NameStrength::Strong => {
                !is_word || (is_last && !is_type(value))
            }
            NameLink::Colon { .. } => !is_path_of_names(value) && is_random(value),
        }
    }
}

pub(super) fn is_more_than_a_word(value: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(value, text).is_some();
    value.iter().any(|byte| byte.is_ascii_whitespace() || is_operator(*byte))
        || has(b"$IFS")
        || has(b"${IFS")
        || (value.starts_with(b"{") && value.contains(&b','))
}

/// Returns true if a shell would run something to get the value. What runs is always shown.
pub(super) fn runs_something(value: &[u8]) -> bool {
    value.contains(&b'`') || value.windows(2).any(|pair| matches!(pair, b"$(" | b"<(" | b">("))
}

/// Returns true if the value only refers to a secret: `$VAR`, `${VAR}`, `%VAR%`, `{{ var }}`,
/// `<token>`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let wrapped = |start: &[u8], end: &[u8]| {
        value.len() > start.len() && value.starts_with(start) && value.ends_with(end)
    };
    if value.starts_with(b"${{") || value.starts_with(b"{{") || wrapped(b"<", b">") {
        return true;
    }
    let wraps_name = |start, end| {
        wrapped(start, end) && value[1..value.len() - 1].iter().all(|byte| is_word(*byte))
    };
    wraps_name(b"%", b"%") || wraps_name(b"{", b"}") || only_variables(value)
}

/// Returns true if the value consists of nothing but `$VAR`s, `${VAR}`s and separators.
fn only_variables(value: &[u8]) -> bool {
    let mut at = 0;
    let mut variables = 0;
    while at < value.len() {
        match value[at] {
            b'$' => {
                let Some(len) = variable_name_length(&value[at + 1..]) else { return false };
                variables += 1;
                at += 1 + len;
            }
            b':' | b'/' | b'@' | b'.' | b'_' | b'-' | b',' | b' ' | b'\\' | b'"' | b'\'' => at += 1,
            _ => return false,
        }
    }
    variables > 0
}

fn variable_name_length(value: &[u8]) -> Option<usize> {
    let (open, inner) = match value.first()? {
        b'{' => (1, &value[1..]),
        _ => (0, value),
    };
    // PowerShell writes `$env:NAME`.
    let is_part = |byte: &&u8| is_word(**byte) || **byte == b':';
    let len =
        inner.iter().take_while(if open == 1 { |b: &&u8| is_word(**b) } else { is_part }).count();
    if len == 0 || inner[0].is_ascii_digit() && len > 2 {
        return None;
    }
    if open == 0 {
        return plausible_variable(&inner[..len]).then_some(len);
    }
    // `${VAR:?message}` names a variable too; `${VAR:-value}` may contain the secret itself.
    match inner.get(len)? {
        b'}' => Some(len + 2),
        b':' if matches!(inner.get(len + 1), Some(b'?')) => {
            memchr::memchr(b'}', inner).map(|end| end + 2)
        }
        b':' if inner.get(len + 1) == Some(&b'-') && inner.get(len + 2) == Some(&b'}') => {
            Some(len + 4)
        }
        _ => None,
    }
}

/// Returns true for `UPPER`, `lower` and `camelCase`; `$uperSecret1` is a password.
fn plausible_variable(name: &[u8]) -> bool {
    let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has = |of: fn(&u8) -> bool| name.iter().any(of);
    !(digits > 0
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && !name.contains(&b':'))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true for words that mean that there is no value, and for repetitions of one character.
fn is_nothing(value: &[u8]) -> bool {
    const NOTHING: &WordList = words!(
        "%s %v %d null none nil true false yes no on off undefined required optional default empty"
    );
    let is_row = value.iter().all(|byte| *byte == value[0]) && b"*x.X-_?#=:".contains(&value[0]);
    is_row || NOTHING.contains_in_any_case(value)
}

/// Returns true for files and addresses.
fn is_place(value: &[u8]) -> bool {
    const STARTS: &str = "\
        env: ~/ ./ ../ /home/ /etc/ /run/ /var/ /tmp/ /usr/ /opt/ /root/ /dev/ /mnt/ /Users/ \
        /proc/ /app/ /secrets/ /srv/ /workspace http:// https:// file: C:\\ /data/";
    STARTS.split(' ').any(|start| value.starts_with(start.as_bytes()))
}

/// Returns true if the value contains other characters than letters, `_` and `.`.
fn is_unwordly(value: &[u8]) -> bool {
    value.iter().any(|byte| !(byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.')))
}

/// Returns true for lists, blocks, paths and macros, which are never values without quotes.
fn is_code(value: &[u8]) -> bool {
    // `*name` is a pointer in one language and an alias in another.
    let is_pointer = value[0] == b'*' && value.get(1).is_some_and(u8::is_ascii_alphabetic);
    let is_element =
        value[0].is_ascii_alphabetic() && value.contains(&b'[') && value.ends_with(b"]");
    is_pointer
        || is_element
        || matches!(value[0], b'[' | b'{')
        || value.windows(2).any(|pair| matches!(pair, b"::" | b"![" | b"->"))
}

/// Returns true for the name of a type, which follows a colon in code.
fn is_type(value: &[u8]) -> bool {
    const TYPES: &WordList = words!(
        "string str number int integer any bool boolean bytes text varchar unknown object \
        SecretString"
    );
    TYPES.contains_in_any_case(value)
}

/// Returns true for `name`, `config.password` or `args[0].token`, as in code.
fn is_path_of_names(value: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'?' | b'!');
    value.first().is_some_and(u8::is_ascii_alphabetic)
        && (value.iter().all(plain)
            || (value.contains(&b'.')
                && value.iter().all(|byte| plain(byte) || b"[]->:".contains(byte))))
}

/// Returns true for a short word that follows an option in prose: "use --password to …".
fn is_short_word(value: &[u8]) -> bool {
    const WORDS: &WordList = words!(
        "option flag with when from that must will instead should argument value which because \
        then into"
    );
    let is_lower = value.iter().all(u8::is_ascii_lowercase);
    value.starts_with(b"-") || (is_lower && value.len() <= 3) || WORDS.contains(value)
}

/// Returns true if the value looks random: long enough, with letters and digits, few of them
/// repeated.
pub(super) fn is_random(value: &[u8]) -> bool {
    let head = &value[..value.len().min(64)];
    let digits = head.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = head.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    head.len() >= 6 && digits > 0 && letters > 0 && count_distinct_bytes(head) >= 5
}

/// Returns how many different bytes there are. A key has many, a repetition or an example few.
pub(super) fn count_distinct_bytes(bytes: &[u8]) -> u32 {
    let mut seen = [0_u128; 2];
    for byte in bytes {
        seen[usize::from(byte >> 7)] |= 1 << (byte & 0x7f);
    }
    seen[0].count_ones() + seen[1].count_ones()
}
