//! One server: started when it is first needed, and again after it has ended.

mod calls;
mod sign_in;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use callgate_mask::SecretVariables;
use callgate_mask::text::{one_line, shortened_text};
use callgate_wire::session::McpServerStatus;
use rmcp::service::{ClientInitializeError, Peer, RunningService};
use rmcp::{RoleClient, serve_client};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::connection::{CallRoutes, ChangeFunction, ServerListener};
use super::http::http_transport;
use super::listing::{self, ToolListing};
use super::oauth::ServerAccess;
use super::server_state::{ServerState, how_to_sign_in, tool_count_text};
use super::server_tool::{CallFunction, server_tools};
use super::stdio::{SignsOfLife, StdioTransport};
use super::{McpServerSettings, McpSurroundings, McpTransport, ServerContext};
use crate::tool::AgentTool;
use sign_in::SignInProgress;

/// How long a server may take to start and to list its tools.
const START_WITHIN: Duration = Duration::from_mins(1);
/// A server that has run for this long has not failed when it ends.
const STEADY: Duration = Duration::from_mins(1);
/// The longest time between two attempts to start a server.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
const MOST_TOOLS: usize = 256;
/// The shortest time between two lists of the tools because of a change.
const RELIST_AFTER: Duration = Duration::from_millis(500);
/// The longest reason in an error, in characters.
const LONGEST_REASON: usize = 300;

/// A server, whether it runs or not.
pub(super) struct ToolServer {
    pub(super) settings: McpServerSettings,
    /// Whether the user's own settings name it, so that its hints are believed.
    is_own: bool,
    context: Arc<ServerContext>,
    link: tokio::sync::Mutex<ServerLink>,
    tools: Mutex<Vec<Arc<dyn AgentTool>>>,
    /// The server itself, for its tools.
    /// Weak, because it owns them.
    this: Weak<Self>,
    secrets: SecretVariables,
    /// How many changes of the tools were reported since the listing in progress began.
    changes: AtomicU64,
    state: Mutex<ServerState>,
    /// The way in, for a server on the network whose settings have none.
    access: Option<Arc<ServerAccess>>,
    sign_in: SignInProgress,
    /// Whether the front end knows that it is connecting, so that it hears of the end of that.
    is_awaited: AtomicBool,
}

/// The connection to a server, and the outcome of earlier ones.
#[derive(Default)]
struct ServerLink {
    running: Option<RunningLink>,
    /// How often in a row it has failed.
    failures: u32,
    /// When it may be started again, and why it was not last time.
    pause: Option<(Instant, String)>,
    is_closed: bool,
}

struct RunningLink {
    service: RunningService<RoleClient, ServerListener>,
    calls: CallRoutes,
    since: Instant,
    has_ended: Arc<AtomicBool>,
}

impl RunningLink {
    fn is_alive(&self) -> bool {
        !self.has_ended.load(Ordering::Acquire) && !self.service.peer().is_transport_closed()
    }
}

impl ToolServer {
    pub(super) fn new(
        settings: McpServerSettings,
        is_own: bool,
        context: Arc<ServerContext>,
    ) -> Arc<Self> {
        let secrets = SecretVariables::new(settings.transport.variables());
        let McpSurroundings { proxy, sign_ins, warn, .. } = &context.around;
        let (store, warn) = (Arc::clone(sign_ins), Arc::clone(warn));
        let access = ServerAccess::new(&settings, proxy.clone(), store, warn);
        Arc::new_cyclic(|this| Self {
            settings,
            is_own,
            context,
            link: tokio::sync::Mutex::default(),
            tools: Mutex::default(),
            this: this.clone(),
            secrets,
            changes: AtomicU64::new(0),
            state: Mutex::default(),
            access,
            sign_in: SignInProgress::default(),
            is_awaited: AtomicBool::new(false),
        })
    }

    /// Returns its tools. Those of a server that has ended stay, since a call starts it again.
    pub(super) fn tools(&self) -> Vec<Arc<dyn AgentTool>> {
        lock(&self.tools).clone()
    }

    /// Returns its state, as front ends receive it.
    pub(super) fn status(&self) -> McpServerStatus {
        let tools = lock(&self.tools).len();
        lock(&self.state).status(&self.settings.name, !self.is_own, tools)
    }

    fn is_connecting(&self) -> bool {
        self.has_state(&ServerState::Connecting)
    }

    /// Tells the front end that a message is not answered with its tools.
    pub(super) fn tell_if_connecting(&self) {
        if self.is_connecting() {
            self.is_awaited.store(true, Ordering::Relaxed);
            let name = &self.settings.name;
            let text = format!(
                "the MCP server `{name}` is still connecting: its tools are used when it is"
            );
            self.context.tell_front_end(text);
        }
    }

