//! Presses: who may press, and what a press means.

use std::sync::Arc;

use callgate_wire::approval::{Action, ApprovalRequest, Decision, Press, RequestId};
use callgate_wire::ledger::PressOutcome;

use super::answer::build_response;
use super::demands::AnswerEffect;
use super::output::PersonAct;
use super::question::{DecisionDetails, DeskDecision, OWN, Occasion, PendingQuestion};
use super::replies::reply_key;
use super::{Desk, DeskOutput, DeskStep, LONGEST_WORDS};
use crate::channel::{ChannelOrder, Person, PersonPlace, ReplyPurpose, ReplyTo};

const STRANGER: &str = "You may not answer here. To link this chat, run `callgate pair`.";
pub(super) const OWN_REMOVAL: &str = "It is your own link: only others can keep it.";
const UNKNOWN: &str = "This question is no longer open.";

enum PressMeaning {
    Decide(Decision, DecisionDetails),
    /// A choice among the agent's answers.
    Pick(u8, u8),
    /// A message has to be asked for.
    AskWords,
    /// The whole question has to be shown.
    Full,
    /// Nothing, for this reason.
    Nothing(&'static str),
}

impl Desk {
    pub(super) fn handle_press(
        &mut self,
        step: &mut DeskStep,
        who: &Person,
        id: &RequestId,
        press: Press,
        confirm: Option<String>,
        reply_to: &ReplyTo,
    ) {
        let name = name_of(&press);
        let own = self.is_own(who, id).then(|| Person { name: OWN.to_owned(), ..who.clone() });
        let is_own = own.is_some();
        let who = own.as_ref().unwrap_or(who);
        let act = PersonAct { who, id, name: &name, reply_to };
        // The front end of the asker needs no link and no role: it answers for the asker's own
        // user.
        if !(if is_own { self.is_in_time(step, act) } else { self.may_answer(step, act) }) {
            return;
        }
        // Before it is asked what was shown in full: a reply with the word is an allow, too.
        let (press, confirm) = self.with_word(step, act, press, confirm);
        if let Some(why) = self.not_yet(step.now, who, id, &press) {
            return act.refuse(step, PressOutcome::NotYet, &why);
        }
        match self.meaning_of_press(id, press) {
            PressMeaning::Decide(Decision::Deny, _) if self.is_own_removal(id, who) => {
                act.refuse(step, PressOutcome::Nothing, OWN_REMOVAL);
            }
            PressMeaning::Decide(Decision::Allow, _) if !self.has_word(id, confirm.as_deref()) => {
                act.record(step, PressOutcome::Unconfirmed);
                self.ask_word(step, act, confirm.as_deref());
            }
            PressMeaning::Decide(decision, with) => {
                match self.effect_of_answer(who, id, decision, &with, is_own) {
                    AnswerEffect::Decides { by } => self.decide_by(step, act, by, decision, with),
                    AnswerEffect::Noted(first) => {
                        act.record(step, PressOutcome::OneOfTwo);
                        self.note_first_allow(step, act, first);
                    }
                    AnswerEffect::Barred(why) => act.refuse(step, PressOutcome::Barred, why),
                }
            }
            PressMeaning::Pick(question, option) => {
                act.record(step, PressOutcome::Picked);
                self.handle_pick(step, act, usize::from(question), option);
            }
            PressMeaning::AskWords => {
                let answers = self.open.get(id).is_some_and(|open| open.card.takes_words);
                let purpose = if answers { ReplyPurpose::Answer } else { ReplyPurpose::Deny };
                self.for_chat(step, act, ChatOrder::Words(purpose));
            }
            PressMeaning::Full => self.for_chat(step, act, ChatOrder::Full),
            PressMeaning::Nothing(why) => act.refuse(step, PressOutcome::Nothing, why),
        }
    }

    /// Returns true if a person may answer this question and it is open. Otherwise the
    /// desk replies why not.
    pub(super) fn may_answer(&mut self, step: &mut DeskStep, act: PersonAct<'_>) -> bool {
        let PersonAct { who, id, name, reply_to } = act;
        if self.authority.allows(who) {
            let is_open = self.is_in_time(step, act);
            let refusal = self.role_refusal(who, id).filter(|_| is_open);
            if let Some(why) = refusal {
                act.refuse(step, PressOutcome::Barred, why);
            }
            return is_open && refusal.is_none();
        }
        // Every viewer may know what became of a question; the question's own asker may press late.
        if matches!(who.place, PersonPlace::Viewer { .. }) && self.past.by_id.contains_key(id) {
            step.reply(reply_to, false, &self.too_late(id));
            return false;
        }
        if self.strangers.try_take_act(step.now) {
            // The ledger takes an id with any entry for used, so a stranger could use up ids of
            // others.
            let question = self.open.contains_key(id).then_some(id);
            step.record_press(question, who, name, PressOutcome::Stranger);
        }
        step.reply(reply_to, false, STRANGER);
        false
    }

