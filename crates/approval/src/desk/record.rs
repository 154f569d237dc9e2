//! The ledger entries of the desk. Every text in them is masked.

use callgate_mask::mask_json;
use callgate_store::{EntryDraft, LONGEST_VALUE};
use callgate_wire::approval::{
    Action, ApprovalRequest, Decision, FirstAllow, RequestContext, RequestId,
};
use callgate_wire::ledger::{
    AgentCall, AnswerChannel, LedgerEvent, LedgerRuling, PersonPress, PressOutcome, QuestionAsked,
    QuestionDecided, RulesSaved,
};
use callgate_wire::raw::{Members, json_string};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::DeskStep;
use super::digest::CallDigest;
use super::question::{DecisionDetails, DeskDecision, Ruling};
use crate::card::Card;
use crate::channel::{Person, PersonPlace};
use crate::plain;
use crate::rule_desk::SavedRules;

/// How much of a masked input is recorded, in bytes. Of a longer one the beginning and the end are
/// recorded; the digest covers all of it.
pub(super) const LONGEST_INPUT: usize = 64 * 1024;
/// How much of that is for the end, in bytes.
const LONGEST_END: usize = 16 * 1024;
/// The longest masked input that is kept beside the ledger while its question is open, in bytes.
/// What viewers are sent of it fits into one message.
const LONGEST_KEPT: usize = LONGEST_VALUE;
/// The most lines of such an input.
const MOST_KEPT_LINES: usize = 60_000;
/// The longest text of an input in the record of a call that nobody was asked about.
pub(super) const LONGEST_TEXT: usize = 4 * 1024;
/// How much of such an input is recorded in total.
const MOST_BRIEF: usize = 16 * 1024;

impl DeskStep {
    pub(super) fn record_for_question(&mut self, question: &RequestId, event: &LedgerEvent) {
        self.record_event(Some(question), event);
    }

    /// Adds a record, which may belong to a question.
    pub(super) fn record_event(&mut self, of: Option<&RequestId>, event: &LedgerEvent) {
        let question = of.map(|id| id.as_str().to_owned());
        self.records.push(EntryDraft::new(self.now.wall_ms, question, event));
    }

    /// Adds the record of a press, which may belong to a question.
    pub(super) fn record_press(
        &mut self,
        of: Option<&RequestId>,
        who: &Person,
        action: &str,
        outcome: PressOutcome,
    ) {
        self.record_event(of, &LedgerEvent::Pressed(person_press(who, action, outcome)));
    }

    pub(super) fn keep_value(&mut self, key: String, value: String) {
        self.keeps.push((key, Some(value)));
    }

    pub(super) fn forget_value(&mut self, key: String) {
        self.keeps.push((key, None));
    }
}

pub(super) fn masked_request(request: &ApprovalRequest, input: &str) -> ApprovalRequest {
    let hidden = |text: &str| plain::without_secrets(text);
    let mut masked = request.clone();
    // Whoever knows the value could bypass the desk.
    if let Some(context) = &mut masked.context {
        context.gated = None;
        context.words_follow = None;
    }
    masked.tool_input = bounded_input(input);
    masked.cwd = hidden(&request.cwd);
    masked.session_id = hidden(&request.session_id);
    for suggestion in &mut masked.permission_suggestions {
        *suggestion = readable_json(mask_json(suggestion.get()).shown());
    }
    if let Some(context) = &mut masked.context {
        let RequestContext { last_words, reason, settings_folder, .. } = context;
        for text in [last_words, reason, settings_folder].into_iter().flatten() {
            *text = hidden(text);
        }
    }
    masked
}

/// Returns true if only the beginning and the end of a masked input are recorded.
pub(super) fn is_cut(input: &str) -> bool {
    input.len() > LONGEST_INPUT
}

/// Returns true if a masked input that is cut in the ledger is kept beside it while its question is
/// open, so that viewers can be shown all of it. Each line becomes a part of the message to them.
pub(super) fn is_kept(input: &str) -> bool {
    // The input is JSON, where a line end within a text is written as these two characters.
    is_cut(input) && input.len() <= LONGEST_KEPT && input.matches("\\n").count() <= MOST_KEPT_LINES
}

