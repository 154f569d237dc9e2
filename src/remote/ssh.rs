//! ssh: how other machines are reached, and what its failures mean.

use std::fmt;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::thread;

use callgate_mask::text::{self, Measure};

/// The folder of the program on another machine, from the home folder there. Scripts change into
/// the home folder first, whose path may have blanks.
pub(super) const PROGRAM_FOLDER: &str = ".local/share/callgate/bin";
/// The longest name of a machine, in bytes.
const LONGEST_HOST: usize = 200;
/// The longest message of ssh that is shown, in characters.
pub(super) const LONGEST_MESSAGE: usize = 400;

/// A machine as ssh knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemoteHost(String);

impl RemoteHost {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the ssh command that runs a command line there. It never asks anything, and notices
    /// within 15 seconds that the machine is gone.
    ///
    /// It is open day and night, beside the agents on that machine. So nothing is forwarded that
    /// the user's configuration forwards for sessions of people: neither the keys of this machine,
    /// which the agents there could use, nor ports, which would be taken when a person logs in; and
    /// a command that starts with their sessions, such as `tmux`, leaves no room for another. It
    /// joins a shared connection, which may be the only way in without a question, but sessions of
    /// people must not hang on it, since it ends with the desk.
    pub(super) fn ssh_command(&self, command_line: &str) -> Command {
        let mut command = Command::new("ssh");
        // No terminal, because it would change bytes on their way.
        command.args(["-T", "-a", "-x"]);
        for option in [
            "BatchMode=yes",
            "ClearAllForwardings=yes",
            "ConnectTimeout=10",
            "ControlMaster=no",
            "RemoteCommand=none",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
            "Tunnel=no",
        ] {
            command.args(["-o", option]);
        }
        command.args(["--", &self.0, command_line]);
        command
    }

    /// Runs a script of the POSIX shell there with this input, and returns what it prints.
    pub(super) fn run_script(&self, script: &str, input: Option<&[u8]>) -> Result<String, String> {
        // The login shell there may be any, such as fish, so the script is one quoted word for
        // `sh`.
        let quoted = script.replace('\'', r"'\''");
        let mut command = self.ssh_command(&format!("exec sh -c '{quoted}'"));
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| explain_start(&error))?;
        // A thread feeds it, because a script that prints before it has read everything would wait
        // for us to read, and we for it.
        let feeding = child.stdin.take().zip(input.map(<[u8]>::to_vec)).map(|(mut pipe, input)| {
            // A script that has failed says why.
            thread::spawn(move || drop(pipe.write_all(&input)))
        });
        let output = child.wait_with_output().map_err(|error| explain_start(&error))?;
        if let Some(feeding) = feeding {
            feeding.join().ok();
        }
        if output.status.success() {
            let said = String::from_utf8_lossy(&output.stdout);
            // It is printed in a terminal here, which the machine must not steer.
            return Ok(text::visible_text(&said).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(self.explain_failure(output.status.code(), &said))
    }

    /// Says what a failure of ssh means, and what to do about it.
    pub(super) fn explain_failure(&self, code: Option<i32>, said: &str) -> String {
        let host = &self.0;
        let has = |part: &str| said.contains(part);
        let last = said.trim().lines().last().unwrap_or("it said nothing");
        let last = text::one_line(last);
        let last = text::cut_to_length(&last, LONGEST_MESSAGE, Measure::Chars);
        if has("Could not resolve hostname") {
            return format!("ssh does not know {host} ({last}): see ~/.ssh/config");
        }
        // The code is compared, because programs on the machine say so, too; 255 is the code of ssh
        // itself.
        if has("Permission denied") && code == Some(255) {
            return format!(
                "{host} refuses your key ({last}): log in by key first, with `ssh-copy-id {host}`"
            );
        }
        if has("Host key verification failed") {
            return format!(
                "the host key of {host} is not known, or has changed: run `ssh {host}` once and \
                 compare it"
            );
        }
        if has("No space left on device") || has("Disk quota exceeded") {
            return format!("there is no space left on {host}: free some and try again");
        }
        if code == Some(127) || has("No such file or directory") && has(PROGRAM_FOLDER) {
            return format!("callgate is not on {host} any more: run `callgate remote add {host}`");
        }
        if code == Some(255) {
            return format!("ssh cannot reach {host}: {last}");
        }
        format!("{host}: {last}")
    }
}

/// Says why ssh could not be started.
pub(super) fn explain_start(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        return "there is no `ssh` on the PATH: install OpenSSH's client".to_owned();
    }
    format!("cannot run ssh: {error}")
}

impl FromStr for RemoteHost {
    type Err = String;

    fn from_str(host: &str) -> Result<Self, String> {
        // These are refused because the name is a part of a link in the ledger and of commands that
        // people are told to type.
        let is_name = |c: char| !c.is_whitespace() && !c.is_control() && c != '\'' && c != '/';
        // A leading dash is refused, because people are told to type the name, and programs would
        // take it for an option.
        if host.is_empty() || host.starts_with('-') || host.len() > LONGEST_HOST {
            return Err("a machine as ssh knows it is needed, such as me@build.example".to_owned());
        }
        if !host.chars().all(is_name) {
            return Err("a name of a machine has no blanks, slashes or quotes".to_owned());
        }
        Ok(Self(host.to_owned()))
    }
}

impl fmt::Display for RemoteHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
