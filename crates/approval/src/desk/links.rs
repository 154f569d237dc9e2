//! Links of chats, persons and viewers: how they are made and removed.

use std::fmt;

use callgate_store::KEPT_LINKS;
use callgate_wire::ledger::{LedgerEvent, LinkRemoved, VIEWER_LINK};

use super::{Desk, DeskOutput, DeskStep, is_team, record};
use crate::channel::ReplyTo;

/// How much of a viewer's hash is shown, here and by `callgate pair --list`.
const SHORT_HASH: usize = 12;

#[derive(Debug)]
pub(super) enum LinkKey {
    Chat(i64),
    /// A person in groups.
    User(i64),
    /// A viewer, by the hash of its token.
    Viewer(String),
}

impl LinkKey {
    /// Parses `chat/ID`, `user/ID` or `viewer/HASH`.
    pub(super) fn parse(link: &str) -> Option<Self> {
        match link.split_once('/')? {
            ("chat", id) => id.parse().ok().map(Self::Chat),
            ("user", id) => id.parse().ok().map(Self::User),
            ("viewer", hash) => Some(Self::Viewer(hash.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for LinkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chat(id) => write!(f, "chat/{id}"),
            Self::User(id) => write!(f, "user/{id}"),
            Self::Viewer(hash) => write!(f, "{VIEWER_LINK}{hash}"),
        }
    }
}

impl Desk {
    /// Makes links, which are recorded already. After a restart only the chain's links count.
    pub(super) fn make_links(
        &mut self,
        step: &mut DeskStep,
        links: &[LinkKey],
        name: &str,
        member: Option<&str>,
    ) {
        let name = record::shown_name(name);
        for link in links {
            match member {
                Some(member) => {
                    self.roster.people.insert(link.to_string(), member.to_owned());
                }
                // The link may have been that of a member until now.
                None => drop(self.roster.people.remove(&link.to_string())),
            }
            step.keep_value(format!("{KEPT_LINKS}{link}"), name.clone());
            self.take_up(link, &name);
        }
    }

    /// Gives a link its effect: whoever it names may answer.
    pub(super) fn take_up(&mut self, link: &LinkKey, name: &str) {
        match link {
            LinkKey::Chat(id) => drop(self.authority.chats.insert(*id)),
            LinkKey::User(id) => drop(self.authority.users.insert(*id)),
            LinkKey::Viewer(hash) => drop(self.authority.viewers.insert(hash.clone())),
        }
        self.links.insert(link.to_string(), name.to_owned());
    }

    /// Tells a viewer whether its token is valid.
    pub(super) fn handle_unlock(&self, step: &mut DeskStep, token_hash: &str, reply_to: &ReplyTo) {
        // Not by the links, because the tokens of relays have none.
        if self.authority.viewers.contains(token_hash) {
            return step.reply(reply_to, true, "You may answer.");
        }
        let text =
            "This token is not valid, or was revoked. Pair again with a code of `callgate pair`.";
        step.reply(reply_to, false, text);
    }

    /// Lets the line to the team's desk bring answers, or no longer. Its token is in the memory of
    /// this process alone, so the ledger has no link of it.
    pub(super) fn set_team_line(&mut self, step: &mut DeskStep, token_hash: Option<String>) {
        let viewers = &mut self.authority.viewers;
        for hash in viewers.extract_if(.., |viewer| is_team(viewer)) {
            let text = "This machine has left its team.".to_owned();
            step.outputs.push(DeskOutput::Lock { hash, text });
        }
        viewers.extend(token_hash);
    }

    /// Removes a link. Whoever may answer according to the settings still may.
    pub(super) fn unlink(
        &mut self,
        step: &mut DeskStep,
        link: &LinkKey,
        by: &str,
        reply_to: &ReplyTo,
    ) {
        if !self.links.contains_key(&link.to_string()) {
            return step.reply(reply_to, false, "There is no such link.");
        }
        let said = format!("{} was unlinked by {by}.", self.link_description(link));
        let is_given = self.remove_link(step, link, by, &said);
        let more = if is_given { " The settings still let it answer." } else { "" };
        step.reply(reply_to, true, &format!("The link is gone.{more}"));
    }

    /// Removes a link and tells everybody. Returns true if whoever it names may answer all the
    /// same, because of the settings.
    pub(super) fn remove_link(
        &mut self,
        step: &mut DeskStep,
        link: &LinkKey,
        by: &str,
        said: &str,
    ) -> bool {
        // The one that is unlinked is notified, too.
        self.announce(step, said);
        step.forget_value(format!("{KEPT_LINKS}{link}"));
        let removed = LinkRemoved { link: link.to_string(), by: by.to_owned() };
        step.record_event(None, &LedgerEvent::Unpaired(removed));
        self.revoke_link(step, link, &format!("{said} This viewer may not answer any more."))
    }

    /// Removes the links of pages at other origins of this machine. Whoever has the page's old port
    /// now can read what browsers store for it, and so their tokens. An origin over TLS belongs to
    /// whoever has its certificate.
    pub(super) fn page_served(&mut self, step: &mut DeskStep, origins: &[String]) {
        let is_void = |link: &&String| {
            let origin = link.split_once('@').map(|(_, origin)| origin);
            let origin = origin.filter(|origin| origin.starts_with("http://"));
            origin.is_some_and(|origin| origins.iter().all(|served| served != origin))
        };
        let void: Vec<String> = self.links.keys().filter(is_void).cloned().collect();
        for link in void.iter().filter_map(|link| LinkKey::parse(link)) {
            let said = format!(
                "{} was unlinked, because the page has another address now.",
                self.link_description(&link)
            );
            self.remove_link(step, &link, "the page at another address", &said);
        }
    }

    pub(super) fn link_description(&self, link: &LinkKey) -> String {
        let name = self.links.get(&link.to_string()).map_or("", String::as_str);
        describe_link(link, name)
    }

    /// Tells everybody who may answer about a link that was made or removed, in muted chats too.
    pub(super) fn announce(&self, step: &mut DeskStep, text: &str) {
        let text = format!("{text} If that was not you: `callgate pair --list`.");
        // Muted or not: nobody is linked without the others knowing.
        self.say_to_chats(step, self.authority.chats.iter().copied().collect(), text);
    }
}

/// Describes a link. Its name was chosen by whoever it names, so it is quoted and followed by what
/// it is.
pub(super) fn describe_link(link: &LinkKey, name: &str) -> String {
    let name = record::shown_name(name);
    match link {
        LinkKey::Chat(id) => format!("“{name}” (Telegram chat {id})"),
        LinkKey::User(id) => format!("“{name}” (Telegram user {id}, in groups)"),
        LinkKey::Viewer(hash) => {
            let short = hash.get(..SHORT_HASH).unwrap_or(hash);
            format!("“{name}” (viewer {short})")
        }
    }
}

#[cfg(test)]
mod tests;
