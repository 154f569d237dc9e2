//! The codes that link chats and viewers, and how many wrong ones are tried.
//!
//! Anybody may find a bot and send it codes, so wrong codes must not void the right one: a stranger
//! could keep its owner from linking. A sender gets a few tries for each code. All of them together
//! are slowed down: a code has 8 of 30 characters, 6.6 × 10^11 possibilities; with 100 wrong codes
//! in 10 seconds, each of two ways has 6,100 tries in the 10 minutes of a code, so that one code in
//! 50 million is guessed, however many senders there are.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::DeskTime;

pub const CODE_LIFETIME: Duration = Duration::from_mins(10);
/// How long a code for a page can be used, which is read from the desk's own terminal.
pub const PAGE_CODE_LIFETIME: Duration = Duration::from_mins(1);
/// How many codes that were used for pages are remembered.
const MOST_USED: usize = 16;
/// How many wrong codes a sender may try before its codes are ignored, until there is a new code.
pub(super) const WRONG_CODES: u32 = 5;
/// How many wrong codes of all senders are looked at within [`SPAN`].
pub(super) const WRONG_CODES_OF_ALL: u32 = 100;
/// The time span of that limit.
pub(super) const SPAN: Duration = Duration::from_secs(10);
/// How many senders of wrong codes are remembered: as many as there can be while a code is valid.
const MOST_SENDERS: usize = 6_000;

/// The pairing codes that are valid now, and codes of pages that were used.
#[derive(Debug, Default)]
pub(super) struct PairingCodes {
    codes: Vec<PairingCode>,
    /// How many wrong codes each user of Telegram has sent since the last new code.
    wrong_by: HashMap<i64, u32>,
    chats: WrongCodes,
    /// The viewers are programs of one user, and have no names that they cannot choose.
    viewers: WrongCodes,
    /// The last codes that linked a page, and the hashes of the tokens they were used for.
    used: VecDeque<(String, String)>,
}

#[derive(Debug)]
struct PairingCode {
    code: String,
    until: Duration,
    is_for_page: bool,
    /// The member of the team whom it links; `None` for the owner of the desk.
    member: Option<String>,
}

#[derive(Debug, Default)]
struct WrongCodes {
    since: Duration,
    count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodeTry {
    /// It was valid, and is used up. It links this member of the team, or the owner of the desk.
    Good(Option<String>),
    Wrong,
    /// It was not looked at, because too many wrong ones came before.
    TooMany,
}

impl WrongCodes {
    fn has_room(&mut self, now: DeskTime) -> bool {
        if now.mono >= self.since + SPAN {
            (self.since, self.count) = (now.mono, 0);
        }
        self.count < WRONG_CODES_OF_ALL
    }
}

impl PairingCodes {
    /// Accepts a code. Returns how long it is valid.
    pub(super) fn add(
        &mut self,
        now: DeskTime,
        code: &str,
        is_for_page: bool,
        member: Option<String>,
    ) -> Duration {
        let lifetime = if is_for_page { PAGE_CODE_LIFETIME } else { CODE_LIFETIME };
        // One at a time for each person: a new code makes the last one void.
        self.codes.retain(|code| code.member != member && code.until > now.mono);
        let code = normalized_code(code);
        // The same code may be made again by chance. Its first use is then not a second use of the
        // old one.
        self.used.retain(|(used, _)| *used != code);
        let until = now.mono + lifetime;
        self.codes.push(PairingCode { code, until, is_for_page, member });
        // The tries of a sender are counted for each code.
        self.wrong_by.clear();
        lifetime
    }

    /// Tries a code that a user of Telegram has sent. A good one is used up.
    pub(super) fn take_for_chat(&mut self, now: DeskTime, user: i64, code: &str) -> CodeTry {
        let is_ignored = match self.wrong_by.get(&user) {
            Some(wrong) => *wrong >= WRONG_CODES,
            // So many only come after the last code has ended, and the next one forgets them all.
            None => self.wrong_by.len() >= MOST_SENDERS,
        };
        if is_ignored || !self.chats.has_room(now) {
            return CodeTry::TooMany;
        }
        if let Some(good) = self.take(now, code, |good| !good.is_for_page) {
            return CodeTry::Good(good.member);
        }
        self.chats.count += 1;
        *self.wrong_by.entry(user).or_default() += 1;
        CodeTry::Wrong
    }

    /// Tries a code that a viewer has sent. A good one is used up.
    pub(super) fn take_for_viewer(
        &mut self,
        now: DeskTime,
        code: &str,
        token_hash: &str,
    ) -> CodeTry {
        if !self.viewers.has_room(now) {
            return CodeTry::TooMany;
        }
        let Some(good) = self.take(now, code, |_| true) else {
            self.viewers.count += 1;
            return CodeTry::Wrong;
        };
        if good.is_for_page {
            self.used.push_back((good.code, token_hash.to_owned()));
            if self.used.len() > MOST_USED {
                self.used.pop_front();
            }
        }
        CodeTry::Good(good.member)
    }

    /// Returns the hash of the token that a page got for this code, if one was linked by it.
    pub(super) fn used_for(&self, code: &str) -> Option<&str> {
        let code = normalized_code(code);
        self.used.iter().find(|(used, _)| *used == code).map(|(_, hash)| hash.as_str())
    }

    /// Removes and returns a code if it is valid and `fits`.
    fn take(
        &mut self,
        now: DeskTime,
        code: &str,
        fits: impl Fn(&PairingCode) -> bool,
    ) -> Option<PairingCode> {
        let code = normalized_code(code);
        let is_it = |good: &PairingCode| good.code == code && good.until > now.mono && fits(good);
        let at = self.codes.iter().position(is_it)?;
        Some(self.codes.remove(at))
    }
}

/// Normalizes a code as people type or copy it.
fn normalized_code(code: &str) -> String {
    code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_of_wrong_codes_are_counted_up_to_a_limit() {
        let mut codes = PairingCodes::default();
        let mut now = DeskTime::default();
        for user in 0..20_000 {
            now.mono += SPAN / WRONG_CODES_OF_ALL;
            codes.take_for_chat(now, user, "no");
        }
        assert_eq!(codes.wrong_by.len(), MOST_SENDERS);
        // A new code is for everybody.
        codes.add(now, "ABCD-EFGH", false, None);
        assert_eq!(codes.take_for_chat(now, 20_001, "abcdefgh"), CodeTry::Good(None));
    }

    #[test]
    fn nobody_is_ignored_because_of_others_while_a_code_is_good() {
        let mut codes = PairingCodes::default();
        let mut now = DeskTime::default();
        codes.add(now, "ABCD-EFGH", false, None);
        for user in 0..20_000 {
            let step = SPAN / WRONG_CODES_OF_ALL;
            if now.mono + 3 * step > CODE_LIFETIME {
                break;
            }
            now.mono += step;
            codes.take_for_chat(now, user, "no");
        }
        now.mono = CODE_LIFETIME.saturating_sub(Duration::from_millis(1));
        assert_eq!(codes.take_for_chat(now, 20_001, "ABCD-EFGH"), CodeTry::Good(None));
    }
}
