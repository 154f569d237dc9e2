//! The calls of a server's tools.

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::time::timeout;

use super::ToolServer;
use crate::mcp::connection::CallRoute;
use crate::mcp::unanswered_call::UnansweredCall;

const CALL_WITHIN: Duration = Duration::from_mins(10);

struct FailedCall {
    why: String,
    /// Whether the server has refused the call, and takes it after a sign-in.
    wants_sign_in: bool,
}

impl ToolServer {
    /// Calls a tool, and once more if the server has refused the call until a person signs in.
    /// Dropping the future cancels the call.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        route: CallRoute,
    ) -> Result<CallToolResult, String> {
        // Copied for the second attempt: a call that was refused has done nothing.
        match self.call_once(tool, arguments.clone(), route.clone()).await {
            Err(failed) if failed.wants_sign_in => {
                self.sign_in_for_call(&route.asker).await?;
                let again = self.call_once(tool, arguments, route).await;
                again.map_err(|failed| failed.why)
            }
            called => called.map_err(|failed| failed.why),
        }
    }

    async fn call_once(
        &self,
        tool: &str,
        arguments: JsonObject,
        route: CallRoute,
    ) -> Result<CallToolResult, FailedCall> {
        let refused = |why| FailedCall { why, wants_sign_in: self.wants_sign_in() };
        let (peer, calls) = self.connect().await.map_err(refused)?;
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let handle = peer.send_cancellable_request(request, options).await;
        let unsent = |error| FailedCall {
            why: self.failure_text(&error),
            wants_sign_in: is_refusal(&error) && self.wants_sign_in(),
        };
        let mut call = UnansweredCall::new(handle.map_err(unsent)?, calls, route);
        match timeout(CALL_WITHIN, call.wait_for_answer()).await {
            Ok(Ok(ServerResult::CallToolResult(result))) => Ok(result),
            Ok(Ok(_)) => {
                Err(self.failure_text(&"it gave another answer than the result of a tool"))
            }
            Ok(Err(error)) => return Err(unsent(error)),
            Err(_) => Err(self.failure_text(&"it has not answered within ten minutes")),
        }
        .map_err(|why| FailedCall { why, wants_sign_in: false })
    }
}

/// Returns true if a server has refused a request, so that it has done nothing.
fn is_refusal(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    let error = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    matches!(error, Some(StreamableHttpError::AuthRequired(_)))
}
