//! The listening half: long polling; each update is confirmed only after the desk has recorded it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::api::TelegramFault;
use super::retry::retry_until;
use super::update::{self, BotIdentity, TelegramUpdate};
use super::{TelegramLine, TelegramReport};
use crate::channel::ChannelReport;

/// How long the server may take beyond the time of a poll.
const GRACE: Duration = Duration::from_secs(10);
/// The longest poll that Telegram allows, in seconds.
const LONGEST_POLL: u64 = 50;
/// Longer than any process runs.
const FOREVER: Duration = Duration::from_hours(24 * 365 * 100);
/// How many recent updates are remembered, so that a repeated one is passed on once.
const REMEMBERED: usize = 1024;

/// The commands, for the menu of Telegram's clients.
const COMMANDS: &[(&str, &str)] = &[
    ("pending", "Show the questions that wait for an answer"),
    ("status", "Show how many questions are open"),
    ("mute", "Stop questions in this chat for a while"),
    ("unmute", "Show questions in this chat again"),
    ("pair", "Link this chat with the code that `callgate pair` shows"),
    ("help", "Show what you can do here"),
];

const CONFLICT: &str = "another program uses this bot's token, so each of them gets only some of \
                        the presses: stop it, or give it a bot of its own";
const WEBHOOK: &str = "the bot had a webhook, which keeps presses from arriving here: it was \
                       deleted";

#[derive(Debug)]
pub(super) struct UpdatePoll {
    line: Arc<TelegramLine>,
    me: BotIdentity,
    /// The first update that is not confirmed.
    offset: i64,
    /// The recent updates that the desk has recorded.
    taken: VecDeque<i64>,
    /// What is wrong, so that it is reported once.
    trouble: Mutex<Option<PollTrouble>>,
}

/// The kind of trouble; its description may differ from attempt to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PollTrouble {
    Passing,
    Webhook,
    Conflict,
    Refused,
    Token,
}

impl UpdatePoll {
    pub(super) fn new(line: Arc<TelegramLine>) -> Self {
        let (taken, trouble) = (VecDeque::new(), Mutex::default());
        Self { line, me: BotIdentity::default(), offset: 0, taken, trouble }
    }

    /// Listens until the receiver of the reports is gone.
    pub(super) async fn run_until_unheard(mut self) {
        let line = Arc::clone(&self.line);
        tokio::select! {
            () = line.reports.closed() => {}
            () = self.poll_updates() => {}
        }
    }

    async fn poll_updates(&mut self) {
        self.introduce().await;
        loop {
            let ask = || async { Ok((Instant::now(), self.ask_for_updates().await?)) };
            let (begun, updates) = self.until_it_works(ask).await;
            if lock(&self.trouble).take().is_some() {
                self.report_working().await;
            }
            self.handle_updates(&updates).await;
            if updates.is_empty() {
                // A server that answers a poll at once, instead of holding it, must not be asked
                // continuously.
                sleep_until(begun + self.line.settings.pause).await;
            }
        }
    }

    /// Finds out who the bot is, and registers its commands.
    async fn introduce(&mut self) {
        let nothing = json!({});
        let who = || self.line.api.call("getMe", &nothing, GRACE);
        // Before the first update is read: replies are recognised by the bot's id, and commands in
        // a group by its name.
        self.me = BotIdentity::from_answer(&self.until_it_works(who).await);
        let commands: Vec<Value> = COMMANDS
            .iter()
            .map(|(command, description)| json!({"command": command, "description": description}))
            .collect();
        // Only the menu depends on this.
        let _ = self.line.api.call("setMyCommands", &json!({"commands": commands}), GRACE).await;
        lock(&self.trouble).take();
        self.report_working().await;
    }

    async fn report_working(&self) {
        self.line.report(TelegramReport::Works { bot: self.me.name.clone() }).await;
    }

    /// Retries until an attempt works. What goes wrong is reported once.
    async fn until_it_works<T, F>(&self, mut attempt: impl FnMut() -> F) -> T
    where
        F: Future<Output = Result<T, TelegramFault>>,
    {
        let mut attempt = || {
            let attempted = attempt();
            async {
                match attempted.await {
                    Err(fault) => Err(self.report_fault(fault).await),
                    done => done,
                }
            }
        };
        loop {
            let end = Instant::now() + FOREVER;
            if let Ok(done) = retry_until(self.line.settings.pause, None, end, &mut attempt).await {
                return done;
            }
        }
    }

