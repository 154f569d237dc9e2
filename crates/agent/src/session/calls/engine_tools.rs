//! What the runtime does for an engine that runs tools itself.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::tool_call::{self, CallOrigin};
use crate::BoxFuture;
use crate::engine::{EngineToolCall, ToolRunner};
use crate::gate::ToolPermit;
use crate::session::SessionShared;
use crate::tool::CallOutcome;
use crate::turn::ToolCall;

/// The runtime, as an engine sees it during one request.
pub(in crate::session) struct EngineTools {
    pub(in crate::session) shared: Arc<SessionShared>,
    pub(in crate::session) origin: CallOrigin,
}

impl ToolRunner for EngineTools {
    fn permit_call(&self, call: EngineToolCall) -> BoxFuture<'static, ToolPermit> {
        let (shared, origin) = (Arc::clone(&self.shared), self.origin.clone());
        Box::pin(tool_call::permit_engine_tool(shared, origin, call))
    }

    fn run_tool(
        &self,
        id: String,
        tool: String,
        input: Box<RawValue>,
    ) -> BoxFuture<'static, CallOutcome> {
        let wanted = ToolCall { index: 0, id, name: tool, input };
        let (shared, origin) = (Arc::clone(&self.shared), self.origin.clone());
        Box::pin(async move {
            let report = tool_call::run_tool_call(Arc::clone(&shared), origin, wanted).await;
            if let Some(draft) = report.draft
                && let Err(error) = shared.options.ledger.record(vec![draft]).await
            {
                shared.options.log.warn(&format!("cannot write down what a tool did: {error}"));
            }
            report.ran.outcome
        })
    }
}
