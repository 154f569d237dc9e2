//! Tools that come and go.

use std::sync::atomic::{AtomicU64, Ordering};

use callgate_wire::session::{PermissionAnswer, tool_kind};
use serde_json::json;

use super::*;
use crate::BoxFuture;
use crate::gate::{GateQuestion, PermissionGate, ToolPermit};
use crate::tool::{CallOutcome, ToolInvocation, raw_json};

struct Named(ToolSpec);

impl AgentTool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run_call(&self, _: ToolInvocation) -> BoxFuture<'_, CallOutcome> {
        Box::pin(std::future::ready(CallOutcome::done(&(), "")))
    }
}

fn tool(name: &str, description: &'static str) -> Arc<dyn AgentTool> {
    Arc::new(Named(ToolSpec {
        name: name.to_owned().into(),
        description: description.into(),
        input_schema: raw_json(&json!({"type": "object"})),
        is_read_only: true,
        kind: tool_kind::OTHER,
    }))
}

/// Has one tool more after each preparation.
#[derive(Default)]
struct Growing(AtomicU64);

impl ToolSource for Growing {
    fn prepare<'a>(&'a self, _: TurnContext<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async {
            tokio::task::yield_now().await;
            self.0.fetch_add(1, Ordering::Relaxed);
        })
    }

    fn revision(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn tools(&self) -> Vec<Arc<dyn AgentTool>> {
        (0..self.revision()).map(|at| tool(&format!("look{at}"), "another")).collect()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

struct Closed;

impl PermissionGate for Closed {
    fn decide_question(&self, _: GateQuestion) -> BoxFuture<'_, ToolPermit> {
        let denied = ToolPermit::Denied { because: "closed".to_owned(), interrupt: false };
        Box::pin(std::future::ready(denied))
    }

    fn answer(&self, _: PermissionAnswer) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(std::future::ready(Err("closed".to_owned())))
    }

    fn note_unattended(&self) {}
}

fn names(tools: &SessionTools) -> Vec<String> {
    tools.current().specs.iter().map(|spec| spec.name.to_string()).collect()
}

#[tokio::test]
async fn the_tools_of_a_source_are_there_once_it_is_prepared() {
    let tools = SessionTools::new(
        vec![tool("read", "ours"), tool("look1", "ours")],
        vec![Arc::new(Growing::default()), Arc::new(Growing::default())],
    );
    assert_eq!(names(&tools), ["read", "look1"]);
    let before = tools.current();
    assert!(Arc::ptr_eq(&before, &tools.current()), "nothing has changed");
    let turn = || TurnContext {
        gate: &Closed,
        conversation: "c",
        may_ask: true,
        mirror: None,
        notices: Arc::new(|_| {}),
        asker: crate::tool::PersonAsker::default(),
        stay: crate::tool::TurnStay::default(),
    };
    tools.prepare(turn()).await;
    assert_eq!(names(&tools), ["read", "look1", "look0"]);
    tools.prepare(turn()).await;
    assert_eq!(names(&tools), ["read", "look1", "look0"]);
    // A built-in tool cannot be replaced.
    assert_eq!(tools.current().get("look1").unwrap().spec().description, "ours");
    tools.close().await;
}