pub(crate) fn input_key(id: &RequestId) -> String {
    format!("input/{id}")
}

pub(super) fn was_cut(kept: &str) -> bool {
    let Ok(Members(members)) = Members::from_text(kept) else { return false };
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
    names.sort_unstable();
    // A whole input with just these members is taken for a cut one, too. That is merely stricter.
    names == ["beginning", "bytes", "end"]
}

fn bounded_input(input: &str) -> Box<RawValue> {
    if !is_cut(input) {
        return readable_json(input);
    }
    let beginning = &input[..input.floor_char_boundary(LONGEST_INPUT - LONGEST_END)];
    let end = &input[input.ceil_char_boundary(input.len() - LONGEST_END)..];
    readable_json(&json!({ "beginning": beginning, "end": end, "bytes": input.len() }).to_string())
}

/// Returns JSON for the ledger: as it is if every parser can read it, and as a string otherwise
/// (too deeply nested, or with half of a surrogate pair).
fn readable_json(json: &str) -> Box<RawValue> {
    // In the ledger it is nested a few levels deeper.
    let is_readable = serde_json::from_str::<Value>(&format!("[[[[{json}]]]]")).is_ok();
    let kept = RawValue::from_string(json.to_owned()).ok().filter(|_| is_readable);
    kept.or_else(|| to_raw_value(&json!({ "text": json })).ok()).unwrap_or_default()
}

/// Returns a value in the form in which the ledger has it: without blanks, and each member once.
fn compact_json(value: &impl Serialize) -> Option<Box<RawValue>> {
    to_raw_value(&serde_json::to_value(value).ok()?).ok()
}

/// Returns the record of a question. `retry` is the digest of the call that an allow lets try
/// again.
pub(super) fn asked_event(
    masked: &ApprovalRequest,
    card: &Card,
    digest: &CallDigest,
    ruling: &Ruling,
    retry: Option<&CallDigest>,
) -> LedgerEvent {
    LedgerEvent::Asked(QuestionAsked {
        tool: card.row.tool.clone(),
        deed: Some(card.row.deed.clone()),
        summary: card.row.summary.clone(),
        cwd: card.row.project.clone(),
        session: card.row.session.clone(),
        agent: masked.agent.clone(),
        ruling: match ruling {
            Ruling::Ask { is_guarded: false, .. } | Ruling::AtDesk { needs_word: false, .. } => {
                LedgerRuling::Ask
            }
            Ruling::Ask { is_guarded: true, .. } => LedgerRuling::Guard,
            Ruling::AtDesk { needs_word: true, .. } => LedgerRuling::Confirm,
            Ruling::Allow { .. } => LedgerRuling::Allow,
            Ruling::Deny { .. } => LedgerRuling::Deny,
        },
        because: ruling.because().map(str::to_owned),
        digest: digest.to_string(),
        until_ms: Some(card.row.until_ms),
        request: compact_json(masked),
        mode: masked.mode().map(shown_name),
        hides_what_runs: card.hides_what_runs.then_some(true),
        question: card.shown.blocked.clone(),
        retry: retry.map(CallDigest::to_string),
        machine: card.row.machine.clone(),
        demands: card.row.demands.non_empty(),
    })
}

/// Returns the record of a check that was decided without asking anybody.
pub(super) fn checked_event(
    request: &ApprovalRequest,
    decision: Decision,
    by: &str,
) -> LedgerEvent {
    let call = call_of_request(request, &brief_input(request));
    LedgerEvent::Checked(AgentCall { decision: Some(decision), by: Some(by.to_owned()), ..call })
}

/// Returns the record of a run; with `input` if no question has it.
pub(super) fn call_that_ran(request: &ApprovalRequest, input: Option<&str>) -> AgentCall {
    let brief = input.map_or_else(|| brief_input(request), str::to_owned);
    AgentCall {
        ok: request.context.as_ref().and_then(|context| context.ok),
        input: input.and_then(|input| compact_json(&readable_json(input))),
        ..call_of_request(request, &brief)
    }
}

