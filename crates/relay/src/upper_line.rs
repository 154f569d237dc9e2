//! The end of a line at the desk above. It outlives the line.

#[cfg(test)]
mod tests;
mod upper_act;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::HiddenText;
use callgate_wire::approval::{RelayedAnswer, RequestId};
use callgate_wire::desk::WatchedEntry;
use callgate_wire::relay::{
    BoxHello, ClosedOutcome, CopiedThrough, MOST_IDS, PROTOCOL, RelayOrder, RelayReport,
    RelayedQuestion, UpperHello,
};

use crate::held_question::HeldQuestion;
use crate::question_room::{QuestionRoom, QuestionShare};
use crate::{DEAD_AFTER, LineArrival, LineHealth, LineNeed};

pub use upper_act::UpperAct;

/// How many wrong lines and errors of one connection are reported. The next one ends the line.
const MOST_WRONG: usize = 32;
const NO_ROOM: &str = "too much is on its way from all machines at once";

#[derive(Debug)]
pub struct UpperLine {
    name: String,
    /// The token by which the desk of the box knows this one. It is nowhere but in memory.
    token: Option<HiddenText>,
    /// The questions that are open here, with their answers.
    held: BTreeMap<RequestId, HeldQuestion>,
    /// The room for them, which other lines of the same owner may share.
    room: Arc<QuestionRoom>,
    wants_copy: bool,
    connection: Option<UpperConnection>,
}

#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a step that is taken on its own")]
struct UpperConnection {
    began: Duration,
    health: LineHealth,
    is_greeted: bool,
    /// The questions that the box has named on this connection.
    named: BTreeSet<RequestId>,
    /// Entries that have come and are not stored yet.
    entries: Vec<WatchedEntry>,
    /// Whether the next entry begins a new copy.
    begins_anew: bool,
    /// Whether an entry has come, or the copy was begun anew.
    is_copying: bool,
    wrong: usize,
    /// Whether people were told that there is no room for a question of this connection.
    is_lack_told: bool,
}

