//! The kinds of requests.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::conversation::{
    conversation_id, metadata, of_metadata, optional_conversation_id, title,
};
use super::{
    Attachment, LONGEST_ID, PermissionAnswer, UnreadableReason, UserMessage, WHOLE_NUMBER, bounded,
    capability, text,
};
use crate::fields::{Malformed, optional, required, write_optional};
use crate::raw::Members;

/// The kinds of [`SessionRequest`](super::SessionRequest).
#[derive(Debug, Clone)]
pub enum SessionCommand {
    /// A message of the user's, which the model answers.
    UserMessage(UserMessage),
    /// Removes all messages of the conversation.
    ClearHistory {
        /// A JSON object that only the front end understands, unchanged.
        metadata: Option<Box<RawValue>>,
    },
    /// Asks for the status of the runtime.
    GetStatus,
    /// Announces that the front end knows the extensions.
    Hello {
        /// What the front end accepts, see [`capability`](super::capability).
        capabilities: Vec<String>,
    },
    /// Ends a request.
    Cancel {
        /// The request's id.
        target: String,
    },
    /// The user's answer to a question.
    PermissionAnswer(PermissionAnswer),
    /// Creates a conversation and makes it the current one.
    NewConversation {
        /// Its id. Without one, the runtime chooses it.
        conversation_id: Option<String>,
        /// Its title.
        title: Option<String>,
    },
    /// Lists the conversations.
    ListConversations {
        /// The most conversations to list.
        limit: Option<u32>,
        /// Lists only those that were last changed before this time, in milliseconds since the Unix
        /// epoch.
        before: Option<u64>,
    },
    /// Loads a conversation and makes it the current one.
    LoadConversation {
        /// The conversation.
        conversation_id: String,
        /// The most messages to load.
        limit: Option<u32>,
        /// Loads only messages before the one with this number.
        before: Option<u64>,
        /// The form in which the messages are sent.
        load_as: LoadAs,
    },
    /// Renames a conversation.
    RenameConversation {
        /// The conversation.
        conversation_id: String,
        /// The title.
        title: String,
    },
    /// Deletes a conversation.
    DeleteConversation {
        /// The conversation.
        conversation_id: String,
    },
    /// Has the model answer the last message again.
    Regenerate {
        /// A JSON object that only the front end understands, unchanged.
        metadata: Option<Box<RawValue>>,
    },
    /// Replaces the last message and has the model answer it.
    EditLast(UserMessage),
    /// Sends responses again.
    Replay {
        /// The number of the first response.
        from_seq: u64,
    },
}

/// The form in which a conversation is loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadAs {
    /// As messages of the Messages API, all in the data of `done`.
    #[default]
    Messages,
    /// As the events of a live answer, sent before `done`.
    Events,
}

