//! The ledger entries of a tool call.

use std::time::Duration;

use callgate_mask::text::shortened_text;
use callgate_mask::{mask_json, mask_text};
use callgate_store::{EntryDraft, now_ms};
use callgate_wire::ledger::{LedgerEvent, RuntimeCall};
use serde_json::value::RawValue;

use crate::message::whole_word_prefix;
use crate::session::SessionShared;
use crate::turn::ToolCall;

/// How much of a tool's arguments the ledger stores, in characters.
const LONGEST_SUMMARY: usize = 500;

pub(in crate::session) struct CallRecord<'a> {
    pub(in crate::session) shared: &'a SessionShared,
    pub(in crate::session) conversation: &'a str,
    pub(in crate::session) wanted: &'a ToolCall,
    /// The arguments with which it runs.
    pub(in crate::session) input: Box<RawValue>,
}

impl CallRecord<'_> {
    pub(in crate::session) fn ran_event(
        call: RuntimeCall,
        is_ok: bool,
        took: Duration,
    ) -> LedgerEvent {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        LedgerEvent::RuntimeRan(RuntimeCall { ok: Some(is_ok), ms: Some(ms), ..call })
    }

    pub(in crate::session) fn draft(
        &self,
        because: &str,
        event: impl FnOnce(RuntimeCall) -> LedgerEvent,
    ) -> EntryDraft {
        let call = RuntimeCall {
            tool: self.wanted.name.clone(),
            session: self.conversation.to_owned(),
            cwd: self.shared.options.folder.display().to_string(),
            agent: Some("callgate".to_owned()),
            call: self.wanted.id.clone(),
            summary: input_summary(self.input.get()),
            because: mask_text(because).into_shown(),
            ..RuntimeCall::default()
        };
        EntryDraft::new(now_ms(), None, &event(call))
    }
}

/// Returns a tool's arguments, masked and shortened for the ledger.
fn input_summary(input: &str) -> String {
    shortened_text(&mask_json(input_beginning(input)).into_shown(), LONGEST_SUMMARY)
}

/// Returns the part of long arguments that is masked: all of them would take too long, and half of
/// a secret would not be recognised.
fn input_beginning(input: &str) -> &str {
    whole_word_prefix(input, |c| c.is_whitespace() || matches!(c, '"' | ',' | '\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::LOOKED_AT;

    /// Masking 3 MB takes seconds, and the ledger stores 500 characters.
    #[test]
    fn only_the_beginning_of_long_arguments_is_masked() {
        let secret = "ghp_Zk8qN2vLx7RtYw4BcDf6GhJm9PsQeUaVoXi3";
        let words = |count: usize| format!("{{\"content\": \"{}", "one two ".repeat(count));
        let short = format!("{{\"key\": \"{secret}\"}}");
        assert_eq!(input_beginning(&short), short);
        assert!(!input_summary(&short).contains(secret));
        let long = format!("{} {secret}\"}}", words(400_000));
        assert!(
            input_beginning(&long).len() <= LOOKED_AT && input_beginning(&long).ends_with(" two")
        );
        assert_eq!(
            input_summary(&long),
            shortened_text(&mask_json(&words(80)).into_shown(), LONGEST_SUMMARY)
        );
        // A secret at the cut is left out as a whole.
        let at_cut = format!("{}{}\"}}", words(2044), "x".repeat(3000));
        assert!(!input_beginning(&at_cut).contains('x'));
        assert_eq!(input_beginning(&"x".repeat(20_000)), "");
    }
}
