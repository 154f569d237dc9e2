//! Questions that the desks of a team share. Each is recorded in their database, shown at every
//! desk by [`team_question_display`], and answered at most once, by whoever is first.
//!
//! The desk to which a machine has its line records the machine's questions ([`SharedAsker`]), and
//! brings it the answers, wherever they were given.

mod shared_act;
mod shared_asker;
mod team_question_display;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_approval::daemon::{RelayedAskers, Warn};
use callgate_link::sync::lock;
use callgate_store::{Store, now_ms};
use callgate_team_store::{
    TeamChange, TeamQuestion, TeamQuestionState, TeamResult, TeamStore, TeamStoreError,
};
use callgate_wire::approval::RequestId;
use callgate_wire::ledger::LedgerEvent;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::team_database::{DatabaseState, TeamDatabase, TeamNews};
use team_question_display::TeamQuestionDisplay;

pub(crate) use shared_asker::{PendingAsker, SharedAsker};

/// How often questions whose time is over are closed, and forgotten here. Every desk does both, so
/// that a question ends in time whichever desk is up.
const TIDY_EVERY: Duration = Duration::from_secs(10);
/// How long to wait before something that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Questions older than this cannot be open in the ledger of this desk. No question waits longer
/// ([`callgate_team_store::LONGEST_WAIT`]).
const OLDEST_MS: i64 = 24 * 3_600_000;

/// A question as the database has it, as far as it is known here.
type QuestionNews = watch::Receiver<Option<TeamQuestion>>;

/// The questions that the desks of a team share. Clones are one.
#[derive(Clone)]
pub(crate) struct SharedQuestions(Arc<QuestionDesk>);

struct QuestionDesk {
    database: TeamDatabase,
    askers: RelayedAskers,
    /// The database of this desk's own ledger.
    ledger: PathBuf,
    warn: Warn,
    known: Mutex<HashMap<RequestId, KnownQuestion>>,
}

/// A question that is shown here or whose machine has its line here.
struct KnownQuestion {
    news: watch::Sender<Option<TeamQuestion>>,
    display: DisplayState,
}

/// Whether people here are shown a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DisplayState {
    NotYet,
    Shown,
    Over,
}

impl SharedQuestions {
    /// Shares questions by this database; `ledger` is the database of this desk's own ledger.
    pub(crate) fn new(
        database: TeamDatabase,
        askers: RelayedAskers,
        ledger: PathBuf,
        warn: Warn,
    ) -> Self {
        let known = Mutex::default();
        Self(Arc::new(QuestionDesk { database, askers, ledger, warn, known }))
    }

