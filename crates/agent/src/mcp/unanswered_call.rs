//! A call of a server's tool that is under way.

use std::time::Instant;

use callgate_link::sync::lock;
use rmcp::RoleClient;
use rmcp::model::{CancelledNotification, CancelledNotificationParam, ServerResult};
use rmcp::service::{RequestHandle, ServiceError};
use tokio::sync::watch;

use super::connection::{CallRoute, CallRoutes, OpenRoute};

/// A call whose answer is waited for. Dropping it tells the server that nobody does any more.
pub(super) struct UnansweredCall {
    handle: Option<RequestHandle<RoleClient>>,
    calls: CallRoutes,
    /// Ends the questions that were asked for the call.
    _waiting: watch::Sender<()>,
}

impl UnansweredCall {
    /// Begins to wait. What the server says about the call goes by `route`.
    pub(super) fn new(
        handle: RequestHandle<RoleClient>,
        calls: CallRoutes,
        route: CallRoute,
    ) -> Self {
        let (waiting, gone) = watch::channel(());
        let open = OpenRoute { route, since: Instant::now(), gone };
        lock(&calls).insert(handle.progress_token.clone(), open);
        Self { handle: Some(handle), calls, _waiting: waiting }
    }

    pub(super) async fn wait_for_answer(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else { return Err(ServiceError::TransportClosed) };
        let answer = (&mut handle.rx).await;
        // Taken only after the answer: if this is dropped before, the call has to be cancelled.
        if let Some(handle) = self.handle.take() {
            lock(&self.calls).remove(&handle.progress_token);
        }
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for UnansweredCall {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        lock(&self.calls).remove(&handle.progress_token);
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
