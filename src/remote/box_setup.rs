//! What is put on another machine, and taken back.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use callgate_mask::text::{Measure, cut_to_length, one_line};

use super::ssh::{LONGEST_MESSAGE, PROGRAM_FOLDER, RemoteHost};
use crate::failure::Failure;

/// The programs that a machine needs.
const PROGRAMS: [&str; 2] = ["callgate", "callgate-hook"];

/// A machine that can be set up.
#[derive(Debug)]
pub(super) struct BoxSetup<'a> {
    host: &'a RemoteHost,
    /// The folder here with the programs for the machine.
    programs: PathBuf,
    /// Its system and processor, such as `Linux x86_64`.
    pub(super) system: String,
    /// The user's home folder there.
    pub(super) home: String,
}

impl<'a> BoxSetup<'a> {
    /// Finds out what the machine is.
    pub(super) fn look_at(host: &'a RemoteHost, programs: Option<&Path>) -> Result<Self, Failure> {
        let said = host.run_script("uname -sm; printf '%s\\n' \"$HOME\"", None);
        let said = said?;
        let mut lines = said.lines();
        let (Some(system), Some(home)) = (lines.next(), lines.next()) else {
            return Err(Failure::Failed(format!("{host} did not say which system it has")));
        };
        let ours = format!("Linux {}", env::consts::ARCH);
        if programs.is_none() && system != ours {
            return Err(Failure::Failed(format!(
                "{host} has {system}, and this program is for {ours}: build callgate for it, and \
                 name the folder with --programs"
            )));
        }
        let programs = match programs {
            Some(folder) => folder.to_owned(),
            None => own_folder()?,
        };
        Ok(Self { host, programs, system: system.to_owned(), home: home.to_owned() })
    }

    /// Copies the programs, if they run there. Otherwise nothing is left of them, and what was
    /// there before is as it was.
    pub(super) fn copy_programs(&self) -> Result<(), Failure> {
        let copied = self.try_programs();
        if copied.is_err() {
            let [callgate, hook] = PROGRAMS.map(unproven_path);
            // Folders stay from the first one that has something else in it. Whatever cannot be
            // removed is the smaller trouble.
            let script = format!("cd && rm -f {callgate} {hook} && rmdir -p {PROGRAM_FOLDER}");
            self.host.run_script(&script, None).ok();
        }
        copied
    }

    fn try_programs(&self) -> Result<(), Failure> {
        for name in PROGRAMS {
            let path = self.programs.join(name);
            let program = fs::read(&path).map_err(|error| {
                Failure::Failed(format!("cannot read {}: {error}", path.display()))
            })?;
            // The program comes over standard input, because a machine may have no sftp.
            let copy = unproven_path(name);
            let script = format!(
                "umask 077 && cd && mkdir -p {PROGRAM_FOLDER} && cat > {copy} && chmod 755 {copy}"
            );
            self.host.run_script(&script, Some(&program))?;
        }
        self.check_version()?;
        // Each whole or not at all, also while the old one runs.
        let moves =
            PROGRAMS.map(|name| format!("mv {} {PROGRAM_FOLDER}/{name}", unproven_path(name)));
        self.host.run_script(&format!("cd && {}", moves.join(" && ")), None)?;
        Ok(())
    }

    /// Checks that the copied program runs there, and is of this version.
    fn check_version(&self) -> Result<(), Failure> {
        // What the loader or the shell says is wanted, and a failed script would return only its
        // last line.
        let script = format!("cd && ./{} --version 2>&1 || true", unproven_path(PROGRAMS[0]));
        let said = self.host.run_script(&script, None)?;
        let said = said.trim();
        if said == format!("callgate {}", env!("CARGO_PKG_VERSION")) {
            return Ok(());
        }
        let host = self.host;
        let text = match said.strip_prefix("callgate ") {
            Some(other) => format!(
                "the program for {host} is callgate {other}, and this is callgate {}: nothing was \
                 changed there",
                env!("CARGO_PKG_VERSION")
            ),
            None => format!(
                "callgate does not run on {host}, and nothing was left there: {}. Build it on {host} \
                 or on a machine that is as old, and name the folder with --programs",
                explain_refusal(said)
            ),
        };
        Err(Failure::Failed(text))
    }

    /// Installs the hooks there, except where a callgate of the machine's own is the hook. Returns
    /// what that says: there may be no agent yet.
    pub(super) fn install_hooks(&self) -> Result<String, Failure> {
        let script = format!(
            "~/{PROGRAM_FOLDER}/callgate install --keep-others 2>&1 || \
             echo 'No hook was installed: run `callgate remote add` again when that is mended.'"
        );
        self.host.run_script(&script, None).map_err(Failure::Failed)
    }
}

/// Returns where a program is until it was seen to run, from the home folder.
fn unproven_path(name: &str) -> String {
    format!("{PROGRAM_FOLDER}/{name}.new")
}

/// Says why a system does not start a program, by what its loader or shell has said.
fn explain_refusal(said: &str) -> String {
    // As in: version `GLIBC_2.38' not found (required by ./callgate)
    let missing = said.split("version `").skip(1).filter_map(|rest| rest.split_once("' not found"));
    if let Some((version, _)) = missing.last() {
        return format!(
            "its C library is older than the one with which this program was built, and lacks \
             {version}"
        );
    }
    // What shells say if a program's loader is missing.
    let is_missing = ["not found", "No such file"].iter().any(|words| said.contains(words));
    if is_missing && !said.contains("shared libraries") {
        return "it has another C library than glibc, or keeps it elsewhere".to_owned();
    }
    let last = one_line(said.lines().last().unwrap_or("it said nothing"));
    cut_to_length(&last, LONGEST_MESSAGE, Measure::Chars).to_owned()
}

/// Takes back everything that was put on a machine. Returns what that says.
pub(super) fn undo_setup(host: &RemoteHost) -> Result<String, String> {
    host.run_script(
        &format!(
            "cd && if [ -x {PROGRAM_FOLDER}/callgate ]; then \
             ./{PROGRAM_FOLDER}/callgate uninstall --keep-others 2>&1 && \
             ./{PROGRAM_FOLDER}/callgate relay --stop && rm -rf {PROGRAM_FOLDER}; \
             else echo 'There is no callgate any more: hooks that it has left in settings stay there.'; fi"
        ),
        None,
    )
}

fn own_folder() -> Result<PathBuf, Failure> {
    let program = env::current_exe()
        .map_err(|error| Failure::Failed(format!("cannot find this program: {error}")))?;
    let folder = program.parent().map(Path::to_owned).unwrap_or_default();
    match PROGRAMS.iter().find(|name| !folder.join(name).is_file()) {
        None => Ok(folder),
        Some(name) => {
            let text = format!("{name} is not beside this program, in {}", folder.display());
            Err(Failure::Failed(text))
        }
    }
}
