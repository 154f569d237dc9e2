//! `callgate mcp list`: the servers, and whether somebody is signed in to them.

use std::io::{self, Write};

use callgate_agent::mcp::NamedServer;
use callgate_mask::text::visible_text;
use serde_json::json;

use super::{ServerRegister, server_address};
use crate::failure::Failure;

/// The arguments of `callgate mcp list`.
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(super) async fn run(self, servers: &ServerRegister) -> Result<(), Failure> {
        let all = servers.servers.named_servers().await;
        if all.is_empty() && !self.json {
            let text = "There are no MCP servers: name them in your settings, below \
                 [agent.mcp_servers], or in a .mcp.json in this folder.";
            writeln!(io::stdout(), "{text}")?;
        }
        for server in &all {
            let (state, text) = describe_server(servers, server).await;
            let (name, is_project) = (&server.settings.name, server.is_project);
            if self.json {
                let row = json!({
                    "name": name, "isProject": is_project, "state": state, "text": text,
                });
                writeln!(io::stdout(), "{row}")?;
            } else {
                let whose = if is_project { " (of this folder)" } else { "" };
                writeln!(io::stdout(), "{name}{whose}: {}", visible_text(&text))?;
            }
        }
        Ok(())
    }
}

/// Returns the state of a server, as a word and for a person.
async fn describe_server(servers: &ServerRegister, server: &NamedServer) -> (&'static str, String) {
    if !server.is_agreed {
        return ("not_agreed", "not used until you agree to this folder's .mcp.json".to_owned());
    }
    let Some(url) = server_address(server) else {
        return ("program", "a program, which starts with the first message".to_owned());
    };
    let Some(login) = servers.login(server) else {
        return ("header", format!("{url}, with a header of its settings"));
    };
    match servers.sign_ins.read(&url) {
        Ok(Some(known)) => {
            let place = if known.is_in_keyring() { "the keyring" } else { "a private file" };
            return ("signed_in", format!("{url}, signed in by {}, kept in {place}", known.issuer));
        }
        Ok(None) => {}
        Err(why) => return ("failed", format!("{url}, the sign-in cannot be read: {why}")),
    }
    match login.is_wanted().await {
        Ok(true) => {
            let name = &server.settings.name;
            ("needs_sign_in", format!("{url}, wants you to sign in: callgate mcp login {name}"))
        }
        Ok(false) => ("open", format!("{url}, wants no sign-in")),
        Err(why) => ("failed", format!("{url}, {why}")),
    }
}
