//! Tools that a model may call.

pub mod ask_user;
pub mod custom;
pub mod desktop;
pub mod files;
pub mod run;
mod schema_fault;
pub mod system;
pub mod todo;

use std::borrow::Cow;
use std::sync::Arc;

use callgate_wire::session::{McpServerStatus, ToolLocation, ToolStream};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

use crate::BoxFuture;
use crate::gate::{ChangePreview, PermissionGate, QuestionMirror};
use crate::message::MediaSource;

pub(crate) use schema_fault::schema_fault;

pub trait AgentTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// Returns why the tool cannot do anything with these arguments, so that no one is asked for
    /// permission. It may block, changes nothing, and `None` permits nothing.
    fn refusal(&self, _input: &RawValue) -> Option<String> {
        None
    }

    /// Returns why a call with this input cannot succeed, so that a person is not asked about it
    /// for nothing. It is consulted only where one would be asked. It may block and changes
    /// nothing. `None` promises nothing.
    fn fault(&self, input: &RawValue, _context: FaultContext<'_>) -> Option<String> {
        schema_fault(self.spec(), input)
    }

    /// Runs it. Errors are part of the [`CallOutcome`]. Dropping the future stops the tool, with
    /// every process that it started.
    fn run_call(&self, invocation: ToolInvocation) -> BoxFuture<'_, CallOutcome>;

    /// Returns the files and folders that a call with this input is about. It looks only at the
    /// input.
    fn locations(&self, _input: &RawValue) -> Vec<ToolLocation> {
        Vec::new()
    }

    /// Returns the first line, counted from 1, that a call of this or another tool with this input
    /// would change in its file, or `None` if it changes no file, or a new one, or this is unknown.
    fn first_line(&self, _tool: &str, _input: &RawValue) -> BoxFuture<'static, Option<u64>> {
        Box::pin(async { None })
    }

    /// Returns what a call of this or another tool with this input would change, or `None` if it
    /// changes no file or this is unknown.
    fn preview(&self, _tool: &str, _input: &RawValue) -> BoxFuture<'static, Option<ChangePreview>> {
        Box::pin(async { None })
    }
}

#[derive(Clone, Copy)]
pub struct FaultContext<'a> {
    pub conversation: &'a str,
    /// Whether the model may read this path without asking anybody. Of any other path a fault must
    /// say nothing.
    pub may_read: &'a dyn Fn(&str) -> bool,
}

/// Provides tools that may come and go while the runtime runs, such as those of a server.
pub trait ToolSource: Send + Sync {
    /// Prepares the tools for a turn. It may start processes and ask for permission. Dropping the
    /// future withdraws the question.
    fn prepare<'a>(&'a self, turn: TurnContext<'a>) -> BoxFuture<'a, ()>;

    /// Returns a number that grows whenever the tools have changed.
    fn revision(&self) -> u64;

    fn tools(&self) -> Vec<Arc<dyn AgentTool>>;

    fn servers(&self) -> Vec<McpServerStatus> {
        Vec::new()
    }

    /// Ends everything that was started.
    fn close(&self) -> BoxFuture<'_, ()>;
}

#[derive(Clone)]
pub struct TurnContext<'a> {
    /// The gate that decides whether something may be used.
    pub gate: &'a dyn PermissionGate,
    pub conversation: &'a str,
    pub may_ask: bool,
    /// Shows questions to the front end, if it accepts them.
    pub mirror: Option<QuestionMirror>,
    /// Tells the front end something in words, during the turn.
    pub notices: NoticeSink,
    /// Asks the person something that is no permission.
    pub asker: PersonAsker,
    /// Lets a question stay open beside the answer.
    pub stay: TurnStay,
}

/// A share in a turn. The turn ends when its answer is complete and no share is left, or when it is
/// cancelled, which its shares learn. The default is a share in no turn.
#[derive(Clone)]
pub struct TurnStay {
    /// Dropped with the share.
    _share: mpsc::Sender<()>,
    gone: watch::Receiver<()>,
}

pub(crate) struct SharedTurn {
    shares: mpsc::Receiver<()>,
    /// Dropped with the turn.
    _gone: watch::Sender<()>,
}

