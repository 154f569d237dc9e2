//! A value that somebody types at the terminal, which does not show it.

use std::io::{self, Read, Write};
use std::thread;

use callgate_wire::HiddenText;
use tokio::sync::oneshot;

use crate::terminal::interruptions::Interruptions;
use crate::terminal::modes::{JobControl, KeyModes};

/// The longest line of a terminal, in bytes. The system drops what is typed beyond it.
const LONGEST_LINE: usize = 4095;

/// Asks for a value on standard error and reads one line from the terminal on standard input. The
/// terminal has its modes again when this returns. Returns `None` if the command is to end.
pub(crate) fn read_typed_secret(what: &str) -> io::Result<Option<HiddenText>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let read = runtime.block_on(async {
        // From here on no signal ends the process before the modes are restored.
        let (mut interruptions, mut job_control) =
            (Interruptions::listen()?, JobControl::listen()?);
        let modes = KeyModes::start_hidden_line()?;
        tokio::select! {
            line = typed_line(what) => line.map(Some),
            () = interruptions.next() => Ok(None),
            Err(error) = job_control.follow(&modes) => Err(error),
        }
    });
    // The thread that reads may never return.
    runtime.shutdown_background();
    if matches!(read, Ok(None)) {
        // The end of the line was not typed, so what follows would be behind the prompt.
        io::stderr().write_all(b"\n").ok();
    }
    read
}

async fn typed_line(what: &str) -> io::Result<HiddenText> {
    let mut stderr = io::stderr();
    stderr.write_all(format!("{what} (not shown): ").as_bytes())?;
    stderr.flush()?;
    let (line_in, line) = oneshot::channel();
    // A read of a terminal cannot be cancelled, so it has a thread that may be left behind.
    thread::spawn(move || line_in.send(read_line()));
    line.await.map_err(io::Error::other)?
}

/// Reads one line, without its end.
fn read_line() -> io::Result<HiddenText> {
    let (mut line, mut input) = (Vec::new(), io::stdin().lock());
    let mut part = [0; LONGEST_LINE];
    // A terminal delivers a line at a time, or what there is of it at Ctrl-D.
    while !line.ends_with(b"\n") && line.len() < LONGEST_LINE {
        match input.read(&mut part)? {
            0 => break,
            count => line.extend_from_slice(&part[..count]),
        }
    }
    if line.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "nothing was typed"));
    }
    if line.len() >= LONGEST_LINE {
        let text = format!(
            "a value of {LONGEST_LINE} bytes or more is too long to be typed: \
            redirect standard input from a file"
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    let text = String::from_utf8(line)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))?;
    Ok(HiddenText::new(text.trim_end_matches(['\r', '\n'])))
}
