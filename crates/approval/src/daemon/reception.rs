//! Takes in what askers send: one line each, within a limit and a deadline. Who says nothing is in
//! nobody's way.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use callgate_wire::approval::{MAX_LINE, Request};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

use super::askers::Askers;
use super::door::Door;
use super::lineage::{lineage, process_of};
use super::room::{Room, RoomSeat};
use super::rulings::RulingQueue;
use crate::desk::{AskerId, Input};

/// How long an asker may take to send its line.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// How many askers may be connected that have sent nothing yet.
const MOST_SILENT: usize = 4_096;
/// How many lines are read at once.
const MOST_READING: usize = 512;

/// Takes in askers until the task is dropped.
pub(super) struct Reception {
    pub(super) door: Door,
    pub(super) intake: Arc<Intake>,
}

/// What becomes of those who come in, by whichever door.
#[derive(Debug)]
pub(super) struct Intake {
    askers: Arc<Askers>,
    rulings: Arc<RulingQueue>,
    next: AtomicU64,
    silent: Arc<Room>,
    reading: Arc<Room>,
    read_within: Duration,
}

impl Intake {
    pub(super) fn new(askers: Arc<Askers>, rulings: Arc<RulingQueue>) -> Self {
        Self {
            askers,
            rulings,
            next: AtomicU64::new(1),
            silent: Room::new(MOST_SILENT),
            reading: Room::new(MOST_READING),
            read_within: READ_WITHIN,
        }
    }
}

impl Reception {
    pub(super) async fn run(mut self) {
        loop {
            let Ok(stream) = self.door.accept().await else {
                // There may be no descriptors left.
                self.intake.silent.clear_oldest();
                continue;
            };
            let seat = self.intake.silent.enter().await;
            tokio::spawn(Arc::clone(&self.intake).receive(stream, seat));
        }
    }
}

impl Intake {
    /// Reads one request. Whatever is no request closes the connection and nothing else.
    async fn receive(self: Arc<Self>, mut stream: UnixStream, silent: RoomSeat) {
        let request = self.read(&mut stream, silent);
        let Ok(Some(request)) = tokio::time::timeout(self.read_within, request).await else {
            return;
        };
        if !request.kind.is_answered() {
            return self.askers.notify(Input::Told(request)).await;
        }
        let id = AskerId(self.next.fetch_add(1, Ordering::Relaxed));
        let process = process_of(&stream);
        let Ok(stream) = stream.into_std() else { return };
        // The connection is known before the question is, so that no answer finds it missing; and
        // it is watched after the desk has the question, so that no hang-up comes before it.
        self.askers.add(id, stream);
        if let Some(lineage) = process.and_then(|process| wanted_lineage(&request, process)) {
            self.askers.notify(Input::From { asker: id, lineage }).await;
        }
        self.rulings.take(id, request).await;
    }

    /// Waits until an asker says something, and reads it.
    async fn read(&self, stream: &mut UnixStream, mut silent: RoomSeat) -> Option<Request> {
        let mut lines = LineDecoder::new(MAX_LINE);
        tokio::select! {
            begun = begin(stream, &mut lines) => begun?,
            () = silent.cleared() => return None,
        }
        let mut reading = self.reading.enter().await;
        drop(silent);
        tokio::select! {
            request = read(stream, lines) => request,
            () = reading.cleared() => None,
        }
    }
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

/// Waits for the first bytes of a line; `None` when there will be none. Until then an asker takes
/// no memory.
async fn begin(stream: &UnixStream, lines: &mut LineDecoder) -> Option<()> {
    loop {
        stream.readable().await.ok()?;
        let mut first = [0; 256];
        match stream.try_read(&mut first) {
            Ok(0) => return None,
            Ok(count) => {
                lines.push(&first[..count]);
                return Some(());
            }
            // A socket may be said to be readable that is not.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
}

/// Reads the rest of one request; `None` when the line is malformed, empty, too long, or has no
/// end.
async fn read(stream: &mut UnixStream, mut lines: LineDecoder) -> Option<Request> {
    loop {
        let request = match lines.next_frame() {
            Some(DecodedLine::Whole(line)) => Some(Request::decode(line).ok()),
            Some(DecodedLine::TooLong(_)) => Some(None),
            None => None,
        };
        // An empty line is no request, and one that is over the limit is not read to its end.
        if lines.has_skipped_blank() || lines.is_dropping() {
            return None;
        }
        if let Some(request) = request {
            return request;
        }
        let count = stream.read(lines.space()).await.ok().filter(|count| *count > 0)?;
        lines.filled(count);
    }
}

#[cfg(test)]
mod tests;
