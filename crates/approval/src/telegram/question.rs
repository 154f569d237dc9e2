//! One question in its chats: its newest look, its copies, and how each is sent and kept up to
//! date.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::RequestId;
use tokio::sync::watch;
use tokio::time::Instant;

use super::api::TelegramFault;
use super::look::QuestionLook;
use super::retry::ChatLane;
use super::{CALL, TelegramLine};
use crate::channel::{ChannelReport, CopyPart, QuestionCopy};

/// For how long an edit is tried again. It is longer than for other messages, because a copy that
/// is not marked goes on showing buttons.
const EDIT: Duration = Duration::from_mins(10);

pub(super) type Newest = watch::Receiver<Arc<QuestionLook>>;

#[derive(Debug)]
pub(super) struct ShownQuestion {
    look: watch::Sender<Arc<QuestionLook>>,
    /// How many copies are on their way.
    pub(super) sending: usize,
    copies: Vec<ShownCopy>,
}

#[derive(Debug)]
struct ShownCopy {
    chat: i64,
    message: i64,
    part: CopyPart,
    /// The version of the look that it has.
    version: u64,
    /// Whether an edit is on its way.
    busy: bool,
}

impl ShownQuestion {
    pub(super) fn new(look: QuestionLook) -> Self {
        Self { look: watch::Sender::new(Arc::new(look)), sending: 0, copies: Vec::new() }
    }

    /// Returns the newest look, for whoever sends or edits a copy.
    pub(super) fn newest(&self) -> Newest {
        self.look.subscribe()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.look.borrow().last
    }

    pub(super) fn change_look(&mut self, look: QuestionLook) {
        let version = self.look.borrow().version + 1;
        self.look.send_replace(Arc::new(QuestionLook { version, ..look }));
    }

    /// Adds a copy with the look of this version. A copy whose look is not known is taken to have
    /// the first.
    pub(super) fn add_copy(&mut self, chat: i64, message: i64, part: CopyPart, version: u64) {
        if !self.copies.iter().any(|copy| (copy.chat, copy.message) == (chat, message)) {
            self.copies.push(ShownCopy { chat, message, part, version, busy: false });
        }
    }

    /// Notes the look that a copy has after an edit; `None` if it cannot be changed any more.
    pub(super) fn note_edit(&mut self, chat: i64, message: i64, version: Option<u64>) {
        match version {
            None => self.copies.retain(|copy| (copy.chat, copy.message) != (chat, message)),
            Some(version) => {
                let all = self.copies.iter_mut();
                all.filter(|copy| (copy.chat, copy.message) == (chat, message)).for_each(|copy| {
                    copy.busy = false;
                    copy.version = version;
                });
            }
        }
    }

    /// Returns the copies that have an old look and are not being edited, and marks them as busy.
    pub(super) fn take_old(&mut self) -> Vec<(i64, i64, CopyPart)> {
        let newest = self.look.borrow().version;
        let old = self.copies.iter_mut().filter(|copy| copy.version < newest && !copy.busy);
        old.map(|copy| {
            copy.busy = true;
            (copy.chat, copy.message, copy.part)
        })
        .collect()
    }

    /// Returns true if nothing is left to do for the question.
    pub(super) fn is_over(&self) -> bool {
        let look = self.look.borrow();
        let is_done = |copy: &ShownCopy| !copy.busy && copy.version >= look.version;
        look.last && self.sending == 0 && self.copies.iter().all(is_done)
    }
}

/// Sends a copy and reports it. Returns its message number and the version of its look, or `None`
/// if it was not sent. Faults that may pass are waited out until `end`, when the question is given
/// up.
pub(super) async fn send_copy(
    line: &TelegramLine,
    question: &RequestId,
    newest: Newest,
    chat: i64,
    end: Instant,
) -> Option<(i64, u64)> {
    let send = || async {
        // Looked up at each attempt: during a pause the question may have been answered.
        let look = Arc::clone(&newest.borrow());
        if look.last {
            // The question was over before it could be sent.
            return Ok(None);
        }
        let params = look.params(chat, CopyPart::Question);
        let result = line.api.call("sendMessage", &params, CALL).await?;
        let number = result["message_id"].as_i64().ok_or_else(missing_id_fault)?;
        Ok(Some((number, look.version)))
    };
    match line.retry_in_chat(chat, ChatLane::Show, end, send).await {
        Ok(Some((message, version))) => {
            let (question, part) = (question.clone(), CopyPart::Question);
            line.report_news(ChannelReport::Shown(QuestionCopy { question, chat, message, part }))
                .await;
            Some((message, version))
        }
        Ok(None) => None,
        Err(fault) => {
            let why = fault.why().to_owned();
            line.report_news(ChannelReport::Unsendable { question: question.clone(), chat, why })
                .await;
            None
        }
    }
}

fn missing_id_fault() -> TelegramFault {
    // Not a fault that may pass: tried again, the question would be sent twice.
    TelegramFault::Refused { code: 200, why: "Telegram returned no message number".to_owned() }
}

/// Gives a copy the newest look. Returns the version of the look that it has, or `None` if it
/// cannot be changed any more.
pub(super) async fn edit_copy(
    line: &TelegramLine,
    newest: Newest,
    chat: i64,
    message: i64,
    part: CopyPart,
) -> Option<u64> {
    let edit = || async {
        let look = Arc::clone(&newest.borrow());
        let mut params = look.params(chat, part);
        params["message_id"] = message.into();
        match line.api.call("editMessageText", &params, CALL).await {
            // The edit was made before, and its answer was lost.
            Err(TelegramFault::Refused { why, .. }) if why.contains("not modified") => {
                Ok(look.version)
            }
            edited => edited.map(|_| look.version),
        }
    };
    line.retry_in_chat(chat, ChatLane::Edit, Instant::now() + EDIT, edit).await.ok()
}
