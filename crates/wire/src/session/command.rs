//! The kinds of requests.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::conversation::{decode_conversation_id, decode_metadata, decode_title, of_metadata};
use super::engine::{engine_name, model_name};
use super::file::decode_query;
use super::front_tool::decode_tools;
use super::{
    Attachment, ConversationMode, FrontTool, FrontToolAnswer, PermissionAnswer, QuestionAnswer,
    UserMessage, WHOLE_NUMBER, WantedFile, bounded_id, capability,
};

message_kinds! {
    /// The kinds of [`SessionRequest`](super::SessionRequest). Where the conversation may be left
    /// out, the current one is meant.
    pub enum SessionCommand {
        /// A message of the user's, which the model answers.
        UserMessage "user_message" (UserMessage, UserMessage::from_members);
        /// Removes all messages of the conversation.
        ClearHistory "clear_history" {
            /// A JSON object that only the front end understands, unchanged.
            metadata optional: Option<Box<RawValue>> = decode_metadata,
        };
        GetStatus "get_status";
        /// Announces that the front end knows the extensions.
        Hello "hello" {
            /// What the front end accepts, see [`capability`](super::capability).
            capabilities: Vec<String> = "an array of strings",
            tools optional: Vec<FrontTool> = decode_tools,
        };
        /// The front end's answer to a call of its tool.
        ToolAnswer "tool_answer" (FrontToolAnswer, FrontToolAnswer::from_members);
        Cancel "cancel" {
            /// The request's id.
            target: String = bounded_id,
        };
        /// The user's answer to a question.
        PermissionAnswer "permission_answer" (PermissionAnswer, PermissionAnswer::from_members);
        /// The user's answer to a question of the model or of a tool server.
        QuestionAnswer "question_answer" (QuestionAnswer, QuestionAnswer::from_members);
        /// Creates a conversation and makes it the current one.
        NewConversation "new_conversation" {
            /// Its id. Without one, the runtime chooses it.
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
            title optional: Option<String> = decode_title,
        };
        ListConversations "list_conversations" {
            limit optional: Option<u32> = SMALL_NUMBER,
            /// Lists only those that were last changed before this time, in milliseconds since the
            /// Unix epoch.
            before optional: Option<u64> = WHOLE_NUMBER,
            /// Lists only those in whose title or messages all of these words occur.
            search optional: Option<String> = decode_title,
        };
        /// Loads a conversation and makes it the current one.
        LoadConversation "load_conversation" {
            conversation_id "conversationId": String = decode_conversation_id,
            limit optional: Option<u32> = SMALL_NUMBER,
            /// Loads only messages before the one with this number.
            before optional: Option<u64> = WHOLE_NUMBER,
            /// The form in which the messages are sent.
            load_as optional "as": LoadAs = "messages or events",
        };
        RenameConversation "rename_conversation" {
            conversation_id "conversationId": String = decode_conversation_id,
            title: String = decode_title,
        };
        DeleteConversation "delete_conversation" {
            conversation_id "conversationId": String = decode_conversation_id,
        };
        /// Copies a conversation, and makes the copy the current one.
        ForkConversation "fork_conversation" {
            conversation_id "conversationId": String = decode_conversation_id,
            /// How many of its messages to copy; all if `None`.
            length optional: Option<u64> = WHOLE_NUMBER,
            /// The title of the copy; the same as before if `None`.
            title optional: Option<String> = decode_title,
        };
        /// Removes the last messages of a conversation.
        Rewind "rewind" {
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
            length: u64 = WHOLE_NUMBER,
        };
        /// Replaces the messages of a conversation by a summary, for the model.
        Compact "compact" {
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
        };
        /// Hides a message that its provider refuses from the model.
        LeaveOut "leave_out" {
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
        };
        /// Sets who decides about tool calls.
        SetMode "set_mode" {
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
            mode: ConversationMode = "ask, plan or auto",
        };
        /// Asks the model for another answer to the last message.
        Regenerate "regenerate" {
            /// A JSON object that only the front end understands, unchanged.
            metadata optional: Option<Box<RawValue>> = decode_metadata,
        };
        /// Replaces the last message and has the model answer it.
        EditLast "edit_last" (UserMessage, UserMessage::from_members);
        /// Lists the engines and their models.
        ListModels "list_models" {
            engine optional: Option<String> = engine_name,
        };
        /// Chooses the engine and the model of a conversation.
        SetEngine "set_engine" {
            /// The conversation, if it is not the one in the metadata or the current one.
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
            engine: String = engine_name,
            /// The model, as its provider names it. Without one, the engine chooses.
            model optional: Option<String> = model_name,
            /// A JSON object that only the front end understands, unchanged.
            metadata optional: Option<Box<RawValue>> = decode_metadata,
        };
        /// Finds files for a picker of the front end.
        FindFiles "find_files" {
            /// Words that occur in the paths.
            query: String = decode_query,
            limit optional: Option<u32> = SMALL_NUMBER,
        };
        ReadFile "read_file" (WantedFile, WantedFile::from_members);
        /// Asks what a turn has changed.
        TurnDiff "turn_diff" {
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
            /// The turn; the last one that was not undone if `None`.
            turn optional: Option<u64> = WHOLE_NUMBER,
        };
        /// Puts back what a turn has changed.
        UndoTurn "undo_turn" {
            conversation_id optional "conversationId": Option<String> = decode_conversation_id,
            /// The turn; the last one that was not undone if `None`.
            turn optional: Option<u64> = WHOLE_NUMBER,
            /// Whether to put back the rest if some files cannot be put back.
            partial optional: bool = "true or false",
        };
        Replay "replay" {
            from_seq "fromSeq": u64 = WHOLE_NUMBER,
        };
    }
}

const SMALL_NUMBER: &str = "a whole number of at most 4294967295";

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
            // An id that is wrong was refused when the request was read.
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
}
