//! The end of a session before its input ends.

use std::time::Duration;
use std::{io, iter};

use tokio::sync::watch;

use super::intake::{IncomingLine, IncomingRequests};
use super::{AgentSession, HaltReason, MOST_OPEN};
use crate::failure::RequestFailure;

/// How long writing the last lines may take once the runtime is asked to end.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long turns may take to end once the runtime is asked to end. With the last lines this stays
/// below the two seconds that the protocol allows.
const TURNS_END_WITHIN: Duration = Duration::from_millis(800);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// A signal: open turns are ended, and all lines are written first.
    Asked,
    Alone,
}

impl AgentSession {
    /// Ends all open requests and leaves, including those that were received but not handled yet.
    pub(super) async fn end_session(
        mut self,
        ending: Shutdown,
        mut requests: IncomingRequests,
    ) -> io::Result<()> {
        let text = "the runtime was told to end: send the message again once it is back";
        let failure = RequestFailure::temporary("shutdown", text);
        self.early = None;
        // More could not be opened anyway, and a front end may never stop sending. Each is opened,
        // so that it gets an end below.
        for incoming in iter::from_fn(|| requests.next_at_hand()).take(MOST_OPEN) {
            if let IncomingLine::Request(request) = incoming {
                // Nobody waits for a request that is refused.
                self.shared.output.open_request(&request.id, &request.command).ok();
            }
        }
        self.lanes.clear();
        for halt in self.halts.values() {
            halt.send_replace(Some(HaltReason::Failed(failure.clone())));
        }
        let all = async { while self.jobs.join_next().await.is_some() {} };
        tokio::time::timeout(TURNS_END_WITHIN, all).await.ok();
        self.jobs.abort_all();
        if ending == Shutdown::Asked {
            self.shared.output.close(|| failure.clone().into(), LAST_WORDS).await;
        }
        tokio::time::timeout(LAST_WORDS, self.shared.tools.close()).await.ok();
        self.shared.options.history.hurry();
        self.shared.options.ledger.hurry();
        Ok(())
    }
}

/// Waits until the request has to stop.
pub(super) async fn wait_for_halt(halt: &mut watch::Receiver<Option<HaltReason>>) -> HaltReason {
    match halt.wait_for(Option::is_some).await.map(|halt| halt.clone()) {
        Ok(Some(halt)) => halt,
        // The sender is gone, so nothing can stop it.
        _ => std::future::pending().await,
    }
}
