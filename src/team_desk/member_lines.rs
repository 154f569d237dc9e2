//! The lines of the team's machines and jobs: one session for each, on one runtime.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_relay::{LineBudget, LinePort, QuestionRoom, SharedLine};
use callgate_wire::desk::RemoteState;
use tokio::sync::{mpsc, watch};

use crate::machines::session::{MachineSession, SessionHome};
use crate::team_database::DatabaseState;

/// How many lines there may be at once.
const MOST_LINES: usize = 4096;
/// How many lines of one job there may be at once.
const MOST_OF_JOB: usize = 256;
/// How many bytes of lines that are not whole yet may be in memory, of all machines.
const MOST_ARRIVING: usize = 256 * 1024 * 1024;
/// How often a session without a line looks whether it still has a question.
const LOOK: Duration = Duration::from_secs(30);

/// What is said of the questions of a machine that was revoked.
const NO_MEMBER: &str = "Its machine does not belong to the team any more";

/// Whose line it is. A machine has one line; a job has one for each of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LineOwner {
    pub(super) name: String,
    /// The number of the run, for a job.
    pub(super) run: Option<String>,
}

/// The lines of the team's machines and jobs.
pub(super) struct MemberLines {
    home: SessionHome,
    budget: Arc<LineBudget>,
    rules: watch::Sender<Option<SharedLine>>,
    /// The sessions, each with the way by which it gets its next line. It ends without one.
    sessions: Mutex<HashMap<LineOwner, mpsc::Sender<LinePort>>>,
    /// The room for the questions of each job, which its runs share.
    rooms: Mutex<HashMap<String, Weak<QuestionRoom>>>,
}

impl MemberLines {
    pub(super) fn new(home: SessionHome) -> Arc<Self> {
        let (rules, _) = watch::channel(None);
        let budget = LineBudget::new(MOST_ARRIVING);
        Arc::new(Self { home, budget, rules, sessions: Mutex::default(), rooms: Mutex::default() })
    }

    pub(super) fn budget(&self) -> Arc<LineBudget> {
        Arc::clone(&self.budget)
    }

    /// Sends the team's rules to every machine, now and when it is connected.
    pub(super) fn send_rules(&self, rules: Option<SharedLine>) {
        self.rules.send_if_modified(|sent| {
            let is_new = *sent != rules;
            *sent = rules;
            is_new
        });
    }

