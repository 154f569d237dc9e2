//! What the houses of these tests share: a runtime, the settings of a desk, and questions.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use callgate_approval::asker::{self, AskerCancellation, AskerSettings, NoAnswer};
use callgate_approval::desk::DeskSettings;
use callgate_wire::approval::{ApprovalRequest, ApprovalResponse};
use serde_json::json;
use tokio::runtime::Runtime;

/// Long enough for any machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) fn one_worker() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(1).enable_all().build().unwrap()
}

/// The settings of a desk without phones and without a terminal.
pub(crate) fn desk_settings() -> DeskSettings {
    DeskSettings::plain(DEADLINE, DEADLINE)
}

/// Asks on a thread, as a hook would.
pub(crate) fn ask(
    settings: AskerSettings,
    request: ApprovalRequest,
) -> JoinHandle<Result<ApprovalResponse, NoAnswer>> {
    thread::spawn(move || asker::ask_desk(&settings, &request, &AskerCancellation::default()))
}

pub(crate) fn request(command: &str) -> ApprovalRequest {
    let line = json!({
        "request_id": asker::fresh_id().as_str(),
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "cwd": "/home/ada/engine",
        "session_id": "s1",
        "context": { "takes": ["always", "edit", "interrupt"] },
    });
    ApprovalRequest::decode(line.to_string().as_bytes()).unwrap()
}
