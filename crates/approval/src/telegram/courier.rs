//! The sending half: takes every order at once and carries them out concurrently, so that no slow
//! call delays another question. For one question the order is kept: a copy is marked after it is
//! sent.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::RequestId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::look::QuestionLook;
use super::question::{self, ShownQuestion};
use super::{TelegramLine, TelegramReport, say};
use crate::card::Card;
use crate::channel::{ChannelOrder, ChannelReport, CopyPart, QuestionCopy};

/// Questions beyond this number are not shown. There may be more than the desk keeps open, because
/// a question that is over stays until its copies show that.
const MOST_QUESTIONS: usize = 20_000;
/// The most replies and notes that may be on their way at once; further ones are dropped.
const MOST_NOTES: usize = 2_048;

#[derive(Debug)]
pub(super) struct Courier {
    line: Arc<TelegramLine>,
    orders: mpsc::Receiver<ChannelOrder>,
    questions: HashMap<RequestId, ShownQuestion>,
    work: JoinSet<CourierWork>,
    notes: usize,
}

#[derive(Debug)]
enum CourierWork {
    /// A copy was sent, with this message number and version, or never will be.
    Sent {
        question: RequestId,
        chat: i64,
        copy: Option<(i64, u64)>,
    },
    /// A copy has a look of this version, or cannot be changed any more.
    Edited {
        question: RequestId,
        chat: i64,
        message: i64,
        version: Option<u64>,
    },
    Note,
}

impl Courier {
    pub(super) fn new(line: Arc<TelegramLine>, orders: mpsc::Receiver<ChannelOrder>) -> Self {
        let (questions, work) = (HashMap::new(), JoinSet::new());
        Self { line, orders, questions, work, notes: 0 }
    }

