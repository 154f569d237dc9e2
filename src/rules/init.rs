//! `callgate rules init`: writes starter rules if there are none yet.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::ExitCode;

use callgate_link::file::create_private;
use callgate_rules::STARTER_RULES;

use crate::failure::Failure;

/// Writes the starter rules to `path`. An existing file is not changed.
pub(super) fn init_rules(path: &Path, only_print: bool) -> Result<ExitCode, Failure> {
    let mut output = io::stdout().lock();
    if only_print {
        output.write_all(STARTER_RULES.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    write_starter_file(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::Failed(format!(
            "{} is already there and was not changed; `callgate rules init --print` shows the \
             starter rules, to take from them what you like",
            path.display()
        )),
        _ => Failure::Failed(format!("{} could not be written: {error}", path.display())),
    })?;
    writeln!(output, "wrote {}", path.display())?;
    writeln!(
        output,
        "read it, then run `callgate rules test`; a running daemon follows it at once"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn write_starter_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    create_private(path, STARTER_RULES.as_bytes())
}
