//! The CLI's results, and the answers they become.

use expect_test::expect;

use super::*;

fn read(result: &str) -> ClaudeAnswer {
    ClaudeAnswer::from_message(&Members::from_text(result).expect("JSON"))
}

#[test]
fn an_answer() {
    let answer = read(
        r#"{"type":"result","subtype":"success","is_error":false,"result":"done","structured_output":{"a":1},"total_cost_usd":0.25,"usage":{"input_tokens":7,"output_tokens":5,"service_tier":"standard"},"modelUsage":{"m":{"inputTokens":9,"outputTokens":6,"costUSD":0.25,"contextWindow":200000,"new":1}},"num_turns":3,"duration_ms":1500,"duration_api_ms":250,"session_id":"s","stop_reason":"end_turn","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}}]}"#,
    );
    expect![[r#"
        ClaudeAnswer {
            text: "done",
            structured: Some(
                Object {
                    "a": Number(1),
                },
            ),
            cost_usd: Some(
                0.25,
            ),
            call_cost_usd: None,
            usage: ClaudeUsage {
                input_tokens: 7,
                output_tokens: 5,
                cache_creation_input_tokens: 0,
                cache_read_input_tokens: 0,
            },
            model_usage: {
                "m": ModelUsage {
                    input_tokens: 9,
                    output_tokens: 6,
                    cache_creation_input_tokens: 0,
                    cache_read_input_tokens: 0,
                    web_search_requests: 0,
                    cost_usd: 0.25,
                    context_window: 200000,
                },
            },
            turns: 3,
            duration: 1.5s,
            api_duration: 250ms,
            session_id: "s",
            stop_reason: Some(
                "end_turn",
            ),
            service_status: None,
            denials: [
                ToolDenial {
                    tool_name: "Bash",
                    tool_use_id: "t1",
                    input: Object {
                        "command": String("ls"),
                    },
                },
            ],
            outcome: Success,
        }
    "#]]
    .assert_debug_eq(&answer);
}

#[test]
fn an_end_without_an_answer_says_why() {
    for (subtype, more, expected) in [
        ("error_during_execution", "", ClaudeOutcome::ExecutionError),
        (
            "error_during_execution",
            r#","terminal_reason":"aborted_tools""#,
            ClaudeOutcome::Interrupted,
        ),
        ("error_max_turns", "", ClaudeOutcome::MaxTurns),
        ("error_max_budget_usd", "", ClaudeOutcome::MaxBudget),
        ("error_max_structured_output_retries", "", ClaudeOutcome::NoStructuredOutput),
        ("success", "", ClaudeOutcome::ServiceError),
        ("error_new", "", ClaudeOutcome::Other("error_new".to_owned())),
    ] {
        let answer = read(&format!(
            r#"{{"type":"result","subtype":"{subtype}","is_error":true,"result":null,"errors":["one","two"]{more}}}"#
        ));
        assert_eq!((answer.text.as_str(), &answer.outcome), ("one; two", &expected));
        assert!(answer.is_error());
    }
}

#[test]
fn answers_of_one_call_are_one() {
    let earlier = read(
        r#"{"type":"result","subtype":"success","result":"Wait.","num_turns":2,"total_cost_usd":1.5,"usage":{"input_tokens":3,"cache_read_input_tokens":4},"structured_output":{"a":1},"permission_denials":[{"tool_name":"A","tool_use_id":"1","tool_input":{}}]}"#,
    );
    let later = read(
        r#"{"type":"result","subtype":"success","result":"All.","num_turns":1,"total_cost_usd":2.5,"usage":{"input_tokens":4,"output_tokens":1},"permission_denials":[{"tool_name":"B","tool_use_id":"2","tool_input":{}}]}"#,
    );
    let both = later.merge_earlier(earlier);
    assert_eq!((both.text.as_str(), both.turns, both.cost_usd), ("All.", 3, Some(2.5)));
    assert_eq!(both.structured, Some(serde_json::json!({"a": 1})));
    let usage = both.usage;
    let counted = (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens);
    assert_eq!(counted, (7, 1, 4));
    let denied: Vec<&str> = both.denials.iter().map(|denial| denial.tool_name.as_str()).collect();
    assert_eq!(denied, ["A", "B"]);
}
