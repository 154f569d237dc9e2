//! How a question looks in a chat. Pure: turns a card into HTML and buttons.
//!
//! Everything that a program wrote is content, which may be cut; fixed parts are our own and short.
//! Every message begins with an invisible link that names its question.

mod body;
mod full;
mod keyboard;
#[cfg(test)]
mod tests;

use crate::telegram::html::{Html, HtmlStyle, MessageLimits};
use callgate_mask::text::{self, Measure};
use callgate_wire::approval::RequestId;
use callgate_wire::desk::{CardChoice, CardOffer, CardPicker};
use serde_json::{Value, json};

use super::presses::Presser;
use crate::card::{Card, HIDDEN_COULD_RUN};
use crate::channel::{CopyPart, MarkState, QuestionMark, ReplyPurpose};

pub(super) use full::{FullQuestion, full_question};

/// The address of a question, without its id. It leads nowhere: `.invalid` is reserved.
pub(super) const ADDRESS: &str = "https://callgate.invalid/question/";
/// The message that follows a question in full, above its buttons.
pub(super) const AFTER_FULL: &str = "That is all of it.";
/// How much of the agent's last words a message shows, in UTF-16 units.
const LAST_WORDS: usize = 600;
/// How much of a name is shown, in UTF-16 units.
const NAME: usize = 64;
/// How much of a folder's path is shown, in UTF-16 units; its end matters more than its beginning.
const FOLDER: usize = 160;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct QuestionLook {
    /// The version; later looks have higher ones.
    pub(super) version: u64,
    pub(super) html: String,
    pub(super) buttons: Option<Value>,
    /// The text and the buttons of a message below the question in full.
    pub(super) after_full: (String, Option<Value>),
    /// Whether no other look will follow.
    pub(super) last: bool,
}

impl QuestionLook {
    /// Returns the look of an open question, with the answers picked so far.
    pub(super) fn of_open(card: &Card, picks: &[Vec<u8>]) -> Self {
        let (html, cut) = render_question(card, picks, None);
        let buttons = Some(keyboard::build_buttons(card, picks, cut));
        let below = begin_message(&card.id).text(AFTER_FULL).render(MessageLimits::MESSAGE).html;
        // All of the question stands above it, so nothing is cut for whoever presses here.
        let after_full = (below, Some(keyboard::build_buttons(card, picks, LookCut::Nothing)));
        Self { version: 0, html, buttons, after_full, last: false }
    }

    /// Returns the look of a question with its outcome.
    pub(super) fn of_marked(card: &Card, mark: &QuestionMark) -> Self {
        let (html, _) = render_question(card, &[], Some(mark));
        // The question stands above it.
        let after_full = (outcome_text(&card.id, mark.state, &mark.text), None);
        let last = mark.state != MarkState::Waiting;
        Self { version: 0, html, buttons: None, after_full, last }
    }

    pub(super) fn params(&self, chat: i64, part: CopyPart) -> Value {
        let (html, buttons) = match part {
            CopyPart::Question => (&self.html, &self.buttons),
            CopyPart::Buttons => (&self.after_full.0, &self.after_full.1),
        };
        let mut params = html_message(chat, html);
        if let Some(buttons) = buttons {
            params["reply_markup"] = buttons.clone();
        }
        params
    }
}

