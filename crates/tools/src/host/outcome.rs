//! What a tool returns: content, a structured value, or an error with a class name.

use callgate_wire::tools::{ErrorPayload, error_type};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// How deeply a result may be nested. Reading and writing it is recursive, and most clients give up
/// a little later.
const DEEPEST: usize = 500;

/// One item of a tool's result, in MCP's form.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolContent(Value);

impl ToolContent {
    /// Creates a text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self(json!({"type": "text", "text": text.into()}))
    }

    /// Creates an image item from its bytes in base64 and its media type, such as `image/png`.
    pub fn image(base64: impl Into<String>, media_type: impl Into<String>) -> Self {
        Self(json!({"type": "image", "data": base64.into(), "mimeType": media_type.into()}))
    }

    /// Creates an item of any other kind, in MCP's form; it is passed on unchanged.
    #[must_use]
    pub fn other(item: Map<String, Value>) -> Self {
        Self(Value::Object(item))
    }
}

/// A tool's whole result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    content: Vec<ToolContent>,
    structured: Option<Value>,
    is_error: bool,
    question: Option<Map<String, Value>>,
}

impl ToolOutput {
    /// Creates a result of several items.
    pub fn items(content: impl IntoIterator<Item = ToolContent>) -> Self {
        Self { content: content.into_iter().collect(), ..Self::default() }
    }

    /// Asks the user something instead of returning a result, in a client that speaks MCP
    /// 2026-07-28. The client asks the questions, MCP's `inputRequests` under keys of your choice,
    /// and calls the tool again. Then
    /// [`CallContext::input_responses`](super::CallContext::input_responses) has the answers and
    /// [`CallContext::request_state`](super::CallContext::request_state) has `state`. In any other
    /// client the call fails.
    ///
    /// ```
    /// use callgate_tools::ToolOutput;
    /// use serde_json::{Map, json};
    ///
    /// let question = json!({
    ///     "method": "elicitation/create",
    ///     "params": {"message": "Which day?", "requestedSchema": {
    ///         "type": "object", "properties": {"day": {"type": "string"}}
    ///     }}
    /// });
    /// let output = ToolOutput::asks(Map::from_iter([("day".to_owned(), question)]), "step 1");
    /// ```
    pub fn asks(requests: Map<String, Value>, state: impl Into<String>) -> Self {
        let mut question = Map::new();
        question.insert("resultType".to_owned(), "input_required".into());
        question.insert("inputRequests".to_owned(), Value::Object(requests));
        question.insert("requestState".to_owned(), Value::String(state.into()));
        Self { question: Some(question), ..Self::default() }
    }

    pub(crate) fn is_question(&self) -> bool {
        self.question.is_some()
    }

    /// Adds a structured value to the items. Some agents then show the model only this value, so it
    /// should be complete.
    #[must_use]
    pub fn with_structured(mut self, value: Map<String, Value>) -> Self {
        self.structured = Some(Value::Object(value));
        self
    }

    /// Marks the result as a failure that the model can read and act on.
    #[must_use]
    pub fn as_failure(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// Returns the result as MCP's `CallToolResult`.
    pub fn into_value(self) -> Result<Value, ToolError> {
        if let Some(question) = self.question {
            return not_too_deep(Value::Object(question));
        }
        if self.content.is_empty() {
            return Err(ToolError::new("the tool returned no content: return at least one item"));
        }
        let content: Vec<Value> = self.content.into_iter().map(|item| item.0).collect();
        let mut result = Map::new();
        result.insert("content".to_owned(), Value::Array(content));
        result.extend(self.structured.map(|value| ("structuredContent".to_owned(), value)));
        result.insert("isError".to_owned(), Value::Bool(self.is_error));
        not_too_deep(Value::Object(result))
    }
}

/// Returns the value, unless it is nested too deeply to be handled.
fn not_too_deep(value: Value) -> Result<Value, ToolError> {
    // It goes from level to level, because a recursion could overflow the stack.
    let mut level = vec![&value];
    for _ in 0..DEEPEST {
        level = level.into_iter().flat_map(child_values).collect();
        if level.is_empty() {
            return Ok(value);
        }
    }
    discard_value(value);
    let message = format!("the tool's result is nested deeper than {DEEPEST} levels: flatten it");
    Err(ToolError::new(message))
}

fn child_values(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Drops a value piece by piece. Dropping it at once would take some of the stack for each level.
fn discard_value(value: Value) {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

/// A value that is returned as structured content, and as JSON text for agents that do not know
/// structured content. It has to serialise as an object.
#[derive(Debug, Clone)]
pub struct StructuredOutput<T>(pub T);

/// Why a tool failed, as its caller sees it.
///
/// Any error converts into it with `?`, under the name `IPCToolExecutionError`;
/// [`named`](Self::named) gives it another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    kind: String,
    message: String,
}

impl ToolError {
    /// Creates a failure with the default class name.
    pub fn new(message: impl Into<String>) -> Self {
        Self::named(error_type::EXECUTION, message)
    }

    /// Creates a failure with a class name of its own.
    pub fn named(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into() }
    }

    /// Returns the class name.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns what went wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn payload(&self) -> ErrorPayload<'_> {
        ErrorPayload { message: (&*self.message).into(), kind: (&*self.kind).into() }
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self::new(message)
    }
}

/// `ToolError` does not implement `Error` (or it could not convert from every other error), but `?`
/// passes it on all the same.
impl From<ToolError> for Box<dyn std::error::Error + Send + Sync> {
    fn from(error: ToolError) -> Self {
        error.to_string().into()
    }
}

impl From<ToolError> for Box<dyn std::error::Error> {
    fn from(error: ToolError) -> Self {
        error.to_string().into()
    }
}

/// A type that a tool may return.
pub trait IntoOutcome {
    /// Returns the result, or the error.
    fn into_outcome(self) -> Result<ToolOutput, ToolError>;
}

impl IntoOutcome for ToolOutput {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoOutcome for String {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        ToolContent::text(self).into_outcome()
    }
}

impl IntoOutcome for &str {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        ToolContent::text(self).into_outcome()
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        // A result without content would be an error.
        ToolContent::text("done").into_outcome()
    }
}

impl IntoOutcome for ToolContent {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::items([self]))
    }
}

impl IntoOutcome for Vec<ToolContent> {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::items(self))
    }
}

impl<T: Serialize> IntoOutcome for StructuredOutput<T> {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        match serde_json::to_value(self.0)? {
            Value::Object(value) => {
                let text = Value::Object(value.clone()).to_string();
                Ok(ToolOutput::items([ToolContent::text(text)]).with_structured(value))
            }
            _ => Err(ToolError::new("a structured result has to be an object: wrap it in one")),
        }
    }
}

impl<T: IntoOutcome, E: Into<ToolError>> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        self.map_err(Into::into).and_then(T::into_outcome)
    }
}
