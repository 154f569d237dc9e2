//! The session with one machine whose questions are answered here, whatever carries its lines. It
//! outlives a line: questions stay open while there is none.

mod session_questions;

use std::collections::HashMap;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Instant;

use callgate_approval::daemon::{Daemon, RelayedAskers, RemoteBoard, Warn};
use callgate_approval::desk::DeferReason;
use callgate_relay::{LineArrival, LinePort, QuestionRoom, SharedLine, UpperAct, UpperLine};
use callgate_store::{CopyOutcome, LedgerEntry, Sha256Hash};
use callgate_wire::approval::{AskerMachine, RelayedAnswer, RequestId};
use callgate_wire::desk::{RemoteState, WatchedEntry};
use callgate_wire::relay::{CopiedThrough, RelayOrder};
use rustix::system::uname;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::machines::ledger_copies::LedgerCopies;
use crate::machines::ledgers::{MachineLedger, MachineLedgers};
use crate::shared_questions::SharedQuestions;
use crate::team_database::TeamDatabase;
use session_questions::OpenAsker;

/// What all sessions of this desk work with.
#[derive(Clone)]
pub(crate) struct SessionHome {
    pub(crate) board: Arc<RemoteBoard>,
    pub(crate) askers: RelayedAskers,
    pub(crate) copies: LedgerCopies,
    pub(crate) ledgers: MachineLedgers,
    pub(crate) warn: Warn,
    pub(crate) desk_name: String,
    /// The database that the desks of a team share, if this one does.
    pub(crate) database: Option<TeamDatabase>,
    pub(crate) shared: Option<SharedQuestions>,
}

impl SessionHome {
    /// Returns what sessions of a desk with this database work with.
    pub(crate) fn of_desk(daemon: &Daemon, database: &Path, warn: Warn) -> Self {
        let copies = LedgerCopies::in_database(database);
        Self {
            board: daemon.remote_board(),
            askers: daemon.relayed_askers(),
            ledgers: MachineLedgers::OfDesk(copies.clone()),
            copies,
            warn,
            desk_name: uname().nodename().to_string_lossy().into_owned(),
            database: None,
            shared: None,
        }
    }
}

/// The rules of a team as a line to be sent, which changes when they do.
pub(crate) type RulesFeed = watch::Receiver<Option<SharedLine>>;

pub(crate) struct MachineSession {
    home: SessionHome,
    clock: Instant,
    upper: UpperLine,
    machine: AskerMachine,
    /// The copy of its ledger, if that is copied.
    ledger: Option<MachineLedger>,
    /// The number of the run, for a job.
    run: Option<String>,
    /// The rules that the machine is sent, if it belongs to the team of this desk.
    rules: Option<RulesFeed>,
    /// The questions that are open here.
    asked: HashMap<RequestId, OpenAsker>,
    /// The answers to them, as they come.
    answers: JoinSet<(RequestId, Option<RelayedAnswer>)>,
    /// The answers that were sent, after the time in which they have to be confirmed.
    receipts: JoinSet<RequestId>,
    /// Whether the last line has brought all questions.
    pub(crate) is_synced: bool,
    /// What the machine said last that was wrong.
    trouble: Option<String>,
}

impl MachineSession {
    /// Makes the session with the machine of this name, which is not connected yet.
    pub(crate) fn new(home: SessionHome, name: &str) -> Self {
        let machine =
            AskerMachine { name: name.to_owned(), user: String::new(), home: String::new() };
        Self {
            clock: Instant::now(),
            upper: UpperLine::new(&home.desk_name),
            ledger: Some(MachineLedger::new(home.ledgers.clone(), name)),
            home,
            machine,
            run: None,
            rules: None,
            asked: HashMap::new(),
            answers: JoinSet::new(),
            receipts: JoinSet::new(),
            is_synced: false,
            trouble: None,
        }
    }

    /// Makes it the session of a run of a job, in which only questions come, and no ledger. All
    /// runs of the job share the room for their questions.
    pub(crate) fn for_run(mut self, run: String, room: Arc<QuestionRoom>) -> Self {
        // The pace of questions is counted over all runs, so all of them need one clock.
        self.clock = room.began();
        self.upper = self.upper.without_copy().in_room(room);
        self.ledger = None;
        self.run = Some(run);
        self
    }

