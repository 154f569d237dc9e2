//! The terminal channel: shows one question at a time and takes keys as answers. Pure: it returns
//! what to print, and its caller prints it and passes the time.
//!
//! A key answers only what somebody can have seen: not a question that has just replaced another
//! one, and not by a paste, a held key, or words that were meant for another question.

mod page;
#[cfg(test)]
mod tests;
mod typing;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use callgate_mask::text::one_line;
use callgate_wire::approval::{Action, Press, RequestId};
use callgate_wire::desk::InboxRow;

use crate::card::Card;
use crate::channel::{ChannelOrder, ChannelReport, Person, PersonPlace, QuestionMark, ReplyTo};
use page::TerminalPage;
use typing::{TypedMeaning, TypedReply};

/// The width of a terminal that does not report one.
const WIDTH: usize = 80;

/// How long a question is on the screen before keys count: a key meant for the question before it
/// has been pressed by then.
pub const PAUSE: Duration = Duration::from_millis(700);

/// A key that is repeated within this time is held down. Keyboards repeat at least ten times a
/// second.
const HELD: Duration = Duration::from_millis(150);

/// The note for a person who types a reply to a question that has been closed.
const NOWHERE: &str =
    "The question you are replying to is closed: your words are not sent. Press Enter or Esc.\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalKey {
    Char(char),
    /// A character of a pasted text: it may be part of a reply, but is not a key.
    Pasted(char),
    Enter,
    Backspace,
    Escape,
}

/// The terminal channel: what is shown, and what keys mean now.
#[derive(Debug)]
pub struct Terminal {
    name: String,
    page: TerminalPage,
    /// The open questions; the first one is shown, the others wait.
    waiting: VecDeque<WaitingCard>,
    typing: Option<TypedReply>,
    /// When keys begin to count.
    keys_from: Duration,
    /// Whether the current question is not printed yet.
    is_unseen: bool,
    /// The last key that came too early, and when.
    ignored: Option<(TerminalKey, Duration)>,
    /// How many lines were held back so that they do not push a question off the screen.
    held_notes: usize,
}

#[derive(Debug)]
struct WaitingCard {
    card: Arc<Card>,
    picks: Vec<Vec<u8>>,
    /// Whether all of it was shown; a question that was cut cannot be allowed before.
    is_seen: bool,
}

/// Names an open question on one line: who asks, where, and about what.
pub fn question_line(row: &InboxRow) -> String {
    let InboxRow { agent, summary, .. } = row;
    one_line(&format!("{agent} in {}: {summary}", row.shown_place())).into_owned()
}

impl Terminal {
    /// Makes a terminal at which `name` sits, with or without colours.
    pub fn new(name: &str, colours: bool) -> Self {
        Self {
            name: name.to_owned(),
            page: TerminalPage { colours, width: WIDTH },
            waiting: VecDeque::new(),
            typing: None,
            keys_from: Duration::ZERO,
            is_unseen: false,
            ignored: None,
            held_notes: 0,
        }
    }

    pub fn set_width(&mut self, columns: usize) {
        self.page.width = columns;
    }

    /// Returns the current question again, for a screen that has shown something else meanwhile,
    /// with what somebody is typing.
    pub fn redraw(&mut self, now: Duration) -> String {
        if self.waiting.is_empty() {
            return String::new();
        }
        let question = self.render_next(now);
        let typing = self.typing.as_ref().filter(|typing| !typing.is_over);
        question + &typing.map(|typing| self.typing_prompt(typing)).unwrap_or_default()
    }

    /// Returns the open questions, each on one line.
    pub fn open_questions(&self) -> impl Iterator<Item = String> {
        self.waiting.iter().map(|waiting| question_line(&waiting.card.row))
    }

    /// Carries out an order and returns what to print. `now` is the time since a fixed moment.
    pub fn handle_order(&mut self, now: Duration, order: ChannelOrder) -> String {
        let printed = self.render_order(now, order);
        printed + &self.held_back()
    }

