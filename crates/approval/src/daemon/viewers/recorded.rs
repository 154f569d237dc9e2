//! What the bodies of ledger entries say about calls.

use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_wire::desk::{AnswerChannel, ProposalSource};
use callgate_wire::tool_act::{ToolKind, ToolShell};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::rule_desk::RecordedCall;

/// The members of an entry about a call that viewers need. Each kind of entry has some of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordedBody<'a> {
    pub(super) tool: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) ruling: Option<String>,
    pub(super) decision: Option<String>,
    pub(super) by: Option<String>,
    pub(super) channel: Option<AnswerChannel>,
    pub(super) ok: Option<bool>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) request: Option<RecordedRequest<'a>>,
}

/// The request in the entry of a question.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordedRequest<'a> {
    pub(super) tool_name: Option<String>,
    #[serde(borrow)]
    pub(super) tool_input: Option<&'a RawValue>,
    pub(super) cwd: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) context: Option<RecordedContext>,
}

/// The context of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordedContext {
    pub(super) last_words: Option<String>,
}

impl<'a> RecordedBody<'a> {
    /// Parses the body of an entry, which may have been damaged.
    pub(super) fn parse(body: &'a str) -> Self {
        serde_json::from_str(body).unwrap_or_default()
    }

    /// Returns the call, as far as its input was recorded. Of a call that was only checked, the
    /// summary of a shell command is the command.
    fn call(self) -> Option<RecordedCall> {
        if let Some(request) = self.request {
            return Some(RecordedCall {
                tool: request.tool_name?,
                input: request.tool_input?.get().to_owned(),
                project: request.cwd.unwrap_or_default(),
                agent: request.agent.unwrap_or_default(),
            });
        }
        let tool = self.tool?;
        let input = match (self.input, self.summary) {
            (Some(input), _) => input.get().to_owned(),
            (None, Some(command)) if ToolKind::of("", &tool) == ToolKind::Run(ToolShell::Usual) => {
                serde_json::json!({ "command": command }).to_string()
            }
            _ => return None,
        };
        let (project, agent) = (self.cwd.unwrap_or_default(), self.agent.unwrap_or_default());
        Some(RecordedCall { tool, input, project, agent })
    }
}

/// Returns the call of a question or of a row of the history.
pub(super) fn recorded_call(store: &Store, of: &ProposalSource) -> Result<RecordedCall, String> {
    let entry = match of {
        ProposalSource::Question(question) => {
            let filter = EntryFilter {
                kinds: vec!["asked".to_owned()],
                question: Some(question.as_str().to_owned()),
                ..EntryFilter::default()
            };
            store.latest(&filter, u64::MAX, 1)
        }
        ProposalSource::Entry(seq) => {
            store.entries(&EntryFilter::default(), seq.saturating_sub(1), 1)
        }
    };
    let entry = entry.map_err(|error| error.to_string())?.pop();
    let is_it = |entry: &LedgerEntry| match of {
        ProposalSource::Question(_) => true,
        ProposalSource::Entry(seq) => entry.seq == *seq,
    };
    let entry = entry.filter(is_it).ok_or("the ledger has no such call (any more)")?;
    let call = RecordedBody::parse(&entry.body).call();
    call.ok_or_else(|| "the ledger does not have the input of this call".to_owned())
}
