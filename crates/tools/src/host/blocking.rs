//! The host for programs without tokio.
//!
//! ```
//! use callgate_tools::{Host, NoArguments, Tool, blocking};
//!
//! let hello = Tool::blocking("hello", "Greets.", |_: NoArguments, _| "hello");
//! let host = Host::new([hello])?;
//! assert_eq!(blocking::call(&host, "hello", serde_json::json!({}))?["content"][0]["text"], "hello");
//! let session = blocking::start(&host)?;
//! assert!(session.socket_path().exists());
//! session.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io;
use std::ops::Deref;

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::{Host, HostError, HostSession, ToolError};

/// A [`HostSession`] with its own runtime, on a thread of its own.
#[derive(Debug)]
pub struct BlockingSession {
    session: HostSession,
    _runtime: BackgroundRuntime,
}

impl BlockingSession {
    /// Ends the session without waiting for anything.
    pub fn stop(self) {}
}

impl Deref for BlockingSession {
    type Target = HostSession;

    fn deref(&self) -> &HostSession {
        &self.session
    }
}

/// Starts a session of the host's tools.
pub fn start(host: &Host) -> Result<BlockingSession, HostError> {
    let runtime = BackgroundRuntime::start().map_err(HostError::Runtime)?;
    let session = {
        let _inside = runtime.enter();
        host.start()?
    };
    Ok(BlockingSession { session, _runtime: runtime })
}

/// Calls a tool as an agent would, without a session: for your own tests. Inside a tokio runtime
/// use [`Host::call`] instead.
pub fn call(host: &Host, name: &str, arguments: Value) -> Result<Value, ToolError> {
    BackgroundRuntime::start()?.block_on(host.call(name, arguments))
}

/// A runtime that does not wait for its tasks when it is dropped.
#[derive(Debug)]
struct BackgroundRuntime(Option<Runtime>);

impl BackgroundRuntime {
    fn start() -> io::Result<Self> {
        // A runtime without a thread of its own would run only while somebody blocks on it.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self(Some(runtime)))
    }
}

impl Deref for BackgroundRuntime {
    type Target = Runtime;

    #[allow(clippy::expect_used, reason = "it is there until it is dropped")]
    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("a runtime that has not been dropped")
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // An ordinary drop would wait for an async tool that blocks its thread.
            runtime.shutdown_background();
        }
    }
}
