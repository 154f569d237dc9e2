//! The questions that are with a desk: what the front end is shown of each, and where its answers
//! go.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use callgate_agent::BoxFuture;
use callgate_agent::gate::QuestionMirror;
use callgate_link::sync::lock;
use callgate_wire::approval::{Press, RequestId};
use callgate_wire::session::{PermissionRequest, PermissionResolved, SessionEvent};

/// How many closed questions are remembered, so that a late answer can be refused with
/// the reason.
const MOST_PAST: usize = 256;

/// Takes a front end's answer to the desk that has the question. Returns whether it counted, and
/// the desk's words.
pub(super) type PressRoute = Arc<
    dyn Fn(RequestId, Press) -> BoxFuture<'static, Result<(bool, String), String>> + Send + Sync,
>;

/// A question that is with a desk.
pub(super) struct PostedQuestion {
    pub(super) route: PressRoute,
    /// What the front end is shown once the desk has the question.
    pub(super) asked: PermissionRequest,
    pub(super) mirror: Option<QuestionMirror>,
}

/// What a desk says of a question that it asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuestionTerms {
    /// Until when an answer counts, in milliseconds since 1970.
    pub(super) deadline_ms: Option<u64>,
    /// Whether the desk would accept an "always".
    pub(super) takes_always: bool,
}

struct BoardQuestion {
    posted: PostedQuestion,
    is_shown: bool,
    /// How it ended, in the desk's words.
    end: Option<String>,
}

/// All questions that are with a desk.
#[derive(Default)]
pub(super) struct Board {
    questions: Mutex<BoardQuestions>,
    ended: Condvar,
}

#[derive(Default)]
struct BoardQuestions {
    open: HashMap<RequestId, BoardQuestion>,
    /// Those that were shown and are closed.
    past: VecDeque<(RequestId, FoundQuestion)>,
}

/// What becomes of an answer to a question that was shown.
#[derive(Clone)]
pub(super) enum FoundQuestion {
    /// The desk decides, whether the question is still open or not.
    Answerable {
        /// The way to the desk.
        route: PressRoute,
        /// Whether an "always" was offered.
        has_offer: bool,
    },
    /// Nothing: nobody waits for it any more.
    Withdrawn,
}

impl PostedQuestion {
    fn answerable(&self) -> FoundQuestion {
        let has_offer = self.asked.can_allow_always == Some(true);
        FoundQuestion::Answerable { route: Arc::clone(&self.route), has_offer }
    }
}

impl Board {
    /// Adds a question that is about to go to a desk.
    pub(super) fn post(&self, id: &RequestId, posted: PostedQuestion) {
        let open = BoardQuestion { posted, is_shown: false, end: None };
        lock(&self.questions).open.insert(id.clone(), open);
    }

    /// Shows the question to the front end, now that the desk has it.
    pub(super) fn show_asked(&self, id: &RequestId, terms: QuestionTerms) {
        let mut questions = lock(&self.questions);
        let Some(open) = questions.open.get_mut(id).filter(|open| !open.is_shown) else { return };
        let PostedQuestion { asked, mirror, .. } = &mut open.posted;
        if let Some(mirror) = mirror {
            open.is_shown = true;
            asked.deadline = terms.deadline_ms;
            let was_offered = asked.can_allow_always == Some(true);
            asked.can_allow_always = Some(was_offered && terms.takes_always);
            if let Some(card) = &mut asked.card {
                card.row.until_ms =
                    terms.deadline_ms.and_then(|at| at.try_into().ok()).unwrap_or(0);
                card.offers.retain(|_| terms.takes_always);
            }
            // Under the lock, so that nobody closes it before it is shown.
            mirror(SessionEvent::PermissionRequest(asked.clone()));
        }
    }

    /// Records how the question ended, in the desk's words.
    pub(super) fn note_end(&self, id: &RequestId, text: &str) {
        if let Some(open) = lock(&self.questions).open.get_mut(id) {
            open.end.get_or_insert_with(|| text.to_owned());
        }
        self.ended.notify_all();
    }

    /// Waits until the desk has said how the question ended, and returns it. Returns `None` if the
    /// desk does not say so in this time.
    pub(super) fn wait_for_end(&self, id: &RequestId, within: Duration) -> Option<String> {
        let is_silent = |questions: &mut BoardQuestions| {
            questions.open.get(id).is_some_and(|open| open.end.is_none())
        };
        let waited = self.ended.wait_timeout_while(lock(&self.questions), within, is_silent);
        let (questions, _) = waited.unwrap_or_else(PoisonError::into_inner);
        questions.open.get(id)?.end.clone()
    }

    /// Closes the question. A front end that was shown it is shown how it ended, once.
    pub(super) fn close(&self, id: &RequestId, decision: &'static str, text: &str) {
        self.take_down(id, decision, text, PostedQuestion::answerable);
    }

    /// Closes the question because nobody waits for an answer any more.
    pub(super) fn withdraw(&self, id: &RequestId, text: &str) {
        self.take_down(id, "timeout", text, |_| FoundQuestion::Withdrawn);
    }

    fn take_down(
        &self,
        id: &RequestId,
        decision: &'static str,
        text: &str,
        kept: fn(&PostedQuestion) -> FoundQuestion,
    ) {
        let mut questions = lock(&self.questions);
        let Some(BoardQuestion { posted, is_shown, .. }) = questions.open.remove(id) else {
            return;
        };
        // Nobody waits for the desk's words any more.
        self.ended.notify_all();
        // A front end that was never shown the question would not know what has ended.
        let Some(mirror) = posted.mirror.as_ref().filter(|_| is_shown) else { return };
        let question = id.to_string();
        let (decision, text) = (decision.to_owned(), text.to_owned());
        // Under the lock, too, so that it never comes before the question.
        mirror(SessionEvent::PermissionResolved(PermissionResolved { question, decision, text }));
        questions.past.push_back((id.clone(), kept(&posted)));
        if questions.past.len() > MOST_PAST {
            questions.past.pop_front();
        }
    }

    /// Returns what becomes of an answer to a question; `None` if it was never shown.
    pub(super) fn find(&self, id: &RequestId) -> Option<FoundQuestion> {
        let questions = lock(&self.questions);
        if let Some(open) = questions.open.get(id).filter(|open| open.is_shown) {
            return Some(open.posted.answerable());
        }
        questions.past.iter().find(|(past, _)| past == id).map(|(_, found)| found.clone())
    }
}
