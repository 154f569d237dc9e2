//! Answers in the forms of the services.

use serde_json::{Value, json};

use super::ChatReply;

pub(super) fn chat_events(reply: &ChatReply, number: usize, usage: bool) -> Vec<String> {
    let (delta, reason) = match reply {
        ChatReply::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        ChatReply::Call(..) | ChatReply::Calls(_) => {
            let call = |(index, (name, arguments)): (usize, (&str, &Value))| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                let id = if index == 0 {
                    format!("call_{number}")
                } else {
                    format!("call_{number}_{index}")
                };
                json!({ "index": index, "id": id, "type": "function", "function": function })
            };
            let calls: Vec<Value> = reply.calls().into_iter().enumerate().map(call).collect();
            (json!({ "role": "assistant", "tool_calls": calls }), "tool_calls")
        }
        ChatReply::Raw(events) => return events.clone(),
        ChatReply::Refuse(..) => return Vec::new(),
    };
    let chunk = |delta: &Value, reason: Value| {
        json!({
            "id": format!("chat_{number}"), "object": "chat.completion.chunk", "created": 1,
            "model": "fake-model",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }],
        })
    };
    let mut events = vec![chunk(&delta, Value::Null), chunk(&json!({}), json!(reason))];
    let spent = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    if usage {
        // A chunk of its own, without choices.
        let mut last = chunk(&json!({}), Value::Null);
        (last["choices"], last["usage"]) = (json!([]), spent);
        events.push(last);
    } else {
        events[1]["usage"] = spent;
    }
    let events = events.iter().map(Value::to_string);
    events.chain(["[DONE]".to_owned()]).collect()
}

/// Returns the answer to a request without a stream, which says the same as these events.
pub(super) fn whole_completion(events: &[String]) -> Value {
    let [begun, ended] = [0, 1].map(|at| serde_json::from_str::<Value>(&events[at]).unwrap());
    let mut message = begun["choices"][0]["delta"].clone();
    for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
        call.as_object_mut().unwrap().remove("index");
    }
    let reason = &ended["choices"][0]["finish_reason"];
    json!({
        "id": begun["id"], "object": "chat.completion", "created": 1, "model": "fake-model",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": ended["usage"],
    })
}

pub(super) fn gemini_event(reply: &ChatReply) -> String {
    let parts = match reply {
        ChatReply::Text(text) => vec![json!({ "text": text })],
        ChatReply::Call(..) | ChatReply::Calls(_) => {
            let call =
                |(name, arguments)| json!({ "functionCall": { "name": name, "args": arguments } });
            reply.calls().into_iter().map(call).collect()
        }
        ChatReply::Raw(events) => return events.concat(),
        ChatReply::Refuse(..) => return String::new(),
    };
    let candidate = json!({
        "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0,
    });
    let usage = json!({ "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 });
    json!({ "candidates": [candidate], "usageMetadata": usage }).to_string()
}
