//! A turn as the API sends it: one JSON message, or server-sent events.

use serde_json::{Map, Value, json};

use super::script::{Block, End, ToolCheck, Turn};
use crate::http;

/// A turn with what is known only when it is asked for.
pub(crate) struct ScriptedAnswer<'a> {
    turn: &'a Turn,
    model: String,
    /// The request's number, which makes every id of the fake unique: clients take two messages
    /// of one id for one message.
    number: usize,
}

impl<'a> ScriptedAnswer<'a> {
    pub(crate) fn new(turn: &'a Turn, model: &str, number: usize) -> Self {
        Self { turn, model: model.to_owned(), number }
    }

    /// Returns the whole message.
    pub(crate) fn message(&self) -> Value {
        let content: Vec<Value> =
            self.turn.blocks.iter().enumerate().map(|(at, block)| self.block(at, block)).collect();
        let mut message = self.empty_message();
        message["content"] = json!(content);
        message["stop_reason"] = json!(self.stop_reason());
        message
    }

    /// Returns the events in order, each as its bytes on the wire.
    pub(crate) fn events(&self) -> Vec<Vec<u8>> {
        let mut events = vec![json!({"type": "message_start", "message": self.empty_message()})];
        for (index, block) in self.turn.blocks.iter().enumerate() {
            events.extend(self.block_events(index, block));
            if self.turn.pings && index == 0 {
                events.insert(2, json!({"type": "ping"}));
            }
        }
        let mut delta = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        if let Some(check) = self.turn.check {
            delta["safeguard_results"] = self.check_results(check);
        }
        events.push(json!({
            "type": "message_delta",
            "delta": delta,
            "usage": {"output_tokens": self.turn.blocks.len() * 5},
        }));
        events.push(json!({"type": "message_stop"}));
        events.iter().map(event).collect()
    }

    /// Returns the results of the service's own check of each tool use.
    fn check_results(&self, check: ToolCheck) -> Value {
        let verdict = match check {
            ToolCheck::Passed => json!({"type": "evaluated", "outcome": "not_flagged"}),
            ToolCheck::Flagged(why) => {
                json!({"type": "evaluated", "outcome": "flagged", "explanation": why})
            }
        };
        let blocks = self.turn.blocks.iter().enumerate().map(|(at, block)| self.block(at, block));
        let ids = blocks.filter_map(|block| Some(block.get("id")?.as_str()?.to_owned()));
        let tool_uses: Map<String, Value> = ids.map(|id| (id, verdict.clone())).collect();
        let status = json!({"type": "available", "tool_uses": tool_uses});
        json!([{"type": "dangerous_tool_use", "status": status}])
    }

    /// Returns the first event, the only one that describes the request.
    pub(crate) fn first_event(&self) -> Vec<u8> {
        event(&json!({"type": "message_start", "message": self.empty_message()}))
    }

    fn empty_message(&self) -> Value {
        json!({
            "id": format!("msg_{:08}", self.number),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": 1,
                "service_tier": "standard",
            },
        })
    }

    fn stop_reason(&self) -> &str {
        let uses_tool = self
            .turn
            .blocks
            .iter()
            .any(|block| matches!(block, Block::Tool { .. } | Block::ToolText { .. }));
        let usual = if uses_tool { "tool_use" } else { "end_turn" };
        self.turn.stop_reason.as_deref().unwrap_or(usual)
    }

    fn block(&self, index: usize, block: &Block) -> Value {
        let own = || format!("toolu_{:04}_{index:02}", self.number);
        match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
            }
            Block::Tool { id, name, input } => {
                let id = id.clone().unwrap_or_else(own);
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
            Block::ToolText { name, .. } => {
                json!({"type": "tool_use", "id": own(), "name": name, "input": {}})
            }
            Block::Raw(value) => value.clone(),
        }
    }

    fn block_events(&self, index: usize, block: &Block) -> Vec<Value> {
        let mut start = self.block(index, block);
        let deltas = self.deltas(block);
        for (field, empty) in [("text", json!("")), ("thinking", json!("")), ("input", json!({}))] {
            if !matches!(block, Block::Raw(_)) && start.get(field).is_some() {
                start[field] = empty;
            }
        }
        if start.get("signature").is_some() && !deltas.is_empty() {
            start["signature"] = json!("");
        }
        let mut events =
            vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
        events.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
        events
    }

    fn deltas(&self, block: &Block) -> Vec<Value> {
        match block {
            Block::Text(text) => {
                let pieces = pieces(text, self.turn.piece).into_iter();
                pieces.map(|piece| json!({"type": "text_delta", "text": piece})).collect()
            }
            Block::Thinking(text) => {
                let pieces = pieces(text, self.turn.piece).into_iter();
                let thoughts =
                    pieces.map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                let signature = json!({"type": "signature_delta", "signature": SIGNATURE});
                thoughts.chain([signature]).collect()
            }
            Block::Tool { input, .. } => self.input_deltas(&input.to_string()),
            Block::ToolText { input, .. } => self.input_deltas(input),
            Block::Raw(_) => Vec::new(),
        }
    }

    fn input_deltas(&self, input: &str) -> Vec<Value> {
        // The service begins with an empty piece.
        let mut all = vec![String::new()];
        all.extend(pieces(input, self.turn.piece));
        let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
        all.into_iter().map(delta).collect()
    }
}