    /// Returns true if a question is open. Otherwise the desk replies what became of it.
    fn is_in_time(&self, step: &mut DeskStep, act: PersonAct<'_>) -> bool {
        let PersonAct { who, id, name, reply_to } = act;
        let is_open = self.open.get(id).is_some_and(|open| open.decided.is_none());
        if !is_open {
            // As above, an entry under an unknown id would make the id count as used.
            let known = self.knows(id).then_some(id);
            step.record_press(known, who, name, PressOutcome::Late);
            step.reply(reply_to, false, &self.too_late(id));
        }
        is_open
    }

    /// Returns true if a viewer belongs to the process that asked this question, and answers for
    /// its user. It decides only what it could have done without asking; so not a check or a
    /// blocked call, whose answers also decide other requests.
    pub(super) fn is_own(&self, who: &Person, id: &RequestId) -> bool {
        let PersonPlace::Viewer { paired: false, process: Some(process), .. } = who.place else {
            return false;
        };
        let open = self.open.get(id).filter(|open| open.answers_itself());
        let is_alone = |request: &ApprovalRequest| {
            matches!(Occasion::from_request(request), Occasion::Permission | Occasion::Other)
        };
        let open = open.filter(|open| open.request.as_ref().is_some_and(is_alone));
        let asker = open.and_then(|open| open.asker);
        let lineage = asker.and_then(|asker| self.lineages.get(&asker));
        lineage.and_then(|lineage| lineage.first()) == Some(&process)
    }

    pub(super) fn decide_by(
        &mut self,
        step: &mut DeskStep,
        act: PersonAct<'_>,
        by: String,
        decision: Decision,
        with: DecisionDetails,
    ) {
        let Some(open) = self.open.get(act.id) else { return };
        let is_of_two = decision == Decision::Allow && open.card.row.demands.two_people;
        let first = open.first_allow.as_ref().filter(|_| is_of_two);
        // The database of the team counts the answer only as long as all of these are members.
        let members = first.and_then(|first| first.member.clone()).into_iter();
        let members = members.chain(act.who.member.clone()).collect();
        let reply_to = Some(act.reply_to.clone());
        let decided = DeskDecision { decision, by, members, with, reply_to };
        // Tried before it is recorded: whoever pressed hears that it does not fit, and the question
        // stays open.
        let fits = open
            .request
            .as_ref()
            // A restored question without its asker has no request: the answer is tried when the
            // asker is back.
            .is_none_or(|request| build_response(request, &open.card, &decided).is_some());
        if fits {
            act.record(step, PressOutcome::Decided);
            self.decide_question(step, act.id, decided);
        } else {
            let why = "That cannot be the answer here. Hidden parts cannot be changed.";
            act.refuse(step, PressOutcome::Nothing, why);
        }
    }

    fn meaning_of_press(&self, id: &RequestId, press: Press) -> PressMeaning {
        let Some(open) = self.open.get(id) else { return PressMeaning::Nothing(UNKNOWN) };
        let card = &open.card;
        match press {
            Press::Words(_) | Press::Button(Action::Reply) if card.blocked.is_some() => {
                PressMeaning::Nothing("Only yes or no can be answered here.")
            }
            Press::Words(_) | Press::Button(Action::Reply) if card.refuses_words() => {
                PressMeaning::Nothing(
                    "This cannot be answered in words: choose an answer, or deny it.",
                )
            }
            Press::Words(words) => words_mean(open, &words),
            Press::Input(_) if !card.can_edit => {
                PressMeaning::Nothing("This agent takes no changed input.")
            }
            // The hidden parts are put back from the original, which only the asker has.
            Press::Input(_) if open.request.is_none() => {
                PressMeaning::Nothing("The agent is just coming back: try again in a moment.")
            }
            Press::Input(input) => allow_with(DecisionDetails {
                edited: Some(input.get().to_owned()),
                ..DecisionDetails::default()
            }),
            Press::Button(action) => match action {
                Action::Allow if !card.pickers.is_empty() => {
                    PressMeaning::Nothing("Choose one of the answers.")
                }
                Action::Allow => allow_with(DecisionDetails::default()),
                Action::Deny => PressMeaning::Decide(Decision::Deny, DecisionDetails::default()),
                Action::Stop if card.can_stop => {
                    let with = DecisionDetails { interrupt: true, ..DecisionDetails::default() };
                    PressMeaning::Decide(Decision::Deny, with)
                }
                Action::Always(offer) if usize::from(offer) < card.offers.len() => {
                    allow_with(DecisionDetails {
                        offer: Some(usize::from(offer)),
                        ..DecisionDetails::default()
                    })
                }
                Action::Pick { question, option } => pick_means(open, question, option),
                Action::Done if !open.picks.is_empty() => done_means(open),
                Action::Reply => PressMeaning::AskWords,
                Action::More => PressMeaning::Full,
                Action::Stop | Action::Always(_) | Action::Done => {
                    PressMeaning::Nothing("That is not offered here.")
                }
            },
        }
    }

