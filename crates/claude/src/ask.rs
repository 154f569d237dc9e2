//! One call: what is asked, and what holds for it alone.

use serde_json::Value;

/// What to ask.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    pub(crate) prompt: String,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) resume: Option<String>,
    pub(crate) is_fork: bool,
    pub(crate) output_schema: Option<Value>,
}

impl Ask {
    /// Asks this.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }

    /// Offers only these of the model's tools.
    #[must_use]
    pub fn only_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Goes on with an earlier conversation.
    #[must_use]
    pub fn resume(mut self, session_id: impl Into<String>) -> Self {
        self.resume = Some(session_id.into());
        self
    }

    /// Leaves the resumed conversation as it is, and goes on with a copy.
    #[must_use]
    pub fn fork(mut self) -> Self {
        self.is_fork = true;
        self
    }

    /// Wants the answer as a value that fits this JSON Schema.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }
}

impl<P: Into<String>> From<P> for Ask {
    fn from(prompt: P) -> Self {
        Self::new(prompt)
    }
}
