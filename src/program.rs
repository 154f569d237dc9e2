//! Runs another program for its short output, or for one answer in a conversation.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use callgate_link::child::LeashedChild;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

/// How long a program may take to end by itself after a conversation.
const FAREWELL: Duration = Duration::from_secs(2);

/// Why there is no output. No text contains the output itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("did not answer within {0:?}")]
    TooSlow(Duration),
    #[error("failed ({0})")]
    Failed(ExitStatus),
    #[error("printed more than {0} bytes")]
    TooMuch(usize),
    #[error("printed no text")]
    NotText,
    #[error("ended without an answer")]
    NoAnswer,
    #[error("cannot be read: {0}")]
    Unread(io::Error),
}

/// Runs `command` to its end and returns what it printed, at most `most` bytes. After `limit` it is
/// ended. Its standard error is discarded.
pub(crate) fn run_for_output(
    command: Command,
    limit: Duration,
    most: usize,
) -> Result<String, ProgramError> {
    run_with_input(command, "", limit, most)
}

/// Like [`run_for_output`], for a program that reads `words`, which must fit into a pipe.
pub(crate) fn run_with_input(
    mut command: Command,
    words: &str,
    limit: Duration,
    most: usize,
) -> Result<String, ProgramError> {
    command.stderr(Stdio::null());
    let (status, mut child) = run_to_end(command, words, limit)?;
    if !status.success() {
        return Err(ProgramError::Failed(status));
    }
    read_printed_text(child.stdout.take(), most)
}

#[derive(Debug)]
pub(crate) struct EndedProgram {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    /// What it wrote to standard error.
    pub(crate) stderr: String,
}

/// Runs `command` to its end, whatever its exit code is. It reads `words`, which must fit into a
/// pipe, and may print at most `most` bytes to each of its outputs.
pub(crate) fn run_and_capture(
    mut command: Command,
    words: &str,
    limit: Duration,
    most: usize,
) -> Result<EndedProgram, ProgramError> {
    command.stderr(Stdio::piped());
    let (status, mut child) = run_to_end(command, words, limit)?;
    let stdout = read_printed_text(child.stdout.take(), most)?;
    Ok(EndedProgram { status, stdout, stderr: read_printed_text(child.stderr.take(), most)? })
}

fn run_to_end(
    mut command: Command,
    words: &str,
    limit: Duration,
) -> Result<(ExitStatus, LeashedChild), ProgramError> {
    let stdin = if words.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped());
    // A program that outlives its time limit ends with this handle, together with what it has
    // started.
    let mut child = LeashedChild::spawn(command).map_err(ProgramError::NotStarted)?;
    if let Some(stdin) = child.stdin.take() {
        // Writing all of it first cannot block, because the words fit into the pipe.
        send_words(stdin, words)?;
    }
    // Its output is read after its end: a program that prints more than a pipe holds would wait
    // until it counts as too slow, so no caller takes more.
    if !child.wait_for(limit).map_err(ProgramError::Unread)? {
        return Err(ProgramError::TooSlow(limit));
    }
    let status = child.wait().map_err(ProgramError::Unread)?;
    Ok((status, child))
}

/// Returns what a program that has ended printed to one of its outputs.
fn read_printed_text(pipe: Option<impl Read + AsFd>, most: usize) -> Result<String, ProgramError> {
    let Some(pipe) = pipe else { return Err(ProgramError::NotText) };
    // The program has ended, so all that it printed is there; another process may hold the pipe
    // open.
    ioctl_fionbio(&pipe, true).map_err(|error| ProgramError::Unread(error.into()))?;
    // One byte more than allowed is enough to see that there is too much.
    let bytes = read_what_is_there(pipe.take(most as u64 + 1)).map_err(ProgramError::Unread)?;
    if bytes.len() > most {
        return Err(ProgramError::TooMuch(most));
    }
    String::from_utf8(bytes).map_err(|_| ProgramError::NotText)
}

/// Starts `command`, sends it `words`, and returns the first answer that `answer` finds in a line
/// that it prints. At most `most` bytes are read. Then, and after `limit` at the latest, the
/// program is ended.
pub(crate) fn ask_program<T>(
    mut command: Command,
    words: &str,
    limit: Duration,
    most: usize,
    answer: impl Fn(&str) -> Option<T>,
) -> Result<T, ProgramError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = LeashedChild::spawn(command).map_err(ProgramError::NotStarted)?;
    let end = Instant::now() + limit;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ProgramError::NoAnswer);
    };
    send_words(&mut stdin, words)?;
    let found = first_answer(stdout, end, most, answer);
    // Most programs end by themselves when their input ends, which is gentler.
    drop(stdin);
    if found.is_ok() {
        // If it has not ended, it is ended here.
        child.wait_for(FAREWELL).ok();
    }
    found?.ok_or(ProgramError::TooSlow(limit))
}

/// Writes `words`. That a program has ended or does not read is not an error: what it printed and
/// how it ended say more.
fn send_words(mut stdin: impl Write, words: &str) -> Result<(), ProgramError> {
    match stdin.write_all(words.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(ProgramError::Unread),
    }
}

/// Returns the first answer; `None` if there is none before `end`.
fn first_answer<T>(
    mut stdout: ChildStdout,
    end: Instant,
    most: usize,
    answer: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, ProgramError> {
    ioctl_fionbio(&stdout, true).map_err(|error| ProgramError::Unread(error.into()))?;
    let (mut unread, mut count) = (Vec::new(), 0);
    let mut chunk = [0; 16 * 1024];
    loop {
        let length = match stdout.read(&mut chunk) {
            Ok(0) => return Err(ProgramError::NoAnswer),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(None);
                }
                wait_for_more(&stdout, left).map_err(ProgramError::Unread)?;
                0
            }
            Err(error) => return Err(ProgramError::Unread(error)),
        };
        // All bytes count, and not only those of the line, so that endless short lines are too much
        // as well.
        count += length;
        unread.extend_from_slice(&chunk[..length]);
        while let Some(newline) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=newline).collect();
            if let Some(answer) = std::str::from_utf8(&line).ok().and_then(&answer) {
                return Ok(Some(answer));
            }
        }
        // Looked at after the lines, so that an answer counts although much follows it.
        if count > most {
            return Err(ProgramError::TooMuch(most));
        }
    }
}

fn wait_for_more(stdout: &ChildStdout, left: Duration) -> io::Result<()> {
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&left)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn read_what_is_there(mut pipe: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match pipe.read_to_end(&mut bytes) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests;
