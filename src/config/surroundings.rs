//! The environment, the home folder, and the default places of files.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use callgate_wire::hook::agents::AgentSettingsPlace;
use rustix::process::geteuid;

/// Looks up an environment variable.
type VariableLookup = dyn Fn(&str) -> Option<OsString>;

/// What the settings depend on besides files: environment, home folder and working folder. A test
/// has its own.
pub(crate) struct Surroundings {
    variable: Box<VariableLookup>,
    home: Option<PathBuf>,
    here: Option<PathBuf>,
}

impl Surroundings {
    pub(crate) fn of_process() -> Self {
        let home = env::home_dir().filter(|home| home.is_absolute());
        Self { variable: Box::new(|name| env::var_os(name)), home, here: env::current_dir().ok() }
    }

    /// Returns those that a test wants.
    #[cfg(test)]
    pub(crate) fn of_test(home: &Path, variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), OsString::from(value));
        let variables: Vec<(String, OsString)> = variables.iter().map(owned).collect();
        let variable = move |name: &str| {
            variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
        };
        let home = Some(home.to_owned());
        Self { variable: Box::new(variable), home, here: Some("/here".into()) }
    }

    /// Returns an environment variable. An empty one counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Returns a variable that names a folder. Relative folders are ignored, as XDG requires.
    fn folder_variable(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the working folder.
    pub(crate) fn working_folder(&self) -> Option<&Path> {
        self.here.as_deref()
    }

    /// Expands `~/…`; returns every other path as it is.
    pub(crate) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), self.home()) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// Makes a path absolute, relative to the working folder.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        let path = self.expand(path);
        self.here.as_ref().map_or_else(|| path.clone(), |here| here.join(&path))
    }

    /// Returns the folder of the settings: `$XDG_CONFIG_HOME/callgate` or `~/.config/callgate`.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        self.callgate_in("XDG_CONFIG_HOME", ".config")
    }

    /// Returns the folder of the data: `$XDG_DATA_HOME/callgate` or `~/.local/share/callgate`.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        self.callgate_in("XDG_DATA_HOME", ".local/share")
    }

    /// Returns the folder for what lives as long as the login: `$XDG_RUNTIME_DIR/callgate`.
    pub(crate) fn runtime_folder(&self) -> Option<PathBuf> {
        Some(self.folder_variable("XDG_RUNTIME_DIR")?.join("callgate"))
    }

    /// Returns the socket of this name in the folder of this login; `None` without such a folder.
    pub(crate) fn socket_of_login(&self, file: &str) -> Option<PathBuf> {
        Some(self.runtime_folder()?.join(file))
    }

    /// Returns the folder with the user's settings of an agent; `None` without a home folder.
    pub(crate) fn agent_folder(&self, place: &AgentSettingsPlace) -> Option<PathBuf> {
        if let Some(named) = place.variable.and_then(|variable| self.variable(variable)) {
            return Some(self.absolute(named.as_ref()));
        }
        match place.folder.strip_prefix(".config/") {
            Some(name) => Some(self.folder_or("XDG_CONFIG_HOME", ".config")?.join(name)),
            None => Some(self.home()?.join(place.folder)),
        }
    }

    fn callgate_in(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        Some(self.folder_or(variable, below_home)?.join("callgate"))
    }

    fn folder_or(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.folder_variable(variable).or_else(|| Some(self.home()?.join(below_home)))
    }
}

/// Checks that the folder of our sockets is private, or can be created so. Returns what is wrong
/// and what to do. A process with the variables of another user, as `sudo` may leave them, must not
/// create a folder there that shuts that user out.
pub(crate) fn check_private(folder: &Path) -> Result<(), String> {
    let cannot = |error: &io::Error| format!("cannot look at {}: {error}", folder.display());
    let us = geteuid().as_raw();
    for place in folder.ancestors() {
        let found = match fs::metadata(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(|error| cannot(&error))?,
        };
        let (shown, owner, mode) = (place.display(), found.uid(), found.mode() & 0o777);
        return match place == folder {
            _ if !found.is_dir() => {
                Err(format!("{shown} is not a folder: move it away, or set {OTHERWISE}"))
            }
            _ if owner != us => Err(format!(
                "{shown} belongs to user {owner}, not to user {us}, so it cannot hold your sockets: \
                 run callgate as its owner, or set {OTHERWISE}"
            )),
            true if mode & 0o077 != 0 => {
                Err(format!("others can enter {shown} (mode {mode:o}): chmod 700 {shown}"))
            }
            _ => Ok(()),
        };
    }
    Ok(())
}

/// What to set if the usual folder cannot be used.
const OTHERWISE: &str = "XDG_RUNTIME_DIR, or `socket` and `desk_socket`, to paths of your own";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    #[test]
    fn the_folder_of_sockets_is_its_owners_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run/callgate");
        let wrong = || check_private(&folder).unwrap_err();
        // One that is not there is made, in a folder that is ours.
        check_private(&folder).unwrap();
        fs::create_dir_all(&folder).unwrap();
        let set_mode = |mode| fs::set_permissions(&folder, PermissionsExt::from_mode(mode));
        set_mode(0o755).unwrap();
        let shown = folder.display();
        assert_eq!(wrong(), format!("others can enter {shown} (mode 755): chmod 700 {shown}"));
        set_mode(0o700).unwrap();
        check_private(&folder).unwrap();
        fs::remove_dir(&folder).unwrap();
        fs::write(&folder, "").unwrap();
        assert!(wrong().contains("callgate is not a folder: move it away"), "{}", wrong());
        fs::remove_file(&folder).unwrap();
        // Only root can give a folder away; others meet those of root everywhere.
        if geteuid().is_root() {
            chown(folder.parent().unwrap(), Some(4321), None).unwrap();
            let text = "run belongs to user 4321, not to user 0, so it cannot hold your sockets";
            assert!(wrong().contains(text), "{}", wrong());
        } else {
            let root = check_private(Path::new("/usr/callgate")).unwrap_err();
            assert!(root.contains("/usr belongs to user 0, not to user"), "{root}");
        }
    }
}
