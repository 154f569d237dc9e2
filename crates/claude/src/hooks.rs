//! Hooks: functions of your program that the CLI calls at certain moments.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::control;
use callgate_wire::raw::Members;
use serde_json::{Map, Value, json};

use crate::fields::member_value;

/// A moment at which the CLI calls a [`Hook`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookEvent {
    /// Before a tool runs.
    PreToolUse,
    /// After a tool has run.
    PostToolUse,
    /// After a tool has failed.
    PostToolUseFailure,
    /// Before somebody is asked whether a tool may run.
    PermissionRequest,
    /// Before a prompt is sent to the model.
    UserPromptSubmit,
    /// When a session begins.
    SessionStart,
    /// When a session ends.
    SessionEnd,
    /// Before the agent ends its turn.
    Stop,
    /// When a subagent begins.
    SubagentStart,
    /// Before a subagent ends.
    SubagentStop,
    /// Before the conversation is summarised.
    PreCompact,
    /// When the CLI notifies its user.
    Notification,
    /// Any other event, under the CLI's name.
    Other(String),
}

impl HookEvent {
    /// Returns the CLI's name of the event.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PermissionRequest => "PermissionRequest",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::Notification => "Notification",
            Self::Other(name) => name,
        }
    }

    /// Returns true if something is about to happen that the hook may refuse.
    fn is_guard(&self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest | Self::UserPromptSubmit)
    }
}

/// The input of a [`Hook`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookInput {
    /// The event.
    pub event: HookEvent,
    /// The tool, if the event is about one.
    pub tool_name: Option<String>,
    /// The tool's arguments; null if there is no tool.
    pub tool_input: Value,
    /// The tool call, if the event is about one.
    pub tool_use_id: Option<String>,
    /// The whole input, as the CLI sent it.
    pub data: Value,
}

/// The answer of a [`Hook`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOutput {
    verdict: Option<HookVerdict>,
    input: Option<Value>,
    context: Option<String>,
    raw: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum HookVerdict {
    Allow,
    Deny(String),
    Ask(String),
    Stop(String),
}

impl HookOutput {
    /// Does not interfere.
    #[must_use]
    pub fn proceed() -> Self {
        Self::default()
    }

    /// Allows the tool call without asking. Rules that deny it still apply.
    #[must_use]
    pub fn allow() -> Self {
        Self::from_verdict(HookVerdict::Allow)
    }

    /// Denies what the event is about: the tool call, the prompt, the end of the turn. The model
    /// reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::from_verdict(HookVerdict::Deny(reason.into()))
    }

    /// Lets [`ClaudeSettings::permission`](crate::ClaudeSettings::permission) decide about the
    /// tool, even if a rule would allow it.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::from_verdict(HookVerdict::Ask(reason.into()))
    }

    /// Ends the call.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::from_verdict(HookVerdict::Stop(reason.into()))
    }

    /// Answers with JSON of your own, in the CLI's form.
    #[must_use]
    pub fn raw(output: Value) -> Self {
        Self { raw: Some(output), ..Self::default() }
    }

    fn from_verdict(verdict: HookVerdict) -> Self {
        Self { verdict: Some(verdict), ..Self::default() }
    }

    /// Runs the tool with these arguments instead of the model's.
    #[must_use]
    pub fn input(mut self, input: Value) -> Self {
        self.input = Some(input);
        self
    }

    /// Gives the model additional context.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// Returns the answer in the CLI's form.
    fn to_response(&self, event: &HookEvent) -> Value {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let mut output = Map::new();
        let mut specific = Map::new();
        match (&self.verdict, event) {
            (Some(HookVerdict::Stop(reason)), _) => {
                output.insert("continue".into(), json!(false));
                output.insert("stopReason".into(), json!(reason));
            }
            (Some(verdict), HookEvent::PreToolUse) => specific.extend(verdict.before_tool()),
            (Some(HookVerdict::Deny(reason)), HookEvent::PermissionRequest) => {
                let decision = json!({"behavior": "deny", "message": reason});
                specific.insert("decision".into(), decision);
            }
            (Some(HookVerdict::Allow), HookEvent::PermissionRequest) => {
                let mut decision = json!({"behavior": "allow"});
                if let Some(input) = &self.input {
                    decision["updatedInput"] = input.clone();
                }
                specific.insert("decision".into(), decision);
            }
            (Some(HookVerdict::Deny(reason)), _) => {
                output.insert("decision".into(), json!("block"));
                output.insert("reason".into(), json!(reason));
            }
            (None | Some(HookVerdict::Allow | HookVerdict::Ask(_)), _) => {}
        }
        if let (Some(input), HookEvent::PreToolUse) = (&self.input, event) {
            specific.insert("updatedInput".into(), input.clone());
        }
        if let Some(context) = &self.context {
            specific.insert("additionalContext".into(), json!(context));
        }
        if !specific.is_empty() {
            specific.insert("hookEventName".into(), json!(event.as_str()));
            output.insert("hookSpecificOutput".into(), specific.into());
        }
        output.into()
    }
}

