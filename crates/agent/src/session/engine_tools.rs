//! What the runtime does for an engine that runs tools itself.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::tool_call;
use super::{LogLevel, SessionShared};
use crate::BoxFuture;
use crate::engine::ToolRunner;
use crate::gate::ToolPermit;
use crate::tool::CallOutcome;
use crate::turn::ToolCall;

/// The runtime, as an engine sees it during one request.
pub(super) struct EngineTools {
    shared: Arc<SessionShared>,
    request: Arc<str>,
    conversation: Arc<str>,
}

impl EngineTools {
    pub(super) fn of(
        shared: &Arc<SessionShared>,
        request: &Arc<str>,
        conversation: &Arc<str>,
    ) -> Arc<dyn ToolRunner> {
        let shared = Arc::clone(shared);
        let (request, conversation) = (Arc::clone(request), Arc::clone(conversation));
        Arc::new(Self { shared, request, conversation })
    }
}

impl ToolRunner for EngineTools {
    fn may(
        &self,
        id: String,
        tool: String,
        input: Box<RawValue>,
        is_read_only: bool,
    ) -> BoxFuture<'static, ToolPermit> {
        let wanted = ToolCall { index: 0, id, name: tool, input };
        let (shared, request) = (Arc::clone(&self.shared), Arc::clone(&self.request));
        let conversation = Arc::clone(&self.conversation);
        Box::pin(tool_call::permit(shared, request, conversation, wanted, is_read_only))
    }

    fn run(
        &self,
        id: String,
        tool: String,
        input: Box<RawValue>,
    ) -> BoxFuture<'static, CallOutcome> {
        let wanted = ToolCall { index: 0, id, name: tool, input };
        let (shared, request) = (Arc::clone(&self.shared), Arc::clone(&self.request));
        let conversation = Arc::clone(&self.conversation);
        Box::pin(async move {
            let run = tool_call::run(Arc::clone(&shared), request, conversation, wanted);
            let report = run.await;
            if let Some(draft) = report.draft
                && let Err(error) = shared.options.ledger.record(vec![draft]).await
            {
                let text = format!("cannot write down what a tool did: {error}");
                shared.options.log.say(LogLevel::Warn, &text);
            }
            report.ran.outcome
        })
    }
}
