//! A strict fake of the Telegram Bot API on loopback: it refuses what the real one refuses, keeps
//! all that was sent, plays the people on the other side, and fails on demand.
//!
//! ```
//! use callgate_testkit::telegram::{Fault, Telegram};
//!
//! let fake = Telegram::start();
//! fake.add_private(7, "Ada");
//! fake.add_group(-100, "Team");
//! fake.fault("sendMessage", Fault::TooMany { seconds: 1 });
//! // … start the program under test with `fake.url()` and `fake.token()` …
//! # if false {
//! let question = fake.wait_for("a question", |seen| seen.chat(7).last().cloned());
//! let press = fake.press(7, 7, question.id, "Allow");
//! let toast = fake.wait_for("an answer to the press", |seen| seen.toast(&press).cloned());
//! fake.assert_nothing_refused();
//! # }
//! ```
//!
//! Nothing here depends on time: a slow server is [`Fault::Hold`], which lasts until
//! [`Telegram::release`], and a network that is away lasts until [`Telegram::come_back`]. A
//! refusal that no [`Fault`] asked for is the tested program's mistake:
//! [`Telegram::assert_nothing_refused`] finds them.

mod call;
mod faults;
mod marks;
mod markup;
mod methods;
mod multipart;
mod people;
mod seen;
mod service;
#[cfg(test)]
mod tests;
mod updates;

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use call::{BotCall, BotRefusal, Document};
pub use faults::Fault;
pub use markup::Button;
pub use seen::{Message, Seen, Shape, Toast};

use crate::http::Server;
use crate::process::DEADLINE;
use faults::Planned;
use people::People;
use updates::Updates;

/// The id of the bot, which its token begins with.
pub const BOT: i64 = 4_200_000_042;
/// The bot's name, by which commands in groups address it.
pub const BOT_NAME: &str = "callgate_test_bot";
/// The bot's token.
const TOKEN: &str = "4200000042:AAFakeTokenForTests_0123456789abcde";

/// A running fake. It stops when it is dropped.
#[derive(Debug)]
pub struct Telegram {
    server: Mutex<Option<Server>>,
    address: SocketAddr,
    state: Arc<State>,
}

/// What the connections' threads share.
#[derive(Debug, Default)]
struct State {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    seen: Seen,
    people: People,
    updates: Updates,
    faults: Vec<Planned>,
    /// How often held calls were let go.
    releases: u64,
    webhook: bool,
    /// The server is stopping: pending waits end.
    away: bool,
}

impl Telegram {
    /// Starts on a free port. It knows no chat yet.
    #[must_use]
    pub fn start() -> Self {
        let state = Arc::new(State::default());
        let server = Server::start(Arc::clone(&state));
        Self { address: server.address(), server: Mutex::new(Some(server)), state }
    }

    /// Returns the base URL, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the one token that is accepted.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// Adds a person and the private chat between them and the bot; both have the same id.
    pub fn add_private(&self, id: i64, name: &str) {
        self.lock().people.add_private(id, name);
    }

    /// Adds a group; its id is negative. Anybody may press and write in it.
    pub fn add_group(&self, id: i64, title: &str) {
        self.lock().people.add_group(id, title);
    }

    /// Gives a person a name other than `User 7`.
    pub fn add_user(&self, id: i64, name: &str) {
        self.lock().people.add_user(id, name);
    }

    /// From now on the bot is blocked by (or thrown out of) this chat: sending is refused.
    pub fn block(&self, chat: i64) {
        self.lock().people.block(chat);
    }

    /// Presses a button of a message, by its label or its data; a part of the label is enough.
    /// Gives the id of the callback query.
    pub fn press(&self, chat: i64, user: i64, message: i64, button: &str) -> String {
        let mut inner = self.lock();
        let shown = inner.seen.message(chat, message).expect("the message is there");
        let found = shown.button(button).unwrap_or_else(|| {
            panic!("no button {button:?} under message {message}: {:?}", shown.shape.buttons)
        });
        let data = found.data.clone();
        let id = inner.press(chat, user, message, &data);
        self.state.changed.notify_all();
        id
    }

    /// Presses a button that need not be there (any more): a stale screen, or somebody who made
    /// the press up.
    pub fn press_data(&self, chat: i64, user: i64, message: i64, data: &str) -> String {
        let id = self.lock().press(chat, user, message, data);
        self.state.changed.notify_all();
        id
    }

