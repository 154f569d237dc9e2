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
