//! A request that was sent.

use std::sync::Arc;

use callgate_wire::session::{SessionEvent, SessionReply};

use crate::core::CoreInput;
use crate::queue::EventQueue;
use crate::shared::ClientHandle;
use crate::{ClientError, RequestEvent};

/// A request that was sent. It yields its events up to exactly one end.
///
/// Dropping it cancels the request, unless it has ended. Its events have to be read: a request
/// whose events are not read is given up before it delays the others for long.
/// [Detach](Self::detach) it if its events are not needed.
#[derive(Debug)]
pub struct SentRequest {
    id: Arc<str>,
    queue: Arc<EventQueue>,
    handle: Arc<ClientHandle>,
    cancels: bool,
}

impl SentRequest {
    pub(crate) fn new(id: Arc<str>, handle: Arc<ClientHandle>) -> Self {
        let queue = handle.shared.new_queue(&id);
        Self { id, queue, handle, cancels: true }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits for the next event; `None` after the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<RequestEvent> {
        self.queue.next().await
    }

    /// Waits for the end, and ignores the events before it.
    pub async fn wait_for_end(mut self) -> Result<Arc<SessionReply>, ClientError> {
        while let Some(happened) = self.next().await {
            match happened {
                RequestEvent::Said(reply) => match &reply.event {
                    SessionEvent::Error { error, data } => {
                        let (error, data) = (error.clone(), data.clone());
                        return Err(ClientError::Refused { error, data });
                    }
                    event if event.is_end() => return Ok(reply),
                    _ => {}
                },
                RequestEvent::Failed(error) => return Err(error),
            }
        }
        // Its end was read before.
        Err(ClientError::NotOpen)
    }

    /// Asks the runtime to end the request. Its end follows as usual, mostly a `done` whose stop
    /// reason is `cancelled`.
    pub fn cancel(&self) {
        self.handle.shared.handle_and_wake(CoreInput::Cancel { id: &self.id });
    }

    /// Lets the request continue by itself; a [`SessionWatch`](crate::SessionWatch) yields its
    /// events. Returns its id.
    pub fn detach(mut self) -> Arc<str> {
        self.cancels = false;
        Arc::clone(&self.id)
    }

    /// Ends a request that the core was never told of.
    pub(crate) fn fail(&self, error: ClientError) {
        self.queue.push(RequestEvent::Failed(error), 0);
    }
}

impl Drop for SentRequest {
    fn drop(&mut self) {
        // Before the cancel, so that the events that still follow are not kept.
        self.handle.shared.leave_queue(&self.id);
        if self.cancels {
            self.cancel();
        }
    }
}