impl SessionCommand {
    /// Returns its name in the protocol.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UserMessage(_) => "user_message",
            Self::ClearHistory { .. } => "clear_history",
            Self::GetStatus => "get_status",
            Self::Hello { .. } => "hello",
            Self::Cancel { .. } => "cancel",
            Self::PermissionAnswer(_) => "permission_answer",
            Self::NewConversation { .. } => "new_conversation",
            Self::ListConversations { .. } => "list_conversations",
            Self::LoadConversation { .. } => "load_conversation",
            Self::RenameConversation { .. } => "rename_conversation",
            Self::DeleteConversation { .. } => "delete_conversation",
            Self::Regenerate { .. } => "regenerate",
            Self::EditLast(_) => "edit_last",
            Self::Replay { .. } => "replay",
        }
    }

    /// Returns true if it is only served after `hello`. `hello` itself is not an extension.
    #[must_use]
    pub fn is_extension(&self) -> bool {
        !matches!(
            self,
            Self::UserMessage(_) | Self::ClearHistory { .. } | Self::GetStatus | Self::Hello { .. }
        )
    }

    /// Returns the capability that a runtime needs to understand it, in addition to
    /// [`hello`](capability::HELLO), which all [extensions](Self::is_extension) need.
    #[must_use]
    pub fn capability(&self) -> Option<&'static str> {
        match self {
            Self::UserMessage(said) | Self::EditLast(said)
                if said.attachments.iter().any(Attachment::is_inline) =>
            {
                Some(capability::INLINE_ATTACHMENTS)
            }
            Self::LoadConversation { load_as: LoadAs::Events, .. } => Some(capability::LOAD_EVENTS),
            _ => None,
        }
    }

    /// Returns the id of its conversation, from its own field or from `metadata.conversationId`.
    #[must_use]
    pub fn conversation_id(&self) -> Option<String> {
        match self {
            Self::UserMessage(said) | Self::EditLast(said) => said.conversation_id(),
            Self::ClearHistory { metadata } | Self::Regenerate { metadata } => {
                of_metadata(metadata.as_deref()).ok().flatten()
            }
            Self::NewConversation { conversation_id, .. } => conversation_id.clone(),
            Self::LoadConversation { conversation_id, .. }
            | Self::RenameConversation { conversation_id, .. }
            | Self::DeleteConversation { conversation_id } => Some(conversation_id.clone()),
            _ => None,
        }
    }

    pub(super) fn read(members: &Members) -> Result<Self, UnreadableReason> {
        let kind = text(members, "kind").ok_or(UnreadableReason::NoKind)?;
        Ok(match kind.as_str() {
            "user_message" => Self::UserMessage(UserMessage::read(members)?),
            "clear_history" => Self::ClearHistory { metadata: metadata(members)? },
            "get_status" => Self::GetStatus,
            "hello" => Self::Hello {
                capabilities: required(members, "capabilities", "an array of strings")?,
            },
            "cancel" => Self::Cancel { target: bounded(members, "target", LONGEST_ID)? },
            "permission_answer" => Self::PermissionAnswer(PermissionAnswer::read(members)?),
            "new_conversation" => Self::NewConversation {
                conversation_id: optional_conversation_id(members)?,
                title: optional_title(members)?,
            },
            "list_conversations" => Self::ListConversations {
                limit: limit(members)?,
                before: optional(members, "before", WHOLE_NUMBER)?,
            },
            "load_conversation" => Self::LoadConversation {
                conversation_id: conversation_id(members)?,
                limit: limit(members)?,
                before: optional(members, "before", WHOLE_NUMBER)?,
                load_as: optional(members, "as", "messages or events")?.unwrap_or_default(),
            },
            "rename_conversation" => Self::RenameConversation {
                conversation_id: conversation_id(members)?,
                title: title(members)?,
            },
            "delete_conversation" => {
                Self::DeleteConversation { conversation_id: conversation_id(members)? }
            }
            "regenerate" => Self::Regenerate { metadata: metadata(members)? },
            "edit_last" => Self::EditLast(UserMessage::read(members)?),
            "replay" => Self::Replay { from_seq: required(members, "fromSeq", WHOLE_NUMBER)? },
            _ => return Err(UnreadableReason::unknown(&kind)),
        })
    }

    /// Writes all fields except the id and the kind.
    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::UserMessage(said) | Self::EditLast(said) => said.write(map),
            Self::ClearHistory { metadata } | Self::Regenerate { metadata } => {
                write_optional(map, "metadata", metadata.as_ref())
            }
            Self::GetStatus => Ok(()),
            Self::Hello { capabilities } => map.serialize_entry("capabilities", capabilities),
            Self::Cancel { target } => map.serialize_entry("target", target),
            Self::PermissionAnswer(answer) => answer.write(map),
            Self::NewConversation { conversation_id, title } => {
                write_optional(map, "conversationId", conversation_id.as_ref())?;
                write_optional(map, "title", title.as_ref())
            }
            Self::ListConversations { limit, before } => {
                write_optional(map, "limit", limit.as_ref())?;
                write_optional(map, "before", before.as_ref())
            }
            Self::LoadConversation { conversation_id, limit, before, load_as } => {
                map.serialize_entry("conversationId", conversation_id)?;
                write_optional(map, "limit", limit.as_ref())?;
                write_optional(map, "before", before.as_ref())?;
                match load_as {
                    LoadAs::Messages => Ok(()),
                    LoadAs::Events => map.serialize_entry("as", load_as),
                }
            }
            Self::RenameConversation { conversation_id, title } => {
                map.serialize_entry("conversationId", conversation_id)?;
                map.serialize_entry("title", title)
            }
            Self::DeleteConversation { conversation_id } => {
                map.serialize_entry("conversationId", conversation_id)
            }
            Self::Replay { from_seq } => map.serialize_entry("fromSeq", from_seq),
        }
    }
}

fn limit(members: &Members) -> Result<Option<u32>, Malformed> {
    optional(members, "limit", "a whole number of at most 4294967295")
}

fn optional_title(members: &Members) -> Result<Option<String>, Malformed> {
    members.some("title").map(|_| title(members)).transpose()
}
