//! The hook JSON of agent CLIs: a hook's standard input, and its answer.
//!
//! Most agents use the format of Claude Code, or one much like it, and differ in which answers they
//! accept: [`agents`] has what is known of each. Fields come and go with their versions, so every
//! field but the event's name may be missing or of another type; what is passed on keeps its bytes.

pub mod agents;
mod answer;
mod form;
#[cfg(test)]
mod tests;
mod transcript;

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use crate::approval::{
    AnswerExtra, ApprovalRequest, Prompter, RequestContext, RequestId, RequestKind,
};
use crate::raw::{InexactJson, Json, MOST_LEVELS, Members, NotJson, check_exact, json_string};
use crate::tool_act::ToolKind;

use agents::{AnswerAbilities, EditAbility, HookEventProfile, InputForm};

pub use agents::AgentProfile;
pub use answer::{call_refusal, render_response, settings_refusal};
pub use form::HookReply;
pub use transcript::{LastWords, MAX_WORDS, cut_last_words, find_last_words};

words! {
    /// What happens when a hook is run, by its name in requests, which is that of Claude Code.
    pub enum AgentHookEvent {
        /// The agent is about to ask its user.
        PermissionRequest "PermissionRequest",
        PreToolUse "PreToolUse",
        /// The agent has blocked a tool call by itself.
        PermissionDenied "PermissionDenied",
        /// One of the agent's MCP servers asks the user for something.
        Elicitation "Elicitation",
        PostToolUse "PostToolUse",
        PostToolUseFailure "PostToolUseFailure",
        /// A turn has ended.
        Stop "Stop",
        SessionEnd "SessionEnd",
        /// The agent has something to report.
        Notification "Notification",
        /// A settings file has changed; the agent applies it unless a hook refuses.
        ConfigChange "ConfigChange",
        /// Anything else, which callgate does not handle.
        Other "",
    }
}

impl AgentHookEvent {
    /// Returns the kind of request to the desk; `None` for an event that callgate does not handle.
    pub fn kind(self) -> Option<RequestKind> {
        match self {
            Self::PreToolUse => Some(RequestKind::Check),
            Self::PermissionRequest | Self::PermissionDenied | Self::Elicitation => {
                Some(RequestKind::Ask)
            }
            Self::PostToolUse | Self::PostToolUseFailure | Self::Stop | Self::SessionEnd => {
                Some(RequestKind::Settle)
            }
            Self::Notification | Self::ConfigChange => Some(RequestKind::Notify),
            Self::Other => None,
        }
    }

    /// Returns true if the agent waits for an answer to this event.
    pub fn decides(self) -> bool {
        self.kind().is_some_and(RequestKind::is_answered)
    }

    /// Returns whether the tool that has ended succeeded.
    fn tool_success(self) -> Option<bool> {
        match self {
            Self::PostToolUse => Some(true),
            Self::PostToolUseFailure => Some(false),
            _ => None,
        }
    }
}

/// The member of Claude Code's input that names the event.
const EVENT: &str = "hook_event_name";

/// The members on which a decision depends.
const DECISIVE: [&str; 5] = [EVENT, "tool_name", "tool_input", "cwd", "session_id"];
/// Grok's mark of a tool input of which it passes only a part.
const TRUNCATED: &str = "toolInputTruncated";

/// The modes of Claude Code in which it shows a dialog if a hook asks for one.
const MODES_WITH_DIALOG: [&str; 4] = ["default", "acceptEdits", "plan", "auto"];

#[derive(Debug, Clone)]
pub struct AgentHookInput<'a> {
    text: &'a str,
    agent: &'static AgentProfile,
    /// What the agent accepts at the event, and how it is answered.
    known: &'static HookEventProfile,
    /// The members, under the names of Claude Code.
    members: Members<'a>,
}

/// Why a hook's input cannot be used. Its text quotes no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotHookInput {
    /// It is not one JSON object.
    NotJson(NotJson),
    /// A required field is missing or not a string.
    Missing(&'static str),
    /// The agent has left out a part of the tool's input.
    Cut,
}

impl fmt::Display for NotHookInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(error) => write!(f, "{error}"),
            Self::Missing(field) => write!(f, "it has no `{field}`"),
            Self::Cut => f.write_str("it has only a part of the tool's input"),
        }
    }
}

impl std::error::Error for NotHookInput {}

