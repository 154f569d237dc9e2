//! A question as people see it: masked, safe to show, and independent of any channel.

mod blocked;
mod confirm;
mod grants;
pub(crate) mod offers;
pub(crate) mod picks;
mod summary;
#[cfg(test)]
pub(crate) mod tests;

use std::ops::{Deref, DerefMut};

use crate::plain;
use callgate_mask::card_content::{content_of, count_lines_from};
use callgate_mask::text::{self, Measure};
use callgate_mask::{MaskedText, mask_json};
use callgate_wire::approval::{AllowDemands, AnswerExtra, ApprovalRequest, RequestId, RequestKind};
use callgate_wire::desk::{AnswerNeeds, AskedRuling, CardPicker, InboxRow, QuestionCard};
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::CallFate;
use callgate_wire::tool_act::{ToolAct, ToolKind};
use serde_json::{Map, Value};

pub use blocked::BlockedCall;
pub use confirm::ConfirmWord;

/// How much of a session's name is shown, in UTF-16 units.
const SHORT_SESSION: usize = 8;

/// The warning that channels show where a card hides something that could be executed.
pub const HIDDEN_COULD_RUN: &str = "Part of what is hidden could run.";

/// A question at the desk: the card that every channel draws, and what only the desk knows. Every
/// text in it is masked and safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub id: RequestId,
    pub shown: QuestionCard,
    /// The word that has to be typed to allow it, if a rule wants that.
    pub confirm: Option<ConfirmWord>,
    pub blocked: Option<BlockedCall>,
}

impl Deref for Card {
    type Target = QuestionCard;

    fn deref(&self) -> &QuestionCard {
        &self.shown
    }
}

impl DerefMut for Card {
    fn deref_mut(&mut self) -> &mut QuestionCard {
        &mut self.shown
    }
}

impl Card {
    /// Makes the card of a request. `input` is its masked input; the last words and the suggestions
    /// are masked here.
    pub fn new(request: &ApprovalRequest, input: &str, asked_ms: i64, until_ms: i64) -> Self {
        let fields = serde_json::from_str(input).unwrap_or_default();
        let (agent, tool) = (request.agent.as_deref().unwrap_or("agent"), &request.tool_name);
        let kind = ToolKind::for_tool(agent, tool);
        let act = ToolAct::from_call(agent, tool, &fields);
        let last_words = request.context.as_ref().and_then(|context| context.last_words.as_deref());
        let blocked = BlockedCall::from_request(request);
        // Whether a blocked call may try again is answered with yes or no.
        let takes = |extra| blocked.is_none() && request.takes(extra);
        // An agent does not run code after a hook has changed it.
        let can_edit = takes(AnswerExtra::Edit) && kind != ToolKind::Code;
        // An asker without `takes` takes an “always”, but no answer to a check can carry one.
        let takes_offers = takes(AnswerExtra::Always) && request.kind == RequestKind::Ask;
        let suggestions = &request.permission_suggestions;
        let pickers = if can_edit { picks::pickers_from_input(kind, input) } else { Vec::new() };
        let mut body = content_of(&act, &fields, input);
        let lines = request.context.as_ref().and_then(|context| context.edit_lines.as_deref());
        count_lines_from(&mut body, lines.unwrap_or_default());
        let row = InboxRow {
            question: request.request_id.to_string(),
            seq: 0,
            agent: plain::safe_text(agent_name(agent)),
            project: plain::safe_text(&request.cwd),
            session: plain::safe_text(&request.session_id),
            tool: plain::safe_text(tool),
            deed: kind.deed(&plain::safe_text(tool)),
            summary: summary::call_summary(kind, &act, tool),
            asked_ms,
            until_ms,
            ruling: AskedRuling::Ask,
            because: None,
            needs: AnswerNeeds::Press,
            mode: request.mode().map(plain::safe_line),
            risks: Vec::new(),
            alike: None,
            machine: request.machine.as_ref().map(|machine| plain::safe_line(&machine.name)),
            demands: AllowDemands::default(),
            allowed_by: None,
        };
        let shown = QuestionCard {
            grants: grants::grants_of(&body, blocked.is_some(), !pickers.is_empty()),
            body,
            input: plain::visible_text(input),
            last_words: last_words.map(plain::safe_text).filter(|words| !words.trim().is_empty()),
            offers: if takes_offers { offers::from_suggestions(suggestions) } else { Vec::new() },
            takes_words: can_edit && picks::answered_input(kind, input, &[], Some("")).is_some(),
            pickers,
            can_edit,
            can_stop: takes(AnswerExtra::Interrupt),
            no_answer_denies: request.kind == RequestKind::Check,
            fails_open: fails_open(request),
            // Few inputs hide anything, and the first question is the cheap one.
            hides_what_runs: MaskedText::is_hiding(input) && mask_json(input).could_run(),
            blocked: blocked.as_ref().map(|blocked| blocked.question_line(&row.summary)),
            confirm_word_of: None,
            is_cut: false,
            row,
        };
        Self { id: request.request_id.clone(), shown, confirm: None, blocked }
    }