    /// Returns why there is no room for a line, if there is none.
    pub(super) fn find_refusal(&self, owner: &LineOwner) -> Option<&'static str> {
        let sessions = lock(&self.sessions);
        if sessions.contains_key(owner) {
            return None;
        }
        if sessions.len() >= MOST_LINES {
            return Some("this desk has as many lines as it can have: try again later");
        }
        let of_job = || sessions.keys().filter(|other| other.name == owner.name).count();
        if owner.run.is_some() && of_job() >= MOST_OF_JOB {
            return Some("this job has as many lines as it can have: try again later");
        }
        None
    }

    /// Serves a line. It replaces the one that its owner has.
    pub(super) fn take_line(self: &Arc<Self>, owner: LineOwner, port: LinePort) {
        let mut sessions = lock(&self.sessions);
        // The lock is held until the session has its line, because a session ends only if it finds
        // none under the same lock.
        if let Some(ports) = sessions.get(&owner) {
            // If another one waits already, this one is dropped, and its machine comes again.
            ports.try_send(port).ok();
            return;
        }
        let (ports_in, ports) = mpsc::channel(1);
        // There is room for one.
        ports_in.try_send(port).ok();
        sessions.insert(owner.clone(), ports_in);
        tokio::spawn(Arc::clone(self).keep_session(owner, ports));
    }

    /// Ends the sessions of those who do not belong to the team any more.
    pub(super) fn end_all_but(&self, is_member: impl Fn(&str) -> bool) {
        lock(&self.sessions).retain(|owner, _| is_member(&owner.name));
    }

    /// Serves the lines of one owner, one after the other. A session without line and question ends.
    async fn keep_session(self: Arc<Self>, owner: LineOwner, mut ports: mpsc::Receiver<LinePort>) {
        let board = Arc::clone(&self.home.board);
        board.set_state(&owner.name, RemoteState::Connecting, None);
        let machine = MachineSession::new(self.home.clone(), &owner.name);
        let mut machine = machine.with_rules(self.rules.subscribe());
        if let Some(run) = &owner.run {
            machine = machine.for_run(run.clone(), self.room_of_job(&owner.name));
        }
        loop {
            let next = tokio::time::timeout(LOOK, ports.recv());
            let mut next = match machine.wait_without_line(next).await {
                Ok(next) => next,
                Err(_) if self.retire_session(&owner, &machine, &mut ports) => return,
                Err(_) => continue,
            };
            while let Some(mut port) = next.take() {
                let mut later = None;
                let stop = async {
                    tokio::select! {
                        newer = ports.recv() => {
                            later = Some(newer);
                            "another line has taken its place".to_owned()
                        }
                        why = self.wait_for_outage() => why,
                    }
                };
                let why = machine.serve_line(&mut port, stop).await;
                match later {
                    // It was revoked.
                    Some(None) => break,
                    Some(newer) => next = newer,
                    None => {
                        self.note_cut(&owner, why);
                        if self.retire_session(&owner, &machine, &mut ports) {
                            return;
                        }
                    }
                }
            }
            if ports.is_closed() && ports.is_empty() {
                break;
            }
        }
        machine.withdraw_all(NO_MEMBER).await;
        self.forget_job(&owner);
    }

    fn room_of_job(&self, name: &str) -> Arc<QuestionRoom> {
        let mut rooms = lock(&self.rooms);
        if let Some(room) = rooms.get(name).and_then(Weak::upgrade) {
            return room;
        }
        rooms.retain(|_, room| room.strong_count() > 0);
        let room = Arc::new(QuestionRoom::default());
        rooms.insert(name.to_owned(), Arc::downgrade(&room));
        room
    }

    /// Waits until the team's database does not answer, and returns why. Machines go on at a desk
    /// that can record their questions.
    async fn wait_for_outage(&self) -> String {
        if let Some(database) = &self.home.database {
            let mut state = database.state();
            let is_outage = |state: &DatabaseState| matches!(state, DatabaseState::Unreachable(_));
            // It is as long there as this.
            if let Ok(state) = state.wait_for(is_outage).await
                && let DatabaseState::Unreachable(why) = &*state
            {
                return why.clone();
            }
        }
        std::future::pending().await
    }

    /// Withdraws the questions of a machine that does not belong to the team any more, wherever its
    /// line was.
    pub(super) fn withdraw_questions(&self, name: &str) {
        if let Some(shared) = self.home.shared.clone() {
            let name = name.to_owned();
            tokio::spawn(async move { shared.withdraw_machine(name, NO_MEMBER).await });
        }
    }

    fn note_cut(&self, owner: &LineOwner, why: Option<String>) {
        let sessions = lock(&self.sessions);
        let has_others = owner.run.is_some()
            && sessions.keys().any(|other| other.name == owner.name && other != owner);
        if sessions.contains_key(owner) && !has_others {
            let why = why.unwrap_or_else(|| "it has ended the line".to_owned());
            self.home.board.set_state(&owner.name, RemoteState::Failed, Some(why));
        }
    }

    /// Ends a session that has no question, unless a line has come meanwhile. Returns true if it
    /// has ended.
    fn retire_session(
        &self,
        owner: &LineOwner,
        machine: &MachineSession,
        ports: &mut mpsc::Receiver<LinePort>,
    ) -> bool {
        let mut sessions = lock(&self.sessions);
        if !machine.is_idle() || !ports.is_empty() || !sessions.contains_key(owner) {
            return false;
        }
        sessions.remove(owner);
        drop(sessions);
        self.forget_job(owner);
        true
    }

    /// Takes a job without lines off the board: it is not expected to come back.
    fn forget_job(&self, owner: &LineOwner) {
        let has_others = || lock(&self.sessions).keys().any(|other| other.name == owner.name);
        if owner.run.is_some() && !has_others() {
            self.home.board.remove(&owner.name);
        }
    }
}
