//! The connections of askers that wait for their answers. None of them has a task or a buffer,
//! which would take tens of megabytes for ten thousand.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::hangup::{HangupWatcher, Receipt, peer_receipt};
use callgate_link::sync::lock;
use callgate_wire::approval::{ApprovalResponse, FirstAllow};
use tokio::io::AsyncWriteExt;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::letter::{Letter, LetterBox};
use crate::desk::{AskerId, DeskInput};

/// How long an asker may take to read its answer. One that takes longer is still connected, and
/// counts as having read it.
const READ_WITHIN: Duration = Duration::from_secs(5);
/// How often an asker that has not hung up is checked: nothing signals that it has read.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// All askers that wait for an answer or are being sent one.
#[derive(Debug)]
pub(super) struct Askers {
    hangups: HangupWatcher,
    waiting: Mutex<HashMap<AskerId, ParkedAsker>>,
    /// The askers of other machines, which are not connected here.
    relayed: Mutex<HashMap<AskerId, RelayedPort>>,
    to_desk: LetterBox,
    stopper: Mutex<Option<UnixStream>>,
    /// The other end of `stopper`, which is watched like an asker.
    _watched: UnixStream,
}

/// Where an asker of another machine hears of its question.
#[derive(Debug)]
struct RelayedPort {
    answer: oneshot::Sender<ApprovalResponse>,
    allows: mpsc::UnboundedSender<NotedAllow>,
}

/// A first of two allows that the desk has noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedAllow {
    pub first: FirstAllow,
    pub replaces: Option<FirstAllow>,
}

/// What an asker of another machine hears of its question.
#[derive(Debug)]
pub(super) struct RelayedNews {
    pub(super) answered: oneshot::Receiver<ApprovalResponse>,
    pub(super) allows: mpsc::UnboundedReceiver<NotedAllow>,
}

/// The name under which the end of the watching is reported; no asker has it.
const STOP: u64 = u64::MAX;

#[derive(Debug)]
struct ParkedAsker {
    stream: UnixStream,
    answer: AnswerState,
    question: QuestionState,
}

/// Whether the desk has an asker's question.
#[derive(Debug, Clone, PartialEq, Eq)]
enum QuestionState {
    /// Not yet. The agent's last words may have come, which the desk must not get before.
    OnItsWay { last_words: Option<String> },
    /// The desk has it.
    Asked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerState {
    Absent,
    /// A part has been sent.
    Sending,
    /// The whole answer has been sent.
    Sent,
}

impl Askers {
    pub(super) fn new(to_desk: LetterBox) -> io::Result<Arc<Self>> {
        let hangups = HangupWatcher::new()?;
        let (stopper, watched) = UnixStream::pair()?;
        hangups.watch(&watched, STOP)?;
        Ok(Arc::new(Self {
            hangups,
            waiting: Mutex::default(),
            relayed: Mutex::default(),
            to_desk,
            stopper: Mutex::new(Some(stopper)),
            _watched: watched,
        }))
    }

    /// Parks the connection of an asker whose question is about to go to the desk.
    pub(super) fn park_asker(&self, id: AskerId, stream: UnixStream) {
        let question = QuestionState::OnItsWay { last_words: None };
        let parked = ParkedAsker { stream, answer: AnswerState::Absent, question };
        lock(&self.waiting).insert(id, parked);
    }

    /// Adds an asker of another machine, whose question is about to go to the desk. Returns where
    /// it hears of it.
    pub(super) fn add_relayed(&self, id: AskerId) -> RelayedNews {
        let (answer, answered) = oneshot::channel();
        // Without a limit, because these come from people who press by hand.
        let (allows_in, allows) = mpsc::unbounded_channel();
        lock(&self.relayed).insert(id, RelayedPort { answer, allows: allows_in });
        RelayedNews { answered, allows }
    }

    /// Tells an asker of another machine that the first of two allows was given.
    pub(super) fn tell_first_allow(
        &self,
        id: AskerId,
        first: FirstAllow,
        replaces: Option<FirstAllow>,
    ) {
        if let Some(port) = lock(&self.relayed).get(&id) {
            // An asker that does not listen shares its question with no other desk.
            port.allows.send(NotedAllow { first, replaces }).ok();
        }
    }

    pub(super) fn remove_relayed(&self, id: AskerId) {
        lock(&self.relayed).remove(&id);
    }