const SIGNATURE: &str = "c2lnbmF0dXJl";

/// Makes the stream of a turn that is to be prepared.
pub(crate) fn prepare(mut turn: Turn) -> Turn {
    if turn.is_prepared {
        let named =
            |block: &Block| !matches!(block, Block::Tool { id: None, .. } | Block::ToolText { .. });
        assert!(turn.blocks.iter().all(named), "a tool use of a prepared turn needs an id");
        assert_eq!(turn.end, End::Whole, "a prepared turn has its end");
        let events = ScriptedAnswer::new(&turn, "", 0).events().split_off(1);
        let mut framed = Vec::new();
        match turn.wire {
            Some(bytes) => events.concat().chunks(bytes).for_each(|c| http::frame(c, &mut framed)),
            None => events.iter().for_each(|event| http::frame(event, &mut framed)),
        }
        turn.framed = Some(framed.into());
    }
    turn
}

/// One event on the wire.
pub(crate) fn event(data: &Value) -> Vec<u8> {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|chunk| chunk.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "reads better at the call")]
    fn check(turn: Turn, expected: Expect) {
        let events = ScriptedAnswer::new(&turn, "some-model", 1).events();
        let text: String = events.iter().map(|event| String::from_utf8_lossy(event)).collect();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let lines: Vec<&str> = lines.filter(|line| !line.contains("message_start")).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn text_in_pieces_with_a_ping() {
        check(
            Turn::text("grüße").pieces(3),
            expect![[r#"
            {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
            {"type":"ping"}
            {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"grü"}}
            {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ße"}}
            {"type":"content_block_stop","index":0}
            {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}
            {"type":"message_stop"}"#]],
        );
    }

    #[test]
    fn a_tool_use_that_the_service_has_flagged() {
        let turn = Turn::new().pings(false).tool_with_id("toolu_1", "Bash", json!({}));
        let events =
            ScriptedAnswer::new(&turn.checked(ToolCheck::Flagged("why")), "some-model", 1).events();
        let event = String::from_utf8_lossy(&events[events.len() - 2]).into_owned();
        let (_, data) = event.split_once("data: ").unwrap();
        expect![[r#"[{"type":"dangerous_tool_use","status":{"type":"available","tool_uses":{"toolu_1":{"type":"evaluated","outcome":"flagged","explanation":"why"}}}}]"#]]
            .assert_eq(&serde_json::from_str::<Value>(data).unwrap()["delta"]["safeguard_results"].to_string());
    }

    #[test]
    fn a_tool_use_after_a_thought() {
        check(
            Turn::new().pings(false).thinking("hm").tool("Bash", json!({"command": "ls"})),
            expect![[r#"
                {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
                {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}
                {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmF0dXJl"}}
                {"type":"content_block_stop","index":0}
                {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_0001_01","name":"Bash","input":{}}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\""}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"ls\"}"}}
                {"type":"content_block_stop","index":1}
                {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":10}}
                {"type":"message_stop"}"#]],
        );
    }

    #[test]
    fn an_unknown_block_and_a_chosen_stop_reason() {
        check(
            Turn::new().pings(false).raw(json!({"type": "new", "x": 1})).stop_reason("max_tokens"),
            expect![[r#"
                {"type":"content_block_start","index":0,"content_block":{"type":"new","x":1}}
                {"type":"content_block_stop","index":0}
                {"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":5}}
                {"type":"message_stop"}"#]],
        );
    }

    #[test]
    fn the_whole_message() {
        let turn = Turn::text("hi").tool_with_id("toolu_x", "Bash", json!({}));
        let message = ScriptedAnswer::new(&turn, "some-model", 7).message();
        assert_eq!(message["id"], "msg_00000007");
        assert_eq!(message["stop_reason"], "tool_use");
        assert_eq!(message["content"][1]["id"], "toolu_x");
    }
}
