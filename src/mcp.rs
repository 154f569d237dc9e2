//! `callgate mcp`: signs in to MCP servers and out of them, and lists them.

mod list;
mod login;
mod logout;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use callgate_agent::history::{History, HistoryLocation};
use callgate_agent::mcp::{
    McpServers, McpSurroundings, McpTransport, NamedServer, ServerLogin, Warning,
};

use crate::config::{AgentFlags, Config, load_config};
use crate::failure::{Failure, write_error_line};
use crate::secrets::SignInFiles;

/// Sign in to MCP servers, and see which there are
///
/// The servers are those of your settings and of the .mcp.json in this folder. A server on the
/// network may want you to sign in. The runtime asks you when it first needs one; here you can do
/// so without a session. The tokens are kept in the keyring, or in a private file without one.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    what: McpCommand,
}

#[derive(Debug, clap::Subcommand)]
enum McpCommand {
    /// List the servers, and say to which you are signed in
    List(list::ListArgs),
    /// Sign in to a server
    ///
    /// Prints the address at which you sign in. Open it in a browser on this machine: when you have
    /// signed in, the browser is sent to a port of this machine, where this command waits for it.
    Login(login::LoginArgs),
    /// Sign out of a server: forget its tokens
    Logout(logout::LogoutArgs),
}

impl McpArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &AgentFlags::default())?;
        let failed = |error| Failure::Failed(format!("cannot start: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let servers = ServerRegister::from_config(&config);
        let done = runtime.block_on(async {
            match self.what {
                McpCommand::List(args) => args.run(&servers).await,
                McpCommand::Login(args) => args.run(&servers).await,
                McpCommand::Logout(args) => args.run(&servers).await,
            }
        });
        // Otherwise the command would wait for a name that is still being looked up.
        runtime.shutdown_background();
        done.map(|()| ExitCode::SUCCESS)
    }
}

/// The servers that these commands are about, and the sign-ins to them.
struct ServerRegister {
    servers: McpServers,
    sign_ins: SignInFiles,
    proxy: Option<String>,
    warn: Warning,
}

impl ServerRegister {
    fn from_config(config: &Config) -> Self {
        let settings = &config.agent;
        let warn: Warning = Arc::new(write_error_line);
        let sign_ins = SignInFiles::beside(&config.database);
        let proxy = settings.proxy.as_ref().map(|proxy| proxy.reveal().to_owned());
        let around = McpSurroundings {
            folder: settings.folder().to_owned(),
            env: std::env::vars_os().collect(),
            proxy: proxy.clone(),
            ledger: History::start(HistoryLocation::Ledger(config.database.clone())),
            sign_ins: Arc::new(sign_ins.clone()),
            patience: settings.mcp_wait_seconds,
            warn: Arc::clone(&warn),
        };
        let servers = McpServers::new(settings.mcp_servers.clone(), around);
        Self { servers, sign_ins, proxy, warn }
    }

    async fn find(&self, name: &str) -> Result<NamedServer, Failure> {
        let mut all = self.servers.named_servers().await;
        let names: Vec<&str> = all.iter().map(|server| server.settings.name.as_str()).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let at = names.iter().position(|other| *other == name);
        let none = || {
            Failure::Failed(format!(
                "there is no MCP server `{name}` in your settings and in this folder; there is: \
                 {known}"
            ))
        };
        Ok(all.swap_remove(at.ok_or_else(none)?))
    }

    /// Returns the login of a server, if a person may have to sign in to it.
    fn login(&self, server: &NamedServer) -> Option<ServerLogin> {
        let store = Arc::new(self.sign_ins.clone());
        ServerLogin::new(&server.settings, self.proxy.clone(), store, Arc::clone(&self.warn))
    }
}

/// Returns the address of a server on the network, in the form in which sign-ins name it.
fn server_address(server: &NamedServer) -> Option<String> {
    match &server.settings.transport {
        McpTransport::Http { url, .. } => Some(callgate_agent::mcp::normal_address(url)),
        McpTransport::Command { .. } => None,
    }
}
