//! Links that were made with a code: what they are good for, and their end.

use std::fmt;

use serde_json::json;

use super::answer::tell;
use super::{CODE_LIFETIME, Desk, Now, Output, Step, record};
use crate::channel::{Doing, Order};

/// What stands before every link where it is kept.
pub(crate) const KEPT: &str = "paired/";

/// Somebody who was linked with a code.
#[derive(Debug)]
pub(super) enum Link {
    /// A chat.
    Chat(i64),
    /// A person in groups.
    User(i64),
    /// A viewer, by the hash of its token.
    Viewer(String),
}

impl Link {
    /// Reads `chat/ID`, `user/ID` or `viewer/HASH`.
    pub(super) fn parse(link: &str) -> Option<Self> {
        match link.split_once('/')? {
            ("chat", id) => id.parse().ok().map(Self::Chat),
            ("user", id) => id.parse().ok().map(Self::User),
            ("viewer", hash) => Some(Self::Viewer(hash.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chat(id) => write!(f, "chat/{id}"),
            Self::User(id) => write!(f, "user/{id}"),
            Self::Viewer(hash) => write!(f, "viewer/{hash}"),
        }
    }
}

impl Desk {
    /// Takes a code that was made for pairing. The code itself is written nowhere.
    pub(super) fn new_code(&mut self, now: Now, step: &mut Step, code: &str) {
        self.codes.add(now, code);
        step.note(now, "code", None, &json!({ "seconds": CODE_LIFETIME.as_secs() }));
    }

    /// Makes a link and keeps it.
    pub(super) fn link(&mut self, step: &mut Step, link: &Link, name: &str) {
        self.take_up(link);
        step.keep(format!("{KEPT}{link}"), record::shown(name));
    }

    /// Lets somebody answer who was linked, now or before a restart.
    pub(super) fn take_up(&mut self, link: &Link) {
        match link {
            Link::Chat(id) => drop(self.authority.chats.insert(*id)),
            Link::User(id) => drop(self.authority.users.insert(*id)),
            Link::Viewer(hash) => drop(self.authority.viewers.insert(hash.clone())),
        }
        self.links.insert(link.to_string());
    }

    /// Tells a viewer whether its token is good.
    pub(super) fn unlock(&self, step: &mut Step, token_hash: &str, doing: &Doing) {
        if self.authority.viewers.contains(token_hash) {
            return tell(step, Some(doing), true, "You may answer.");
        }
        let text = "This token is not good (any more). Pair again with a code of `callgate pair`.";
        tell(step, Some(doing), false, text);
    }

    /// Takes a link back. Whoever may answer by the settings goes on doing so.
    pub(super) fn unpair(&mut self, now: Now, step: &mut Step, link: &str, doing: &Doing) {
        let Some(link) = Link::parse(link).filter(|link| self.links.remove(&link.to_string()))
        else {
            return tell(step, Some(doing), false, "There is no such link.");
        };
        step.forget(format!("{KEPT}{link}"));
        step.note(now, "unpaired", None, &json!({ "link": link.to_string() }));
        let (given, authority) = (&self.given, &mut self.authority);
        let is_given = match &link {
            Link::Chat(id) => given.chats.contains(id) || !authority.chats.remove(id),
            Link::User(id) => given.users.contains(id) || !authority.users.remove(id),
            Link::Viewer(hash) => given.viewers.contains(hash) || !authority.viewers.remove(hash),
        };
        if let (Link::Viewer(hash), false) = (link, is_given) {
            step.outputs.push(Output::Lock(hash));
        }
        let more = if is_given { " The settings still let it answer." } else { "" };
        tell(step, Some(doing), true, &format!("The link is gone.{more}"));
    }

    /// Tells everybody who is linked that somebody else is now. Whoever runs as the desk's user
    /// can make a code; this way it does not go unnoticed.
    pub(super) fn announce(&self, now: Now, step: &mut Step, text: &str) {
        let text = format!("{text} If that was not you: `callgate pair --list`.");
        let chats: Vec<i64> = self.listening_chats(now).collect();
        if self.settings.phones && !chats.is_empty() {
            step.outputs.push(Output::Phones(Order::Say { chats, text: text.clone() }));
        }
        if self.settings.terminal {
            step.outputs.push(Output::Terminal(Order::Say { chats: Vec::new(), text }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::{ADA, authority, settings};
    use super::super::{Input, Settings};
    use super::*;
    use crate::channel::{News, Place, Who};

    const NOW: Now = Now { mono: Duration::ZERO, wall_ms: 0 };

    fn doing() -> Doing {
        Doing::Viewer { viewer: 1, id: "1".to_owned() }
    }

    /// Pairs a chat with a fresh code, as its user does.
    fn pair(desk: &mut Desk, chat: i64, user: i64) -> Step {
        desk.handle(NOW, Input::NewCode("ABCD2345".to_owned()));
        let place = Place::Telegram { chat, user, private: chat == user };
        let (name, rest) = ("pair".to_owned(), " abcd-2345".to_owned());
        let who = Who { place, name: "Bob".to_owned() };
        desk.handle(NOW, Input::News(News::Command { who, name, rest, doing: doing() }))
    }

    fn unpair(desk: &mut Desk, link: &str) -> (bool, String, Step) {
        let step = desk.handle(NOW, Input::Unpair { link: link.to_owned(), doing: doing() });
        let told = step.outputs.iter().find_map(|output| match output {
            Output::Viewer { done, text, .. } => Some((*done, text.clone())),
            _ => None,
        });
        let (done, text) = told.unwrap();
        (done, text, step)
    }

    #[test]
    fn what_the_settings_allow_stays_allowed() {
        let mut desk = Desk::new(settings(), authority());
        let (done, text, _) = unpair(&mut desk, "chat/7");
        assert!(!done && text == "There is no such link.", "it was never linked with a code");
        pair(&mut desk, ADA, ADA);
        let (done, text, step) = unpair(&mut desk, "chat/7");
        assert!(done && text.ends_with("The settings still let it answer."), "{text}");
        assert_eq!(step.keeps, [("paired/chat/7".to_owned(), None)]);
        assert!(desk.authority.chats.contains(&ADA));
    }

    #[test]
    fn who_was_linked_in_a_group_is_two_links() {
        let mut desk = Desk::new(settings(), authority());
        pair(&mut desk, -200, 8);
        assert!(desk.authority.chats.contains(&-200) && desk.authority.users.contains(&8));
        let (done, text, step) = unpair(&mut desk, "chat/-200");
        assert!(done && text == "The link is gone.");
        assert_eq!(step.records[0].kind, "unpaired");
        assert_eq!(step.records[0].body, r#"{"link":"chat/-200"}"#);
        assert!(!desk.authority.chats.contains(&-200) && desk.authority.users.contains(&8));
        assert!(unpair(&mut desk, "user/8").0 && !desk.authority.users.contains(&8));
    }

    #[test]
    fn a_new_link_is_told_to_those_who_are_linked_and_not_to_itself() {
        let with_terminal = Settings { terminal: true, ..settings() };
        let mut desk = Desk::new(with_terminal, authority());
        let step = pair(&mut desk, 9, 9);
        let said: Vec<&Vec<i64>> = step
            .outputs
            .iter()
            .filter_map(|output| match output {
                Output::Phones(Order::Say { chats, text })
                | Output::Terminal(Order::Say { chats, text }) => {
                    assert!(text.starts_with("Bob was linked, in a chat."), "{text}");
                    Some(chats)
                }
                _ => None,
            })
            .collect();
        assert_eq!(said, [&vec![-100, ADA], &vec![]]);
    }
}