    fn render_order(&mut self, now: Duration, order: ChannelOrder) -> String {
        match order {
            ChannelOrder::Show { card, .. } => self.show_card(now, card),
            ChannelOrder::Mark { card, mark, .. } => self.mark_card(now, &card, &mark),
            ChannelOrder::Redraw { card, picks, .. } => self.renew_card(now, card, picks),
            ChannelOrder::Tell { text, alert: true, .. } => one_line(&text).into_owned() + "\n",
            // The text may contain words of an agent, which must not be taken for the question: it
            // is shown again below them.
            ChannelOrder::Say { text, .. } => format!("{}\n{}", one_line(&text), self.redraw(now)),
            ChannelOrder::Note { line } => self.render_note(&line),
            // A press at this terminal is marked at once.
            ChannelOrder::Tell { .. }
            | ChannelOrder::Retire { .. }
            | ChannelOrder::AskWords { .. }
            | ChannelOrder::Full { .. } => String::new(),
        }
    }

    /// Returns a line about a run, or holds it back while there is a question on the screen.
    fn render_note(&mut self, line: &str) -> String {
        if self.is_busy() {
            self.held_notes += 1;
            return String::new();
        }
        self.held_back() + &self.page.render_note(line)
    }

    /// Returns a line about the lines that were held back, once no question is open.
    fn held_back(&mut self) -> String {
        if self.held_notes == 0 || self.is_busy() {
            return String::new();
        }
        let count = std::mem::take(&mut self.held_notes);
        self.page.render_note(&format!("{count} ran meanwhile (callgate log shows them)"))
    }

    fn is_busy(&self) -> bool {
        !self.waiting.is_empty() || self.typing.is_some()
    }

    /// Notes that everything is on the screen by `now`: a stopped terminal shows a question later
    /// than it came.
    pub fn mark_printed(&mut self, now: Duration) {
        if self.is_unseen {
            self.pause_keys(now);
            self.is_unseen = false;
        }
    }

    fn pause_keys(&mut self, now: Duration) {
        self.keys_from = now.saturating_add(PAUSE);
        self.is_unseen = true;
    }

    fn show_card(&mut self, now: Duration, card: Arc<Card>) -> String {
        if self.waiting.iter().any(|waiting| waiting.card.id == card.id) {
            return String::new();
        }
        let picks = vec![Vec::new(); card.pickers.len()];
        self.waiting.push_back(WaitingCard { card, picks, is_seen: false });
        match self.waiting.len() {
            1 => self.render_next(now),
            more => format!("({} more waiting)\n", more - 1),
        }
    }

    /// Returns the current question, with its keys.
    fn render_first(&self) -> String {
        let Some(first) = self.waiting.front() else { return String::new() };
        self.page.render_question(&first.card, &first.picks, first.is_seen, self.waiting.len() - 1)
    }

    /// Returns the question that is now the current one.
    fn render_next(&mut self, now: Duration) -> String {
        self.pause_keys(now);
        let over = self.typing.as_ref().filter(|typing| typing.is_over);
        self.render_first() + over.map_or("", |_| NOWHERE)
    }

    fn mark_card(&mut self, now: Duration, card: &Card, mark: &QuestionMark) -> String {
        let line = self.page.render_mark(card, mark);
        let was_first = self.waiting.front().is_some_and(|first| first.card.id == card.id);
        self.waiting.retain(|waiting| waiting.card.id != card.id);
        let typing = self.typing.as_mut().filter(|typing| typing.question == card.id);
        // The mark begins on a line of its own, not after the typed words.
        let line = if typing.is_some() { "\n".to_owned() + &line } else { line };
        if let Some(typing) = typing {
            typing.is_over = true;
        }
        if was_first { line + &self.render_next(now) } else { line }
    }