impl<'a> AgentHookInput<'a> {
    /// Parses what `agent` has written to standard input. Without an agent it is guessed: only
    /// Codex counts turns by a `turn_id`.
    pub fn from_bytes(
        text: &'a [u8],
        agent: Option<&'static AgentProfile>,
    ) -> Result<Self, NotHookInput> {
        let text = std::str::from_utf8(text)
            .map_err(|error| NotHookInput::NotJson(NotJson { bytes_read: error.valid_up_to() }))?;
        let members = Members::from_text(text).map_err(NotHookInput::NotJson)?;
        let agent = agent.unwrap_or(if members.get_non_null("turn_id").is_some() {
            &agents::CODEX
        } else {
            &agents::CLAUDE
        });
        let (members, event) = match agent.input {
            InputForm::Object { event, decode } => (decode(members), event),
            InputForm::Bare { .. } => (members, EVENT),
        };
        let named = members.0.iter().filter(|(key, _)| key == EVENT);
        let mut events = named.filter_map(|(_, name)| Some(agent.event(&name.string()?)));
        let first = events.next().ok_or(NotHookInput::Missing(event))?;
        // Of two names, the one counts at which the agent waits for an answer.
        let decides = |known: &&HookEventProfile| known.event.decides();
        let known = if decides(&first) { first } else { events.find(decides).unwrap_or(first) };
        Ok(Self { text, agent, known, members })
    }

    /// Checks that the agent cannot mean anything else by this input than what is read here. Only
    /// an event that [decides](AgentHookEvent::decides) needs it.
    pub fn check_exact(&self) -> Result<(), InexactJson> {
        // Two members may be the same one under different names.
        let is_twice = |name: &&str| self.members.0.iter().filter(|(it, _)| it == name).count() > 1;
        if DECISIVE.iter().any(is_twice) {
            return Err(InexactJson::RepeatedKey);
        }
        check_exact(self.text, MOST_LEVELS)
    }

    /// Returns true if the tool's input alone is such that the rules deny it.
    pub fn has_inexact_tool_input(&self) -> bool {
        let input = self.members.get_non_null("tool_input");
        // The message around it is one level more.
        input.is_some_and(|input| check_exact(input.get(), MOST_LEVELS - 1).is_err())
    }

    pub fn event(&self) -> AgentHookEvent {
        self.known.event
    }

