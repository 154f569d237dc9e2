//! A model whose CLI talks to a fake service, with the tools that the tests need.

use callgate_claude::{Model, Settings, Transport};
use callgate_testkit::claude::Claude;
use callgate_testkit::leaks::Leaks;
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::tools;
use callgate_tools::{Host, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::TempDir;

/// Both ways to the tools: every scenario goes both.
pub(crate) const TRANSPORTS: [Transport; 2] = [Transport::Stdio, Transport::Sdk];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Words {
    pub(crate) text: String,
}

/// A CLI's surroundings, checked for leaks at the end.
pub(crate) struct Stage {
    pub(crate) fake: Messages,
    pub(crate) claude: Claude,
    _leaks: Leaks,
    /// Where sockets and short-lived files are.
    pub(crate) folder: TempDir,
}

impl Stage {
    /// `None` where the CLI is not installed.
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Option<Self> {
        tools::claude()?;
        let folder = tempfile::tempdir().unwrap();
        let leaks = Leaks::watch(folder.path(), &[""]).marker(folder.path().to_str().unwrap());
        let fake = Messages::start(turns);
        let claude = Claude::new(&fake);
        Some(Self { fake, claude, _leaks: leaks, folder })
    }

    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::new()
            .cli(tools::claude().unwrap())
            .env_clear()
            .folder(self.claude.work())
            .temporary_folder(self.folder.path())
            // Also marks the CLI and its children as this test's.
            .env("CALLGATE_TEST_FOLDER", self.folder.path());
        for (name, value) in self.claude.environment() {
            settings = settings.env(name, value);
        }
        settings
    }

    pub(crate) fn host(&self, more: impl IntoIterator<Item = Tool>) -> Host {
        let echo = Tool::blocking("echo", "Says it again.", |args: Words, _| {
            format!("{}, says process {}", args.text, std::process::id())
        });
        let fail = Tool::blocking("fail", "Fails.", |args: Words, _| {
            Err::<(), _>(ToolError::named("ValueError", args.text))
        });
        Host::new([echo, fail].into_iter().chain(more))
            .unwrap()
            .folder(self.folder.path())
            .bridge(env!("CARGO_BIN_EXE_callgate"))
    }

    pub(crate) fn model(&self, transport: Transport) -> Model {
        self.model_with(self.settings(), transport)
    }

    pub(crate) fn model_with(&self, settings: Settings, transport: Transport) -> Model {
        let mut model = Model::with(settings);
        model.set_tools(self.host([]), transport);
        model
    }
}
