//! One answer over HTTP: the request, the bytes that arrive, and the end.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

use super::ApiLink;
use super::patience::AnswerPatience;
use super::sse::SseDecoder;
use super::stream::PieceDecoder;
use crate::BoxFuture;
use crate::engine::{AnswerPiece, AnswerStream, EngineCall, EngineError};

/// The version of the API, which every server supports.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
/// The limit of what is read from the body of an error, and after the end of an answer, in bytes.
const LONGEST_REST: usize = 64 * 1024;
/// How long the body of an error may take.
const ERROR_TIME: Duration = Duration::from_secs(5);
/// How many pieces the first batch has at most, so that the first word is seen at once.
const FEWEST_PIECES: usize = 4;
/// How many pieces later batches have at most, plus those of one more chunk.
const MOST_PIECES: usize = 512;
/// How long reading the rest after the end of an answer may take.
const REST_TIME: Duration = Duration::from_secs(2);

/// An answer in progress.
pub(super) struct AnthropicAnswer {
    state: ReadState,
    /// Pieces that were received but not yet returned, so that a caller that stops waiting loses
    /// nothing.
    ready: Vec<AnswerPiece>,
}

enum ReadState {
    Asking(BoxFuture<'static, Result<AnswerReader, EngineError>>),
    Reading(Box<AnswerReader>),
    Failed(EngineError),
    Ended,
}

/// An answer whose response has begun.
struct AnswerReader {
    link: Arc<ApiLink>,
    response: Response,
    sse: SseDecoder,
    stream: PieceDecoder,
    patience: AnswerPatience,
    /// The size of the next batch.
    most: usize,
}

impl AnthropicAnswer {
    pub(super) fn new(link: Arc<ApiLink>, call: EngineCall) -> Self {
        Self { state: ReadState::Asking(Box::pin(ask(link, call))), ready: Vec::new() }
    }

    /// Waits until there is something to return. Pieces that arrived before a failure are returned
    /// first.
    async fn fill(&mut self) -> Result<bool, EngineError> {
        while self.ready.is_empty() {
            let after = match &mut self.state {
                ReadState::Ended => return Ok(false),
                ReadState::Failed(error) => return Err(error.clone()),
                ReadState::Asking(request) => match request.await {
                    Ok(reading) => Some(ReadState::Reading(Box::new(reading))),
                    Err(error) => Some(ReadState::Failed(error)),
                },
                ReadState::Reading(reading) => match reading.read(&mut self.ready).await {
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

impl AnswerStream for AnthropicAnswer {
    fn next<'a>(
        &'a mut self,
        into: &'a mut Vec<AnswerPiece>,
    ) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async move {
            let goes_on = self.fill().await?;
            if into.is_empty() {
                std::mem::swap(into, &mut self.ready);
            } else {
                into.append(&mut self.ready);
            }
            Ok(goes_on)
        })
    }
}

impl AnswerReader {
    /// Waits for bytes and processes them, with all others that have arrived. Returns `false` after
    /// the end.
    async fn read(&mut self, into: &mut Vec<AnswerPiece>) -> Result<bool, EngineError> {
        let end = self.patience.wait(Instant::now());
        let chunk = timeout_at(end, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| self.link.errors.stalled(self.patience.waited()))?;
        let had_come = self.stream.events();
        self.accept(chunk, into)?;
        while !self.stream.is_whole()
            && into.len() < self.most
            && let Some(chunk) = self.chunk_at_hand().await
        {
            self.accept(chunk, into)?;
        }
        self.patience.heard(Instant::now(), self.stream.events() > had_come);
        self.most = (self.most * 2).min(MOST_PIECES);
        Ok(!self.stream.is_whole())
    }

    fn accept(
        &mut self,
        chunk: reqwest::Result<Option<impl AsRef<[u8]>>>,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        match chunk {
            Ok(Some(bytes)) => self.take(bytes.as_ref(), into),
            Ok(None) => Err(self.link.errors.cut(None)),
            Err(error) => Err(self.link.errors.cut(Some(error))),
        }
    }

    fn take(&mut self, bytes: &[u8], into: &mut Vec<AnswerPiece>) -> Result<(), EngineError> {
        self.sse.push(bytes);
        loop {
            match self.sse.next_event() {
                Ok(Some(event)) => self.stream.take(event.name, event.data, into)?,
                Ok(None) => return Ok(()),
                Err(_) => return Err(self.link.errors.nonsense("an event is too long")),
            }
        }
    }

    /// Returns a chunk that has already arrived. The connection is another task that delivers one
    /// chunk at a time, so that task may run once before the result is `None`.
    async fn chunk_at_hand(&mut self) -> Option<reqwest::Result<Option<impl AsRef<[u8]> + use<>>>> {
        let mut chunk = pin!(self.response.chunk());
        let mut has_waited = false;
        poll_fn(|context| match chunk.as_mut().poll(context) {
            Poll::Ready(chunk) => Poll::Ready(Some(chunk)),
            Poll::Pending if has_waited => Poll::Ready(None),
            Poll::Pending => {
                has_waited = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await
    }

    /// Reads the rest after the end of the answer, which is almost nothing, because a connection
    /// with unread data cannot be reused.
    fn read_away(mut self) {
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let mut rest = Vec::new();
                let _ = timeout(REST_TIME, collect(&mut self.response, &mut rest)).await;
            });
        }
    }
}

/// Sends the request and waits until the answer begins.
async fn ask(link: Arc<ApiLink>, call: EngineCall) -> Result<AnswerReader, EngineError> {
    let body = link.body(&call)?;
    drop(call);
    if link.client.is_slow() {
        let link = Arc::clone(&link);
        // If there is no thread, the client is created below, on this one.
        let _ = tokio::task::spawn_blocking(move || link.client.get(&link.errors).is_ok()).await;
    }
    let request = link
        .client
        .get(&link.errors)?
        .post(link.address.messages.clone())
        .header("x-api-key", link.settings.key.header())
        .header("anthropic-version", VERSION)
        .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .body(body);
    let idle = link.settings.idle;
    let response = timeout(idle, request.send()).await.map_err(|_| link.errors.stalled(idle))?;
    let mut response = response.map_err(|error| link.errors.network(error))?;
    if response.status() != StatusCode::OK || !is_stream(response.headers()) {
        // The part of the reason that cannot be read is left out.
        let mut body = Vec::new();
        let _ = timeout(ERROR_TIME, collect(&mut response, &mut body)).await;
        return Err(link.errors.status(response.status(), response.headers(), &body));
    }
    let stream = PieceDecoder::new(Arc::clone(&link.errors));
    let (sse, most) = (SseDecoder::new(), FEWEST_PIECES);
    Ok(AnswerReader { link, response, sse, stream, patience: AnswerPatience::new(idle), most })
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

/// Reads a body as far as [`LONGEST_REST`].
async fn collect(response: &mut Response, into: &mut Vec<u8>) {
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = LONGEST_REST - into.len();
        into.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if into.len() == LONGEST_REST {
            return;
        }
    }
}
