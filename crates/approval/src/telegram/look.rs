//! How a question looks in a chat. Pure: a card goes in, HTML and buttons come out.
//!
//! Everything that a program wrote is content, which may be cut; what is fixed is ours and short.
//! Every message begins with a link that nobody sees and that names its question.

mod body;
mod full;
mod keyboard;
#[cfg(test)]
mod tests;

use crate::telegram::html::{Html, HtmlStyle, MessageLimits};
use callgate_mask::text::{self, Measure};
use callgate_wire::approval::RequestId;
use serde_json::{Value, json};

use super::presses::Presser;
use crate::card::{Card, Choice, HIDDEN_COULD_RUN, Offer, Picker};
use crate::channel::{MarkState, QuestionMark};

pub(super) use full::{FullQuestion, full};

/// The address of a question, without its id. It leads nowhere: `.invalid` is kept free for that.
pub(super) const ADDRESS: &str = "https://callgate.invalid/question/";
/// The most that a message shows of the agent's last words.
const LAST_WORDS: usize = 600;
/// The most that is shown of a name: of an agent, a tool, a person, a session.
const NAME: usize = 64;
/// The most that is shown of a folder; its end tells more than its beginning.
const FOLDER: usize = 160;

/// What a copy of a question shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct QuestionLook {
    /// Later looks have higher numbers.
    pub(super) version: u64,
    /// The text.
    pub(super) html: String,
    /// The buttons, if it has any.
    pub(super) buttons: Option<Value>,
    /// Whether none will follow.
    pub(super) last: bool,
}

impl QuestionLook {
    /// An open question, with what is picked so far.
    pub(super) fn open(card: &Card, picks: &[Vec<u8>]) -> Self {
        let (html, cut) = question(card, picks, None);
        let buttons = Some(keyboard::of(card, picks, cut));
        Self { version: 0, html, buttons, last: false }
    }

    /// A question of which something has become.
    pub(super) fn marked(card: &Card, mark: &QuestionMark) -> Self {
        let (html, _) = question(card, &[], Some(mark));
        Self { version: 0, html, buttons: None, last: mark.state != MarkState::Waiting }
    }

    /// The parameters of a message with this look.
    pub(super) fn params(&self, chat: i64, message: Option<i64>) -> Value {
        let mut params = html_message(chat, &self.html);
        if let Some(message) = message {
            params["message_id"] = message.into();
        }
        if let Some(buttons) = &self.buttons {
            params["reply_markup"] = buttons.clone();
        }
        params
    }
}

/// The parameters of a message in HTML. Telegram is not to fetch the addresses in it.
pub(super) fn html_message(chat: i64, html: &str) -> Value {
    json!({
        "chat_id": chat,
        "text": html,
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": true},
    })
}

/// How much of a question its message leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookCut {
    /// Nothing.
    Nothing,
    /// Something beside what would be done, such as the agent's last words.
    Words,
    /// Something of what would be done: nobody can allow that before it was shown.
    Body,
}

/// Whether a message leaves out something of what would be done.
pub(crate) fn cuts(card: &Card) -> bool {
    question(card, &[], None).1 == LookCut::Body
}

/// What follows a question that was shown in full: its buttons.
pub(super) fn after_full(card: &Card, chat: i64) -> Value {
    let html = about(&card.id).text("That is all of it.");
    let mut params = html_message(chat, &html.render(MessageLimits::MESSAGE).html);
    params["reply_markup"] = keyboard::of(card, &[], LookCut::Nothing);
    params
}

/// A question's text, and what it leaves out.
fn question(card: &Card, picks: &[Vec<u8>], mark: Option<&QuestionMark>) -> (String, LookCut) {
    let html = about(&card.id);
    let html = match mark {
        Some(mark) => html.text(icon(mark.state)).content(HtmlStyle::Bold, &mark.text).text("\n\n"),
        None => html,
    };
    let html = heading(html, card);
    let (html, words_cut) = last_words(html, card);
    let (html, body_cut) = body::add(html, card);
    let html = choices(html, &card.pickers, picks);
    let html = match card.blocked.as_ref().and_then(|blocked| blocked.reason.as_ref()) {
        Some(reason) => html.text("\nBecause ").content(HtmlStyle::Italic, reason).text(".\n"),
        None => html,
    };
    let html = if card.hides_what_runs {
        html.text("\n⚠️ ").fixed(HtmlStyle::Bold, HIDDEN_COULD_RUN).text("\n")
    } else {
        html
    };
    let html = match &card.because {
        Some(because) => html.text("\n").content(HtmlStyle::Italic, because).text("\n"),
        None => html,
    };
    let html = match (mark, &card.blocked) {
        (Some(_), _) => html,
        (None, Some(_)) => waits(html.text("\nLet it try again?\n"), card),
        (None, None) => waits(offers(html, card), card),
    };
    let rendered = html.render(MessageLimits::MESSAGE);
    let cut = match (body_cut || rendered.cut > 0, words_cut) {
        (true, _) => LookCut::Body,
        (false, true) => LookCut::Words,
        (false, false) => LookCut::Nothing,
    };
    (rendered.html, cut)
}