    /// Answers an asker of another machine. Returns false if `id` belongs to no such asker.
    fn answer_relayed(&self, id: AskerId, response: &ApprovalResponse) -> bool {
        let Some(port) = lock(&self.relayed).remove(&id) else { return false };
        // An asker that has gone is about to be reported.
        port.answer.send(response.clone()).ok();
        true
    }

    /// Sends the desk something that gets no answer. A desk that has ended needs no news.
    pub(super) async fn notify_desk(&self, input: DeskInput) {
        self.to_desk.send(Letter::new(input)).await.ok();
    }

    /// Sends the desk an asker's question, and watches the asker from then on, so that no hang-up
    /// is reported before the question. An asker that cannot be watched is let go.
    pub(super) async fn forward_question(&self, id: AskerId, question: DeskInput) {
        self.notify_desk(question).await;
        if let Some(input) = self.mark_forwarded(id) {
            self.notify_desk(input).await;
        }
    }

    /// Like [`forward_question`](Self::forward_question), for a thread without a runtime. If this
    /// `is_only_one`, the desk handles it on this thread, unless other letters come first; several
    /// are better recorded together.
    pub(super) fn blocking_forward(&self, id: AskerId, question: DeskInput, is_only_one: bool) {
        let letter = Letter::new(question);
        let sent = if is_only_one {
            self.to_desk.handle_or_send(letter)
        } else {
            self.to_desk.blocking_send(letter)
        };
        // A desk that has ended needs no news.
        sent.ok();
        if let Some(input) = self.mark_forwarded(id) {
            self.to_desk.blocking_send(Letter::new(input)).ok();
        }
    }

    /// Sends the desk what the agent said before the question, once the desk has the question.
    pub(super) async fn forward_words(&self, id: AskerId, last_words: String) {
        if let Some(input) = self.add_words(id, last_words) {
            self.notify_desk(input).await;
        }
    }

    /// Keeps the words of a question that is on its way, or returns them for the desk.
    fn add_words(&self, id: AskerId, last_words: String) -> Option<DeskInput> {
        match &mut lock(&self.waiting).get_mut(&id)?.question {
            QuestionState::OnItsWay { last_words: kept } => {
                *kept = Some(last_words);
                None
            }
            QuestionState::Asked => Some(DeskInput::Said { asker: id, last_words }),
        }
    }

    /// Notes that the desk has the question of an asker. Returns what the desk has to know next.
    fn mark_forwarded(&self, id: AskerId) -> Option<DeskInput> {
        if !self.watch(id) {
            return Some(DeskInput::Gone(id));
        }
        let mut waiting = lock(&self.waiting);
        let asked = std::mem::replace(&mut waiting.get_mut(&id)?.question, QuestionState::Asked);
        match asked {
            QuestionState::OnItsWay { last_words } => {
                last_words.map(|last_words| DeskInput::Said { asker: id, last_words })
            }
            QuestionState::Asked => None,
        }
    }

    /// Begins to watch an asker. Returns false if that failed and the asker was let go.
    fn watch(&self, id: AskerId) -> bool {
        let mut waiting = lock(&self.waiting);
        // One that is not there was answered and let go on the way.
        let Some(asker) = waiting.get(&id) else { return true };
        self.hangups.watch(&asker.stream, id.0).is_ok() || waiting.remove(&id).is_none()
    }

    /// Sends an asker its answer, after which nothing follows, without waiting. A task in `runtime`
    /// sees whether it is read, and tells the desk.
    pub(super) fn send_answer(
        self: &Arc<Self>,
        runtime: &Handle,
        id: AskerId,
        response: &ApprovalResponse,
    ) {
        if self.answer_relayed(id, response) {
            return;
        }
        let line = response.to_line();
        let mut waiting = lock(&self.waiting);
        // An asker that has hung up was reported already.
        let Some(asker) = waiting.get_mut(&id) else { return };
        // An asker that cannot be written to has hung up, which is about to be reported.
        let Ok(rest) = asker.send(&line) else { return };
        drop(waiting);
        let askers = Arc::clone(self);
        runtime.spawn(async move {
            if let Some(rest) = rest {
                let sent = rest.send().await;
                if let (Ok(()), Some(asker)) = (sent, lock(&askers.waiting).get_mut(&id)) {
                    asker.end_sending();
                }
            }
            askers.see_read(id).await;
        });
    }

