//! What a running tool may know and say about its call.

use std::borrow::Cow;
use std::sync::Arc;

use callgate_wire::raw::Json;
use callgate_wire::tools::{Progress, Response};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

/// The ids under which agent CLIs mention a call in its `_meta`.
const CALL_ID_KEYS: [&str; 2] = ["claudecode/toolUseId", "callId"];

/// How much progress may wait for a caller that does not read.
pub(super) const NEWS: usize = 16;

/// How much of a report's message is told, in letters.
const LONGEST_NEWS: usize = 1000;

/// A call, as seen by the tool that answers it.
#[derive(Debug, Clone)]
pub struct Context {
    call: Arc<CallFacts>,
    cancelled: watch::Receiver<bool>,
    news: Option<mpsc::Sender<Vec<u8>>>,
}

/// What was sent with a call.
#[derive(Debug)]
pub(super) struct CallFacts {
    pub(super) arguments: Box<RawValue>,
    pub(super) meta: Option<Box<RawValue>>,
    pub(super) input_responses: Option<Box<RawValue>>,
    pub(super) request_state: Option<Box<RawValue>>,
}

impl CallFacts {
    /// A call with nothing but arguments.
    pub(super) fn new(arguments: Box<RawValue>) -> Self {
        Self { arguments, meta: None, input_responses: None, request_state: None }
    }
}

/// Cancels a call's [`Context`] when it is dropped: whatever the reason, nobody waits any more.
#[derive(Debug)]
pub(super) struct CancelOnDrop(watch::Sender<bool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

impl Context {
    /// A context and the guard that cancels it. `news` takes encoded progress messages.
    pub(super) fn new(
        call: CallFacts,
        news: Option<mpsc::Sender<Vec<u8>>>,
    ) -> (Self, CancelOnDrop) {
        let (cancel, cancelled) = watch::channel(false);
        (Self { call: Arc::new(call), cancelled, news }, CancelOnDrop(cancel))
    }

    /// Whether the caller has given up. A blocking tool that takes long should look now and then.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }

    /// Waits until the caller gives up. An async tool is dropped then, at its next `.await`, so
    /// only one that has started work elsewhere needs this.
    pub async fn cancelled(&self) {
        let mut cancelled = self.cancelled.clone();
        // An error means that the guard is gone, which cancels too.
        cancelled.wait_for(|is_cancelled| *is_cancelled).await.ok();
    }

    /// The arguments exactly as they were sent, with numbers of any size and keys in order.
    #[must_use]
    pub fn raw_arguments(&self) -> &RawValue {
        &self.call.arguments
    }

    /// What the agent CLI said about the call, MCP's `_meta`.
    #[must_use]
    pub fn meta(&self) -> Option<&RawValue> {
        self.call.meta.as_deref()
    }

    /// Returns what the user answered to the questions of [`Output::asks`](super::Output::asks),
    /// an object with the keys of the questions. The client made it: check it as you check
    /// arguments.
    #[must_use]
    pub fn input_responses(&self) -> Option<&RawValue> {
        self.call.input_responses.as_deref()
    }

    /// Returns the state that was given to [`Output::asks`](super::Output::asks). It has been in
    /// the hands of the client, which may have changed it.
    #[must_use]
    pub fn request_state(&self) -> Option<String> {
        Json::from(self.call.request_state.as_deref()?).string().map(Cow::into_owned)
    }

    /// The agent's own id for the call, which also stands in its transcript.
    #[must_use]
    pub fn call_id(&self) -> Option<String> {
        let meta = Json::from(self.meta()?).members();
        CALL_ID_KEYS.iter().find_map(|key| meta.string(key)).map(Cow::into_owned)
    }

    /// Tells the caller how far the call has come; `progress` has to grow from one report to the
    /// next, and only the first 1,000 letters of `message` are told. A caller that did not ask for
    /// it, or does not keep up, is told nothing.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let is_number = progress.is_finite() && total.is_none_or(f64::is_finite);
        let Some(news) = self.news.as_ref().filter(|_| is_number) else { return };
        let message = message.map(|message| message.chars().take(LONGEST_NEWS).collect());
        let news_item = Response::Progress(Progress { progress, total, message }).encode();
        // Progress is news, not an answer: it is never waited for.
        news.try_send(news_item).ok();
    }
}
