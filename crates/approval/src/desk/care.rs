//! What a single press does not decide: a change of the agent's mode, and an allow of something
//! that was not shown in full.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use callgate_wire::approval::{Action, Press, RequestId};

use super::{Desk, DeskTime};
use crate::channel::{Person, PersonPlace};

/// A second press within this time belongs to the first.
const SOONEST: Duration = Duration::from_secs(1);
/// A second press after this time counts as a first one.
const LATEST: Duration = Duration::from_mins(2);

const CUT_FOR_VIEWERS: &str = "Its input is longer than what viewers are shown. Allow it on a phone \
                               or in the terminal of `callgate up`, where all of it can be read.";
const CUT: &str = "Not all of it was shown here. Press “Show in full” and read the end first.";

/// Presses that have to be repeated, and questions that were shown in full.
#[derive(Debug, Default)]
pub(super) struct PressCare {
    /// The last press that has to be confirmed, by its question.
    pressed: HashMap<RequestId, (PersonPlace, u8, Duration)>,
    pub(super) in_full: HashSet<(RequestId, i64)>,
    /// Who is to reply with the word that allows a question, by chat and user.
    pub(super) awaited: HashSet<(RequestId, i64, i64)>,
}

impl PressCare {
    /// Forgets a question that is over, and returns the keys of what was kept about it.
    pub(super) fn forget_question(&mut self, question: &RequestId) -> Vec<String> {
        self.pressed.remove(question);
        let in_full = self.in_full.extract_if(|(id, _)| id == question);
        let in_full = in_full.map(|(id, chat)| full_key(&id, chat));
        let awaited = self.awaited.extract_if(|(id, ..)| id == question);
        let awaited = awaited.map(|(id, chat, user)| word_key(&id, chat, user));
        in_full.chain(awaited).collect()
    }
}

/// Returns the key of the note that a person's next reply is to be the typed word.
pub(super) fn word_key(id: &RequestId, chat: i64, user: i64) -> String {
    format!("word/{id}/{chat}/{user}")
}

pub(super) fn full_key(id: &RequestId, chat: i64) -> String {
    format!("full/{id}/{chat}")
}

impl Desk {
    /// Returns why a press on an open question does not count yet, if it does not.
    pub(super) fn not_yet(
        &mut self,
        now: DeskTime,
        who: &Person,
        id: &RequestId,
        press: &Press,
    ) -> Option<String> {
        let open = self.open.get(id)?;
        let card = &open.card;
        let offer = match press {
            Press::Button(Action::Allow) => None,
            Press::Button(Action::Always(offer)) => Some(*offer),
            _ => return None,
        };
        if let PersonPlace::Telegram { chat, .. } = who.place
            && card.pickers.is_empty()
            && !self.care.in_full.contains(&(id.clone(), chat))
            && open.is_cut_on_phones
        {
            return Some(CUT.to_owned());
        }
        if matches!(who.place, PersonPlace::Viewer { .. })
            && open.is_cut_for_viewers
            // The front end of the asker has the whole input.
            && !self.is_own(who, id)
        {
            return Some(CUT_FOR_VIEWERS.to_owned());
        }
        let number = offer?;
        let offer = card.offers.get(usize::from(number)).filter(|offer| offer.changes_mode)?;
        let text = format!(
            "This changes what the agent asks about at all: {}, {}. Press again to confirm.",
            offer.meaning, offer.lasts
        );
        let earlier = self
            .care
            .pressed
            .get(id)
            // Two people who press once each have not confirmed anything.
            .filter(|(place, other, _)| (*place, *other) == (who.place, number));
        match earlier.map(|(_, _, at)| now.mono.saturating_sub(*at)) {
            Some(since) if since < SOONEST => return Some(text),
            Some(since) if since <= LATEST => return None,
            _ => {}
        }
        self.care.pressed.insert(id.clone(), (who.place, number, now.mono));
        Some(text)
    }
}