impl TurnStay {
    pub(crate) fn new() -> (Self, SharedTurn) {
        let ((share, shares), (end, gone)) = (mpsc::channel(1), watch::channel(()));
        (Self { _share: share, gone }, SharedTurn { shares, _gone: end })
    }

    pub async fn wait_for_end(&mut self) {
        // Nothing is ever sent.
        while self.gone.changed().await.is_ok() {}
    }
}

impl Default for TurnStay {
    fn default() -> Self {
        Self::new().0
    }
}

impl SharedTurn {
    pub(crate) async fn wait_until_alone(&mut self) {
        // Nothing is ever sent.
        while self.shares.recv().await.is_some() {}
    }
}

/// Tells the front end something in words. It never blocks, and does nothing after the turn.
pub type NoticeSink = Arc<dyn Fn(String) + Send + Sync>;

#[derive(Debug, Clone, Serialize)]
pub struct ToolSpec {
    pub name: Cow<'static, str>,
    pub description: Cow<'static, str>,
    pub input_schema: Box<RawValue>,
    /// Whether it changes nothing, so that several may run in parallel.
    #[serde(skip)]
    pub is_read_only: bool,
    /// What it does, for front ends: a word of [`tool_kind`](callgate_wire::session::tool_kind).
    #[serde(skip)]
    pub kind: &'static str,
}

impl ToolSpec {
    /// Creates the description of a tool that may change something. Its input is an object with
    /// these members and no others.
    pub(crate) fn new(
        name: &'static str,
        description: &'static str,
        properties: &Value,
        required: &[&str],
        kind: &'static str,
    ) -> Self {
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let (name, description, input_schema) =
            (name.into(), description.into(), raw_json(&schema));
        Self { name, description, input_schema, is_read_only: false, kind }
    }

    pub(crate) fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }
}

/// A tool without more than its function.
struct ClosureTool<F> {
    spec: ToolSpec,
    run: F,
}

impl<F, R> AgentTool for ClosureTool<F>
where
    F: Fn(ToolInvocation) -> R + Send + Sync,
    R: Future<Output = Result<CallOutcome, String>> + Send + 'static,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run_call(&self, invocation: ToolInvocation) -> BoxFuture<'_, CallOutcome> {
        let done = (self.run)(invocation);
        Box::pin(async move { done.await.unwrap_or_else(CallOutcome::failed) })
    }
}

/// Returns a tool that does no more than this. An error is the text for the model.
pub(crate) fn function_tool<R>(
    spec: ToolSpec,
    run: impl Fn(ToolInvocation) -> R + Send + Sync + 'static,
) -> Arc<dyn AgentTool>
where
    R: Future<Output = Result<CallOutcome, String>> + Send + 'static,
{
    Arc::new(ClosureTool { spec, run })
}

/// Returns a tool whose function may block. `failed` is said of one that panics.
pub(crate) fn blocking_tool(
    spec: ToolSpec,
    failed: &'static str,
    run: impl Fn(&str) -> Result<CallOutcome, String> + Send + Sync + 'static,
) -> Arc<dyn AgentTool> {
    let run = Arc::new(run);
    function_tool(spec, move |invocation| {
        let run = Arc::clone(&run);
        async move {
            let ran = tokio::task::spawn_blocking(move || run(invocation.input.get())).await;
            ran.unwrap_or_else(|error| Err(format!("{failed}: {error}")))
        }
    })
}

#[derive(Clone)]
pub struct ToolInvocation {
    /// Its arguments: a JSON object.
    pub input: Box<RawValue>,
    pub conversation: Arc<str>,
    pub address: CallAddress,
    /// Receives the output of the tool while it runs. It may be called from any thread and never
    /// blocks.
    pub progress: ProgressSink,
    pub asker: PersonAsker,
}

/// Asks the person something on behalf of a running tool. The default asks nobody.
#[derive(Clone, Default)]
pub struct PersonAsker(Option<AskFunction>);

/// Asks what the input of an elicitation says. Dropping the future withdraws the question.
pub type AskFunction = Arc<dyn Fn(Box<RawValue>) -> BoxFuture<'static, PersonReply> + Send + Sync>;