    /// Shows the questions of the team here, for ever.
    pub(crate) async fn follow_questions(self) {
        // Before the questions are read, so that nothing between is missed.
        let mut news = self.0.database.subscribe();
        let ledger = self.0.ledger.clone();
        let left = tokio::task::spawn_blocking(move || left_open(&ledger)).await;
        self.show_pending(left.unwrap_or_default()).await;
        let mut tidy = tokio::time::interval(TIDY_EVERY);
        // After an outage one tidying is enough.
        tidy.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                news = news.next() => match news {
                    Some(TeamNews::Changed(change)) => {
                        if let TeamChange::Question(question) = &*change {
                            self.take_change((**question).clone());
                        }
                    }
                    Some(TeamNews::ReadAgain) => self.read_again().await,
                    None => return,
                },
                _ = tidy.tick() => self.tidy(),
            }
        }
    }

    /// Takes everything as the database has it now. The numbers of the changes that were known may
    /// belong to others there.
    async fn read_again(&self) {
        let known: Vec<RequestId> = {
            let known = lock(&self.0.known);
            for entry in known.values() {
                entry.news.send_modify(|question| {
                    if let Some(question) = question {
                        // Otherwise `take_news` would take what the other server says for older
                        // news.
                        question.changed = 0;
                    }
                });
            }
            known.keys().cloned().collect()
        };
        self.show_pending(known).await;
    }

    /// Shows what is open, and what became of these questions, as soon as the database answers.
    async fn show_pending(&self, known: Vec<RequestId>) {
        while let Err(error) = self.show_found(known.clone()).await {
            if !error.is_passing() {
                self.warn(&format!("the team's questions cannot be read: {error}"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn show_found(&self, left: Vec<RequestId>) -> TeamResult<()> {
        let mut state = self.0.database.state();
        // The database outlives this, so the wait cannot fail.
        state.wait_for(|state| *state == DatabaseState::Reachable).await.ok();
        let found = self.run(move |store| {
            let mut found = store.pending_questions(None)?;
            for id in left {
                if !found.iter().any(|question| question.id == id) {
                    // This question was open when the desk last looked, and the desk still shows it
                    // so.
                    found.extend(store.find_question(&id)?);
                }
            }
            Ok(found)
        });
        for question in found.await? {
            self.show(question);
        }
        Ok(())
    }

    /// Takes a change of a question: everybody who has it hears of it, and it is shown if it was
    /// not.
    fn take_change(&self, question: TeamQuestion) {
        // Others may have answered it before this desk saw it; the history has it all the same.
        let is_told =
            question.is_pending() || matches!(question.state, TeamQuestionState::Answered(_));
        let is_known = lock(&self.0.known).contains_key(&question.id);
        if is_told || is_known {
            self.show(question);
        }
    }

    /// Tells everybody who has a question its present state, and shows it unless that was done.
    fn show(&self, question: TeamQuestion) {
        let id = question.id.clone();
        let mut known = lock(&self.0.known);
        let entry = known.entry(id.clone()).or_insert_with(KnownQuestion::new);
        entry.take_news(question);
        if entry.display != DisplayState::NotYet {
            return;
        }
        // This is set under the lock, so that two changes at once do not show a question twice.
        entry.display = DisplayState::Shown;
        let (shared, news) = (self.clone(), entry.news.subscribe());
        tokio::spawn(async move {
            TeamQuestionDisplay::follow(&shared, news).await;
            if let Some(entry) = lock(&shared.0.known).get_mut(&id) {
                entry.display = DisplayState::Over;
            }
        });
    }

    /// Records the state of a question that somebody here has changed.
    fn note_news(&self, question: TeamQuestion) {
        if let Some(entry) = lock(&self.0.known).get(&question.id) {
            entry.take_news(question);
        }
    }

    /// Returns the news of a question, which may not be in the database yet.
    fn subscribe(&self, id: &RequestId) -> QuestionNews {
        let mut known = lock(&self.0.known);
        known.entry(id.clone()).or_insert_with(KnownQuestion::new).news.subscribe()
    }

    /// Returns a question as the database has it now, if it is open there.
    async fn find_open(&self, id: &RequestId) -> Option<TeamQuestion> {
        loop {
            let id = id.clone();
            match self.run(move |store| store.find_question(&id)).await {
                Ok(found) => {
                    let is_open = |found: &TeamQuestion| {
                        found.state == TeamQuestionState::Open && !found.remaining.is_zero()
                    };
                    return found.filter(is_open);
                }
                Err(error) if error.is_passing() => self.wait_for_database().await,
                Err(error) => {
                    self.warn(&format!("a question of the team cannot be read: {error}"));
                    return None;
                }
            }
        }
    }

    /// Closes questions whose time is over, and forgets those that nobody here has.
    fn tidy(&self) {
        lock(&self.0.known).retain(|_, entry| {
            entry.display == DisplayState::Shown || entry.news.receiver_count() > 0
        });
        // This is a task, so that changes are shown while the database takes its time.
        let shared = self.clone();
        tokio::spawn(async move {
            // What fails now is done by the next desk, or next time.
            shared.run(|store| store.expire_questions().map(drop)).await.ok();
        });
    }

    /// Runs something on the connection that records, unless the database is known not to answer:
    /// nobody waits for a server that has gone.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn TeamStore) -> TeamResult<T> + Send + 'static,
    ) -> TeamResult<T> {
        let state = self.0.database.state();
        // The state is looked at on the thread, because the errand may have waited there for long.
        let checked = move |store: &mut dyn TeamStore| {
            if let DatabaseState::Unreachable(why) = &*state.borrow() {
                return Err(TeamStoreError::Unreachable { why: why.clone() });
            }
            work(store)
        };
        self.0.database.run(checked).await
    }

    /// Waits a moment, and until the database answers.
    async fn wait_for_database(&self) {
        tokio::time::sleep(PAUSE).await;
        let mut state = self.0.database.state();
        state.wait_for(|state| *state == DatabaseState::Reachable).await.ok();
    }

    fn warn(&self, text: &str) {
        (self.0.warn)(text);
    }
}

impl KnownQuestion {
    fn new() -> Self {
        let (news, _) = watch::channel(None);
        Self { news, display: DisplayState::NotYet }
    }

    /// Records the state of the question, unless a newer one is known.
    fn take_news(&self, question: TeamQuestion) {
        self.news.send_if_modified(|known| {
            // News comes from the watcher and from what this desk writes, in any order.
            let is_new = known.as_ref().is_none_or(|known| known.changed < question.changed);
            if is_new {
                *known = Some(question);
            }
            is_new
        });
    }
}

/// Returns the questions of other machines that are open in the ledger of this desk.
fn left_open(ledger: &std::path::Path) -> Vec<RequestId> {
    // Without a ledger nothing was left.
    let open = Store::open_read_only(ledger).and_then(|it| it.open_questions(now_ms() - OLDEST_MS));
    let of_machine = |entry: &callgate_store::LedgerEntry| match entry.event() {
        LedgerEvent::Asked(asked) => asked.machine.is_some(),
        _ => false,
    };
    let ids = open.unwrap_or_default().into_iter().filter_map(|entries| {
        let asked = entries.iter().find(|entry| of_machine(entry))?;
        RequestId::parse(asked.question.as_deref()?)
    });
    ids.collect()
}
