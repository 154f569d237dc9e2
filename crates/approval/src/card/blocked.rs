//! Calls that the agent itself has blocked: a person is asked whether they may try again.

use callgate_mask::text;
use callgate_wire::approval::{ApprovalRequest, RequestKind};

use crate::plain;

/// How much of the call and of the reason the question repeats, in characters.
const LONGEST_PART: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedCall {
    /// What blocked it, such as `auto mode`.
    pub by: String,
    /// The agent's reason, on one line.
    pub reason: Option<String>,
}

impl BlockedCall {
    /// Returns what blocked the call, if the request is about a blocked one.
    pub(super) fn from_request(request: &ApprovalRequest) -> Option<Self> {
        let context = request.context.as_ref()?;
        if request.kind != RequestKind::Ask || context.event.as_deref() != Some("PermissionDenied")
        {
            return None;
        }
        let by = match context.mode.as_deref() {
            Some(mode) => format!("{} mode", cut_words(mode)),
            None => "the agent".to_owned(),
        };
        let reason = context.reason.as_deref().map(cut_words);
        let reason = reason.map(|reason| reason.trim_end_matches(['.', ' ']).to_owned());
        Some(Self { by, reason: reason.filter(|reason| !reason.is_empty()) })
    }

    /// Returns the whole question on one line. `summary` is what the call is about.
    pub(super) fn question_line(&self, summary: &str) -> String {
        let Self { by, reason } = self;
        let call = cut_words(summary);
        match reason {
            Some(reason) => format!("{by} blocked `{call}` because {reason}. Let it try again?"),
            None => format!("{by} blocked `{call}`. Let it try again?"),
        }
    }
}

fn cut_words(words: &str) -> String {
    text::shortened_text(&plain::safe_line(words), LONGEST_PART)
}
