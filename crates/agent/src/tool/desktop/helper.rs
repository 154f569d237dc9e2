//! The programs that the desktop tools run.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use callgate_link::child::LeashedChild;
use callgate_link::file::find_program;
use rustix::fs::{MemfdFlags, memfd_create};

use crate::tool::custom::input_file;
use crate::tool::run::{path_folders, scrub_variables};

/// Variables by which helpers find the display; some look like secrets.
const DISPLAY_VARIABLES: [&str; 5] =
    ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
/// How long a helper whose output is needed may take.
const OUTPUT_WITHIN: Duration = Duration::from_secs(10);
/// How long a helper that starts something is watched: if it still runs after that, it has
/// succeeded.
const STARTED_WITHIN: Duration = Duration::from_secs(5);

/// A program, with the arguments that come first.
pub(super) struct Helper {
    name: &'static str,
    args: &'static [&'static str],
}

pub(super) struct HelperEnv {
    /// The environment of our process; helpers get it without variables that look like secrets.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
}

impl Helper {
    pub(super) const fn new(name: &'static str, args: &'static [&'static str]) -> Self {
        Self { name, args }
    }
}

impl HelperEnv {
    /// Runs the first helper that is installed, and returns what it prints.
    pub(super) fn run_for_output(
        &self,
        helpers: &[Helper],
        package: &str,
        most: usize,
    ) -> Result<Vec<u8>, String> {
        let (name, mut command) = self.command(helpers, package)?;
        let failed = |error: io::Error| format!("{name} cannot be used: {error}");
        // A file, and not a pipe: nobody reads while the helper runs, and it would wait for a
        // reader.
        let stdout = File::from(
            memfd_create("output", MemfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?,
        );
        let mut output = stdout.try_clone().map_err(failed)?;
        command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null());
        let mut child = LeashedChild::spawn(command).map_err(failed)?;
        let is_over = child.wait_for(OUTPUT_WITHIN).map_err(failed)?;
        // Also after an end in time: what it started must not write into the file that is read
        // next.
        let status = child.end_all().map_err(failed)?;
        if !is_over {
            return Err(format!("{name} has not ended within {} s", OUTPUT_WITHIN.as_secs()));
        }
        if !status.success() {
            return Err(format!("{name} failed: there may be nothing to return ({status})"));
        }
        let mut bytes = Vec::new();
        output.rewind().map_err(failed)?;
        output.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > most {
            return Err(format!("{name} returned more than {most} bytes"));
        }
        Ok(bytes)
    }

    /// Runs the first helper that is installed. What it starts goes on when this returns, and even
    /// when our process has ended: it is the user's.
    pub(super) fn start(
        &self,
        helpers: &[Helper],
        package: &str,
        target: Option<&str>,
        input: Option<&[u8]>,
    ) -> Result<(), String> {
        let (name, mut command) = self.command(helpers, package)?;
        let failed = |error: io::Error| format!("{name} cannot be used: {error}");
        let stdin = match input {
            Some(bytes) => Stdio::from(input_file(bytes).map_err(failed)?),
            None => Stdio::null(),
        };
        command.args(target).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
        // In a group of its own, because it would otherwise end together with ours.
        let mut child = command.process_group(0).spawn().map_err(failed)?;
        let (ended, ending) = channel();
        // The thread reaps the process, however long it runs.
        thread::spawn(move || ended.send(child.wait()));
        match ending.recv_timeout(STARTED_WITHIN) {
            Ok(Ok(status)) if !status.success() => Err(format!("{name} failed ({status})")),
            Ok(Err(error)) => Err(failed(error)),
            Ok(Ok(_)) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(()),
        }
    }

    fn command(
        &self,
        helpers: &[Helper],
        package: &str,
    ) -> Result<(&'static str, Command), String> {
        let folders = path_folders(&self.env);
        let found = helpers.iter().find_map(|helper| {
            find_program(helper.name, &folders).map(|program| (helper, program))
        });
        let Some((helper, program)) = found else {
            let names: Vec<&str> = helpers.iter().map(|helper| helper.name).collect();
            return Err(format!(
                "this needs {}, and none is installed: ask the user to install the package {package}",
                names.join(" or ")
            ));
        };
        let mut command = Command::new(program);
        command
            .args(helper.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(scrub_variables(self.env.clone(), &DISPLAY_VARIABLES.map(str::to_owned)));
        Ok((helper.name, command))
    }
}
