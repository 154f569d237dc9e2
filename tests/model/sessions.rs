//! Conversations that continue, and turns that are stopped.

use callgate_claude::{ClaudeEvent, ClaudeOutcome, ModelRequest};
use callgate_testkit::messages::Turn;

use crate::fixture::{Stage, TRANSPORTS, read, read_until, uses};

#[tokio::test]
async fn a_conversation_is_resumed_or_forked() {
    for transport in TRANSPORTS {
        let turns = ["One.", "Two.", "Three.", "Four."].map(Turn::text);
        let Some(stage) = Stage::new(turns) else { return };
        let model = stage.model(transport);
        let ask = |prompt: &str| ModelRequest::new(prompt);
        let first = model.request_with_metadata(ask("first question")).await.unwrap();
        assert!(!stage.sent().contains("second question"));
        let id = &first.session_id;
        let second = model.request_with_metadata(ask("second question").resume(id)).await.unwrap();
        assert_eq!((second.text.as_str(), &second.session_id), ("Two.", id));
        let said = |text: &str| stage.sent().contains(text);
        assert!(said("first question") && said("One.") && said("second question"));
        let fork = ask("third question").resume(id).fork();
        let third = model.request_with_metadata(fork).await.unwrap();
        assert_ne!(&third.session_id, id);
        assert!(said("first question") && said("second question") && said("third question"));
        // The fork has left the conversation as it was.
        model.request(ask("fourth question").resume(id)).await.unwrap();
        assert!(said("second question") && !said("third question"));
        stage.fake.assert_played();
    }
}

/// Whoever has the answer may stop listening, and the conversation is kept all the same.
#[tokio::test]
async fn a_conversation_is_kept_by_one_who_leaves_early() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new(["One.", "Two."].map(Turn::text)) else { return };
        let model = stage.model(transport);
        let mut stream = model.stream("first question").unwrap();
        let answer = loop {
            if let ClaudeEvent::Finished(answer) = stream.next().await.unwrap().unwrap() {
                break answer;
            }
        };
        drop(stream);
        let second = ModelRequest::new("second question").resume(answer.session_id);
        assert_eq!(model.request(second).await.unwrap(), "Two.");
        let said = |text: &str| stage.sent().contains(text);
        assert!(said("first question") && said("One.") && said("second question"));
    }
}

#[tokio::test]
async fn a_conversation_that_is_not_there_is_an_error() {
    let Some(stage) = Stage::new([]) else { return };
    let ask = ModelRequest::new("Still there?").resume("00000000-0000-4000-8000-000000000000");
    let error = stage.model(TRANSPORTS[1]).request(ask).await.unwrap_err();
    assert!(error.to_string().contains("No conversation found"), "{error}");
}

#[tokio::test]
async fn an_interrupt_cancels_the_tool_and_ends_the_turn() {
    for transport in TRANSPORTS {
        let turns = [uses("wait", "in vain"), Turn::text("Never said.")];
        let Some(stage) = Stage::new(turns) else { return };
        let mut stream = stage.model(transport).stream("Wait").unwrap();
        read_until(&mut stream, stage.visits.entered(1)).await;
        stream.interrupt();
        let (events, error) = read(stream).await;
        assert!(error.is_none(), "{error:?}");
        let Some(ClaudeEvent::Finished(answer)) = events.last() else { panic!("{events:?}") };
        assert_eq!(answer.outcome, ClaudeOutcome::Interrupted, "{answer:?}");
        stage.visits.cancelled(1).await;
        // The CLI says something in the user's name, which the model has not said.
        assert!(!events.iter().any(|event| matches!(event, ClaudeEvent::Text(_))), "{events:?}");
        assert_eq!(stage.fake.main_requests().len(), 1);
    }
}
