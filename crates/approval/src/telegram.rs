//! The Telegram channel: it shows questions in chats, keeps them up to date, and hands on what
//! people press and write. It judges nothing; that is the desk's.
//!
//! Two halves run beside each other, so that nothing slow on the way out delays what comes in: the
//! `poll` half asks the Bot API for updates, the `courier` half carries out the desk's orders. An
//! update is confirmed to Telegram only after the desk has taken it, so a press survives a
//! SIGKILL at any moment: it comes again.
//!
//! Every message about a question begins with a link that nobody sees, whose address holds the
//! question's id. That is how a reply finds its question, also after a restart: Telegram hands
//! back the message that was replied to.

mod api;
mod courier;
mod html;
mod look;
mod poll;
mod presses;
mod question;
mod retry;
mod say;
mod update;

pub(crate) use look::cuts;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::channel::{News, Order};
use api::Api;
use courier::Courier;
use poll::Poll;
use presses::Presses;
use retry::Gates;

/// Where the Bot API is unless it is set otherwise.
pub const API_URL: &str = "https://api.telegram.org";

/// How long one call may take.
const CALL: Duration = Duration::from_secs(30);

/// What the channel is told at its start.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The bot's token.
    pub token: Token,
    /// Where the Bot API is, such as [`API_URL`].
    pub api_url: String,
    /// The address of an HTTP proxy on the way there.
    pub proxy: Option<String>,
    /// How long Telegram may take to tell who the bot is, and how long messages that are still on
    /// their way are waited for at the end.
    pub reach: Duration,
    /// How long the server may hold a poll in which nothing happens; at most 50 seconds.
    pub poll: Duration,
    /// The first pause after a failure; each further one is twice as long, up to 64 times.
    pub pause: Duration,
}

impl Settings {
    /// The usual settings.
    #[must_use]
    pub fn new(token: Token) -> Self {
        Self {
            token,
            api_url: API_URL.to_owned(),
            proxy: None,
            reach: Duration::from_secs(10),
            poll: Duration::from_secs(45),
            pause: Duration::from_millis(500),
        }
    }
}

/// A bot's token. It is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes the token as Telegram gave it; blanks around it are passed over.
    pub fn new(text: &str) -> Result<Self, BadToken> {
        let text = text.trim();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-');
        if text.is_empty() || text.len() > 256 || !text.bytes().all(fits) {
            return Err(BadToken);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A text that is no bot token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the Telegram token is not one: it has letters, digits, `:`, `_` and `-` only; copy it again \
     from @BotFather"
)]
pub struct BadToken;

/// What the channel reports.
#[derive(Debug)]
pub enum Report {
    /// Something for the desk.
    Heard {
        /// What happened.
        news: News,
        /// For what came from Telegram: to be sent once it is safe with the desk. Only then is it
        /// confirmed to Telegram; if this is dropped, it comes again.
        taken: Option<oneshot::Sender<()>>,
    },
    /// The bot is there and listens; after the start, and again after trouble.
    Works {
        /// The bot's name, without the `@`.
        bot: String,
    },
    /// Something is wrong that may pass; the channel goes on trying.
    Troubled {
        /// What is wrong and what to do.
        why: String,
    },
}

impl Report {
    fn of(news: News) -> Self {
        Self::Heard { news, taken: None }
    }
}

/// What the two halves share.
#[derive(Debug)]
struct Line {
    api: Api,
    reach: Duration,
    poll: Duration,
    pause: Duration,
    reports: mpsc::Sender<Report>,
    gates: Gates,
    presses: Presses,
}

impl Line {
    /// Reports something for the desk. When nobody listens any more, the channel is about to end.
    async fn tell(&self, news: News) {
        let _ = self.reports.send(Report::of(news)).await;
    }
}

/// Asks Telegram once who the bot is: its name without the `@`, or what is wrong and what to do.
pub async fn bot(settings: &Settings) -> Result<String, String> {
    let api = Api::new(settings)?;
    let me = api.call("getMe", &serde_json::json!({}), settings.reach).await;
    let me = me.map_err(|fault| fault.why().to_owned())?;
    let name = me["username"].as_str().map(str::to_owned);
    name.ok_or_else(|| "Telegram does not say what the bot is called".to_owned())
}

/// Runs the channel until the sender of `orders` is dropped and what was ordered is done (or
/// `reach` has passed), or until nobody listens to `reports`. Dropping the future ends it at once.
///
/// Orders are taken at all times, even while nobody takes reports.
pub async fn run(settings: Settings, orders: mpsc::Receiver<Order>, reports: mpsc::Sender<Report>) {
    let api = match Api::new(&settings) {
        Ok(api) => api,
        Err(why) => return courier::refuse_all(&why, orders, &reports).await,
    };
    let line = Arc::new(Line {
        api,
        reach: settings.reach,
        poll: settings.poll,
        pause: settings.pause,
        reports,
        gates: Gates::default(),
        presses: Presses::default(),
    });
    tokio::select! {
        () = Courier::new(Arc::clone(&line), orders).run() => {}
        () = Poll::new(line).run() => {}
    }
}
