//! The conversation of an earlier chat that is to be continued, and what to say if there is none.

use callgate_wire::session::ConversationList;

const NONE_AT_ALL: &str = "there is no conversation yet, so a new one begins";
const NONE_HERE: &str = "there is no conversation of this folder yet, so a new one begins; \
    --all-folders continues the last one of all folders";

/// The conversation that the user wants to continue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WantedConversation {
    /// None: a new one begins.
    #[default]
    New,
    /// The one that was used last.
    Last {
        /// Whether conversations of all folders count.
        is_all: bool,
    },
    Id(String),
}

#[derive(Debug, PartialEq, Eq)]
pub enum MissingConversation {
    /// There is no earlier conversation, here or anywhere; a new one starts.
    Last(&'static str),
    /// No conversation has the given id.
    Id(String),
}

impl WantedConversation {
    /// Returns true if the user wants to continue one.
    pub fn is_some(&self) -> bool {
        *self != Self::New
    }

    /// Looks for it in what the runtime lists. Returns what is missing.
    pub fn find_missing(&self, list: &ConversationList) -> Option<MissingConversation> {
        match self {
            Self::Last { is_all } if list.conversations.is_empty() => {
                Some(MissingConversation::Last(if *is_all { NONE_AT_ALL } else { NONE_HERE }))
            }
            // The runtime was started with this id, so the conversation is current if it exists.
            Self::Id(id) if list.current.as_ref() != Some(id) => {
                Some(MissingConversation::Id(format!(
                    "there is no conversation `{id}`: /list in `callgate chat --all-folders` shows \
                     all"
                )))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use callgate_wire::session::ConversationSummary;

    use super::*;

    #[test]
    fn what_is_missing_is_told_apart() {
        let listed = ConversationSummary {
            conversation_id: "c".to_owned(),
            title: None,
            length: 2,
            created_at: 0,
            updated_at: 0,
            folder: None,
        };
        let listing = |conversations: &[&ConversationSummary]| ConversationList {
            conversations: conversations.iter().map(|one| (*one).clone()).collect(),
            current: Some("c".to_owned()),
        };
        let last = |is_all| WantedConversation::Last { is_all };
        assert_eq!(last(false).find_missing(&listing(&[&listed])), None);
        let here = last(false).find_missing(&listing(&[]));
        assert!(matches!(here, Some(MissingConversation::Last(text)) if text.contains("folder")));
        let anywhere = last(true).find_missing(&listing(&[]));
        assert!(!matches!(anywhere, Some(MissingConversation::Last(text)) if text.contains("--")));
        let by_id = |id: &str| WantedConversation::Id(id.to_owned());
        assert_eq!(by_id("c").find_missing(&listing(&[])), None);
        assert!(matches!(
            by_id("d").find_missing(&listing(&[&listed])),
            Some(MissingConversation::Id(_))
        ));
        assert!(!WantedConversation::New.is_some());
    }
}
