//! Calls that take too long or cost too much.

use std::time::Duration;

use callgate_claude::{ClaudeError, ClaudeEvent, ClaudeOutcome, ToolTransport};
use callgate_testkit::messages::Turn;

use crate::fixture::{Stage, TRANSPORTS, read, read_until, uses};

/// What a call that runs into a limit is given.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longer than the CLI is ever silent by itself, also on a busy machine.
const LONG_PATIENCE: Duration = Duration::from_secs(20);

/// Both at once: most of it is waiting.
#[tokio::test]
async fn a_time_limit_ends_everything() {
    let [stdio, sdk] = TRANSPORTS.map(run_into_the_limit);
    tokio::join!(stdio, sdk);
}

async fn run_into_the_limit(transport: ToolTransport) {
    let Some(stage) = Stage::new([uses("wait", "in vain")]) else { return };
    let model = stage.model_with(stage.settings().time_limit(PATIENCE), transport);
    let error = model.request("Wait").await.expect_err("nobody releases it");
    assert!(matches!(error, ClaudeError::TimeLimit { limit } if limit == PATIENCE), "{error}");
    stage.visits.none_inside().await;
}

#[tokio::test]
async fn a_silent_cli_is_ended() {
    let Some(stage) = Stage::new([Turn::text("Not all of it").stall_after(3)]) else { return };
    let model = stage.model_with(stage.settings().stall_limit(PATIENCE), TRANSPORTS[0]);
    let error = model.request("Go").await.unwrap_err();
    assert!(matches!(error, ClaudeError::Stalled { after, .. } if after == PATIENCE), "{error}");
}

/// A tool of ours may take as long as it likes.
#[tokio::test]
async fn a_cli_that_waits_for_us_is_not_silent() {
    let [stdio, sdk] = TRANSPORTS.map(wait_for_a_tool);
    tokio::join!(stdio, sdk);
}

async fn wait_for_a_tool(transport: ToolTransport) {
    let turns = [uses("wait", "worth it"), Turn::text("At last.")];
    let Some(stage) = Stage::new(turns) else { return };
    let model = stage.model_with(stage.settings().stall_limit(LONG_PATIENCE), transport);
    let mut stream = model.stream("Wait").unwrap();
    read_until(&mut stream, stage.visits.entered(1)).await;
    let longer = tokio::time::sleep(LONG_PATIENCE + Duration::from_secs(1));
    read_until(&mut stream, longer).await;
    stage.visits.release();
    let (events, error) = read(stream).await;
    assert!(error.is_none(), "{error:?}");
    assert!(
        matches!(events.last(), Some(ClaudeEvent::Finished(answer)) if answer.text == "At last.")
    );
    assert_eq!(stage.told()[0].text, "worth it");
}

#[tokio::test]
async fn a_budget_ends_the_turn() {
    let turns = [uses("echo", "cheap"), uses("echo", "dear"), Turn::text("Never said.")];
    let Some(stage) = Stage::new(turns) else { return };
    let model = stage.model_with(stage.settings().budget_usd(0.000_001), TRANSPORTS[1]);
    let error = model.request("Spend").await.unwrap_err();
    let ClaudeError::Unfinished(answer) = &error else { panic!("{error}") };
    assert_eq!(answer.outcome, ClaudeOutcome::MaxBudget);
    assert!(answer.cost_usd.unwrap() > 0.0, "{answer:?}");
    assert!(error.to_string().contains("the budget was used up"), "{error}");
}

#[tokio::test]
async fn after_a_call_that_took_too_long_the_next_is_right() {
    let [stdio, sdk] = TRANSPORTS.map(outstay_the_clis_patience);
    tokio::join!(stdio, sdk);
}

/// The CLI loses its patience with the first call; the second gets its own answer.
async fn outstay_the_clis_patience(transport: ToolTransport) {
    let turns = [uses("wait", "too late"), uses("echo", "my own"), Turn::text("Well.")];
    let Some(stage) = Stage::new(turns) else { return };
    let settings = stage.settings().env("MCP_TOOL_TIMEOUT", "5000");
    let model = stage.model_with(settings, transport);
    assert_eq!(model.request("Wait").await.unwrap(), "Well.");
    let told = stage.told();
    assert!(told[0].is_error && told[0].text.contains("timed out"), "{told:?}");
    assert!(told[1].text.starts_with("my own, says"), "{told:?}");
    stage.visits.cancelled(1).await;
}
