//! The kinds of requests.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::conversation::{conversation_id, of_metadata, optional_conversation_id, title};
use super::{
    Attachment, LONGEST_ID, PermissionAnswer, UnreadableReason, UserMessage, WHOLE_NUMBER, bounded,
    capability, text,
};
use crate::fields::{Malformed, optional, optional_object, required};
use crate::raw::Members;

/// The kinds of [`SessionRequest`](super::Request).
#[derive(Debug, Clone)]
pub enum SessionCommand {
    /// The user said something: the model is to answer.
    UserMessage(UserMessage),
    /// The conversation starts anew.
    ClearHistory {
        /// A JSON object of the front end's own, as it came.
        metadata: Option<Box<RawValue>>,
    },
    /// How is the runtime?
    GetStatus,
    /// The front end knows the extensions.
    Hello {
        /// What it takes, see [`capability`](super::capability).
        capabilities: Vec<String>,
    },
    /// A request is to end now.
    Cancel {
        /// The request's id.
        target: String,
    },
    /// The user's answer to a question.
    PermissionAnswer(PermissionAnswer),
    /// A conversation begins and becomes the current one.
    NewConversation {
        /// Its id; the runtime makes one up where this is none.
        conversation_id: Option<String>,
        /// Its title.
        title: Option<String>,
    },
    /// Which conversations are there?
    ListConversations {
        /// How many are wanted.
        limit: Option<u32>,
        /// Only those last changed before this moment, in milliseconds since the Unix epoch.
        before: Option<u64>,
    },
    /// A conversation becomes the current one and is shown.
    LoadConversation {
        /// Which.
        conversation_id: String,
        /// How many messages are wanted.
        limit: Option<u32>,
        /// Only those before the message of this number.
        before: Option<u64>,
        /// In which form.
        load_as: LoadAs,
    },
    /// A conversation gets another title.
    RenameConversation {
        /// Which.
        conversation_id: String,
        /// The title.
        title: String,
    },
    /// A conversation is forgotten.
    DeleteConversation {
        /// Which.
        conversation_id: String,
    },
    /// The model is to answer the last message again.
    Regenerate {
        /// A JSON object of the front end's own, as it came.
        metadata: Option<Box<RawValue>>,
    },
    /// The last message was meant like this: the model is to answer it instead.
    EditLast(UserMessage),
    /// Responses are to be sent again.
    Replay {
        /// The number of the first of them.
        from_seq: u64,
    },
}

/// In which form a conversation is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadAs {
    /// As messages of the Messages API, all in the `done`.
    #[default]
    Messages,
    /// As the events of a live answer, before the `done`.
    Events,
}

impl SessionCommand {
    /// Returns the word for it on the line.
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

    /// Returns true if it is served only after `hello`; so `hello` itself is none.
    #[must_use]
    pub fn is_extension(&self) -> bool {
        !matches!(
            self,
            Self::UserMessage(_) | Self::ClearHistory { .. } | Self::GetStatus | Self::Hello { .. }
        )
    }

    /// Returns the capability without which a runtime does not understand it as it is meant;
    /// beside [`hello`](capability::HELLO), which all [extensions](Self::is_extension) need.
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

    /// Returns the conversation that it names, in a field of its own or as
    /// `metadata.conversationId`.
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

    /// Writes all but the id and the kind.
    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::UserMessage(said) | Self::EditLast(said) => said.write(map),
            Self::ClearHistory { metadata } | Self::Regenerate { metadata } => {
                some(map, "metadata", metadata.as_ref())
            }
            Self::GetStatus => Ok(()),
            Self::Hello { capabilities } => map.serialize_entry("capabilities", capabilities),
            Self::Cancel { target } => map.serialize_entry("target", target),
            Self::PermissionAnswer(answer) => answer.write(map),
            Self::NewConversation { conversation_id, title } => {
                some(map, "conversationId", conversation_id.as_ref())?;
                some(map, "title", title.as_ref())
            }
            Self::ListConversations { limit, before } => {
                some(map, "limit", limit.as_ref())?;
                some(map, "before", before.as_ref())
            }
            Self::LoadConversation { conversation_id, limit, before, load_as } => {
                map.serialize_entry("conversationId", conversation_id)?;
                some(map, "limit", limit.as_ref())?;
                some(map, "before", before.as_ref())?;
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

/// Returns the metadata; a conversation that it names has to be named as it should.
pub(super) fn metadata(members: &Members) -> Result<Option<Box<RawValue>>, Malformed> {
    let metadata = optional_object(members, "metadata")?;
    of_metadata(metadata.as_deref())?;
    Ok(metadata)
}

/// Writes a field that may be absent.
pub(super) fn some<M: SerializeMap>(
    map: &mut M,
    field: &str,
    value: Option<&impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(field, value))
}

fn limit(members: &Members) -> Result<Option<u32>, Malformed> {
    optional(members, "limit", "a whole number of at most 4294967295")
}

fn optional_title(members: &Members) -> Result<Option<String>, Malformed> {
    members.some("title").map(|_| title(members)).transpose()
}
