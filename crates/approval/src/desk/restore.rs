//! Restores a desk after a restart, from the ledger and the values kept beside it.

use std::time::Duration;

use callgate_store::LedgerEntry;
use callgate_wire::approval::{Decision, RequestId};
use callgate_wire::ledger::LedgerKind::{Asked, Checked, Closed, Decided, Delivered};
use callgate_wire::ledger::{ChainedLinks, LedgerEvent, PressOutcome, QuestionDecided};

use super::asked::part_name;
use super::calls::{Grant, REMEMBERED};
use super::digest::CallDigest;
use super::links::LinkKey;
use super::past::ClosedQuestion;
use super::question::{DecisionDetails, DeskDecision, LONGEST_RELAYED, PendingQuestion};
use super::record;
use super::recorded_question::RecordedQuestion;
use super::{Desk, DeskTime};
use crate::channel::{CopyPart, QuestionCopy};

/// An asker that dials in the last moment of its grace period is still accepted.
const LAST_MOMENT: Duration = Duration::from_secs(2);

impl Desk {
    /// Restores the open questions, the last closed ones (the latest first), the kept values, and
    /// the links of the chain. Each list of entries belongs to one question, in order.
    pub(crate) fn restore(
        &mut self,
        now: DeskTime,
        open: &[Vec<LedgerEntry>],
        over: &[Vec<LedgerEntry>],
        kept: &[(String, String)],
        links: ChainedLinks,
    ) {
        // The oldest first: that is the order in which they are forgotten.
        for entries in over.iter().rev() {
            self.restore_over(entries);
            self.restore_grant(now, entries);
        }
        for entries in open {
            let id = entries.first().and_then(|entry| RequestId::parse(entry.question.as_deref()?));
            let key = id.map(|id| record::input_key(&id));
            let input = kept.iter().find(|(name, _)| Some(name) == key.as_ref());
            self.restore_open(now, entries, input.map(|(_, input)| input.as_str()), &links);
        }
        // After the questions, to which most of them belong.
        for (key, value) in kept {
            self.restore_kept(key, value);
        }
        self.roster = links.team;
        for (link, name) in &links.standing {
            if let Some(link) = LinkKey::parse(link) {
                self.take_up(&link, name);
            }
        }
    }

    fn restore_over(&mut self, entries: &[LedgerEntry]) {
        let Some(closed) = entries.iter().rev().find(|entry| entry.is_of_kind(Closed)) else {
            return;
        };
        let Some(id) = closed.question.as_deref().and_then(RequestId::parse) else {
            return;
        };
        let text = match closed.event() {
            LedgerEvent::Closed(closed) if !closed.text.is_empty() => closed.text,
            _ => "It is over".to_owned(),
        };
        self.past.add(id, ClosedQuestion { text, awaits: None, copies: Vec::new() });
    }

    /// Restores the grant of a blocked call that has not tried again yet.
    fn restore_grant(&mut self, now: DeskTime, entries: &[LedgerEntry]) {
        let find = |kind| entries.iter().find(|entry| entry.is_of_kind(kind));
        let (Some(asked), Some(decided), Some(_), None) =
            (find(Asked), find(Decided), find(Delivered), find(Checked))
        else {
            return;
        };
        let Some(DeskDecision { decision: Decision::Allow, by, .. }) = decided_from(decided) else {
            return;
        };
        let call = match asked.event() {
            LedgerEvent::Asked(asked) if asked.machine.is_none() => {
                asked.retry.as_deref().and_then(CallDigest::parse)
            }
            _ => None,
        };
        let question = asked.question.as_deref().and_then(RequestId::parse);
        let (Some(call), Some(question)) = (call, question) else { return };
        // On a clock that was set back the decision lies in the future; the grant then counts as
        // new and still ends in time.
        let age = u64::try_from(now.wall_ms.saturating_sub(decided.at_ms)).unwrap_or_default();
        if let Some(left) = REMEMBERED.checked_sub(Duration::from_millis(age)) {
            self.calls.grants.insert(now.mono + left, call, Grant { question, by });
        }
    }

    /// Restores an open question, whose asker may come back for some time.
    fn restore_open(
        &mut self,
        now: DeskTime,
        entries: &[LedgerEntry],
        input: Option<&str>,
        links: &ChainedLinks,
    ) {
        let Some(mut open) = self.open_from(now, entries, input) else { return };
        if open.scope.machine.as_ref().is_some_and(|machine| !links.has_machine(machine)) {
            // It was removed or revoked while no desk ran, and never comes back for an answer.
            open.away_until = Some(now.mono);
        }
        let id = open.card.id.clone();
        self.open.insert(id.clone(), open);
        // So that it ends even if its asker never comes back.
        self.set_alarm(&id);
    }

