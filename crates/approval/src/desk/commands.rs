//! Commands from a chat, and pairing by a code.

use std::fmt::Write as _;

use callgate_wire::ledger::{AnswerChannel, LedgerEvent, PersonPress, PressOutcome, ViewerPaired};

use super::links::{LinkKey, describe_link};
use super::pairing_codes::CodeTry;
use super::question::PendingQuestion;
use super::{Desk, DeskOutput, DeskStep, DeskTime, is_team, record};
use crate::channel::{Person, PersonPlace, ReplyTo};

/// The answer to a code that was not looked at.
const TOO_MANY: &str = "Too many wrong codes were tried. Wait a little, or run `callgate pair` for \
    a new one.";
/// How many questions `/pending` shows at most.
const MOST_PENDING: usize = 10;
const DEFAULT_MUTE_MS: i64 = 3_600_000;
const LONGEST_MUTE_MS: i64 = 7 * 24 * 3_600_000;

const HELP: &str = "I show what your coding agents want to do; you allow or deny it with the \
    buttons.\n/pending: questions that are open\n/status: how many questions are open\n/mute 30m: no \
    questions here for a while\n/unmute: questions again";

impl Desk {
    pub(super) fn handle_command(
        &mut self,
        step: &mut DeskStep,
        who: &Person,
        name: &str,
        rest: &str,
        reply_to: &ReplyTo,
    ) {
        let PersonPlace::Telegram { chat, .. } = who.place else { return };
        // Before the check of who may answer, because whoever pairs is not linked yet. A link such
        // as `https://t.me/BOT?start=CODE`, which `callgate pair` shows, sends the code with
        // `/start`.
        if name == "pair" || (name == "start" && !rest.trim().is_empty()) {
            return self.pair_chat(step, who, rest, reply_to);
        }
        if !self.authority.allows(who) {
            return self.stranger_wrote(step, who, name, chat, reply_to);
        }
        match name {
            "status" => {
                let text = self.status_text(step.now, chat);
                step.reply(reply_to, true, &text);
            }
            "pending" => self.show_pending(step, chat, reply_to),
            "mute" => self.mute_chat(step, chat, rest, reply_to),
            "unmute" => {
                self.muted.remove(&chat);
                step.forget_value(mute_key(chat));
                step.reply(reply_to, true, "Questions are shown here again.");
            }
            _ => step.reply(reply_to, true, HELP),
        }
    }

    fn stranger_wrote(
        &mut self,
        step: &mut DeskStep,
        who: &Person,
        name: &str,
        chat: i64,
        reply_to: &ReplyTo,
    ) {
        if self.strangers.try_take_act(step.now) {
            let action = record::shown_name(name);
            step.record_press(None, who, &action, PressOutcome::Stranger);
        }
        let text = format!(
            "This chat is not linked. Its id is {chat}: add it to allowed_chats, or run \
             `callgate pair` and send /pair with the code."
        );
        step.reply(reply_to, false, &text);
    }

    fn status_text(&self, now: DeskTime, chat: i64) -> String {
        let mut text = match self.open.len() {
            0 => "No question is open.".to_owned(),
            1 => "1 question is open.".to_owned(),
            more => format!("{more} questions are open."),
        };
        if let Some(until) = self.muted.get(&chat).filter(|until| **until > now.wall_ms) {
            // Rounded up, so that a chat is not said to be muted for 0 minutes.
            let minutes = (until - now.wall_ms) / 60_000 + 1;
            // Writing to a string cannot fail.
            let _ = write!(text, " This chat is muted for {minutes} more minutes.");
        }
        text
    }

    fn show_pending(&mut self, step: &mut DeskStep, chat: i64, reply_to: &ReplyTo) {
        let is_listed =
            |open: &PendingQuestion| open.decided.is_none() && self.is_shown_in(chat, open);
        let mut waiting: Vec<_> = self.open.iter().filter(|(_, open)| is_listed(open)).collect();
        if waiting.is_empty() {
            return step.reply(reply_to, true, "No question is open.");
        }
        waiting.sort_by_key(|(_, open)| open.deadline);
        let count = waiting.len();
        let first = waiting.into_iter().take(MOST_PENDING).map(|(id, _)| id.clone());
        for id in first.collect::<Vec<_>>() {
            let Some(open) = self.open.get_mut(&id) else { continue };
            // It may not have been shown on a phone before.
            open.is_cut_on_phones = (self.cuts_on_phones)(&open.card);
            // While the copy is on its way, the question counts as one that can be seen.
            open.sending.push(chat);
            step.outputs.push(DeskOutput::Phones(open.order_to_show(step.now, vec![chat])));
        }
        let text = match count {
            1 => "1 question is open.".to_owned(),
            more if more <= MOST_PENDING => format!("{more} questions are open."),
            more => format!("{more} questions are open; these are the {MOST_PENDING} oldest."),
        };
        step.reply(reply_to, true, &text);
    }

