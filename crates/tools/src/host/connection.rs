//! One bridge's connection, which carries one request at a time.

use callgate_link::tokio::{FrameError, FrameReader, write_frame};
use callgate_wire::tools::{CallProgress, CallRequest, HostResponse, MAX_MESSAGE, error_type};
use callgate_wire::{mcp::meta, raw::Json};
use serde_json::value::{RawValue, to_raw_value};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use super::Host;
use super::context::{CallFacts, MOST_REPORTS};
use super::outcome::ToolError;

struct ConnectionClosed;

impl<E: std::error::Error> From<E> for ConnectionClosed {
    fn from(_: E) -> Self {
        Self
    }
}

/// Serves a connection until the other side closes it or breaks the protocol. Dropping this ends
/// the call that is running.
pub(super) async fn serve_bridge(host: Host, stream: UnixStream) {
    let (input, output) = stream.into_split();
    let mut connection =
        BridgeConnection { host, input: FrameReader::new(input, MAX_MESSAGE), output };
    while connection.serve_one().await.is_ok() {}
}

struct BridgeConnection {
    host: Host,
    input: FrameReader<OwnedReadHalf>,
    output: OwnedWriteHalf,
}

impl BridgeConnection {
    async fn serve_one(&mut self) -> Result<(), ConnectionClosed> {
        let call = match self.input.next().await {
            Ok(Some(frame)) => read_call(frame),
            Err(FrameError::TooLarge(too_large)) => {
                let error = ToolError::named(error_type::MESSAGE_SIZE, too_large.to_string());
                self.answer(Err(error)).await?;
                return Err(ConnectionClosed);
            }
            Ok(None) | Err(_) => return Err(ConnectionClosed),
        };
        match call {
            Ok((name, facts)) => self.run_call(&name, facts).await,
            Err(error) => self.answer(Err(error)).await,
        }
    }

    async fn run_call(&mut self, name: &str, facts: CallFacts) -> Result<(), ConnectionClosed> {
        let (news, mut reports) = mpsc::channel(MOST_REPORTS);
        let news = wants_progress(facts.meta.as_deref()).then_some(news);
        // A copy, because the call would otherwise borrow `self` while its reports are written.
        let host = self.host.clone();
        let run = host.run_call(name, facts, news);
        tokio::pin!(run);
        let outcome = loop {
            tokio::select! {
                // Reports come first: they were made before the outcome.
                biased;
                Some(report) = reports.recv() => self.report(report).await?,
                outcome = &mut run => break outcome,
                // A bridge says nothing while it waits. The end of its stream cancels the call, and
                // anything else breaks the protocol.
                early = self.input.next() => {
                    if !matches!(early, Ok(None)) {
                        self.answer(Err(pipelining_error())).await?;
                    }
                    return Err(ConnectionClosed);
                }
            }
        };
        // The tool may have reported something just before it ended.
        while let Ok(report) = reports.try_recv() {
            self.report(report).await?;
        }
        self.answer(outcome.and_then(|result| Ok(to_raw_value(&result)?))).await
    }

    async fn report(&mut self, report: CallProgress<'static>) -> Result<(), ConnectionClosed> {
        let payload = HostResponse::Progress(report).encode();
        Ok(write_frame(&mut self.output, &payload, MAX_MESSAGE).await?)
    }

    async fn answer(
        &mut self,
        outcome: Result<Box<RawValue>, ToolError>,
    ) -> Result<(), ConnectionClosed> {
        let payload = match &outcome {
            Ok(result) => HostResponse::Result((&**result).into()).encode(),
            Err(error) => HostResponse::Error(error.payload()).encode(),
        };
        let payload =
            if payload.len() > MAX_MESSAGE { encode_size_error(payload.len()) } else { payload };
        Ok(write_frame(&mut self.output, &payload, MAX_MESSAGE).await?)
    }
}

/// Reads a call and copies it: a bridge that sends the next one too early must not overwrite it.
fn read_call(frame: &[u8]) -> Result<(String, CallFacts), ToolError> {
    let call = CallRequest::decode(frame)
        .map_err(|reason| ToolError::named(error_type::PROTOCOL, reason))?;
    let facts = CallFacts::copy(call.arguments, call.meta, &call.retry)?;
    Ok((call.name.into_owned(), facts))
}

fn wants_progress(meta: Option<&RawValue>) -> bool {
    meta.is_some_and(|meta| Json::from(meta).members().get_non_null(meta::PROGRESS_TOKEN).is_some())
}

fn pipelining_error() -> ToolError {
    let message = "a request arrived before the last one was answered: send one at a time";
    ToolError::named(error_type::PROTOCOL, message)
}

fn encode_size_error(size: usize) -> Vec<u8> {
    let message = format!(
        "the answer has {size} bytes, but {MAX_MESSAGE} bytes is the limit: \
         have the tool return less at once"
    );
    let error = ToolError::named(error_type::MESSAGE_SIZE, message);
    HostResponse::Error(error.payload()).encode()
}
