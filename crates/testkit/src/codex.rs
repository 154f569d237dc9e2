//! Runs the real Codex CLI against the fake Responses API: offline, with a home of its own.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::responses::{API_KEY, Responses};
use crate::tools;

/// The variable that holds the key.
const KEY: &str = "CALLGATE_TEST_KEY";

/// One run of Codex in the making.
#[derive(Debug)]
pub struct Codex {
    program: PathBuf,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: TempDir,
}

impl Codex {
    /// Returns the pinned Codex. Where it is absent the reason is printed; with `CI=true` that
    /// fails.
    pub fn find() -> Option<PathBuf> {
        tools::codex()
    }

    /// Makes a run that talks to `fake`; needs [`Codex::find`] to have found the program. Its
    /// working folder is a trusted project, and what stands in `settings` comes first in its
    /// `config.toml`.
    #[must_use]
    pub fn new(fake: &Responses, settings: &str) -> Self {
        let program = Self::find().expect("a test returns early where Codex is absent");
        let folder = tools::lasting_folder("codex-");
        for name in ["home/.codex", "work"] {
            fs::create_dir_all(folder.path().join(name)).expect("a fresh folder is empty");
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment = [
            ("PATH", path),
            ("LANG", "C.UTF-8".into()),
            ("HOME", folder.path().join("home").into_os_string()),
            (KEY, API_KEY.into()),
        ];
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value));
        let codex = Self { program, args: Vec::new(), environment: environment.collect(), folder };
        fs::write(codex.home().join(".codex/config.toml"), codex.config(&fake.url(), settings))
            .expect("the private folder can be written");
        codex
    }

    fn config(&self, url: &str, settings: &str) -> String {
        let work = self.work().canonicalize().expect("the folder is there");
        let work = work.to_str().expect("the repository has a plain name");
        let mut text = format!("{settings}\n");
        let rest = format!(
            "model = \"fake-model\"\nmodel_provider = \"fake\"\n\
             check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n\
             [model_providers.fake]\nname = \"fake\"\nbase_url = {url:?}\n\
             wire_api = \"responses\"\nenv_key = {KEY:?}\nrequest_max_retries = 0\n\
             stream_max_retries = 0\n\n[projects.{work:?}]\ntrust_level = \"trusted\"\n"
        );
        text.write_str(&rest).expect("a string takes everything");
        text
    }

    /// Makes it a run without a terminal, which prints events and ends.
    #[must_use]
    pub fn exec(self, prompt: &str) -> Self {
        self.args(["exec", "--json", "--skip-git-repo-check", prompt])
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Its home folder, with `.codex` in it.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the folder that it works in.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns the private folder with everything that the run writes.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its whole environment.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Returns the command. The folders live as long as this value.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(self.work());
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}
