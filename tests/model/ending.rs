//! Whatever ends a call, nothing of it is left: no process, no socket, no file, no running tool.
//!
//! When a test ends, the stage checks that all processes are gone.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use callgate_claude::{ClaudeError, ClaudeEvent, ClaudeStream};
use callgate_testkit::messages::Turn;

use crate::fixture::{ENDLESS, Stage, TRANSPORTS, kill, read, read_until, runs, uses};

fn assert_no_files(stage: &Stage) {
    let left: Vec<_> = fs::read_dir(stage.folder.path()).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_dropped_stream_takes_everything_along() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([uses("wait", "in vain")]) else { return };
        let mut stream = stage.model(transport).stream("Wait").unwrap();
        read_until(&mut stream, stage.visits.entered(1)).await;
        drop(stream);
        assert_no_files(&stage);
        stage.visits.cancelled(1).await;
    }
}

#[tokio::test]
async fn a_stream_that_is_never_read_leaves_nothing() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([]) else { return };
        drop(stage.model(transport).stream("Never mind").unwrap());
        assert_no_files(&stage);
    }
}

#[tokio::test]
async fn an_aborted_request_takes_everything_along() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([uses("wait", "in vain")]) else { return };
        let model = stage.model(transport);
        let request = tokio::spawn(async move { model.request("Wait").await });
        stage.visits.entered(1).await;
        request.abort();
        assert!(request.await.unwrap_err().is_cancelled());
        assert_no_files(&stage);
        stage.visits.cancelled(1).await;
    }
}

#[tokio::test]
async fn a_request_that_nobody_waits_for_any_more_takes_everything_along() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([uses("wait", "in vain")]) else { return };
        let model = stage.model(transport);
        let late = async {
            stage.visits.entered(1).await;
            // Now it waits in the tool, and the time is up.
        };
        tokio::select! {
            answer = model.request("Wait") => panic!("{answer:?}"),
            () = late => {}
        }
        assert_no_files(&stage);
        stage.visits.cancelled(1).await;
    }
}

#[tokio::test]
async fn a_panic_takes_everything_along() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([uses("wait", "in vain")]) else { return };
        let model = stage.model(transport);
        let visits = stage.visits.clone();
        let task = tokio::spawn(async move {
            let mut stream = model.stream("Wait").unwrap();
            read_until(&mut stream, visits.entered(1)).await;
            panic!("in the middle of it");
        });
        assert!(task.await.unwrap_err().is_panic());
        assert_no_files(&stage);
        stage.visits.cancelled(1).await;
    }
}

#[tokio::test]
async fn a_killed_cli_is_told() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([uses("wait", "in vain")]) else { return };
        let mut stream = stage.model(transport).stream("Wait").unwrap();
        read_until(&mut stream, stage.visits.entered(1)).await;
        kill(stage.cli());
        let (_, error) = read(stream).await;
        let error = error.expect("it was killed");
        let is_killed =
            matches!(&error, ClaudeError::Died { status, .. } if status.signal() == Some(9));
        assert!(is_killed, "{error}");
        assert_no_files(&stage);
        stage.visits.cancelled(1).await;
    }
}

/// Reads until the command of the agent runs.
async fn read_until_command(stage: &Stage, stream: &mut ClaudeStream) {
    let running = async {
        while stage.processes(ENDLESS).is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    read_until(stream, running).await;
}

#[tokio::test]
async fn a_command_of_the_agent_ends_with_the_stream() {
    let Some(stage) = Stage::new([runs(ENDLESS)]) else { return };
    let mut stream = stage.model(TRANSPORTS[1]).stream("Run").unwrap();
    read_until_command(&stage, &mut stream).await;
    drop(stream);
}

#[tokio::test]
async fn a_command_of_the_agent_ends_with_a_killed_cli() {
    let Some(stage) = Stage::new([runs(ENDLESS)]) else { return };
    let mut stream = stage.model(TRANSPORTS[1]).stream("Run").unwrap();
    read_until_command(&stage, &mut stream).await;
    kill(stage.cli());
    let (_, error) = read(stream).await;
    assert!(matches!(error, Some(ClaudeError::Died { .. })), "{error:?}");
}

/// The CLI says that the connection is closed, and starts another bridge for the next call.
#[tokio::test]
async fn a_killed_bridge_is_told_to_the_model() {
    let turns = [uses("wait", "lost"), uses("echo", "after it"), Turn::text("Well.")];
    let Some(stage) = Stage::new(turns) else { return };
    let mut stream = stage.model(TRANSPORTS[0]).stream("Wait").unwrap();
    read_until(&mut stream, stage.visits.entered(1)).await;
    let bridges = stage.processes("claudecode_ipc_schema_");
    assert_eq!(bridges.len(), 1);
    kill(bridges[0]);
    let (events, error) = read(stream).await;
    assert!(error.is_none(), "{error:?}");
    assert!(matches!(events.last(), Some(ClaudeEvent::Finished(answer)) if answer.text == "Well."));
    let told = stage.told();
    assert!(told[0].is_error && told[0].text.contains("closed"), "{told:?}");
    assert!(told[1].text.starts_with("after it, says"), "{told:?}");
    stage.visits.cancelled(1).await;
}
