//! Creating, listing, loading, renaming and deleting conversations.

use callgate_wire::session::{
    ConversationCreated, ConversationList, ConversationMessages, LoadAs, SessionCommand,
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
        self.told(SessionCommand::NewConversation { conversation_id: None, title }).await
    }

    /// Returns at most `limit` conversations, the most recently changed first, of those last
    /// changed before `before`, in milliseconds since the Unix epoch.
    pub async fn conversations(
        &self,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> Result<ConversationList, ClientError> {
        self.told(SessionCommand::ListConversations { limit, before }).await
    }

    /// Makes a conversation the current one, and returns at most `limit` of its last messages,
    /// before the message with the number `before`.
    pub async fn load_conversation(
        &self,
        conversation: &str,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> Result<ConversationMessages, ClientError> {
        self.told(load(conversation, limit, before, LoadAs::Messages)).await
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
        self.send(load(conversation, limit, before, LoadAs::Events)).await
    }

    /// Renames a conversation.
    pub async fn rename_conversation(
        &self,
        conversation: &str,
        title: &str,
    ) -> Result<(), ClientError> {
        let (conversation_id, title) = (conversation.to_owned(), title.to_owned());
        self.request(SessionCommand::RenameConversation { conversation_id, title }).await.map(drop)
    }

    /// Deletes a conversation.
    pub async fn delete_conversation(&self, conversation: &str) -> Result<(), ClientError> {
        let conversation_id = conversation.to_owned();
        self.request(SessionCommand::DeleteConversation { conversation_id }).await.map(drop)
    }

    /// Removes all messages of the current conversation, after the requests before it.
    pub async fn clear_history(&self) -> Result<(), ClientError> {
        self.request(SessionCommand::ClearHistory { metadata: None }).await.map(drop)
    }

    /// Sends a request and returns the data of its `done`.
    async fn told<T: DeserializeOwned>(&self, command: SessionCommand) -> Result<T, ClientError> {
        let kind = command.kind();
        let reply = self.request(command).await?;
        reply.event.done_data().ok_or(ClientError::Unexpected { kind })
    }
}

fn load(
    conversation: &str,
    limit: Option<u32>,
    before: Option<u64>,
    load_as: LoadAs,
) -> SessionCommand {
    let conversation_id = conversation.to_owned();
    SessionCommand::LoadConversation { conversation_id, limit, before, load_as }
}
