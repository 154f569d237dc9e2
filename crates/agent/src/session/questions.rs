//! The questions of the model and of tool servers, on their way to the front end and back.
//!
//! Such a question is with the gate, like any other: the desk and its phones see it, and the first
//! answer counts. A front end that takes `question` gets it with typed fields. A plain front end
//! reads it as text, and the next message of the user is the answer. An answer lets no tool run:
//! the only question that it can settle is the one that was shown in this way.

mod in_words;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::approval::{Action, Press};
use callgate_wire::session::{
    AgentQuestion, AnswerOutcome, PermissionAnswer, PermissionRequest, PermissionResolved,
    QuestionAnswer, QuestionResolved, SessionEvent, capability,
};
use callgate_wire::tool_act::ToolKind;
use serde_json::{Map, Value};

use super::SessionShared;
use super::output::QuestionForm;
use crate::failure::RequestFailure;
use crate::gate::QuestionMirror;
use crate::question_content::{answered_input, is_question, read_question};
use crate::tool::raw_json;

/// The questions that the front end was shown and that are open.
#[derive(Default)]
pub(super) struct PersonQuestions {
    /// In the order in which they were asked.
    open: Mutex<Vec<FrontQuestion>>,
    /// The calls whose question was left without a choice, until they have learnt it.
    cancelled: Mutex<HashSet<String>>,
}

#[derive(Clone)]
struct FrontQuestion {
    asked: AgentQuestion,
    kind: ToolKind,
    /// The input of the call that asks, masked.
    input: Value,
    conversation: Arc<str>,
    /// Whether it was shown as text, so that a message answers it.
    is_text: bool,
    /// What the front end's user did with it, if that counted.
    outcome: Option<AnswerOutcome>,
}

/// Returns what shows a question about a call of this kind to the front end, if it takes it.
pub(super) fn mirror_for_kind(
    shared: &Arc<SessionShared>,
    request: &Arc<str>,
    conversation: &Arc<str>,
    kind: ToolKind,
) -> Option<QuestionMirror> {
    let (output, request) = (shared.output.clone(), Arc::clone(request));
    if !is_question(kind) {
        let mirror: QuestionMirror = Arc::new(move |event| output.send_event(&request, event));
        return shared.output.takes(capability::PERMISSION).then_some(mirror);
    }
    let is_text = match shared.output.question_form() {
        QuestionForm::Fields => false,
        QuestionForm::Text => true,
        QuestionForm::Nothing => return None,
    };
    let (shared, conversation) = (Arc::clone(shared), Arc::clone(conversation));
    Some(Arc::new(move |event| match event {
        SessionEvent::PermissionRequest(asked) => {
            let shown = FrontQuestion::from_request(&asked, kind, &conversation, is_text);
            let events = match &shown {
                Some(shown) if is_text => {
                    SessionEvent::Token(in_words::question_text(&shown.asked))
                }
                Some(shown) => SessionEvent::Question(shown.asked.clone()),
                // A front end that takes questions of permission may still answer it.
                None => SessionEvent::PermissionRequest(asked.clone()),
            };
            if let Some(shown) = shown {
                shared.questions.add_question(shown);
            }
            output.send_event(&request, events);
        }
        SessionEvent::PermissionResolved(resolved) => {
            output.send_event(&request, shared.questions.close_question(resolved));
        }
        event => output.send_event(&request, event),
    }))
}

impl FrontQuestion {
    fn from_request(
        request: &PermissionRequest,
        kind: ToolKind,
        conversation: &Arc<str>,
        is_text: bool,
    ) -> Option<Self> {
        let input: Value = serde_json::from_str(request.input.get()).ok()?;
        let mut asked = read_question(kind, &input, &request.question, &request.tool_id)?;
        asked.deadline = request.deadline;
        let conversation = Arc::clone(conversation);
        Some(Self { asked, kind, input, conversation, is_text, outcome: None })
    }

    /// Returns the press at the desk that an answer is.
    fn press(&self, outcome: AnswerOutcome, values: &Map<String, Value>) -> Result<Press, String> {
        if outcome != AnswerOutcome::Answered {
            // The desk knows no third answer; `outcome` keeps whether it was declined or cancelled.
            return Ok(Press::Button(Action::Deny));
        }
        self.asked.check_values(values)?;
        if self.asked.fields.is_empty() {
            return Ok(Press::Button(Action::Allow));
        }
        let input = answered_input(self.kind, &self.input, &self.asked, values);
        Ok(Press::Input(raw_json(&input)))
    }
}

impl PersonQuestions {
    fn add_question(&self, shown: FrontQuestion) {
        let mut open = lock(&self.open);
        open.retain(|one| one.asked.question != shown.asked.question);
        open.push(shown);
    }

