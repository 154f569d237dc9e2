//! A sign-in to a server without a session: at a terminal.

use std::sync::Arc;

use super::oauth::{PendingSignIn, ServerAccess, SignInStore};
use super::{McpServerSettings, McpTransport, Warning};

pub struct ServerLogin {
    access: Arc<ServerAccess>,
    headers: Vec<(String, String)>,
}

impl ServerLogin {
    /// Returns the login of a server, or `None` if it is a program, or its settings have a header
    /// that lets callgate in.
    pub fn new(
        server: &McpServerSettings,
        proxy: Option<String>,
        store: Arc<dyn SignInStore>,
        warn: Warning,
    ) -> Option<Self> {
        let McpTransport::Http { headers, .. } = &server.transport else { return None };
        let access = ServerAccess::new(server, proxy, store, warn)?;
        Some(Self { access, headers: headers.clone() })
    }

    pub async fn is_wanted(&self) -> Result<bool, String> {
        self.access.probe_sign_in(&self.headers).await
    }

    /// Prepares a sign-in, if the server wants one.
    pub async fn begin(&self) -> Result<Option<PendingSignIn>, String> {
        if !self.is_wanted().await? {
            return Ok(None);
        }
        self.access.begin_sign_in().await.map(Some)
    }
}
