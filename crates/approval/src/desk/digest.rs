//! Keyed digests, by which questions and calls are recognized without storing their secrets.

use std::borrow::Cow;
use std::fmt;

use callgate_store::Sha256Hash;
use callgate_wire::approval::ApprovalRequest;
use callgate_wire::raw::Members;
use callgate_wire::tool_act::ToolKind;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CallDigest(Sha256Hash);

impl CallDigest {
    /// Returns the digest of everything about a request that its answer depends on. The context is
    /// left out: its time limit gets shorter while the rules are asked.
    pub(super) fn of_request(key: &[u8; 32], request: &ApprovalRequest) -> Self {
        let mut parts = vec![
            "question",
            request.request_id.as_str(),
            &request.tool_name,
            request.tool_input.get(),
            &request.cwd,
            &request.session_id,
        ];
        parts.extend(request.permission_suggestions.iter().map(|raw| raw.get()));
        parts.extend(request.machine.iter().map(|machine| &*machine.name));
        Self::over_parts(key, &parts)
    }

    /// Returns the digest of a tool call in a prompt. All requests about the same call have the
    /// same digest.
    pub(super) fn of_call(key: &[u8; 32], request: &ApprovalRequest) -> Self {
        let prompt = request.context.as_ref().and_then(|context| context.prompt_id.as_deref());
        Self::of_input(key, &["call", prompt.unwrap_or_default()], request)
    }

    /// Returns the digest of a tool call in a session, whatever its prompt.
    pub(super) fn of_retry(key: &[u8; 32], request: &ApprovalRequest) -> Self {
        Self::of_input(key, &["retry"], request)
    }

    /// The members count as they were written, in any order, including repeated ones: two calls
    /// that could do different things never have the same digest.
    fn of_input(key: &[u8; 32], what: &[&str], request: &ApprovalRequest) -> Self {
        let input = request.tool_input.get();
        let mut parts = what.to_vec();
        parts.extend([&*request.session_id, &*request.tool_name, &*request.cwd]);
        let Ok(Members(mut members)) = Members::from_text(input) else {
            parts.push(input);
            return Self::over_parts(key, &parts);
        };
        members.retain(|(name, _)| !is_only_said(&request.tool_name, name));
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, value) in &members {
            parts.extend([&**name, value.get()]);
        }
        Self::over_parts(key, &parts)
    }

    /// Returns the digest of a call that two hooks of one agent ask about. They may name its tool
    /// in the words of two agents.
    pub(super) fn of_twin(key: &[u8; 32], request: &ApprovalRequest) -> Self {
        let tool = request.tool_name.to_lowercase();
        let run = Self::of_run(key, &request.session_id, &tool, request.tool_input.get());
        let agent = request.agent.as_deref().unwrap_or_default();
        Self::over_parts(key, &["twin", agent, &request.cwd, &run.to_string()])
    }

    /// Returns the digest of a run of a tool: the same for the question and for the report of the
    /// run.
    pub(super) fn of_run(key: &[u8; 32], session: &str, tool: &str, input: &str) -> Self {
        Self::over_parts(key, &["run", session, tool, &comparable_input(tool, input)])
    }

    fn over_parts(key: &[u8; 32], parts: &[&str]) -> Self {
        // This constructor takes a whole block of the hash and cannot fail. A shorter key is padded
        // with zeros, as HMAC defines it.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(key);
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        for part in parts {
            // The length before each part keeps different lists of parts apart.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        Self(Sha256Hash(mac.finalize().into_bytes().into()))
    }

    /// Parses what [`Display`](fmt::Display) writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// Returns the input of a call as it is compared. The report of a run may have its members in
/// another order than the question.
pub(super) fn comparable_input<'a>(tool: &str, input: &'a str) -> Cow<'a, str> {
    let sorted = serde_json::from_str(input).map(|mut input: Value| {
        if let Value::Object(members) = &mut input {
            members.retain(|name, _| !is_only_said(tool, name));
        }
        with_sorted_members(input).to_string()
    });
    sorted.map_or(Cow::Borrowed(input), Cow::Owned)
}

/// Returns true for a member that says what a call is for and does not change what it does. Codex
/// and Copilot send it in some events about a call and not in others, and a model words it
/// differently each time.
pub(super) fn is_only_said(tool: &str, member: &str) -> bool {
    member == "description" && matches!(ToolKind::for_tool("", tool), ToolKind::Run(_))
}

fn with_sorted_members(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            members.into_iter().map(|(name, value)| (name, with_sorted_members(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(with_sorted_members).collect(),
        plain => plain,
    }
}

impl fmt::Display for CallDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
