//! Conversations: made, listed, loaded, renamed, deleted.

use callgate_wire::session::{
    ConversationCreated, ConversationList, ConversationMessages, LoadAs, SessionCommand,
};
use serde::de::DeserializeOwned;

use crate::{Client, ClientError, SentRequest};

impl Client {
    /// Begins a conversation, which becomes the current one.
    pub async fn new_conversation(
        &self,
        title: Option<&str>,
    ) -> Result<ConversationCreated, ClientError> {
        let title = title.map(str::to_owned);
        self.told(SessionCommand::NewConversation { conversation_id: None, title }).await
    }

    /// Returns which conversations there are, the one that was changed last first: so many, and
    /// only those last changed before this moment, in milliseconds since the Unix epoch.
    pub async fn conversations(
        &self,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> Result<ConversationList, ClientError> {
        self.told(SessionCommand::ListConversations { limit, before }).await
    }

    /// Makes a conversation the current one, and gives its last messages: so many, and only those
    /// before the message of this number.
    pub async fn load_conversation(
        &self,
        conversation: &str,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> Result<ConversationMessages, ClientError> {
        self.told(load(conversation, limit, before, LoadAs::Messages)).await
    }

    /// Makes a conversation the current one, and tells its last messages in the events of a live
    /// answer: so many messages, and only those before the message of this number. The `done` at
    /// the end says [which](callgate_wire::session::ConversationEvents).
    pub async fn load_events(
        &self,
        conversation: &str,
        limit: Option<u32>,
        before: Option<u64>,
    ) -> SentRequest {
        self.send(load(conversation, limit, before, LoadAs::Events)).await
    }

    /// Gives a conversation another title.
    pub async fn rename_conversation(
        &self,
        conversation: &str,
        title: &str,
    ) -> Result<(), ClientError> {
        let (conversation_id, title) = (conversation.to_owned(), title.to_owned());
        self.request(SessionCommand::RenameConversation { conversation_id, title }).await.map(drop)
    }

    /// Forgets a conversation.
    pub async fn delete_conversation(&self, conversation: &str) -> Result<(), ClientError> {
        let conversation_id = conversation.to_owned();
        self.request(SessionCommand::DeleteConversation { conversation_id }).await.map(drop)
    }

    /// Begins the current conversation anew, once what was sent before is finished.
    pub async fn clear_history(&self) -> Result<(), ClientError> {
        self.request(SessionCommand::ClearHistory { metadata: None }).await.map(drop)
    }

    /// Sends a request and gives what its `done` says.
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
