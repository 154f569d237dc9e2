//! The Telegram channel: it shows questions in chats, keeps them up to date, and reports what
//! people press and write. It decides nothing; the desk does.
//!
//! Two halves run concurrently, so that nothing slow on the way out delays what comes in: `poll`
//! asks the Bot API for updates, `courier` carries out the desk's orders. An update is confirmed to
//! Telegram only after the desk has recorded it, so a press survives a SIGKILL at any moment:
//! Telegram sends it again.
//!
//! Every message about a question begins with an invisible link whose address contains the
//! question's id. That is how a reply finds its question, even after a restart: Telegram includes
//! the message that was replied to.

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

pub(crate) use look::is_cut_in_message;

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::HiddenText;
use tokio::sync::{mpsc, oneshot};

use crate::channel::{ChannelOrder, ChannelReport};
use api::BotApi;
use courier::Courier;
use poll::UpdatePoll;
use presses::RecentPresses;
use retry::ChatGates;

pub const API_URL: &str = "https://api.telegram.org";

/// How long one call may take.
const CALL: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct BotSettings {
    pub token: BotToken,
    pub api_url: String,
    pub proxy: Option<String>,
    /// How long Telegram may take to say who the bot is, and how long unsent messages are waited
    /// for at the end.
    pub reach: Duration,
    /// How long the server may hold a poll in which nothing happens; at most 50 seconds.
    pub poll: Duration,
    /// The first pause after a failure; each further one is twice as long, up to 16 times this.
    pub pause: Duration,
}

impl BotSettings {
    pub fn new(token: BotToken) -> Self {
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

/// A bot's token. It is never shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotToken(HiddenText);

impl BotToken {
    /// Parses a token as Telegram shows it. White space around it is ignored.
    pub fn new(text: &str) -> Result<Self, BadBotToken> {
        let text = text.trim();
        // It becomes a part of the address of every call, in which nothing else may stand.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-');
        if text.is_empty() || text.len() > 256 || !text.bytes().all(fits) {
            return Err(BadBotToken);
        }
        Ok(Self(HiddenText::new(text)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is not a Telegram token, which has only letters, digits, `:`, `_` and `-`: copy it again \
     from @BotFather"
)]
pub struct BadBotToken;

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "people press seldom")]
pub enum TelegramReport {
    /// Something for the desk.
    Heard {
        news: ChannelReport,
        /// For news from Telegram: signalled once the desk has recorded it. Only then is it
        /// confirmed to Telegram; if this is dropped, Telegram sends it again.
        taken: Option<oneshot::Sender<()>>,
    },
    /// The bot works; after the start, and again after trouble.
    Works {
        /// The bot's name, without the `@`.
        bot: String,
    },
    /// Something is wrong that may pass; the channel keeps trying.
    Troubled {
        /// What is wrong and what to do.
        why: String,
    },
}

impl TelegramReport {
    fn from_news(news: ChannelReport) -> Self {
        Self::Heard { news, taken: None }
    }
}

#[derive(Debug)]
struct TelegramLine {
    api: BotApi,
    settings: BotSettings,
    reports: mpsc::Sender<TelegramReport>,
    gates: ChatGates,
    presses: RecentPresses,
}

impl TelegramLine {
    async fn report_news(&self, news: ChannelReport) {
        self.report(TelegramReport::from_news(news)).await;
    }

    async fn report(&self, report: TelegramReport) {
        // When nobody listens any more, the channel is about to end.
        self.reports.send(report).await.ok();
    }
}

/// Asks Telegram once who the bot is: its name without the `@`, or what is wrong and what to do.
pub async fn ask_bot_name(settings: &BotSettings) -> Result<String, String> {
    let api = BotApi::new(settings)?;
    let me = api.call("getMe", &serde_json::json!({}), settings.reach).await;
    let me = me.map_err(|fault| fault.why().to_owned())?;
    let name = me["username"].as_str().map(str::to_owned);
    name.ok_or_else(|| "Telegram did not return the bot's name".to_owned())
}

/// Runs the channel until the sender of `orders` is dropped and what was ordered is done (or
/// `reach` has passed), or until nobody listens to `reports`. Dropping the future ends it at once.
///
/// Orders are taken at all times, even while nobody takes reports.
pub async fn run_channel(
    settings: BotSettings,
    orders: mpsc::Receiver<ChannelOrder>,
    reports: mpsc::Sender<TelegramReport>,
) {
    let api = match BotApi::new(&settings) {
        Ok(api) => api,
        Err(why) => return courier::refuse_all(&why, orders, &reports).await,
    };
    let line = Arc::new(TelegramLine {
        api,
        settings,
        reports,
        gates: ChatGates::default(),
        presses: RecentPresses::default(),
    });
    tokio::select! {
        () = Courier::new(Arc::clone(&line), orders).carry_out_orders() => {}
        () = UpdatePoll::new(line).run_until_unheard() => {}
    }
}
