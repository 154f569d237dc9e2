//! Runs all searches for secrets over a text.

use super::span::{SecretSpan, SpanList};
use super::used_variables::UsedVariables;
use super::{command, pem, placeholder, shapes, tokens, url, value_search};

/// The label of a value that is known to be secret.
const KNOWN: &str = "secret variable";

/// Returns all secrets in `text`, which is part of something that uses these variables, and every
/// occurrence of a `known` secret. They are in order and do not overlap.
pub(super) fn secrets_in(text: &str, uses: &UsedVariables, known: &[String]) -> Vec<SecretSpan> {
    let bytes = text.as_bytes();
    let mut spans = SpanList::new(text.len());
    placeholder::find(text, &mut spans);
    tokens::find(bytes, &mut spans);
    shapes::find(bytes, &mut spans);
    pem::find(bytes, &mut spans);
    url::find(bytes, &mut spans);
    value_search::find(bytes, uses, &mut spans);
    command::find(bytes, uses, &mut spans);
    for value in known {
        spans.begin();
        for start in memchr::memmem::find_iter(bytes, value) {
            spans.push(SecretSpan::new(start, start + value.len(), KNOWN));
        }
    }
    let merged = spans.merged();
    debug_assert!(merged.iter().all(|span| text.get(span.start..span.end).is_some()));
    merged
}