    fn mute_chat(&mut self, step: &mut DeskStep, chat: i64, rest: &str, reply_to: &ReplyTo) {
        let Some(length) = length_of(rest.trim()) else {
            let text = "For how long? For example /mute 30m, /mute 2h or /mute 1d.";
            return step.reply(reply_to, false, text);
        };
        // On the wall clock, because it has to mean the same after a restart.
        let until = step.now.wall_ms + length;
        self.muted.insert(chat, until);
        step.keep_value(mute_key(chat), until.to_string());
        let minutes = length / 60_000;
        let text = format!(
            "No questions here for {minutes} minutes. Agents ask elsewhere meanwhile; /unmute ends it."
        );
        step.reply(reply_to, true, &text);
    }

    fn pair_chat(&mut self, step: &mut DeskStep, who: &Person, code: &str, reply_to: &ReplyTo) {
        const INVALID: &str =
            "This code is not valid, or has expired. Run `callgate pair` for a new one.";
        let PersonPlace::Telegram { chat, user, private } = who.place else { return };
        let tried = self.codes.take_for_chat(step.now, user, code);
        let member = match self.linked_member(tried, INVALID) {
            Ok(member) => member,
            Err(text) => {
                if self.strangers.try_take_act(step.now) {
                    step.record_press(None, who, "pair", PressOutcome::WrongCode);
                }
                return step.reply(reply_to, false, text);
            }
        };
        let mut links = vec![LinkKey::Chat(chat)];
        // In a group, the link of the chat alone does not let its people answer.
        if !private {
            links.push(LinkKey::User(user));
        }
        let whom = match links.as_slice() {
            [_, user] => format!("{}, in the chat {chat},", describe_link(user, &who.name)),
            _ => describe_link(&links[0], &who.name),
        };
        // Before the link is made: those who were linked already hear of it, and not the new one.
        self.announce(step, &format!("{whom} was linked."));
        let names = Some(links.iter().map(LinkKey::to_string).collect());
        let press = record::person_press(who, "pair", PressOutcome::Paired);
        let paired = PersonPress { links: names, person: member.clone(), ..press };
        step.record_event(None, &LedgerEvent::ChatPaired(paired));
        self.make_links(step, &links, &who.name, member.as_deref());
        let text = "Linked. Questions of your agents are shown here from now on.";
        step.reply(reply_to, true, text);
    }

    /// Returns the member whom a code links, `None` for the owner of the desk, or why it links
    /// nobody.
    fn linked_member(
        &self,
        tried: CodeTry,
        invalid: &'static str,
    ) -> Result<Option<String>, &'static str> {
        match tried {
            // The member may have been revoked since the code was made.
            CodeTry::Good(member) if self.is_known(member.as_deref()) => Ok(member),
            CodeTry::Good(_) | CodeTry::Wrong => Err(invalid),
            CodeTry::TooMany => Err(TOO_MANY),
        }
    }

    pub(super) fn pair_viewer(
        &mut self,
        step: &mut DeskStep,
        code: &str,
        name: &str,
        token_hash: &str,
        reply_to: &ReplyTo,
    ) {
        // First, because a used code is no longer among the valid ones and would only count as
        // wrong.
        if let Some(hash) = self.codes.used_for(code) {
            let link = LinkKey::Viewer(hash.to_owned());
            return self.code_came_twice(step, &link, reply_to);
        }
        if is_team(token_hash) {
            // The token of that line never leaves this process.
            let text = "The line to a team's desk is not linked by a code.";
            return step.reply(reply_to, false, text);
        }
        let tried = self.codes.take_for_viewer(step.now, code, token_hash);
        let member = match self.linked_member(tried, "This code is not valid, or has expired.") {
            Ok(member) => member,
            Err(text) => return step.reply(reply_to, false, text),
        };
        let link = LinkKey::Viewer(token_hash.to_owned());
        self.announce(step, &format!("{} was linked.", describe_link(&link, name)));
        let paired = ViewerPaired {
            channel: Some(AnswerChannel::Viewer),
            by: record::shown_name(name),
            links: Some(vec![link.to_string()]),
            person: member.clone(),
        };
        step.record_event(None, &LedgerEvent::ViewerPaired(paired));
        self.make_links(step, &[link], name, member.as_deref());
        step.reply(reply_to, true, "Linked.");
    }

    /// Revokes the link of a page whose code was used once more: one of the two users has
    /// intercepted it, and nobody knows which.
    fn code_came_twice(&mut self, step: &mut DeskStep, link: &LinkKey, reply_to: &ReplyTo) {
        if self.links.contains_key(&link.to_string()) {
            let said = format!(
                "The code of {} was used a second time, so that link was removed.",
                self.link_description(link)
            );
            self.remove_link(step, link, "a code that was used twice", &said);
        }
        let text = "This code was used before, so both uses are void. If the other one was not \
                    you, another program has read the code.";
        step.reply(reply_to, false, text);
    }
}

fn mute_key(chat: i64) -> String {
    format!("muted/{chat}")
}

/// Parses a duration such as `30m`, in milliseconds; an hour if it is empty.
fn length_of(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(DEFAULT_MUTE_MS);
    }
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: i64 = text[..unit_at].parse().ok()?;
    let unit = match text[unit_at..].trim() {
        "" | "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 24 * 3_600_000,
        _ => return None,
    };
    number.checked_mul(unit).filter(|length| (1..=LONGEST_MUTE_MS).contains(length))
}
