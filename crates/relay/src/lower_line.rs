//! The end of a line at the box.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use callgate_wire::approval::{RelayedAnswer, RequestId};
use callgate_wire::desk::WatchedEntry;
use callgate_wire::relay::{
    BoxHello, ClosedOutcome, MOST_IDS, MOST_QUESTIONS, PROTOCOL, RelayOrder, RelayReport,
    RelayedQuestion, UpperHello,
};

use crate::{LineArrival, LineHealth, LineNeed};

/// How many bytes of entries may be on their way without a receipt. More would wait in the memory
/// of the desk above, which stores entries before it acknowledges them.
const MOST_UNACKED: usize = 1024 * 1024;
/// How often questions for which the desk above had no room are asked again, and how many at once:
/// as fast as it takes new ones.
const ASK_AGAIN_EVERY: Duration = Duration::from_secs(4);
const ASKED_AGAIN: usize = 16;

#[derive(Debug)]
pub enum LowerAct {
    Send(RelayReport),
    /// The desk above is there: connect to the desk of the box in its name.
    Join(Box<UpperHello>),
    /// Bring the desk of the box an answer.
    Answer {
        question: RequestId,
        answer: RelayedAnswer,
    },
    /// Report this question, if it is still open: the desk above may have room for it now.
    AskAgain(RequestId),
    /// Take the rules of the team, a signed bundle.
    TakeRules(String),
    /// Something to be logged.
    Warn(String),
    /// The line is over, for this reason.
    End(String),
}

#[derive(Debug)]
pub struct LowerLine {
    health: LineHealth,
    is_joined: bool,
    /// The questions that were sent and are open.
    sent: BTreeSet<RequestId>,
    /// The questions that are open and for which the desk above has no room.
    waiting: VecDeque<RequestId>,
    /// When some of them were last asked again.
    asked_again: Duration,
    /// Whether it was reported that some wait.
    is_lack_told: bool,
    /// The sizes of the entries for which there is no receipt.
    unacked: BTreeMap<u64, usize>,
}

impl LowerLine {
    pub fn begin(now: Duration, hello: BoxHello) -> (Self, Vec<LowerAct>) {
        let line = Self {
            health: LineHealth::begin(now),
            is_joined: false,
            sent: BTreeSet::new(),
            waiting: VecDeque::new(),
            asked_again: now,
            is_lack_told: false,
            unacked: BTreeMap::new(),
        };
        (line, vec![LowerAct::Send(RelayReport::Hello(hello))])
    }

    pub fn handle_arrival(&mut self, now: Duration, arrival: &LineArrival) -> Vec<LowerAct> {
        // Also for a line that is wrong, because the other end is alive.
        self.health.note_heard(now);
        let line = match arrival {
            LineArrival::Line(line) => line,
            LineArrival::TooLong { size } => {
                return refuse(format!("a line of {size} bytes is too long"));
            }
            LineArrival::NoRoom => return refuse("a line is too long for now".to_owned()),
        };
        match RelayOrder::decode(line) {
            Ok(order) => self.handle_order(order),
            Err(reason) => refuse(reason.to_string()),
        }
    }

    fn handle_order(&mut self, order: RelayOrder) -> Vec<LowerAct> {
        match order {
            RelayOrder::Hello(_) if self.is_joined => refuse("a second hello".to_owned()),
            RelayOrder::Hello(hello) if hello.protocol != PROTOCOL => {
                let text = format!(
                    "the desk above speaks version {} of the relay protocol (callgate {}), and this \
                     box version {PROTOCOL}: install the same callgate on both",
                    hello.protocol, hello.version
                );
                // The reason is sent before the line ends, so that people at the desk above read
                // it, too.
                vec![LowerAct::Send(RelayReport::Error { text: text.clone() }), LowerAct::End(text)]
            }
            RelayOrder::Hello(hello) => {
                self.is_joined = true;
                vec![LowerAct::Join(Box::new(hello))]
            }
            _ if !self.is_joined => refuse("the desk above has not said hello".to_owned()),
            // The desk decides whether the question is still open.
            RelayOrder::Answer { question, answer } => vec![LowerAct::Answer { question, answer }],
            RelayOrder::Ack { seq } => {
                // A receipt is for all entries up to its number.
                self.unacked = self.unacked.split_off(&(seq.saturating_add(1)));
                Vec::new()
            }
            RelayOrder::Rules { bundle } => vec![LowerAct::TakeRules(bundle)],
            RelayOrder::Beat => Vec::new(),
            RelayOrder::Error { text, question } => {
                let warning = LowerAct::Warn(format!("the desk above says: {text}"));
                let Some(question) = question else { return vec![warning] };
                // It may have ended meanwhile.
                if self.sent.remove(&question) {
                    self.waiting.push_back(question);
                }
                let is_told = std::mem::replace(&mut self.is_lack_told, true);
                if is_told { Vec::new() } else { vec![warning] }
            }
        }
    }