fn call_of_request(request: &ApprovalRequest, input: &str) -> AgentCall {
    let id = request.context.as_ref().and_then(|context| context.tool_use_id.as_deref());
    AgentCall {
        tool: shown_name(&request.tool_name),
        summary: Card::summary_of(request, input),
        session: shown_name(&request.session_id),
        cwd: shown_name(&request.cwd),
        agent: request.agent.clone(),
        mode: request.mode().map(shown_name),
        tool_use_id: id.map(shown_name),
        ..AgentCall::default()
    }
}

/// Returns the masked input without its long texts, which would take too long to scan at every
/// call. They are left out entirely: half of a secret would not be recognized.
pub(super) fn brief_input(request: &ApprovalRequest) -> String {
    let input = request.tool_input.get();
    if input.len() <= LONGEST_TEXT {
        return mask_json(input).shown().to_owned();
    }
    let Ok(Members(members)) = Members::from_text(input) else { return "{}".to_owned() };
    let mut left = MOST_BRIEF;
    let brief = members.iter().map_while(|(name, value)| {
        let length = value.get().len();
        let text = match value.get() {
            long if long.len() > LONGEST_TEXT => json_string(&format!("({length} bytes)")),
            short => short.to_owned(),
        };
        left = left.checked_sub(name.len() + text.len())?;
        Some(format!("{}:{text}", json_string(name)))
    });
    let brief = format!("{{{}}}", brief.collect::<Vec<_>>().join(","));
    mask_json(&brief).shown().to_owned()
}

pub(super) fn person_press(who: &Person, action: &str, outcome: PressOutcome) -> PersonPress {
    let (chat, user) = match who.place {
        PersonPlace::Telegram { chat, user, .. } => (Some(chat), Some(user)),
        PersonPlace::Terminal | PersonPlace::Viewer { .. } => (None, None),
    };
    PersonPress {
        by: shown_name(&who.name),
        channel: Some(channel_of_place(&who.place)),
        chat,
        user,
        action: action.to_owned(),
        outcome: Some(outcome),
        links: None,
        person: who.member.clone(),
    }
}

/// Returns the record of the first of two allows that was given at another desk of the team.
pub(super) fn team_press(first: &FirstAllow) -> PersonPress {
    PersonPress {
        by: shown_name(&first.name),
        channel: None,
        chat: None,
        user: None,
        action: Action::Allow.to_string(),
        outcome: Some(PressOutcome::OneOfTwo),
        links: None,
        person: first.member.clone(),
    }
}

/// Returns the record of rules that somebody has replaced. They themselves are in the user's file.
pub(super) fn saved_event(who: &Person, saved: &SavedRules) -> LedgerEvent {
    LedgerEvent::Saved(RulesSaved {
        by: shown_name(&who.name),
        channel: Some(channel_of_place(&who.place)),
        tool: "rules".to_owned(),
        summary: saved.summary(),
        count: saved.count,
        hash: saved.hash.clone(),
    })
}

fn channel_of_place(place: &PersonPlace) -> AnswerChannel {
    match place {
        PersonPlace::Telegram { .. } => AnswerChannel::Telegram,
        PersonPlace::Terminal => AnswerChannel::Terminal,
        PersonPlace::Viewer { .. } => AnswerChannel::Viewer,
    }
}

/// Returns the record of a decision; `chosen` is the answer in words.
pub(super) fn decided_event(decided: &DeskDecision, chosen: Option<String>) -> LedgerEvent {
    let DeskDecision { decision, by, with, .. } = decided;
    let DecisionDetails { message, offer, picks, words, edited, interrupt } = with;
    let hidden = |text: &Option<String>| text.as_deref().map(plain::without_secrets);
    LedgerEvent::Decided(QuestionDecided {
        decision: Some(*decision),
        by: by.clone(),
        message: hidden(message),
        offer: *offer,
        picks: picks.clone(),
        words: hidden(words),
        edited: hidden(edited),
        interrupt: *interrupt,
        chosen,
    })
}

/// Returns a name as people chose it, safe to show and shortened.
pub(super) fn shown_name(name: &str) -> String {
    let name = plain::safe_line(name);
    let end = name.floor_char_boundary(80);
    if end == 0 { "somebody".to_owned() } else { name[..end].to_owned() }
}
