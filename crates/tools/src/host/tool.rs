//! A function that an agent may call, with its description.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::tools::error_type;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::context::CallContext;
use super::outcome::{IntoOutcome, ToolError, ToolOutput};

pub(super) type WorkOutcome = Result<ToolOutput, ToolError>;
type AsyncWork =
    dyn Fn(Value, CallContext) -> Pin<Box<dyn Future<Output = WorkOutcome> + Send>> + Send + Sync;
type BlockingWork = dyn Fn(Value, CallContext) -> WorkOutcome + Send + Sync;

/// The default time limit of a tool. It is long because tools may ask people.
const DEFAULT_LIMIT: Duration = Duration::from_hours(1);

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// A function that an agent may call.
///
/// It reaches the state of your program as any closure does: captured, behind an `Arc` where it is
/// shared.
///
/// ```
/// use callgate_tools::{CallContext, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// let add = Tool::new("add", "Adds two numbers.", |args: Add, _call: CallContext| async move {
///     args.a.checked_add(args.b).map(|sum| sum.to_string()).ok_or_else(|| {
///         callgate_tools::ToolError::named("OverflowError", "the sum is too large")
///     })
/// });
/// # let _ = add;
/// ```
#[derive(Clone)]
pub struct Tool {
    name: String,
    description: String,
    input_schema: Value,
    optional: Map<String, Value>,
    pub(super) limit: Duration,
    pub(super) work: ToolWork,
}

#[derive(Clone)]
pub(super) enum ToolWork {
    Async(Arc<AsyncWork>),
    Blocking(Arc<BlockingWork>),
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tool {
    /// Creates a tool from an async function. Its input schema is derived from its argument type.
    pub fn new<A, F, R>(name: impl Into<String>, description: impl Into<String>, work: F) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        F: Fn(A, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output: IntoOutcome> + Send + 'static,
    {
        let work = Arc::new(work);
        Self::raw(name, description, schema_of::<A>(), move |arguments, context| {
            let work = Arc::clone(&work);
            async move {
                let outcome = work(parse_arguments(arguments)?, context);
                outcome.await.into_outcome()
            }
        })
    }

    /// Creates a tool from a blocking function. Its input schema is derived from its argument type.
    /// Each call runs on a thread of its own.
    pub fn blocking<A, F, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        work: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        F: Fn(A, CallContext) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        Self::raw_blocking(name, description, schema_of::<A>(), move |arguments, context| {
            work(parse_arguments(arguments)?, context).into_outcome()
        })
    }

    /// Creates a tool from an async function, with an input schema of your own.
    pub fn raw<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        work: F,
    ) -> Self
    where
        F: Fn(Value, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output: IntoOutcome> + Send + 'static,
    {
        let work: Arc<AsyncWork> = Arc::new(move |arguments, context| {
            let outcome = work(arguments, context);
            Box::pin(async move { outcome.await.into_outcome() })
        });
        Self::with_work(name.into(), description.into(), input_schema, ToolWork::Async(work))
    }

    /// Creates a tool from a blocking function, with an input schema of your own.
    pub fn raw_blocking<F, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        work: F,
    ) -> Self
    where
        F: Fn(Value, CallContext) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        let work: Arc<BlockingWork> =
            Arc::new(move |arguments, context| work(arguments, context).into_outcome());
        Self::with_work(name.into(), description.into(), input_schema, ToolWork::Blocking(work))
    }

    fn with_work(name: String, description: String, input_schema: Value, work: ToolWork) -> Self {
        Self { name, description, input_schema, optional: Map::new(), limit: DEFAULT_LIMIT, work }
    }

    /// Sets how long a call may take; the default is one hour.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets a display name.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.with_optional("title", Value::String(title.into()))
    }

    /// Declares that the tool changes nothing. Agents then call it without asking, and may make
    /// several calls at once: offer [`connections`](super::Host::connections) for those.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.annotation("readOnlyHint", Value::Bool(true))
    }

    /// Sets one of MCP's annotations, such as `destructiveHint`.
    #[must_use]
    pub fn annotation(mut self, name: &str, value: Value) -> Self {
        let annotations = self.optional.entry("annotations").or_insert_with(|| json!({}));
        if let Value::Object(annotations) = annotations {
            annotations.insert(name.to_owned(), value);
        }
        self
    }

    /// Sets the schema of the tool's structured results.
    #[must_use]
    pub fn output_schema(self, schema: Value) -> Self {
        self.with_optional("output_schema", schema)
    }

    /// Sets MCP's list of icons.
    #[must_use]
    pub fn icons(self, icons: Value) -> Self {
        self.with_optional("icons", icons)
    }

    /// Sets MCP's `_meta` of the tool.
    #[must_use]
    pub fn meta(self, meta: Map<String, Value>) -> Self {
        self.with_optional("_meta", Value::Object(meta))
    }

    fn with_optional(mut self, key: &str, value: Value) -> Self {
        self.optional.insert(key.to_owned(), value);
        self
    }

    /// Returns the tool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the tool's entry in the schema file.
    pub(super) fn entry(&self) -> Value {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), self.name.clone().into());
        entry.insert("description".to_owned(), self.description.clone().into());
        entry.insert("input_schema".to_owned(), self.input_schema.clone());
        entry.extend(self.optional.clone());
        Value::Object(entry)
    }
}

fn schema_of<A: JsonSchema>() -> Value {
    schemars::schema_for!(A).to_value()
}

/// Returns the arguments as the tool's type. Those that fit the derived schema can still fail here,
/// such as a number that is too large for its type.
fn parse_arguments<A: DeserializeOwned>(arguments: Value) -> Result<A, ToolError> {
    serde_json::from_value(arguments)
        .map_err(|error| ToolError::named(error_type::ARGUMENT, error.to_string()))
}
