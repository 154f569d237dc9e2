//! Passwords beside a user's name, and passwords that are echoed into another command.

use super::CommandReader;
use crate::secrets::candidate::{
    NameLink, SecretCandidate, is_more_than_a_word, is_operator, is_reference, runs_something,
};
use crate::secrets::names::NameStrength;
use crate::secrets::quotes::QuoteTracker;
use crate::secrets::span::{SecretSpan, SpanList};
use crate::secrets::value::{ValueRange, find_value};
use crate::secrets::value_search::label_of_strength;

impl CommandReader<'_> {
    /// Hides the secret in `user:secret`, `user%secret` or `user,secret`.
    pub(super) fn after_user(&mut self, from: usize, spans: &mut SpanList) {
        if from >= self.search.bytes.len() {
            return;
        }
        let Some(ValueRange { start, end, .. }) =
            find_value(self.search.bytes, from, &mut self.search.quotes)
        else {
            return;
        };
        let value = &self.search.bytes[start..end];
        let Some(colon) = memchr::memchr3(b':', b'%', b',', value) else { return };
        let secret = &value[colon + 1..];
        let is_shown = secret.is_empty()
            || is_reference(secret)
            || runs_something(secret)
            || is_more_than_a_word(secret);
        if !is_shown {
            spans.push(SecretSpan::new(
                start + colon + 1,
                end,
                label_of_strength(NameStrength::Strong),
            ));
        }
    }

    /// Hides the text that is echoed into a command that reads a password.
    pub(super) fn hide_piped(&mut self, spans: &mut SpanList) {
        // Taken, because a command with several such options still reads its input once.
        let Some(from) = self.state.piped.take() else { return };
        let Some(value) = self.echoed_value(from) else { return };
        let ValueRange { start, end, is_quoted } = value;
        let value = &self.search.bytes[start..end];
        let candidate = SecretCandidate {
            level: NameStrength::Strong,
            // Like a member it cannot run: `echoed_value` returns nothing with operators.
            link: NameLink::Member,
            is_quoted,
            value,
            after: b"",
        };
        if candidate.is_secret() {
            spans.push(SecretSpan::new(start, end, label_of_strength(NameStrength::Strong)));
        }
    }

    /// Hides the password in `user:password` that is echoed into a command.
    pub(super) fn piped_after_user(&mut self, spans: &mut SpanList) {
        let Some(from) = self.state.piped.take() else { return };
        let Some(ValueRange { start, end, .. }) = self.echoed_value(from) else { return };
        let value = &self.search.bytes[start..end];
        let Some(colon) = memchr::memchr(b':', value) else { return };
        if !is_reference(&value[colon + 1..]) && !runs_something(value) {
            spans.push(SecretSpan::new(
                start + colon + 1,
                end,
                label_of_strength(NameStrength::Strong),
            ));
        }
    }

    /// Returns the word after `echo`. The reader is already past its quotes, so they are parsed
    /// again.
    fn echoed_value(&self, from: usize) -> Option<ValueRange> {
        let rest = &self.search.bytes[from..];
        let value = find_value(rest, 0, &mut QuoteTracker::new(rest))?;
        let is_plain =
            !rest[value.start..value.end].iter().any(|byte| is_operator(*byte) || *byte == b'\n');
        is_plain.then_some(ValueRange { start: from + value.start, end: from + value.end, ..value })
    }
}
