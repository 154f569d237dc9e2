//! Keyed digests, by which a question is known again without its secrets being kept.

use std::fmt;

use callgate_wire::approval::Request;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

/// A keyed digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    /// Of everything about a request that its answer depends on.
    pub(super) fn of(key: &[u8; 32], request: &Request) -> Self {
        let mut parts = vec![
            "question",
            request.request_id.as_str(),
            &request.tool_name,
            request.tool_input.get(),
            &request.cwd,
            &request.session_id,
        ];
        parts.extend(request.permission_suggestions.iter().map(|raw| raw.get()));
        Self::over(key, &parts)
    }

    /// Of one run of a tool: a question and the report that the tool has run give the same.
    pub(super) fn of_run(key: &[u8; 32], session: &str, tool: &str, input: &str) -> Self {
        // The report may have its members in another order than the question had.
        let sorted = serde_json::from_str(input).map(|input| sorted(input).to_string());
        Self::over(key, &["run", session, tool, sorted.as_deref().unwrap_or(input)])
    }

    fn over(key: &[u8; 32], parts: &[&str]) -> Self {
        // A key shorter than the hash's block is filled up with zeros.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(key);
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        for part in parts {
            // The length before each part keeps two lists of parts from running together.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        Self(mac.finalize().into_bytes().into())
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            members.into_iter().map(|(name, value)| (name, sorted(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        plain => plain,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
