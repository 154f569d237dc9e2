//! The conversation of an earlier chat that is to be continued, and what to say if there is none.

use callgate_agent::session::ResumedConversation;
use callgate_wire::session::ConversationList;

use crate::config::AgentSettings;

const NONE_AT_ALL: &str = "there is no conversation yet, so a new one begins";
const NONE_HERE: &str = "there is no conversation of this folder yet, so a new one begins; \
    --all-folders continues the last one of all folders";

/// The conversation that the user wants to continue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WantedConversation {
    resume: ResumedConversation,
    /// Whether conversations of all folders count.
    is_all: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum MissingConversation {
    /// None was ever used, here or anywhere. A new one begins.
    Last(&'static str),
    /// None has the id that was given.
    Id(String),
}

impl WantedConversation {
    pub(super) fn from_settings(settings: &AgentSettings) -> Self {
        Self { resume: settings.resume.clone(), is_all: settings.all_folders }
    }

    #[cfg(test)]
    pub(super) fn of_last() -> Self {
        Self { resume: ResumedConversation::Last, is_all: false }
    }

    /// Returns true if the user wants to continue one.
    pub(super) fn is_some(&self) -> bool {
        self.resume != ResumedConversation::None
    }

    /// Looks for it in what the runtime lists. Returns what is missing.
    pub(super) fn find_missing(&self, list: &ConversationList) -> Option<MissingConversation> {
        match &self.resume {
            ResumedConversation::Last if list.conversations.is_empty() => {
                Some(MissingConversation::Last(if self.is_all { NONE_AT_ALL } else { NONE_HERE }))
            }
            ResumedConversation::Id(id) if list.current.as_ref() != Some(id) => {
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
        let wanted = |resume, is_all| WantedConversation { resume, is_all };
        let last = |is_all| wanted(ResumedConversation::Last, is_all);
        assert_eq!(last(false).find_missing(&listing(&[&listed])), None);
        let here = last(false).find_missing(&listing(&[]));
        assert!(matches!(here, Some(MissingConversation::Last(text)) if text.contains("folder")));
        let anywhere = last(true).find_missing(&listing(&[]));
        assert!(!matches!(anywhere, Some(MissingConversation::Last(text)) if text.contains("--")));
        let by_id = |id: &str| wanted(ResumedConversation::Id(id.to_owned()), false);
        assert_eq!(by_id("c").find_missing(&listing(&[])), None);
        assert!(matches!(
            by_id("d").find_missing(&listing(&[&listed])),
            Some(MissingConversation::Id(_))
        ));
        assert!(!wanted(ResumedConversation::None, false).is_some());
    }
}
