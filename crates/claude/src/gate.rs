//! Registers a CLI at the desk. If callgate's hook is in the user's settings, it recognises by the
//! registered value that this program answers the CLI's permission requests.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use callgate_link::blocking::fill_lines;
use callgate_link::socket;
use callgate_wire::desk::{
    DeskAnswer, DeskCommand, DeskMessage, DeskRequest, MAX_MESSAGE, PairingSecret,
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
    /// Registers a value at the desk. Without a desk there is nothing to register: its hook asks
    /// nobody either.
    pub(crate) fn register(desk: &Path) -> Option<Self> {
        let connection = socket::connect(desk).ok()?;
        let value = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let command = DeskCommand::Gate { value: PairingSecret::new(value.clone()) };
        let is_done = ask(&connection, &DeskRequest { id: "1".to_owned(), command }).ok()?;
        is_done.then_some(Self { value, _connection: connection })
    }

    /// Returns the value for the CLI's environment.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }
}

/// Sends a request; returns true if the desk has carried it out.
fn ask(mut connection: &UnixStream, request: &DeskRequest) -> io::Result<bool> {
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
mod tests {
    use std::io::{BufReader, Read};
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// What a desk hears that answers so, and whether the value counts as registered.
    fn check(answer: &'static str, expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let desk = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let bytes = BufReader::new(stream.try_clone().unwrap()).bytes().map(Result::unwrap);
            let line: Vec<u8> = bytes.take_while(|byte| *byte != b'\n').collect();
            // Whoever asks may have gone.
            stream.write_all(answer.as_bytes()).ok();
            line
        });
        let gate = GateRegistration::register(&path);
        assert_eq!(gate.is_some(), expected, "{answer}");
        let heard: serde_json::Value = serde_json::from_slice(&desk.join().unwrap()).unwrap();
        assert_eq!(heard["kind"], "gate");
        if let Some(gate) = gate {
            assert_eq!(heard["value"], gate.value());
            assert_eq!(gate.value().len(), 64);
        }
    }

    #[test]
    fn a_value_counts_only_when_the_desk_has_taken_it() {
        check("{\"id\":\"1\",\"kind\":\"told\",\"done\":true,\"text\":\"\"}\n", true);
        check("{\"id\":\"1\",\"kind\":\"told\",\"done\":false,\"text\":\"\"}\n", false);
        check("{\"id\":\"1\",\"kind\":\"error\",\"text\":\"unknown\"}\n", false);
        check("", false);
        assert!(GateRegistration::register(Path::new("/nowhere/desk.sock")).is_none());
    }
}
