//! What people do about questions.

use std::sync::Arc;

use callgate_wire::approval::{Action, Decision, Press, Request, RequestId};

use super::answer::{fits, tell};
use super::question::{Decided, Occasion, Open, With};
use super::{Desk, LONGEST_WORDS, Output, Step, record};
use crate::card::{Card, picks};
use crate::channel::{Doing, Order, Place, Who};

const STRANGER: &str = "You may not answer here. To link this chat, run `callgate pair`.";
/// Who decides when the asker's own front end does.
const OWN: &str = "its own front end";
const UNKNOWN: &str = "This question is no longer open.";

/// What a press comes to.
enum Meaning {
    /// A decision.
    Decide(Decision, With),
    /// A choice on the way to one.
    Pick(u8, u8),
    /// The words are asked for.
    AskWords,
    /// The whole question is shown.
    Full,
    /// Nothing, and why.
    Nothing(&'static str),
}

impl Desk {
    pub(super) fn pressed(
        &mut self,
        step: &mut Step,
        who: &Who,
        id: &RequestId,
        press: Press,
        doing: &Doing,
    ) {
        let action = name_of(&press);
        let own = self.is_own(who, id).then(|| Who { name: OWN.to_owned(), ..who.clone() });
        let is_own = own.is_some();
        let who = own.as_ref().unwrap_or(who);
        if !is_own && !self.authority.allows(who) {
            // Every viewer may see what became of a question; its own asker may press late.
            if matches!(who.place, Place::Viewer { .. }) && self.past.get(id).is_some() {
                return tell(step, Some(doing), false, &self.too_late(id));
            }
            if self.strangers.take(step.now) {
                let question = self.open.contains_key(id).then_some(id);
                step.note("pressed", question, &record::pressed(who, &action, "stranger"));
            }
            return tell(step, Some(doing), false, STRANGER);
        }
        let is_open = self.open.get(id).is_some_and(|open| open.decided.is_none());
        if !is_open {
            let text = self.too_late(id);
            step.note("pressed", self.known(id), &record::pressed(who, &action, "late"));
            return tell(step, Some(doing), false, &text);
        }
        if let Some(why) = self.not_yet(step.now, who, id, &press) {
            step.record("pressed", id, &record::pressed(who, &action, "not yet"));
            return tell(step, Some(doing), false, &why);
        }
        match self.meaning(id, press) {
            Meaning::Decide(Decision::Deny, _) if self.is_own_removal(id, who) => {
                step.record("pressed", id, &record::pressed(who, &action, "nothing"));
                let why = "It is your own link: only others can keep it.";
                tell(step, Some(doing), false, why);
            }
            Meaning::Decide(decision, with) => {
                self.decide_by(step, who, id, doing, decision, with, &action);
            }
            Meaning::Pick(question, option) => {
                step.record("pressed", id, &record::pressed(who, &action, "picked"));
                self.pick(step, id, usize::from(question), option, doing);
            }
            Meaning::AskWords => self.for_chat(step, who, id, doing, Ordered::Words),
            Meaning::Full => self.for_chat(step, who, id, doing, Ordered::Full),
            Meaning::Nothing(why) => {
                step.record("pressed", id, &record::pressed(who, &action, "nothing"));
                tell(step, Some(doing), false, why);
            }
        }
    }

    /// Whether a viewer is of the very process that asked this question, and answers for its user
    /// there. What it decides is what it could have done without asking; so it may be no check and
    /// no blocked call, from whose answers other requests are answered.
    pub(super) fn is_own(&self, who: &Who, id: &RequestId) -> bool {
        let Place::Viewer { paired: false, process: Some(process), .. } = who.place else {
            return false;
        };
        let open = self.open.get(id).filter(|open| open.answers_itself());
        let is_alone = |request: &Request| {
            matches!(Occasion::of(request), Occasion::Permission | Occasion::Other)
        };
        let open = open.filter(|open| open.request.as_ref().is_some_and(is_alone));
        let asker = open.and_then(|open| open.asker);
        let lineage = asker.and_then(|asker| self.lineages.get(&asker));
        lineage.and_then(|lineage| lineage.first()) == Some(&process)
    }

    #[allow(clippy::too_many_arguments, reason = "all of it goes into the record")]
    fn decide_by(
        &mut self,
        step: &mut Step,
        who: &Who,
        id: &RequestId,
        doing: &Doing,
        decision: Decision,
        with: With,
        action: &str,
    ) {
        let by = record::shown(&who.name);
        let decided = Decided { decision, by, with, doing: Some(doing.clone()) };
        let Some(open) = self.open.get(id) else { return };
        let fits = open.request.as_ref().is_none_or(|request| fits(request, &open.card, &decided));
        let outcome = if fits { "decided" } else { "nothing" };
        step.record("pressed", id, &record::pressed(who, action, outcome));
        if fits {
            self.decide(step, id, decided);
        } else {
            let why = "That cannot be the answer here. Hidden parts cannot be changed.";
            tell(step, Some(doing), false, why);
        }
    }

