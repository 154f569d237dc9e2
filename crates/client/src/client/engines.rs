//! Listing the engines and models of the runtime, and choosing one for a conversation.

use callgate_wire::session::{ConversationEngine, ModelList, SessionCommand};

use crate::{Client, ClientError};

impl Client {
    /// Returns the engines of the runtime with their models, or only this engine.
    pub async fn models(&self, engine: Option<&str>) -> Result<ModelList, ClientError> {
        self.request_data(SessionCommand::ListModels { engine: engine.map(str::to_owned) }).await
    }

    /// Has this engine answer in a conversation from now on, or in the current one if none is
    /// named. It waits for the requests before it in that conversation. Without a model, the engine
    /// chooses.
    pub async fn set_engine(
        &self,
        conversation: Option<&str>,
        engine: &str,
        model: Option<&str>,
    ) -> Result<ConversationEngine, ClientError> {
        self.request_data(SessionCommand::SetEngine {
            conversation_id: conversation.map(str::to_owned),
            engine: engine.to_owned(),
            model: model.map(str::to_owned),
            metadata: None,
        })
        .await
    }
}
