//! The session with one remote: an ssh connection that is made again when it is cut, while its
//! questions stay open here.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callgate_approval::daemon::{RelayedAsker, RelayedAskers, RemoteBoard, Warn};
use callgate_link::child::LeashedChild;
use callgate_relay::{LinePort, UpperAct, UpperLine};
use callgate_store::{ChainHead, CopyOutcome, LedgerEntry, Sha256Hash, Store};
use callgate_wire::approval::{AskerMachine, RelayedAnswer, RequestId};
use callgate_wire::desk::{RemoteState, WatchedEntry};
use callgate_wire::relay::{CopiedThrough, RelayOrder};
use tokio::sync::{mpsc, watch};

use super::ssh::{PROGRAM_FOLDER, RemoteHost, explain_start};

/// How long after a cut the first attempt is made; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many answers may wait for the session.
const QUEUE: usize = 1024;
/// How much of what ssh says is kept, in bytes.
const MOST_SAID: u64 = 16 * 1024;

/// What a session works with.
pub(super) struct SessionHome {
    pub(super) host: RemoteHost,
    pub(super) database: PathBuf,
    pub(super) board: Arc<RemoteBoard>,
    pub(super) askers: RelayedAskers,
    pub(super) warn: Warn,
    pub(super) desk_name: String,
}

/// The session with one remote.
pub(super) struct RemoteSession {
    home: SessionHome,
    clock: Instant,
    upper: UpperLine,
    store: Store,
    machine: AskerMachine,
    /// The questions that are open here.
    asked: HashMap<RequestId, RelayedAsker>,
    answers_in: mpsc::Sender<(RequestId, Option<RelayedAnswer>)>,
    answers: mpsc::Receiver<(RequestId, Option<RelayedAnswer>)>,
    /// Whether this connection has brought all questions.
    is_synced: bool,
    /// What the remote said last that was wrong.
    trouble: Option<String>,
}

impl RemoteSession {
    /// Runs a session on a thread of its own, until the sender of `ended` is dropped.
    pub(super) fn start(home: SessionHome, ended: watch::Receiver<()>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let name = format!("remote {}", home.host);
        let store = Store::open(&home.database).map_err(io::Error::other)?;
        thread::Builder::new().name(name).spawn(move || {
            let (answers_in, answers) = mpsc::channel(QUEUE);
            let machine = AskerMachine {
                name: home.host.to_string(),
                user: String::new(),
                home: String::new(),
            };
            let session = Self {
                clock: Instant::now(),
                upper: UpperLine::new(&home.desk_name),
                store,
                machine,
                asked: HashMap::new(),
                answers_in,
                answers,
                is_synced: false,
                trouble: None,
                home,
            };
            runtime.block_on(session.keep_connected(ended));
        })?;
        Ok(())
    }