    /// What a press on an open question comes to.
    fn meaning(&self, id: &RequestId, press: Press) -> Meaning {
        let Some(open) = self.open.get(id) else { return Meaning::Nothing(UNKNOWN) };
        let card = &open.card;
        match press {
            Press::Words(_) | Press::Button(Action::Reply) if card.blocked.is_some() => {
                Meaning::Nothing("Only yes or no can be answered here.")
            }
            Press::Words(words) => words_mean(card, &words),
            Press::Input(_) if !card.can_edit => {
                Meaning::Nothing("This agent takes no changed input.")
            }
            Press::Input(_) if open.request.is_none() => {
                Meaning::Nothing("The agent is just coming back: try again in a moment.")
            }
            Press::Input(input) => {
                allow(With { edited: Some(input.get().to_owned()), ..With::default() })
            }
            Press::Button(action) => match action {
                Action::Allow if !card.pickers.is_empty() => {
                    Meaning::Nothing("Choose one of the answers.")
                }
                Action::Allow => allow(With::default()),
                Action::Deny => Meaning::Decide(Decision::Deny, With::default()),
                Action::Stop if card.can_stop => {
                    let with = With { interrupt: true, ..With::default() };
                    Meaning::Decide(Decision::Deny, with)
                }
                Action::Always(offer) if usize::from(offer) < card.offers.len() => {
                    allow(With { offer: Some(usize::from(offer)), ..With::default() })
                }
                Action::Pick { question, option } => pick_means(open, question, option),
                Action::Done if !open.picks.is_empty() => done_means(open),
                Action::Reply => Meaning::AskWords,
                Action::More => Meaning::Full,
                Action::Stop | Action::Always(_) | Action::Done => {
                    Meaning::Nothing("That is not offered here.")
                }
            },
        }
    }

    /// Notes a choice and shows it on every copy.
    fn pick(
        &mut self,
        step: &mut Step,
        id: &RequestId,
        question: usize,
        option: u8,
        doing: &Doing,
    ) {
        let Some(open) = self.open.get_mut(id) else { return };
        let many = open.card.pickers.get(question).is_some_and(|picker| picker.many);
        let Some(picks) = open.picks.get_mut(question) else { return };
        match picks.iter().position(|chosen| *chosen == option) {
            Some(at) => drop(picks.remove(at)),
            None if many => picks.push(option),
            None => *picks = vec![option],
        }
        picks.sort_unstable();
        let order = || Order::Picked {
            card: Arc::clone(&open.card),
            copies: open.copies.clone(),
            picks: open.picks.clone(),
        };
        step.outputs.push(Output::Phones(order()));
        if self.settings.terminal {
            step.outputs.push(Output::Terminal(order()));
        }
        tell(step, Some(doing), true, "Noted. Press Done when all is chosen.");
    }

    /// Has something done in the chat in which a button was pressed.
    fn for_chat(&self, step: &mut Step, who: &Who, id: &RequestId, doing: &Doing, what: Ordered) {
        let Some(open) = self.open.get(id) else { return };
        let Place::Telegram { chat, .. } = who.place else {
            return tell(step, Some(doing), false, "That is not offered here.");
        };
        let (card, doing) = (Arc::clone(&open.card), doing.clone());
        step.outputs.push(Output::Phones(match what {
            Ordered::Words => Order::AskWords { card, doing, chat },
            Ordered::Full => Order::Full { card, doing, chat },
        }));
    }

    fn too_late(&self, id: &RequestId) -> String {
        match (self.open.get(id), self.past.get(id)) {
            (Some(open), _) => {
                let by = open.decided.as_ref().map_or("somebody", |decided| &decided.by);
                format!("Already decided by {by}.")
            }
            (_, Some(over)) => format!("Too late. {}.", over.text),
            _ => UNKNOWN.to_owned(),
        }
    }

    /// The id, if it is of a question that was really asked: whatever else people send does not
    /// belong to any.
    fn known<'a>(&self, id: &'a RequestId) -> Option<&'a RequestId> {
        self.knows(id).then_some(id)
    }

    /// A button whose data is none of ours.
    pub(super) fn forged(&mut self, step: &mut Step, who: &Who, doing: &Doing) {
        let is_stranger = !self.authority.allows(who);
        if self.strangers.take(step.now) {
            step.note("pressed", None, &record::pressed(who, "unknown", "forged"));
        }
        tell(step, Some(doing), false, if is_stranger { STRANGER } else { UNKNOWN });
    }
}

/// What is sent to the chat of a press.
#[derive(Clone, Copy)]
enum Ordered {
    Words,
    Full,
}

fn allow(with: With) -> Meaning {
    Meaning::Decide(Decision::Allow, with)
}

/// Words answer a question for words, and deny anything else.
fn words_mean(card: &Card, words: &str) -> Meaning {
    let words = words.trim();
    if words.is_empty() {
        return Meaning::Nothing("There are no words in this reply.");
    }
    let end = words.char_indices().nth(LONGEST_WORDS).map_or(words.len(), |(at, _)| at);
    let words = Some(words[..end].to_owned());
    if card.can_edit && picks::worded(&card.tool, &card.input, "").is_some() {
        return allow(With { words, ..With::default() });
    }
    Meaning::Decide(Decision::Deny, With { message: words, ..With::default() })
}

fn pick_means(open: &Open, question: u8, option: u8) -> Meaning {
    let pickers = &open.card.pickers;
    let Some(picker) = pickers.get(usize::from(question)) else {
        return Meaning::Nothing("That is not offered here.");
    };
    if usize::from(option) >= picker.choices.len() {
        return Meaning::Nothing("That is not offered here.");
    }
    if pickers.len() == 1 && !picker.many {
        return allow(With { picks: Some(vec![vec![option]]), ..With::default() });
    }
    Meaning::Pick(question, option)
}

fn done_means(open: &Open) -> Meaning {
    if open.picks.iter().any(Vec::is_empty) {
        return Meaning::Nothing("Not every question has an answer yet.");
    }
    allow(With { picks: Some(open.picks.clone()), ..With::default() })
}

/// The name of a press in the ledger; what people write themselves is in the decision.
fn name_of(press: &Press) -> String {
    match press {
        Press::Button(action) => action.to_string(),
        Press::Words(_) => "words".to_owned(),
        Press::Input(_) => "edit".to_owned(),
    }
}
