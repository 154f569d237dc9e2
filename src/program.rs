//! Runs another program for its few words of output.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use callgate_link::child::Leashed;
use rustix::io::ioctl_fionbio;

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// Why there is no output. The output itself is in none of these texts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("did not end within {0:?}")]
    TooSlow(Duration),
    #[error("failed ({0})")]
    Failed(std::process::ExitStatus),
    #[error("printed more than {0} bytes")]
    TooMuch(usize),
    #[error("printed no text")]
    NotText,
    #[error("cannot be read: {0}")]
    Unread(io::Error),
}

/// Runs `command` to its end and gives what it printed, at most `most` bytes. After `limit` it is
/// ended. What it says on stderr is nobody's.
pub(crate) fn output(
    mut command: Command,
    limit: Duration,
    most: usize,
) -> Result<String, ProgramError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Leashed::spawn(command).map_err(ProgramError::NotStarted)?;
    let end = Instant::now() + limit;
    while !child.has_ended().map_err(ProgramError::Unread)? {
        if Instant::now() > end {
            return Err(ProgramError::TooSlow(limit));
        }
        std::thread::sleep(LOOK);
    }
    let status = child.wait().map_err(ProgramError::Unread)?;
    if !status.success() {
        return Err(ProgramError::Failed(status));
    }
    let Some(stdout) = child.stdout.take() else { return Err(ProgramError::NotText) };
    // The program has ended, so all that it printed is there; somebody else may hold the pipe.
    ioctl_fionbio(&stdout, true).map_err(|error| ProgramError::Unread(error.into()))?;
    let bytes = read_what_is_there(stdout.take(most as u64 + 1)).map_err(ProgramError::Unread)?;
    if bytes.len() > most {
        return Err(ProgramError::TooMuch(most));
    }
    String::from_utf8(bytes).map_err(|_| ProgramError::NotText)
}

fn read_what_is_there(mut pipe: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match pipe.read_to_end(&mut bytes) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn a_program_gives_what_it_printed() {
        assert_eq!(output(shell("echo 1.2.3; echo no >&2"), LIMIT, 100).unwrap(), "1.2.3\n");
        assert_eq!(output(shell("sleep 1000 & echo left"), LIMIT, 100).unwrap(), "left\n");
        assert_eq!(output(shell("printf 12345"), LIMIT, 5).unwrap(), "12345");
    }

    #[test]
    fn everything_else_is_an_error() {
        let check = |command: Command, limit: Duration, expected: &str| {
            assert_eq!(output(command, limit, 5).unwrap_err().to_string(), expected);
        };
        check(shell("echo 12345"), LIMIT, "printed more than 5 bytes");
        check(shell("echo 1; exit 3"), LIMIT, "failed (exit status: 3)");
        check(shell(r"printf '\377'"), LIMIT, "printed no text");
        check(shell("exec sleep 1000"), Duration::from_millis(30), "did not end within 30ms");
        let absent = output(Command::new("/nowhere/at/all"), LIMIT, 5).unwrap_err().to_string();
        assert!(absent.starts_with("cannot be started: No such file"), "{absent}");
    }
}