    /// Sends these rules to the machine, now and whenever they change.
    pub(crate) fn with_rules(self, rules: RulesFeed) -> Self {
        Self { rules: Some(rules), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        &self.machine.name
    }

    /// Returns true if no question of the machine is open here.
    pub(crate) fn is_idle(&self) -> bool {
        self.upper.is_idle()
    }

    /// Serves a line until it ends, or until `stop`. Returns why it has ended, unless the machine
    /// has closed it and has not said why.
    pub(crate) async fn serve_line(
        &mut self,
        port: &mut LinePort,
        stop: impl Future<Output = String>,
    ) -> Option<String> {
        (self.is_synced, self.trouble) = (false, None);
        let why = self.serve_connection(port, pin!(stop)).await;
        // People are told that their answers wait for the next line.
        for act in self.upper.disconnect() {
            self.carry_out(None, act).await;
        }
        if self.home.shared.is_some() {
            // They are in the database, and the next line may be at another desk.
            self.forget_questions();
        }
        why.or(self.trouble.take())
    }

    async fn serve_connection(
        &mut self,
        port: &mut LinePort,
        mut stop: Pin<&mut impl Future<Output = String>>,
    ) -> Option<String> {
        let after = match self.copied_through().await {
            Ok(after) => after,
            Err(error) => return Some(error),
        };
        if let Err(error) = self.resume_questions().await {
            return Some(error);
        }
        // A line may have ended before its last questions were asked.
        self.upper.retain_questions(|id| self.asked.contains_key(id));
        let acts = self.upper.connect(self.clock.elapsed(), after);
        let mut why = self.carry_out_all(port, acts).await;
        while why.is_none() {
            let alarm = self.upper.next_alarm().unwrap_or_default();
            let acts = tokio::select! {
                // What came together is stored together.
                arrivals = port.next_lines() => {
                    if arrivals.is_empty() {
                        return None;
                    }
                    self.take_arrivals(&arrivals)
                }
                Some(answered) = self.answers.join_next(), if !self.answers.is_empty() => {
                    if let Ok((question, answer)) = answered {
                        self.take_answer(Some(port), &question, answer).await;
                    }
                    Vec::new()
                }
                Some(late) = self.receipts.join_next(), if !self.receipts.is_empty() => {
                    if let Ok(question) = late {
                        self.miss_receipt(&question).await;
                    }
                    Vec::new()
                }
                why = &mut stop => return Some(why),
                () = next_rules(&mut self.rules), if self.is_synced => {
                    why = self.send_rules(port);
                    Vec::new()
                }
                () = tokio::time::sleep(alarm.saturating_sub(self.clock.elapsed())) => {
                    self.upper.note_heard(port.heard_at().saturating_duration_since(self.clock));
                    self.upper.handle_time(self.clock.elapsed())
                }
            };
            if why.is_none() {
                why = self.carry_out_all(port, acts).await;
            }
            if why.is_none() {
                why = self.copy_entries(port).await;
            }
        }
        why
    }

    /// Returns what lines want that have come together, up to the end of the line.
    fn take_arrivals(&mut self, arrivals: &[LineArrival]) -> Vec<UpperAct> {
        let mut acts = Vec::new();
        for arrival in arrivals {
            acts.extend(self.upper.handle_arrival(self.clock.elapsed(), arrival));
            if acts.iter().any(|act| matches!(act, UpperAct::End(_))) {
                break;
            }
        }
        acts
    }

    async fn copied_through(&mut self) -> Result<Option<CopiedThrough>, String> {
        let Some(ledger) = &mut self.ledger else { return Ok(None) };
        let after = ledger.read_head().await?;
        self.home.board.set_copied(self.name(), after.map_or(0, |head| head.seq));
        Ok(after
            .map(|head| CopiedThrough { seq: head.seq, hash: Sha256Hash(head.hash).to_string() }))
    }

    /// Waits while there is no line, and takes the answers that people give meanwhile.
    pub(crate) async fn wait_without_line<T>(&mut self, until: impl Future<Output = T>) -> T {
        let mut until = pin!(until);
        loop {
            tokio::select! {
                done = &mut until => return done,
                Some(answered) = self.answers.join_next(), if !self.answers.is_empty() => {
                    if let Ok((question, answer)) = answered {
                        self.take_answer(None, &question, answer).await;
                    }
                }
            }
        }
    }

    /// Withdraws everything, for this reason: the machine is not served any more.
    pub(crate) async fn withdraw_all(&mut self, text: &str) {
        for act in self.upper.withdraw_all(text) {
            self.carry_out(None, act).await;
        }
    }

    /// Carries out what the line wants. Returns why it ends, if it does: then nothing more is sent,
    /// but what has come is not lost.
    async fn carry_out_all(&mut self, port: &mut LinePort, acts: Vec<UpperAct>) -> Option<String> {
        let mut why = None;
        for act in acts {
            let is_futile = match &act {
                UpperAct::Send(_) => true,
                // A database that has just failed is not tried for each; the machine asks again.
                UpperAct::Ask(_) => self.home.shared.is_some(),
                _ => false,
            };
            if why.is_none() || !is_futile {
                let ended = self.carry_out(Some(port), act).await;
                why = why.or(ended);
            }
        }
        why
    }

    async fn carry_out(&mut self, port: Option<&mut LinePort>, act: UpperAct) -> Option<String> {
        match act {
            UpperAct::Send(order) => return self.send_order(port?, &order),
            UpperAct::Connected(hello) => {
                self.home.board.set_user(self.name(), &hello.user, &hello.home);
                // What the machine calls itself does not count: its name is the one that was given
                // to it here.
                (self.machine.user, self.machine.home) = (hello.user, hello.home);
            }
            UpperAct::Waiting(text) => self.set_state(RemoteState::Waiting, Some(text)),
            UpperAct::Synced(open) => {
                self.set_state(RemoteState::Connected, None);
                // Once, as rules are long: changes follow by themselves.
                if !std::mem::replace(&mut self.is_synced, true) {
                    self.withdraw_left(open).await;
                    return port.and_then(|port| self.send_rules(port));
                }
            }
            UpperAct::Ask(question) => return self.ask_people(*question).await,
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
                    asker.report_deferred(DeferReason::Machine).await;
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

    fn send_order(&mut self, port: &mut LinePort, order: &RelayOrder) -> Option<String> {
        self.send_line(port, Arc::new(order.to_line()))
    }

    fn send_line(&mut self, port: &mut LinePort, line: SharedLine) -> Option<String> {
        if !port.send(line) {
            return Some("it does not read".to_owned());
        }
        self.upper.note_sent(self.clock.elapsed());
        None
    }

    /// Sends the team's newest rules. Returns why the line ends, if it does.
    fn send_rules(&mut self, port: &mut LinePort) -> Option<String> {
        let rules = self.rules.as_mut().and_then(|rules| rules.borrow_and_update().clone());
        rules.and_then(|line| self.send_line(port, line))
    }

    /// Stores the entries that have come, and sends a receipt. Returns why the line ends, if it
    /// does.
    async fn copy_entries(&mut self, port: &mut LinePort) -> Option<String> {
        let (entries, begins_anew) = self.upper.take_entries()?;
        let entries: Option<Vec<LedgerEntry>> = entries.into_iter().map(ledger_entry).collect();
        let Some(entries) = entries else {
            return Some("it sent an entry with a hash that is malformed".to_owned());
        };
        // The receipt follows the storing, so that a machine sends no faster than its entries are
        // stored.
        match self.ledger.as_mut()?.add_entries(entries, begins_anew).await {
            Ok(CopyOutcome::Copied(head)) => {
                self.home.board.set_copied(self.name(), head.seq);
                self.send_order(port, &RelayOrder::Ack { seq: head.seq })
            }
            // Nothing is copied over the entries that are there, because a ledger that was
            // rewritten has to show.
            Ok(CopyOutcome::Broken(seq)) => {
                let text = format!("entry {seq} of its ledger does not follow the one before");
                self.warn(&text);
                Some(text)
            }
            Err(error) => Some(error),
        }
    }

    fn set_state(&self, state: RemoteState, text: Option<String>) {
        self.home.board.set_state(self.name(), state, text);
    }

    fn warn(&self, text: &str) {
        (self.home.warn)(&format!("{}: {text}", self.name()));
    }
}

/// Waits until the rules have changed; for ever if the machine is sent none.
async fn next_rules(rules: &mut Option<RulesFeed>) {
    let changed = match rules {
        Some(rules) => rules.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending::<()>().await;
    }
}

fn ledger_entry(entry: WatchedEntry) -> Option<LedgerEntry> {
    let WatchedEntry { seq, at_ms, kind, question, hash, body } = entry;
    let Sha256Hash(hash) = hash.parse().ok()?;
    Some(LedgerEntry { seq, at_ms, kind, question, body: body.get().to_owned(), hash })
}

#[cfg(test)]
mod tests;
