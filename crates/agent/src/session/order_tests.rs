//! What may be said about requests.

use callgate_wire::session::{ToolResult, ToolUse};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

fn tool_use(id: &str) -> Event {
    let input = RawValue::NULL.to_owned();
    Event::ToolUse(ToolUse { tool_id: id.to_owned(), tool_name: String::new(), input })
}

fn tool_result(id: &str) -> Event {
    let result = RawValue::NULL.to_owned();
    let (tool_id, tool_name) = (id.to_owned(), String::new());
    Event::ToolResult(ToolResult { tool_id, tool_name, result, is_error: None })
}

#[test]
fn an_id_may_be_used_again_only_after_its_end() {
    let mut order = Order::default();
    assert_eq!(order.begin("a"), Ok(()));
    assert_eq!(order.begin("a"), Err(Refused::Duplicate));
    assert!(order.admits("a", &Event::Done(None)));
    assert_eq!(order.begin("a"), Ok(()));
}

#[test]
fn only_so_many_are_open() {
    let mut order = Order::default();
    for count in 0..MOST_OPEN {
        assert_eq!(order.begin(&count.to_string()), Ok(()));
    }
    assert_eq!(order.begin("more"), Err(Refused::TooMany));
    assert_eq!(order.unfinished().len(), MOST_OPEN);
}

proptest! {
    /// Whatever is said in whatever order: of what is admitted, each request has at most one end,
    /// nothing follows it, and every result has its announcement before it.
    #[test]
    fn what_is_admitted_is_in_order(said in prop::collection::vec((0..3_u8, 0..5_u8, 0..2_u8), 0..60)) {
        let mut order = Order::default();
        for id in 0..3 {
            order.begin(&id.to_string()).unwrap();
        }
        let mut ended = HashSet::new();
        let mut announced = HashSet::new();
        for (id, what, tool) in said {
            let name = tool.to_string();
            let event = match what {
                0 => Event::Token("x".to_owned()),
                1 => tool_use(&name),
                2 => tool_result(&name),
                3 => Event::error("no"),
                _ => Event::Done(None),
            };
            if !order.admits(&id.to_string(), &event) {
                continue;
            }
            prop_assert!(!ended.contains(&id), "something after the end of {id}");
            match event {
                Event::ToolUse(_) => prop_assert!(announced.insert((id, tool))),
                Event::ToolResult(_) => prop_assert!(announced.remove(&(id, tool))),
                event if event.is_end() => prop_assert!(ended.insert(id)),
                _ => {}
            }
        }
        prop_assert_eq!(order.unfinished().len(), 3 - ended.len());
    }
}
