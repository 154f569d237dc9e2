//! Reads what askers send: one line each, and a second one if the first announces it, with a length
//! limit and a deadline. Silent connections do not block others.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use callgate_link::tokio::fill_lines;
use callgate_wire::approval::{ApprovalRequest, LateWords, MAX_LINE, MAX_WORDS_LINE, RequestId};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::raw::{InexactJson, MOST_LEVELS, check_exact};
use tokio::net::UnixStream;

use super::askers::Askers;
use super::door::Door;
use super::lineage::{process_lineage, process_of};
use super::room::{Room, RoomSeat};
use super::rulings::RulingQueue;
use crate::desk::{AskerId, DeskInput, Ruling};

/// How long an asker may take to send its line.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// How many connected askers may have sent nothing yet.
const MOST_SILENT: usize = 4_096;
/// How many lines are read at once.
const MOST_READING: usize = 512;
/// How many askers may owe their agent's last words.
const MOST_OWING: usize = 512;

/// Accepts askers on one socket until its task is dropped.
pub(super) struct Reception {
    pub(super) door: Door,
    pub(super) intake: Arc<Intake>,
}

/// A request, and whether its line can be read in one way only.
struct ReadRequest {
    request: ApprovalRequest,
    exact: Result<(), InexactJson>,
}

/// An asker that has asked and may still send its agent's last words.
struct OwingAsker {
    asker: AskerId,
    question: RequestId,
    stream: UnixStream,
    /// What has come after the request.
    lines: LineDecoder,
}

/// Reads the requests of askers, on whichever socket they come.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) askers: Arc<Askers>,
    rulings: Arc<RulingQueue>,
    next: AtomicU64,
    silent: Arc<Room>,
    reading: Arc<Room>,
    owing: Arc<Room>,
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
            owing: Room::new(MOST_OWING),
            read_within: READ_WITHIN,
        }
    }
}

