//! The model in programs without tokio.

use callgate_claude::{ClaudeEvent, ModelRequest, blocking};
use callgate_testkit::messages::Turn;

use crate::fixture::{Stage, TRANSPORTS, uses};

#[test]
fn a_request_needs_no_runtime() {
    for transport in TRANSPORTS {
        let turns = [uses("echo", "one"), Turn::text("First."), Turn::text("Second.")];
        let Some(stage) = Stage::new(turns) else { return };
        let model = stage.model(transport);
        let first = blocking::request_with_metadata(&model, "Go").unwrap();
        assert_eq!((first.text.as_str(), first.turns), ("First.", 2));
        let ask = ModelRequest::new("On").resume(first.session_id);
        assert_eq!(blocking::request(&model, ask).unwrap(), "Second.");
        assert!(stage.told()[0].text.starts_with("one, says process"));
        stage.fake.assert_played();
    }
}

#[test]
fn a_stream_is_an_iterator() {
    for transport in TRANSPORTS {
        let turns = [uses("echo", "one"), uses("wait", "in vain"), Turn::text("Never said.")];
        let Some(stage) = Stage::new(turns) else { return };
        let mut events = blocking::stream(&stage.model(transport), "Go").unwrap();
        let is_call = |event: &ClaudeEvent| matches!(event, ClaudeEvent::ToolUse(tool) if tool.name.ends_with("wait"));
        assert!(events.by_ref().any(|event| is_call(&event.unwrap())));
        events.interrupt();
        let rest: Vec<ClaudeEvent> = events.map(Result::unwrap).collect();
        assert!(
            matches!(rest.last(), Some(ClaudeEvent::Finished(answer)) if answer.is_error()),
            "{rest:?}"
        );
    }
}

#[test]
fn a_dropped_iterator_takes_everything_along() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([uses("wait", "in vain")]) else { return };
        let mut events = blocking::stream(&stage.model(transport), "Go").unwrap();
        assert!(events.by_ref().any(|event| matches!(event.unwrap(), ClaudeEvent::ToolUse(_))));
        drop(events);
        assert_eq!(std::fs::read_dir(stage.folder.path()).unwrap().count(), 0);
    }
}
