//! Whom a question can reach: phones, viewers and the terminal.

use callgate_wire::approval::RequestId;
use callgate_wire::ledger::{LedgerEvent, QuestionUnsent};

use super::{Desk, DeskStep, DeskTime, record};

/// Why a question that nobody could see was not decided.
pub(super) const UNREACHABLE: &str = "nobody can be reached";

impl Desk {
    /// Returns true if there is a chat that is not muted.
    pub(super) fn has_phones(&self, now: DeskTime) -> bool {
        self.settings.phones && self.listening_chats(now).next().is_some()
    }

    pub(super) fn listening_chats(&self, now: DeskTime) -> impl Iterator<Item = i64> {
        let is_muted = move |chat: &i64| self.muted.get(chat).is_some_and(|at| *at > now.wall_ms);
        self.authority.chats.iter().copied().filter(move |chat| !is_muted(chat))
    }

    pub(super) fn handle_unsendable(
        &mut self,
        step: &mut DeskStep,
        id: &RequestId,
        chat: i64,
        why: &str,
    ) {
        let Some(open) = self.open.get_mut(id) else { return };
        open.sending.retain(|other| *other != chat);
        step.record_for_question(id, &unsent_event(Some(chat), why));
        self.give_up_if_unreachable(step, id);
    }

    /// Gives up on phones: none can be reached, and whatever is on its way will not arrive.
    pub(super) fn phones_broken(&mut self, step: &mut DeskStep, why: &str) {
        self.settings.phones = false;
        step.record_event(None, &unsent_event(None, why));
        for id in self.open.keys().cloned().collect::<Vec<_>>() {
            if let Some(open) = self.open.get_mut(&id) {
                open.sending.clear();
                open.phone_at = None;
            }
            self.give_up_if_unreachable(step, &id);
            self.set_alarm(&id);
        }
    }

    /// Notes that phones can be reached. Questions that waited for the others are shown there as if
    /// they had just come.
    pub(super) fn phones_work(&mut self, now: DeskTime) {
        if std::mem::replace(&mut self.settings.phones, true) || !self.has_phones(now) {
            return;
        }
        for id in self.open.keys().cloned().collect::<Vec<_>>() {
            if let Some(open) = self.open.get_mut(&id)
                && open.decided.is_none()
                && open.asker.is_some()
                && !open.is_on_phones()
            {
                open.phone_at = Some(now.mono + self.settings.phone_after);
            }
            self.set_alarm(&id);
        }
    }

    /// Notes how many viewers may press. When the last one leaves, it has a moment to come back: a
    /// page that is loaded again leaves, too.
    pub(super) fn set_viewer_count(&mut self, now: DeskTime, count: usize) {
        let has_left = self.viewers > 0 && count == 0;
        self.viewers = count;
        if has_left {
            let back_by = now.mono + self.settings.viewer_grace;
            self.viewers_back_by = Some(back_by);
            for id in self.open.keys().cloned().collect::<Vec<_>>() {
                if let Some(open) = self.open.get_mut(&id) {
                    open.reach_by = Some(back_by);
                }
                self.set_alarm(&id);
            }
        }
    }

    pub(super) fn give_up_if_unreachable(&mut self, step: &mut DeskStep, id: &RequestId) {
        let Some(open) = self.open.get(id) else { return };
        let is_early = open.reach_by.is_some_and(|at| at > step.now.mono);
        let can_be_seen =
            is_early || self.settings.terminal || self.viewers > 0 || open.is_on_phones();
        // Whoever comes later sees it: the desk of a relayed question waits, and so does one above.
        let is_held = open.is_relayed() || self.authority.has_relay();
        let can_be_seen = can_be_seen || open.answers_itself() || is_held;
        // A question whose asker is away stays: the asker has its grace to come back.
        if !can_be_seen && open.decided.is_none() && open.asker.is_some() {
            self.time_out(step, id, UNREACHABLE);
        }
    }
}

fn unsent_event(chat: Option<i64>, why: &str) -> LedgerEvent {
    LedgerEvent::Unsent(QuestionUnsent { chat, why: record::shown_name(why) })
}
