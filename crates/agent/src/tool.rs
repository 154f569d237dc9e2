//! What a tool is.

use std::sync::Arc;

use callgate_wire::session::{ToolLocation, ToolStream};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::BoxFuture;

/// Something that the model may use.
pub trait AgentTool: Send + Sync {
    /// Returns what the model is told of it.
    fn spec(&self) -> &ToolSpec;

    /// Returns why the tool can do nothing with these arguments, whoever allows it: nobody is asked
    /// then. It changes nothing, and its answer grants nothing.
    fn refusal(&self, _input: &RawValue) -> BoxFuture<'_, Option<String>> {
        Box::pin(std::future::ready(None))
    }

    /// Runs it. It never fails as a whole: what goes wrong is an [`ToolOutcome`]. Dropping the future
    /// stops it, with every process that it started.
    fn run(&self, use_: ToolInvocation) -> BoxFuture<'_, ToolOutcome>;

    /// Returns the files and folders that a use with this input is about. It looks at nothing but
    /// the input.
    fn locations(&self, _input: &RawValue) -> Vec<ToolLocation> {
        Vec::new()
    }

    /// Returns what a use with this input would change, as a unified diff in which secrets are
    /// hidden; `None` where it changes no file, or nobody can tell.
    fn preview(&self, _input: &RawValue) -> BoxFuture<'static, Option<String>> {
        Box::pin(async { None })
    }
}

/// What the model is told of a tool.
#[derive(Debug, Clone, Serialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The JSON Schema of its input.
    pub input_schema: Box<RawValue>,
    /// Whether it changes nothing, so that several may run at once.
    #[serde(skip)]
    pub is_read_only: bool,
    /// What it does, for front ends: a word of [`tool_kind`](callgate_wire::session::tool_kind).
    #[serde(skip)]
    pub kind: &'static str,
}

/// One use of a tool.
#[derive(Clone)]
pub struct ToolInvocation {
    /// Its arguments: a JSON object.
    pub input: Box<RawValue>,
    /// Takes what the tool says while it runs. It may be called from any thread and never waits.
    pub progress: ProgressSink,
}

/// Takes what a tool says while it runs.
pub type ProgressSink = Arc<dyn Fn(ToolStream, &str) + Send + Sync>;

/// What came of a use.
#[derive(Debug, Clone)]
pub struct ToolOutcome {
    /// For the front end: JSON; of a failure `{"error": "…"}`.
    pub result: Box<RawValue>,
    /// For the model.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl ToolOutcome {
    /// It went well. The model reads `text`, the front end gets `result`.
    #[must_use]
    pub fn done(result: &impl Serialize, text: impl Into<String>) -> Self {
        match to_raw_value(result) {
            Ok(result) => Self { result, text: text.into(), is_error: false },
            Err(error) => Self::failed(format!("the result cannot be written as JSON: {error}")),
        }
    }

    /// It went wrong. The text says what could not be done and what to do next.
    #[must_use]
    pub fn failed(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { result: error_json(&text), text, is_error: true }
    }
}

/// Returns `{"error": TEXT}`, which a front end gets in place of a result.
pub(crate) fn error_json(text: &str) -> Box<RawValue> {
    to_raw_value(&json!({ "error": text })).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
