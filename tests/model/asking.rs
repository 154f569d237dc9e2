//! Asking, and what comes back.

use callgate_testkit::messages::Turn;
use serde_json::json;

use crate::fixture::{Stage, TRANSPORTS};

#[tokio::test]
async fn the_agent_calls_a_function_of_this_process() {
    for transport in TRANSPORTS {
        let turns = [
            Turn::tool_use("mcp__callgate__echo", json!({"text": "hello"})),
            Turn::text("It said hello."),
        ];
        let Some(stage) = Stage::new(turns) else { return };
        let answer = stage.model(transport).request("Say hello").await.unwrap();
        assert_eq!(answer, "It said hello.");
        let result = &stage.fake.last().tool_results()[0];
        assert_eq!(result.text, format!("hello, says process {}", std::process::id()));
        assert!(!result.is_error);
    }
}
