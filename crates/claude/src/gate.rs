//! Registers a CLI at the desk. If callgate's hook is in the user's settings, it recognises by the
//! registered value that this program answers the CLI's permission requests.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use callgate_link::blocking::fill_lines;
use callgate_link::socket;
use callgate_wire::desk::{
    DeskAnswer, DeskCommand, DeskMessage, DeskRequest, HiddenText, MAX_MESSAGE,
};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use uuid::Uuid;

/// How long the desk may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A registered value, valid until this is dropped.
#[derive(Debug)]
pub(crate) struct GateRegistration {
    value: String,
    _connection: UnixStream,
}

impl GateRegistration {
    /// Registers a value at the desk. Returns `None` without a desk: the hook then has nobody to
    /// ask either.
    pub(crate) fn register(desk: &Path) -> Option<Self> {
        let connection = socket::connect_to_path(desk).ok()?;
        let value = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let command = DeskCommand::Gate { value: HiddenText::new(value.clone()) };
        let is_done = ask_desk(&connection, &DeskRequest { id: "1".to_owned(), command }).ok()?;
        is_done.then_some(Self { value, _connection: connection })
    }

    /// Returns the value for the CLI's environment.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }
}

/// Sends a request; returns true if the desk has carried it out.
fn ask_desk(mut connection: &UnixStream, request: &DeskRequest) -> io::Result<bool> {
    // A desk that does not answer must not hold up the start of the CLI, whose hooks ask it anyway.
    connection.set_write_timeout(Some(PATIENCE))?;
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.write_all(&request.to_line())?;
    let mut lines = LineDecoder::new(MAX_MESSAGE);
    loop {
        match lines.next_frame() {
            Some(DecodedLine::Whole(line)) => {
                return Ok(matches!(
                    DeskMessage::decode(line),
                    Ok(DeskMessage::Answer { answer: DeskAnswer::Told { done: true, .. }, .. })
                ));
            }
            Some(DecodedLine::TooLong(_)) => return Ok(false),
            None => {}
        }
        if lines.is_dropping() || fill_lines(&mut connection, &mut lines)? == 0 {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests;
