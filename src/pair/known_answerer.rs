//! Who may answer: because of a link, or of the settings.

use callgate_mask::text::one_line;
use callgate_settings::keys;
use callgate_wire::desk::NamedLink;
use callgate_wire::ledger::VIEWER_LINK;

use crate::config::{Config, SettingOrigin};

/// How many characters of a viewer's hash are shown, which are enough to name it.
const SHORT: usize = 12;

/// Somebody who may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownAnswerer {
    /// `chat/ID`, `user/ID` or `viewer/HASH`.
    pub(crate) link: String,
    by: AnswererReason,
}

/// Why somebody may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AnswererReason {
    /// They were linked with a code, under this name.
    Code(String),
    /// This setting allows them.
    Setting { key: &'static str, origin: SettingOrigin },
}

impl KnownAnswerer {
    /// Returns everybody who may answer, according to these links and the settings.
    pub(crate) fn from_links(links: Vec<NamedLink>, config: &Config) -> Vec<Self> {
        let linked = links
            .into_iter()
            .map(|NamedLink { link, name, .. }| Self { link, by: AnswererReason::Code(name) });
        let telegram = &config.telegram;
        let given = [
            ("chat", keys::TELEGRAM_ALLOWED_CHATS.key.name, &telegram.allowed_chats),
            ("user", keys::TELEGRAM_ALLOWED_USERS.key.name, &telegram.allowed_users),
        ];
        let given = given.into_iter().flat_map(|(kind, key, setting)| {
            setting.value.iter().map(move |id| Self {
                link: format!("{kind}/{id}"),
                by: AnswererReason::Setting { key, origin: setting.origin.clone() },
            })
        });
        linked.chain(given).collect()
    }

    /// Returns the one link that `who` names: by the whole link, by its id, or by its name.
    pub(super) fn find<'a>(known: &'a [Self], who: &str) -> Result<&'a Self, String> {
        let named: Vec<&Self> = known.iter().filter(|one| one.is_named_by(who)).collect();
        let is_linked = |one: &&&Self| matches!(one.by, AnswererReason::Code(_));
        let linked: Vec<&Self> = named.iter().filter(is_linked).copied().collect();
        match (linked.as_slice(), named.first()) {
            ([one], _) => Ok(one),
            ([], Some(Self { by: AnswererReason::Setting { key, origin }, .. })) => {
                Err(format!("{who} may answer by `{key}` ({origin}): remove it there"))
            }
            ([], _) => Err(format!("nobody is linked as {who}: see `callgate pair --list`")),
            (several, _) => {
                let ids: Vec<String> = several.iter().map(|one| one.short_link()).collect();
                Err(format!("{who} names several links: take one of {}", ids.join(", ")))
            }
        }
    }

    /// Returns the link, short enough for a line.
    pub(crate) fn short_link(&self) -> String {
        match self.link.strip_prefix(VIEWER_LINK) {
            Some(hash) => format!("{VIEWER_LINK}{}", hash.get(..SHORT).unwrap_or(hash)),
            None => self.link.clone(),
        }
    }

    /// Returns the name that they chose, or the setting that allows them.
    pub(crate) fn name_or_setting(&self) -> String {
        match &self.by {
            AnswererReason::Code(name) => one_line(name).into_owned(),
            AnswererReason::Setting { key, origin } => format!("by `{key}` ({origin})"),
        }
    }

    fn is_named_by(&self, who: &str) -> bool {
        let id = self.link.split_once('/').map_or("", |(_, id)| id);
        let hash = who.strip_prefix(VIEWER_LINK).unwrap_or(who);
        let is_short_hash =
            self.link.starts_with(VIEWER_LINK) && hash.len() >= SHORT && id.starts_with(hash);
        let is_named = matches!(&self.by, AnswererReason::Code(name) if name.to_lowercase() == who.to_lowercase());
        who == self.link || who == id || is_short_hash || is_named
    }
}

#[cfg(test)]
mod tests;
