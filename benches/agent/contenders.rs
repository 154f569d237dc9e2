//! The contenders, and their environment.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use callgate_testkit::claude::Claude;
use callgate_testkit::messages::Messages;
use tempfile::TempDir;

use crate::answers::{self, Answer};
use crate::common::peers::{compile, peer};
use crate::common::watchdog::Watchdog;
use crate::runtime::{Reply, Runtime, Words};
use crate::service::Service;

/// The index of each contender in all arrays.
pub(crate) const CALLGATE: usize = 0;
pub(crate) const NODE: usize = 1;
pub(crate) const CLAUDE: usize = 2;

const MODEL: &str = "claude-sonnet-5-5";
const WORDS: [Words; 3] = [session("callgate"), session("the Node runtime"), CLAUDE_SAYS];
const CLAUDE_SAYS: Words = Words {
    name: "Claude Code",
    token: r#"{"type":"stream_event","event":{"type":"content_block_delta""#,
    end: r#""type":"result""#,
    error: r#""is_error":true"#,
};

/// The messages of the session protocol.
const fn session(name: &'static str) -> Words {
    Words { name, token: r#"{"type":"token""#, end: r#""type":"done""#, error: r#""type":"error""# }
}

/// The environment of all: the service, the programs, their folders.
pub(crate) struct Workshop {
    pub(crate) service: Service,
    pub(crate) short: Arc<Answer>,
    pub(crate) slow: Arc<Answer>,
    pub(crate) long: Arc<Answer>,
    pub(crate) tool: Arc<Answer>,
    pub(crate) cpu_clock: PathBuf,
    claude: Claude,
    node: PathBuf,
    folder: TempDir,
}

impl Workshop {
    pub(crate) fn new(node: PathBuf, sdk: &Path) -> Self {
        let service = Service::start();
        // It needs a service of its own kind, which is then never called.
        let claude = Claude::new(&Messages::start([])).env("ANTHROPIC_BASE_URL", service.url());
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let cpu_clock = compile(folder.path(), "cpu_clock");
        fill(folder.path(), sdk).expect("the folder is fresh");
        Self {
            service,
            short: Arc::new(answers::short()),
            slow: Arc::new(answers::slow()),
            long: Arc::new(answers::long()),
            tool: Arc::new(answers::tool()),
            cpu_clock,
            claude: speaks(claude),
            node,
            folder,
        }
    }

    /// Starts a contender's process.
    pub(crate) fn start(&self, contender: usize, watchdog: &Watchdog) -> Runtime {
        let mut command = match contender {
            CALLGATE => self.callgate(),
            NODE => self.node(),
            _ => self.claude.command(),
        };
        Runtime::start(&WORDS[contender], command.stderr(Stdio::inherit()), watchdog)
    }

    fn callgate(&self) -> Command {
        let mut command = self.surround(Path::new(env!("CARGO_BIN_EXE_callgate")));
        command.arg("agent");
        command
    }

    fn node(&self) -> Command {
        let mut command = self.surround(&self.node);
        command.arg(self.folder.path().join("node_runtime.mjs")).arg(self.work());
        command
    }

    /// Creates a command in the environment that both runtimes have.
    fn surround(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.work()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path().join("home"));
        command.env("ANTHROPIC_API_KEY", "callgate-bench-key");
        command.env("ANTHROPIC_BASE_URL", self.service.url());
        command.env("ANTHROPIC_MODEL", MODEL);
        command
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Sends a contender a message, and makes the service answer.
    pub(crate) fn ask(&self, which: usize, runtime: &mut Runtime, with: &[&Arc<Answer>]) -> Reply {
        self.service.expect(with);
        runtime.ask(if which == CLAUDE { FOR_CLAUDE } else { FOR_RUNTIMES })
    }

    /// Makes a runtime forget the conversation.
    pub(crate) fn clear(runtime: &mut Runtime) {
        runtime.ask("{\"id\":\"clear\",\"kind\":\"clear_history\"}\n");
    }
}

const FOR_RUNTIMES: &str =
    "{\"id\":\"request\",\"kind\":\"user_message\",\"message\":\"Tell me about foxes.\"}\n";
const FOR_CLAUDE: &str = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\
    [{\"type\":\"text\",\"text\":\"Tell me about foxes.\"}]}}\n";

/// Starts Claude Code as a runtime.
fn speaks(claude: Claude) -> Claude {
    let way = ["--input-format", "stream-json", "--output-format", "stream-json"];
    claude.arg("-p").args(way).args(["--verbose", "--include-partial-messages"])
}

/// Prepares the folder: a home, some files to list, and the Node runtime beside its modules.
fn fill(folder: &Path, sdk: &Path) -> std::io::Result<()> {
    fs::create_dir(folder.join("home"))?;
    fs::create_dir_all(folder.join("work/src"))?;
    for name in ["README.md", "Makefile", "src/main.c", "a.txt", "b.txt", "c.txt"] {
        fs::write(folder.join("work").join(name), name)?;
    }
    symlink(sdk, folder.join("node_modules"))?;
    fs::copy(peer("node_runtime.mjs"), folder.join("node_runtime.mjs")).map(drop)
}
