//! Reads requests from standard input on a thread.

use std::io::Read;
use std::thread;

use callgate_link::blocking::fill_lines;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::raw::Json;
use callgate_wire::session::{LONGEST_ID, MAX_LINE, SessionRequest, Unreadable};
use tokio::sync::mpsc;

/// The most requests that wait to be handled; then standard input is not read.
const WAITING: usize = 16;

/// A line that was received.
#[derive(Debug)]
pub(crate) enum IncomingLine {
    Request(Box<SessionRequest>),
    /// A line that is not a request.
    Unreadable(Unreadable),
    /// A line over the limit, with its id if it could be found.
    TooLong {
        size: usize,
        id: Option<String>,
    },
    /// Standard input cannot be read. Nothing follows.
    Broken(std::io::Error),
}

/// Reads requests until the input ends; then the channel closes.
pub(crate) fn start(
    mut input: impl Read + Send + 'static,
) -> std::io::Result<mpsc::Receiver<IncomingLine>> {
    let (found, requests) = mpsc::channel(WAITING);
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        // The receiver is dropped when the session ends.
        read(&mut input, &found).ok();
    })?;
    Ok(requests)
}

fn read(
    input: &mut impl Read,
    found: &mpsc::Sender<IncomingLine>,
) -> Result<(), mpsc::error::SendError<IncomingLine>> {
    let mut lines = LineDecoder::new(MAX_LINE);
    loop {
        let count = match fill_lines(input, &mut lines) {
            Ok(count) => count,
            Err(error) => return found.blocking_send(IncomingLine::Broken(error)),
        };
        while let Some(line) = lines.next_frame() {
            found.blocking_send(incoming(line))?;
        }
        if count == 0 {
            if let Some(line) = lines.finish() {
                found.blocking_send(incoming(line))?;
            }
            return Ok(());
        }
    }
}

fn incoming(line: DecodedLine<'_>) -> IncomingLine {
    match line {
        DecodedLine::Whole(line) => match SessionRequest::decode(line) {
            Ok(request) => IncomingLine::Request(Box::new(request)),
            Err(unreadable) => IncomingLine::Unreadable(unreadable),
        },
        DecodedLine::TooLong(line) => {
            let id = line.id.as_deref().and_then(|id| Json::read(id).ok()?.string());
            let id = id.map(std::borrow::Cow::into_owned).filter(|id| id.len() <= LONGEST_ID);
            IncomingLine::TooLong { size: line.size, id }
        }
    }
}
