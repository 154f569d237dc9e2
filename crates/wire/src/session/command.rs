//! The kinds of requests.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::conversation::{
    conversation_id, decode_metadata, decode_title, of_metadata, optional_conversation_id,
};
use super::engine::{engine_name, model_name};
use super::file::decode_query;
use super::front_tool::decode_tools;
use super::{
    Attachment, ConversationMode, FrontTool, FrontToolAnswer, PermissionAnswer, QuestionAnswer,
    UnreadableReason, UserMessage, WHOLE_NUMBER, WantedFile, bounded_id, capability,
};
use crate::fields::{
    Malformed, if_present, is_default, optional_field, required_field, text_field,
};
use crate::raw::Members;

/// The kinds of [`SessionRequest`](super::SessionRequest). Where the conversation may be left out,
/// the current one is meant.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SessionCommand {
    /// A message of the user's, which the model answers.
    UserMessage(UserMessage),
    /// Removes all messages of the conversation.
    ClearHistory {
        /// A JSON object that only the front end understands, unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Box<RawValue>>,
    },
    GetStatus,
    /// Announces that the front end knows the extensions.
    Hello {
        /// What the front end accepts, see [`capability`](super::capability).
        capabilities: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tools: Vec<FrontTool>,
    },
    /// The front end's answer to a call of its tool.
    ToolAnswer(FrontToolAnswer),
    Cancel {
        /// The request's id.
        target: String,
    },
    /// The user's answer to a question.
    PermissionAnswer(PermissionAnswer),
    /// The user's answer to a question of the model or of a tool server.
    QuestionAnswer(QuestionAnswer),
    /// Creates a conversation and makes it the current one.
    NewConversation {
        /// Its id. Without one, the runtime chooses it.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    ListConversations {
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// Lists only those that were last changed before this time, in milliseconds since the Unix
        /// epoch.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// Lists only those in whose title or messages all of these words occur.
        #[serde(skip_serializing_if = "Option::is_none")]
        search: Option<String>,
    },
    /// Loads a conversation and makes it the current one.
    LoadConversation {
        conversation_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// Loads only messages before the one with this number.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// The form in which the messages are sent.
        #[serde(rename = "as", skip_serializing_if = "is_default")]
        load_as: LoadAs,
    },
    RenameConversation {
        conversation_id: String,
        title: String,
    },
    DeleteConversation {
        conversation_id: String,
    },
    /// Copies a conversation, and makes the copy the current one.
    ForkConversation {
        conversation_id: String,
        /// How many of its messages to copy; all if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
        /// The title of the copy; the same as before if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Removes the last messages of a conversation.
    Rewind {
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
        length: u64,
    },
    /// Replaces the messages of a conversation by a summary, for the model.
    Compact {
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
    },
    /// Has the model no longer read a message that its provider refuses.
    LeaveOut {
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
    },
    /// Sets who decides about tool calls.
    SetMode {
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
        mode: ConversationMode,
    },
    /// Has the model answer the last message again.
    Regenerate {
        /// A JSON object that only the front end understands, unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Box<RawValue>>,
    },
    /// Replaces the last message and has the model answer it.
    EditLast(UserMessage),
    /// Lists the engines and their models.
    ListModels {
        #[serde(skip_serializing_if = "Option::is_none")]
        engine: Option<String>,
    },
    /// Chooses the engine and the model of a conversation.
    SetEngine {
        /// The conversation, if it is not the one in the metadata or the current one.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
        engine: String,
        /// The model, as its provider names it. Without one, the engine chooses.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// A JSON object that only the front end understands, unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Box<RawValue>>,
    },
    /// Finds files for a picker of the front end.
    FindFiles {
        /// Words that occur in the paths.
        query: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    ReadFile(WantedFile),
    /// Asks what a turn has changed.
    TurnDiff {
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
        /// The turn; the last one that was not undone if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
    },
    /// Puts back what a turn has changed.
    UndoTurn {
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation_id: Option<String>,
        /// The turn; the last one that was not undone if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
        /// Whether to put back the rest if some files cannot be put back.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    Replay {
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
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UserMessage(_) => "user_message",
            Self::ClearHistory { .. } => "clear_history",
            Self::GetStatus => "get_status",
            Self::Hello { .. } => "hello",
            Self::ToolAnswer(_) => "tool_answer",
            Self::Cancel { .. } => "cancel",
            Self::PermissionAnswer(_) => "permission_answer",
            Self::QuestionAnswer(_) => "question_answer",
            Self::NewConversation { .. } => "new_conversation",
            Self::ListConversations { .. } => "list_conversations",
            Self::LoadConversation { .. } => "load_conversation",
            Self::RenameConversation { .. } => "rename_conversation",
            Self::DeleteConversation { .. } => "delete_conversation",
            Self::ForkConversation { .. } => "fork_conversation",
            Self::Rewind { .. } => "rewind",
            Self::Compact { .. } => "compact",
            Self::LeaveOut { .. } => "leave_out",
            Self::SetMode { .. } => "set_mode",
            Self::Regenerate { .. } => "regenerate",
            Self::EditLast(_) => "edit_last",
            Self::ListModels { .. } => "list_models",
            Self::SetEngine { .. } => "set_engine",
            Self::FindFiles { .. } => "find_files",
            Self::ReadFile(_) => "read_file",
            Self::TurnDiff { .. } => "turn_diff",
            Self::UndoTurn { .. } => "undo_turn",
            Self::Replay { .. } => "replay",
        }
    }

    /// Returns true if it is only served after `hello`. `hello` itself is not an extension.
    pub fn is_extension(&self) -> bool {
        !matches!(
            self,
            Self::UserMessage(_) | Self::ClearHistory { .. } | Self::GetStatus | Self::Hello { .. }
        )
    }

    /// Returns the capability that a runtime needs to understand it, in addition to
    /// [`hello`](capability::HELLO), which all [extensions](Self::is_extension) need.
    pub fn capability(&self) -> Option<&'static str> {
        match self {
            Self::UserMessage(said) | Self::EditLast(said)
                if said.attachments.iter().any(Attachment::is_inline) =>
            {
                Some(capability::INLINE_ATTACHMENTS)
            }
            Self::LoadConversation { load_as: LoadAs::Events, .. } => Some(capability::LOAD_EVENTS),
            Self::ListConversations { search: Some(_), .. } => Some(capability::SEARCH),
            Self::ListModels { .. } => Some(capability::LIST_MODELS),
            Self::SetEngine { .. } => Some(capability::SET_ENGINE),
            Self::UserMessage(said) if said.steer => Some(capability::STEER),
            Self::UserMessage(said) if said.output_schema.is_some() => {
                Some(capability::OUTPUT_SCHEMA)
            }
            Self::ToolAnswer(_) => Some(capability::FRONT_TOOLS),
            Self::QuestionAnswer(_) => Some(capability::QUESTION),
            Self::ForkConversation { .. } => Some(capability::FORK),
            Self::Rewind { .. } => Some(capability::REWIND),
            Self::Compact { .. } => Some(capability::COMPACT),
            Self::LeaveOut { .. } => Some(capability::LEAVE_OUT),
            Self::SetMode { .. } => Some(capability::MODES),
            Self::FindFiles { .. } | Self::ReadFile(_) => Some(capability::FILES),
            Self::TurnDiff { .. } | Self::UndoTurn { .. } => Some(capability::TURN_DIFF),
            _ => None,
        }
    }

    /// Returns the id of its conversation, from its own field or from `metadata.conversationId`.
    pub fn conversation_id(&self) -> Option<String> {
        match self {
            Self::UserMessage(said) | Self::EditLast(said) => said.conversation_id(),
            Self::ClearHistory { metadata } | Self::Regenerate { metadata } => {
                of_metadata(metadata.as_deref()).ok().flatten()
            }
            Self::NewConversation { conversation_id, .. }
            | Self::Rewind { conversation_id, .. }
            | Self::Compact { conversation_id }
            | Self::LeaveOut { conversation_id }
            | Self::TurnDiff { conversation_id, .. }
            | Self::UndoTurn { conversation_id, .. }
            | Self::SetMode { conversation_id, .. } => conversation_id.clone(),
            Self::SetEngine { conversation_id, metadata, .. } => {
                conversation_id.clone().or_else(|| of_metadata(metadata.as_deref()).ok().flatten())
            }
            Self::LoadConversation { conversation_id, .. }
            | Self::ForkConversation { conversation_id, .. }
            | Self::RenameConversation { conversation_id, .. }
            | Self::DeleteConversation { conversation_id } => Some(conversation_id.clone()),
            _ => None,
        }
    }

    pub(super) fn from_members(members: &Members) -> Result<Self, UnreadableReason> {
        let kind = text_field(members, "kind").ok_or(UnreadableReason::NoKind)?;
        let whole_number = |name| required_field(members, name, WHOLE_NUMBER);
        Ok(match kind.as_str() {
            "user_message" => Self::UserMessage(UserMessage::from_members(members)?),
            "clear_history" => Self::ClearHistory { metadata: decode_metadata(members)? },
            "get_status" => Self::GetStatus,
            "hello" => Self::Hello {
                capabilities: required_field(members, "capabilities", "an array of strings")?,
                tools: decode_tools(members)?,
            },
            "tool_answer" => Self::ToolAnswer(FrontToolAnswer::from_members(members)?),
            "cancel" => Self::Cancel { target: bounded_id(members, "target")? },
            "permission_answer" => Self::PermissionAnswer(PermissionAnswer::from_members(members)?),
            "question_answer" => Self::QuestionAnswer(QuestionAnswer::from_members(members)?),
            "new_conversation" => Self::NewConversation {
                conversation_id: optional_conversation_id(members)?,
                title: if_present(members, "title", decode_title)?,
            },
            "list_conversations" => Self::ListConversations {
                limit: decode_limit(members)?,
                before: optional_field(members, "before", WHOLE_NUMBER)?,
                search: if_present(members, "search", decode_title)?,
            },
            "load_conversation" => Self::LoadConversation {
                conversation_id: conversation_id(members)?,
                limit: decode_limit(members)?,
                before: optional_field(members, "before", WHOLE_NUMBER)?,
                load_as: optional_field(members, "as", "messages or events")?.unwrap_or_default(),
            },
            "rename_conversation" => Self::RenameConversation {
                conversation_id: conversation_id(members)?,
                title: decode_title(members, "title")?,
            },
            "delete_conversation" => {
                Self::DeleteConversation { conversation_id: conversation_id(members)? }
            }
            "fork_conversation" => Self::ForkConversation {
                conversation_id: conversation_id(members)?,
                length: optional_field(members, "length", WHOLE_NUMBER)?,
                title: if_present(members, "title", decode_title)?,
            },
            "rewind" => Self::Rewind {
                conversation_id: optional_conversation_id(members)?,
                length: whole_number("length")?,
            },
            "compact" => Self::Compact { conversation_id: optional_conversation_id(members)? },
            "leave_out" => Self::LeaveOut { conversation_id: optional_conversation_id(members)? },
            "set_mode" => Self::SetMode {
                conversation_id: optional_conversation_id(members)?,
                mode: required_field(members, "mode", "ask, plan or auto")?,
            },
            "regenerate" => Self::Regenerate { metadata: decode_metadata(members)? },
            "edit_last" => Self::EditLast(UserMessage::from_members(members)?),
            "list_models" => {
                Self::ListModels { engine: if_present(members, "engine", engine_name)? }
            }
            "set_engine" => Self::SetEngine {
                conversation_id: optional_conversation_id(members)?,
                engine: engine_name(members, "engine")?,
                model: if_present(members, "model", model_name)?,
                metadata: decode_metadata(members)?,
            },
            "find_files" => {
                Self::FindFiles { query: decode_query(members)?, limit: decode_limit(members)? }
            }
            "read_file" => Self::ReadFile(WantedFile::from_members(members)?),
            "turn_diff" => Self::TurnDiff {
                conversation_id: optional_conversation_id(members)?,
                turn: optional_field(members, "turn", WHOLE_NUMBER)?,
            },
            "undo_turn" => Self::UndoTurn {
                conversation_id: optional_conversation_id(members)?,
                turn: optional_field(members, "turn", WHOLE_NUMBER)?,
                partial: optional_field(members, "partial", "true or false")?.unwrap_or_default(),
            },
            "replay" => Self::Replay { from_seq: whole_number("fromSeq")? },
            _ => return Err(UnreadableReason::unknown(&kind)),
        })
    }
}

fn decode_limit(members: &Members) -> Result<Option<u32>, Malformed> {
    optional_field(members, "limit", "a whole number of at most 4294967295")
}
