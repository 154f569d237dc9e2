//! The agent asks for permission, and somebody decides.

use std::sync::{Arc, Mutex};

use callgate_claude::{
    ClaudeError, ClaudeEvent, ClaudeOutcome, ClaudeSettings, PermissionDecision, PermissionQuestion,
};
use callgate_testkit::messages::Turn;

use crate::fixture::{Stage, TRANSPORTS, command, read, read_until, runs};

/// What was asked, in order.
type Asked = Arc<Mutex<Vec<PermissionQuestion>>>;

/// Decides by the command that is asked for.
fn decided_by(
    settings: ClaudeSettings,
    decide: fn(&str, &PermissionQuestion) -> PermissionDecision,
) -> (ClaudeSettings, Asked) {
    let asked = Asked::default();
    let kept = Arc::clone(&asked);
    let settings = settings.permission(move |question| {
        let command = question.input["command"].as_str().unwrap_or_default().to_owned();
        let decision = decide(&command, &question);
        kept.lock().unwrap().push(question);
        async { decision }
    });
    (settings, asked)
}

fn edit_or_deny(asked: &str, _: &PermissionQuestion) -> PermissionDecision {
    match asked {
        "touch allowed" => PermissionDecision::allow(),
        "touch typed" => {
            PermissionDecision::Allow { input: Some(command("touch edited")), updates: Vec::new() }
        }
        _ => PermissionDecision::deny("not on a Sunday"),
    }
}

#[tokio::test]
async fn allowed_edited_and_denied() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([
            runs("touch allowed"),
            runs("touch typed"),
            runs("make trouble"),
            Turn::text("Enough."),
        ]) else {
            return;
        };
        let (settings, asked) = decided_by(stage.settings(), edit_or_deny);
        let model = stage.model_with(settings, transport);
        let (events, error) = read(model.stream("Go").unwrap()).await;
        assert!(error.is_none(), "{error:?}");
        let exists = |name: &str| stage.claude.work().join(name).exists();
        assert!(exists("allowed") && exists("edited") && !exists("typed"));
        let told = stage.told();
        assert!(told[2].is_error && told[2].text.contains("not on a Sunday"), "{told:?}");
        let answers = events.iter().filter_map(|event| match event {
            ClaudeEvent::Permission { is_allowed, .. } => Some(*is_allowed),
            _ => None,
        });
        assert_eq!(answers.collect::<Vec<_>>(), [true, true, false]);
        let Some(ClaudeEvent::Finished(answer)) = events.last() else { panic!("{events:?}") };
        assert_eq!(answer.denials.len(), 1, "{answer:?}");
        assert_eq!(answer.denials[0].input, command("make trouble"));
        check_questions(&asked.lock().unwrap(), &told[2].tool_use_id);
    }
}

fn check_questions(asked: &[PermissionQuestion], last: &str) {
    let [first, _, denied] = asked else { panic!("{asked:?}") };
    assert_eq!((first.tool_name.as_str(), &first.input), ("Bash", &command("touch allowed")));
    assert!(!first.suggestions.is_empty(), "{first:?}");
    assert_eq!(denied.tool_use_id.as_deref(), Some(last));
    assert!(denied.reason.as_ref().is_some_and(|reason| !reason.is_empty()), "{denied:?}");
}

#[tokio::test]
async fn what_is_allowed_for_longer_is_not_asked_again() {
    for transport in TRANSPORTS {
        let turns = [runs("touch one"), runs("touch two"), Turn::text("Both.")];
        let Some(stage) = Stage::new(turns) else { return };
        let (settings, asked) = decided_by(stage.settings(), |_, question| {
            let updates = question.suggestions.clone();
            PermissionDecision::Allow { input: None, updates }
        });
        let model = stage.model_with(settings, transport);
        assert_eq!(model.request("Touch both").await.unwrap(), "Both.");
        let exists = |name: &str| stage.claude.work().join(name).exists();
        assert!(exists("one") && exists("two"));
        assert_eq!(asked.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_denial_can_end_the_turn() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([runs("make trouble"), Turn::text("Never said.")]) else {
            return;
        };
        let (settings, _) = decided_by(stage.settings(), |_, _| PermissionDecision::Deny {
            message: "stop it".to_owned(),
            interrupt: true,
        });
        let error = stage.model_with(settings, transport).request("Go").await.unwrap_err();
        let ClaudeError::Unfinished(answer) = error else { panic!("{error}") };
        assert_eq!(answer.outcome, ClaudeOutcome::Interrupted, "{answer:?}");
        assert_eq!(stage.fake.main_requests().len(), 1);
    }
}

/// Nobody's answer never means yes, and the agent does not wait for it for ever.
#[tokio::test]
async fn one_who_panics_denies() {
    let Some(stage) = Stage::new([runs("touch it"), Turn::text("A pity.")]) else { return };
    let (settings, _) = decided_by(stage.settings(), |_, _| panic!("no idea"));
    let model = stage.model_with(settings, TRANSPORTS[0]);
    let (events, error) = read(model.stream("Go").unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    assert!(
        matches!(events.last(), Some(ClaudeEvent::Finished(answer)) if answer.text == "A pity.")
    );
    let told = stage.told();
    assert!(told[0].is_error && told[0].text.contains("has panicked"), "{told:?}");
    assert!(!stage.claude.work().join("it").exists());
}

/// A question that nobody has answered is withdrawn with the turn.
#[tokio::test]
async fn a_question_is_withdrawn() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([runs("touch it"), Turn::text("Never said.")]) else { return };
        let visits = Arc::clone(&stage.visits);
        let settings = stage.settings().permission(move |_| {
            let stay = visits.stay();
            async move {
                stay.await;
                PermissionDecision::allow()
            }
        });
        let mut stream = stage.model_with(settings, transport).stream("Go").unwrap();
        read_until(&mut stream, stage.visits.entered(1)).await;
        stream.interrupt();
        read_until(&mut stream, stage.visits.cancelled(1)).await;
        let (events, error) = read(stream).await;
        assert!(error.is_none(), "{error:?}");
        assert!(matches!(events.last(), Some(ClaudeEvent::Finished(answer)) if answer.is_error()));
        assert!(!events.iter().any(|event| matches!(event, ClaudeEvent::Permission { .. })));
        assert!(!stage.claude.work().join("it").exists());
    }
}
