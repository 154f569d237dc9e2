//! Whether a tool may run: the runtime asks, whoever starts it answers.

use std::sync::Arc;

use callgate_wire::session::{PermissionAnswer, SessionEvent};
use serde_json::value::RawValue;

use crate::BoxFuture;

/// Decides whether tools may run.
pub trait PermissionGate: Send + Sync {
    /// Makes ready what the first question would have to wait for. It may block.
    fn warm(&self) {}

    /// Decides by the rules or asks a person. Dropping the future withdraws the question.
    fn may(&self, question: GateQuestion) -> BoxFuture<'_, ToolPermit>;

    /// Returns the front end's own answer to a question that it was shown. The text says what came
    /// of it: an error when it did not count.
    fn answer(&self, answer: PermissionAnswer) -> BoxFuture<'_, Result<String, String>>;

    /// The front end will answer nothing any more: what nobody else is asked is denied.
    fn unattended(&self);
}

/// What is about to happen.
#[derive(Clone)]
pub struct GateQuestion {
    /// Names the call.
    pub tool_id: String,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub input: Box<RawValue>,
    /// The conversation.
    pub conversation: String,
    /// Where the front end sees the question; none when it does not take questions.
    pub mirror: Option<QuestionMirror>,
    /// Returns what the tool would change, for those who decide on it, or `None` if it is unknown.
    pub preview: Option<PreviewFn>,
}

/// Tells what a tool would change with this input: a unified diff in which secrets are hidden.
pub type PreviewFn = Arc<dyn Fn(&RawValue) -> BoxFuture<'static, Option<String>> + Send + Sync>;

/// Shows the front end that a question is asked or over: an [`SessionEvent::PermissionRequest`] or an
/// [`SessionEvent::PermissionResolved`]. It never waits.
pub type QuestionMirror = Arc<dyn Fn(SessionEvent) + Send + Sync>;

/// What was decided.
#[derive(Debug, Clone)]
pub enum ToolPermit {
    /// It may run.
    Allowed {
        /// By whom or by which rule, for the ledger.
        because: String,
        /// The arguments as a person has changed them.
        input: Option<Box<RawValue>>,
    },
    /// It may not.
    Denied {
        /// Why, in words for the model and the user.
        because: String,
        /// Whether the whole turn is to end.
        interrupt: bool,
    },
}