    /// Closes a question, and returns its end as the front end gets it.
    fn close_question(&self, resolved: PermissionResolved) -> SessionEvent {
        let shown = {
            let mut open = lock(&self.open);
            let at = open.iter().position(|one| one.asked.question == resolved.question);
            at.map(|at| open.remove(at))
        };
        let Some(shown) = shown else { return SessionEvent::PermissionResolved(resolved) };
        let PermissionResolved { question, decision, text } = resolved;
        let outcome = match (decision.as_str(), shown.outcome) {
            ("allow", _) => AnswerOutcome::Answered.name(),
            ("deny", Some(AnswerOutcome::Cancelled)) => AnswerOutcome::Cancelled.name(),
            ("deny", _) => AnswerOutcome::Declined.name(),
            _ => QuestionResolved::UNANSWERED,
        };
        let is_choice = ["allow", "deny"].contains(&decision.as_str());
        if shown.kind == ToolKind::Elicit
            && (!is_choice || shown.outcome == Some(AnswerOutcome::Cancelled))
        {
            lock(&self.cancelled).insert(shown.asked.tool_id);
        }
        let outcome = outcome.to_owned();
        SessionEvent::QuestionResolved(QuestionResolved { question, outcome, text })
    }

    /// Returns true, once, if the question of a call was left without a choice.
    pub(super) fn take_cancelled(&self, tool_id: &str) -> bool {
        lock(&self.cancelled).remove(tool_id)
    }

    /// Returns true if the front end was shown this as a question that needs no permission.
    pub(super) fn has(&self, question: &str) -> bool {
        lock(&self.open).iter().any(|one| one.asked.question == question)
    }

    /// Returns the question that the next message of a conversation answers: the one that was asked
    /// first.
    pub(super) fn awaits_words(&self, conversation: &str) -> Option<String> {
        let open = lock(&self.open);
        let mut waiting =
            open.iter().filter(|one| one.is_text && &*one.conversation == conversation);
        waiting.next().map(|one| one.asked.question.clone())
    }

    fn get(&self, question: &str) -> Result<FrontQuestion, RequestFailure> {
        let late = || RequestFailure::permanent("too_late", "no question with this id is waiting");
        let open = lock(&self.open);
        open.iter().find(|one| one.asked.question == question).cloned().ok_or_else(late)
    }

    fn note_outcome(&self, question: &str, outcome: AnswerOutcome) {
        let mut open = lock(&self.open);
        if let Some(shown) = open.iter_mut().find(|one| one.asked.question == question) {
            shown.outcome = Some(outcome);
        }
    }
}

/// Answers a question. One that the answer does not fit stays open.
pub(super) async fn answer_question(
    shared: &SessionShared,
    answer: QuestionAnswer,
) -> Result<(), RequestFailure> {
    let QuestionAnswer { question, outcome, values } = answer;
    let shown = shared.questions.get(&question)?;
    let press = shown.press(outcome, &values);
    let press = press.map_err(|why| {
        RequestFailure::permanent("answer", format!("the answer does not fit: {why}"))
    })?;
    // Noted first: the question may be closed before the gate's answer is back.
    shared.questions.note_outcome(&question, outcome);
    let answer = PermissionAnswer { question, press };
    let answered = shared.options.gate.answer(answer).await;
    answered.map(drop).map_err(|why| RequestFailure::permanent("too_late", why))
}

pub(super) async fn answer_in_words(
    shared: &SessionShared,
    question: String,
    words: &str,
) -> Result<(), RequestFailure> {
    let shown = shared.questions.get(&question)?;
    let read = in_words::parse_answer(&shown.asked, words);
    let (outcome, values) =
        read.map_err(|why| RequestFailure::permanent("answer", format!("{why}.")))?;
    answer_question(shared, QuestionAnswer { question, outcome, values }).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_answer_the_question_that_was_asked_first() {
        let questions = PersonQuestions::default();
        let conversation: Arc<str> = "c".into();
        let input = json!({ "questions": [{ "question": "Which?", "options": [] }] });
        let add = |id: &str| {
            let asked = read_question(ToolKind::AskUser, &input, id, "t").unwrap();
            let (kind, conversation) = (ToolKind::AskUser, Arc::clone(&conversation));
            let (input, is_text, outcome) = (input.clone(), true, None);
            questions.add_question(FrontQuestion {
                asked,
                kind,
                input,
                conversation,
                is_text,
                outcome,
            });
        };
        // The ids are random, and say nothing about the order.
        for id in ["b", "c", "a"] {
            add(id);
        }
        for expected in ["b", "c", "a"] {
            let waiting = questions.awaits_words("c");
            assert_eq!(waiting.as_deref(), Some(expected));
            let (decision, text) = ("deny".to_owned(), String::new());
            let question = expected.to_owned();
            questions.close_question(PermissionResolved { question, decision, text });
        }
        assert_eq!(questions.awaits_words("c"), None);
    }
}