impl UpperLine {
    /// Makes the end of a line that is not connected yet. `name` is the name of this desk.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            token: None,
            held: BTreeMap::new(),
            room: Arc::default(),
            wants_copy: true,
            connection: None,
        }
    }

    /// Makes the end of a line on which only questions come, and no ledger.
    #[must_use]
    pub fn without_copy(self) -> Self {
        Self { wants_copy: false, ..self }
    }

    /// Makes the end of a line whose questions share their room with those of other lines.
    #[must_use]
    pub fn in_room(self, room: Arc<QuestionRoom>) -> Self {
        Self { room, ..self }
    }

    /// Returns true if no question is open here.
    pub fn is_idle(&self) -> bool {
        self.held.is_empty()
    }

    /// Replaces the questions that are open here by these, each with its answer, if it has one, and
    /// the bytes of its line. For a desk that keeps them elsewhere while there is no line.
    pub fn replace_questions(
        &mut self,
        questions: impl IntoIterator<Item = (RequestId, Option<RelayedAnswer>, usize)>,
    ) {
        let held = |(id, answer, size)| {
            let share = QuestionShare::take_anyway(&self.room, size);
            (id, HeldQuestion::new(answer, share))
        };
        self.held = questions.into_iter().map(held).collect();
    }

    /// Forgets the questions that nobody here is asked, so that they are new when the box names
    /// them again.
    pub fn retain_questions(&mut self, is_asked: impl Fn(&RequestId) -> bool) {
        self.held.retain(|id, _| is_asked(id));
    }

    /// Begins a connection. `after` is the last entry of the box's ledger that is stored.
    pub fn connect(&mut self, now: Duration, after: Option<CopiedThrough>) -> Vec<UpperAct> {
        self.connection = Some(UpperConnection {
            began: now,
            health: LineHealth::begin(now),
            is_greeted: false,
            named: BTreeSet::new(),
            entries: Vec::new(),
            begins_anew: after.is_none(),
            is_copying: false,
            wrong: 0,
            is_lack_told: false,
        });
        vec![UpperAct::Send(RelayOrder::Hello(UpperHello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: self.name.clone(),
            token: self.token.clone(),
            after,
            held: self.held.keys().take(MOST_IDS).cloned().collect(),
            no_copy: !self.wants_copy,
        }))]
    }

    /// Notes that the connection has ended. Questions stay open, and answers are kept.
    pub fn disconnect(&mut self) -> Vec<UpperAct> {
        if self.connection.take().is_none() {
            return Vec::new();
        }
        let answered = self.held.iter().filter(|(_, held)| held.answer.is_some());
        answered.map(|(question, _)| UpperAct::Defer(question.clone())).collect()
    }

    pub fn holds(&self, question: &RequestId) -> bool {
        self.held.contains_key(question)
    }

    pub fn handle_arrival(&mut self, now: Duration, arrival: &LineArrival) -> Vec<UpperAct> {
        let Some(connection) = &mut self.connection else { return Vec::new() };
        connection.health.note_heard(now);
        let line = match arrival {
            LineArrival::Line(line) => line,
            LineArrival::TooLong { size } => {
                return self.refuse(&format!("a line of {size} bytes is too long"));
            }
            LineArrival::NoRoom => return vec![UpperAct::End(NO_ROOM.to_owned())],
        };
        let report = RelayReport::decode(line).map_err(|why| why.to_string());
        match report {
            Ok(RelayReport::Hello(hello)) if !connection.is_greeted => self.greet(hello),
            // Each is shown to people here, so it counts like a wrong line.
            Ok(RelayReport::Error { text }) => self.note_wrong(vec![UpperAct::Warn(text)]),
            Ok(_) if !connection.is_greeted => self.refuse("it has not said hello"),
            Ok(RelayReport::Question(question)) => self.take_question(now, *question, line.len()),
            Ok(report) => self.handle_report(report),
            Err(why) => self.refuse(&why),
        }
    }

    fn greet(&mut self, hello: BoxHello) -> Vec<UpperAct> {
        if hello.protocol != PROTOCOL {
            return vec![UpperAct::End(format!(
                "it speaks version {} of the relay protocol (callgate {}), and this desk version \
                 {PROTOCOL}: run `callgate remote add` again",
                hello.protocol, hello.version
            ))];
        }
        if let Some(connection) = &mut self.connection {
            connection.is_greeted = true;
        }
        vec![UpperAct::Connected(hello)]
    }

    fn handle_report(&mut self, report: RelayReport) -> Vec<UpperAct> {
        match report {
            RelayReport::Hello(_) => self.refuse("a second hello"),
            RelayReport::Waiting { text } => vec![UpperAct::Waiting(text)],
            RelayReport::Granted { token } => {
                self.token = Some(token);
                Vec::new()
            }
            RelayReport::Said { question, last_words } => self.take_words(question, last_words),
            RelayReport::Closed(closed) => self.close_question(&closed),
            RelayReport::Told { question, done, text } => self.end_answered(question, done, text),
            RelayReport::Synced { open } => self.forget_all_but(&open),
            RelayReport::Anew { .. } | RelayReport::Entry { .. } if !self.wants_copy => {
                self.refuse("its ledger is not copied here")
            }
            RelayReport::Anew { text } => {
                let connection = self.connection.as_mut().filter(|it| !it.is_copying);
                let Some(connection) = connection else {
                    return self.refuse("its ledger begins anew in the middle of the copy");
                };
                (connection.begins_anew, connection.is_copying) = (true, true);
                vec![UpperAct::Warn(text)]
            }
            RelayReport::Entry { entry } => {
                if let Some(connection) = &mut self.connection {
                    connection.is_copying = true;
                    connection.entries.push(entry);
                }
                Vec::new()
            }
            RelayReport::Question(_) | RelayReport::Beat | RelayReport::Error { .. } => Vec::new(),
        }
    }

    fn take_words(&mut self, question: RequestId, last_words: String) -> Vec<UpperAct> {
        // A question may have ended here while the words were on their way, so it is no mistake if
        // it is not known.
        match self.held.get_mut(&question).map(HeldQuestion::takes_words) {
            None => Vec::new(),
            Some(true) => vec![UpperAct::AddWords { question, last_words }],
            Some(false) => self.refuse("it sends the last words of a question too often"),
        }
    }

    fn take_question(
        &mut self,
        now: Duration,
        question: RelayedQuestion,
        size: usize,
    ) -> Vec<UpperAct> {
        let id = question.request.request_id.clone();
        if let Some(answer) = self.held.get(&id).map(|held| held.answer.clone()) {
            // It is back after a cut, and its answer is sent again; only one counts.
            if !self.note_named(&id) {
                return self.refuse("it asks the same question twice");
            }
            return answer.map(|answer| send_answer(id, answer)).into_iter().collect();
        }
        let share = match QuestionShare::take(&self.room, size, now) {
            Ok(share) => share,
            Err(why) => return self.postpone_question(id, why),
        };
        self.note_named(&id);
        self.held.insert(id, HeldQuestion::new(None, share));
        vec![UpperAct::Ask(Box::new(question))]
    }

    /// Sends a question back for which there is no room now. That is no mistake of the box, which
    /// may have many agents, and asks again later.
    fn postpone_question(&mut self, id: RequestId, why: &str) -> Vec<UpperAct> {
        let Some(connection) = &mut self.connection else { return Vec::new() };
        let order = RelayOrder::Error { text: why.to_owned(), question: Some(id) };
        let mut acts = vec![UpperAct::Send(order)];
        if !std::mem::replace(&mut connection.is_lack_told, true) {
            acts.push(UpperAct::Warn(format!("questions wait at their machine: {why}")));
        }
        acts
    }

    /// Notes that the box has named a question. Returns false if it had on this connection.
    fn note_named(&mut self, id: &RequestId) -> bool {
        self.connection.as_mut().is_some_and(|connection| connection.named.insert(id.clone()))
    }

    /// Takes the answer to a question that is open here; `None` if there will be none. It is sent
    /// at once, or when the box names the question again.
    pub fn answer_question(
        &mut self,
        question: &RequestId,
        answer: Option<RelayedAnswer>,
    ) -> Vec<UpperAct> {
        let Some(answer) = answer else {
            self.held.remove(question);
            return Vec::new();
        };
        let Some(held) = self.held.get_mut(question) else { return Vec::new() };
        // Before the box has joined its desk and named the question, it would drop the answer.
        held.answer = Some(answer.clone());
        let is_named = |connection: &UpperConnection| connection.named.contains(question);
        let is_named = self.connection.as_ref().is_some_and(is_named);
        let question = question.clone();
        vec![if is_named { send_answer(question, answer) } else { UpperAct::Defer(question) }]
    }

    fn close_question(&mut self, closed: &ClosedOutcome) -> Vec<UpperAct> {
        let question = closed.question.clone();
        let text = closed.text.clone();
        match self.held.remove(&question).map(|held| held.answer) {
            None => Vec::new(),
            Some(None) => vec![UpperAct::Withdraw { question, text }],
            Some(Some(answer)) if closed.is_outcome_of(&answer, &self.name) => {
                vec![UpperAct::Delivered(question)]
            }
            Some(Some(_)) => vec![UpperAct::Lost { question, text }],
        }
    }

    /// Ends a question whose answer was sent. Whatever the box says about others changes nothing.
    fn end_answered(&mut self, question: RequestId, done: bool, text: String) -> Vec<UpperAct> {
        if self.held.get(&question).is_none_or(|held| held.answer.is_none()) {
            return Vec::new();
        }
        self.held.remove(&question);
        vec![if done { UpperAct::Delivered(question) } else { UpperAct::Lost { question, text } }]
    }

    /// Withdraws the questions that are open here and not at the box.
    fn forget_all_but(&mut self, open: &[RequestId]) -> Vec<UpperAct> {
        let over: Vec<RequestId> =
            self.held.keys().filter(|id| !open.contains(id)).cloned().collect();
        let text = || "It is over on its machine".to_owned();
        let ended = over.into_iter().map(|question| {
            match self.held.remove(&question).map(|held| held.answer) {
                Some(Some(_)) => UpperAct::Lost { question, text: text() },
                _ => UpperAct::Withdraw { question, text: text() },
            }
        });
        [UpperAct::Synced(open.to_vec())].into_iter().chain(ended.collect::<Vec<_>>()).collect()
    }

    /// Takes the entries that have come, and whether they begin a new copy.
    pub fn take_entries(&mut self) -> Option<(Vec<WatchedEntry>, bool)> {
        let connection = self.connection.as_mut().filter(|it| !it.entries.is_empty())?;
        let begins_anew = std::mem::take(&mut connection.begins_anew);
        Some((std::mem::take(&mut connection.entries), begins_anew))
    }

    /// Withdraws all questions: the box is not served any more.
    pub fn withdraw_all(&mut self, text: &str) -> Vec<UpperAct> {
        let all = std::mem::take(&mut self.held).into_keys();
        all.map(|question| UpperAct::Withdraw { question, text: text.to_owned() }).collect()
    }

    /// Notes when bytes have come last, also of a line that is not whole yet.
    pub fn note_heard(&mut self, at: Duration) {
        if let Some(connection) = &mut self.connection {
            connection.health.note_heard(at);
        }
    }

    pub fn note_sent(&mut self, now: Duration) {
        if let Some(connection) = &mut self.connection {
            connection.health.note_said(now);
        }
    }

    /// Returns what is to be done because of the time.
    pub fn handle_time(&mut self, now: Duration) -> Vec<UpperAct> {
        let Some(connection) = &self.connection else { return Vec::new() };
        // A box that only sends beats counts as alive, so its hello has a limit of its own.
        if !connection.is_greeted && now.saturating_sub(connection.began) >= DEAD_AFTER {
            return vec![UpperAct::End("it does not say hello".to_owned())];
        }
        match connection.health.need_at(now) {
            LineNeed::Nothing => Vec::new(),
            LineNeed::Beat => vec![UpperAct::Send(RelayOrder::Beat)],
            LineNeed::End => vec![UpperAct::End("it is silent".to_owned())],
        }
    }

    /// Returns when [`handle_time`](Self::handle_time) has to be called.
    pub fn next_alarm(&self) -> Option<Duration> {
        self.connection.as_ref().map(|connection| connection.health.next_alarm())
    }

    /// Tells the box that something it sent was not accepted. Nothing else changes.
    fn refuse(&mut self, why: &str) -> Vec<UpperAct> {
        let order = RelayOrder::Error { text: why.to_owned(), question: None };
        let warning = UpperAct::Warn(format!("it sent something wrong: {why}"));
        self.note_wrong(vec![UpperAct::Send(order), warning])
    }

    /// Counts something that is wrong, and returns what is done about it: this, or the end of the
    /// line.
    fn note_wrong(&mut self, acts: Vec<UpperAct>) -> Vec<UpperAct> {
        let Some(connection) = &mut self.connection else { return Vec::new() };
        connection.wrong += 1;
        if connection.wrong > MOST_WRONG {
            return vec![UpperAct::End("it sends too much that is wrong".to_owned())];
        }
        acts
    }
}

fn send_answer(question: RequestId, answer: RelayedAnswer) -> UpperAct {
    UpperAct::Send(RelayOrder::Answer { question, answer })
}
