//! The environment and the home folder, and where files are when nobody says where.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Looks a variable up.
type Lookup = dyn Fn(&str) -> Option<OsString>;

/// What of the process the settings depend on; a test has its own.
pub(crate) struct Surroundings {
    variable: Box<Lookup>,
    home: Option<PathBuf>,
    here: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let home = env::home_dir().filter(|home| home.is_absolute());
        Self { variable: Box::new(|name| env::var_os(name)), home, here: env::current_dir().ok() }
    }

    /// Those that a test wants.
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

    /// A variable of the environment. One that is empty counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// A variable that names a folder. The XDG rules have relative ones ignored.
    fn folder(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The home folder.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The working folder.
    pub(crate) fn here(&self) -> Option<&Path> {
        self.here.as_deref()
    }

    /// `~/…` within the home folder; every other path as it is.
    pub(crate) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), self.home()) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// A path as somebody types it: relative to the working folder.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        let path = self.expand(path);
        self.here.as_ref().map_or_else(|| path.clone(), |here| here.join(&path))
    }

    /// The folder of the settings: `$XDG_CONFIG_HOME/callgate` or `~/.config/callgate`.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        self.callgate_in("XDG_CONFIG_HOME", ".config")
    }

    /// The folder of the data: `$XDG_DATA_HOME/callgate` or `~/.local/share/callgate`.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        self.callgate_in("XDG_DATA_HOME", ".local/share")
    }

    /// The folder of what lives as long as the login: `$XDG_RUNTIME_DIR/callgate`.
    pub(crate) fn runtime_folder(&self) -> Option<PathBuf> {
        Some(self.folder("XDG_RUNTIME_DIR")?.join("callgate"))
    }

    fn callgate_in(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let folder = self.folder(variable).or_else(|| Some(self.home()?.join(below_home)))?;
        Some(folder.join("callgate"))
    }
}