    /// Writes a message in a chat. Gives its number.
    pub fn send(&self, chat: i64, user: i64, text: &str) -> i64 {
        let id = self.lock().write(chat, user, text, None);
        self.state.changed.notify_all();
        id
    }

    /// Writes a message as a reply to another. Gives its number.
    pub fn reply(&self, chat: i64, user: i64, to: i64, text: &str) -> i64 {
        let id = self.lock().write(chat, user, text, Some(to));
        self.state.changed.notify_all();
        id
    }

    /// Adds an update of any shape; its `update_id` is added.
    pub fn push_update(&self, update: serde_json::Value) {
        self.lock().updates.push(update);
        self.state.changed.notify_all();
    }

    /// The next batch that is confirmed comes once more, as it happens with the real one.
    pub fn deliver_twice(&self) {
        self.lock().updates.deliver_twice();
    }

    /// Makes all presses so far unanswerable.
    pub fn let_presses_grow_old(&self) {
        self.lock().people.let_presses_grow_old();
    }

    /// Sets a webhook: `getUpdates` is refused until it is deleted.
    pub fn set_webhook(&self) {
        self.lock().webhook = true;
    }

    /// The next call of `method` (`*`: of any) fails in this way. Faults queue up.
    pub fn fault(&self, method: &str, fault: Fault) {
        self.faults(method, 1, fault);
    }

    /// The next `times` calls of `method` fail in this way; `usize::MAX` means until
    /// [`Telegram::heal`].
    pub fn faults(&self, method: &str, times: usize, fault: Fault) {
        self.lock().faults.push(Planned::new(method, None, times, fault));
    }

    /// Like [`Telegram::faults`], for calls that name this chat only.
    pub fn faults_in(&self, chat: i64, method: &str, times: usize, fault: Fault) {
        self.lock().faults.push(Planned::new(method, Some(chat), times, fault));
    }

    /// Forgets the faults that have not happened yet.
    pub fn heal(&self) {
        self.lock().faults.clear();
    }

    /// Lets every call go that [`Fault::Hold`] or [`Fault::HoldAnswer`] holds now.
    pub fn release(&self) {
        self.lock().releases += 1;
        self.state.changed.notify_all();
    }

    /// Takes the network down: connections end, and nothing listens.
    pub fn go_away(&self) {
        let Some(server) = self.server.lock().unwrap().take() else { return };
        self.lock().away = true;
        self.state.changed.notify_all();
        drop(server);
    }

    /// The network is back, at the same address.
    pub fn come_back(&self) {
        let mut server = self.server.lock().unwrap();
        assert!(server.is_none(), "the fake is there");
        self.lock().away = false;
        *server = Some(Server::start_at(self.address, Arc::clone(&self.state)));
    }

    /// Waits until `look` finds what it looks for; fails with all that was seen when it does not
    /// come.
    pub fn wait_for<T>(&self, what: &str, mut look: impl FnMut(&Seen) -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE * 4;
        let mut inner = self.lock();
        loop {
            if let Some(found) = look(&inner.seen) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what} never came; there is {:#?}", inner.seen);
            inner = self.state.wait(inner, left);
        }
    }

    /// Returns a look at what there is now.
    pub fn look<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&self.lock().seen)
    }

    /// Fails if the tested program sent anything that the real server would have refused. What a
    /// [`Fault`] refused does not count, nor do the refusals whose description holds one of
    /// `except`.
    pub fn assert_refused_only(&self, except: &[&str]) {
        let inner = self.lock();
        let expected =
            |refusal: &BotRefusal| except.iter().any(|part| refusal.description.contains(part));
        let wrong: Vec<_> = inner
            .seen
            .calls
            .iter()
            .filter(|call| call.refusal.as_ref().is_some_and(|r| !r.planned && !expected(r)))
            .collect();
        assert!(wrong.is_empty(), "the fake refused calls: {wrong:#?}");
    }

    /// Fails if anything was refused that no [`Fault`] asked for.
    pub fn assert_nothing_refused(&self) {
        self.assert_refused_only(&[]);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.state.lock()
    }
}

impl State {
    /// Returns a test that failed with the lock in its hands must still be able to stop the server.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, at most so long.
    fn wait<'a>(&'a self, inner: MutexGuard<'a, Inner>, most: Duration) -> MutexGuard<'a, Inner> {
        self.changed.wait_timeout(inner, most).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Telegram {
    fn drop(&mut self) {
        self.go_away();
    }
}
