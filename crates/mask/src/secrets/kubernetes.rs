//! The values of a Kubernetes secret in YAML, whatever their names are.

use memchr::{memchr, memmem};

use super::candidate::{is_more_than_a_word, is_reference, runs_something};
use super::span::{SecretSpan, SpanList};

/// Finds the values below `data:` and `stringData:` in documents of the kind `Secret`.
pub(super) fn find_kubernetes_secrets(bytes: &[u8], spans: &mut SpanList) {
    const KIND: &str = "kind: Secret";
    spans.begin_search();
    let mut end = 0;
    for at in memmem::find_iter(bytes, KIND) {
        // `SecretProviderClass` and the like are other kinds.
        let is_line = matches!(bytes.get(at + KIND.len()), None | Some(b'\n' | b'\r'));
        if at >= end && is_line {
            let start = memmem::rfind(&bytes[end..at], b"\n---").map_or(end, |found| end + found);
            let len = memmem::find(&bytes[at..], b"\n---").unwrap_or(bytes.len() - at);
            end = at + len;
            examine_document(bytes, start, end, spans);
        }
    }
}

fn examine_document(bytes: &[u8], start: usize, end: usize, spans: &mut SpanList) {
    let mut at = start;
    // How far the line with `data:` is indented.
    let mut data: Option<usize> = None;
    while at < end {
        let len = memchr(b'\n', &bytes[at..end]).unwrap_or(end - at);
        let line = &bytes[at..at + len];
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        match line.trim_ascii() {
            b"data:" | b"stringData:" => data = Some(indent),
            b"" => {}
            _ if data.is_some_and(|outer| indent > outer) => hide_value(line, at, spans),
            // A line that is not indented further ends the block.
            _ => data = None,
        }
        at += len + 1;
    }
}

/// Hides the value in the line `name: value`, which begins at `at`.
fn hide_value(line: &[u8], at: usize, spans: &mut SpanList) {
    let Some(colon) = memmem::find(line, b": ") else { return };
    let is_before = |byte: &&u8| matches!(byte, b' ' | b'"' | b'\'');
    let start = colon + 1 + line[colon + 1..].iter().take_while(is_before).count();
    let rest = line[start..].trim_ascii_end();
    let value = rest.strip_suffix(b"\"").or_else(|| rest.strip_suffix(b"'")).unwrap_or(rest);
    let is_shown = value.is_empty()
        || is_reference(value)
        || runs_something(value)
        || is_more_than_a_word(value);
    if !is_shown {
        spans.push(SecretSpan::new(at + start, at + start + value.len(), "password"));
    }
}
