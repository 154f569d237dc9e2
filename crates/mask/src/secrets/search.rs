//! Runs all searches for secrets over a text.

use super::span::{SecretSpan, SpanList};
use super::used_variables::UsedVariables;
use super::{calls, command, kubernetes, pem, placeholder, shapes, tokens, url, value_search};

const KNOWN: &str = "secret variable";

/// Returns all secrets in `text`, which is part of something that uses these variables, and every
/// occurrence of a `known` secret. They are in order and do not overlap.
pub(super) fn secrets_in(text: &str, uses: &UsedVariables, known: &[String]) -> Vec<SecretSpan> {
    let bytes = text.as_bytes();
    let mut spans = SpanList::new(text.len());
    // First, because among equal spans the first one determines the label: a text that is masked
    // again keeps those that it has.
    placeholder::find_placeholders(text, &mut spans);
    // Before the shapes, which look for a secret near the id of an AWS key.
    tokens::find_prefixed_tokens(bytes, &mut spans);
    shapes::find_shaped_tokens(bytes, &mut spans);
    pem::find_private_keys(bytes, &mut spans);
    url::find_url_passwords(bytes, &mut spans);
    value_search::find_named_secrets(bytes, uses, &mut spans);
    command::find_command_secrets(bytes, uses, &mut spans);
    calls::find_call_secrets(bytes, &mut spans);
    kubernetes::find_kubernetes_secrets(bytes, &mut spans);
    for value in known {
        spans.begin_search();
        for start in memchr::memmem::find_iter(bytes, value) {
            spans.push(SecretSpan::new(start, start + value.len(), KNOWN));
        }
    }
    let mut merged = spans.merged();
    for span in &mut merged {
        // A value ends before `$(…)`, which runs.
        if bytes[..span.end].ends_with(b"$") && bytes.get(span.end) == Some(&b'(') {
            span.end -= 1;
        }
    }
    merged.retain(|span| span.start < span.end);
    debug_assert!(merged.iter().all(|span| text.get(span.start..span.end).is_some()));
    merged
}
