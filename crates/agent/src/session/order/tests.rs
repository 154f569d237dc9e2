//! What may be said about requests.

use callgate_wire::session::{PermissionResolved, ToolResult, ToolUse, UserMessage};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

fn tool_use(id: &str) -> SessionEvent {
    let input = RawValue::NULL.to_owned();
    let (tool_id, tool_name) = (id.to_owned(), String::new());
    SessionEvent::ToolUse(ToolUse::new(tool_id, tool_name, input))
}

/// Returns a request that comes at this time.
fn opened(command: &SessionCommand, since: u64) -> RequestDetails {
    RequestDetails::new(command, since, since + 1)
}

fn status() -> RequestDetails {
    opened(&SessionCommand::GetStatus, 1)
}

fn asked(question: &str) -> SessionEvent {
    SessionEvent::PermissionRequest(PermissionRequest {
        question: question.to_owned(),
        tool_id: "t".to_owned(),
        tool_name: "write_file".to_owned(),
        input: RawValue::NULL.to_owned(),
        title: "a.txt".to_owned(),
        reason: None,
        can_allow_always: Some(true),
        deadline: Some(9),
        diff: None,
        card: None,
    })
}

fn resolved(question: &str) -> SessionEvent {
    let (question, text) = (question.to_owned(), String::new());
    SessionEvent::PermissionResolved(PermissionResolved {
        question,
        decision: "deny".to_owned(),
        text,
    })
}

fn tool_result(id: &str) -> SessionEvent {
    let result = RawValue::NULL.to_owned();
    let (tool_id, tool_name) = (id.to_owned(), String::new());
    SessionEvent::ToolResult(ToolResult { tool_id, tool_name, result, is_error: None })
}

#[test]
fn an_id_may_be_used_again_only_after_its_end() {
    let mut order = RequestOrder::default();
    assert_eq!(order.open_request("a", status()), Ok(()));
    assert_eq!(order.open_request("a", status()), Err(RequestRefusal::Duplicate));
    assert!(order.admits("a", &SessionEvent::Done(None), 1));
    assert_eq!(order.open_request("a", status()), Ok(()));
}

#[test]
fn only_so_many_are_open() {
    let mut order = RequestOrder::default();
    for count in 0..MOST_OPEN {
        assert_eq!(order.open_request(&count.to_string(), status()), Ok(()));
    }
    assert_eq!(order.open_request("more", status()), Err(RequestRefusal::TooMany));
    assert_eq!(order.open_ids().len(), MOST_OPEN);
}

#[test]
fn what_is_open_is_known_to_its_end() {
    let mut order = RequestOrder::default();
    let say = |message: &str| SessionCommand::UserMessage(UserMessage::new(message));
    order.open_request("b", opened(&say("second"), 7)).unwrap();
    order.open_request("a", opened(&say(&"x".repeat(20_000)), 5)).unwrap();
    order.open_request("s", opened(&SessionCommand::GetStatus, 9)).unwrap();
    order.place_request("a", "conv", false);
    order.place_request("b", "conv", true);
    assert!(order.admits("a", &asked("late"), 12));
    assert!(order.admits("a", &asked("early"), 11));
    assert!(order.admits("b", &asked("other"), 10));

    let requests = order.requests("s");
    let shown: Vec<_> = requests
        .iter()
        .map(|one| {
            (one.id.as_str(), one.kind.as_str(), one.state.as_str(), one.since, one.from_seq)
        })
        .collect();
    assert_eq!(
        shown,
        [("a", "user_message", "working", 5, 6), ("b", "user_message", "queued", 7, 8)]
    );
    assert_eq!(requests[0].conversation_id.as_deref(), Some("conv"));
    let long = requests[0].message.as_deref().unwrap();
    assert_eq!((long.chars().count(), long.ends_with('…')), (LONGEST_MESSAGE + 1, true));
    assert_eq!(requests[1].message.as_deref(), Some("second"));
    assert_eq!(order.requests("a").len(), 2);

    let names = |order: &RequestOrder| -> Vec<String> {
        order
            .questions()
            .into_iter()
            .map(|one| format!("{}:{}", one.id, one.data.question))
            .collect()
    };
    assert_eq!(names(&order), ["b:other", "a:early", "a:late"]);
    assert!(order.admits("a", &resolved("early"), 13));
    assert_eq!(names(&order), ["b:other", "a:late"]);
    assert!(order.admits("a", &SessionEvent::Done(None), 14));
    assert_eq!(names(&order), ["b:other"]);
    assert_eq!(order.requests("s").len(), 1);
    assert_eq!((order.kind("b"), order.kind("a")), (Some("user_message"), None));
}

proptest! {
    /// Whatever is said in whatever order: of what is admitted, each request has at most one end,
    /// nothing follows it, and every result has its announcement before it.
    #[test]
    fn what_is_admitted_is_in_order(said in prop::collection::vec((0..3_u8, 0..5_u8, 0..2_u8), 0..60)) {
        let mut order = RequestOrder::default();
        for id in 0..3 {
            order.open_request(&id.to_string(), status()).unwrap();
        }
        let mut ended = HashSet::new();
        let mut announced = HashSet::new();
        for (id, what, tool) in said {
            let name = tool.to_string();
            let event = match what {
                0 => SessionEvent::Token("x".to_owned()),
                1 => tool_use(&name),
                2 => tool_result(&name),
                3 => SessionEvent::error("no"),
                _ => SessionEvent::Done(None),
            };
            if !order.admits(&id.to_string(), &event, 1) {
                continue;
            }
            prop_assert!(!ended.contains(&id), "something after the end of {id}");
            match event {
                SessionEvent::ToolUse(_) => prop_assert!(announced.insert((id, tool))),
                SessionEvent::ToolResult(_) => prop_assert!(announced.remove(&(id, tool))),
                event if event.is_end() => prop_assert!(ended.insert(id)),
                _ => {}
            }
        }
        prop_assert_eq!(order.open_ids().len(), 3 - ended.len());
    }
}
