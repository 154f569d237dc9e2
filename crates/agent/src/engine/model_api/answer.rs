//! One answer over HTTP: the request, the bytes that arrive, and the end.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use callgate_http::read_body;
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode, Url};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

use super::client::LazyClient;
use super::patience::AnswerPatience;
use super::{ApiLink, LONGEST_EVENT, header_text};
use crate::engine::{AnswerPiece, AnswerStream, EngineError, NextPieces};
use crate::sse::SseDecoder;
use crate::{BoxFuture, poll_twice};

/// The limit of what is read from the body of an error, and after the end of an answer, in bytes.
const LONGEST_REST: usize = 64 * 1024;
/// How long the body of an error may take.
const ERROR_TIME: Duration = Duration::from_secs(5);
/// How many pieces the first batch has at most, so that the first word is seen at once.
const FEWEST_PIECES: usize = 4;
/// How many pieces later batches have at most, plus those of one more chunk.
const MOST_PIECES: usize = 512;
/// How long the end mark and the usage may take after the last part of an answer.
const END_TIME: Duration = Duration::from_secs(5);
/// How long reading the rest after the end of an answer may take.
const REST_TIME: Duration = Duration::from_secs(2);

/// A request that is answered by a stream of events.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(crate) address: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Turns the events of one answer into its pieces.
pub(crate) trait EventDecoder: Send + 'static {
    fn decode_event(
        &mut self,
        name: &[u8],
        data: &str,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError>;

    /// Processes the end of the stream. Returns false if the answer is cut off.
    fn finish(&mut self, _into: &mut Vec<AnswerPiece>) -> Result<bool, EngineError> {
        Ok(self.is_whole())
    }

    fn is_whole(&self) -> bool;

    /// Returns true if all of the answer has arrived, though its end mark may not have. The rest is
    /// not needed.
    fn has_stopped(&self) -> bool {
        self.is_whole()
    }

    /// Returns the number of events with content so far. A ping has none.
    fn events(&self) -> u64;
}

/// What an answer needs before it can be asked for.
pub(crate) type PreparedAnswer<D> = Result<(Arc<ApiLink>, ApiRequest, D), EngineError>;

pub(crate) struct StreamedAnswer<D> {
    state: ReadState<D>,
    /// Pieces that were received but not yet returned, so that a caller that stops waiting loses
    /// nothing.
    ready: Vec<AnswerPiece>,
}

enum ReadState<D> {
    // Kept between waits, so that one that is dropped does not begin the request anew.
    Asking(BoxFuture<'static, Result<AnswerReader<D>, EngineError>>),
    Reading(Box<AnswerReader<D>>),
    Failed(EngineError),
    Ended,
}

/// An answer whose response has begun.
struct AnswerReader<D> {
    link: Arc<ApiLink>,
    response: Response,
    sse: SseDecoder,
    stream: D,
    patience: AnswerPatience,
    most: usize,
}

impl<D: EventDecoder> StreamedAnswer<D> {
    /// Begins an answer once it is prepared.
    pub(crate) fn new(prepare: impl Future<Output = PreparedAnswer<D>> + Send + 'static) -> Self {
        Self { state: ReadState::Asking(Box::pin(ask_server(prepare))), ready: Vec::new() }
    }

