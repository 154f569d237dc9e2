//! The questions that are with a desk: what the front end is shown of each, and where its answers
//! go.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use callgate_agent::gate::Mirror;
use callgate_wire::approval::RequestId;
use callgate_wire::session::{Event, PermissionRequest, PermissionResolved};

use super::inside::Inside;

/// How many questions that are over are remembered, so that a late answer is told why it is.
const MOST_PAST: usize = 256;

/// With which desk a question is.
#[derive(Debug, Clone)]
pub(super) enum At {
    /// The daemon's.
    Daemon,
    /// Our own, as long as it is open.
    Inside(Weak<Inside>),
}

/// Where a front end's answer goes.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) at: At,
    /// Whether it can be allowed from now on.
    pub(super) has_offer: bool,
}

/// A question that is with a desk.
pub(super) struct Posted {
    pub(super) way: Way,
    /// What the front end is shown once the desk has the question.
    pub(super) asked: PermissionRequest,
    pub(super) mirror: Option<Mirror>,
}

/// What a desk says of a question that it asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// Until when an answer counts, in milliseconds since 1970.
    pub(super) deadline_ms: Option<u64>,
    /// Whether the desk lets it be allowed from now on, should that be offered.
    pub(super) takes_always: bool,
}

struct Open {
    posted: Posted,
    is_shown: bool,
    /// How it ended, in the desk's words.
    end: Option<String>,
}

/// All questions.
#[derive(Default)]
pub(super) struct Board {
    questions: Mutex<Questions>,
    ended: Condvar,
}

#[derive(Default)]
struct Questions {
    open: HashMap<RequestId, Open>,
    /// Those that are over; of one that was withdrawn no answer goes anywhere.
    past: VecDeque<(RequestId, Option<Way>)>,
}

/// Where an answer goes to a question that was shown.
#[derive(Debug)]
pub(super) enum Found {
    /// To this desk, be the question over or not.
    At(Way),
    /// Nowhere: nobody waits for it any more.
    Withdrawn,
}

impl Board {
    fn questions(&self) -> MutexGuard<'_, Questions> {
        // Nothing in here panics half-way.
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A question is about to go to a desk.
    pub(super) fn post(&self, id: &RequestId, posted: Posted) {
        let open = Open { posted, is_shown: false, end: None };
        self.questions().open.insert(id.clone(), open);
    }

    /// The desk has the question and asks: now the front end may see it.
    pub(super) fn asked(&self, id: &RequestId, terms: Terms) {
        let mut questions = self.questions();
        let Some(open) = questions.open.get_mut(id).filter(|open| !open.is_shown) else { return };
        let Posted { way, asked, mirror } = &mut open.posted;
        if let Some(mirror) = mirror {
            open.is_shown = true;
            asked.deadline = terms.deadline_ms;
            way.has_offer = asked.can_allow_always == Some(true) && terms.takes_always;
            asked.can_allow_always = Some(way.has_offer);
            // Under the lock, so that nobody closes it before it is shown.
            mirror(Event::PermissionRequest(asked.clone()));
        }
    }

    /// The desk says how the question ended.
    pub(super) fn ended(&self, id: &RequestId, text: &str) {
        if let Some(open) = self.questions().open.get_mut(id) {
            open.end.get_or_insert_with(|| text.to_owned());
        }
        self.ended.notify_all();
    }

    /// How the question ended, once the desk has said so or does not within this time.
    pub(super) fn end(&self, id: &RequestId, within: Duration) -> Option<String> {
        let is_silent = |questions: &mut Questions| {
            questions.open.get(id).is_some_and(|open| open.end.is_none())
        };
        let waited = self.ended.wait_timeout_while(self.questions(), within, is_silent);
        let (questions, _) = waited.unwrap_or_else(PoisonError::into_inner);
        questions.open.get(id)?.end.clone()
    }

    /// The question is over: whoever was shown it sees how, once.
    pub(super) fn close(&self, id: &RequestId, decision: &'static str, text: &str) {
        self.take_down(id, decision, text, Some);
    }

    /// Nobody waits for an answer any more, if one was still waited for.
    pub(super) fn withdraw(&self, id: &RequestId, text: &str) {
        self.take_down(id, "timeout", text, |_| None);
    }

    fn take_down(
        &self,
        id: &RequestId,
        decision: &'static str,
        text: &str,
        kept: impl FnOnce(Way) -> Option<Way>,
    ) {
        let mut questions = self.questions();
        let Some(Open { posted, is_shown, .. }) = questions.open.remove(id) else { return };
        // Nobody waits for the desk's words any more.
        self.ended.notify_all();
        let Some(mirror) = posted.mirror.filter(|_| is_shown) else { return };
        let question = id.to_string();
        let (decision, text) = (decision.to_owned(), text.to_owned());
        mirror(Event::PermissionResolved(PermissionResolved { question, decision, text }));
        questions.past.push_back((id.clone(), kept(posted.way)));
        if questions.past.len() > MOST_PAST {
            questions.past.pop_front();
        }
    }

    /// Where an answer to a question goes that was shown.
    pub(super) fn find(&self, id: &RequestId) -> Option<Found> {
        let questions = self.questions();
        if let Some(open) = questions.open.get(id).filter(|open| open.is_shown) {
            return Some(Found::At(open.posted.way.clone()));
        }
        let (_, way) = questions.past.iter().find(|(past, _)| past == id)?;
        Some(way.clone().map_or(Found::Withdrawn, Found::At))
    }
}
