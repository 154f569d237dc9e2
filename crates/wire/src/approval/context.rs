//! What an asker adds to the question: the protocol's optional extensions.

use super::{LONGEST_NAME, LONGEST_PATH, LONGEST_TEXT, Malformed, check_length};
use crate::fields::required_field;
use crate::raw::Members;

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

/// The most texts of an edit that have line numbers. The rest are shown without.
const MOST_EDIT_LINES: usize = 4096;

impl RequestKind {
    /// Returns true if the desk answers a request of this kind.
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Ask | Self::Check)
    }
}

message_structs! {
    /// What an asker adds to the question; every field is optional.
    #[derive(PartialEq, Eq, Default)]
    pub struct RequestContext {
        /// The agent's name of the event that led to this request.
        event optional: Option<String> = TEXT,
        /// The agent's id of the user's prompt it works on.
        prompt_id optional: Option<String> = TEXT,
        /// The subagent that asks, when it is not the main one.
        agent_id optional: Option<String> = TEXT,
        /// The agent's last words before the question.
        last_words optional: Option<String> = TEXT,
        /// Whether the last words may follow the request as [`LateWords`](super::LateWords).
        words_follow optional: Option<bool> = TRUE_OR_FALSE,
        /// Whether the tool that has ended succeeded; for [`RequestKind::Settle`].
        ok optional: Option<bool> = TRUE_OR_FALSE,
        /// How long the asker will wait, when that is less than the desk would.
        timeout_seconds optional: Option<u64> = "a whole number",
        /// What the asker accepts in an answer; absent means a suggestion and nothing else.
        takes optional: Option<Vec<AnswerExtra>> = decode_extras,
        /// Why a person has to be asked, whatever the rules allow.
        must_ask optional: Option<String> = TEXT,
        /// The permission mode in which the agent runs, in the agent's own word.
        mode optional: Option<String> = TEXT,
        /// The agent's id of this one tool call.
        tool_use_id optional: Option<String> = TEXT,
        /// Why the agent itself has blocked the call.
        reason optional: Option<String> = TEXT,
        /// Who puts the question to a person; for [`RequestKind::Check`], where absent means the
        /// desk.
        asks optional: Option<Prompter> = "agent or desk",
        /// Whether the asker has a front end of its own that may answer this very question.
        answers optional: Option<bool> = TRUE_OR_FALSE,
        /// The value that a host has registered at the desk for the agent that it drives.
        gated optional: Option<String> = TEXT,
        /// The agent in whose settings the hook is, if that is another one than the agent that
        /// asks.
        hook_of optional: Option<String> = TEXT,
        /// The folder of the agent's settings, where its environment names one.
        settings_folder optional: Option<String> = TEXT,
        /// For an edit, the line of the file at which each text that it replaces begins, from 1; 0
        /// where that is not known.
        edit_lines optional: Option<Vec<u64>> = "whole numbers",
    }
}

const TEXT: &str = "a string";
const TRUE_OR_FALSE: &str = "true or false";

impl RequestContext {
    pub(super) fn from_member(members: &Members, name: &'static str) -> Result<Self, Malformed> {
        let context = members.get(name).filter(|context| context.is_object());
        let context = context.ok_or(Malformed::wrong_field(name, "an object"))?;
        Self::from_members(&context.members())
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
        // A name is refused and not cut, because what is left would be another name.
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
fn decode_extras(members: &Members, name: &'static str) -> Result<Vec<AnswerExtra>, Malformed> {
    let names: Vec<String> = required_field(members, name, "an array")?;
    let mut extras = Vec::new();
    for extra in names.iter().filter_map(|name| AnswerExtra::parse(name)) {
        if !extras.contains(&extra) {
            extras.push(extra);
        }
    }
    Ok(extras)
}