    async fn ask_for_updates(&self) -> Result<Vec<Value>, TelegramFault> {
        // After trouble the first poll is short, so that recovery is noticed soon.
        let longest = if lock(&self.trouble).is_some() { 0 } else { LONGEST_POLL };
        let timeout = self.line.settings.poll.as_secs().min(longest);
        let params = json!({
            "offset": self.offset,
            "timeout": timeout,
            // Without this list Telegram goes by the one that was sent last, perhaps by another
            // program.
            "allowed_updates": ["message", "callback_query"],
        });
        let limit = Duration::from_secs(timeout) + GRACE;
        match self.line.api.call("getUpdates", &params, limit).await? {
            Value::Array(updates) if updates.iter().all(|one| one["update_id"].is_i64()) => {
                Ok(updates)
            }
            _ => {
                let why = "Telegram's updates cannot be read".to_owned();
                Err(TelegramFault::Passing { why, wait: None })
            }
        }
    }

    /// Passes the updates on and waits until the desk has recorded them all.
    async fn handle_updates(&mut self, updates: &[Value]) {
        // All are handed over before the first is waited for: what comes together is recorded
        // together.
        let mut handed = Vec::new();
        for update in updates {
            let id = update["update_id"].as_i64().unwrap_or_default();
            // Telegram may send an update twice, and a choice that is noted twice would be undone.
            if self.taken.contains(&id) || handed.iter().any(|(other, _)| *other == id) {
                continue;
            }
            handed.push((id, self.hand_on(update).await));
        }
        let mut again = None;
        for (id, taken) in handed {
            let is_taken = match taken {
                Some(taken) => taken.await.is_ok(),
                None => true,
            };
            if is_taken {
                self.remember(id);
            } else {
                again = again.or(Some(id));
            }
        }
        let last = updates.iter().filter_map(|update| update["update_id"].as_i64()).max();
        if let Some(first) = again {
            // Telegram sends again from there.
            self.offset = self.offset.max(first);
            sleep(self.line.settings.pause).await;
        } else if let Some(last) = last {
            self.offset = self.offset.max(last.saturating_add(1));
        }
    }

    fn remember(&mut self, id: i64) {
        if self.taken.len() == REMEMBERED {
            self.taken.pop_front();
        }
        self.taken.push_back(id);
    }

    /// Passes on an update. Returns a channel that is signalled once the desk has recorded it.
    async fn hand_on(&self, update: &Value) -> Option<oneshot::Receiver<()>> {
        let news = match update::parse_update(update, &self.me)? {
            TelegramUpdate::Message(news) => news,
            TelegramUpdate::Press { callback, presser, news } => {
                self.line.presses.note_press(&callback, presser);
                news
            }
        };
        let (taken, done) = oneshot::channel();
        self.line.report(TelegramReport::Heard { news, taken: Some(taken) }).await;
        Some(done)
    }

    /// Reports what went wrong, once. Returns it as a fault that may pass: whatever it is, somebody
    /// may put it right.
    async fn report_fault(&self, fault: TelegramFault) -> TelegramFault {
        let (trouble, why, wait) = match fault {
            TelegramFault::Passing { why, wait } => {
                let wait = wait.map(|wait| wait.max(self.line.settings.pause));
                (PollTrouble::Passing, format!("{why}; trying again"), wait)
            }
            TelegramFault::Refused { code: 409, why } if why.contains("webhook") => {
                // The next poll shows whether it worked.
                let _ = self.line.api.call("deleteWebhook", &json!({}), GRACE).await;
                (PollTrouble::Webhook, WEBHOOK.to_owned(), None)
            }
            TelegramFault::Refused { code: 409, .. } => {
                (PollTrouble::Conflict, CONFLICT.to_owned(), None)
            }
            TelegramFault::Refused { why, .. } => {
                (PollTrouble::Refused, format!("Telegram refuses to send updates: {why}"), None)
            }
            TelegramFault::Token { why } => (PollTrouble::Token, why, None),
        };
        let is_known = lock(&self.trouble).replace(trouble) == Some(trouble);
        if !is_known {
            let why = why.clone();
            let report = match trouble {
                PollTrouble::Token => TelegramReport::from_news(ChannelReport::Broken { why }),
                _ => TelegramReport::Troubled { why },
            };
            self.line.report(report).await;
        }
        TelegramFault::Passing { why, wait }
    }
}
