//! A call of a server's tool that is under way.

use callgate_link::sync::lock;
use rmcp::RoleClient;
use rmcp::model::{CancelledNotification, CancelledNotificationParam, ServerResult};
use rmcp::service::{RequestHandle, ServiceError};

use super::connection::ProgressRoutes;
use crate::tool::ProgressSink;

/// A call whose answer is waited for. Dropping it tells the server that nobody does any more.
pub(super) struct UnansweredCall {
    handle: Option<RequestHandle<RoleClient>>,
    progress: ProgressRoutes,
}

impl UnansweredCall {
    /// Begins to wait. Progress of the call is sent to `sink`.
    pub(super) fn new(
        handle: RequestHandle<RoleClient>,
        progress: ProgressRoutes,
        sink: ProgressSink,
    ) -> Self {
        lock(&progress).insert(handle.progress_token.clone(), sink);
        Self { handle: Some(handle), progress }
    }

    pub(super) async fn answer(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else { return Err(ServiceError::TransportClosed) };
        let answer = (&mut handle.rx).await;
        if let Some(handle) = self.handle.take() {
            lock(&self.progress).remove(&handle.progress_token);
        }
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for UnansweredCall {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        lock(&self.progress).remove(&handle.progress_token);
        tokio::spawn(async move {
            let params = CancelledNotificationParam::new(
                Some(handle.id.clone()),
                Some("nobody waits for it any more".to_owned()),
            );
            let cancelled = CancelledNotification::new(params);
            // A server that is gone has nothing to cancel.
            handle.peer.send_notification(cancelled.into()).await.ok();
        });
    }
}
