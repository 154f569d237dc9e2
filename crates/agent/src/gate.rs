//! The gate that decides whether a tool may run. Whoever starts the runtime provides it.

use std::borrow::Cow;
use std::sync::Arc;

use callgate_wire::desk::ContentChange;
use callgate_wire::session::{PermissionAnswer, SessionEvent};
use serde_json::value::RawValue;

use crate::BoxFuture;

pub trait PermissionGate: Send + Sync {
    /// Prepares what the first question would have to wait for. It may block.
    fn warm(&self) {}

    /// Decides by the rules, or asks a person. Dropping the future withdraws the question.
    fn decide_question(&self, question: GateQuestion) -> BoxFuture<'_, ToolPermit>;

    /// Answers a question that the front end was shown. Returns the outcome in words, as an error
    /// if the answer was not accepted.
    fn answer(&self, answer: PermissionAnswer) -> BoxFuture<'_, Result<String, String>>;

    /// Notes that the front end is gone: questions that no one else can answer are denied.
    fn note_unattended(&self);
}

#[derive(Clone)]
pub struct GateQuestion {
    pub tool_id: String,
    pub tool: Cow<'static, str>,
    pub input: Box<RawValue>,
    pub conversation: String,
    /// Whether a person may be asked. If not, what no rule allows is denied.
    pub may_ask: bool,
    /// Shows the question to the front end, if it accepts questions.
    pub mirror: Option<QuestionMirror>,
    /// Finds out whether the tool can do anything with its arguments. If not, it is denied for that
    /// reason, before the rules are consulted and anyone is asked.
    pub refusal: Option<RefusalFn>,
    /// Finds out whether a call with its arguments cannot succeed. Consulted only before somebody
    /// would be asked.
    pub fault: Option<FaultFn>,
    /// Previews what the tool would change, for the person who decides.
    pub preview: Option<PreviewFn>,
}

/// Returns why a tool cannot do anything with this input. It may block.
pub type RefusalFn = Arc<dyn Fn(&RawValue) -> Option<String> + Send + Sync>;

/// Returns why a call with this input cannot succeed. It may block. It looks only at paths that the
/// second argument permits: those that the model may read without asking anybody.
pub type FaultFn = Arc<dyn Fn(&RawValue, &dyn Fn(&str) -> bool) -> Option<String> + Send + Sync>;

/// Returns what a tool would change with this input.
pub type PreviewFn =
    Arc<dyn Fn(&RawValue) -> BoxFuture<'static, Option<ChangePreview>> + Send + Sync>;

/// What a tool would change in a file, with secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePreview {
    /// The change as a unified diff, which may be cut.
    pub diff: String,
    /// The change line by line, if the diff is not cut.
    pub change: Option<ContentChange>,
}

/// Shows the front end that a question is asked or over: an [`SessionEvent::PermissionRequest`] or
/// an [`SessionEvent::PermissionResolved`]. It never waits.
pub type QuestionMirror = Arc<dyn Fn(SessionEvent) + Send + Sync>;

/// The decision about a tool call.
#[derive(Debug, Clone)]
pub enum ToolPermit {
    Allowed {
        /// Who or which rule allowed it, for the ledger.
        because: String,
        /// The arguments, if a person has changed them.
        input: Option<Box<RawValue>>,
    },
    /// It cannot succeed, so nobody was asked.
    Futile {
        /// Why, for the model and the user.
        because: String,
    },
    Denied {
        /// Why, for the model and the user.
        because: String,
        /// Whether the whole turn ends.
        interrupt: bool,
    },
}