    /// Notes a choice and shows it on every copy.
    fn handle_pick(
        &mut self,
        step: &mut DeskStep,
        act: PersonAct<'_>,
        question: usize,
        option: u8,
    ) {
        let Some(open) = self.open.get_mut(act.id) else { return };
        let many = open.card.pickers.get(question).is_some_and(|picker| picker.many);
        let Some(picks) = open.picks.get_mut(question) else { return };
        match picks.iter().position(|chosen| *chosen == option) {
            Some(at) => drop(picks.remove(at)),
            None if many => picks.push(option),
            None => *picks = vec![option],
        }
        // In the order of the choices, whichever was pressed first.
        picks.sort_unstable();
        self.redraw_question(step, act.id);
        step.reply(act.reply_to, true, "Noted. Press Done when all is chosen.");
    }

    /// Sends an order to the chat in which a button was pressed.
    pub(super) fn for_chat(&mut self, step: &mut DeskStep, act: PersonAct<'_>, what: ChatOrder) {
        let PersonAct { who, id, reply_to, .. } = act;
        let Some(open) = self.open.get(id) else { return };
        let PersonPlace::Telegram { chat, user, .. } = who.place else {
            return step.reply(reply_to, false, "That is not offered here.");
        };
        if let ChatOrder::Words(_) = what {
            // So that the words find their question after a restart as well.
            step.keep_value(reply_key(chat, user), id.to_string());
            self.replies.expect_reply(chat, user, id.clone());
        }
        let (card, reply_to) = (Arc::clone(&open.card), reply_to.clone());
        step.outputs.push(DeskOutput::Phones(match what {
            ChatOrder::Words(purpose) => ChannelOrder::AskWords { card, reply_to, chat, purpose },
            ChatOrder::Full => ChannelOrder::Full { card, reply_to, chat },
        }));
    }

    fn too_late(&self, id: &RequestId) -> String {
        match (self.open.get(id), self.past.by_id.get(id)) {
            (Some(open), _) => {
                let by = open.decided.as_ref().map_or("somebody", |decided| &decided.by);
                format!("Already decided by {by}.")
            }
            (_, Some(over)) => format!("Too late. {}.", over.text),
            _ => UNKNOWN.to_owned(),
        }
    }

    pub(super) fn handle_forged_press(
        &mut self,
        step: &mut DeskStep,
        who: &Person,
        reply_to: &ReplyTo,
    ) {
        let is_stranger = !self.authority.allows(who);
        if self.strangers.try_take_act(step.now) {
            step.record_press(None, who, "unknown", PressOutcome::Forged);
        }
        step.reply(reply_to, false, if is_stranger { STRANGER } else { UNKNOWN });
    }
}

#[derive(Clone, Copy)]
pub(super) enum ChatOrder {
    Words(ReplyPurpose),
    Full,
}

fn allow_with(with: DecisionDetails) -> PressMeaning {
    PressMeaning::Decide(Decision::Allow, with)
}

/// Returns what words mean: they answer a question of the agent to its user, and deny anything
/// else.
fn words_mean(open: &PendingQuestion, words: &str) -> PressMeaning {
    let words = words.trim();
    if words.is_empty() {
        return PressMeaning::Nothing("There are no words in this reply.");
    }
    let end = words.char_indices().nth(LONGEST_WORDS).map_or(words.len(), |(at, _)| at);
    let words = Some(words[..end].to_owned());
    if open.card.takes_words {
        let has_picks = open.picks.iter().any(|picks| !picks.is_empty());
        let picks = has_picks.then(|| open.picks.clone());
        return allow_with(DecisionDetails { picks, words, ..DecisionDetails::default() });
    }
    PressMeaning::Decide(
        Decision::Deny,
        DecisionDetails { message: words, ..DecisionDetails::default() },
    )
}

fn pick_means(open: &PendingQuestion, question: u8, option: u8) -> PressMeaning {
    let pickers = &open.card.pickers;
    let Some(picker) = pickers.get(usize::from(question)) else {
        return PressMeaning::Nothing("That is not offered here.");
    };
    if usize::from(option) >= picker.choices.len() {
        return PressMeaning::Nothing("That is not offered here.");
    }
    // Where one answer is all that is asked for, the press is the whole answer, without Done.
    if pickers.len() == 1 && !picker.many {
        return allow_with(DecisionDetails {
            picks: Some(vec![vec![option]]),
            ..DecisionDetails::default()
        });
    }
    PressMeaning::Pick(question, option)
}

fn done_means(open: &PendingQuestion) -> PressMeaning {
    if open.picks.iter().any(Vec::is_empty) {
        return PressMeaning::Nothing("Not every question has an answer yet.");
    }
    allow_with(DecisionDetails { picks: Some(open.picks.clone()), ..DecisionDetails::default() })
}

/// Returns the name of a press in the ledger. What people write is in the decision.
fn name_of(press: &Press) -> String {
    match press {
        Press::Button(action) => action.to_string(),
        Press::Words(_) => "words".to_owned(),
        Press::Input(_) => "edit".to_owned(),
    }
}
