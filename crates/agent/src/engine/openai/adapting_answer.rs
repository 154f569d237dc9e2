//! An answer that is asked for once more if the server wants its length to be limited by another
//! name.

use super::OpenAi;
use super::stream::ChunkDecoder;
use crate::BoxFuture;
use crate::engine::model_api::StreamedAnswer;
use crate::engine::{AnswerPiece, AnswerStream, EngineCall, EngineError};

pub(super) struct AdaptingAnswer {
    engine: OpenAi,
    /// The call, until the server has accepted it or was asked twice.
    call: Option<EngineCall>,
    stream: StreamedAnswer<ChunkDecoder>,
}

impl AdaptingAnswer {
    pub(super) fn new(engine: OpenAi, call: EngineCall) -> Self {
        let stream = engine.stream(call.clone());
        Self { engine, call: Some(call), stream }
    }
}

impl AnswerStream for AdaptingAnswer {
    fn next<'a>(
        &'a mut self,
        into: &'a mut Vec<AnswerPiece>,
    ) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async move {
            let read = self.stream.next(into).await;
            match (self.call.take(), &read) {
                (Some(call), Err(error)) if self.engine.learns_from(&call.model, error) => {
                    self.stream = self.engine.stream(call);
                    self.stream.next(into).await
                }
                _ => read,
            }
        })
    }
}
