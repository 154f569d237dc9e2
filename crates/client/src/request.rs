//! A request that was sent.

use std::sync::Arc;

use callgate_wire::session::{Event, Reply};

use crate::client::Handle;
use crate::core::Input;
use crate::queue::Queue;
use crate::{ClientError, Happened};

/// A request that was sent: what happens about it, until exactly one end.
///
/// Dropping it cancels the request if it has no end yet, see
/// [`cancel_on_drop`](Self::cancel_on_drop). It has to be read: one whose events are not cannot
/// hold up the others for long, and is given up. Who has no use for them
/// [detaches](Self::detach) it.
#[derive(Debug)]
pub struct Request {
    id: Arc<str>,
    queue: Arc<Queue>,
    handle: Arc<Handle>,
    cancels: bool,
}

impl Request {
    pub(crate) fn new(id: Arc<str>, handle: Arc<Handle>) -> Self {
        let queue = handle.shared.new_queue(&id);
        Self { id, queue, handle, cancels: true }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What happens next; `None` after the end. A call that is dropped loses nothing.
    pub async fn next(&mut self) -> Option<Happened> {
        self.queue.next().await
    }

    /// Waits for the end, and passes over what comes before.
    pub async fn end(mut self) -> Result<Arc<Reply>, ClientError> {
        while let Some(happened) = self.next().await {
            match happened {
                Happened::Said(reply) => match &reply.event {
                    Event::Error { error, data } => {
                        let (error, data) = (error.clone(), data.clone());
                        return Err(ClientError::Refused { error, data });
                    }
                    event if event.is_end() => return Ok(reply),
                    _ => {}
                },
                Happened::Failed(error) => return Err(error),
            }
        }
        // Its end was read before.
        Err(ClientError::NotOpen)
    }

    /// Asks the runtime to end the request now. Its end comes as always: mostly a `done` whose
    /// reason to stop is `cancelled`.
    pub fn cancel(&self) {
        self.handle.shared.ask(Input::Cancel { id: &self.id });
    }

    /// Whether dropping this cancels the request; it does unless told otherwise.
    pub fn cancel_on_drop(&mut self, cancels: bool) {
        self.cancels = cancels;
    }

    /// Lets the request go on by itself; a [`Watch`](crate::Watch) tells what happens about it.
    /// Gives its id.
    #[must_use]
    pub fn detach(mut self) -> Arc<str> {
        self.cancels = false;
        Arc::clone(&self.id)
    }

    pub(crate) fn fail(&self, error: ClientError) {
        self.queue.push(Happened::Failed(error), 0);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.handle.shared.leave_queue(&self.id);
        if self.cancels {
            self.cancel();
        }
    }
}