    fn open_from(
        &self,
        now: DeskTime,
        entries: &[LedgerEntry],
        input: Option<&str>,
    ) -> Option<PendingQuestion> {
        // The last decision counts: that of another desk of the team replaces one that was made
        // here.
        let decided = entries.iter().rev().find(|entry| entry.is_of_kind(Decided));
        let RecordedQuestion { card, request, digest, is_cut, first_allow, .. } =
            RecordedQuestion::from_entries(entries, input)?;
        let left = u64::try_from(card.row.until_ms.saturating_sub(now.wall_ms)).unwrap_or_default();
        // A clock that was set back must not make a question wait forever.
        let longest = match request.machine {
            Some(_) => LONGEST_RELAYED,
            None => self.settings.timeout,
        };
        let left = Duration::from_millis(left).min(longest);
        Some(PendingQuestion {
            is_cut_for_viewers: is_cut,
            keeps_input: input.is_some(),
            is_cut_on_phones: (self.cuts_on_phones)(&card),
            // A machine may be cut off for as long as its question is open.
            away_until: Some(match request.machine {
                Some(_) => now.mono + left,
                None => now.mono + self.settings.grace + LAST_MOMENT,
            }),
            reach_by: Some(now.mono + self.settings.grace),
            first_allow,
            decided: decided
                .and_then(decided_from)
                .map(|decided| DeskDecision { members: members_of_presses(entries), ..decided }),
            ..PendingQuestion::new(card, digest, now.mono + left, &request)
        })
    }

    fn restore_kept(&mut self, key: &str, value: &str) {
        let open_question = |id: &str| RequestId::parse(id).filter(|id| self.open.contains_key(id));
        let mut parts = key.split('/');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("copy"), Some(id), Some(chat), Some(message)) => {
                let copy = RequestId::parse(id).zip(chat.parse().ok()).zip(message.parse().ok());
                let Some(((question, chat), message)) = copy else { return };
                let is_of = |part: &CopyPart| part_name(*part) == value;
                // A word that is not known, perhaps of a newer version, counts as a copy of the
                // question.
                let part = [CopyPart::Buttons].into_iter().find(is_of).unwrap_or_default();
                if let Some(open) = self.open.get_mut(&question) {
                    open.copies.push(QuestionCopy { question, chat, message, part });
                }
            }
            (Some("word"), Some(id), Some(chat), Some(user)) => {
                if let (Some(id), Ok(chat), Ok(user)) =
                    (open_question(id), chat.parse(), user.parse())
                {
                    self.care.awaited.insert((id, chat, user));
                }
            }
            (Some("full"), Some(id), Some(chat), None) => {
                if let (Some(id), Ok(chat)) = (open_question(id), chat.parse()) {
                    self.care.in_full.insert((id, chat));
                }
            }
            (Some("reply"), Some(chat), Some(user), None) => {
                if let (Some(id), Ok(chat), Ok(user)) =
                    (open_question(value), chat.parse(), user.parse())
                {
                    self.replies.expect_reply(chat, user, id);
                }
            }
            (Some("muted"), Some(chat), None, None) => {
                if let (Ok(chat), Ok(until)) = (chat.parse(), value.parse()) {
                    self.muted.insert(chat, until);
                }
            }
            _ => {}
        }
    }
}

fn decided_from(entry: &LedgerEntry) -> Option<DeskDecision> {
    let LedgerEvent::Decided(decided) = entry.event() else { return None };
    let QuestionDecided { decision, by, message, offer, picks, words, edited, interrupt, .. } =
        decided;
    let with = DecisionDetails { message, offer, picks, words, edited, interrupt };
    Some(DeskDecision::of_desk(decision?, by, with))
}

/// Returns the members of the team whose presses have decided a question, or were the first of two.
fn members_of_presses(entries: &[LedgerEntry]) -> Vec<String> {
    let member = |entry: &LedgerEntry| match entry.event() {
        LedgerEvent::Pressed(press) => {
            let counts = [PressOutcome::Decided, PressOutcome::OneOfTwo].map(Some);
            press.person.filter(|_| counts.contains(&press.outcome))
        }
        _ => None,
    };
    entries.iter().filter_map(member).collect()
}
