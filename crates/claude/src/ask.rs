//! One call: the prompt and its own options.

use serde_json::Value;

use crate::Prompt;

/// A request to the agent, with the options of this call.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    pub(crate) prompt: Prompt,
    pub(crate) launch: LaunchOptions,
}

/// The options that are fixed when the CLI is started.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaunchOptions {
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) resume: Option<String>,
    pub(crate) is_fork: bool,
    pub(crate) output_schema: Option<Value>,
}

impl ModelRequest {
    /// Creates a request.
    pub fn new(prompt: impl Into<Prompt>) -> Self {
        Self { prompt: prompt.into(), launch: LaunchOptions::default() }
    }

    /// Offers only these of the model's tools.
    #[must_use]
    pub fn only_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.launch.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Continues an earlier conversation.
    #[must_use]
    pub fn resume(mut self, session_id: impl Into<String>) -> Self {
        self.launch.resume = Some(session_id.into());
        self
    }

    /// Leaves the resumed conversation as it is, and continues a copy of it.
    #[must_use]
    pub fn fork(mut self) -> Self {
        self.launch.is_fork = true;
        self
    }

    /// Asks for the answer as a value that fits this JSON Schema.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.launch.output_schema = Some(schema);
        self
    }
}

impl<P: Into<Prompt>> From<P> for ModelRequest {
    fn from(prompt: P) -> Self {
        Self::new(prompt)
    }
}