    fn has_state(&self, state: &ServerState) -> bool {
        *lock(&self.state) == *state
    }

    fn set_state(&self, state: ServerState) {
        *lock(&self.state) = state;
    }

    /// Records that it can be used, and notifies those who know that it is connecting.
    fn is_ready(&self) {
        self.set_state(ServerState::Ready);
        if self.is_awaited.swap(false, Ordering::Relaxed) {
            let tools = tool_count_text(lock(&self.tools).len());
            self.context.tell_front_end(format!(
                "the MCP server `{}` is ready: {tools}",
                self.settings.name
            ));
        }
    }

    fn failure_text(&self, why: &dyn std::fmt::Display) -> String {
        // A server may repeat in its error what it was sent.
        let why = self.secrets.mask(&why.to_string());
        let why = self.access.as_ref().map_or(why.clone(), |access| access.mask(&why));
        let why = shortened_text(&one_line(&why), LONGEST_REASON);
        format!("the MCP server `{}` failed: {why}", self.settings.name)
    }

    /// Returns the connection, and makes it if there is none. Only one is made at a time.
    async fn connect(&self) -> Result<(Peer<RoleClient>, CallRoutes), String> {
        let mut link = self.link.lock().await;
        if let Some(running) = link.running.as_ref().filter(|running| running.is_alive()) {
            return Ok((running.service.peer().clone(), Arc::clone(&running.calls)));
        }
        if link.is_closed {
            return Err(self.failure_text(&"it is no longer used"));
        }
        if let Some(ended) = link.running.take() {
            let is_steady = ended.since.elapsed() >= STEADY;
            link.failures = if is_steady { 0 } else { link.failures + 1 };
            link.pause = pause_after(link.failures, "it has ended");
            // How it ended is of no interest any more.
            ended.service.cancel().await.ok();
        }
        if let Some((until, why)) = &link.pause
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            let seconds = left.as_secs() + 1;
            return Err(self.failure_text(&format!("{why}; it is tried again in {seconds} s")));
        }
        self.set_state(ServerState::Connecting);
        match timeout(START_WITHIN, self.start_and_list()).await {
            Ok(Ok(running)) => {
                let reached = (running.service.peer().clone(), Arc::clone(&running.calls));
                link.running = Some(running);
                self.is_ready();
                Ok(reached)
            }
            // It is asked again at once when somebody has signed in.
            _ if self.wants_sign_in() => {
                self.is_awaited.store(false, Ordering::Relaxed);
                self.set_state(ServerState::NeedsSignIn);
                let name = &self.settings.name;
                Err(format!("the MCP server `{name}` {}", how_to_sign_in(name)))
            }
            failed => {
                let why = match failed {
                    Ok(Err(why)) => why,
                    _ => format!("it has not started within {} s", START_WITHIN.as_secs()),
                };
                link.failures += 1;
                link.pause = pause_after(link.failures, &why);
                let why = self.failure_text(&why);
                self.context.warn(&why);
                self.set_state(ServerState::Failed(why.clone()));
                self.is_awaited.store(false, Ordering::Relaxed);
                self.context.tell_front_end(why.clone());
                Err(why)
            }
        }
    }

    async fn start_and_list(&self) -> Result<RunningLink, String> {
        let (calls, signs) = (CallRoutes::default(), SignsOfLife::default());
        let client = ServerListener {
            on_change: self.on_change(),
            calls: Arc::clone(&calls),
            server: self.settings.name.clone(),
        };
        let service = match self.settings.transport.clone() {
            McpTransport::Command { command, args, env } => {
                let (context, signs) = (Arc::clone(&self.context), signs.clone());
                let start = move || StdioTransport::start(&context, &command, &args, &env, signs);
                serve_client(client, in_runtime(start).await?).await
            }
            McpTransport::Http { url, headers, .. } => {
                let (context, access) = (Arc::clone(&self.context), self.access.clone());
                if let Some(access) = &access {
                    access.reload().await;
                }
                let connect = move || http_transport(&context, &url, &headers, access);
                serve_client(client, in_runtime(connect).await?).await
            }
        };
        let service = service.map_err(|error| failure_reason(&error, &signs))?;
        let listed = listing::list_tools(service.peer(), MOST_TOOLS).await;
        self.set_tools(listed.map_err(|error| error.to_string())?);
        let has_ended = signs.has_ended;
        Ok(RunningLink { service, calls, since: Instant::now(), has_ended })
    }

    fn on_change(&self) -> ChangeFunction {
        let this = self.this.clone();
        Arc::new(move |peer| {
            let this = this.clone();
            Box::pin(async move {
                if let Some(server) = this.upgrade() {
                    server.list_tools(&peer).await;
                }
            })
        })
    }

    fn call_function(&self) -> CallFunction {
        let this = self.this.clone();
        Arc::new(move |tool, arguments, route| {
            let this = this.clone();
            Box::pin(async move {
                match this.upgrade() {
                    Some(server) => server.call(&tool, arguments, route).await,
                    None => Err("the server of this tool is no longer used".to_owned()),
                }
            })
        })
    }

    /// Lists the tools again, once for all changes that are reported in the meantime.
    async fn list_tools(&self, peer: &Peer<RoleClient>) {
        // The listing in progress will be repeated.
        if self.changes.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        loop {
            let seen = self.changes.load(Ordering::Acquire);
            match timeout(START_WITHIN, listing::list_tools(peer, MOST_TOOLS)).await {
                Ok(Ok(listed)) => {
                    self.set_tools(listed);
                    let (name, tools) =
                        (&self.settings.name, tool_count_text(lock(&self.tools).len()));
                    let text =
                        format!("the tools of the MCP server `{name}` have changed: {tools}");
                    self.context.tell_front_end(text);
                }
                Ok(Err(error)) => self.context.warn(&self.failure_text(&error)),
                Err(_) => {
                    self.context.warn(&self.failure_text(&"it has not listed its tools in time"));
                }
            }
            // A server that reports a change with every list keeps nobody busy.
            sleep(RELIST_AFTER).await;
            // A change that was reported meanwhile may be missing in what was listed.
            let none_since =
                self.changes.compare_exchange(seen, 0, Ordering::AcqRel, Ordering::Acquire);
            if none_since.is_ok() || peer.is_transport_closed() {
                self.changes.store(0, Ordering::Release);
                return;
            }
        }
    }

    fn set_tools(&self, listed: ToolListing) {
        for problem in &listed.problems {
            self.context.warn(&self.failure_text(problem));
        }
        let (name, call) = (&self.settings.name, self.call_function());
        *lock(&self.tools) = server_tools(name, self.is_own, &call, listed.tools);
        // After the tools: whoever sees the new number collects them.
        self.context.revision.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) async fn close(&self) {
        // First, because a sign-in that connects holds the link.
        self.sign_in.end();
        let mut link = self.link.lock().await;
        // A call that still waits for the lock must not start it again.
        link.is_closed = true;
        if let Some(running) = link.running.take() {
            // A task that panicked holds nothing any more.
            running.service.cancel().await.ok();
        }
        lock(&self.tools).clear();
        self.set_state(ServerState::Unused);
        self.context.revision.fetch_add(1, Ordering::Relaxed);
    }
}