    async fn keep_connected(mut self, mut ended: watch::Receiver<()>) {
        let mut pause = FIRST_PAUSE;
        loop {
            self.is_synced = false;
            self.trouble = None;
            let why = tokio::select! {
                why = self.serve_connection() => why,
                _ = ended.changed() => return self.end_session().await,
            };
            for act in self.upper.disconnect() {
                self.carry_out(None, act).await;
            }
            if self.is_synced {
                pause = FIRST_PAUSE;
            }
            self.set_state(RemoteState::Failed, Some(why));
            let again = tokio::time::sleep(pause);
            tokio::pin!(again);
            loop {
                tokio::select! {
                    () = &mut again => break,
                    Some((question, answer)) = self.answers.recv() => {
                        self.take_answer(None, &question, answer).await;
                    }
                    _ = ended.changed() => return self.end_session().await,
                }
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Withdraws everything: the remote was removed.
    async fn end_session(mut self) {
        for act in self.upper.withdraw_all("Its machine was removed") {
            self.carry_out(None, act).await;
        }
        self.home.board.remove(self.home.host.as_str());
    }

    /// Connects, and serves the connection. Returns why it has ended.
    async fn serve_connection(&mut self) -> String {
        let after = match self.store.copied_through(self.home.host.as_str()) {
            Ok(after) => after,
            Err(error) => return error.to_string(),
        };
        self.home.board.set_copied(self.home.host.as_str(), after.map_or(0, |head| head.seq));
        let mut command =
            self.home.host.ssh_command(&format!("exec ~/{PROGRAM_FOLDER}/callgate relay"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match LeashedChild::spawn(command) {
            Ok(child) => child,
            Err(error) => return explain_start(&error),
        };
        let (Some(input), Some(output), Some(said)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return "ssh has no pipes".to_owned();
        };
        let port = match LinePort::open(output, input) {
            Ok(port) => port,
            Err(error) => return format!("cannot start: {error}"),
        };
        let saying = thread::spawn(move || read_words(said));
        let why = self.serve_line(port, after).await;
        // A dead line is not waited for: ssh would wait for the machine.
        let is_over = why.is_some() || child.wait_for(Duration::from_secs(2)).unwrap_or(false);
        let code = if is_over && why.is_none() {
            child.wait().ok().and_then(|status| status.code())
        } else {
            child.end_all().ok().and_then(|status| status.code())
        };
        let said = saying.join().unwrap_or_default();
        why.or(self.trouble.take()).unwrap_or_else(|| self.home.host.explain_failure(code, &said))
    }

    /// Serves a line until it ends. Returns why, unless ssh knows that.
    async fn serve_line(&mut self, mut port: LinePort, after: Option<ChainHead>) -> Option<String> {
        let after = after
            .map(|head| CopiedThrough { seq: head.seq, hash: Sha256Hash(head.hash).to_string() });
        let acts = self.upper.connect(self.clock.elapsed(), after);
        let mut why = self.carry_out_all(&port, acts).await;
        while why.is_none() {
            let alarm = self.upper.next_alarm().unwrap_or_default();
            let acts = tokio::select! {
                arrival = port.next() => {
                    let mut next = Some(arrival?);
                    let mut acts = Vec::new();
                    // What came together is stored together.
                    while let Some(arrival) = next {
                        acts.extend(self.upper.handle_arrival(self.clock.elapsed(), &arrival));
                        next = port.take_arrived();
                    }
                    acts
                }
                Some((question, answer)) = self.answers.recv() => {
                    self.take_answer(Some(&port), &question, answer).await;
                    Vec::new()
                }
                () = tokio::time::sleep(alarm.saturating_sub(self.clock.elapsed())) => {
                    if port.take_activity() {
                        self.upper.note_heard(self.clock.elapsed());
                    }
                    self.upper.handle_time(self.clock.elapsed())
                }
            };
            why = self.carry_out_all(&port, acts).await;
            why = why.or_else(|| self.copy_entries(&port));
        }
        why
    }

    async fn take_answer(
        &mut self,
        port: Option<&LinePort>,
        question: &RequestId,
        answer: Option<RelayedAnswer>,
    ) {
        if answer.is_none()
            && let Some(asker) = self.asked.remove(question)
        {
            // Nobody has answered, and the desk of the machine waits no longer than this one.
            asker.report_delivered().await;
        }
        for act in self.upper.answer_question(question, answer) {
            self.carry_out(port, act).await;
        }
    }

    /// Carries out what the line wants. Returns why it ends, if it does.
    async fn carry_out_all(&mut self, port: &LinePort, acts: Vec<UpperAct>) -> Option<String> {
        for act in acts {
            if let Some(why) = self.carry_out(Some(port), act).await {
                return Some(why);
            }
        }
        None
    }

    async fn carry_out(&mut self, port: Option<&LinePort>, act: UpperAct) -> Option<String> {
        match act {
            UpperAct::Send(order) => return self.send_order(port?, &order),
            UpperAct::Connected(hello) => {
                self.home.board.set_user(self.home.host.as_str(), &hello.user, &hello.home);
                (self.machine.user, self.machine.home) = (hello.user, hello.home);
            }
            UpperAct::Waiting(text) => self.set_state(RemoteState::Waiting, Some(text)),
            UpperAct::Synced => {
                self.is_synced = true;
                self.set_state(RemoteState::Connected, None);
            }
            UpperAct::Ask(question) => {
                let id = question.request.request_id.clone();
                let mut asker = self.home.askers.ask(&self.machine, *question).await;
                let (answered, answers) = (asker.wait_for_answer(), self.answers_in.clone());
                self.asked.insert(id.clone(), asker);
                tokio::spawn(async move { answers.send((id, answered.await)).await.ok() });
            }
            UpperAct::AddWords { question, last_words } => {
                if let Some(asker) = self.asked.get(&question) {
                    asker.add_last_words(last_words).await;
                }
            }
            UpperAct::Withdraw { question, text } => {
                if let Some(asker) = self.asked.remove(&question) {
                    asker.withdraw(text).await;
                }
            }
            UpperAct::Defer(question) => {
                if let Some(asker) = self.asked.get(&question) {
                    asker.report_deferred().await;
                }
            }
            UpperAct::Delivered(question) => {
                if let Some(asker) = self.asked.remove(&question) {
                    asker.report_delivered().await;
                }
            }
            UpperAct::Lost { question, text } => {
                if let Some(asker) = self.asked.remove(&question) {
                    self.warn(&text);
                    asker.report_lost().await;
                }
            }
            UpperAct::Warn(text) => {
                self.warn(&text);
                self.trouble = Some(text);
            }
            UpperAct::End(why) => return Some(why),
        }
        None
    }

    fn send_order(&mut self, port: &LinePort, order: &RelayOrder) -> Option<String> {
        if !port.send(order.to_line()) {
            return Some("it does not read".to_owned());
        }
        self.upper.note_sent(self.clock.elapsed());
        None
    }

    /// Stores the entries that have come, and sends a receipt. Returns why the line ends, if it
    /// does.
    fn copy_entries(&mut self, port: &LinePort) -> Option<String> {
        let (entries, begins_anew) = self.upper.take_entries()?;
        let host = self.home.host.as_str();
        let entries: Option<Vec<LedgerEntry>> = entries.into_iter().map(ledger_entry).collect();
        let Some(entries) = entries else {
            return Some("it sent an entry whose hash is none".to_owned());
        };
        match self.store.copy_entries(host, &entries, begins_anew) {
            Ok(CopyOutcome::Copied(head)) => {
                self.home.board.set_copied(host, head.seq);
                self.send_order(port, &RelayOrder::Ack { seq: head.seq })
            }
            Ok(CopyOutcome::Broken(seq)) => {
                let text = format!("entry {seq} of its ledger does not follow the one before");
                self.warn(&text);
                Some(text)
            }
            Err(error) => Some(error.to_string()),
        }
    }

    fn set_state(&self, state: RemoteState, text: Option<String>) {
        self.home.board.set_state(self.home.host.as_str(), state, text);
    }

    fn warn(&self, text: &str) {
        (self.home.warn)(&format!("{}: {text}", self.home.host));
    }
}

fn ledger_entry(entry: WatchedEntry) -> Option<LedgerEntry> {
    let WatchedEntry { seq, at_ms, kind, question, hash, body } = entry;
    let Sha256Hash(hash) = hash.parse().ok()?;
    Some(LedgerEntry { seq, at_ms, kind, question, body: body.get().to_owned(), hash })
}

/// Reads what ssh says, up to a limit. The rest is read and dropped, so that ssh is not held up.
fn read_words(mut said: ChildStderr) -> String {
    let mut words = Vec::new();
    // What cannot be read is not shown.
    said.by_ref().take(MOST_SAID).read_to_end(&mut words).ok();
    io::copy(&mut said, &mut io::sink()).ok();
    String::from_utf8_lossy(&words).into_owned()
}