    /// Carries out orders until there are no more, and then a little longer.
    pub(super) async fn carry_out_orders(mut self) {
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.begin_order(order),
                    None => break,
                },
                Some(done) = self.work.join_next() => self.handle_ended_work(done.ok()),
            }
        }
        // What is on its way still arrives: no phone should go on showing a question that is over.
        let end = Instant::now() + self.line.settings.reach;
        while let Ok(Some(done)) = timeout_at(end, self.work.join_next()).await {
            self.handle_ended_work(done.ok());
        }
    }

    fn begin_order(&mut self, order: ChannelOrder) {
        match order {
            ChannelOrder::Show { card, chats, within } => self.show_card(&card, &chats, within),
            ChannelOrder::Mark { card, copies, mark } => {
                self.change_look(&card.id, copies, || QuestionLook::of_marked(&card, &mark));
            }
            ChannelOrder::Redraw { card, copies, picks } => {
                self.change_look(&card.id, copies, || QuestionLook::of_open(&card, &picks));
            }
            ChannelOrder::Retire { copy, text } => {
                self.spawn_notice(async move |line| say::retire_copy(&line, &copy, &text).await);
            }
            ChannelOrder::Tell { reply_to, text, alert } => {
                self.spawn_notice(async move |line| {
                    say::send_reply(&line, &reply_to, &text, alert).await;
                });
            }
            ChannelOrder::AskWords { card, reply_to, chat, purpose } => {
                self.spawn_notice(async move |line| {
                    say::ask_words(&line, &card, &reply_to, chat, purpose).await;
                });
            }
            ChannelOrder::Full { card, reply_to, chat } => {
                self.spawn_notice(async move |line| {
                    say::show_in_full(&line, &card, &reply_to, chat).await;
                });
            }
            // For the terminal only.
            ChannelOrder::Note { .. } => {}
            ChannelOrder::Say { chats, text } => {
                let text: Arc<str> = text.into();
                for chat in chats {
                    let text = Arc::clone(&text);
                    self.spawn_notice(async move |line| say::send_text(&line, chat, &text).await);
                }
            }
        }
    }

    fn show_card(&mut self, card: &Arc<Card>, chats: &[i64], within: Duration) {
        let is_full = self.questions.len() >= MOST_QUESTIONS;
        let question = match self.questions.entry(card.id.clone()) {
            Entry::Vacant(_) if is_full => {
                let why = format!("more than {MOST_QUESTIONS} questions are open");
                return self.report_unsendable(&card.id, chats, &why);
            }
            Entry::Vacant(place) => {
                place.insert(ShownQuestion::new(QuestionLook::of_open(card, &[])))
            }
            Entry::Occupied(place) => place.into_mut(),
        };
        if question.is_closed() {
            // It is asked again while its end is still being shown.
            question.change_look(QuestionLook::of_open(card, &[]));
        }
        let end = Instant::now() + within;
        for &chat in chats {
            question.sending += 1;
            let (line, newest, id) = (Arc::clone(&self.line), question.newest(), card.id.clone());
            self.work.spawn(async move {
                let copy = question::send_copy(&line, &id, newest, chat, end).await;
                CourierWork::Sent { question: id, chat, copy }
            });
        }
        self.update_copies(&card.id);
    }

    fn report_unsendable(&mut self, question: &RequestId, chats: &[i64], why: &str) {
        for &chat in chats {
            let news =
                ChannelReport::Unsendable { question: question.clone(), chat, why: why.to_owned() };
            self.spawn_notice(async move |line| line.report_news(news).await);
        }
    }

    /// Changes the look of all copies of a question, including those on their way.
    fn change_look(
        &mut self,
        id: &RequestId,
        copies: Vec<QuestionCopy>,
        look: impl FnOnce() -> QuestionLook,
    ) {
        let is_full = self.questions.len() >= MOST_QUESTIONS;
        let question = match self.questions.entry(id.clone()) {
            Entry::Vacant(_) if is_full || copies.is_empty() => return,
            // What a copy of an earlier run shows is not known.
            Entry::Vacant(place) => place.insert(ShownQuestion::new(QuestionLook::default())),
            Entry::Occupied(place) => place.into_mut(),
        };
        for copy in copies {
            question.add_copy(copy.chat, copy.message, copy.part, 0);
        }
        question.change_look(look());
        self.update_copies(id);
    }

    /// Starts the edits that the copies of a question still need, or forgets the question.
    fn update_copies(&mut self, id: &RequestId) {
        let Some(question) = self.questions.get_mut(id) else { return };
        for (chat, message, part) in question.take_old() {
            let (line, newest, question) = (Arc::clone(&self.line), question.newest(), id.clone());
            self.work.spawn(async move {
                let version = question::edit_copy(&line, newest, chat, message, part).await;
                CourierWork::Edited { question, chat, message, version }
            });
        }
        if question.is_over() {
            self.questions.remove(id);
        }
    }

    fn spawn_notice<F>(&mut self, work: impl FnOnce(Arc<TelegramLine>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if self.notes >= MOST_NOTES {
            return;
        }
        self.notes += 1;
        let work = work(Arc::clone(&self.line));
        self.work.spawn(async move {
            work.await;
            CourierWork::Note
        });
    }

    fn handle_ended_work(&mut self, done: Option<CourierWork>) {
        let id = match done {
            Some(CourierWork::Sent { question: id, chat, copy }) => {
                let Some(question) = self.questions.get_mut(&id) else { return };
                question.sending -= 1;
                if let Some((message, version)) = copy {
                    question.add_copy(chat, message, CopyPart::Question, version);
                }
                id
            }
            Some(CourierWork::Edited { question: id, chat, message, version }) => {
                let Some(question) = self.questions.get_mut(&id) else { return };
                question.note_edit(chat, message, version);
                id
            }
            Some(CourierWork::Note) | None => {
                self.notes = self.notes.saturating_sub(1);
                return;
            }
        };
        self.update_copies(&id);
    }
}

/// Reports that nothing can be sent, and why, for as long as orders come.
pub(super) async fn refuse_all(
    why: &str,
    mut orders: mpsc::Receiver<ChannelOrder>,
    reports: &mpsc::Sender<TelegramReport>,
) {
    let broken = ChannelReport::Broken { why: why.to_owned() };
    if reports.send(TelegramReport::from_news(broken)).await.is_err() {
        return;
    }
    while let Some(order) = orders.recv().await {
        let ChannelOrder::Show { card, chats, .. } = order else { continue };
        for chat in chats {
            let (question, why) = (card.id.clone(), why.to_owned());
            // Orders are taken at all times. A desk that is busy knows by the first report.
            reports
                .try_send(TelegramReport::from_news(ChannelReport::Unsendable {
                    question,
                    chat,
                    why,
                }))
                .ok();
        }
    }
}