fn icon(state: MarkState) -> &'static str {
    match state {
        MarkState::Waiting => "⏳ ",
        MarkState::Allowed => "✅ ",
        MarkState::Denied => "❌ ",
        MarkState::Settled => "☑️ ",
        MarkState::Expired => "⌛ ",
        MarkState::Gone => "🚫 ",
    }
}

/// Who wants what, and where.
fn heading(html: Html, card: &Card) -> Html {
    let html = html.fixed(HtmlStyle::Bold, name(&card.agent)).text(" ");
    let html = body::wants(html, card).text("\n📁 ").fixed(HtmlStyle::Code, &folder(&card.project));
    match card.short_session() {
        "" => html.text("\n"),
        session => html.text(" · session ").fixed(HtmlStyle::Code, session).text("\n"),
    }
}

fn last_words(html: Html, card: &Card) -> (Html, bool) {
    let Some(words) = &card.last_words else { return (html, false) };
    let shown = text::cut(words, LAST_WORDS, Measure::Utf16);
    let is_cut = shown.len() < words.len();
    let html = html.content(HtmlStyle::Quote, shown.trim_end());
    (if is_cut { html.text("…\n") } else { html.text("\n") }, is_cut)
}

/// The agent's questions with their answers, and what is chosen. Few parts, since Telegram marks
/// no more than a hundred places in a message.
fn choices(mut html: Html, pickers: &[Picker], picks: &[Vec<u8>]) -> Html {
    for (at, picker) in pickers.iter().enumerate() {
        let number = if pickers.len() > 1 { format!("{}. ", at + 1) } else { String::new() };
        html = html.text("\n").content(HtmlStyle::Bold, &format!("{number}{}", picker.question));
        html = html.text(if picker.many { " (several)\n" } else { "\n" });
        let line = |(option, choice): (usize, &Choice)| {
            let sign = if keyboard::is_picked(picks, at, option) { "✓" } else { "•" };
            match &choice.description {
                Some(description) => format!("{sign} {} — {description}\n", choice.label),
                None => format!("{sign} {}\n", choice.label),
            }
        };
        let lines: String = picker.choices.iter().enumerate().map(line).collect();
        html = html.content(HtmlStyle::Plain, &lines);
    }
    html
}

/// What each "always" would mean, where a button alone does not say all of it.
fn offers(mut html: Html, card: &Card) -> Html {
    if !card.pickers.is_empty() || !keyboard::need_words(&card.offers) {
        return html;
    }
    html = html.text("\nAlways:\n");
    for (at, Offer { meaning, lasts, .. }) in card.offers.iter().enumerate() {
        if card.offers.len() > 1 {
            html = html.text(&format!("{}. ", at + 1));
        }
        html = html.content(HtmlStyle::Code, meaning).text(" — ").content(HtmlStyle::Plain, lasts);
        html = html.text("\n");
    }
    html
}

/// Until when an answer counts.
fn waits(html: Html, card: &Card) -> Html {
    html.text(&format!("\n⏳ Waits {}\n", card.deadline()))
}

/// The beginning of every message about a question: replies are told apart by it.
fn about(id: &RequestId) -> Html {
    Html::new().unseen_link(&format!("{ADDRESS}{id}"))
}

/// A copy whose question is over and of which no more is known than `text`.
pub(super) fn retired(id: &RequestId, text: &str) -> String {
    about(id).text("☑️ ").content(HtmlStyle::Bold, text).render(MessageLimits::MESSAGE).html
}

/// The message to which somebody is to reply with their words, as parameters.
pub(super) fn ask_words(card: &Card, chat: i64, presser: Option<&Presser>) -> Value {
    let mut html = about(&card.id).text("✍️ ");
    let in_group = presser.filter(|presser| !presser.private);
    if let Some(presser) = in_group {
        // Only who is mentioned gets the reply field opened.
        let address = format!("tg://user?id={}", presser.user);
        html = html.fixed(HtmlStyle::Link(&address), name(&presser.name)).text(", ");
    }
    html = html
        .text("reply to this message with what to tell the agent. It will not do:\n")
        .content(HtmlStyle::Code, text::cut(&card.summary(), 300, Measure::Utf16));
    let mut params = html_message(chat, &html.render(MessageLimits::MESSAGE).html);
    params["reply_markup"] = json!({
        "force_reply": true,
        "selective": in_group.is_some(),
        "input_field_placeholder": "What to tell the agent",
    });
    if let Some(message) = presser.and_then(|presser| presser.message) {
        params["reply_parameters"] =
            json!({"message_id": message, "allow_sending_without_reply": true});
    }
    params
}

/// A name, shortened; a blank one would leave an empty tag.
fn name(text: &str) -> &str {
    match text::cut(text, NAME, Measure::Utf16).trim() {
        "" => "?",
        name => name,
    }
}

/// A folder, shortened from its beginning.
fn folder(path: &str) -> String {
    let units = text::length(path, Measure::Utf16);
    if units <= FOLDER {
        return if path.trim().is_empty() { "?".to_owned() } else { path.to_owned() };
    }
    let mut left = units;
    let mut rest = path.chars();
    while left > FOLDER
        && let Some(c) = rest.next()
    {
        left -= c.len_utf16();
    }
    format!("…{}", rest.as_str())
}
