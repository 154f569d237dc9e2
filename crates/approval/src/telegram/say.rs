//! Messages that are not copies of a question: replies to presses, requests for words, questions in
//! full, notes.

use std::time::Duration;

use callgate_mask::text::{self, Measure};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::look::{self, FullQuestion, QuestionLook};
use super::retry::{ChatLane, retry_until};
use super::{CALL, TelegramLine, TelegramReport};
use crate::card::Card;
use crate::channel::{ChannelReport, CopyPart, MarkState, QuestionCopy, ReplyPurpose, ReplyTo};

/// About how long Telegram waits for the answer to a press.
const PRESS: Duration = Duration::from_secs(15);
/// How long other messages are tried.
const SAY: Duration = Duration::from_mins(1);
/// The longest reply to a press, and the longest message, in UTF-16 units.
const TOAST: usize = 200;
const MESSAGE: usize = 4096;
/// The longest note, which is sent as several messages.
const NOTE: usize = 3 * MESSAGE;

pub(super) async fn send_reply(line: &TelegramLine, reply_to: &ReplyTo, text: &str, alert: bool) {
    match reply_to {
        ReplyTo::Callback(callback) => answer_press(line, callback, text, alert).await,
        ReplyTo::Message { chat, message } => {
            let params = json!({
                "chat_id": chat,
                "text": shortened_message(text, MESSAGE),
                "link_preview_options": {"is_disabled": true},
                "reply_parameters": {"message_id": message, "allow_sending_without_reply": true},
            });
            call_persistently(line, "sendMessage", &params, SAY).await;
        }
        // The desk tells its terminal and its viewers itself.
        ReplyTo::Key | ReplyTo::Viewer { .. } => {}
    }
}

/// Answers a press. Until then the button shows that it is busy, and finally that it failed.
async fn answer_press(line: &TelegramLine, callback: &str, text: &str, alert: bool) {
    let text = shortened_message(text, TOAST);
    let params = json!({"callback_query_id": callback, "text": text, "show_alert": alert});
    call_persistently(line, "answerCallbackQuery", &params, PRESS).await;
}

/// Calls without a gate until it works, is refused, or the time is over. A failure is not reported:
/// this call was the report.
async fn call_persistently(
    line: &TelegramLine,
    method: &str,
    params: &serde_json::Value,
    most: Duration,
) {
    let end = Instant::now() + most;
    let _ = retry_until(line.settings.pause, None, end, || {
        line.api.call(method, params, CALL.min(most))
    })
    .await;
}

pub(super) async fn ask_words(
    line: &TelegramLine,
    card: &Card,
    reply_to: &ReplyTo,
    chat: i64,
    purpose: ReplyPurpose,
) {
    let presser = find_presser(line, reply_to);
    let params = look::ask_words(card, chat, presser.as_ref(), purpose);
    let end = Instant::now() + SAY;
    let toast = match (purpose, &card.confirm) {
        (ReplyPurpose::Confirm, Some(word)) => {
            format!("To allow it, reply to the message below with {}.", word.hint())
        }
        _ => "Write your words as a reply to the message below.".to_owned(),
    };
    // Together, because Telegram does not wait long for the answer to a press.
    tokio::join!(send_reply(line, reply_to, &toast, false), async {
        let _ = line.call_in_chat(chat, ChatLane::Show, end, "sendMessage", &params).await;
    });
}

pub(super) async fn show_in_full(line: &TelegramLine, card: &Card, reply_to: &ReplyTo, chat: i64) {
    let end = Instant::now() + SAY;
    let pages = async {
        match look::full_question(card, chat) {
            FullQuestion::Pages(pages) => {
                for params in pages {
                    line.call_in_chat(chat, ChatLane::Show, end, "sendMessage", &params)
                        .await
                        .ok()?;
                }
            }
            FullQuestion::File { name, content, caption } => {
                let file = (name.as_str(), content.as_str());
                let send = || line.api.send_document(chat, &caption, file, CALL);
                line.retry_in_chat(chat, ChatLane::Show, end, send).await.ok()?;
            }
        }
        // All of it was shown: once that is recorded, it can be allowed, even after a restart.
        let news = ChannelReport::ShownInFull { question: card.id.clone(), chat };
        let (taken, recorded) = oneshot::channel();
        line.report(TelegramReport::Heard { news, taken: Some(taken) }).await;
        recorded.await.ok()?;
        let params = QuestionLook::of_open(card, &[]).params(chat, CopyPart::Buttons);
        let sent =
            line.call_in_chat(chat, ChatLane::Show, end, "sendMessage", &params).await.ok()?;
        let message = sent["message_id"].as_i64()?;
        let (question, part) = (card.id.clone(), CopyPart::Buttons);
        line.report_news(ChannelReport::Shown(QuestionCopy { question, chat, message, part }))
            .await;
        Some(())
    };
    // The press is answered meanwhile: all pages may take longer than Telegram waits for that.
    tokio::join!(send_reply(line, reply_to, "", false), pages);
}

fn find_presser(line: &TelegramLine, reply_to: &ReplyTo) -> Option<super::presses::Presser> {
    match reply_to {
        ReplyTo::Callback(callback) => line.presses.find_presser(callback),
        _ => None,
    }
}

/// Says something that belongs to no question.
pub(super) async fn send_text(line: &TelegramLine, chat: i64, text: &str) {
    let end = Instant::now() + SAY;
    for page in text::split_pages(&shortened_message(text, NOTE), MESSAGE) {
        // Telegram refuses a blank message.
        if page.trim().is_empty() {
            continue;
        }
        let preview = json!({"is_disabled": true});
        let params = json!({"chat_id": chat, "text": page, "link_preview_options": preview});
        if line.call_in_chat(chat, ChatLane::Show, end, "sendMessage", &params).await.is_err() {
            return;
        }
    }
}

/// Removes the buttons from a copy of which only the outcome is known.
pub(super) async fn retire_copy(line: &TelegramLine, copy: &QuestionCopy, text: &str) {
    let html = look::outcome_text(&copy.question, MarkState::Settled, text);
    let mut params = look::html_message(copy.chat, &html);
    params["message_id"] = copy.message.into();
    let end = Instant::now() + SAY;
    // A copy that keeps its buttons does no harm: presses on them are refused.
    let _ = line.call_in_chat(copy.chat, ChatLane::Edit, end, "editMessageText", &params).await;
}

/// Shortens a text and marks the cut.
fn shortened_message(text: &str, most: usize) -> String {
    if text::measured_length(text, Measure::Utf16) <= most {
        return text.to_owned();
    }
    format!("{}…", text::cut_to_length(text, most - 1, Measure::Utf16))
}
