//! A request that was sent.

use std::sync::Arc;

use callgate_wire::session::{SessionEvent, SessionReply};

use crate::core::CoreInput;
use crate::queue::EventQueue;
use crate::shared::ClientHandle;
use crate::{ClientError, RequestEvent};

/// A request that was sent: what happens about it, until exactly one end.
///
/// Dropping it cancels the request if it has no end yet, see
/// [`cancel_on_drop`](Self::cancel_on_drop). It has to be read: one whose events are not cannot
/// hold up the others for long, and is given up. Who has no use for them
/// [detaches](Self::detach) it.
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

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what happens next; `None` after the end. A call that is dropped loses nothing.
    pub async fn next(&mut self) -> Option<RequestEvent> {
        self.queue.next().await
    }

    /// Waits for the end, and passes over what comes before.
    pub async fn end(mut self) -> Result<Arc<SessionReply>, ClientError> {
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

    /// Asks the runtime to end the request now. Its end comes as always: mostly a `done` whose
    /// reason to stop is `cancelled`.
    pub fn cancel(&self) {
        self.handle.shared.ask(CoreInput::Cancel { id: &self.id });
    }

    /// Returns true if dropping this cancels the request; it does unless told otherwise.
    pub fn cancel_on_drop(&mut self, cancels: bool) {
        self.cancels = cancels;
    }

    /// Lets the request go on by itself; a [`SessionWatch`](crate::Watch) tells what happens about it.
    /// Gives its id.
    #[must_use]
    pub fn detach(mut self) -> Arc<str> {
        self.cancels = false;
        Arc::clone(&self.id)
    }

    pub(crate) fn fail(&self, error: ClientError) {
        self.queue.push(RequestEvent::Failed(error), 0);
    }
}

impl Drop for SentRequest {
    fn drop(&mut self) {
        self.handle.shared.leave_queue(&self.id);
        if self.cancels {
            self.cancel();
        }
    }
}