impl HookVerdict {
    fn before_tool(&self) -> Vec<(String, Value)> {
        let (decision, reason) = match self {
            Self::Allow => ("allow", None),
            Self::Deny(reason) => ("deny", Some(reason)),
            Self::Ask(reason) => ("ask", Some(reason)),
            Self::Stop(_) => return Vec::new(),
        };
        let reason = reason.map(|reason| ("permissionDecisionReason".to_owned(), json!(reason)));
        std::iter::once(("permissionDecision".to_owned(), json!(decision))).chain(reason).collect()
    }
}

type HookFuture = Pin<Box<dyn Future<Output = HookOutput> + Send>>;

/// A function that the CLI calls at certain moments.
///
/// A hook that panics where it could deny something denies it.
///
/// ```
/// use callgate_claude::{ClaudeSettings, Hook, HookEvent, HookOutput};
///
/// let hook = Hook::new(HookEvent::PreToolUse, |call| async move {
///     match call.tool_input["command"].as_str() {
///         Some(command) if command.contains("rm ") => HookOutput::deny("nothing is removed here"),
///         _ => HookOutput::proceed(),
///     }
/// });
/// let settings = ClaudeSettings::new().hook(hook.matcher("Bash"));
/// ```
#[derive(Clone)]
pub struct Hook {
    event: HookEvent,
    matcher: Option<String>,
    timeout: Option<Duration>,
    function: Arc<dyn Fn(HookInput) -> HookFuture + Send + Sync>,
}

impl Hook {
    /// Creates a hook that is called at every such event.
    pub fn new<F, R>(event: HookEvent, function: F) -> Self
    where
        F: Fn(HookInput) -> R + Send + Sync + 'static,
        R: Future<Output = HookOutput> + Send + 'static,
    {
        let function = Arc::new(move |input| Box::pin(function(input)) as HookFuture);
        Self { event, matcher: None, timeout: None, function }
    }

    /// Calls the hook only for tools whose name matches this regular expression.
    #[must_use]
    pub fn matcher(mut self, pattern: impl Into<String>) -> Self {
        self.matcher = Some(pattern.into());
        self
    }

    /// Sets how long the CLI waits for the hook. The default is the CLI's.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    fn registration(&self, id: &str) -> Value {
        let mut entry = json!({"hookCallbackIds": [id]});
        if let Some(matcher) = &self.matcher {
            entry["matcher"] = json!(matcher);
        }
        if let Some(timeout) = self.timeout {
            entry["timeout"] = json!(timeout.as_secs_f64());
        }
        if self.event.is_guard() {
            // For CLIs that know it: a hook that returned no answer has not allowed anything.
            entry["onFailure"] = json!("block");
        }
        entry
    }

    /// Reads the hook's input from the CLI's request. The whole of it stays beside what is known,
    /// because other versions of the CLI send more.
    pub(crate) fn decode_input(&self, request: &Members<'_>) -> HookInput {
        let data: Value = member_value(request, "input").unwrap_or_default();
        let text = |name: &str| data[name].as_str().map(str::to_owned);
        HookInput {
            event: self.event.clone(),
            tool_name: text("tool_name"),
            tool_input: data["tool_input"].clone(),
            tool_use_id: request.string("tool_use_id").map(Into::into),
            data,
        }
    }

    /// Calls the hook, and returns its answer as JSON text.
    pub(crate) async fn call(self, input: HookInput) -> String {
        (self.function)(input).await.to_response(&self.event).to_string()
    }

    /// Returns the line that answers the CLI's request `id` for a hook that has panicked.
    pub(crate) fn panic_response(&self, id: &str) -> String {
        let reason = "the hook that decides this has panicked";
        if self.event.is_guard() {
            let refusal = HookOutput::deny(reason).to_response(&self.event);
            return control::success_line(id, &refusal.to_string());
        }
        control::failure_line(id, reason)
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, matcher, timeout, .. } = self;
        f.debug_struct("Hook")
            .field("event", event)
            .field("matcher", matcher)
            .field("timeout", timeout)
            .finish_non_exhaustive()
    }
}

/// Returns the hooks in the form of the CLI's `initialize`. The id of a callback is its index.
pub(crate) fn registrations_by_event(hooks: &[Hook]) -> Value {
    let mut events = Map::new();
    for (index, hook) in hooks.iter().enumerate() {
        let entries = events.entry(hook.event.as_str()).or_insert_with(|| json!([]));
        if let Value::Array(entries) = entries {
            entries.push(hook.registration(&index.to_string()));
        }
    }
    events.into()
}

#[cfg(test)]
mod tests;
