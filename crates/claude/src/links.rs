//! How the CLI of a call reaches your tools, and what is checked about it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use callgate_link::file::{self, PrivateFile};
use callgate_tools::{Host, HostSession, InlineServer};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::ask::LaunchOptions;
use crate::event::SessionSetup;
use crate::{ClaudeError, ClaudeSettings, ToolTransport};

/// The prefix of the file that lists the CLI's MCP servers. It is a file because everybody can read
/// a command line, and the settings of servers contain secrets. Our own tools behind the control
/// channel need none, so they alone are listed on the command line.
const CONFIG_PREFIX: &str = "callgate_mcp_";
const CONFIG_SUFFIX: &str = ".json";

/// The tools of one call, served until this is dropped.
#[derive(Debug)]
pub(crate) struct ToolLinks {
    host: Option<Host>,
    session: Option<HostSession>,
    pub(crate) inline: Option<Arc<InlineServer>>,
    config: Option<ServerConfig>,
}

/// How the CLI receives its MCP servers. The control request `mcp_set_servers` would not do: after
/// it, the first turn does not wait for servers that have to be started.
#[derive(Debug)]
enum ServerConfig {
    Inline(String),
    File(PrivateFile),
}

impl ToolLinks {
    pub(crate) fn start(
        settings: &ClaudeSettings,
        tools: Option<&(Host, ToolTransport)>,
        launch: &LaunchOptions,
    ) -> Result<Self, ClaudeError> {
        let mut links = Self { host: None, session: None, inline: None, config: None };
        let mut servers = settings.servers.clone();
        if let Some((host, transport)) = tools {
            let host = match &launch.tools {
                Some(names) => host.only(names.iter().map(String::as_str))?,
                None => host.clone(),
            };
            // A fake starts no bridge.
            let transport = if settings.fake.is_some() { ToolTransport::Sdk } else { *transport };
            servers.insert(host.name().to_owned(), links.serve_host(&host, transport)?);
            links.host = Some(host);
        }
        // The settings of a bridge name the socket of the tools.
        let is_secret = !settings.servers.is_empty() || links.session.is_some();
        links.config = write_config(settings, &servers, is_secret)?;
        Ok(links)
    }

    /// Serves the host's tools; returns the server in the CLI's form.
    fn serve_host(&mut self, host: &Host, transport: ToolTransport) -> Result<Value, ClaudeError> {
        if transport != ToolTransport::Stdio {
            self.inline = Some(Arc::new(host.inline()?));
            return Ok(json!({"type": "sdk", "name": host.name()}));
        }
        let session = host.start()?;
        let bridge = session.bridge_command()?;
        self.session = Some(session);
        Ok(json!({"type": "stdio", "command": bridge.program, "args": bridge.arguments}))
    }

    /// Returns the servers in the CLI's form, or the file that holds them.
    pub(crate) fn config(&self) -> Option<&OsStr> {
        self.config.as_ref().map(|config| match config {
            ServerConfig::Inline(json) => json.as_ref(),
            ServerConfig::File(file) => file.path().as_os_str(),
        })
    }

    /// Returns the server name of our tools.
    pub(crate) fn server_name(&self) -> &str {
        self.host.as_ref().map_or("", Host::name)
    }

    /// Returns the rule that allows all tools of the host.
    pub(crate) fn allow_rule(&self) -> Option<String> {
        self.host.as_ref().map(|host| format!("mcp__{}", host.name()))
    }

    /// Returns true if a call of our tools is running through the bridge.
    pub(crate) fn is_busy(&self) -> bool {
        self.session.as_ref().is_some_and(HostSession::is_busy)
    }

    /// Checks that the CLI has our tools, and exactly those.
    pub(crate) fn check_setup(&mut self, started: &SessionSetup) -> Result<(), ClaudeError> {
        // The CLI has read the file, which may hold secrets, so it is removed.
        self.config = None;
        let Some(host) = &self.host else { return Ok(()) };
        let name = host.name();
        let status = started.servers.iter().find(|server| server.name == name);
        let status = status.map_or("missing", |server| server.status.as_str());
        if status == "pending" {
            // It is still being started: its tools are not known yet.
            return Ok(());
        }
        if status != "connected" {
            return Err(ClaudeError::BridgeStartup(format!(
                "the CLI reports its connection to the server {name:?} as {status}: run the server's \
                 command by hand to see why, or use ToolTransport::Sdk"
            )));
        }
        let prefix = format!("mcp__{name}__");
        let mut theirs: Vec<&str> =
            started.tools.iter().filter_map(|tool| tool.strip_prefix(&*prefix)).collect();
        let mut ours: Vec<&str> = host.tool_names().collect();
        theirs.sort_unstable();
        ours.sort_unstable();
        if theirs == ours {
            return Ok(());
        }
        Err(ClaudeError::BridgeStartup(format!(
            "the CLI lists the tools {theirs:?} of the server {name:?} instead of {ours:?}: check \
             whether another server of that name is configured, or some of the tools are denied"
        )))
    }
}

fn write_config(
    settings: &ClaudeSettings,
    servers: &Map<String, Value>,
    is_secret: bool,
) -> Result<Option<ServerConfig>, ClaudeError> {
    if servers.is_empty() {
        return Ok(None);
    }
    let config = json!({"mcpServers": servers}).to_string();
    if !is_secret {
        return Ok(Some(ServerConfig::Inline(config)));
    }
    let folder = settings.temporary.clone().unwrap_or_else(std::env::temp_dir);
    // A process that was killed could not remove its file, which may hold secrets.
    file::sweep_files(&folder, CONFIG_PREFIX, CONFIG_SUFFIX);
    let path: PathBuf =
        folder.join(format!("{CONFIG_PREFIX}{}{CONFIG_SUFFIX}", Uuid::new_v4().simple()));
    PrivateFile::create(path.clone(), config.as_bytes())
        .map(|file| Some(ServerConfig::File(file)))
        .map_err(|source| ClaudeError::File { path, source })
}
