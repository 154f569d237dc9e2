//! Requests that take a while: each is answered on a thread of its own, so that none delays a
//! press or another viewer.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_store::Store;
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage, DeskRequest};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

use super::Viewers;
use super::export::export_page;
use super::familiar::FamiliarCalls;
use super::figures::ledger_figures;
use super::inbox::InboxReader;
use super::past_calls::history_page;
use super::recorded::recorded_call;
use super::reply::{ViewerReply, error_message};
use super::seat::ViewerSeat;
use super::session_list::list_sessions;
use super::verified::verify_ledger;
use crate::channel::Person;
use crate::daemon::letter::LetterBox;
use crate::daemon::on_thread;
use crate::desk::{DeskInput, Unattended};
use crate::rule_desk::{RuleDesk, WorkMonitor};
use crate::settings_desk::SettingsDesk;

/// How many errands of one viewer may be under way.
const MOST_ERRANDS: usize = 32;
/// How many short errands of all viewers are worked on at once.
const MOST_SHORT: usize = 4;
/// How many long errands of all viewers are worked on at once.
const MOST_LONG: usize = 2;

const TOO_MANY: &str = "too many of your requests are under way: wait for an answer";
const NO_RULES: &str = "this desk has no rules: ask the one that `callgate up` runs";
const NO_SETTINGS: &str = "this desk has no settings: ask the one that `callgate up` runs";
const LOCKED: &str = "Only a linked viewer may do that: pair with a code of `callgate pair`.";
const OVER: &str = "This question is no longer open.";
const STOPPED: &str = "the work on this request has ended without an answer: try again";

/// How many errands may be worked on. There are two limits, so that an inbox never waits behind a
/// backtest.
#[derive(Debug)]
pub(super) struct ErrandLimits {
    short: Semaphore,
    long: Semaphore,
}

impl Default for ErrandLimits {
    fn default() -> Self {
        Self { short: Semaphore::new(MOST_SHORT), long: Semaphore::new(MOST_LONG) }
    }
}

/// Sets the flag when the errand is dropped: nobody wants its result any more.
struct CancelledErrand(Arc<AtomicBool>);

impl Drop for CancelledErrand {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) fn is_errand(command: &DeskCommand) -> bool {
    is_short(command) || is_long(command)
}

fn is_short(command: &DeskCommand) -> bool {
    use DeskCommand::{
        Card, CheckRules, Explain, History, Inbox, Propose, Rules, SaveRules, Sessions, SetSetting,
        Settings,
    };
    matches!(
        command,
        Inbox
            | Card { .. }
            | History { .. }
            | Sessions { .. }
            | Rules
            | CheckRules { .. }
            | Explain(_)
            | SaveRules { .. }
            | Settings
            | SetSetting { .. }
            | Propose { .. }
    )
}

fn is_long(command: &DeskCommand) -> bool {
    use DeskCommand::{Backtest, Export, Figures, Suggest, Verify};
    matches!(command, Figures { .. } | Export { .. } | Verify | Backtest { .. } | Suggest)
}

fn changes_something(command: &DeskCommand) -> bool {
    matches!(command, DeskCommand::SaveRules { .. } | DeskCommand::SetSetting { .. })
}

impl Viewers {
    /// Begins an errand. Its messages go to `say`; dropping `errands` cancels it.
    pub(super) fn begin_errand(
        self: &Arc<Self>,
        viewer: u64,
        request: DeskRequest,
        say: &mpsc::Sender<ViewerReply>,
        errands: &mut JoinSet<()>,
    ) -> Option<ViewerReply> {
        // Those that have ended no longer count.
        while errands.try_join_next().is_some() {}
        if errands.len() >= MOST_ERRANDS {
            return Some(ViewerReply::Message(error_message(Some(request.id), TOO_MANY)));
        }
        let (viewers, say) = (Arc::clone(self), say.clone());
        errands.spawn(async move { viewers.run_errand(viewer, request, say).await });
        None
    }

    async fn run_errand(&self, viewer: u64, request: DeskRequest, say: mpsc::Sender<ViewerReply>) {
        let DeskRequest { id, command } = request;
        let limit =
            if is_long(&command) { &self.errand_limits.long } else { &self.errand_limits.short };
        // The semaphores are never closed.
        let Ok(_permit) = limit.acquire().await else { return };
        // Looked at only now: a link may be removed while its errands wait.
        let is_unlocked = self.seats().get(&viewer).is_some_and(ViewerSeat::is_unlocked);
        let who = self.seats().get(&viewer).map(|seat| seat.person_at(viewer));
        if changes_something(&command) && !is_unlocked {
            let answer = DeskAnswer::Told { done: false, text: LOCKED.to_owned() };
            say.send(ViewerReply::Message(DeskMessage::answer(id, answer))).await.ok();
            return;
        }
        let cancelled = CancelledErrand(Arc::default());
        let work = ViewerErrand {
            database: self.database.clone(),
            rules: self.rule_desk.clone(),
            settings: self.settings_desk.clone(),
            familiar: Arc::clone(&self.familiar),
            unattended: self.unattended,
            cancelled: Arc::clone(&cancelled.0),
            who,
            to_desk: self.to_desk.clone(),
            id: id.clone(),
            say: say.clone(),
        };
        let (done, is_done) = oneshot::channel();
        // Not on the thread of the sockets, because the ledger and the rules may block.
        let begun = on_thread("errand", move || drop(done.send(work.run_command(command))));
        let answered = match begun {
            Ok(()) => is_done.await.unwrap_or_else(|_| Err(STOPPED.to_owned())),
            Err(error) => Err(format!("cannot begin to work on this request: {error}")),
        };
        let message = match answered {
            Ok(answer) => DeskMessage::answer(id, answer),
            Err(text) => error_message(Some(id), text),
        };
        // A viewer that has gone needs no answer.
        say.send(ViewerReply::Message(message)).await.ok();
    }
}

