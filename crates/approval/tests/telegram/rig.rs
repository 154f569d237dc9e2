//! The channel on a thread of its own, with the test in the place of the desk.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use callgate_approval::card::Card;
use callgate_approval::channel::{
    ChannelOrder, ChannelReport, MarkState, Person, PersonPlace, QuestionCopy, QuestionMark,
    ReplyTo,
};
use callgate_approval::telegram::{BotSettings, BotToken, TelegramReport, run_channel};
use callgate_testkit::process::DEADLINE;
use callgate_testkit::telegram::{Message, Telegram};
use callgate_wire::approval::{Action, ApprovalRequest, Press, RequestId};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// A private chat, and a group.
pub(crate) const ADA: i64 = 7;
pub(crate) const TEAM: i64 = -100;

pub(crate) fn fake() -> Telegram {
    let fake = Telegram::start();
    fake.add_private(ADA, "Ada");
    fake.add_group(TEAM, "Team");
    fake.add_user(8, "Bob");
    fake
}

pub(crate) fn settings(url: &str, token: &str) -> BotSettings {
    BotSettings {
        api_url: url.to_owned(),
        reach: DEADLINE,
        pause: Duration::from_millis(5),
        ..BotSettings::new(BotToken::new(token).unwrap())
    }
}

/// A running channel.
pub(crate) struct Rig {
    orders: Option<mpsc::Sender<ChannelOrder>>,
    reports: Receiver<TelegramReport>,
    thread: Option<JoinHandle<()>>,
    end: Option<oneshot::Sender<()>>,
}

impl Rig {
    pub(crate) fn start(fake: &Telegram) -> Self {
        Self::with(settings(&fake.url(), fake.token()))
    }

    pub(crate) fn with(settings: BotSettings) -> Self {
        let (orders, to_do) = mpsc::channel(64);
        let (report, mut reported) = mpsc::channel(64);
        let (end, ended) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                tokio::select! {
                    () = run_channel(settings, to_do, report) => {}
                    _ = ended => {}
                }
            });
        });
        let (forward, reports) = channel();
        thread::spawn(move || {
            while let Some(report) = reported.blocking_recv() {
                if forward.send(report).is_err() {
                    return;
                }
            }
        });
        Self { orders: Some(orders), reports, thread: Some(thread), end: Some(end) }
    }

    /// Ends the channel at once, as a kill would.
    pub(crate) fn kill(mut self) {
        drop(self.end.take());
        self.thread.take().unwrap().join().unwrap();
    }

    /// Gives no more orders and waits until the channel has carried out all. Gives what it
    /// reported beside that it works.
    pub(crate) fn finish(mut self) -> Vec<TelegramReport> {
        // Reports must be taken, or the channel waits.
        self.orders = None;
        let mut rest = Vec::new();
        loop {
            match self.reports.recv_timeout(DEADLINE) {
                Ok(TelegramReport::Works { .. }) => {}
                Ok(report) => rest.push(report),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the channel does not end"),
            }
        }
        self.thread.take().unwrap().join().unwrap();
        drop(self.end.take());
        rest
    }

    pub(crate) fn order(&self, order: ChannelOrder) {
        self.orders.as_ref().unwrap().blocking_send(order).unwrap();
    }

    pub(crate) fn report(&self) -> TelegramReport {
        self.reports.recv_timeout(DEADLINE).expect("a report in time")
    }

    /// The next news, taken at once.
    pub(crate) fn news(&self) -> ChannelReport {
        let (news, taken) = self.untaken();
        if let Some(taken) = taken {
            taken.send(()).unwrap();
        }
        news
    }

    /// The next news, and what says that it is safe.
    pub(crate) fn untaken(&self) -> (ChannelReport, Option<oneshot::Sender<()>>) {
        loop {
            match self.report() {
                TelegramReport::Heard { news, taken } => return (news, taken),
                TelegramReport::Works { .. } => {}
                TelegramReport::Troubled { why } => panic!("trouble: {why}"),
            }
        }
    }

    /// Shows a question and gives the copy that arrived.
    pub(crate) fn show(&self, card: &Arc<Card>, chat: i64) -> QuestionCopy {
        self.order(ChannelOrder::Show {
            card: Arc::clone(card),
            chats: vec![chat],
            within: DEADLINE,
        });
        match self.news() {
            ChannelReport::Shown(copy) => copy,
            other => panic!("{other:?}"),
        }
    }

    /// Says something and waits for it: whatever was ordered before has at least begun.
    pub(crate) fn say_and_see(&self, fake: &Telegram, text: &str) {
        self.order(ChannelOrder::Say { chats: vec![ADA], text: text.to_owned() });
        fake.wait_for("the note", |seen| seen.chat(ADA).find(|m| m.shape.text == text).map(drop));
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The n-th question's id.
pub(crate) fn id(number: u8) -> RequestId {
    RequestId::parse(&format!("550e8400-e29b-41d4-a716-4466554400{number:02}")).unwrap()
}

/// A question about a tool.
pub(crate) fn card(number: u8, tool: &str, input: &Value) -> Arc<Card> {
    card_with(number, tool, input, &json!([]))
}

pub(crate) fn card_with(number: u8, tool: &str, input: &Value, suggestions: &Value) -> Arc<Card> {
    let line = json!({
        "request_id": id(number).as_str(),
        "tool_name": tool,
        "tool_input": input,
        "cwd": "/home/ada/engine",
        "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2",
        "permission_suggestions": suggestions,
        "agent": "claude-code",
        "context": {
            "last_words": "The sources are in place, so I will build now.",
            "takes": ["always", "edit", "interrupt"],
        },
    });
    let request = ApprovalRequest::decode(line.to_string().as_bytes()).unwrap();
    Arc::new(Card::new(&request, &input.to_string(), 1_800_000_000_000, 1_800_000_300_000))
}

pub(crate) fn bash(number: u8) -> Arc<Card> {
    card(number, "Bash", &json!({"command": format!("make build-{number}")}))
}

pub(crate) fn mark<'a>(
    card: &Arc<Card>,
    copies: impl IntoIterator<Item = &'a QuestionCopy>,
    state: MarkState,
    text: &str,
) -> ChannelOrder {
    let mark = QuestionMark { state, text: text.to_owned() };
    let copies = copies.into_iter().cloned().collect();
    ChannelOrder::Mark { card: Arc::clone(card), copies, mark }
}

