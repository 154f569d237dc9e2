//! The desk in this process, for when no daemon runs but the front end takes questions.
//!
//! It is the same desk with the same ledger, on sockets in a private folder. The front end is its
//! terminal.

pub(super) mod private_folder;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use callgate_approval::channel::{ChannelOrder, ChannelReport, Person, PersonPlace, ReplyTo};
use callgate_approval::daemon::{Claim, Daemon, DaemonOptions, Warn};
use callgate_approval::desk::{Authority, DeskSettings, Ruling};
use callgate_link::sync::lock;
use callgate_store::Store;
use callgate_wire::approval::{Press, RequestId};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::FRONT_END;
use super::board::{Board, PressRoute, QuestionTerms};
use crate::config::Config;
use private_folder::PrivateFolder;

/// How many orders may wait for the front end.
const QUEUE: usize = 1024;
/// How long the desk may take to say what came of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The verdicts of the rules on the questions that are asked here.
type Rulings = Arc<Mutex<HashMap<RequestId, Ruling>>>;
/// Who waits for the result of a press: whether it counted, and the desk's words.
type PressWaiter = Arc<Mutex<Option<oneshot::Sender<(bool, String)>>>>;

pub(super) struct InsideDesk {
    daemon: Daemon,
    socket: PathBuf,
    rulings: Rulings,
    told: PressWaiter,
    /// The desk reports the result of a press without saying which, so there is one at a time.
    pressing: tokio::sync::Mutex<()>,
    /// Removed after the daemon has ended.
    _folder: PrivateFolder,
}

impl InsideDesk {
    /// Opens the desk, whose tasks run on `handle`. This blocks.
    pub(super) fn start(
        config: &Config,
        board: &Arc<Board>,
        warn: &Warn,
        handle: &Handle,
    ) -> Result<Self, String> {
        let failed = |error: &dyn fmt::Display| format!("cannot open a desk: {error}");
        let folder = PrivateFolder::new().map_err(|error| failed(&error))?;
        let socket = folder.path().join("ask.sock");
        let claim = Claim::claim_sockets(&socket, folder.path().join("desk.sock"))
            .map_err(|error| failed(&error))?;
        let store = Store::open(&config.database).map_err(|error| failed(&error))?;
        let (orders_in, orders) = mpsc::channel(QUEUE);
        let (rulings, told) = (Rulings::default(), PressWaiter::default());
        let ruled = Arc::clone(&rulings);
        let options = DaemonOptions {
            claim,
            store,
            settings: DeskSettings {
                terminal: true,
                ..DeskSettings::plain(config.timeout_seconds, config.grace_seconds)
            },
            authority: Authority::default(),
            roles: None,
            // The rules have decided before anybody is asked.
            ruler: Arc::new(move |request| {
                // Whatever comes without a verdict is treated as strictly as possible.
                let asks = Ruling::Ask { because: None, is_guarded: true };
                lock(&ruled).remove(&request.request_id).unwrap_or(asks)
            }),
            rule_desk: None,
            settings_desk: None,
            telegram: None,
            terminal: Some(orders_in),
            warn: warn.clone(),
        };
        let _entered = handle.enter();
        // It must not take up the open questions in the ledger, because they belong to other desks
        // that use it.
        let daemon = Daemon::start_beside(options).map_err(|error| failed(&error))?;
        handle.spawn(show_orders(orders, Arc::clone(board), Arc::clone(&told)));
        let pressing = tokio::sync::Mutex::new(());
        Ok(Self { daemon, socket, rulings, told, pressing, _folder: folder })
    }

    /// Returns the socket at which it is asked.
    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns the route by which answers reach this desk while it is open.
    pub(super) fn route(self: &Arc<Self>) -> PressRoute {
        // The board keeps the routes of closed questions, and must not keep the desk open with
        // them.
        let desk = Arc::downgrade(self);
        Arc::new(move |id, press| {
            let desk = desk.upgrade();
            Box::pin(async move {
                let desk = desk.ok_or("the desk of this question has ended")?;
                Ok(desk.press(id, press).await)
            })
        })
    }

    /// Returns true if the desk has ended, which only a bug can cause.
    pub(super) fn has_ended(&self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(self.daemon.wait_for_end()).poll(&mut context).is_ready()
    }

    /// Notes the verdict of the rules on a question that is about to be asked.
    pub(super) fn note_ruling(&self, id: &RequestId, ruling: Ruling) {
        lock(&self.rulings).insert(id.clone(), ruling);
    }

    /// Answers a question. Returns whether the answer counted, and the desk's words.
    async fn press(&self, question: RequestId, press: Press) -> (bool, String) {
        let _alone = self.pressing.lock().await;
        let (told, answer) = oneshot::channel();
        // Before the press is sent, so that its result finds somebody.
        *lock(&self.told) = Some(told);
        let who = Person::new(PersonPlace::Terminal, FRONT_END);
        let news = ChannelReport::Pressed {
            who,
            question,
            press,
            confirm: None,
            reply_to: ReplyTo::Key,
            copy: None,
        };
        if !self.daemon.desk().send_news(news).await {
            return (false, "This could not be recorded, so it was not done.".to_owned());
        }
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(heard)) => heard,
            _ => (false, "The desk did not report the outcome.".to_owned()),
        }
    }
}

impl fmt::Debug for InsideDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InsideDesk").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// Shows the front end what the desk's terminal would show.
async fn show_orders(
    mut orders: mpsc::Receiver<ChannelOrder>,
    board: Arc<Board>,
    told: PressWaiter,
) {
    while let Some(order) = orders.recv().await {
        match order {
            ChannelOrder::Show { card, .. } => {
                let deadline_ms = u64::try_from(card.row.until_ms).ok();
                let takes_always = !card.offers.is_empty();
                board.show_asked(&card.id, QuestionTerms { deadline_ms, takes_always });
            }
            ChannelOrder::Mark { card, mark, .. } => board.note_end(&card.id, &mark.text),
            ChannelOrder::Tell { text, alert, .. } => {
                if let Some(told) = lock(&told).take() {
                    // The front end may have stopped waiting.
                    told.send((!alert, text)).ok();
                }
            }
            // The rest is for phones, or belongs to no question.
            _ => {}
        }
    }
}
