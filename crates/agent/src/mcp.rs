//! Servers of the Model Context Protocol as sources of tools.
//!
//! Nothing is started before the first turn. The servers of the settings are used as they are;
//! those of the project's `.mcp.json` only after a person has agreed to exactly that file. Each
//! call of a server's tool passes the gate under the name `mcp__SERVER__TOOL`.

mod connection;
mod elicitation;
mod http;
mod http_client;
mod listing;
mod oauth;
mod project_file;
mod result;
mod server;
mod server_login;
mod server_state;
mod server_tool;
mod settings;
mod stdio;
mod unanswered_call;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_wire::session::McpServerStatus;

use crate::BoxFuture;
use crate::history::History;
use crate::tool::run::scrub_variables;
use crate::tool::{AgentTool, NoticeSink, ToolSource, TurnContext};
pub use http_client::normal_address;
pub use oauth::{FinishedSignIn, PendingSignIn, ServerSignIn, SignInStore};
use project_file::ProjectFile;
use server::ToolServer;
pub use server_login::ServerLogin;
pub use settings::{McpServerSettings, McpTransport, OauthSettings};

/// The most servers of the settings, or of a project.
pub const MOST_SERVERS: usize = 32;

/// The longest message of a server, in bytes; results with pictures are long.
const LONGEST_MESSAGE: usize = 32 * 1024 * 1024;
/// The reason for which a request fails whose answer is longer than [`LONGEST_MESSAGE`].
const TOO_LONG: &str = "its answer is longer than 32 MiB, the limit for one message";

/// Reports a problem. The text holds no secret.
pub type Warning = Arc<dyn Fn(&str) + Send + Sync>;

/// What all servers share.
pub struct McpSurroundings {
    /// The folder in which servers are started, and where `.mcp.json` is.
    pub folder: PathBuf,
    /// The environment of our process; servers get it without variables that look like secrets.
    pub env: Vec<(OsString, OsString)>,
    /// An HTTP proxy for `https://` addresses.
    pub proxy: Option<String>,
    /// Stores which `.mcp.json` may be used.
    pub ledger: History,
    pub sign_ins: Arc<dyn SignInStore>,
    /// How long a message waits for servers that start with it. The tools of a server that takes
    /// longer are there from a later round on.
    pub patience: Duration,
    pub warn: Warning,
}

pub struct McpServers {
    servers: Vec<Arc<ToolServer>>,
    project: ProjectFile,
    context: Arc<ServerContext>,
}

/// A server that the settings or the project name.
#[derive(Debug)]
pub struct NamedServer {
    pub settings: McpServerSettings,
    pub is_project: bool,
    /// Whether it may be used: a person has agreed to that file, or the settings name the server.
    pub is_agreed: bool,
}

/// What the servers know about the process in which they live.
struct ServerContext {
    around: McpSurroundings,
    /// The environment without secrets, once it was needed.
    scrubbed: OnceLock<Vec<(OsString, OsString)>>,
    /// Tells the front end of the latest turn what happens to servers.
    notices: Mutex<Option<NoticeSink>>,
    /// Grows whenever the tools of a server have changed.
    revision: AtomicU64,
}

impl ServerContext {
    /// Returns a variable that servers may see.
    fn variable(&self, name: &str) -> Option<String> {
        let found = self.env().iter().find(|(other, _)| other == name);
        found.and_then(|(_, value)| value.to_str().map(str::to_owned))
    }

    fn warn(&self, text: &str) {
        (self.around.warn)(text);
    }

    fn tell_front_end(&self, text: String) {
        // Copied, so that the lock is not held while the front end is told.
        let notices = lock(&self.notices).clone();
        if let Some(tell) = notices {
            tell(text);
        }
    }

    fn env(&self) -> &[(OsString, OsString)] {
        self.scrubbed.get_or_init(|| scrub_variables(self.around.env.clone(), &[]))
    }
}

impl McpServers {
    /// Creates the source. Nothing is read or started yet.
    pub fn new(settings: Vec<McpServerSettings>, around: McpSurroundings) -> Self {
        let context = Arc::new(ServerContext {
            around,
            scrubbed: OnceLock::new(),
            notices: Mutex::default(),
            revision: AtomicU64::new(0),
        });
        let taken = settings.iter().map(|server| server.name.clone()).collect();
        let start = |settings| ToolServer::new(settings, true, Arc::clone(&context));
        let servers = settings.into_iter().map(start).collect();
        let project = ProjectFile::new(Arc::clone(&context), taken);
        Self { servers, project, context }
    }

    /// Returns the servers of the settings and of the project. Nothing is started, and nobody is
    /// asked.
    pub async fn named_servers(&self) -> Vec<NamedServer> {
        let own = self.servers.iter().map(|server| NamedServer {
            settings: server.settings.clone(),
            is_project: false,
            is_agreed: true,
        });
        let (project, is_agreed) = self.project.named_servers().await;
        let project = project.into_iter().map(|settings| NamedServer {
            settings,
            is_project: true,
            is_agreed,
        });
        own.chain(project).collect()
    }

    fn all(&self) -> Vec<Arc<ToolServer>> {
        self.servers.iter().cloned().chain(self.project.servers()).collect()
    }
}

impl ToolSource for McpServers {
    fn prepare<'a>(&'a self, turn: TurnContext<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            *lock(&self.context.notices) = Some(Arc::clone(&turn.notices));
            // The servers of the settings start while a person is asked about the project's.
            let early: Vec<_> = self.servers.iter().map(server::start_in_background).collect();
            self.project.check_for_change(turn.clone()).await;
            let late: Vec<_> =
                self.project.servers().iter().map(server::start_in_background).collect();
            let all = async {
                for starting in early.into_iter().chain(late).flatten() {
                    // A task that panicked has no tools.
                    starting.await.ok();
                }
            };
            let servers = self.all();
            // The turn does not wait for slower servers, which go on connecting: dropping a handle
            // stops no task.
            tokio::time::timeout(self.context.around.patience, all).await.ok();
            for server in &servers {
                server.ask_to_sign_in(&turn);
                server.tell_if_connecting();
            }
        })
    }

    fn revision(&self) -> u64 {
        self.context.revision.load(Ordering::Relaxed)
    }

    fn tools(&self) -> Vec<Arc<dyn AgentTool>> {
        self.all().iter().flat_map(|server| server.tools()).collect()
    }

    fn servers(&self) -> Vec<McpServerStatus> {
        self.all().iter().map(|server| server.status()).collect()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // All at once, because each server gets its time to end.
            let closing = self.all().into_iter().map(|server| {
                tokio::spawn(async move {
                    server.close().await;
                })
            });
            for closed in closing.collect::<Vec<_>>() {
                // A task that panicked holds nothing any more.
                closed.await.ok();
            }
        })
    }
}