    /// Sends the questions that are open when the line begins, as many as there is room for above,
    /// what became of those that the desk above still has, and which of these are about to be
    /// decided.
    pub fn sync_questions(
        &mut self,
        open: Vec<RelayedQuestion>,
        closed: Vec<ClosedOutcome>,
        undelivered: Vec<RequestId>,
    ) -> Vec<LowerAct> {
        let mut acts: Vec<LowerAct> =
            open.into_iter().filter_map(|question| self.report_question(question)).collect();
        acts.extend(closed.into_iter().map(|closed| LowerAct::Send(RelayReport::Closed(closed))));
        let all = self.sent.iter().chain(&undelivered).chain(&self.waiting);
        let open = all.take(MOST_IDS).cloned().collect();
        // They count as sent, so that their end is reported, too.
        self.sent.extend(undelivered);
        // This comes last, because the desk above withdraws what it does not name.
        acts.push(LowerAct::Send(RelayReport::Synced { open }));
        acts
    }

    /// Sends a question that has been asked, unless it was sent already. It waits if there are too
    /// many.
    pub fn report_question(&mut self, question: RelayedQuestion) -> Option<LowerAct> {
        let id = &question.request.request_id;
        if self.sent.contains(id) || self.waiting.contains(id) {
            return None;
        }
        if self.sent.len() >= MOST_QUESTIONS {
            self.waiting.push_back(id.clone());
            return None;
        }
        self.sent.insert(id.clone());
        Some(LowerAct::Send(RelayReport::Question(Box::new(question))))
    }

    pub fn report_words(&self, question: &RequestId, last_words: String) -> Option<LowerAct> {
        let question = self.sent.get(question)?.clone();
        Some(LowerAct::Send(RelayReport::Said { question, last_words }))
    }

    pub fn report_closed(&mut self, closed: ClosedOutcome) -> Option<LowerAct> {
        self.waiting.retain(|question| *question != closed.question);
        let is_sent = self.sent.remove(&closed.question);
        is_sent.then_some(LowerAct::Send(RelayReport::Closed(closed)))
    }

    pub fn takes_entries(&self) -> bool {
        self.unacked.values().sum::<usize>() < MOST_UNACKED
    }

    pub fn report_entry(&mut self, entry: WatchedEntry) -> LowerAct {
        // 256 stands for the other members of the line.
        self.unacked.insert(entry.seq, entry.body.get().len() + entry.kind.len() + 256);
        LowerAct::Send(RelayReport::Entry { entry })
    }

    /// Notes that bytes have come which are no whole line yet.
    pub fn note_heard(&mut self, at: Duration) {
        self.health.note_heard(at);
    }

    pub fn note_sent(&mut self, now: Duration) {
        self.health.note_said(now);
    }

    /// Returns what is to be done because of the time.
    pub fn handle_time(&mut self, now: Duration) -> Vec<LowerAct> {
        let mut acts = match self.health.need_at(now) {
            LineNeed::Nothing => Vec::new(),
            LineNeed::Beat => vec![LowerAct::Send(RelayReport::Beat)],
            LineNeed::End => vec![LowerAct::End("the desk above is silent".to_owned())],
        };
        if now >= self.next_attempt() {
            self.asked_again = now;
            let room = MOST_QUESTIONS.saturating_sub(self.sent.len()).min(ASKED_AGAIN);
            let again = self.waiting.drain(..room.min(self.waiting.len()));
            acts.extend(again.map(LowerAct::AskAgain));
        }
        acts
    }

    /// Returns when questions that wait may be asked again.
    fn next_attempt(&self) -> Duration {
        self.asked_again + ASK_AGAIN_EVERY
    }

    /// Returns when [`handle_time`](Self::handle_time) has to be called.
    pub fn next_alarm(&self) -> Duration {
        let alarm = self.health.next_alarm();
        if self.waiting.is_empty() { alarm } else { alarm.min(self.next_attempt()) }
    }
}

/// Tells the desk above that something it sent was not accepted.
fn refuse(text: String) -> Vec<LowerAct> {
    let warning = LowerAct::Warn(format!("the desk above sent something wrong: {text}"));
    vec![LowerAct::Send(RelayReport::Error { text }), warning]
}
