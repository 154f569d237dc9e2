//! One viewer's connection: reads its requests, and writes what it is sent.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use callgate_link::tokio::fill_lines;
use callgate_store::LedgerEntry;
use callgate_wire::desk::{self, DeskAnswer, DeskMessage, DeskRequest, MAX_LINE};
use callgate_wire::frame::{DecodedLine, LineDecoder, OverlongLine};
use callgate_wire::hex::hex_digits;
use callgate_wire::raw::Json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use super::Viewers;
use super::errands::is_errand;
use super::reply::{ViewerReply, error_message};
use super::seat::ViewerNotice;

/// How many answers may wait for a viewer before no more of its requests are read.
const MOST_SAID: usize = 16;
/// A viewer that reads nothing for this long is disconnected.
const STALLED: Duration = Duration::from_secs(30);

impl Viewers {
    /// Serves one viewer until it disconnects or loses its seat.
    pub(super) async fn serve(
        self: Arc<Self>,
        viewer: u64,
        stream: UnixStream,
        hears: mpsc::Receiver<ViewerNotice>,
        stays: oneshot::Receiver<()>,
    ) {
        let (input, output) = stream.into_split();
        let (say, said) = mpsc::channel(MOST_SAID);
        // A viewer that sends no more still gets its answers, so the end of reading must not end
        // the connection.
        let listening = async {
            self.read_requests(viewer, input, say).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = listening => {}
            // It has all its answers, or has gone.
            _ = ViewerWriter::new(&self, output, self.head.clone()).write_until_gone(hears, said) => {}
            _ = stays => {}
        }
        self.remove_viewer(viewer).await;
    }

    async fn read_requests(
        self: &Arc<Self>,
        viewer: u64,
        mut input: impl AsyncRead + Unpin,
        say: mpsc::Sender<ViewerReply>,
    ) {
        let mut lines = LineDecoder::new(MAX_LINE);
        let mut errands = JoinSet::new();
        loop {
            while let Some(line) = lines.next_frame() {
                if let Some(seat) = self.seats().get_mut(&viewer) {
                    seat.note_activity();
                }
                let said = match line {
                    DecodedLine::Whole(line) => match DeskRequest::decode(line) {
                        Ok(request) if is_errand(&request.command) => {
                            self.begin_errand(viewer, request, &say, &mut errands)
                        }
                        // One by one, so that two presses take effect in the order in which they
                        // came.
                        Ok(request) => self.handle_request(viewer, request).await,
                        Err(wrong) => Some(ViewerReply::Message(error_message(
                            wrong.id.clone(),
                            wrong.to_string(),
                        ))),
                    },
                    DecodedLine::TooLong(line) => Some(ViewerReply::Message(too_long(&line))),
                };
                if let Some(said) = said
                    && say.send(said).await.is_err()
                {
                    return;
                }
            }
            if !matches!(fill_lines(&mut input, &mut lines).await, Ok(1..)) {
                // Whoever sends no more still gets the answers.
                return while errands.join_next().await.is_some() {};
            }
        }
    }
}

fn too_long(line: &OverlongLine) -> DeskMessage {
    let id = line.id.as_deref().and_then(|id| serde_json::from_str(id).ok());
    error_message(id, format!("the line has {} bytes: at most {MAX_LINE} are read", line.size))
}

struct ViewerWriter<'a, W> {
    viewers: &'a Viewers,
    output: W,
    head: watch::Receiver<u64>,
    watching: Option<EntryWatch>,
}

struct EntryWatch {
    id: String,
    next: u64,
}

impl<'a, W: AsyncWrite + Unpin> ViewerWriter<'a, W> {
    fn new(viewers: &'a Viewers, output: W, head: watch::Receiver<u64>) -> Self {
        Self { viewers, output, head, watching: None }
    }

    /// Writes until the viewer has gone, or sends no more and has all its answers.
    async fn write_until_gone(
        mut self,
        mut hears: mpsc::Receiver<ViewerNotice>,
        mut said: mpsc::Receiver<ViewerReply>,
    ) -> io::Result<()> {
        loop {
            tokio::select! {
                // Notices first: that a link was removed does not wait behind a backlog of entries.
                biased;
                Some(told) = hears.recv() => self.write_notice(told).await?,
                said = said.recv() => match said {
                    Some(said) => self.write_reply(said).await?,
                    None => return Ok(()),
                },
                entry = next_entry(self.viewers, &mut self.head, self.watching.as_mut()) => {
                    self.write_entry(entry).await?;
                }
            }
        }
    }

    async fn write_notice(&mut self, told: ViewerNotice) -> io::Result<()> {
        if told.changes_standing {
            self.viewers.report_count().await;
        }
        match told.message {
            Some(message) => self.write(&message).await,
            None => Ok(()),
        }
    }

    async fn write_reply(&mut self, said: ViewerReply) -> io::Result<()> {
        match said {
            ViewerReply::Message(message) => self.write(&message).await,
            ViewerReply::Watch { id, from } => {
                let head = *self.head.borrow();
                let answer = DeskAnswer::Watching { head };
                self.watching = Some(EntryWatch { id: id.clone(), next: from.unwrap_or(head + 1) });
                self.write(&DeskMessage::answer(id, answer)).await
            }
        }
    }

    async fn write_entry(&mut self, entry: Result<LedgerEntry, DeskMessage>) -> io::Result<()> {
        match entry {
            Ok(entry) => self.write(&entry_message(&entry)).await,
            Err(message) => {
                self.watching = None;
                self.write(&message).await
            }
        }
    }

    async fn write(&mut self, message: &DeskMessage) -> io::Result<()> {
        write_line(&mut self.output, &message.to_line()).await
    }
}

/// Waits for the next entry of a subscription. Dropping the future loses nothing.
async fn next_entry(
    viewers: &Viewers,
    head: &mut watch::Receiver<u64>,
    watching: Option<&mut EntryWatch>,
) -> Result<LedgerEntry, DeskMessage> {
    let Some(watching) = watching else { return std::future::pending().await };
    loop {
        if *head.borrow_and_update() >= watching.next {
            match viewers.first_entry_from(watching.next) {
                Ok(Some(entry)) => {
                    watching.next = entry.seq + 1;
                    return Ok(entry);
                }
                // It has been pruned.
                Ok(None) => {}
                Err(wrong) => {
                    return Err(error_message(Some(watching.id.clone()), wrong.to_string()));
                }
            }
        }
        if head.changed().await.is_err() {
            // The desk has ended, and so will this task.
            std::future::pending::<()>().await;
        }
    }
}

fn entry_message(entry: &LedgerEntry) -> DeskMessage {
    let LedgerEntry { seq, at_ms, kind, question, body, hash } = entry;
    // A body that somebody has changed to something other than JSON is sent as a string.
    let body =
        Json::from_text(body).ok().and_then(Json::to_boxed).or_else(|| to_raw_value(body).ok());
    DeskMessage::Entry(desk::WatchedEntry {
        seq: *seq,
        at_ms: *at_ms,
        kind: kind.clone(),
        question: question.clone(),
        hash: hex_digits(hash),
        body: body.unwrap_or_else(|| RawValue::NULL.to_owned()),
    })
}

/// Writes a whole line, as long as the viewer keeps reading.
pub(super) async fn write_line(
    output: &mut (impl AsyncWrite + Unpin),
    line: &[u8],
) -> io::Result<()> {
    let mut rest = line;
    while !rest.is_empty() {
        // The limit is for each write, so that a slow viewer that reads on is not cut off.
        match tokio::time::timeout(STALLED, output.write(rest)).await?? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => rest = &rest[count..],
        }
    }
    Ok(())
}
