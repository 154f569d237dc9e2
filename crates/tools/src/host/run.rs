//! Runs a tool so that its panic, its hanging and its end harm nobody but its caller.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use callgate_wire::tools::error_type;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use super::context::Context;
use super::outcome::ToolError;
use super::tool::{Outcome, Tool, Work};

/// How many blocking tools may be running at once in this process, those included that nobody
/// waits for any more.
const MOST_BLOCKING: usize = 512;
static BLOCKING: AtomicUsize = AtomicUsize::new(0);

/// Runs the tool within its time limit. Dropped, an async tool ends at its next `.await`; a
/// blocking one learns it from its context.
pub(super) async fn run(tool: &Tool, arguments: Value, context: Context) -> Outcome {
    let work = async {
        match tool.work() {
            Work::Async(work) => {
                let work = work.clone();
                // The call itself may panic too, so it is made inside the task.
                let task = tokio::spawn(async move { work(arguments, context).await });
                EndOnDrop(task).finish().await
            }
            Work::Blocking(work) => {
                let work = work.clone();
                on_thread(move || work(arguments, context)).await
            }
        }
    };
    within(tool, work).await
}

/// Waits for some of a tool's work, but no longer than its limit.
pub(super) async fn within<T>(
    tool: &Tool,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let limit = tool.limit();
    match tokio::time::timeout(limit, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(ToolError::named(
            error_type::TIMEOUT,
            format!(
                "{:?} took longer than {} s and was given up",
                tool.name(),
                limit.as_secs_f64()
            ),
        )),
    }
}

/// A task that ends when nobody waits for it any more.
struct EndOnDrop(JoinHandle<Outcome>);

impl EndOnDrop {
    async fn finish(mut self) -> Outcome {
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
        Ok(panic) => {
            let words = panicked(panic.as_ref());
            // What was thrown may panic again when it is dropped.
            std::mem::forget(panic);
            words
        }
        Err(_) => {
            ToolError::named(error_type::CANCELLED, "the program that owns the tool is ending")
        }
    }
}

/// Runs a blocking tool on a thread of its own. One that hangs then takes no place in a pool,
/// and does not keep the program from ending.
pub(super) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let Some(place) = Place::take() else {
        let message =
            format!("{MOST_BLOCKING} blocking tools are running already: call again later");
        return Err(ToolError::new(message));
    };
    let (done, outcome) = oneshot::channel();
    let thread = thread::Builder::new().name("callgate-tool".to_owned()).spawn(move || {
        let _place = place;
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let words = panicked(panic.as_ref());
            // What was thrown may panic again when it is dropped.
            std::mem::forget(panic);
            Err(words)
        });
        // Nobody waits any more: the call was cancelled.
        done.send(outcome).ok();
    });
    if let Err(error) = thread {
        return Err(ToolError::new(format!("cannot start a thread for the tool: {error}")));
    }
    outcome
        .await
        .unwrap_or_else(|_| Err(ToolError::new("the tool's thread ended without a result")))
}

/// One of the places for blocking tools.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let is_free = BLOCKING.fetch_add(1, Ordering::Relaxed) < MOST_BLOCKING;
        let place = Self;
        is_free.then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        BLOCKING.fetch_sub(1, Ordering::Relaxed);
    }
}

fn panicked(panic: &(dyn Any + Send)) -> ToolError {
    let words = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ToolError::new(format!("the tool panicked: {}", words.unwrap_or("without a message")))
}
