//! Standard input and output of the hook: one JSON object in, at most one line out.

use std::io;
use std::os::fd::BorrowedFd;

use callgate_wire::raw::Json;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};

/// The longest input that is read. A question has to fit into a line of the protocol; the result of
/// a tool, which is reported after it has run, may be larger.
pub(super) const LONGEST_INPUT: usize = 32 * 1024 * 1024;
/// How long to wait for more input, and for room for more output.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
const CHUNK: usize = 64 * 1024;
/// How much a pipe takes without blocking once it is writable (`PIPE_BUF`).
const AT_ONCE: usize = 4096;

/// Reads the agent's input to its end, or until it is a complete JSON value, since not every agent
/// closes the pipe. The error includes what was read before it.
pub(super) fn read_input(stdin: BorrowedFd<'_>) -> Result<Vec<u8>, (String, Vec<u8>)> {
    let mut input = Vec::with_capacity(CHUNK);
    loop {
        let reason = match read_once(stdin, &mut input) {
            Ok(0) => return Ok(input),
            Ok(_) if is_whole(&input) => return Ok(input),
            Ok(_) if input.len() > LONGEST_INPUT => {
                format!("the agent's input has more than {LONGEST_INPUT} bytes")
            }
            Ok(_) => continue,
            Err(error) => format!("cannot read the agent's input: {error}"),
        };
        return Err((reason, input));
    }
}

/// Reads once. Returns 0 at the end.
fn read_once(stdin: BorrowedFd<'_>, input: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        // A read from a blocking pipe would have no limit, and some agents provide one that does
        // not block.
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&PATIENCE)) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "nothing came")),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        input.reserve(CHUNK);
        match read(stdin, spare_capacity(input)) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            done => return Ok(done?),
        }
    }
}

fn is_whole(input: &[u8]) -> bool {
    // Looked at first, because parsing after every chunk would make a long input slow.
    let ends = input.trim_ascii_end().ends_with(b"}");
    ends && std::str::from_utf8(input).is_ok_and(|text| Json::from_text(text).is_ok())
}

/// Writes everything, also to a pipe in non-blocking mode, as some agents provide. Returns an error
/// if the agent does not read.
pub(super) fn write_all(output: BorrowedFd<'_>, rest: &[u8]) -> io::Result<()> {
    write_within(output, rest, &PATIENCE)
}

fn write_within(output: BorrowedFd<'_>, mut rest: &[u8], patience: &Timespec) -> io::Result<()> {
    while !rest.is_empty() {
        // A longer write to a blocking pipe would have no limit.
        match poll(&mut [PollFd::new(&output, PollFlags::OUT)], Some(patience)) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it")),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        match write(output, &rest[..rest.len().min(AT_ONCE)]) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, pipe};
    use std::os::fd::AsFd;

    use super::*;

    const AT_MOST: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

    #[test]
    fn an_agent_that_does_not_read_is_given_up() {
        let (reader, writer) = pipe().unwrap();
        let error = write_within(writer.as_fd(), &vec![b'x'; 1024 * 1024], &AT_MOST).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(reader);
    }

    #[test]
    fn an_agent_that_reads_gets_everything() {
        let (mut reader, writer) = pipe().unwrap();
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            all.len()
        });
        write_all(writer.as_fd(), &vec![b'x'; 1024 * 1024]).unwrap();
        drop(writer);
        assert_eq!(reading.join().unwrap(), 1024 * 1024);
    }
}
