//! Creating, listing, loading, copying, cutting, renaming and deleting conversations.

use callgate_wire::session::{
    ConversationCompacted, ConversationCreated, ConversationList, ConversationMessages,
    ConversationMode, ConversationTrimmed, LoadAs, MessageLeftOut, ModeSet, SessionCommand,
};
use serde::de::DeserializeOwned;

use crate::{Client, ClientError, SentRequest};

impl Client {
    /// Creates a conversation and makes it the current one.
    pub async fn new_conversation(
        &self,
        title: Option<&str>,
    ) -> Result<ConversationCreated, ClientError> {
        let title = title.map(str::to_owned);
        self.request_data(SessionCommand::NewConversation { conversation_id: None, title }).await
    }

    /// Returns at most `limit` conversations, the most recently changed first, of those last
    /// changed before `before`, in milliseconds since the Unix epoch.
    pub async fn conversations(
        &self,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> Result<ConversationList, ClientError> {
        self.request_data(SessionCommand::ListConversations { limit, before, search: None }).await
    }

    /// Makes a conversation the current one, and returns at most `limit` of its last messages,
    /// before the message with the number `before`.
    pub async fn load_conversation(
        &self,
        conversation: &str,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> Result<ConversationMessages, ClientError> {
        self.request_data(load_command(conversation, limit, before, LoadAs::Messages)).await
    }

    /// Makes a conversation the current one, and sends at most `limit` of its last messages as the
    /// events of a live answer, before the message with the number `before`. The data of `done` is
    /// [`ConversationEvents`](callgate_wire::session::ConversationEvents).
    pub async fn load_events(
        &self,
        conversation: &str,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> SentRequest {
        self.send(load_command(conversation, limit, before, LoadAs::Events)).await
    }

    /// Copies the first `length` messages of a conversation, or all of them, to a new conversation,
    /// which becomes the current one. A turn must begin after those messages.
    pub async fn fork_conversation(
        &self,
        conversation: &str,
        length: Option<u64>,
        title: Option<&str>,
    ) -> Result<ConversationTrimmed, ClientError> {
        let (conversation_id, title) = (conversation.to_owned(), title.map(str::to_owned));
        self.request_data(SessionCommand::ForkConversation { conversation_id, length, title }).await
    }

    /// Removes all messages of the current conversation but the first `length`, after the requests
    /// before it. A turn must begin after those messages.
    pub async fn rewind(&self, length: u64) -> Result<ConversationTrimmed, ClientError> {
        self.request_data(SessionCommand::Rewind { conversation_id: None, length }).await
    }

    /// Replaces the messages of the current conversation by a summary, for the model, after the
    /// requests before it.
    pub async fn compact(&self) -> Result<ConversationCompacted, ClientError> {
        self.request_data(SessionCommand::Compact { conversation_id: None }).await
    }

    /// Has the model no longer read the message of the current conversation that its provider
    /// refuses, or else the last one.
    pub async fn leave_out(&self) -> Result<MessageLeftOut, ClientError> {
        self.request_data(SessionCommand::LeaveOut { conversation_id: None }).await
    }

    /// Sets who decides about the tool calls of the current conversation, from the next call on.
    pub async fn set_mode(&self, mode: ConversationMode) -> Result<ModeSet, ClientError> {
        self.request_data(SessionCommand::SetMode { conversation_id: None, mode }).await
    }

    pub async fn rename_conversation(
        &self,
        conversation: &str,
        title: &str,
    ) -> Result<(), ClientError> {
        let (conversation_id, title) = (conversation.to_owned(), title.to_owned());
        self.request(SessionCommand::RenameConversation { conversation_id, title }).await.map(drop)
    }

    pub async fn delete_conversation(&self, conversation: &str) -> Result<(), ClientError> {
        let conversation_id = conversation.to_owned();
        self.request(SessionCommand::DeleteConversation { conversation_id }).await.map(drop)
    }

    /// Removes all messages of the current conversation, after the requests before it.
    pub async fn clear_history(&self) -> Result<(), ClientError> {
        self.request(SessionCommand::ClearHistory { metadata: None }).await.map(drop)
    }

    /// Sends a request and returns the data of its `done`.
    pub(super) async fn request_data<T: DeserializeOwned>(
        &self,
        command: SessionCommand,
    ) -> Result<T, ClientError> {
        let kind = command.kind();
        let reply = self.request(command).await?;
        reply.event.done_data().ok_or(ClientError::Unexpected { kind })
    }
}

fn load_command(
    conversation: &str,
    limit: Option<u32>,
    before: Option<u64>,
    load_as: LoadAs,
) -> SessionCommand {
    let conversation_id = conversation.to_owned();
    SessionCommand::LoadConversation { conversation_id, limit, before, load_as }
}
