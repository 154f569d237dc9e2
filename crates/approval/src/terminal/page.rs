//! How questions look on a terminal.

use std::fmt::Write as _;

use callgate_mask::text;
use callgate_wire::desk::{CardContent, InboxRow};

use crate::card::{BlockedCall, Card, HIDDEN_COULD_RUN};
use crate::channel::{MarkState, QuestionMark};

/// How many lines of a question are shown at first, and how many of them are its last.
const MOST_LINES: usize = 16;
const LAST_LINES: usize = 5;

/// How many characters of a line are shown at first, and how many of them are its last.
const WIDEST_LINE: usize = 300;
const LAST_CHARS: usize = 100;

/// The space between two keys.
const GAP: &str = "   ";

#[derive(Debug)]
pub(super) struct TerminalPage {
    pub(super) colours: bool,
    pub(super) width: usize,
}

/// Returns which of the agent's questions the number keys answer now: the first without an answer.
pub(super) fn current_picker(picks: &[Vec<u8>]) -> usize {
    picks.iter().position(Vec::is_empty).unwrap_or(picks.len().saturating_sub(1))
}

pub(super) fn choice_count(card: &Card, question: usize) -> usize {
    card.pickers.get(question).map_or(0, |picker| picker.choices.len())
}

impl TerminalPage {
    fn bold(&self, text: &str) -> String {
        if self.colours { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Breaks a text between words. What would run is never broken: it is shown as it is.
    fn wrapped(&self, text: &str) -> String {
        text::wrap_text(text, self.width, 0)
    }

    /// Renders keys with their meanings, as many on a line as fit.
    fn key_lines(&self, keys: &[(String, String)]) -> String {
        let (mut lines, mut used) = (String::new(), 0);
        for (key, means) in keys {
            let length = key.chars().count() + 1 + means.chars().count();
            if used > 0 && used + GAP.len() + length > self.width {
                lines.push('\n');
                used = 0;
            } else if used > 0 {
                lines.push_str(GAP);
                used += GAP.len();
            }
            // Writing to a string cannot fail.
            let _ = write!(lines, "{} {means}", self.bold(key));
            used += length;
        }
        lines + "\n"
    }

    pub(super) fn render_question(
        &self,
        card: &Card,
        picks: &[Vec<u8>],
        is_seen: bool,
        more: usize,
    ) -> String {
        let mut page = format!("\n{}\n", self.bold(&self.wrapped(&brief_text(&card_title(card)))));
        push_line(&mut page, &self.wrapped(&session_line(card)));
        page += &self.last_words(card);
        let blocked = card.blocked.as_ref().and_then(|blocked| blocked.reason.as_ref());
        if let Some(reason) = blocked {
            push_line(&mut page, &self.wrapped(&brief_text(&format!("because {reason}"))));
        }
        if let Some(because) = &card.row.because {
            push_line(&mut page, &self.wrapped(&brief_text(&text::one_line(because))));
        }
        if let Some(demand) = card.row.demand_text() {
            push_line(&mut page, &self.bold(&self.wrapped(&demand)));
        }
        if card.hides_what_runs {
            push_line(&mut page, &self.bold(&self.wrapped(HIDDEN_COULD_RUN)));
        }
        if let Some(fails_open) = &card.fails_open {
            push_line(&mut page, &self.wrapped(fails_open));
        }
        let mut body = card_body(card);
        // Nothing of it would run, so it may be broken between words.
        if let CardContent::Ask { .. } = card.body {
            // Two columns less, because its lines are indented.
            body = text::wrap_text(&body, self.width.saturating_sub(2), 0);
        }
        let lines: Vec<&str> = body.lines().collect();
        let left_out = lines.len().saturating_sub(MOST_LINES);
        let first = if left_out > 0 { MOST_LINES - LAST_LINES } else { lines.len() };
        for shown in &lines[..first] {
            cut_line(&mut page, shown);
        }
        if left_out > 0 {
            let (lines, them) = if left_out == 1 { ("line", "it") } else { ("lines", "them") };
            push_line(&mut page, &format!("  … {left_out} more {lines}: f shows {them}"));
        }
        for shown in &lines[first + left_out..] {
            cut_line(&mut page, shown);
        }
        page += &render_choices(card, picks);
        page += &self.render_keys(card, picks, is_seen);
        if more > 0 {
            push_line(&mut page, &format!("({more} more waiting; n shows the next)"));
        }
        page
    }

    /// Renders the keys that answer a question.
    pub(super) fn render_keys(&self, card: &Card, picks: &[Vec<u8>], is_seen: bool) -> String {
        let key = |key: &str, means: &str| (key.to_owned(), means.to_owned());
        let can_allow = is_seen || !is_cut(card);
        if card.blocked.is_some() {
            let allow =
                if card.confirm.is_some() { "confirm: type a word, then yes" } else { "yes" };
            let yes = if can_allow { key("a", allow) } else { key("f", "show all, to allow it") };
            return format!("Let it try again?{GAP}{}", self.key_lines(&[yes, key("d", "no")]));
        }
        let mut keys = Vec::new();
        if card.pickers.is_empty() && !can_allow {
            keys.push(key("f", "show all, to allow it"));
        } else if card.pickers.is_empty() {
            let allow =
                if card.confirm.is_some() { "confirm: type a word, then allow" } else { "allow" };
            keys.push(key("a", allow));
            for (number, offer) in (1..10).zip(&card.offers) {
                let means = format!("always: {} ({})", offer.meaning, offer.lasts);
                keys.push(key(&number.to_string(), &text::one_line(&means)));
            }
        } else {
            // A number of two digits needs an end, which Enter is.
            match choice_count(card, current_picker(picks)) {
                0..10 => keys.push(key("1-9", "choose")),
                count => keys.push(key(&format!("1-{count}"), "and Enter, choose")),
            }
            if card.pickers.len() > 1 || card.pickers[0].many {
                keys.push(key("o", "done"));
            }
        }
        keys.push(key("d", "deny"));
        if card.can_stop {
            keys.push(key("s", "deny and stop"));
        }
        if !card.refuses_words() {
            keys.push(key("r", if card.takes_words { "answer in words" } else { "reply" }));
        }
        self.key_lines(&keys)
    }

    /// Renders the agent's last words, if there are any.
    pub(super) fn last_words(&self, card: &Card) -> String {
        let mut lines = String::new();
        if let Some(words) = &card.last_words {
            push_line(
                &mut lines,
                &self.wrapped(&format!("“{}”", brief_text(&text::one_line(words)))),
            );
        }
        lines
    }

    pub(super) fn render_in_full(&self, card: &Card, picks: &[Vec<u8>]) -> String {
        // Everything is shown now, so the keys may allow it.
        let (title, keys) = (self.bold(&card_title(card)), self.render_keys(card, picks, true));
        format!("\n{title}\n{}\n{}\n{keys}", session_line(card), card_body(card))
    }

    pub(super) fn render_mark(&self, card: &Card, mark: &QuestionMark) -> String {
        let (sign, colour) = match mark.state {
            MarkState::Allowed => ("✓", "32"),
            MarkState::Denied => ("✗", "31"),
            MarkState::Waiting | MarkState::Settled | MarkState::Expired | MarkState::Gone => {
                ("·", "33")
            }
        };
        let sign =
            if self.colours { format!("\u{1b}[{colour}m{sign}\u{1b}[0m") } else { sign.to_owned() };
        let outcome = text::one_line(mark.text.trim_end_matches('.'));
        format!("{sign} {outcome}: {}\n", brief_text(&card.row.summary))
    }

    /// Renders a line about a run, no wider than the terminal.
    pub(super) fn render_note(&self, note: &str) -> String {
        let line = format!("· {}", text::one_line(note));
        let shown = text::fit_columns(&line, self.width);
        if self.colours { format!("\u{1b}[2m{shown}\u{1b}[0m\n") } else { format!("{shown}\n") }
    }
}

/// Says which session asks, and how long the question waits.
fn session_line(card: &Card) -> String {
    let session = text::one_line(card.short_session().trim()).into_owned();
    let session = if session.is_empty() { String::new() } else { format!("session {session} · ") };
    format!("{session}waits {}", card.deadline())
}

fn push_line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

/// Returns true if a question is shown without a part of what would be done.
pub(super) fn is_cut(card: &Card) -> bool {
    let body = card_body(card);
    body.lines().nth(MOST_LINES).is_some()
        || body.lines().any(|line| !split_at_limit(line).1.is_empty())
}

/// Adds a line, or its beginning, how much is missing, and its end.
fn cut_line(page: &mut String, text: &str) {
    let (_, rest) = split_at_limit(text);
    if rest.is_empty() {
        return push_line(page, &format!("  {text}"));
    }
    let all = text.chars().count();
    let place = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (place(WIDEST_LINE - LAST_CHARS), place(all - LAST_CHARS));
    push_line(page, &format!("  {}", &text[..head]));
    push_line(page, &format!("  … {} more characters: f shows them", all - WIDEST_LINE));
    push_line(page, &format!("  {}", &text[tail..]));
}

fn split_at_limit(text: &str) -> (&str, &str) {
    let end = text.char_indices().nth(WIDEST_LINE).map_or(text.len(), |(end, _)| end);
    text.split_at(end)
}

/// Shortens a text that is shown beside the question itself.
fn brief_text(text: &str) -> String {
    let (shown, rest) = split_at_limit(text);
    if rest.is_empty() { shown.to_owned() } else { format!("{shown}…") }
}

fn card_title(card: &Card) -> String {
    let InboxRow { agent, tool, .. } = &card.row;
    let place = card.row.shown_place();
    let is_command = matches!(card.body, CardContent::Command { .. });
    let title = match &card.blocked {
        Some(BlockedCall { by, .. }) => {
            let what = if is_command { "a command" } else { tool };
            format!("{agent} in {place}: {by} blocked {what}")
        }
        None => format!("{agent} {} in {place}", card.intent_text()),
    };
    text::one_line(&title).into_owned()
}

fn card_body(card: &Card) -> String {
    let text = card.body.text();
    match card.body.path() {
        Some(path) => format!("{path}\n{text}"),
        // Several questions are shown with their answers.
        None if card.pickers.len() > 1 => String::new(),
        None => text,
    }
}

/// Renders the answers to choose from. Those that the number keys choose now have their numbers.
fn render_choices(card: &Card, picks: &[Vec<u8>]) -> String {
    let mut page = String::new();
    let now = current_picker(picks);
    for (question, picker) in card.pickers.iter().enumerate() {
        if card.pickers.len() > 1 {
            push_line(&mut page, &format!("  {}", text::one_line(&picker.question)));
        }
        for (number, choice) in (0_u8..).zip(&picker.choices) {
            let is_picked = picks.get(question).is_some_and(|picks| picks.contains(&number));
            let sign = if is_picked { "✓" } else { " " };
            let width = if picker.choices.len() > 9 { 2 } else { 1 };
            let key = if question == now { (number + 1).to_string() } else { String::new() };
            // Writing to a string cannot fail.
            let _ = write!(page, "  {sign} {key:>width$} {}", text::one_line(&choice.label));
            if let Some(description) = &choice.description {
                let _ = write!(page, ": {}", text::one_line(description));
            }
            page.push('\n');
        }
    }
    page
}
