//! How a user starts this program in a shell, for the commands that it recommends.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use callgate_link::file::is_program;

use crate::agents::hook_command::quoted;
use crate::config::{Config, SettingOrigin};

/// The name of this program.
const NAME: &str = "callgate";

/// Returns the command that starts this program in a shell: its name if `PATH` leads to it, else
/// its path, and the settings file if the command line named one.
pub(crate) fn command(config: &Config) -> String {
    let named = config.file.as_ref().filter(|file| matches!(file.origin, SettingOrigin::Flag(_)));
    match named {
        Some(file) => format!("{} --config {}", program(), quoted(&file.value.to_string_lossy())),
        None => program(),
    }
}

/// Returns the program's name or path, as a shell needs it.
pub(crate) fn program() -> String {
    let own = env::current_exe().unwrap_or_else(|_| NAME.into());
    word(&own, &env::var_os("PATH").unwrap_or_default())
}

fn word(own: &Path, path: &OsStr) -> String {
    let real = |path: &Path| fs::canonicalize(path).ok();
    match first_on_path(path) {
        Some(found) if real(&found) == real(own) => NAME.to_owned(),
        _ => quoted(&own.to_string_lossy()),
    }
}

/// Returns the program that a shell starts by our name.
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
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn make(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_name_is_enough_where_the_path_leads_here() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let own = at("a b/callgate");
        make(&own, 0o755);
        make(&at("other/callgate"), 0o755);
        make(&at("data/callgate"), 0o644);
        fs::create_dir(at("links")).unwrap();
        symlink(&own, at("links/callgate")).unwrap();
        let check = |folders: &[&str], expected: &str| {
            let path = env::join_paths(folders.iter().map(|name| at(name))).unwrap();
            assert_eq!(word(&own, &path), expected, "{folders:?}");
        };
        let path = format!("'{}'", own.display());
        check(&["none", "data", "a b", "other"], "callgate");
        check(&["links"], "callgate");
        check(&["other", "a b"], &path);
        check(&["none"], &path);
        check(&[], &path);
    }

    #[test]
    fn a_build_folder_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let check = |program: &str, expected: Option<&str>| {
            make(&base.join(program), 0o755);
            let expected = expected.map(|name| base.join(name));
            assert_eq!(build_folder(&base.join(program)), expected, "{program}");
        };
        make(&base.join("elsewhere/.rustc_info.json"), 0o644);
        check("target/debug/callgate", Some("target"));
        check("target/release/callgate", Some("target"));
        check("target/x86_64-unknown-linux-musl/release/callgate", Some("target"));
        check("elsewhere/release/callgate", Some("elsewhere"));
        check("bin/callgate", None);
        check("debug/callgate", None);
        assert_eq!(build_folder(&base.join("target/debug/absent")), None);
    }
}