    /// Sends an asker its answer and lets it go: nobody needs to know whether it reads the answer.
    ///
    /// Most tool calls end here, and their agents wait. A receipt would wake three threads, which
    /// take the processor from the hook while it ends.
    pub(super) fn answer_and_release(
        &self,
        runtime: &Handle,
        id: AskerId,
        response: &ApprovalResponse,
    ) {
        // An asker that has hung up was reported already.
        let Some(mut asker) = lock(&self.waiting).remove(&id) else {
            self.answer_relayed(id, response);
            return;
        };
        if let Ok(Some(rest)) = asker.send(&response.to_line()) {
            runtime.spawn(async move {
                // An asker that does not read its answer goes without it.
                if rest.send().await.is_ok() {
                    asker.end_sending();
                }
            });
        }
    }

    /// Waits until an asker has read its answer. A hang-up is reported elsewhere.
    async fn see_read(&self, id: AskerId) {
        let end = Instant::now() + READ_WITHIN;
        while self.is_waiting(id) {
            let now = Instant::now();
            if let Some(input) = self.take_result(id, now >= end) {
                return self.notify_desk(input).await;
            }
            sleep_until((now + LOOK_EVERY).min(end)).await;
        }
    }

    fn is_waiting(&self, id: AskerId) -> bool {
        lock(&self.waiting).contains_key(&id)
    }

    /// Reports every hang-up to the desk, on a thread of its own, until [`stop`](Self::stop) is
    /// called.
    pub(super) fn report_hangups(&self) -> io::Result<()> {
        loop {
            for name in self.hangups.next()? {
                if name == STOP {
                    return Ok(());
                }
                if let Some(input) = self.take_result(AskerId(name), false) {
                    // A desk that has ended needs no news.
                    self.to_desk.blocking_send(Letter::new(input)).ok();
                }
            }
        }
    }

    /// Removes an asker once it is known what became of its question, and returns that for the
    /// desk. If it `is_late`, an answer that is unread counts as delivered.
    ///
    /// The kernel reports a loss only once: whoever sees it must also remove the asker, before
    /// anybody else looks.
    fn take_result(&self, id: AskerId, is_late: bool) -> Option<DeskInput> {
        let mut waiting = lock(&self.waiting);
        let asker = waiting.get(&id)?;
        let input = match (asker.answer, asker.receipt()) {
            (AnswerState::Absent, _) => DeskInput::Gone(id),
            (_, Receipt::Lost) => DeskInput::Lost(id),
            // It may still read, even if it has stopped sending.
            (_, Receipt::Unread) if !is_late => return None,
            (_, Receipt::Read | Receipt::Unread) => DeskInput::Delivered(id),
        };
        waiting.remove(&id);
        Some(input)
    }

    /// Ends [`report_hangups`](Self::report_hangups).
    pub(super) fn stop(&self) {
        // Closing one end is a hang-up for the other.
        lock(&self.stopper).take();
    }
}

impl ParkedAsker {
    /// Sends as much of the answer as fits into the socket, and returns the rest.
    fn send(&mut self, line: &[u8]) -> io::Result<Option<UnsentAnswer>> {
        // Before the first byte: an answer that breaks off here is lost, and not one that was never
        // sent.
        self.answer = AnswerState::Sending;
        let sent = match self.stream.write(line) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        if sent == line.len() {
            self.end_sending();
            return Ok(None);
        }
        // A copy, because the asker stays parked meanwhile and its hang-up is still watched for.
        Ok(Some(UnsentAnswer { stream: self.stream.try_clone(), bytes: line[sent..].to_vec() }))
    }

    /// Closes the sending direction: nothing follows the answer.
    fn end_sending(&mut self) {
        self.answer = AnswerState::Sent;
        // An asker that has hung up does not need it.
        self.stream.shutdown(Shutdown::Write).ok();
    }

    /// Returns whether the asker has read its answer. An answer that could not be sent completely
    /// is lost.
    fn receipt(&self) -> Receipt {
        match self.answer {
            AnswerState::Sent => peer_receipt(&self.stream),
            AnswerState::Absent | AnswerState::Sending => Receipt::Lost,
        }
    }
}

/// The part of an answer that did not fit into its asker's socket.
struct UnsentAnswer {
    /// The socket, unless there are no descriptors left.
    stream: io::Result<UnixStream>,
    bytes: Vec<u8>,
}

impl UnsentAnswer {
    async fn send(self) -> io::Result<()> {
        let mut stream = tokio::net::UnixStream::from_std(self.stream?)?;
        timeout(READ_WITHIN, stream.write_all(&self.bytes)).await?
    }
}

#[cfg(test)]
mod tests;