/// Starts a server that does not run, beside the caller.
pub(super) fn start_in_background(server: &Arc<ToolServer>) -> Option<JoinHandle<()>> {
    let is_running = |link: &ServerLink| link.running.as_ref().is_some_and(RunningLink::is_alive);
    // Nobody waits a second time for a server that is slow.
    if server.is_connecting() || server.link.try_lock().is_ok_and(|link| is_running(&link)) {
        return None;
    }
    let server = Arc::clone(server);
    Some(tokio::spawn(async move {
        // The failure has been reported.
        server.connect().await.ok();
    }))
}

/// Runs something that may block and needs the tokio runtime.
pub(super) async fn in_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// Returns why a server did not start, with its last words.
fn failure_reason(error: &ClientInitializeError, signs: &SignsOfLife) -> String {
    let words = String::from_utf8_lossy(&lock(&signs.last_words)).trim().to_owned();
    let last = words.lines().last().unwrap_or_default();
    match error {
        ClientInitializeError::ConnectionClosed(_) if last.is_empty() => "it has ended".to_owned(),
        ClientInitializeError::ConnectionClosed(_) => format!("it has ended: {last}"),
        error => error.to_string(),
    }
}

/// Returns when a server may be started again. The first failure may be chance.
fn pause_after(failures: u32, why: &str) -> Option<(Instant, String)> {
    Some((Instant::now() + wait_after(failures)?, why.to_owned()))
}

fn wait_after(failures: u32) -> Option<Duration> {
    let doublings = failures.checked_sub(2)?.min(6);
    Some(Duration::from_secs(1 << doublings).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_keeps_failing_is_tried_less_and_less_often() {
        let waits: Vec<_> =
            (0..10).map(|failures| wait_after(failures).map_or(0, |wait| wait.as_secs())).collect();
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
