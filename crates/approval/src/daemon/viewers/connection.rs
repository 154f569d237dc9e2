//! One viewer's connection: what it sends is read, what it is to hear is written.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use callgate_store::Entry;
use callgate_wire::desk::{self, Answer, MAX_LINE, Message, Request};
use callgate_wire::frame::{DecodedLine, LineDecoder, OverlongLine};
use callgate_wire::raw::Json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot, watch};

use super::Viewers;
use super::seat::Told;
use super::secrets::hex;

/// How many answers of ours may wait for a viewer before we read no more of its requests.
const MOST_SAID: usize = 16;
/// A viewer that takes nothing for so long is shown out.
const STALLED: Duration = Duration::from_secs(30);

/// What the reading half has for the writing half.
#[derive(Debug)]
pub(super) enum Said {
    /// To be written.
    Message(Message),
    /// Entries are wanted from this number on, or from now on.
    Watch { id: String, from: Option<u64> },
}

impl Viewers {
    /// Serves one viewer until it goes, or until its seat is taken away.
    pub(super) async fn serve(
        self: Arc<Self>,
        viewer: u64,
        stream: UnixStream,
        hears: mpsc::Receiver<Told>,
        stays: oneshot::Receiver<()>,
    ) {
        let (input, output) = stream.into_split();
        let (say, said) = mpsc::channel(MOST_SAID);
        tokio::select! {
            // A viewer that has said all still hears what it was answered.
            ((), _) = async { tokio::join!(
                self.listen(viewer, input, say),
                Voice::new(&self, output, self.head.clone()).speak(hears, said),
            ) } => {}
            _ = stays => {}
        }
        self.leave(viewer).await;
    }

    /// Reads requests until there are no more.
    async fn listen(
        &self,
        viewer: u64,
        mut input: impl AsyncRead + Unpin,
        say: mpsc::Sender<Said>,
    ) {
        let mut lines = LineDecoder::new(MAX_LINE);
        loop {
            while let Some(line) = lines.next_frame() {
                if let Some(seat) = self.seats().get_mut(&viewer) {
                    seat.speaks();
                }
                let said = match line {
                    DecodedLine::Whole(line) => match Request::decode(line) {
                        Ok(request) => self.request(viewer, request).await,
                        Err(wrong) => {
                            Some(Said::Message(error(wrong.id.clone(), wrong.to_string())))
                        }
                    },
                    DecodedLine::TooLong(line) => Some(Said::Message(too_long(&line))),
                };
                if let Some(said) = said
                    && say.send(said).await.is_err()
                {
                    return;
                }
            }
            match input.read(lines.space()).await {
                Ok(0) | Err(_) => return,
                Ok(count) => lines.filled(count),
            }
        }
    }
}

pub(super) fn error(id: Option<String>, text: impl Into<String>) -> Message {
    Message::Error { id, text: text.into() }
}

fn too_long(line: &OverlongLine) -> Message {
    let id = line.id.as_deref().and_then(|id| serde_json::from_str(id).ok());
    error(id, format!("the line has {} bytes: at most {MAX_LINE} are read", line.size))
}

/// The writing half.
struct Voice<'a, W> {
    viewers: &'a Viewers,
    output: W,
    head: watch::Receiver<u64>,
    watching: Option<Watching>,
}

/// Who watches, from which number on.
struct Watching {
    id: String,
    next: u64,
}

impl<'a, W: AsyncWrite + Unpin> Voice<'a, W> {
    fn new(viewers: &'a Viewers, output: W, head: watch::Receiver<u64>) -> Self {
        Self { viewers, output, head, watching: None }
    }

    /// Writes until the viewer has gone, or has said all and was answered.
    async fn speak(
        mut self,
        mut hears: mpsc::Receiver<Told>,
        mut said: mpsc::Receiver<Said>,
    ) -> io::Result<()> {
        loop {
            tokio::select! {
                biased;
                Some(told) = hears.recv() => self.tell(told).await?,
                said = said.recv() => match said {
                    Some(said) => self.answer(said).await?,
                    None => return Ok(()),
                },
                entry = next_entry(self.viewers, &mut self.head, self.watching.as_mut()) => {
                    self.show(entry).await?;
                }
            }
        }
    }

    async fn tell(&mut self, told: Told) -> io::Result<()> {
        if told.changes_standing {
            self.viewers.count().await;
        }
        match told.message {
            Some(message) => self.write(&message).await,
            None => Ok(()),
        }
    }

    async fn answer(&mut self, said: Said) -> io::Result<()> {
        match said {
            Said::Message(message) => self.write(&message).await,
            Said::Watch { id, from } => {
                let head = *self.head.borrow();
                let answer = Answer::Watching { head };
                self.watching = Some(Watching { id: id.clone(), next: from.unwrap_or(head + 1) });
                self.write(&Message::answer(id, answer)).await
            }
        }
    }

    async fn show(&mut self, entry: Result<Entry, Message>) -> io::Result<()> {
        match entry {
            Ok(entry) => self.write(&shown(&entry)).await,
            Err(message) => {
                self.watching = None;
                self.write(&message).await
            }
        }
    }

    async fn write(&mut self, message: &Message) -> io::Result<()> {
        write(&mut self.output, &message.to_line()).await
    }
}

/// Waits for the next entry that is wanted. Dropping it half-way loses nothing.
async fn next_entry(
    viewers: &Viewers,
    head: &mut watch::Receiver<u64>,
    watching: Option<&mut Watching>,
) -> Result<Entry, Message> {
    let Some(watching) = watching else { return std::future::pending().await };
    loop {
        if *head.borrow_and_update() >= watching.next {
            match viewers.entry(watching.next) {
                Ok(Some(entry)) => {
                    watching.next = entry.seq + 1;
                    return Ok(entry);
                }
                // What was there has been pruned.
                Ok(None) => {}
                Err(wrong) => return Err(error(Some(watching.id.clone()), wrong.to_string())),
            }
        }
        if head.changed().await.is_err() {
            // The desk has ended, and so will this.
            std::future::pending::<()>().await;
        }
    }
}

fn shown(entry: &Entry) -> Message {
    let Entry { seq, at_ms, kind, question, body, hash } = entry;
    // A body that somebody has made to something else than JSON is shown as a text.
    let body = Json::read(body).ok().and_then(Json::to_boxed).or_else(|| to_raw_value(body).ok());
    Message::Entry(desk::Entry {
        seq: *seq,
        at_ms: *at_ms,
        kind: kind.clone(),
        question: question.clone(),
        hash: hex(hash),
        body: body.unwrap_or_else(|| RawValue::NULL.to_owned()),
    })
}

/// Writes all of it, for as long as the viewer takes some of it now and then.
pub(super) async fn write(output: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> io::Result<()> {
    let mut rest = line;
    while !rest.is_empty() {
        match tokio::time::timeout(STALLED, output.write(rest)).await?? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => rest = &rest[count..],
        }
    }
    Ok(())
}
