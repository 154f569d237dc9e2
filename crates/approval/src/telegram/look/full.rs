//! A question in full, for people who want to read what was cut.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::telegram::html::{HtmlStyle, MessageLimits};
use callgate_mask::text;
use callgate_wire::desk::CardContent;
use serde_json::{Map, Value};

use super::{begin_message, html_message};
use crate::card::{Card, HIDDEN_COULD_RUN};

/// The most pages; a longer question is sent as a file.
const MOST_PAGES: usize = 4;
/// The room on a page below its heading, in UTF-16 units.
const PAGE: usize = 3_900;

#[derive(Debug, Clone, PartialEq)]
pub(in crate::telegram) enum FullQuestion {
    /// As messages, to be sent in order.
    Pages(Vec<Value>),
    File {
        name: String,
        content: String,
        /// The caption, in HTML.
        caption: String,
    },
}

pub(in crate::telegram) fn full_question(card: &Card, chat: i64) -> FullQuestion {
    let content = card_text(card);
    let pages = text::split_pages(&content, PAGE);
    if pages.len() > MOST_PAGES {
        let short = &card.id.as_str()[..8];
        let caption = begin_message(&card.id).text("All of it");
        let caption = caption.render(MessageLimits { utf16: 1024, ..MessageLimits::MESSAGE }).html;
        return FullQuestion::File { name: format!("question-{short}.txt"), content, caption };
    }
    let count = pages.len();
    let page = |(at, page): (usize, &&str)| {
        let html = begin_message(&card.id)
            .text(&format!("Page {} of {count}\n", at + 1))
            .content(HtmlStyle::Pre(None), page);
        html_message(chat, &html.render(MessageLimits::MESSAGE).html)
    };
    FullQuestion::Pages(pages.iter().enumerate().map(page).collect())
}

fn card_text(card: &Card) -> String {
    let mut out = String::new();
    let mut add = |title: &str, content: &str| {
        if !content.trim().is_empty() {
            let _ = write!(out, "{title}:\n{content}\n\n");
        }
    };
    add("Agent", &card.row.agent);
    add("Folder", &card.row.project);
    add("Machine", card.row.machine.as_deref().unwrap_or_default());
    add("Session", &card.row.session);
    add("Last words", card.last_words.as_deref().unwrap_or_default());
    add("Tool", &card.row.tool);
    for (title, content) in content_parts(card) {
        add(title, &content);
    }
    for picker in &card.pickers {
        let choices = picker.choices.iter().map(|choice| match &choice.description {
            Some(description) => format!("- {}: {description}", choice.label),
            None => format!("- {}", choice.label),
        });
        add(&picker.question, &choices.collect::<Vec<_>>().join("\n"));
    }
    add("Hidden", if card.hides_what_runs { HIDDEN_COULD_RUN } else { "" });
    add("Without an answer", card.fails_open.as_deref().unwrap_or_default());
    add("Because", card.row.because.as_deref().unwrap_or_default());
    for (at, offer) in card.offers.iter().enumerate() {
        add(&format!("Always {}", at + 1), &format!("{}\n{}", offer.meaning, offer.lasts));
    }
    // The body of these two is the input itself.
    if !matches!(card.body, CardContent::Other { .. } | CardContent::Mcp { .. }) {
        add("The rest of the input", &rest_of_input(card));
    }
    out
}

/// Returns what the input has besides what is shown, as JSON.
fn rest_of_input(card: &Card) -> String {
    // What cannot be compared with what is shown is repeated whole, rather than left out.
    let Ok(members) = serde_json::from_str::<Map<String, Value>>(&card.input) else {
        return card.input.clone();
    };
    let parts: Vec<String> = content_parts(card).into_iter().map(|(_, content)| content).collect();
    let mut shown: HashSet<&str> = parts.iter().map(String::as_str).collect();
    // A line of a diff has its sign before it.
    let lines = parts.iter().flat_map(|part| part.lines()).filter_map(|line| line.get(1..));
    shown.extend(lines.filter(|_| matches!(card.body, CardContent::Edit { .. })));
    for picker in &card.pickers {
        let choices = picker.choices.iter();
        let texts = choices.flat_map(|it| [Some(&it.label), it.description.as_ref()]);
        shown.extend(texts.flatten().chain([&picker.question]).map(String::as_str));
    }
    let is_command = |(name, value): &(String, Value)| {
        matches!(name.as_str(), "command" | "args") && is_in_words(value, &parts)
    };
    let members = members.into_iter().filter(|member| !is_command(member)).collect();
    without_shown(Value::Object(members), &shown).map(|rest| rest.to_string()).unwrap_or_default()
}

/// Returns a value without the texts that are shown, if anything is left of it.
fn without_shown(value: Value, shown: &HashSet<&str>) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => {
            let is_shown = shown.contains(&*text) || text.lines().all(|line| shown.contains(line));
            (!is_shown).then_some(Value::String(text))
        }
        Value::Array(values) => {
            let left: Vec<Value> =
                values.into_iter().filter_map(|value| without_shown(value, shown)).collect();
            (!left.is_empty()).then_some(Value::Array(left))
        }
        Value::Object(members) => {
            let left: Map<String, Value> = members
                .into_iter()
                .filter_map(|(name, value)| Some((name, without_shown(value, shown)?)))
                .collect();
            (!left.is_empty()).then_some(Value::Object(left))
        }
        value => Some(value),
    }
}

/// Returns true if these are the words of a command that is shown.
fn is_in_words(value: &Value, parts: &[String]) -> bool {
    let Value::Array(words) = value else { return false };
    parts.iter().any(|part| {
        let mut words = words.iter().map(Value::as_str);
        words.all(|word| word.is_some_and(|word| part.contains(word)))
    })
}

fn content_parts(card: &Card) -> Vec<(&str, String)> {
    if let CardContent::Command { description, .. } = &card.body {
        let description = description.clone().unwrap_or_default();
        return vec![("For", description), ("Command", card.body.command())];
    }
    let path = card.body.path().map(|path| ("File", path.to_owned()));
    path.into_iter().chain([(card.row.deed.as_str(), card.body.text())]).collect()
}
