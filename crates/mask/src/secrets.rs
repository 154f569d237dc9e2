//! Hides secrets in text that people see and in text that is stored.
//!
//! Each hidden span becomes a numbered placeholder such as `[hidden 1: GitHub token]`; the same
//! secret has the same number wherever it occurs. The originals live only in [`MaskedText`], which
//! puts them back with [`MaskedText::restore`] after a person has edited the text around them.
//!
//! There are two opposite dangers. A secret that is shown leaks; but what is hidden is also
//! approved unseen, so a command must not be able to pass for a password. Tokens are therefore
//! recognised by their own shape. A value that is only recognised by its name (`PASSWORD=…`) is
//! not hidden if it could run: if it is more than one word to a shell, or its variable is used in
//! the same text (`API_KEY='rm -rf ~'; $API_KEY`). If something hidden could still be executed,
//! such as a token in the place of a program, or anything in a command that executes the value of a
//! variable, [`MaskedText::could_run`] returns true.
//!
//! Time and memory are proportional to the text.

mod calls;
mod candidate;
mod command;
mod execution;
mod headers;
mod json;
mod kubernetes;
mod names;
mod occurrences;
mod pem;
mod placeholder;
mod program_options;
mod quotes;
mod restore;
mod search;
mod shapes;
mod span;
mod tokens;
mod url;
mod used_variables;
mod value;
mod value_search;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

pub use json::mask_json;
pub use restore::PlaceholderError;
use span::SecretSpan;
use used_variables::UsedVariables;

/// The most spans that are hidden one by one. After these, the rest of a text is hidden, so that a
/// text of nothing but secrets does not grow to many times its size.
const MOST_SPANS: usize = 1000;

/// The label of text that is hidden because there were too many secrets before it.
const REST: &str = "the rest, with too many secrets to show";

/// The label of a member's value that is hidden because of the member's name although it may be a
/// command: the label says so even if only the shown text is left.
const SEVERAL_WORDS: &str = "secret of several words";

/// A text with its secrets hidden, which can put them back.
pub struct MaskedText {
    shown: String,
    spans: usize,
    secrets: Vec<HiddenSecret>,
    /// Whether the one placeholder replaces a whole JSON value, with the quotes around it.
    is_whole_json: bool,
    /// Whether something hidden could be executed.
    could_run: bool,
}

struct HiddenSecret {
    original: Box<str>,
    label: Cow<'static, str>,
    /// How often it occurs in the text.
    times: usize,
}

pub fn mask_text(text: &str) -> MaskedText {
    mask_with(text, &[])
}

/// Hides the secrets in a text, and everything in it that equals one of the `known` secrets.
pub(crate) fn mask_with(text: &str, known: &[String]) -> MaskedText {
    let uses = UsedVariables::find(text.as_bytes());
    let mut spans = search::secrets_in(text, &uses, known);
    if let Some(last) = spans.get(MOST_SPANS) {
        let rest = SecretSpan::new(last.start, text.len(), REST);
        spans.truncate(MOST_SPANS);
        spans.push(rest);
    }
    let bytes = text.as_bytes();
    // After the spans were limited: what the last one covers may be a command, too.
    let could_run = spans.iter().any(|span| used_variables::could_run(bytes, span, &uses))
        || !spans.is_empty() && execution::examine_command(bytes, &spans).could_run();
    MaskedText { could_run, ..MaskedText::compose(text, &spans) }
}

impl MaskedText {
    /// Returns the text with placeholders.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub fn into_shown(self) -> String {
        self.shown
    }

    /// Returns true if a text that was masked before hides something. This is cheap, also for a
    /// long text.
    pub fn is_hiding(masked: &str) -> bool {
        placeholder::placeholders_in(masked).next().is_some()
    }

    /// Returns how many spans are hidden. A secret that occurs twice counts twice.
    pub fn hidden_count(&self) -> usize {
        self.spans
    }

    /// Returns true if something hidden could be executed. Whoever approves the text would approve
    /// that unseen and has to be informed.
    pub fn could_run(&self) -> bool {
        self.could_run
    }

    /// Returns the original of `edited`, which is [`shown`](Self::shown) after a person edited the
    /// text around the placeholders.
    pub fn restore(&self, edited: &str) -> Result<String, PlaceholderError> {
        if self.is_whole_json && edited.trim() == self.shown {
            return Ok(self.secrets[0].original.to_string());
        }
        restore::restore_originals(&self.secrets, edited)
    }

    /// Replaces `spans`, which are in order and do not overlap, by placeholders.
    fn compose(text: &str, spans: &[SecretSpan]) -> Self {
        let mut shown = String::with_capacity(text.len());
        let mut secrets: Vec<HiddenSecret> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut copied = 0;
        for span in spans {
            let original = &text[span.start..span.end];
            let number = *numbers.entry(original).or_insert_with(|| {
                let label = span.label.clone();
                secrets.push(HiddenSecret { original: original.into(), label, times: 0 });
                secrets.len()
            });
            let secret = &mut secrets[number - 1];
            // Counted, so that an edit can neither remove nor repeat a placeholder unnoticed.
            secret.times += 1;
            shown.push_str(&text[copied..span.start]);
            placeholder::write_numbered(number, &secret.label, &mut shown);
            copied = span.end;
        }
        shown.push_str(&text[copied..]);
        Self { shown, spans: spans.len(), secrets, is_whole_json: false, could_run: false }
    }

    /// Returns one placeholder, as a JSON string, in place of a whole JSON value.
    fn whole_json(text: &str) -> Self {
        let mut shown = String::from('"');
        placeholder::write_numbered(1, REST, &mut shown);
        shown.push('"');
        let secret = HiddenSecret { original: text.into(), label: Cow::Borrowed(REST), times: 1 };
        // What is hidden as a whole may have a command in it.
        Self { shown, spans: 1, secrets: vec![secret], is_whole_json: true, could_run: true }
    }
}

impl fmt::Debug for MaskedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskedText")
            .field("shown", &self.shown)
            .field("hidden", &self.spans)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
