//! Takes in what askers send: one line each, within a limit and a deadline.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use callgate_link::socket::check_peer;
use callgate_wire::approval::{MAX_LINE, Request};
use callgate_wire::frame::{Line, Lines};
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};

use super::askers::Askers;
use super::clerk::Letter;
use super::lineage::{lineage, process_of};
use crate::desk::{AskerId, Input, Ruling};

/// How long an asker may take to send its line.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// How many lines are read at once; more askers wait to be accepted.
const MOST_READING: usize = 512;
/// How long to wait when no connection can be accepted, as when there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes in askers until the task is dropped.
pub(super) struct Reception {
    pub(super) listener: UnixListener,
    pub(super) path: PathBuf,
    pub(super) askers: Arc<Askers>,
    pub(super) to_desk: mpsc::Sender<Letter>,
    /// The number of the next asker, whichever socket it comes to.
    pub(super) next: Arc<AtomicU64>,
}

impl Reception {
    /// Returns a reception of the same desk at another socket.
    pub(super) fn beside(&self, listener: UnixListener, path: &Path) -> Self {
        Self {
            listener,
            path: path.to_owned(),
            askers: Arc::clone(&self.askers),
            to_desk: self.to_desk.clone(),
            next: Arc::clone(&self.next),
        }
    }

    pub(super) async fn run(self) {
        let room = Arc::new(Semaphore::new(MOST_READING));
        loop {
            // The semaphore is never closed, so there is always a permit in the end.
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            let Ok((stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if check_peer(&stream, &self.path).is_err() {
                continue;
            }
            let (askers, to_desk) = (Arc::clone(&self.askers), self.to_desk.clone());
            let id = AskerId(self.next.fetch_add(1, Ordering::Relaxed));
            tokio::spawn(async move {
                receive(stream, id, &askers, &to_desk).await;
                drop(permit);
            });
        }
    }
}

/// Reads one request. Whatever is no request closes the connection and nothing else.
async fn receive(
    mut stream: UnixStream,
    id: AskerId,
    askers: &Askers,
    to_desk: &mpsc::Sender<Letter>,
) {
    let Ok(Some(request)) = tokio::time::timeout(READ_WITHIN, read(&mut stream)).await else {
        return;
    };
    if !request.kind.is_answered() {
        to_desk.send(Letter::new(Input::Told(request))).await.ok();
        return;
    }
    let process = process_of(&stream);
    let Ok(stream) = stream.into_std() else { return };
    // The connection is known before the question is, so that no answer finds it missing; and it
    // is watched after the question is, so that no hang-up comes before it.
    askers.add(id, stream);
    if let Some(lineage) = process.and_then(|process| wanted_lineage(&request, process)) {
        to_desk.send(Letter::new(Input::From { asker: id, lineage })).await.ok();
    }
    let ruling = Ruling::Ask { because: None, is_guarded: false };
    let input = Input::Asked { asker: id, request, ruling, is_replay: false };
    to_desk.send(Letter::new(input)).await.ok();
    askers.watch(id).await;
}

/// What the desk has to know of the process that asks, if anything.
fn wanted_lineage(request: &Request, process: u32) -> Option<Vec<u32>> {
    let context = request.context.as_ref()?;
    match (&context.gated, context.answers) {
        (Some(_), _) => Some(lineage(process)),
        (None, Some(true)) => Some(vec![process]),
        _ => None,
    }
}

/// One request; nothing when the line is malformed, too long, or has no end.
async fn read(stream: &mut UnixStream) -> Option<Request> {
    let mut lines = Lines::new(MAX_LINE);
    loop {
        match lines.next_frame() {
            Some(Line::Whole(line)) => return Request::decode(line).ok(),
            Some(Line::TooLong(_)) => return None,
            None => {}
        }
        // A line that is over the limit is not read to its end.
        if lines.is_dropping() {
            return None;
        }
        let count = stream.read(lines.space()).await.ok().filter(|count| *count > 0)?;
        lines.filled(count);
    }
}
