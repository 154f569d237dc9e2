//! A thread with something of its own, such as a connection to a database, on which others have
//! things done.

use std::io;
use std::thread;

use tokio::sync::{mpsc, oneshot};

/// How many errands may wait.
const QUEUE: usize = 64;

type ThreadErrand<S> = Box<dyn FnOnce(&mut S) + Send>;

/// The way to a thread that does one errand after the other. It ends with the last clone.
#[derive(Debug)]
pub(crate) struct ErrandThread<S>(mpsc::Sender<ThreadErrand<S>>);

impl<S> Clone for ErrandThread<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: Send + 'static> ErrandThread<S> {
    pub(crate) fn start(name: &str, mut subject: S) -> io::Result<Self> {
        // It is a thread and not a task, because an errand may block: the calls to a database do.
        let (errands, mut waiting) = mpsc::channel::<ThreadErrand<S>>(QUEUE);
        let work = move || {
            while let Some(errand) = waiting.blocking_recv() {
                errand(&mut subject);
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self(errands))
    }

    /// Runs something on the thread and waits for it. Returns `None` if the thread has ended.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Option<T> {
        let (done_in, done) = oneshot::channel();
        // Whoever does not wait any more needs no result.
        let errand: ThreadErrand<S> = Box::new(move |subject| drop(done_in.send(work(subject))));
        self.0.send(errand).await.ok()?;
        done.await.ok()
    }
}