    /// Waits until there is something to return. Pieces that arrived before a failure are returned
    /// first.
    async fn wait_for_pieces(&mut self) -> Result<bool, EngineError> {
        while self.ready.is_empty() {
            let after = match &mut self.state {
                ReadState::Ended => return Ok(false),
                // The error stays, so that a caller who asks again does not find an answer that
                // ended well.
                ReadState::Failed(error) => return Err(error.clone()),
                ReadState::Asking(request) => match request.await {
                    Ok(reading) => Some(ReadState::Reading(Box::new(reading))),
                    Err(error) => Some(ReadState::Failed(error)),
                },
                ReadState::Reading(reading) => match reading.read_pieces(&mut self.ready).await {
                    Ok(true) => None,
                    Ok(false) => Some(ReadState::Ended),
                    Err(error) => Some(ReadState::Failed(error)),
                },
            };
            if let Some(after) = after
                && let ReadState::Reading(reading) = std::mem::replace(&mut self.state, after)
                && matches!(self.state, ReadState::Ended)
            {
                reading.read_away();
            }
        }
        Ok(true)
    }
}

impl<D: EventDecoder> AnswerStream for StreamedAnswer<D> {
    fn next<'a>(&'a mut self, into: &'a mut Vec<AnswerPiece>) -> NextPieces<'a> {
        Box::pin(async move {
            let goes_on = self.wait_for_pieces().await?;
            if into.is_empty() {
                // Nearly always so, and neither buffer has to grow again.
                std::mem::swap(into, &mut self.ready);
            } else {
                into.append(&mut self.ready);
            }
            Ok(goes_on)
        })
    }
}

impl<D: EventDecoder> AnswerReader<D> {
    /// Waits for bytes and processes them, with all others that have arrived. Returns `false` after
    /// the end.
    async fn read_pieces(&mut self, into: &mut Vec<AnswerPiece>) -> Result<bool, EngineError> {
        let now = Instant::now();
        let end = self.patience.start_wait(now);
        let end = if self.stream.has_stopped() { end.min(now + END_TIME) } else { end };
        let chunk = match timeout_at(end, self.response.chunk()).await {
            Ok(chunk) => chunk,
            // All of the answer is there: as an error it would be asked for, and paid for, a second
            // time.
            Err(_) if self.stream.has_stopped() => Ok(None),
            Err(_) => return Err(self.link.errors.stalled(self.patience.waited())),
        };
        // Before the bytes are read, because only events that they bring show that the model lives.
        let had_come = self.stream.events();
        self.accept(chunk, into)?;
        while !self.stream.is_whole()
            && into.len() < self.most
            // The connection is another task that delivers one chunk at a time.
            && let Some(chunk) = poll_twice(self.response.chunk()).await
        {
            self.accept(chunk, into)?;
        }
        self.patience.note_bytes(Instant::now(), self.stream.events() > had_come);
        // The first words are shown at once; later it costs less to hand on many pieces together.
        self.most = (self.most * 2).min(MOST_PIECES);
        Ok(!self.stream.is_whole())
    }

    fn accept(
        &mut self,
        chunk: reqwest::Result<Option<impl AsRef<[u8]>>>,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        match chunk {
            Ok(Some(bytes)) => self.decode_bytes(bytes.as_ref(), into),
            Ok(None) if self.stream.finish(into)? => Ok(()),
            Ok(None) => Err(self.link.errors.broken_off(None)),
            // Some servers just hang up at the end.
            Err(_) if self.stream.has_stopped() && self.stream.finish(into)? => Ok(()),
            Err(error) => Err(self.link.errors.broken_off(Some(error))),
        }
    }

    fn decode_bytes(
        &mut self,
        bytes: &[u8],
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        self.sse.push(bytes);
        loop {
            match self.sse.next_event() {
                Ok(Some(event)) => {
                    let Some(data) = event.data.map(readable_text) else { continue };
                    self.stream.decode_event(event.name, &data, into)?;
                }
                Ok(None) => return Ok(()),
                Err(_) => return Err(self.link.errors.invalid_data("an event is too long")),
            }
        }
    }

    /// Reads the rest after the end of the answer, which is almost nothing, because a connection
    /// with unread data cannot be reused.
    fn read_away(mut self) {
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let mut rest = Vec::new();
                let rest = read_body(&mut self.response, &mut rest, LONGEST_REST);
                let _ = timeout(REST_TIME, rest).await;
            });
        }
    }
}

/// Sends the request and waits until the answer begins.
async fn ask_server<D: EventDecoder>(
    prepare: impl Future<Output = PreparedAnswer<D>>,
) -> Result<AnswerReader<D>, EngineError> {
    let (link, ApiRequest { address, headers, body }, stream) = prepare.await?;
    let request = LazyClient::ready(&link).await?.post(address).headers(headers).body(body);
    let idle = link.idle;
    // One limit for the upload and the wait for the first byte, because nothing is heard of either.
    let response = timeout(idle, request.send()).await.map_err(|_| link.errors.stalled(idle))?;
    let mut response = response.map_err(|error| link.errors.network(error))?;
    // A wrong address may answer 200 with a page, which, read as events, would be a cut answer that
    // the turn asks for again.
    if response.status() != StatusCode::OK || !is_stream(response.headers()) {
        // The part of the reason that cannot be read is left out.
        let mut body = Vec::new();
        let _ = timeout(ERROR_TIME, read_body(&mut response, &mut body, LONGEST_REST)).await;
        return Err(link.errors.status(response.status(), response.headers(), &body));
    }
    let (sse, most) = (SseDecoder::new(LONGEST_EVENT), FEWEST_PIECES);
    Ok(AnswerReader { link, response, sse, stream, patience: AnswerPatience::new(idle), most })
}

/// Returns the data of an event as text. One broken character is no reason to lose the answer.
fn readable_text(data: &[u8]) -> Cow<'_, str> {
    // The lossy conversion takes each byte by itself, and nearly all text is valid.
    str::from_utf8(data).map_or_else(|_| String::from_utf8_lossy(data), Cow::Borrowed)
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = header_text(headers, &header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}
