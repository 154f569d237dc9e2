//! Runs one call: finds the tool, checks the arguments, and runs the tool so that its panic, its
//! hanging and its end harm nobody but its caller.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use callgate_wire::tools::{CallProgress, error_type};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, JoinHandle};

use super::Host;
use super::check::CheckedTool;
use super::context::{CallContext, CallFacts};
use super::outcome::ToolError;
use super::tool::{Tool, ToolWork, WorkOutcome};
use crate::mcp::LONGEST_WORD;

/// Larger arguments, in bytes, are checked on a thread of their own.
const CHECKED_AT_ONCE: usize = 4 * 1024;
/// How many blocking tools may run at once in this process, including those that nobody waits for
/// any more.
const MOST_BLOCKING: usize = 512;
static BLOCKING: AtomicUsize = AtomicUsize::new(0);

impl Host {
    /// Finds the tool, checks the arguments, and runs it to its end. `news` takes its reports.
    pub(super) async fn run_call(
        &self,
        name: &str,
        call: CallFacts,
        news: Option<mpsc::Sender<CallProgress<'static>>>,
    ) -> Result<Value, ToolError> {
        let Some(tool) = self.find_tool(name) else { return Err(self.not_found(name)) };
        let _running = CountedCall::new(&self.running);
        let (arguments, call) = check_arguments(tool, call).await?;
        let (context, cancel) = CallContext::new(call, news);
        let outcome = run_tool(tool, arguments, context).await;
        drop(cancel);
        tool.check_result(outcome?)
    }

    fn not_found(&self, name: &str) -> ToolError {
        let names: Vec<&str> = self.tool_names().collect();
        // The name comes from the caller and may be as long as a message.
        let name: String = name.chars().take(LONGEST_WORD).collect();
        let message = format!("there is no tool {name:?}; the tools are: {}", names.join(", "));
        ToolError::named(error_type::NOT_FOUND, message)
    }
}

/// A call that counts as running until this is dropped.
struct CountedCall<'a>(&'a AtomicUsize);

impl<'a> CountedCall<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Checks a call's arguments; large ones on a thread, where they hold up nobody.
async fn check_arguments(
    tool: &Arc<CheckedTool>,
    call: CallFacts,
) -> Result<(Value, CallFacts), ToolError> {
    if call.arguments.get().len() <= CHECKED_AT_ONCE {
        return Ok((tool.check_arguments(&call.arguments)?, call));
    }
    let checked = Arc::clone(tool);
    let check = on_thread(move || Ok((checked.check_arguments(&call.arguments)?, call)));
    within_limit(tool, check).await
}

/// Runs the tool within its time limit. If this is dropped, an async tool ends at its next
/// `.await`; a blocking one learns it from its context.
async fn run_tool(tool: &Tool, arguments: Value, context: CallContext) -> WorkOutcome {
    let work = async {
        match &tool.work {
            ToolWork::Async(work) => {
                let work = work.clone();
                // The call itself may panic too, so it is made inside the task.
                let task = tokio::spawn(async move { work(arguments, context).await });
                EndOnDrop(task).wait_for_outcome().await
            }
            ToolWork::Blocking(work) => {
                let work = work.clone();
                on_thread(move || work(arguments, context)).await
            }
        }
    };
    within_limit(tool, work).await
}

/// Waits for some of a tool's work, but no longer than the tool's time limit.
async fn within_limit<T>(
    tool: &Tool,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let limit = tool.limit;
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let (name, seconds) = (tool.name(), limit.as_secs_f64());
        let message = format!("{name:?} took longer than {seconds} s and was given up");
        Err(ToolError::named(error_type::TIMEOUT, message))
    })
}

/// A task that is aborted when this is dropped.
struct EndOnDrop(JoinHandle<WorkOutcome>);

impl EndOnDrop {
    async fn wait_for_outcome(mut self) -> WorkOutcome {
        match (&mut self.0).await {
            Ok(outcome) => outcome,
            Err(error) => Err(ended_early(error)),
        }
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn ended_early(error: JoinError) -> ToolError {
    match error.try_into_panic() {
        Ok(panic) => panic_error(panic),
        Err(_) => {
            ToolError::named(error_type::CANCELLED, "the program that owns the tool is ending")
        }
    }
}

/// Runs a blocking tool on a thread of its own. One that hangs then occupies no thread of a pool,
/// and does not keep the program from ending.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let Some(slot) = BlockingSlot::take_if_free() else {
        let message =
            format!("{MOST_BLOCKING} blocking tools are running already: call again later");
        return Err(ToolError::new(message));
    };
    let (done, outcome) = oneshot::channel();
    let thread = thread::Builder::new().name("callgate-tool".to_owned()).spawn(move || {
        let _slot = slot;
        let outcome =
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panic_error(panic)));
        // An error means that the call was cancelled.
        done.send(outcome).ok();
    });
    if let Err(error) = thread {
        return Err(ToolError::new(format!("cannot start a thread for the tool: {error}")));
    }
    outcome
        .await
        .unwrap_or_else(|_| Err(ToolError::new("the tool's thread ended without a result")))
}

/// One of the [`MOST_BLOCKING`] slots for blocking tools.
struct BlockingSlot;

impl BlockingSlot {
    fn take_if_free() -> Option<Self> {
        // Dropping the slot again gives it back.
        let slot = Self;
        (BLOCKING.fetch_add(1, Ordering::Relaxed) < MOST_BLOCKING).then_some(slot)
    }
}

impl Drop for BlockingSlot {
    fn drop(&mut self) {
        BLOCKING.fetch_sub(1, Ordering::Relaxed);
    }
}

fn panic_error(panic: Box<dyn Any + Send>) -> ToolError {
    let words = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let error =
        ToolError::new(format!("the tool panicked: {}", words.unwrap_or("without a message")));
    // What was thrown may panic again when it is dropped.
    std::mem::forget(panic);
    error
}