#[derive(Debug, Clone)]
pub enum PersonReply {
    /// Answered it: with this object, or by consent alone.
    Answered(Option<Box<RawValue>>),
    /// Did not want to answer it, or could not be asked.
    Declined,
    /// Left it without a choice.
    Cancelled,
}

impl PersonAsker {
    pub fn new(ask: AskFunction) -> Self {
        Self(Some(ask))
    }

    pub async fn ask(&self, input: Box<RawValue>) -> PersonReply {
        match &self.0 {
            Some(ask) => ask(input).await,
            None => PersonReply::Declined,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct CallAddress {
    pub request: Arc<str>,
    pub tool_id: String,
}

pub type ProgressSink = Arc<dyn Fn(ToolStream, &str) + Send + Sync>;

#[derive(Debug, Clone)]
pub struct CallOutcome {
    /// The JSON for the front end; `{"error": "…"}` if the tool failed.
    pub result: Box<RawValue>,
    pub text: String,
    /// The pictures for the model, after the text.
    pub images: Vec<MediaSource>,
    pub is_error: bool,
}

impl CallOutcome {
    /// Creates the outcome of a successful call. The model reads `text`, and the front end gets
    /// `result`.
    pub fn done(result: &impl Serialize, text: impl Into<String>) -> Self {
        match to_raw_value(result) {
            Ok(result) => Self { result, text: text.into(), images: Vec::new(), is_error: false },
            Err(error) => Self::failed(format!("the result cannot be written as JSON: {error}")),
        }
    }

    /// Creates the outcome of a failed call. The text says what could not be done and what to do
    /// next.
    pub fn failed(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { result: error_json(&text), text, images: Vec::new(), is_error: true }
    }

    /// Creates the outcome of a call that was denied: by a rule, a person or the mode. `denied` in
    /// its result tells front ends that the tool itself has not failed.
    pub fn denied(because: impl Into<String>) -> Self {
        let text = because.into();
        let result = raw_json(&json!({ "error": text, "denied": true }));
        Self { result, text, images: Vec::new(), is_error: true }
    }
}

/// Returns the schema of a tool's input in a form that model services accept, or why that is not
/// possible. They refuse every message if the schema of one tool does not describe an object.
pub(crate) fn input_schema(mut schema: Map<String, Value>) -> Result<Map<String, Value>, String> {
    match schema.get("type") {
        None => {
            schema.insert("type".to_owned(), json!("object"));
        }
        Some(kind) if kind == "object" => {}
        Some(_) => return Err("its input is not described as an object".to_owned()),
    }
    let is_wrong = |name: &str, is_right: fn(&Value) -> bool| {
        schema.get(name).is_some_and(|value| !is_right(value))
    };
    if is_wrong("properties", Value::is_object) || is_wrong("required", Value::is_array) {
        return Err("the description of its input is malformed".to_owned());
    }
    // Not accepted at the top. The tool itself checks its input.
    schema.retain(|name, _| !matches!(name.as_str(), "oneOf" | "anyOf" | "allOf"));
    Ok(schema)
}

/// Returns true for the characters that the names of tools may have.
pub(crate) fn is_name_character(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

/// Returns `{"error": TEXT}`, which a front end gets in place of a result.
pub(crate) fn error_json(text: &str) -> Box<RawValue> {
    raw_json(&json!({ "error": text }))
}

/// Serialises a value whose serialisation cannot fail.
pub(crate) fn raw_json(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_that_services_would_refuse_are_mended_or_left_out() {
        let check = |schema: Value, expected: Option<Value>| {
            let Value::Object(form) = schema.clone() else { panic!("{schema}") };
            assert_eq!(input_schema(form).ok().map(Value::Object), expected, "{schema}");
        };
        let plain = json!({"type": "object"});
        check(json!({}), Some(plain.clone()));
        check(json!({"type": "object", "x": 1}), Some(json!({"type": "object", "x": 1})));
        check(json!({"type": "object", "anyOf": [], "oneOf": 1, "allOf": {}}), Some(plain));
        check(json!({"type": "string"}), None);
        check(json!({"type": ["object"]}), None);
        check(json!({"type": null}), None);
        check(json!({"properties": []}), None);
        check(json!({"required": "a"}), None);
    }
}
