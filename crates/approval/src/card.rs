//! A question as people see it: masked, safe to show, and independent of any channel.

mod blocked;
mod body;
mod confirm;
pub(crate) mod offers;
pub(crate) mod picks;
#[cfg(test)]
mod tests;
mod title;

use crate::plain;
use callgate_mask::mask_json;
use callgate_mask::text::{self, Measure};
use callgate_wire::approval::{AnswerExtra, ApprovalRequest, RequestId, RequestKind};
use callgate_wire::desk::{CardOffer, CardPicker};

pub use blocked::BlockedCall;
pub use body::{CardBody, FileChange};
pub use confirm::ConfirmWord;

/// How much of a session's name is shown, in UTF-16 units.
const SHORT_SESSION: usize = 8;

/// The warning that channels show where a card hides something that could be executed.
pub const HIDDEN_COULD_RUN: &str = "Part of what is hidden could run.";

/// A question as people see it. Every text in it is masked and safe to show.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact that is shown")]
pub struct Card {
    /// The question's id.
    pub id: RequestId,
    /// The agent that asks, by the name that people know.
    pub agent: String,
    /// The folder the agent works in.
    pub project: String,
    /// The agent's session.
    pub session: String,
    /// The agent's name for the tool.
    pub tool: String,
    /// What the tool would do.
    pub body: CardBody,
    /// What the question is about, on one line, if the body alone does not say it.
    pub title: Option<String>,
    /// The whole input as JSON, masked: what a person may edit.
    pub input: String,
    /// The agent's last words before the question.
    pub last_words: Option<String>,
    /// Why a person is asked, if a rule says so.
    pub because: Option<String>,
    /// The word that has to be typed to allow it, if a rule wants that.
    pub confirm: Option<ConfirmWord>,
    /// Whether something hidden could be executed: it would be allowed unseen.
    pub hides_what_runs: bool,
    /// What blocked the call, if the question is whether it may try again.
    pub blocked: Option<BlockedCall>,
    /// Whether the call is denied if nobody answers, because the agent has no prompt of its own, or
    /// because that prompt could not ask for a typed word.
    pub no_answer_denies: bool,
    /// What can be allowed from now on.
    pub offers: Vec<CardOffer>,
    /// The agent's own questions, with the answers to choose from.
    pub pickers: Vec<CardPicker>,
    /// Whether a deny may also end the agent's turn.
    pub can_stop: bool,
    /// Whether the input may be changed.
    pub can_edit: bool,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: i64,
    /// Until when an answer counts, in milliseconds since 1970.
    pub until_ms: i64,
}

impl Card {
    /// Makes the card of a request. `input` is its masked input; the last words and the suggestions
    /// are masked here.
    #[must_use]
    pub fn new(request: &ApprovalRequest, input: &str, asked_ms: i64, until_ms: i64) -> Self {
        let shown = |text: &str| plain::shown(text);
        let last_words = request.context.as_ref().and_then(|context| context.last_words.as_deref());
        let agent = request.agent.as_deref().unwrap_or("agent");
        let blocked = BlockedCall::of(request);
        // Whether a blocked call may try again is answered with yes or no.
        let takes = |extra| blocked.is_none() && request.takes(extra);
        let can_edit = takes(AnswerExtra::Edit);
        let offers = if takes(AnswerExtra::Always) && request.kind == RequestKind::Ask {
            offers::of(&request.permission_suggestions)
        } else {
            Vec::new()
        };
        let body = CardBody::of(&request.tool_name, input);
        Self {
            id: request.request_id.clone(),
            agent: shown(agent_name(agent)),
            project: shown(&request.cwd),
            session: shown(&request.session_id),
            tool: shown(&request.tool_name),
            title: title::of(&request.tool_name, input, &body),
            body,
            input: plain::visible(input),
            last_words: last_words.map(shown).filter(|words| !words.trim().is_empty()),
            because: None,
            confirm: None,
            hides_what_runs: mask_json(input).could_run(),
            no_answer_denies: request.kind == RequestKind::Check,
            offers,
            pickers: if can_edit { picks::of(&request.tool_name, input) } else { Vec::new() },
            can_stop: takes(AnswerExtra::Interrupt),
            can_edit,
            blocked,
            asked_ms,
            until_ms,
        }
    }

    /// Returns how long the question waits and until when, in UTC, since the reader's time zone is
    /// unknown.
    #[must_use]
    pub fn deadline(&self) -> String {
        let seconds = (self.until_ms - self.asked_ms).max(0) / 1000;
        let long = match seconds {
            0..=119 => format!("{seconds} s"),
            120..=7199 => format!("{} min", seconds / 60),
            _ => format!("{} h", seconds / 3600),
        };
        let (hour, minute) =
            (self.until_ms.div_euclid(3_600_000), self.until_ms.div_euclid(60_000));
        let until = format!("{:02}:{:02}", hour.rem_euclid(24), minute.rem_euclid(60));
        let unanswered = if self.no_answer_denies { "; no answer is a no" } else { "" };
        format!("{long}, until {until} UTC{unanswered}")
    }

    /// Returns the beginning of the session's name, by which people tell sessions apart.
    #[must_use]
    pub fn short_session(&self) -> &str {
        text::cut(&self.session, SHORT_SESSION, Measure::Utf16)
    }

    /// Returns true if words are the answer, and not a refusal: the agent asks its user something.
    pub(crate) fn takes_words(&self) -> bool {
        self.can_edit && picks::worded(&self.tool, &self.input, "", &[]).is_some()
    }

    /// Returns true if words can be neither an answer nor a refusal: a tool server asks for a form,
    /// or for one of certain answers.
    pub(crate) fn refuses_words(&self) -> bool {
        self.blocked.is_some() || self.can_edit && self.tool == "Elicitation" && !self.takes_words()
    }

    /// Returns the labels of the picked answers.
    pub(crate) fn picked(&self, picks: &[Vec<u8>]) -> String {
        let label = |picker: &CardPicker, at: u8| {
            picker.choices.get(usize::from(at)).map(|choice| plain::line(choice.label.trim()))
        };
        let answers = self.pickers.iter().zip(picks).map(|(picker, picks)| {
            let labels = picks.iter().filter_map(|at| label(picker, *at));
            labels.collect::<Vec<_>>().join(", ")
        });
        answers.filter(|labels| !labels.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Returns what the question is about, on one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let line = self.title.clone().or_else(|| self.body.line());
        let line = line.unwrap_or_else(|| self.tool.clone());
        plain::line(line.trim())
    }
}

/// Returns the name by which people know an agent.
pub(crate) fn agent_name(agent: &str) -> &str {
    match agent {
        "claude-code" => "Claude Code",
        "codex" => "Codex",
        "script" => "A script",
        other => other,
    }
}