    /// Returns what a call is about, on one line. `input` is its masked input.
    pub(crate) fn summary_of(request: &ApprovalRequest, input: &str) -> String {
        let fields = serde_json::from_str(input).unwrap_or_default();
        let agent = request.agent.as_deref().unwrap_or_default();
        Self::summary_of_call(agent, &request.tool_name, &fields)
    }

    /// Returns what a call of an agent's tool is about, on one line, by its masked input.
    pub(crate) fn summary_of_call(agent: &str, tool: &str, fields: &Map<String, Value>) -> String {
        let act = ToolAct::from_call(agent, tool, fields);
        summary::call_summary(ToolKind::for_tool(agent, tool), &act, tool)
    }

    /// Returns how long the question waits and until when, in UTC, since the reader's time zone is
    /// unknown.
    pub fn deadline(&self) -> String {
        let InboxRow { asked_ms, until_ms, .. } = self.row;
        let seconds = (until_ms - asked_ms).max(0) / 1000;
        let long = match seconds {
            0..=119 => format!("{seconds} s"),
            120..=7199 => format!("{} min", seconds / 60),
            _ => format!("{} h", seconds / 3600),
        };
        let (hour, minute) = (until_ms.div_euclid(3_600_000), until_ms.div_euclid(60_000));
        let until = format!("{:02}:{:02}", hour.rem_euclid(24), minute.rem_euclid(60));
        let unanswered = if self.no_answer_denies { "; no answer is a no" } else { "" };
        format!("{long}, until {until} UTC{unanswered}")
    }

    /// Returns the beginning of the session's name, by which people tell sessions apart.
    pub fn short_session(&self) -> &str {
        text::cut_to_length(&self.row.session, SHORT_SESSION, Measure::Utf16)
    }

    /// Returns true if words can be neither an answer nor a refusal: a tool server asks for a form,
    /// or for one of certain answers.
    pub(crate) fn refuses_words(&self) -> bool {
        let is_form = self.can_edit && ToolKind::for_tool("", &self.row.tool) == ToolKind::Elicit;
        self.blocked.is_some() || is_form && !self.takes_words
    }

    pub(crate) fn picked_labels(&self, picks: &[Vec<u8>]) -> String {
        let label = |picker: &CardPicker, at: u8| {
            picker.choices.get(usize::from(at)).map(|choice| plain::safe_line(choice.label.trim()))
        };
        let answers = self.pickers.iter().zip(picks).map(|(picker, picks)| {
            let labels = picks.iter().filter_map(|at| label(picker, *at));
            labels.collect::<Vec<_>>().join(", ")
        });
        answers.filter(|labels| !labels.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the warning about an agent that runs a call if its hook returns no answer.
fn fails_open(request: &ApprovalRequest) -> Option<String> {
    let agent = AgentProfile::find(request.agent.as_deref()?)?;
    let is_open = request.kind == RequestKind::Check
        && agent.failures.timeout == CallFate::GoesOn
        && !asks_by_itself(request.mode());
    is_open.then(|| format!("{} runs this if callgate is killed before it answers.", agent.name))
}

/// Returns true if the agent asks its user by itself in this mode. In unknown modes it is taken not
/// to.
pub(crate) fn asks_by_itself(mode: Option<&str>) -> bool {
    matches!(mode, Some("default" | "acceptEdits" | "plan"))
}

/// Returns the name by which people know an agent.
pub(crate) fn agent_name(agent: &str) -> &str {
    match (AgentProfile::find(agent), agent) {
        (Some(agent), _) => agent.name,
        (None, "script") => "A script",
        (None, other) => other,
    }
}
