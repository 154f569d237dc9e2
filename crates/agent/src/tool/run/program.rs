//! Finds the file of a command, and the folder in which it runs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use callgate_link::file::{find_program, is_program, program_folders};

use super::RunSettings;

/// The PATH of commands if our process has none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Commands that exist only in a shell.
const SHELL_WORDS: [&str; 8] = ["cd", "export", "source", ".", "alias", "set", "unset", "ulimit"];

pub(super) fn variable_value<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    env.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_os_str())
}

/// Returns the folders of PATH in which programs of commands are looked for.
pub(crate) fn path_folders(env: &[(OsString, OsString)]) -> Vec<PathBuf> {
    program_folders(variable_value(env, "PATH").unwrap_or(OsStr::new(USUAL_PATH)))
}

pub(crate) fn locate_program(
    command: &str,
    cwd: &Path,
    env: &[(OsString, OsString)],
) -> Result<PathBuf, String> {
    if command.trim().is_empty() {
        return Err("the command is empty; `command` names the program to run".into());
    }
    if !command.contains('/') {
        return find_program(command, &path_folders(env)).ok_or_else(|| missing_program(command));
    }
    let file = cwd.join(command);
    match fs::metadata(&file) {
        Ok(meta) if meta.is_dir() => Err(format!("`{command}` is a folder, not a program")),
        Ok(_) if is_program(&file) => Ok(file),
        Ok(_) => Err(format!(
            "`{command}` may not be executed; make it executable, or run its interpreter with the \
             file in `args`"
        )),
        Err(_) => Err(missing_program(command)),
    }
}

fn missing_program(command: &str) -> String {
    let mut words = command.split_whitespace();
    let (first, rest): (_, Vec<&str>) = (words.next().unwrap_or_default(), words.collect());
    if !rest.is_empty() {
        let example = serde_json::json!({ "command": first, "args": rest });
        return format!(
            "there is no program `{command}`: `command` is the program alone and its arguments \
             belong into `args`, one string each, perhaps {example}; no shell reads them"
        );
    }
    if SHELL_WORDS.contains(&command) {
        return format!(
            "`{command}` is a word of the shell, and there is no shell: give the folder as `cwd`, \
             or run `sh` with `-c`"
        );
    }
    if command.contains('/') {
        format!("there is no program `{command}`; check the path")
    } else {
        format!("there is no program `{command}` on PATH; give its path, or install it")
    }
}

/// Returns the working folder, which has to lie in the roots.
pub(super) fn working_folder(
    settings: &RunSettings,
    wished: Option<&str>,
) -> Result<PathBuf, String> {
    let wished = settings.cwd.join(wished.unwrap_or_default());
    let shown = wished.display();
    // Links are followed first, since one in the project may lead out of the roots.
    let folder = fs::canonicalize(&wished)
        .map_err(|error| format!("cannot run in the folder {shown}: {error}"))?;
    if !folder.is_dir() {
        return Err(format!("cannot run in {shown}: it is not a folder"));
    }
    let mut roots = settings.roots.iter().filter_map(|root| fs::canonicalize(root).ok());
    if roots.any(|root| folder.starts_with(root)) {
        return Ok(folder);
    }
    let roots: Vec<String> = settings.roots.iter().map(|root| root.display().to_string()).collect();
    Err(format!("cannot run in {shown}: it is outside {}", roots.join(", ")))
}

/// Describes why an existing program could not be started.
pub(crate) fn not_started(command: &str, error: &io::Error) -> String {
    let advice = match error.raw_os_error() {
        // E2BIG, ENOEXEC, ETXTBSY
        Some(7) => "; give less in `args`, for instance the name of a file",
        Some(8) => {
            "; it is not a program for this machine, or a script without `#!` in its first line"
        }
        Some(26) => "; somebody is still writing it: try again",
        _ if error.kind() == io::ErrorKind::InvalidInput => "; no argument may contain a NUL",
        _ => "",
    };
    format!("cannot start `{command}`: {error}{advice}")
}
