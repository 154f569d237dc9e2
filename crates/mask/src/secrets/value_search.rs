//! Values that are secrets by their names: `NAME=value`, `name: value`, `"name": "value"`,
//! `?name=value`, `<name>value</name>`, in whatever language or settings file.

use memchr::memchr3;

use super::candidate::{NameLink, SecretCandidate, is_random};
use super::headers;
use super::names::{NameRole, NameStrength, is_query_secret, role_of_name};
use super::quotes::QuoteTracker;
use super::span::{SecretSpan, SpanList};
use super::used_variables::UsedVariables;
use super::value::{ValueRange, find_value};

/// The most blanks between a name, its sign and its value. Without a limit a text of blanks and
/// signs would be walked through again from each of them.
const MOST_BLANKS: usize = 64;

/// How many bytes after a value are examined to find out whether it is the last on its line. A long
/// line of many values would otherwise be read to its end for each of them.
const AFTER: usize = 80;

pub(super) struct ValueSearch<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) quotes: QuoteTracker<'a>,
    pub(super) uses: &'a UsedVariables<'a>,
}

pub(super) fn find_named_secrets(bytes: &[u8], uses: &UsedVariables, spans: &mut SpanList) {
    spans.begin_search();
    let mut search = ValueSearch { bytes, quotes: QuoteTracker::new(bytes), uses };
    let mut at = 0;
    while let Some(found) = memchr3(b'=', b':', b'>', &bytes[at..]) {
        let sign = at + found;
        at = match search.at_sign(sign, spans) {
            // A value that was hidden is not searched for further names.
            Some(end) if end > sign => end,
            _ => sign + 1,
        };
    }
}

#[derive(Debug, Clone, Copy)]
struct NameRange {
    start: usize,
    end: usize,
    is_spaced: bool,
}