pub(crate) fn tell(reply_to: ReplyTo, text: &str) -> ChannelOrder {
    ChannelOrder::Tell { reply_to, text: text.to_owned(), alert: false }
}

/// Who wrote or pressed, in words for comparing.
pub(crate) fn who(who: &Person) -> String {
    match who.place {
        PersonPlace::Telegram { chat, user, private } => {
            let place = if private { "private" } else { "group" };
            format!("{} ({user}) in {place} {chat}", who.name)
        }
        _ => "elsewhere".to_owned(),
    }
}

/// A press in words for comparing, and by what to answer it.
pub(crate) fn pressed(news: ChannelReport) -> (String, ReplyTo) {
    match news {
        ChannelReport::Pressed { who: person, question, press, reply_to, .. } => {
            let what = match press {
                Press::Button(action) => action.to_string(),
                Press::Words(words) => format!("{words:?}"),
                Press::Input(_) => "edited".to_owned(),
            };
            let number = &question.as_str()[34..];
            (format!("{}: {what} for {number}", who(&person)), reply_to)
        }
        other => panic!("{other:?}"),
    }
}

/// The message that a copy is.
pub(crate) fn message_of(fake: &Telegram, copy: &QuestionCopy) -> Message {
    fake.look(|seen| seen.message(copy.chat, copy.message).cloned()).unwrap()
}

/// Waits until a copy shows `text` and gives it.
pub(crate) fn wait_for_text(fake: &Telegram, copy: &QuestionCopy, text: &str) -> Message {
    fake.wait_for(text, |seen| {
        let message = seen.message(copy.chat, copy.message)?;
        message.shape.text.contains(text).then(|| message.clone())
    })
}

pub(crate) fn data(number: u8, action: Action) -> String {
    format!("{}:{action}", id(number))
}
