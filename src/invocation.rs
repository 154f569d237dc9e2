//! How a user starts this program in a shell, for the commands that it recommends.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use callgate_hooks::hook_command::shell_quoted;
use callgate_link::file::is_program;

use crate::config::{Config, SettingOrigin};

const NAME: &str = "callgate";

/// Returns the command that starts this program in a shell: its name if `PATH` leads to it, else
/// its path, and the settings file if the command line named one.
pub(crate) fn shell_command(config: &Config) -> String {
    shell_program() + &config_option(config)
}

/// Returns the option that names the settings file, with a space before it, if the command line
/// has one.
pub(crate) fn config_option(config: &Config) -> String {
    match &config.file {
        Some(file) if matches!(file.origin, SettingOrigin::Flag(_)) => {
            format!(" --config {}", shell_quoted(&file.value.to_string_lossy()))
        }
        _ => String::new(),
    }
}

/// Returns the program's name or path, as a shell needs it.
pub(crate) fn shell_program() -> String {
    let own = env::current_exe().unwrap_or_else(|_| NAME.into());
    name_or_path(&own, &env::var_os("PATH").unwrap_or_default())
}

fn name_or_path(own: &Path, path: &OsStr) -> String {
    let real = |path: &Path| fs::canonicalize(path).ok();
    match first_on_path(path) {
        Some(found) if real(&found) == real(own) => NAME.to_owned(),
        _ => shell_quoted(&own.to_string_lossy()),
    }
}

/// Returns the program that a shell starts by our name. A shell looks into relative folders, too.
fn first_on_path(path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(NAME)).find(|file| is_program(file))
}

/// Returns the build folder of cargo that contains `program`, if there is one.
pub(crate) fn build_folder(program: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(program).ok()?;
    // `target/debug/callgate`, or `target/TRIPLE/debug/callgate`.
    let folders = real.ancestors().skip(2).take(2);
    let is_build = |folder: &&Path| {
        folder.file_name() == Some(OsStr::new("target")) || folder.join(".rustc_info.json").exists()
    };
    folders.into_iter().find(is_build).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
