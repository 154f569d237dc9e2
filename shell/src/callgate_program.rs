//! The program `callgate`, which is the runtime and knows the settings.

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use callgate_client::wire::HiddenText;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::command_refusal::CommandRefusal;

/// The variable that names another program.
const VARIABLE: &str = "CALLGATE_PROGRAM";
/// How long a command that needs no person may take.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);

const UNREADABLE: &str =
    "the answer of `callgate config` cannot be read: is it of another version?";

#[derive(Debug, Clone)]
pub(crate) struct CallgateProgram(PathBuf);

impl CallgateProgram {
    /// Returns the program that `CALLGATE_PROGRAM` names, or the one beside this program, or the
    /// one on the `PATH`.
    pub(crate) fn find() -> Self {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let beside = || {
            let beside = env::current_exe().ok()?.with_file_name("callgate");
            beside.is_file().then_some(beside)
        };
        Self(named.or_else(beside).unwrap_or_else(|| PathBuf::from("callgate")))
    }

    #[cfg(test)]
    pub(crate) fn at(path: &str) -> Self {
        Self(PathBuf::from(path))
    }

    /// Returns its path, or its name if it is on the `PATH`.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.clone()
    }

    pub(crate) fn check_exists(&self) -> Result<(), CommandRefusal> {
        let is_there = if self.0.components().count() > 1 {
            self.0.is_file()
        } else {
            let path = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&path).any(|folder| folder.join(&self.0).is_file())
        };
        if is_there { Ok(()) } else { Err(self.is_missing()) }
    }

    fn is_missing(&self) -> CommandRefusal {
        let program = self.0.display();
        let text = format!(
            "the program `{program}` was not found: put callgate beside callgate-shell or on the \
             PATH, and start callgate-shell again"
        );
        CommandRefusal::new(503, text)
    }

    /// Runs `callgate config` with these arguments and returns the JSON that it prints. What is
    /// secret goes to its standard input.
    /// The file is not read here, because a second reader could understand it in another way.
    pub(crate) async fn config(
        &self,
        arguments: &[&str],
        secret: Option<HiddenText>,
    ) -> Result<Value, CommandRefusal> {
        let run = timeout(ANSWERED_WITHIN, self.run_config(arguments, secret)).await;
        let slow = || io::Error::other("it takes too long");
        let output = run.unwrap_or_else(|_| Err(slow())).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                return self.is_missing();
            }
            let program = self.0.display();
            CommandRefusal::new(503, format!("`{program} config` cannot be run: {error}"))
        })?;
        match serde_json::from_slice(&output.stdout) {
            // Settings that are partly wrong are shown with an exit code that says so.
            Ok(json) => Ok(json),
            Err(_) if output.status.success() => Err(CommandRefusal::new(503, UNREADABLE)),
            Err(_) => Err(CommandRefusal::unreadable(error_words(&output.stderr))),
        }
    }

    async fn run_config(
        &self,
        arguments: &[&str],
        secret: Option<HiddenText>,
    ) -> io::Result<Output> {
        let mut command = Command::new(&self.0);
        // One that takes too long is dropped, and must not go on by itself.
        command.arg("config").args(arguments).arg("--json").kill_on_drop(true);
        command.stdin(if secret.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let (Some(mut stdin), Some(secret)) = (child.stdin.take(), secret) {
            // The program reads to the end of its input, so the pipe has to be closed, as it is at
            // the end of this block.
            stdin.write_all(secret.reveal().as_bytes()).await?;
        }
        child.wait_with_output().await
    }
}

/// Returns what a program has written to its standard error, for a person.
fn error_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim();
    text.strip_prefix("callgate: ").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_named() {
        assert_eq!(CallgateProgram::at("sh").check_exists(), Ok(()));
        assert_eq!(CallgateProgram::at("/bin/sh").check_exists(), Ok(()));
        for missing in ["/nowhere/callgate", "callgate-of-nobody"] {
            let refused = CallgateProgram::at(missing).check_exists().unwrap_err();
            assert!(refused.text.starts_with(&format!("the program `{missing}` was not found")));
        }
    }

    #[test]
    fn an_error_is_shown_without_the_name_of_the_program() {
        assert_eq!(
            error_words(b"callgate: `agent.engine` is unknown\n"),
            "`agent.engine` is unknown"
        );
        assert_eq!(error_words(b"  odd \n"), "odd");
    }
}
