//! The terminal channel: shows one question at a time and takes keys as answers. Pure: what to
//! print comes out, and whoever has the terminal prints it.

mod page;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use callgate_wire::approval::{Action, RequestId};

use crate::card::Card;
use crate::channel::{Doing, Mark, News, Order, Place, Press, State, Who};
use page::Page;

/// The longest reply that can be typed, in bytes.
const LONGEST_LINE: usize = 4_096;

/// What a person typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// The end of a line.
    Enter,
    /// Take back the last character.
    Backspace,
    /// Never mind.
    Escape,
}

/// What the terminal shows and what its keys mean now.
#[derive(Debug)]
pub struct Terminal {
    name: String,
    page: Page,
    /// The first one is shown, the others wait.
    waiting: VecDeque<Waiting>,
    typing: Option<Typing>,
}

#[derive(Debug)]
struct Waiting {
    card: Arc<Card>,
    picks: Vec<Vec<u8>>,
}

/// Words that are being typed, and which question they are for.
#[derive(Debug)]
struct Typing {
    question: RequestId,
    words: String,
}

impl Terminal {
    /// A terminal at which `name` sits, with or without colours.
    #[must_use]
    pub fn new(name: &str, colours: bool) -> Self {
        Self {
            name: name.to_owned(),
            page: Page { colours },
            waiting: VecDeque::new(),
            typing: None,
        }
    }

    /// What an order makes the terminal print.
    pub fn order(&mut self, order: Order) -> String {
        match order {
            Order::Show { card, .. } => self.show(card),
            Order::Mark { card, mark, .. } => self.mark(&card, &mark),
            Order::Picked { card, picks, .. } => self.picked(&card.id, picks),
            Order::Tell { text, alert: true, .. } | Order::Say { text, .. } => text + "\n",
            // What was pressed here is marked in the same moment.
            Order::Tell { .. }
            | Order::Retire { .. }
            | Order::AskWords { .. }
            | Order::Full { .. } => String::new(),
        }
    }

    fn show(&mut self, card: Arc<Card>) -> String {
        if self.waiting.iter().any(|waiting| waiting.card.id == card.id) {
            return String::new();
        }
        let picks = vec![Vec::new(); card.pickers.len()];
        self.waiting.push_back(Waiting { card, picks });
        match self.waiting.len() {
            1 => self.first(),
            more => format!("({} more waiting)\n", more - 1),
        }
    }

    /// The question that is shown now, with its keys.
    fn first(&self) -> String {
        let Some(first) = self.waiting.front() else { return String::new() };
        self.page.question(&first.card, &first.picks, self.waiting.len() - 1)
    }

    fn mark(&mut self, card: &Card, mark: &Mark) -> String {
        let line = self.page.mark(card, mark);
        if mark.state == State::Waiting {
            return line;
        }
        let was_first = self.waiting.front().is_some_and(|first| first.card.id == card.id);
        self.waiting.retain(|waiting| waiting.card.id != card.id);
        if self.typing.as_ref().is_some_and(|typing| typing.question == card.id) {
            self.typing = None;
        }
        if was_first { line + &self.first() } else { line }
    }

    fn picked(&mut self, id: &RequestId, picks: Vec<Vec<u8>>) -> String {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.card.id == *id) else {
            return String::new();
        };
        self.waiting[at].picks = picks;
        if at == 0 { self.first() } else { String::new() }
    }

    /// What a key makes the terminal print, and what it means for the desk.
    pub fn key(&mut self, key: Key) -> (String, Option<News>) {
        if self.typing.is_some() {
            return self.typed(key);
        }
        let (Key::Char(key), Some(first)) = (key, self.waiting.front()) else {
            return (String::new(), None);
        };
        let card = Arc::clone(&first.card);
        match key.to_ascii_lowercase() {
            'r' => {
                self.typing = Some(Typing { question: card.id.clone(), words: String::new() });
                ("Your words to the agent (Enter sends, Esc goes back): ".to_owned(), None)
            }
            'f' => (self.page.full(&card), None),
            'n' => {
                self.waiting.rotate_left(1);
                (self.first(), None)
            }
            key => match action(&card, &first.picks, key) {
                Some(action) => {
                    (String::new(), Some(self.press(card.id.clone(), Press::Button(action))))
                }
                None => (self.page.keys(&card), None),
            },
        }
    }

    fn typed(&mut self, key: Key) -> (String, Option<News>) {
        let Some(typing) = &mut self.typing else { return (String::new(), None) };
        match key {
            Key::Char(c) if typing.words.len() < LONGEST_LINE => {
                typing.words.push(c);
                (c.to_string(), None)
            }
            Key::Char(_) => (String::new(), None),
            Key::Backspace => {
                let erased = typing.words.pop().map(|_| "\u{8} \u{8}".to_owned());
                (erased.unwrap_or_default(), None)
            }
            Key::Escape => {
                self.typing = None;
                ("\n".to_owned() + &self.first(), None)
            }
            Key::Enter => {
                let Some(Typing { question, words }) = self.typing.take() else {
                    return (String::new(), None);
                };
                if words.trim().is_empty() {
                    return ("\n".to_owned() + &self.first(), None);
                }
                ("\n".to_owned(), Some(self.press(question, Press::Words(words))))
            }
        }
    }

    fn press(&self, question: RequestId, press: Press) -> News {
        let who = Who { place: Place::Terminal, name: self.name.clone() };
        News::Pressed { who, question, press, doing: Doing::Key }
    }
}

/// What a key means for this question. Numbers choose answers where there are any, and offers
/// elsewhere.
fn action(card: &Card, picks: &[Vec<u8>], key: char) -> Option<Action> {
    let number = key.to_digit(10).and_then(|digit| u8::try_from(digit).ok()?.checked_sub(1));
    match (key, number) {
        ('a', _) if card.pickers.is_empty() => Some(Action::Allow),
        ('d', _) => Some(Action::Deny),
        ('s', _) if card.can_stop => Some(Action::Stop),
        ('o', _) if !card.pickers.is_empty() => Some(Action::Done),
        (_, Some(option)) if !card.pickers.is_empty() => {
            let question = page::at(picks);
            let picker = card.pickers.get(question)?;
            let question = u8::try_from(question).ok()?;
            (usize::from(option) < picker.choices.len())
                .then_some(Action::Pick { question, option })
        }
        (_, Some(offer)) if usize::from(offer) < card.offers.len() => Some(Action::Always(offer)),
        _ => None,
    }
}
