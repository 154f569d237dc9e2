//! Our side of a connection to a server: what we announce to it, and the notifications that it
//! sends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use callgate_link::sync::lock;
use callgate_wire::session::ToolStream;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation, ProgressNotificationParam,
    ProgressToken, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::watch;

use super::elicitation;
use crate::BoxFuture;
use crate::tool::{PersonAsker, ProgressSink};

pub(super) type CallRoutes = Arc<Mutex<HashMap<ProgressToken, OpenRoute>>>;

/// How a call reaches the front end and the person.
#[derive(Clone)]
pub(super) struct CallRoute {
    pub(super) progress: ProgressSink,
    /// Asks what the server wants to know meanwhile.
    pub(super) asker: PersonAsker,
}

#[derive(Clone)]
pub(super) struct OpenRoute {
    pub(super) route: CallRoute,
    pub(super) since: Instant,
    /// Closed when nobody waits for the call any more.
    pub(super) gone: watch::Receiver<()>,
}

/// Lists the tools of a server again.
pub(super) type ChangeFunction =
    Arc<dyn Fn(Peer<RoleClient>) -> BoxFuture<'static, ()> + Send + Sync>;

pub(super) struct ServerListener {
    /// Is called when the tools have changed.
    pub(super) on_change: ChangeFunction,
    pub(super) calls: CallRoutes,
    pub(super) server: String,
}

impl ClientHandler for ServerListener {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("callgate", env!("CARGO_PKG_VERSION"));
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::new().with_schema_validation(true))
            .with_url(UrlElicitationCapability::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, us)
    }

    /// Asks the person on behalf of a call. A server that has several under way does not say for
    /// which it asks, so it is the newest; one that has none must not ask.
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let newest = lock(&self.calls).values().max_by_key(|call| call.since).cloned();
        let Some(OpenRoute { route, mut gone, .. }) = newest else {
            return Ok(elicitation::declined_result());
        };
        tokio::select! {
            answer = elicitation::ask_person(&self.server, request, &route.asker) => Ok(answer),
            // Nothing is ever sent: this is the end of the call.
            _ = gone.changed() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let call = lock(&self.calls).get(&progress.progress_token).cloned();
        if let Some(call) = call {
            (call.route.progress)(ToolStream::Stdout, &format!("{}\n", progress_words(&progress)));
        }
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        (self.on_change)(context.peer).await;
    }
}

fn progress_words(progress: &ProgressNotificationParam) -> String {
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
        assert_eq!(progress_words(&at(2.0)), "2");
        assert_eq!(progress_words(&at(2.0).with_total(4.5)), "2 of 4.5");
        assert_eq!(progress_words(&at(2.0).with_total(4.0).with_message("half")), "half");
    }
}
