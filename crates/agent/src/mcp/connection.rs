//! Our side of a connection to a server: what we announce to it, and the notifications that it
//! sends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::session::ToolStream;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, Peer};
use rmcp::{ClientHandler, RoleClient};

use crate::BoxFuture;
use crate::tool::ProgressSink;

/// The calls under way that take progress.
pub(super) type ProgressRoutes = Arc<Mutex<HashMap<ProgressToken, ProgressSink>>>;

/// Lists the tools of a server again.
pub(super) type ChangeFunction =
    Arc<dyn Fn(Peer<RoleClient>) -> BoxFuture<'static, ()> + Send + Sync>;

/// Receives the notifications of a server.
pub(super) struct ServerListener {
    /// Is called when the tools have changed.
    pub(super) on_change: ChangeFunction,
    pub(super) progress: ProgressRoutes,
}

impl ClientHandler for ServerListener {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("callgate", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let sink = lock(&self.progress).get(&progress.progress_token).cloned();
        if let Some(sink) = sink {
            sink(ToolStream::Stdout, &format!("{}\n", words(&progress)));
        }
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        (self.on_change)(context.peer).await;
    }
}

/// Returns progress in words.
fn words(progress: &ProgressNotificationParam) -> String {
    match (&progress.message, progress.total) {
        (Some(message), _) => message.clone(),
        (None, Some(total)) => format!("{} of {total}", progress.progress),
        (None, None) => progress.progress.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

    #[test]
    fn progress_is_told_in_words() {
        let token = || ProgressToken(NumberOrString::Number(1));
        let at = |progress| ProgressNotificationParam::new(token(), progress);
        assert_eq!(words(&at(2.0)), "2");
        assert_eq!(words(&at(2.0).with_total(4.5)), "2 of 4.5");
        assert_eq!(words(&at(2.0).with_total(4.0).with_message("half")), "half");
    }
}
