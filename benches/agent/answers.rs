//! The answers of the service: whole HTTP responses, composed before anything is measured.

use serde_json::{Value, json};

/// The number of tokens of a long answer.
pub(crate) const TOKENS: usize = 20_000;

/// Words of a long answer, each a token.
const WORDS: [&str; 10] =
    ["The", " quick", " brown", " fox", " jumps", " over", " the", " lazy", " dog", ".\n"];

/// The head of every streamed answer.
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
    cache-control: no-cache\r\nrequest-id: req_1\r\ntransfer-encoding: chunked\r\n\r\n";

/// One answer as it is sent, with each event in a chunk of its own, as the real service sends it.
pub(crate) struct Answer {
    /// Everything up to the first piece of the answer.
    pub(crate) first: Vec<u8>,
    /// Everything after.
    pub(crate) rest: Vec<u8>,
}

/// Returns an answer of a few words.
pub(crate) fn short() -> Answer {
    text(WORDS.len()).at_once()
}

/// Returns the same, with a pause after its first word.
pub(crate) fn slow() -> Answer {
    text(WORDS.len())
}

/// Returns an answer that arrives as fast as it can be read.
pub(crate) fn long() -> Answer {
    text(TOKENS).at_once()
}

/// Returns a call of the tool that both runtimes have.
pub(crate) fn tool() -> Answer {
    let start = json!({"type": "tool_use", "id": "toolu_1", "name": "list_files", "input": {}});
    let pieces = ["", "{\"path\": ", "\".\"}"];
    let deltas = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
    answer(&start, &deltas, "tool_use").at_once()
}

fn text(tokens: usize) -> Answer {
    let delta = |word: &&str| json!({"type": "text_delta", "text": word});
    let deltas: Vec<Value> = WORDS.iter().cycle().take(tokens).map(delta).collect();
    answer(&json!({"type": "text", "text": ""}), &deltas, "end_turn")
}

fn answer(start: &Value, deltas: &[Value], stop: &str) -> Answer {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(1),
    });
    let delta = |delta| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let begin = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "ping"}),
    ];
    let end = [
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": usage(deltas.len()),
        }),
        json!({"type": "message_stop"}),
    ];
    let (one, others) = deltas.split_at(1);
    let first = begin.into_iter().chain(one.iter().map(delta)).flat_map(|event| chunk(&event));
    let rest = others.iter().map(delta).chain(end).flat_map(|event| chunk(&event));
    Answer { first: HEAD.bytes().chain(first).collect(), rest: rest.chain(*b"0\r\n\r\n").collect() }
}

impl Answer {
    /// Returns the same without a pause.
    fn at_once(mut self) -> Self {
        self.first.append(&mut self.rest);
        self
    }
}

fn usage(output: usize) -> Value {
    json!({"input_tokens": 10, "output_tokens": output})
}

/// Returns one event as one chunk.
fn chunk(data: &Value) -> Vec<u8> {
    let event = format!("event: {}\ndata: {data}\n\n", data["type"].as_str().expect("a name"));
    format!("{:x}\r\n{event}\r\n", event.len()).into_bytes()
}
