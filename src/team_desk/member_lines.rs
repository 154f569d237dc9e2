//! The lines of the team's machines and jobs: one session for each, on one runtime.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_relay::{LineBudget, LinePort, QuestionRoom, SharedLine};
use callgate_wire::desk::RemoteState;
use tokio::sync::{mpsc, oneshot, watch};

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
const TOKEN_REPLACED: &str = "another token has taken the place of the one that opened it";

/// Whose line it is. A machine has one line; a job has one for each of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LineOwner {
    pub(super) name: String,
    /// The number of the run, for a job.
    pub(super) run: Option<String>,
}

/// A session, as whoever has a line for it knows it.
struct HeldSession {
    /// The way by which it gets its next line. It ends without one.
    lines: mpsc::Sender<MemberLine>,
    /// The hash of the token that has opened its last line.
    token: String,
    /// The line ends when this is dropped: its token no longer opens a line.
    admitted: Option<oneshot::Sender<()>>,
}

struct MemberLine {
    port: LinePort,
    /// Ends when the line has to.
    admission: oneshot::Receiver<()>,
}

/// The lines of the team's machines and jobs.
pub(super) struct MemberLines {
    home: SessionHome,
    budget: Arc<LineBudget>,
    rules: watch::Sender<Option<SharedLine>>,
    sessions: Mutex<HashMap<LineOwner, HeldSession>>,
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

    /// Returns why there is no room for a line, or `None` if there is room.
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

    /// Serves a line that the token with this hash has opened. It replaces the one that its owner
    /// has.
    pub(super) fn take_line(self: &Arc<Self>, owner: LineOwner, token: String, port: LinePort) {
        let mut sessions = lock(&self.sessions);
        let (admitted, admission) = oneshot::channel();
        let (line, admitted) = (MemberLine { port, admission }, Some(admitted));
        // The lock is held until the session has its line, because a session ends only if it finds
        // none under the same lock.
        if let Some(session) = sessions.get_mut(&owner) {
            // If another one waits already, this one is dropped, and its machine comes again.
            if session.lines.try_send(line).is_ok() {
                (session.token, session.admitted) = (token, admitted);
            }
            return;
        }
        let (lines, coming) = mpsc::channel(1);
        // There is room for one.
        lines.try_send(line).ok();
        sessions.insert(owner.clone(), HeldSession { lines, token, admitted });
        tokio::spawn(Arc::clone(self).keep_session(owner, coming));
    }

    /// Ends the lines that were opened by a token which their owner does not have any more, and the
    /// sessions of those who do not belong to the team.
    pub(super) fn end_refused(&self, token_of: impl Fn(&str) -> Option<String>) {
        lock(&self.sessions).retain(|owner, session| {
            let Some(token) = token_of(&owner.name) else { return false };
            // The name of the owner is not enough: whoever had the token before would keep the
            // line.
            if token == session.token {
                return true;
            }
            session.admitted = None;
            // A machine comes back with its new token. A run of a job has only the old one.
            owner.run.is_none()
        });
    }

    /// Serves the lines of one owner, one after the other. A session without line and question
    /// ends.
    async fn keep_session(
        self: Arc<Self>,
        owner: LineOwner,
        mut lines: mpsc::Receiver<MemberLine>,
    ) {
        let board = Arc::clone(&self.home.board);
        board.set_state(&owner.name, RemoteState::Connecting, None);
        let machine = MachineSession::new(self.home.clone(), &owner.name);
        let mut machine = machine.with_rules(self.rules.subscribe());
        if let Some(run) = &owner.run {
            machine = machine.for_run(run.clone(), self.room_of_job(&owner.name));
        }
        loop {
            // A session without a line holds its questions for the next one, and ends once they are
            // over.
            let next = tokio::time::timeout(LOOK, lines.recv());
            let mut next = match machine.wait_without_line(next).await {
                Ok(next) => next,
                Err(_) if self.retire_session(&owner, &machine, &mut lines) => return,
                Err(_) => continue,
            };
            while let Some(MemberLine { mut port, admission }) = next.take() {
                let mut later = None;
                let stop = async {
                    tokio::select! {
                        // A newer line has ended the admission of this one.
                        biased;
                        newer = lines.recv() => {
                            later = Some(newer);
                            "another line has taken its place".to_owned()
                        }
                        _ = admission => TOKEN_REPLACED.to_owned(),
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
                        if self.retire_session(&owner, &machine, &mut lines) {
                            return;
                        }
                    }
                }
            }
            if lines.is_closed() && lines.is_empty() {
                break;
            }
        }
        machine.withdraw_all(NO_MEMBER).await;
        // The session is out of the list already, because that is how it was told to end.
        self.forget_job(&owner);
    }

    fn room_of_job(&self, name: &str) -> Arc<QuestionRoom> {
        let mut rooms = lock(&self.rooms);
        // The list holds no room itself, so that one goes with the last run of its job.
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
            // The database outlives this, so the wait cannot fail.
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
        // The end of one run is not shown while others go on, because the board has one place for
        // the job.
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
        lines: &mut mpsc::Receiver<MemberLine>,
    ) -> bool {
        let mut sessions = lock(&self.sessions);
        if !machine.is_idle() || !lines.is_empty() || !sessions.contains_key(owner) {
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