/// Returns the answer that says what came of a change.
fn outcome_answer(outcome: Result<String, String>) -> DeskAnswer {
    let done = outcome.is_ok();
    let (Ok(text) | Err(text)) = outcome;
    DeskAnswer::Told { done, text }
}

struct ViewerErrand {
    database: PathBuf,
    rules: Option<Arc<dyn RuleDesk>>,
    settings: Option<Arc<dyn SettingsDesk>>,
    familiar: Arc<Mutex<FamiliarCalls>>,
    unattended: Unattended,
    cancelled: Arc<AtomicBool>,
    /// Whose errand it is; `None` if they have disconnected.
    who: Option<Person>,
    to_desk: LetterBox,
    id: String,
    say: mpsc::Sender<ViewerReply>,
}

impl ViewerErrand {
    fn run_command(&self, command: DeskCommand) -> Result<DeskAnswer, String> {
        let report = |done, total| {
            let id = self.id.clone();
            let message = DeskMessage::Progress { id, done, total };
            // A viewer that reads slowly misses some progress, and no answer.
            self.say.try_send(ViewerReply::Message(message)).ok();
        };
        let monitor = WorkMonitor::new(&self.cancelled, &report);
        match command {
            DeskCommand::Inbox => {
                self.read_inbox(|reader| reader.read_inbox().map(DeskAnswer::Inbox))
            }
            DeskCommand::Card { question } => self.read_inbox(|reader| {
                Ok(match reader.card(&question)? {
                    Some(card) => DeskAnswer::Card { card: Box::new(card) },
                    None => DeskAnswer::Told { done: false, text: OVER.to_owned() },
                })
            }),
            DeskCommand::History { filter, before, limit } => {
                history_page(&self.open_store()?, &filter, before, limit, &monitor)
                    .map(DeskAnswer::History)
            }
            DeskCommand::Figures { filter } => {
                ledger_figures(&self.open_store()?, &filter, &monitor).map(DeskAnswer::Figures)
            }
            DeskCommand::Export { format, filter, before } => {
                export_page(&self.open_store()?, format, &filter, before, &monitor)
                    .map(DeskAnswer::Exported)
            }
            DeskCommand::Verify => {
                verify_ledger(&self.open_store()?, &monitor).map(DeskAnswer::Verified)
            }
            DeskCommand::Sessions { since_ms } => {
                let sessions =
                    list_sessions(&self.open_store()?, since_ms, self.unattended, &monitor)?;
                Ok(DeskAnswer::Sessions { sessions })
            }
            DeskCommand::Rules => self.rules()?.current_rules().map(DeskAnswer::Rules),
            DeskCommand::CheckRules { text } => {
                Ok(DeskAnswer::Problems { problems: self.rules()?.check_rules(&text) })
            }
            DeskCommand::Explain(query) => {
                self.rules()?.explain_call(&query).map(DeskAnswer::Explained)
            }
            DeskCommand::Backtest { text } => {
                self.rules()?.backtest_rules(&text, &monitor).map(DeskAnswer::Backtested)
            }
            DeskCommand::SaveRules { text, hash } => {
                Ok(outcome_answer(self.save_rules(&text, &hash)))
            }
            DeskCommand::Settings => Ok(DeskAnswer::Settings(self.settings()?.settings())),
            DeskCommand::SetSetting { key, value } => {
                let set = self.settings()?.set_setting(&key, value.as_ref());
                Ok(outcome_answer(set.map(|()| format!("{key} is saved."))))
            }
            DeskCommand::Propose { of, decide, seconds } => {
                let call = recorded_call(&self.open_store()?, &of)?;
                self.rules()?.propose_rule(&call, decide, seconds).map(DeskAnswer::Proposed)
            }
            DeskCommand::Suggest => {
                self.rules()?.suggest_rules(&monitor).map(DeskAnswer::Suggested)
            }
            _ => Err("this needs no thread".to_owned()),
        }
    }

    /// Replaces the rules and records it. Returns what was done, in words for a person.
    fn save_rules(&self, text: &str, hash: &str) -> Result<String, String> {
        let who = self.who.clone().ok_or(LOCKED)?;
        // Before the entry, which has the count and the hash of the new rules.
        let saved = self.rules()?.save_rules(text, hash)?;
        let summary = saved.summary();
        let input = DeskInput::RulesSaved { who, saved };
        if self.to_desk.blocking_send_recorded(input) {
            Ok(format!("{summary}. They apply from now on."))
        } else {
            Err(format!("{summary}, but this could not be recorded: look at `callgate up`."))
        }
    }

    fn read_inbox<T>(
        &self,
        read: impl FnOnce(&InboxReader<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let store = self.open_store()?;
        let mut familiar = lock(&self.familiar);
        familiar.read_new_entries(&store).map_err(|error| error.to_string())?;
        let rules = self.rules.as_deref();
        read(&InboxReader { store: &store, rules, familiar: &familiar })
    }

    fn open_store(&self) -> Result<Store, String> {
        // A connection of its own: a long walk would keep the shared one from everybody else.
        Store::open_read_only(&self.database).map_err(|error| error.to_string())
    }

    fn settings(&self) -> Result<&dyn SettingsDesk, String> {
        self.settings.as_deref().ok_or_else(|| NO_SETTINGS.to_owned())
    }

    fn rules(&self) -> Result<&dyn RuleDesk, String> {
        self.rules.as_deref().ok_or_else(|| NO_RULES.to_owned())
    }
}
