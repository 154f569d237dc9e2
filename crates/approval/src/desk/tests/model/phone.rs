//! What people do on their phones.

use callgate_wire::approval::{Action, Decision, Press, RequestId};

use super::World;
use crate::channel::{ChannelReport, ReplyTo};
use crate::desk::question::Occasion;
use crate::desk::tests::naive::Judge;
use crate::desk::tests::{ada, stranger};
use crate::desk::{DeskInput, Ruling};

/// Something that somebody has pressed or written, until the daemon has confirmed it: Telegram
/// keeps it.
#[derive(Clone)]
pub(super) struct Update {
    number: usize,
    question: RequestId,
    act: PhoneAct,
    is_ada: bool,
}

/// What somebody does on a phone.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum PhoneAct {
    /// They press a button.
    Press(Action),
    /// They reply, with the last word of the command or with another one.
    Reply { is_word: bool },
}

impl<J: Judge> World<J> {
    pub(super) fn press(&mut self) {
        if self.on_phone.is_empty() {
            return;
        }
        let which = usize::try_from(self.chance(self.on_phone.len() as u64)).unwrap();
        let question = self.on_phone[which].clone();
        let acts = [Action::Allow, Action::Deny, Action::Allow, Action::Stop].map(PhoneAct::Press);
        let mut act = acts[usize::try_from(self.chance(4)).unwrap()];
        if self.needs_word(&question) && self.chance(2) == 0 {
            act = PhoneAct::Reply { is_word: self.chance(2) == 0 };
        }
        let is_ada = self.chance(5) > 0;
        self.pressed += 1;
        self.updates.push_back(Update { number: self.pressed, question, act, is_ada });
    }

    /// The channel hands on a press; it is confirmed only once the desk has committed it.
    pub(super) fn update(&mut self) {
        let Some(update) = self.updates.front().cloned() else { return };
        let who = if update.is_ada { ada() } else { stranger() };
        let decision = self.meaning(&update);
        let could_count = update.is_ada && self.awaits(&update.question);
        let was_decided = self.is_decided(&update.question);
        let press = match update.act {
            PhoneAct::Press(action) => Press::Button(action),
            PhoneAct::Reply { is_word } => Press::Words(self.word(&update.question, is_word)),
        };
        let reply_to = ReplyTo::Callback(update.number.to_string());
        let question = update.question.clone();
        let is_committed = self.handle(DeskInput::News(ChannelReport::Pressed {
            who,
            question,
            press,
            confirm: None,
            reply_to,
            copy: None,
        }));
        if is_committed {
            self.updates.pop_front();
            let Some(decision) = decision else { return };
            if !was_decided && self.is_decided(&update.question) {
                self.said(&update.question, decision);
            }
            if could_count {
                self.first.entry(update.question).or_insert(decision);
            }
        }
    }

    /// What an act of Ada means. To a blocked call there is only yes and no; what a rule wants
    /// confirmed is allowed by its word alone, once that was asked for.
    fn meaning(&self, update: &Update) -> Option<Decision> {
        let hook = self.hook(&update.question);
        let is_blocked = hook.is_some_and(|hook| hook.occasion == Occasion::Blocked);
        match update.act {
            PhoneAct::Press(Action::Allow) if self.needs_word(&update.question) => None,
            PhoneAct::Press(Action::Allow) => Some(Decision::Allow),
            PhoneAct::Press(Action::Stop) if is_blocked => None,
            PhoneAct::Press(_) => Some(Decision::Deny),
            PhoneAct::Reply { is_word } if self.is_word_asked_for(&update.question) => {
                is_word.then_some(Decision::Allow)
            }
            PhoneAct::Reply { .. } => (!is_blocked).then_some(Decision::Deny),
        }
    }

    fn needs_word(&self, id: &RequestId) -> bool {
        self.hook(id).is_some_and(|hook| matches!(hook.ruling, Ruling::AtDesk { .. }))
    }

    /// The last word of a question's command, or another one.
    fn word(&self, id: &RequestId, is_right: bool) -> String {
        let last = self.hook(id).and_then(|hook| hook.call.split(' ').next_back());
        if is_right { last.unwrap_or_default().to_owned() } else { "yes".to_owned() }
    }

    /// Whether an allow was pressed that the desk answered by asking for the word.
    fn is_word_asked_for(&self, id: &RequestId) -> bool {
        let asks = |entry: &callgate_store::LedgerEntry| {
            entry.kind == "pressed" && entry.body.contains("unconfirmed")
        };
        self.ledger.of(id).iter().any(asks)
    }
}
