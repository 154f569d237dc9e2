//! One bridge's connection: strictly one request at a time.

use callgate_link::tokio::{FrameError, FrameReader, write_frame};
use callgate_wire::tools::{CallRequest, MAX_MESSAGE, Response, error_type};
use callgate_wire::{mcp::meta, raw::Json};
use serde_json::value::{RawValue, to_raw_value};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use super::Host;
use super::context::{CallFacts, NEWS};
use super::outcome::ToolError;

/// A connection came to its end.
struct Closed;

impl<E: std::error::Error> From<E> for Closed {
    fn from(_: E) -> Self {
        Self
    }
}

/// Serves a connection until its other side closes it or breaks the protocol. Dropped, it ends
/// the call that is running.
pub(super) async fn serve(host: Host, stream: UnixStream) {
    let (input, output) = stream.into_split();
    let mut connection = Connection { host, input: FrameReader::new(input, MAX_MESSAGE), output };
    while connection.serve_one().await.is_ok() {}
}

struct Connection {
    host: Host,
    input: FrameReader<OwnedReadHalf>,
    output: OwnedWriteHalf,
}

/// A call, owned: the bridge may send the next frame only after the answer, but a broken one
/// that does so must not overwrite this one.
struct OwnedCall {
    name: String,
    facts: CallFacts,
}

impl Connection {
    async fn serve_one(&mut self) -> Result<(), Closed> {
        let call = match self.input.next().await {
            Ok(Some(frame)) => read_call(frame),
            Err(FrameError::TooLarge(too_large)) => {
                let error = ToolError::named(error_type::MESSAGE_SIZE, too_large.to_string());
                self.answer(Err(error)).await?;
                return Err(Closed);
            }
            Ok(None) | Err(_) => return Err(Closed),
        };
        match call {
            Ok(call) => self.call(call).await,
            Err(error) => self.answer(Err(error)).await,
        }
    }

    async fn call(&mut self, call: OwnedCall) -> Result<(), Closed> {
        let (news, mut reports) = mpsc::channel(NEWS);
        let news = wants_progress(call.facts.meta.as_deref()).then_some(news);
        let host = self.host.clone();
        let run = host.run(&call.name, call.facts, news);
        tokio::pin!(run);
        let outcome = loop {
            tokio::select! {
                // Reports come first: they were made before the outcome.
                biased;
                Some(report) = reports.recv() => {
                    write_frame(&mut self.output, &report, MAX_MESSAGE).await?;
                }
                outcome = &mut run => break outcome,
                early = self.input.next() => {
                    if !matches!(early, Ok(None)) {
                        self.answer(Err(pipelined())).await?;
                    }
                    return Err(Closed);
                }
            }
        };
        while let Ok(report) = reports.try_recv() {
            write_frame(&mut self.output, &report, MAX_MESSAGE).await?;
        }
        self.answer(outcome.and_then(|result| Ok(to_raw_value(&result)?))).await
    }

    async fn answer(&mut self, outcome: Result<Box<RawValue>, ToolError>) -> Result<(), Closed> {
        let payload = match &outcome {
            Ok(result) => Response::Result((&**result).into()).encode(),
            Err(error) => Response::Error(error.payload()).encode(),
        };
        let payload = if payload.len() > MAX_MESSAGE { oversized(payload.len()) } else { payload };
        Ok(write_frame(&mut self.output, &payload, MAX_MESSAGE).await?)
    }
}

fn read_call(frame: &[u8]) -> Result<OwnedCall, ToolError> {
    let broken = |message: String| ToolError::named(error_type::PROTOCOL, message);
    let call = CallRequest::decode(frame).map_err(broken)?;
    let owned = |json: Json<'_>| {
        json.to_boxed().ok_or_else(|| broken("the request cannot be kept".to_owned()))
    };
    Ok(OwnedCall {
        name: call.name.into_owned(),
        facts: CallFacts {
            arguments: owned(call.arguments)?,
            meta: call.meta.map(owned).transpose()?,
            input_responses: call.retry.input_responses.map(owned).transpose()?,
            request_state: call.retry.request_state.map(owned).transpose()?,
        },
    })
}

fn wants_progress(meta: Option<&RawValue>) -> bool {
    meta.is_some_and(|meta| Json::from(meta).members().some(meta::PROGRESS_TOKEN).is_some())
}

fn pipelined() -> ToolError {
    let message = "a request came before the last one was answered: one at a time";
    ToolError::named(error_type::PROTOCOL, message)
}

fn oversized(size: usize) -> Vec<u8> {
    let message = format!(
        "the answer has {size} bytes, but {MAX_MESSAGE} bytes is the limit: \
         have the tool return less at once"
    );
    let error = ToolError::named(error_type::MESSAGE_SIZE, message);
    Response::Error(error.payload()).encode()
}
