//! `callgate mcp login`: signs in to a server.

use std::io::{self, Write};

use callgate_agent::mcp::SignInStore;

use super::ServerRegister;
use crate::failure::Failure;

/// The arguments of `callgate mcp login`.
#[derive(Debug, clap::Args)]
pub(super) struct LoginArgs {
    /// The name of the server
    name: String,
}

impl LoginArgs {
    pub(super) async fn run(self, servers: &ServerRegister) -> Result<(), Failure> {
        let name = &self.name;
        let failed = |why: String| {
            Failure::Failed(format!("cannot sign in to the MCP server `{name}`: {why}"))
        };
        let server = servers.find(name).await?;
        if !server.is_agreed {
            let why = "nobody has agreed to this folder's .mcp.json; start `callgate chat` here, \
                 which asks you about it";
            return Err(failed(why.to_owned()));
        }
        let own = || {
            failed(
                "it is a program, or its settings have a header that lets callgate in".to_owned(),
            )
        };
        let login = servers.login(&server).ok_or_else(own)?;
        let Some(pending) = login.begin().await.map_err(failed)? else {
            writeln!(io::stdout(), "The MCP server `{name}` wants no sign-in.")?;
            return Ok(());
        };
        writeln!(
            io::stdout(),
            "To sign in to the MCP server `{name}` at {}, open this address in a browser on this \
             machine:\n\n    {}\n",
            pending.host(),
            pending.address()
        )?;
        io::stdout().flush()?;
        let finished = pending.finish().await.map_err(failed)?;
        let saved = servers.sign_ins.save(&finished.sign_in);
        // The result is shown before any error, because the browser waits for its page in either
        // case.
        finished.show(saved.is_ok()).await;
        saved.map_err(failed)?;
        writeln!(io::stdout(), "You are signed in to `{name}`.")?;
        Ok(())
    }
}