    pub fn agent(&self) -> &'static AgentProfile {
        self.agent
    }

    pub fn known_event(&self) -> &'static HookEventProfile {
        self.known
    }

    /// Returns who can put a question about this tool call to a person. The desk always can; the
    /// agent only where it is known to show its own dialog to somebody who is there.
    pub fn choose_prompter(&self, is_attended: bool) -> Prompter {
        let is_one_of = |field, names: &[&str]| {
            self.text(field).is_some_and(|name| names.contains(&name.as_ref()))
        };
        let has_dialog = *self.agent == agents::CLAUDE
            && is_attended
            && is_one_of("permission_mode", &MODES_WITH_DIALOG)
            // For these it checks permissions itself, and ignores a hook's `ask` in some modes.
            && !self.text("tool_name").is_some_and(|tool| {
                ToolKind::is_tool_of("claude-code", &tool) && ToolKind::for_tool("", &tool).is_about_files()
            });
        if has_dialog { Prompter::Agent } else { Prompter::Desk }
    }

    pub fn transcript_path(&self) -> Option<Cow<'a, str>> {
        self.text("transcript_path")
    }

    /// Returns the subagent that the event is about.
    pub fn agent_id(&self) -> Option<Cow<'a, str>> {
        self.text("agent_id")
    }

    /// Returns whose settings have changed, in the agent's words, and which file.
    pub fn changed_settings(&self) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        self.text("source").zip(self.text("file_path"))
    }

    /// Returns the request to the desk, except for the agent's last words. What the agent left out
    /// of `cwd` and `session_id` is empty, for the hook to fill in, as is who asks. The desk
    /// refuses a request without them.
    pub fn request(&self, request_id: RequestId) -> Result<ApprovalRequest, NotHookInput> {
        let text = |field| self.text(field).map(Cow::into_owned);
        if self.members.get(TRUNCATED).is_some_and(|cut| cut.get() == "true") {
            return Err(NotHookInput::Cut);
        }
        let context = RequestContext {
            event: Some(self.event().name().to_owned()),
            // Codex counts turns in place of prompts.
            prompt_id: text("prompt_id").or_else(|| text("turn_id")),
            agent_id: text("agent_id"),
            last_words: self.text("last_assistant_message").map(|words| cut_last_words(&words)),
            ok: self.event().tool_success(),
            takes: self.accepted_extras(),
            mode: text("permission_mode"),
            tool_use_id: text("tool_use_id"),
            // Other events have a `reason`, too.
            reason: text("reason").filter(|_| self.event() == AgentHookEvent::PermissionDenied),
            ..RequestContext::default()
        };
        Ok(ApprovalRequest {
            request_id,
            tool_name: self.tool_name()?,
            tool_input: self.tool_input(),
            cwd: text("cwd").unwrap_or_default(),
            session_id: text("session_id").unwrap_or_default(),
            permission_suggestions: self.suggestions(),
            kind: self.event().kind().unwrap_or_default(),
            agent: Some(self.agent.id.to_owned()),
            context: Some(context),
            machine: None,
        })
    }

    /// Returns the field if it is a string that is not empty.
    fn text(&self, field: &str) -> Option<Cow<'a, str>> {
        self.members.string(field).filter(|text| !text.is_empty())
    }

    /// Returns the tool's name; for an event that is about no tool, the event's.
    fn tool_name(&self) -> Result<String, NotHookInput> {
        let name = self.text("tool_name").map(Cow::into_owned);
        match self.event() {
            AgentHookEvent::Elicitation
            | AgentHookEvent::Notification
            | AgentHookEvent::ConfigChange
            | AgentHookEvent::Stop
            | AgentHookEvent::SessionEnd => Ok(self.event().name().to_owned()),
            _ => name.ok_or(NotHookInput::Missing("tool_name")),
        }
    }

    fn tool_input(&self) -> Box<RawValue> {
        match self.event() {
            AgentHookEvent::Elicitation => {
                self.some_of(&["message", "requested_schema", "mcp_server_name", "mode", "url"])
            }
            AgentHookEvent::Notification => {
                self.some_of(&["message", "title", "notification_type"])
            }
            AgentHookEvent::ConfigChange => self.some_of(&["source", "file_path"]),
            AgentHookEvent::SessionEnd => self.some_of(&["reason"]),
            AgentHookEvent::Stop => self.some_of(&[]),
            _ => match self.members.get_non_null("tool_input") {
                // A request has an object as its input. Any other value is still shown and judged
                // in one.
                Some(input) if !input.is_object() => build_object(&[("input", input)]),
                input => object_of(input.unwrap_or(Json::EMPTY).get().to_owned()),
            },
        }
    }

    /// Returns an object with those of these fields that are present.
    fn some_of(&self, fields: &[&'static str]) -> Box<RawValue> {
        let found =
            fields.iter().filter_map(|field| Some((*field, self.members.get_non_null(field)?)));
        build_object(&found.collect::<Vec<_>>())
    }

    fn suggestions(&self) -> Vec<Box<RawValue>> {
        let list = self.members.get_non_null("permission_suggestions");
        // A list that cannot be read offers nothing. The question itself is asked all the same.
        list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default()
    }

    /// Returns what the agent accepts in an answer to this event.
    fn accepted_extras(&self) -> Option<Vec<AnswerExtra>> {
        if !self.event().decides() {
            return None;
        }
        let AnswerAbilities { always, edit, interrupt, .. } = self.known.takes;
        let edits = match edit {
            EditAbility::None => false,
            EditAbility::Whole | EditAbility::Merged => true,
            EditAbility::WholeSince(member) => self.text(member).is_some(),
        };
        let extras = [
            (always, AnswerExtra::Always),
            (edits, AnswerExtra::Edit),
            (interrupt, AnswerExtra::Interrupt),
        ];
        Some(extras.into_iter().filter(|(takes, _)| *takes).map(|(_, extra)| extra).collect())
    }
}

/// Returns the input of an agent that passes the tool's input alone, in the form of Claude Code;
/// `None` if it is not an object, or if the tool's name is not known.
pub fn bare_input(tool: Option<String>, input: &[u8]) -> Option<Vec<u8>> {
    let input = std::str::from_utf8(input).ok()?;
    let input = Json::from_text(input).ok().filter(|input| input.is_object())?;
    let (event, tool) = (json_string(agents::AMP.before_tool_event().name), json_string(&tool?));
    // Put together as text, so that the input keeps its bytes.
    Some(format!(r#"{{"{EVENT}":{event},"tool_name":{tool},"tool_input":{input}}}"#).into_bytes())
}

fn build_object(members: &[(&str, Json<'_>)]) -> Box<RawValue> {
    let member = |(key, value): &(&str, Json)| format!("{}:{value}", json_string(key));
    let members: Vec<_> = members.iter().map(member).collect();
    object_of(format!("{{{}}}", members.join(",")))
}

/// Boxes the text of an object that was read before or put together here.
fn object_of(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
