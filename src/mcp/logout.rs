//! `callgate mcp logout`: forgets the tokens of a server.

use std::io::{self, Write};

use super::{ServerRegister, server_address};
use crate::failure::Failure;

/// The arguments of `callgate mcp logout`.
#[derive(Debug, clap::Args)]
pub(super) struct LogoutArgs {
    /// The name of the server
    name: String,
}

impl LogoutArgs {
    pub(super) async fn run(self, servers: &ServerRegister) -> Result<(), Failure> {
        let name = &self.name;
        let server = servers.find(name).await?;
        let removed = match server_address(&server) {
            Some(data_url) => servers.sign_ins.remove(&data_url).map_err(|why| {
                Failure::Failed(format!("cannot sign out of the MCP server `{name}`: {why}"))
            })?,
            None => false,
        };
        let text = if removed {
            format!("You are signed out of `{name}`. A session that runs uses it until it ends.")
        } else {
            format!("You were not signed in to `{name}`.")
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }
}