impl Reception {
    pub(super) async fn accept_askers(mut self) {
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
    pub(super) fn next_asker(&self) -> AskerId {
        AskerId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Reads one request. Anything else closes the connection.
    async fn receive(self: Arc<Self>, mut stream: UnixStream, silent: RoomSeat) {
        let request = self.wait_for_request(&mut stream, silent);
        let Ok(Some((read, lines))) = tokio::time::timeout(self.read_within, request).await else {
            return;
        };
        let ReadRequest { request, exact } = read;
        if !request.kind.is_answered() {
            return self.askers.notify_desk(DeskInput::Told(request)).await;
        }
        let id = self.next_asker();
        let process = process_of(&stream);
        // Parked sockets leave the runtime: one epoll watches all of them.
        let Ok(stream) = stream.into_std() else { return };
        let copy =
            request.words_follow().then(|| stream.try_clone().and_then(UnixStream::from_std));
        let question = request.request_id.clone();
        // The connection is parked before the question goes on, so that the answer finds it.
        self.askers.park_asker(id, stream);
        if let Some(lineage) = process.and_then(|process| wanted_lineage(&request, process)) {
            // Before the question, about which the desk looks it up.
            self.askers.notify_desk(DeskInput::From { asker: id, lineage }).await;
        }
        match exact {
            Ok(()) => self.rulings.queue_question(id, request).await,
            Err(error) => {
                // The rules are not asked: they would judge one reading, and the tool may get the
                // other.
                let ruling = Ruling::Deny { because: format!("its JSON is ambiguous: {error}") };
                let asked = DeskInput::Asked { asker: id, request, ruling, is_replay: false };
                self.askers.forward_question(id, asked).await;
            }
        }
        // Without another descriptor, the words are not shown.
        if let Some(Ok(stream)) = copy {
            // The buffer of a large request is not kept for a few words.
            let is_empty = lines.buffered() == 0;
            let lines = if is_empty { LineDecoder::new(MAX_WORDS_LINE) } else { lines };
            self.read_words(OwingAsker { asker: id, question, stream, lines }).await;
        }
    }

    /// Reads the agent's last words, which come after a question. Whatever else comes is ignored.
    async fn read_words(&self, mut owing: OwingAsker) {
        let mut seat = self.owing.enter().await;
        let words = tokio::select! {
            words = tokio::time::timeout(self.read_within, owing.read_words()) => words,
            () = seat.wait_until_cleared() => return,
        };
        if let Ok(Some(words)) = words {
            self.askers.forward_words(owing.asker, words).await;
        }
    }

    async fn wait_for_request(
        &self,
        stream: &mut UnixStream,
        mut silent: RoomSeat,
    ) -> Option<(ReadRequest, LineDecoder)> {
        let mut lines = LineDecoder::new(MAX_LINE);
        tokio::select! {
            begun = wait_for_first_bytes(stream, &mut lines) => begun?,
            () = silent.wait_until_cleared() => return None,
        }
        let mut reading = self.reading.enter().await;
        // Only now, so that every connection counts in one of the two rooms.
        drop(silent);
        tokio::select! {
            request = read_request(stream, lines) => request,
            () = reading.wait_until_cleared() => None,
        }
    }
}

impl OwingAsker {
    /// Reads one line after the request. Returns `None` if it does not hold the words.
    async fn read_words(&mut self) -> Option<String> {
        loop {
            if let Some(line) = self.lines.next_frame() {
                // The decoder of a request takes longer lines.
                let DecodedLine::Whole(line) = line else { return None };
                if line.len() > MAX_WORDS_LINE {
                    return None;
                }
                let words = LateWords::decode(line).ok()?;
                return (words.request_id == self.question).then_some(words.last_words);
            }
            if self.lines.buffered() > MAX_WORDS_LINE {
                return None;
            }
            fill_lines(&mut self.stream, &mut self.lines).await.ok().filter(|it| *it > 0)?;
        }
    }
}

/// Returns what the desk has to know about the process that asks, if anything. The ancestors are
/// looked up only for an asker that claims a registered host, because `/proc` is read for each of
/// them.
fn wanted_lineage(request: &ApprovalRequest, process: u32) -> Option<Vec<u32>> {
    let context = request.context.as_ref()?;
    match (&context.gated, context.answers) {
        (Some(_), _) => Some(process_lineage(process)),
        (None, Some(true)) => Some(vec![process]),
        _ => None,
    }
}

/// Waits for the first bytes of a line. Returns `None` if there will be none. Until then an asker
/// needs no memory.
async fn wait_for_first_bytes(stream: &UnixStream, lines: &mut LineDecoder) -> Option<()> {
    loop {
        stream.readable().await.ok()?;
        let mut first = [0; 256];
        match stream.try_read(&mut first) {
            Ok(0) => return None,
            Ok(count) => {
                lines.push(&first[..count]);
                return Some(());
            }
            // A socket may be reported as readable although it is not.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
}

fn decode_request(line: &[u8]) -> Option<ReadRequest> {
    let request = ApprovalRequest::decode(line).ok()?;
    let exact = check_exact(std::str::from_utf8(line).ok()?, MOST_LEVELS);
    Some(ReadRequest { request, exact })
}

/// Reads the rest of one request. Returns `None` if the line is malformed, empty, too long or
/// incomplete.
async fn read_request(
    stream: &mut UnixStream,
    mut lines: LineDecoder,
) -> Option<(ReadRequest, LineDecoder)> {
    loop {
        let request = match lines.next_frame() {
            Some(DecodedLine::Whole(line)) => Some(decode_request(line)),
            Some(DecodedLine::TooLong(_)) => Some(None),
            None => None,
        };
        // An empty line is not a request, and a line over the limit is not read to its end.
        if lines.has_skipped_blank() || lines.is_dropping() {
            return None;
        }
        if let Some(request) = request {
            return Some((request?, lines));
        }
        fill_lines(stream, &mut lines).await.ok().filter(|count| *count > 0)?;
    }
}

#[cfg(test)]
mod tests;
