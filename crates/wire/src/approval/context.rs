//! What an asker adds to the question: the protocol's optional extensions.

use serde::Serialize;

use super::{LONGEST_NAME, LONGEST_PATH, LONGEST_TEXT, Malformed, check_length};
use crate::fields::{optional_field, optional_list};
use crate::raw::{Json, Members};

words! {
    #[derive(Default)]
    pub enum RequestKind {
        /// A question: may this tool be run?
        #[default]
        Ask "ask",
        /// Something has happened that may have settled open questions; gets no answer.
        Settle "settle",
        /// Something worth telling a person; gets no answer.
        Notify "notify",
        /// A tool is about to run in any mode of the agent: what do the rules say?
        Check "check",
    }

    /// Something that an answer may carry beyond allow and deny, and that not every asker accepts.
    pub enum AnswerExtra {
        /// A suggestion to apply from now on.
        Always "always",
        /// The input as a person has changed it.
        Edit "edit",
        /// A deny that ends the agent's turn.
        Interrupt "interrupt",
        /// Who decided, or that nobody could be reached.
        Outcome "outcome",
    }

    /// Who puts the question to a person when a [`RequestKind::Check`] needs one.
    #[derive(Default)]
    pub enum Prompter {
        /// The agent can show a dialog of its own: the desk answers at once.
        Agent "agent",
        /// The asker waits until somebody has answered at the desk.
        #[default]
        Desk "desk",
    }
}

/// The most texts of an edit whose lines are told. The rest are shown without numbers.
const MOST_EDIT_LINES: usize = 4096;

impl RequestKind {
    /// Returns true if the desk answers a request of this kind.
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Ask | Self::Check)
    }
}

/// What an asker adds to the question; every field is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RequestContext {
    /// The agent's name of the event that led to this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The agent's id of the user's prompt it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The subagent that asks, when it is not the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The agent's last words before the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    /// Whether the last words may follow the request as [`LateWords`](super::LateWords).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words_follow: Option<bool>,
    /// Whether the tool that has ended succeeded; for [`RequestKind::Settle`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// How long the asker will wait, when that is less than the desk would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// What the asker accepts in an answer; absent means a suggestion and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<Vec<AnswerExtra>>,
    /// Why a person has to be asked, whatever the rules allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_ask: Option<String>,
    /// The permission mode in which the agent runs, in the agent's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The agent's id of this one tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Why the agent itself has blocked the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who puts the question to a person; for [`RequestKind::Check`], where absent means the desk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<Prompter>,
    /// Whether the asker has a front end of its own that may answer this very question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<bool>,
    /// The value that a host has registered at the desk for the agent that it drives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gated: Option<String>,
    /// The agent in whose settings the hook is, if that is another one than the agent that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_of: Option<String>,
    /// The folder of the agent's settings, where its environment names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings_folder: Option<String>,
    /// For an edit, the line of the file at which each text that it replaces begins, from 1; 0 where
    /// that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_lines: Option<Vec<u64>>,
}

impl RequestContext {
    pub(super) fn from_json(json: Json<'_>) -> Result<Self, Malformed> {
        let members = json.members();
        let text = |field| optional_field(&members, field, "a string");
        Ok(Self {
            event: text("event")?,
            prompt_id: text("prompt_id")?,
            agent_id: text("agent_id")?,
            last_words: text("last_words")?,
            words_follow: optional_field(&members, "words_follow", "true or false")?,
            ok: optional_field(&members, "ok", "true or false")?,
            timeout_seconds: optional_field(&members, "timeout_seconds", "a whole number")?,
            takes: decode_extras(&members)?,
            must_ask: text("must_ask")?,
            mode: text("mode")?,
            tool_use_id: text("tool_use_id")?,
            reason: text("reason")?,
            asks: optional_field(&members, "asks", "agent or desk")?,
            answers: optional_field(&members, "answers", "true or false")?,
            gated: text("gated")?,
            hook_of: text("hook_of")?,
            settings_folder: text("settings_folder")?,
            edit_lines: optional_field(&members, "edit_lines", "whole numbers")?,
        })
    }

    /// Refuses names and paths that are too long, and leaves out the rest of what is too much for
    /// people.
    pub(super) fn check_lengths(&mut self) -> Result<(), Malformed> {
        let names = [
            ("event", &self.event),
            ("prompt_id", &self.prompt_id),
            ("agent_id", &self.agent_id),
            ("mode", &self.mode),
            ("tool_use_id", &self.tool_use_id),
            ("gated", &self.gated),
            ("hook_of", &self.hook_of),
        ];
        for (field, name) in names {
            check_length(field, name.as_ref(), LONGEST_NAME)?;
        }
        check_length("settings_folder", self.settings_folder.as_ref(), LONGEST_PATH)?;
        let texts = [&mut self.last_words, &mut self.must_ask, &mut self.reason];
        for text in texts.into_iter().flatten() {
            text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        }
        if let Some(lines) = &mut self.edit_lines {
            lines.truncate(MOST_EDIT_LINES);
        }
        Ok(())
    }
}

/// Reads what the asker accepts. Unknown names are ignored: nothing here would send them.
fn decode_extras(members: &Members<'_>) -> Result<Option<Vec<AnswerExtra>>, Malformed> {
    let names: Option<Vec<String>> = optional_list(members, "takes")?;
    let known = |name: String| serde_json::from_value(name.into()).ok();
    Ok(names.map(|names| {
        let mut extras = Vec::new();
        for extra in names.into_iter().filter_map(known) {
            if !extras.contains(&extra) {
                extras.push(extra);
            }
        }
        extras
    }))
}
