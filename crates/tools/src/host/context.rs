//! What a running tool can learn and report about its call.

use std::borrow::Cow;
use std::sync::Arc;

use callgate_wire::raw::Json;
use callgate_wire::tools::{CallProgress, RetryFields};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

use super::outcome::ToolError;

/// The keys under which agent CLIs put their id of a call into its `_meta`.
const CALL_ID_KEYS: [&str; 2] = ["claudecode/toolUseId", "callId"];

/// How many progress reports may wait for a caller that does not read.
pub(super) const MOST_REPORTS: usize = 16;

/// How many characters of a report's message are passed on. The bridge drops a report whose line
/// has more than 4,096 bytes.
const LONGEST_REPORT: usize = 1000;

/// A call, as the tool that answers it sees it.
#[derive(Debug, Clone)]
pub struct CallContext {
    call: Arc<CallFacts>,
    cancelled: watch::Receiver<bool>,
    news: Option<mpsc::Sender<CallProgress<'static>>>,
}

/// Everything that was sent with a call.
#[derive(Debug)]
pub(super) struct CallFacts {
    pub(super) arguments: Box<RawValue>,
    pub(super) meta: Option<Box<RawValue>>,
    pub(super) input_responses: Option<Box<RawValue>>,
    pub(super) request_state: Option<Box<RawValue>>,
}

impl CallFacts {
    /// Copies what was sent, so that it outlives the message that it came in.
    pub(super) fn copy(
        arguments: Json<'_>,
        meta: Option<Json<'_>>,
        retry: &RetryFields<'_>,
    ) -> Result<Self, ToolError> {
        let copy = |json: Json<'_>| RawValue::from_string(json.get().to_owned());
        Ok(Self {
            arguments: copy(arguments)?,
            meta: meta.map(copy).transpose()?,
            input_responses: retry.input_responses.map(copy).transpose()?,
            request_state: retry.request_state.map(copy).transpose()?,
        })
    }
}

/// Cancels a call's [`CallContext`] when it is dropped: for whatever reason, nobody waits any more.
#[derive(Debug)]
pub(super) struct CallCanceller(watch::Sender<bool>);

impl Drop for CallCanceller {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

impl CallContext {
    /// Creates a context and the guard that cancels it. `news` takes the tool's reports.
    pub(super) fn new(
        call: CallFacts,
        news: Option<mpsc::Sender<CallProgress<'static>>>,
    ) -> (Self, CallCanceller) {
        let (cancel, cancelled) = watch::channel(false);
        (Self { call: Arc::new(call), cancelled, news }, CallCanceller(cancel))
    }

    /// Returns true if the caller has given up. A blocking tool that takes long should check this
    /// now and then.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }

    /// Waits until the caller gives up. An async tool is then dropped at its next `.await`, so only
    /// a tool that has started work elsewhere needs this.
    pub async fn cancelled(&self) {
        let mut cancelled = self.cancelled.clone();
        // An error means that the guard is gone, which cancels too.
        cancelled.wait_for(|is_cancelled| *is_cancelled).await.ok();
    }

    /// Returns the arguments exactly as they were sent, with numbers of any size and keys in order.
    #[must_use]
    pub fn raw_arguments(&self) -> &RawValue {
        &self.call.arguments
    }

    /// Returns what the agent CLI sent about the call, MCP's `_meta`.
    #[must_use]
    pub fn meta(&self) -> Option<&RawValue> {
        self.call.meta.as_deref()
    }

    /// Returns the user's answers to the questions of
    /// [`ToolOutput::asks`](super::ToolOutput::asks), an object with the keys of the questions. It
    /// comes from the client: check it as you check arguments.
    #[must_use]
    pub fn input_responses(&self) -> Option<&RawValue> {
        self.call.input_responses.as_deref()
    }

    /// Returns the state that was passed to [`ToolOutput::asks`](super::ToolOutput::asks). The
    /// client has held it and may have changed it.
    #[must_use]
    pub fn request_state(&self) -> Option<String> {
        Json::from(self.call.request_state.as_deref()?).string().map(Cow::into_owned)
    }

    /// Returns the agent's own id of the call, which also appears in its transcript.
    #[must_use]
    pub fn call_id(&self) -> Option<String> {
        let meta = Json::from(self.meta()?).members();
        CALL_ID_KEYS.iter().find_map(|key| meta.string(key)).map(Cow::into_owned)
    }

    /// Reports to the caller how far the call has come. `progress` has to grow from one report to
    /// the next, and only the first 1,000 characters of `message` are passed on. A caller that did
    /// not ask for progress, or does not keep up, receives none.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        // JSON has no infinity, and nothing that is not a number.
        let is_number = progress.is_finite() && total.is_none_or(f64::is_finite);
        let Some(news) = self.news.as_ref().filter(|_| is_number) else { return };
        let message = message.map(|message| message.chars().take(LONGEST_REPORT).collect());
        // A report that does not fit into the channel is dropped: nobody waits for progress.
        news.try_send(CallProgress { progress, total, message }).ok();
    }
}
