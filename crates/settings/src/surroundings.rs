//! What the settings depend on: the environment, the home folder, and how a file is read.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use callgate_wire::hook::agents::AgentSettingsPlace;

/// Looks up an environment variable.
type VariableLookup = dyn Fn(&str) -> Option<OsString>;

/// What the settings depend on besides what is given to keys. A test has its own.
#[derive(Clone)]
pub struct Surroundings {
    pub variable: Rc<VariableLookup>,
    pub home: Option<PathBuf>,
    /// The working folder.
    pub here: Option<PathBuf>,
    /// Reads the text of a file of at most this many bytes.
    pub read_file: fn(&Path, u64) -> io::Result<String>,
}

impl Surroundings {
    /// Returns an environment variable. An empty one counts as not set.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Returns a variable that names a folder. Relative folders are ignored, as XDG requires.
    fn folder_variable(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Expands `~/…`; returns every other path as it is.
    pub fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// Makes a path absolute, relative to the working folder.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        let path = self.expand(path);
        self.here.as_ref().map_or_else(|| path.clone(), |here| here.join(&path))
    }

    /// Returns the folder of the settings: `$XDG_CONFIG_HOME/callgate` or `~/.config/callgate`.
    pub fn config_folder(&self) -> Option<PathBuf> {
        Some(self.folder_or("XDG_CONFIG_HOME", ".config")?.join("callgate"))
    }

    /// Returns the folder of the data: `$XDG_DATA_HOME/callgate` or `~/.local/share/callgate`.
    pub fn data_folder(&self) -> Option<PathBuf> {
        Some(self.folder_or("XDG_DATA_HOME", ".local/share")?.join("callgate"))
    }

    /// Returns the folder for what lives as long as the login: `$XDG_RUNTIME_DIR/callgate`.
    pub fn runtime_folder(&self) -> Option<PathBuf> {
        Some(self.folder_variable("XDG_RUNTIME_DIR")?.join("callgate"))
    }

    /// Returns the path that a default stands for: a file in one of our folders, which has its
    /// usual name, or a path as it is. Returns `None` for a default in words, and without that
    /// folder.
    pub(crate) fn default_path(&self, default: &str) -> Option<PathBuf> {
        // A default is written as the guide shows it.
        let (folder, file) = default.rsplit_once('/')?;
        let folder = match folder {
            "$XDG_RUNTIME_DIR/callgate" => self.runtime_folder(),
            "~/.config/callgate" => self.config_folder(),
            "~/.local/share/callgate" => self.data_folder(),
            other => Some(other.into()).filter(|_| other.starts_with('/')),
        };
        Some(folder?.join(file))
    }

    /// Returns the folder with the user's settings of an agent; `None` without a home folder.
    pub fn agent_folder(&self, place: &AgentSettingsPlace) -> Option<PathBuf> {
        if let Some(named) = place.variable.and_then(|variable| self.variable(variable)) {
            return Some(self.absolute(named.as_ref()));
        }
        // Agents that have their folder there follow `XDG_CONFIG_HOME`.
        match place.folder.strip_prefix(".config/") {
            Some(name) => Some(self.folder_or("XDG_CONFIG_HOME", ".config")?.join(name)),
            None => Some(self.home.as_ref()?.join(place.folder)),
        }
    }

    fn folder_or(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.folder_variable(variable).or_else(|| Some(self.home.as_ref()?.join(below_home)))
    }
}
