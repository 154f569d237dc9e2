//! What is put on another machine, and taken back.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::ssh::{PROGRAM_FOLDER, RemoteHost};
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

    /// Copies the programs, and checks that they run there.
    pub(super) fn copy_programs(&self) -> Result<(), Failure> {
        for name in PROGRAMS {
            let path = self.programs.join(name);
            let program = fs::read(&path).map_err(|error| {
                Failure::Failed(format!("cannot read {}: {error}", path.display()))
            })?;
            // Whole or not at all, also while the old one runs.
            let script = format!(
                "umask 077 && mkdir -p ~/{PROGRAM_FOLDER} && cd ~/{PROGRAM_FOLDER} && \
                 cat > {name}.new && chmod 755 {name}.new && mv {name}.new {name}"
            );
            self.host.run_script(&script, Some(&program))?;
        }
        let version = self.host.run_script(&format!("~/{PROGRAM_FOLDER}/callgate --version"), None);
        let version = version.map_err(|why| {
            Failure::Failed(format!(
                "callgate does not run there ({why}): build it for that machine, and name the \
                 folder with --programs"
            ))
        })?;
        let ours = format!("callgate {}", env!("CARGO_PKG_VERSION"));
        if version.trim() == ours {
            return Ok(());
        }
        let text =
            format!("the program for {} is {}, and this is {ours}", self.host, version.trim());
        Err(Failure::Failed(text))
    }

    /// Installs the hooks there, except where a callgate of the machine's own is the hook. Returns what
    /// that says: there may be no agent yet.
    pub(super) fn install_hooks(&self) -> Result<String, Failure> {
        let script = format!(
            "~/{PROGRAM_FOLDER}/callgate install --keep-others 2>&1 || \
             echo 'No hook was installed: run `callgate remote add` again when that is mended.'"
        );
        self.host.run_script(&script, None).map_err(Failure::Failed)
    }
}

/// Takes back everything that was put on a machine. Returns what that says.
pub(super) fn undo_setup(host: &RemoteHost) -> Result<String, String> {
    host.run_script(
        &format!(
            "p=~/{PROGRAM_FOLDER}; if [ -x $p/callgate ]; then $p/callgate uninstall --keep-others 2>&1 && \
             $p/callgate relay --stop && rm -rf $p; fi"
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