impl ValueSearch<'_> {
    /// Examines the sign at `sign` and returns where to continue, if something was hidden.
    fn at_sign(&mut self, sign: usize, spans: &mut SpanList) -> Option<usize> {
        let byte = |at: usize| self.bytes.get(at).copied();
        let before = sign.checked_sub(1).and_then(byte);
        let after = byte(sign + 1);
        match self.bytes[sign] {
            b'>' => return self.hide_element_value(sign, spans),
            // A comparison gives no value to a name.
            b'=' if after == Some(b'=') || matches!(before, Some(b'=' | b'!' | b'<' | b'>')) => {
                return None;
            }
            b':' if matches!(after, Some(b':' | b'=')) || before == Some(b':') => return None,
            _ => {}
        }
        let name = self.name_before(sign)?;
        // `Kind::Secret => …` is not the name of a value.
        if self.bytes[..name.start].ends_with(b"::") {
            return None;
        }
        let role = self.role_of(name, sign).or_else(|| self.role_beside(name));
        let arrow = usize::from(self.bytes[sign] == b'=' && after == Some(b'>'));
        let from = sign + 1 + arrow;
        let blanks = self.count_blanks(from);
        // Before the variables are looked up, because the parameter of a URL is not a variable.
        if self.is_query(name) && self.bytes[sign] == b'=' {
            return self.hide_query_value(name, role, sign + 1, spans);
        }
        // The value of a variable that is used here may be what runs.
        if self.uses.has(&self.bytes[name.start..name.end]) {
            return None;
        }
        match role? {
            NameRole::Authorization => {
                headers::hide_authorization(self.bytes, from + blanks, spans)
            }
            NameRole::Cookie => headers::hide_cookies(self.bytes, from + blanks, spans),
            NameRole::Secret(level) => {
                let is_spaced = blanks > 0 || (name.is_spaced && self.bytes[sign] == b'=');
                let starts_line = self.starts_line(name.start);
                let link = match self.bytes[sign] {
                    b'=' => {
                        // `self.password = …` begins a line of code, not of settings.
                        let text = &self.bytes[name.start..name.end];
                        let is_field = text.starts_with(b"self.") || text.starts_with(b"this.");
                        NameLink::Equals { is_spaced, starts_line: starts_line && !is_field }
                    }
                    _ => NameLink::Colon { is_spaced, starts_line },
                };
                self.hide_value(from + blanks, level, link, spans)
            }
        }
    }

    fn count_blanks(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter().take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Returns the name before the sign: quoted or not, perhaps in brackets, as in `x["name"] = …`.
    fn name_before(&self, sign: usize) -> Option<NameRange> {
        let back = |end: usize, of: fn(u8) -> bool, most: usize| {
            end - self.bytes[..end].iter().rev().take(most).take_while(|byte| of(**byte)).count()
        };
        let blank = back(sign, |byte| matches!(byte, b' ' | b'\t'), MOST_BLANKS);
        // `:=`, `?:`, and the quotes of the name with their backslashes; `x["name"]` has a bracket.
        let bracket = self.bytes[..blank].ends_with(b"\"]") || self.bytes[..blank].ends_with(b"']");
        let marks = back(blank - usize::from(bracket), |byte| b":?\"'\\".contains(&byte), 8);
        let end = if self.bytes.get(marks) == Some(&b':') {
            back(marks, |byte| byte == b' ', 8)
        } else {
            marks
        };
        let start = back(end, is_name, 80);
        let is_spaced = blank < sign || end < marks;
        (start < end).then_some(NameRange { start, end, is_spaced })
    }

    /// Returns the meaning of the name; in `name: type = value` the name before the type counts.
    fn role_of(&self, name: NameRange, sign: usize) -> Option<NameRole> {
        let found = role_of_name(&self.bytes[name.start..name.end]);
        if found.is_some() || self.bytes[sign] != b'=' {
            return found;
        }
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'&' | b'*');
        let blank = self.bytes[..name.start].iter().rev().take(4).take_while(is_blank).count();
        let colon = (name.start - blank).checked_sub(1)?;
        if self.bytes[colon] != b':' || blank == 0 {
            return None;
        }
        let typed = self.name_before(colon)?;
        role_of_name(&self.bytes[typed.start..typed.end])
    }

    /// Returns the meaning of a `value` that follows `name: NAME` or `key="NAME"`.
    fn role_beside(&self, name: NameRange) -> Option<NameRole> {
        const LONGEST: usize = 160;
        if !self.bytes[name.start..name.end].eq_ignore_ascii_case(b"value") {
            return None;
        }
        let window = &self.bytes[name.start.saturating_sub(LONGEST)..name.start];
        let trimmed = |text: &[u8], of: &[u8]| {
            text.len() - text.iter().rev().take_while(|byte| of.contains(byte)).count()
        };
        let end = trimmed(window, b" \t\r\n,\"'\\");
        let start = window[..end].iter().rposition(|byte| !is_name(*byte))? + 1;
        let before = &window[..trimmed(&window[..start], b" \"'\\")];
        let before = before.strip_suffix(b":").or_else(|| before.strip_suffix(b"="))?;
        let before = &before[..trimmed(before, b" \"'\\")];
        let is_named =
            [&b"name"[..], b"Name", b"key", b"Key"].iter().any(|it| before.ends_with(it));
        is_named.then(|| role_of_name(&window[start..end])).flatten()
    }

    fn is_query(&self, name: NameRange) -> bool {
        let before = &self.bytes[..name.start];
        before.ends_with(b"?")
            || before.ends_with(b"&")
            || before.ends_with(b"&amp;")
            || before.ends_with(b"#")
    }

    /// Hides a parameter of a URL, which ends at `&`.
    fn hide_query_value(
        &mut self,
        name: NameRange,
        role: Option<NameRole>,
        from: usize,
        spans: &mut SpanList,
    ) -> Option<usize> {
        const LONGEST: usize = 8 * 1024;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"?&#\"'<>;|()`\\,]}".contains(byte);
        let window = &self.bytes[from..self.bytes.len().min(from + LONGEST)];
        let value = &window[..window.iter().position(ends).unwrap_or(window.len())];
        let level = match role {
            Some(NameRole::Secret(level)) => {
                Some(level).filter(|level| *level != NameStrength::Weak)
            }
            _ => None,
        };
        let is_secret = if let Some(level) = level {
            self.candidate(value, from, level, NameLink::Query, false).is_secret()
        } else {
            let name = &self.bytes[name.start..name.end];
            is_query_secret(name) && value.len() >= 8 && is_random(value)
        };
        is_secret.then(|| {
            let end = from + value.len();
            spans.push(SecretSpan::new(from, end, "URL parameter"));
            end
        })
    }

    /// Hides the value in `<password>value</password>`.
    fn hide_element_value(&mut self, sign: usize, spans: &mut SpanList) -> Option<usize> {
        const LONGEST: usize = 1024;
        let name = self.name_before(sign)?;
        let opens = name.end == sign && self.bytes[..name.start].ends_with(b"<");
        let Some(NameRole::Secret(level)) =
            role_of_name(&self.bytes[name.start..name.end]).filter(|_| opens)
        else {
            return None;
        };
        let rest = &self.bytes[sign + 1..self.bytes.len().min(sign + 1 + LONGEST)];
        let len = memchr::memchr(b'<', rest)?;
        // An element that is not closed here is not a value.
        if rest.get(len + 1) != Some(&b'/') || rest[..len].contains(&b'\n') {
            return None;
        }
        let value = &rest[..len];
        self.candidate(value, sign + 1, level, NameLink::Member, true).is_secret().then(|| {
            spans.push(SecretSpan::new(sign + 1, sign + 1 + len, label_of_strength(level)));
            sign + 1 + len
        })
    }

    pub(super) fn hide_value(
        &mut self,
        from: usize,
        level: NameStrength,
        link: NameLink,
        spans: &mut SpanList,
    ) -> Option<usize> {
        if from >= self.bytes.len() {
            return None;
        }
        let ValueRange { start, end, is_quoted } = find_value(self.bytes, from, &mut self.quotes)?;
        let value = &self.bytes[start..end];
        self.candidate(value, start, level, link, is_quoted).is_secret().then(|| {
            spans.push(SecretSpan::new(start, end, label_of_strength(level)));
            end
        })
    }

    fn candidate<'b>(
        &'b self,
        value: &'b [u8],
        start: usize,
        level: NameStrength,
        link: NameLink,
        is_quoted: bool,
    ) -> SecretCandidate<'b> {
        let end = start + value.len();
        let after = &self.bytes[end..self.bytes.len().min(end + AFTER)];
        let len = memchr::memchr(b'\n', after).unwrap_or(after.len());
        SecretCandidate { level, link, is_quoted, value, after: &after[..len] }
    }

    /// Returns true if only marks of lists, comments and quotations are before `start` on its line.
    fn starts_line(&self, start: usize) -> bool {
        let is_mark = |byte: &&u8| b" \t\"'-#*/{[(\\".contains(byte);
        let marks = self.bytes[..start].iter().rev().take(MOST_BLANKS).take_while(is_mark).count();
        matches!(self.bytes[..start - marks].last(), None | Some(b'\n' | b'\r'))
            // A line end that is escaped in a string.
            || self.bytes[..start].ends_with(b"\\n")
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80
}

pub(super) fn label_of_strength(level: NameStrength) -> &'static str {
    match level {
        NameStrength::Strong | NameStrength::Pass => "password",
        NameStrength::Token => "token",
        NameStrength::Weak => "credential",
    }
}