/// Returns the parameters of a message in HTML, without link previews.
pub(super) fn html_message(chat: i64, html: &str) -> Value {
    json!({
        "chat_id": chat,
        "text": html,
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": true},
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookCut {
    Nothing,
    /// Something other than what would be done, such as the agent's last words.
    Words,
    /// A part of what would be done: it cannot be allowed before it was shown.
    Body,
}

/// Returns true if a message leaves out a part of what would be done.
pub(crate) fn is_cut_in_message(card: &Card) -> bool {
    render_question(card, &[], None).1 == LookCut::Body
}

/// Returns a question's text, and what it leaves out.
fn render_question(
    card: &Card,
    picks: &[Vec<u8>],
    mark: Option<&QuestionMark>,
) -> (String, LookCut) {
    let html = begin_message(&card.id);
    let html = match mark {
        Some(mark) => {
            html.text(mark_icon(mark.state)).content(HtmlStyle::Bold, &mark.text).text("\n\n")
        }
        None => html,
    };
    let html = add_heading(html, card);
    let (html, words_cut) = last_words(html, card);
    let (html, body_cut) = body::add_content(html, card);
    let html = add_choices(html, &card.pickers, picks);
    let html = match card.blocked.as_ref().and_then(|blocked| blocked.reason.as_ref()) {
        Some(reason) => html.text("\nBecause ").content(HtmlStyle::Italic, reason).text(".\n"),
        None => html,
    };
    let html = if card.hides_what_runs {
        html.text("\n⚠️ ").fixed(HtmlStyle::Bold, HIDDEN_COULD_RUN).text("\n")
    } else {
        html
    };
    let html = match &card.fails_open {
        Some(fails_open) => html.text("\n⚠️ ").content(HtmlStyle::Italic, fails_open).text("\n"),
        None => html,
    };
    let html = match &card.row.because {
        Some(because) => html.text("\n").content(HtmlStyle::Italic, because).text("\n"),
        None => html,
    };
    let html = match card.row.demand_text().filter(|_| mark.is_none()) {
        Some(demand) => html.text("\n👥 ").fixed(HtmlStyle::Bold, &demand).text("\n"),
        None => html,
    };
    let html = match (mark, &card.blocked) {
        (Some(_), _) => html,
        (None, Some(_)) => add_deadline(html.text("\nLet it try again?\n"), card),
        (None, None) => add_deadline(add_offers(html, card), card),
    };
    let rendered = html.render(MessageLimits::MESSAGE);
    let cut = match (body_cut || rendered.cut > 0, words_cut) {
        (true, _) => LookCut::Body,
        (false, true) => LookCut::Words,
        (false, false) => LookCut::Nothing,
    };
    (rendered.html, cut)
}

fn mark_icon(state: MarkState) -> &'static str {
    match state {
        MarkState::Waiting => "⏳ ",
        MarkState::Allowed => "✅ ",
        MarkState::Denied => "❌ ",
        MarkState::Settled => "☑️ ",
        MarkState::Expired => "⌛ ",
        MarkState::Gone => "🚫 ",
    }
}

/// Adds who wants what, and where.
fn add_heading(html: Html, card: &Card) -> Html {
    let html = html.fixed(HtmlStyle::Bold, short_name(&card.row.agent)).text(" ");
    let html = body::add_wish(html, card)
        .text("\n📁 ")
        .fixed(HtmlStyle::Code, &short_folder(&card.row.project));
    let html = match &card.row.machine {
        Some(machine) => html.text(" · 🖥 ").fixed(HtmlStyle::Code, short_name(machine)),
        None => html,
    };
    match card.short_session() {
        "" => html.text("\n"),
        session => html.text(" · session ").fixed(HtmlStyle::Code, session).text("\n"),
    }
}

fn last_words(html: Html, card: &Card) -> (Html, bool) {
    let Some(words) = &card.last_words else { return (html, false) };
    let shown = text::cut_to_length(words, LAST_WORDS, Measure::Utf16);
    let is_cut = shown.len() < words.len();
    let html = html.content(HtmlStyle::Quote, shown.trim_end());
    (if is_cut { html.text("…\n") } else { html.text("\n") }, is_cut)
}

/// Adds the agent's questions with their answers. It uses few parts, since Telegram formats no more
/// than a hundred places in a message.
fn add_choices(mut html: Html, pickers: &[CardPicker], picks: &[Vec<u8>]) -> Html {
    for (at, picker) in pickers.iter().enumerate() {
        let number = if pickers.len() > 1 { format!("{}. ", at + 1) } else { String::new() };
        html = html.text("\n").content(HtmlStyle::Bold, &format!("{number}{}", picker.question));
        html = html.text(if picker.many { " (several)\n" } else { "\n" });
        let line = |(option, choice): (usize, &CardChoice)| {
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

/// Adds what each "always" would mean, if a button alone does not say it.
fn add_offers(mut html: Html, card: &Card) -> Html {
    if !card.pickers.is_empty() || !keyboard::need_words(&card.offers) {
        return html;
    }
    html = html.text("\nAlways:\n");
    for (at, CardOffer { meaning, lasts, .. }) in card.offers.iter().enumerate() {
        if card.offers.len() > 1 {
            html = html.text(&format!("{}. ", at + 1));
        }
        html = html.content(HtmlStyle::Code, meaning).text(" — ").content(HtmlStyle::Plain, lasts);
        html = html.text("\n");
    }
    html
}

fn add_deadline(html: Html, card: &Card) -> Html {
    html.text(&format!("\n⏳ Waits {}\n", card.deadline()))
}

/// Begins a message about a question, with the link by which replies are matched. It comes first,
/// because Telegram formats only the first hundred places of a message.
fn begin_message(id: &RequestId) -> Html {
    Html::new().unseen_link(&format!("{ADDRESS}{id}"))
}

pub(super) fn outcome_text(id: &RequestId, state: MarkState, text: &str) -> String {
    let html = begin_message(id).text(mark_icon(state)).content(HtmlStyle::Bold, text);
    html.render(MessageLimits::MESSAGE).html
}

/// Returns the message to which somebody is to reply with their words, or with the word that allows
/// the call.
pub(super) fn ask_words(
    card: &Card,
    chat: i64,
    presser: Option<&Presser>,
    purpose: ReplyPurpose,
) -> Value {
    let mut html = begin_message(&card.id).text("✍️ ");
    let in_group = presser.filter(|presser| !presser.private);
    if let Some(presser) = in_group {
        // The reply field opens only for a person who is mentioned.
        let address = format!("tg://user?id={}", presser.user);
        html = html.fixed(HtmlStyle::Link(&address), short_name(&presser.name)).text(", ");
    }
    let (request, placeholder) = match (purpose, &card.confirm) {
        (ReplyPurpose::Confirm, Some(word)) => {
            (format!("reply to this message with {} to allow:\n", word.hint()), word.hint())
        }
        (ReplyPurpose::Answer, _) => {
            ("reply to this message with your answer to:\n".to_owned(), "Your answer")
        }
        _ => (
            "reply to this message with what to tell the agent. It will not do:\n".to_owned(),
            "What to tell the agent",
        ),
    };
    html = html
        .text(&request)
        .content(HtmlStyle::Code, text::cut_to_length(&card.row.summary, 300, Measure::Utf16));
    let mut params = html_message(chat, &html.render(MessageLimits::MESSAGE).html);
    params["reply_markup"] = json!({
        "force_reply": true,
        "selective": in_group.is_some(),
        "input_field_placeholder": placeholder,
    });
    if let Some(message) = presser.and_then(|presser| presser.message) {
        params["reply_parameters"] =
            json!({"message_id": message, "allow_sending_without_reply": true});
    }
    params
}

/// Shortens a name. A blank one is replaced: it would leave an empty tag.
fn short_name(text: &str) -> &str {
    match text::cut_to_length(text, NAME, Measure::Utf16).trim() {
        "" => "?",
        name => name,
    }
}

fn short_folder(path: &str) -> String {
    let units = text::measured_length(path, Measure::Utf16);
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
