//! Events of the CLI as pieces.

use callgate_claude::{ClaudeToolResult, ClaudeToolUse};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

fn read(reader: &mut EventReader, events: impl IntoIterator<Item = ClaudeEvent>) -> Vec<String> {
    let mut pieces = Vec::new();
    for event in events {
        reader.handle_event(event, &mut pieces).unwrap();
    }
    pieces
        .iter()
        .map(|piece| match piece {
            AnswerPiece::OwnCall { id, name, input } => format!("call {id} {name} {input}"),
            AnswerPiece::OwnResult { id, outcome } => {
                format!("result {id} {} {} {}", outcome.is_error, outcome.text, outcome.result)
            }
            piece => format!("{piece:?}"),
        })
        .collect()
}

fn call(id: &str, name: &str) -> ClaudeEvent {
    let input = to_raw_value(&json!({"a": 1})).unwrap();
    ClaudeEvent::ToolUse(ClaudeToolUse { id: id.to_owned(), name: name.to_owned(), input })
}

fn result(id: &str, text: &str, is_error: bool) -> ClaudeEvent {
    let (id, content) = (id.to_owned(), json!(text));
    ClaudeEvent::ToolResult(ClaudeToolResult { id, is_error, content, details: None })
}

#[test]
fn what_came_in_pieces_is_not_repeated_as_a_whole() {
    let partial = |text: &str| ClaudeEvent::Partial(PartialContent::Text(text.to_owned()));
    let thought = |text: &str| ClaudeEvent::Partial(PartialContent::Thinking(text.to_owned()));
    let text = |text: &str| ClaudeEvent::Text(text.to_owned());
    let told = read(
        &mut EventReader::default(),
        [
            thought("h"),
            thought("m"),
            ClaudeEvent::Thinking("hm".to_owned()),
            partial("Hel"),
            partial("lo"),
            text("Hello"),
            text("Whole."),
            text(""),
        ],
    );
    let expected =
        ["Thinking(\"h\")", "Thinking(\"m\")", "Text(\"Hel\")", "Text(\"lo\")", "Text(\"Whole.\")"];
    assert_eq!(told, expected);
}

#[test]
fn tools_are_told_with_the_names_and_the_results_that_the_runtime_knows() {
    let mut reader = EventReader::default();
    let kept = CallOutcome::done(&json!({"entries": []}), "empty");
    lock(&reader.ran).insert("1".to_owned(), kept);
    let told = read(
        &mut reader,
        [
            call("1", "mcp__callgate__list_files"),
            result("1", "what the CLI made of it", false),
            ClaudeEvent::Subagent { parent: "0".to_owned(), event: Box::new(call("2", "Bash")) },
            result("2", "no", true),
            ClaudeEvent::Subagent {
                parent: "0".to_owned(),
                event: Box::new(ClaudeEvent::Text("aside".to_owned())),
            },
            result("3", "yes", false),
        ],
    );
    let expected = [
        "call 1 list_files {\"a\":1}",
        "result 1 false empty {\"entries\":[]}",
        "call 2 Bash {\"a\":1}",
        "result 2 true no {\"error\":\"no\"}",
        "result 3 false yes {\"content\":\"yes\"}",
    ];
    assert_eq!(told, expected);
}

#[test]
fn the_input_of_tools_is_given_in_pieces_if_it_is_wanted() {
    let events = || {
        let begin = |id: &str, name: &str| PartialContent::ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
        };
        let input = |text: &str| PartialContent::Input(text.to_owned());
        let all = [
            begin("1", "mcp__callgate__list_files"),
            input(""),
            input("{\"a\""),
            input(":1}"),
            begin("2", "Bash"),
            input("{}"),
        ];
        all.map(ClaudeEvent::Partial)
    };
    let mut reader = EventReader { streams_input: true, ..EventReader::default() };
    let expected = [
        r#"ToolInput { id: "1", name: "list_files", text: "{\"a\"" }"#,
        r#"ToolInput { id: "1", name: "list_files", text: ":1}" }"#,
        r#"ToolInput { id: "2", name: "Bash", text: "{}" }"#,
    ];
    assert_eq!(read(&mut reader, events()), expected);
    assert!(read(&mut EventReader::default(), events()).is_empty());
}

#[test]
fn tokens_are_counted_by_responses() {
    let mut reader = EventReader::default();
    // Returns the input and output of the latest response, and of all.
    let mut counts = |[input, cached, output]: [u64; 3], is_first: bool| {
        let mut usage = ClaudeUsage::default();
        (usage.input_tokens, usage.output_tokens) = (input, output);
        usage.cache_read_input_tokens = cached;
        let event = ClaudeEvent::Partial(PartialContent::Tokens { usage, is_first });
        let mut pieces = Vec::new();
        reader.handle_event(event, &mut pieces).unwrap();
        match pieces[..] {
            [AnswerPiece::LatestResponse(latest), AnswerPiece::Usage(all)] => {
                [latest, all].map(|usage| (usage.all_input(), usage.output))
            }
            ref pieces => panic!("{pieces:?}"),
        }
    };
    assert_eq!(counts([3, 20, 1], true), [(23, 1), (23, 1)]);
    assert_eq!(counts([0, 0, 5], false), [(23, 5), (23, 5)]);
    assert_eq!(counts([4, 23, 1], true), [(27, 1), (50, 6)]);
    // A tool of the service has been read within the response.
    assert_eq!(counts([9, 23, 2], false), [(32, 2), (55, 7)]);
}

#[test]
fn a_session_is_kept_with_what_it_has_cost() {
    for state in ["1234-abcd", "1234-abcd 0.0204", "1234-abcd 0"] {
        assert_eq!(ResumedSession::from_state(state).to_state(), state);
    }
    assert_eq!(
        ResumedSession::from_state("s 0.5"),
        ResumedSession { id: "s".into(), cost: Some(0.5) }
    );
    // Of a session of an older version it is not known.
    assert_eq!(ResumedSession::from_state("s").cost, None);
}