    fn renew_card(&mut self, now: Duration, card: Arc<Card>, picks: Vec<Vec<u8>>) -> String {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.card.id == card.id) else {
            return String::new();
        };
        let waiting = &mut self.waiting[at];
        let before = std::mem::replace(&mut waiting.card, card);
        let picks_before = std::mem::replace(&mut waiting.picks, picks);
        let is_allowed_by_other = before.row.allowed_by != waiting.card.row.allowed_by;
        if at > 0 {
            return String::new();
        }
        if is_allowed_by_other {
            return self.redraw(now);
        }
        if waiting.picks == picks_before {
            let is_new = before.last_words != waiting.card.last_words && self.typing.is_none();
            return if is_new { self.page.last_words(&waiting.card) } else { String::new() };
        }
        // The number keys now choose among other answers.
        if page::current_picker(&picks_before) != page::current_picker(&waiting.picks) {
            self.pause_keys(now);
        }
        self.render_first()
    }

    /// Returns true if the letter keys that answer no question may do something else: nobody types
    /// a reply or chooses among answers.
    pub fn is_free(&self) -> bool {
        let has_pickers = |first: &WaitingCard| !first.card.pickers.is_empty();
        self.typing.is_none() && !self.waiting.front().is_some_and(has_pickers)
    }

    /// Handles a key. Returns what to print, and news for the desk. `now` is on the clock of
    /// [`Terminal::handle_order`].
    pub fn handle_key(
        &mut self,
        now: Duration,
        key: TerminalKey,
    ) -> (String, Option<ChannelReport>) {
        if self.typing.is_some() {
            return self.handle_typed_key(now, key);
        }
        if self.is_early(now, key) {
            return (String::new(), None);
        }
        let (TerminalKey::Char(key), Some(first)) = (key, self.waiting.front()) else {
            return (String::new(), None);
        };
        let card = Arc::clone(&first.card);
        match key {
            'r' if !card.refuses_words() => {
                (self.begin_typing(card.id.clone(), "", TypedMeaning::Words), None)
            }
            'f' => {
                let full = self.page.render_in_full(&card, &first.picks);
                if let Some(first) = self.waiting.front_mut() {
                    first.is_seen = true;
                }
                // Nobody has read it yet.
                self.pause_keys(now);
                (full, None)
            }
            'n' => {
                self.waiting.rotate_left(1);
                (self.render_next(now), None)
            }
            '1'..='9' if page::choice_count(&card, page::current_picker(&first.picks)) > 9 => {
                let meaning = TypedMeaning::Number { picker: page::current_picker(&first.picks) };
                (self.begin_typing(card.id.clone(), &key.to_string(), meaning), None)
            }
            key => match action_of_key(&card, &first.picks, key) {
                Some(Action::Allow | Action::Always(_))
                    if !first.is_seen && page::is_cut(&card) =>
                {
                    (
                        "Not all of it is shown: f shows it, then it can be allowed.\n".to_owned(),
                        None,
                    )
                }
                Some(Action::Allow) if card.confirm.is_some() => {
                    (self.begin_typing(card.id.clone(), "", TypedMeaning::Confirm), None)
                }
                Some(action) => (
                    String::new(),
                    Some(self.press_news(card.id.clone(), Press::Button(action), None)),
                ),
                None => (self.page.render_keys(&card, &first.picks, first.is_seen), None),
            },
        }
    }

    /// Returns true if a key was pressed before anybody can have seen the question, or is held down
    /// since.
    fn is_early(&mut self, now: Duration, key: TerminalKey) -> bool {
        let is_held =
            self.ignored.is_some_and(|(last, at)| last == key && now.saturating_sub(at) < HELD);
        let is_early = now < self.keys_from || is_held;
        // Each repetition counts from here: a key that is held down stays early until it is let go.
        self.ignored = is_early.then_some((key, now));
        is_early
    }

    fn press_news(
        &self,
        question: RequestId,
        press: Press,
        confirm: Option<String>,
    ) -> ChannelReport {
        let who = Person::new(PersonPlace::Terminal, self.name.clone());
        ChannelReport::Pressed { who, question, press, confirm, reply_to: ReplyTo::Key, copy: None }
    }
}

/// Returns what a key means for this question. Numbers choose answers if there are any, and offers
/// otherwise.
fn action_of_key(card: &Card, picks: &[Vec<u8>], key: char) -> Option<Action> {
    let number = key.to_digit(10).and_then(|digit| u8::try_from(digit).ok()?.checked_sub(1));
    match (key, number) {
        ('a', _) if card.pickers.is_empty() => Some(Action::Allow),
        ('d', _) => Some(Action::Deny),
        ('s', _) if card.can_stop => Some(Action::Stop),
        ('o', _) if !card.pickers.is_empty() => Some(Action::Done),
        (_, Some(option)) if !card.pickers.is_empty() => {
            let question = page::current_picker(picks);
            let picker = card.pickers.get(question)?;
            let question = u8::try_from(question).ok()?;
            (usize::from(option) < picker.choices.len())
                .then_some(Action::Pick { question, option })
        }
        (_, Some(offer)) if usize::from(offer) < card.offers.len() => Some(Action::Always(offer)),
        _ => None,
    }
}
