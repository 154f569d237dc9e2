//! A tool call of the fake CLI: hooks, permission, the tool itself.

use callgate_link::sync::lock;
use serde_json::{Value, json};

use super::FakeToolResult;
use super::session::{FakeSession, TurnStop, string_or_empty};
use crate::fields::content_text;

/// The verdict on a tool call.
enum FakeVerdict {
    Allowed(Value),
    Denied { reason: String, interrupt: bool },
}

impl FakeSession {
    pub(super) async fn use_tool(
        &mut self,
        name: String,
        input: Value,
        result: String,
    ) -> Result<(), TurnStop> {
        self.uses += 1;
        let id = format!("toolu_{:04}", self.uses);
        self.send_block(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
            .await?;
        let (text, is_error) = match self.judge_tool_use(&name, &id, input).await? {
            FakeVerdict::Denied { reason, interrupt } => {
                if interrupt {
                    return Err(TurnStop::Interrupted);
                }
                (json!(reason), true)
            }
            FakeVerdict::Allowed(input) => self.run_tool(&name, &id, &input, result).await?,
        };
        let result = FakeToolResult { tool_name: name, text: content_text(&text), is_error };
        lock(&self.fake.state).results.push(result);
        let block = json!({
            "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error,
        });
        let message = json!({"role": "user", "content": [block]});
        Ok(self.send(&json!({"type": "user", "message": message})).await?)
    }

    /// Runs the hooks, then the rules, and then asks for permission.
    async fn judge_tool_use(
        &mut self,
        name: &str,
        id: &str,
        mut input: Value,
    ) -> Result<FakeVerdict, TurnStop> {
        let mut verdict = None;
        for output in self.call_hooks("PreToolUse", name, id, json!({"tool_input": input})).await? {
            let specific = &output["hookSpecificOutput"];
            if let Some(edited) = specific.get("updatedInput") {
                input = edited.clone();
            }
            if let Some(decision) = specific["permissionDecision"].as_str() {
                verdict = Some(decision.to_owned());
            }
            if verdict.as_deref() == Some("deny") {
                let reason = string_or_empty(&specific["permissionDecisionReason"]);
                return Ok(self.deny_tool_use(name, id, &input, reason, false));
            }
        }
        if self.setup.denied.iter().any(|rule| rule == name) {
            let reason = format!("{name} is denied by a rule");
            return Ok(self.deny_tool_use(name, id, &input, reason, false));
        }
        let own = format!("mcp__{}__", self.setup.server);
        let is_ruled = name.starts_with(&own) || self.setup.allowed.iter().any(|rule| rule == name);
        if verdict.as_deref() == Some("allow") || (verdict.is_none() && is_ruled) {
            return Ok(FakeVerdict::Allowed(input));
        }
        let question = json!({
            "subtype": "can_use_tool", "tool_name": name, "input": input, "tool_use_id": id,
        });
        Ok(match self.ask_driver(question).await? {
            Ok(answer) if answer["behavior"] == "allow" => {
                FakeVerdict::Allowed(answer.get("updatedInput").cloned().unwrap_or(input))
            }
            Ok(answer) => {
                let interrupt = answer["interrupt"] == true;
                self.deny_tool_use(name, id, &input, string_or_empty(&answer["message"]), interrupt)
            }
            Err(reason) => self.deny_tool_use(name, id, &input, reason, false),
        })
    }

    fn deny_tool_use(
        &mut self,
        name: &str,
        id: &str,
        input: &Value,
        reason: String,
        interrupt: bool,
    ) -> FakeVerdict {
        self.denials.push(json!({"tool_name": name, "tool_use_id": id, "tool_input": input}));
        FakeVerdict::Denied { reason, interrupt }
    }

    async fn run_tool(
        &mut self,
        name: &str,
        id: &str,
        input: &Value,
        result: String,
    ) -> Result<(Value, bool), TurnStop> {
        let own = name.strip_prefix(&format!("mcp__{}__", self.setup.server)).map(str::to_owned);
        let (content, is_error) = match own {
            None => (json!(result), false),
            Some(tool) => {
                let params = json!({"name": tool, "arguments": input});
                let answer = self.call_server("tools/call", params).await?;
                let result = &answer["result"];
                match answer["error"]["message"].as_str() {
                    Some(message) => (json!(message), true),
                    None => (result["content"].clone(), result["isError"] == true),
                }
            }
        };
        let event = if is_error { "PostToolUseFailure" } else { "PostToolUse" };
        let more = json!({"tool_input": input, "tool_response": content});
        self.call_hooks(event, name, id, more).await?;
        Ok((content, is_error))
    }

    pub(super) async fn call_server(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Value, TurnStop> {
        let id = self.requests;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let request =
            json!({"subtype": "mcp_message", "server_name": self.setup.server, "message": message});
        Ok(match self.ask_driver(request).await? {
            Ok(mut answer) => answer["mcp_response"].take(),
            Err(reason) => json!({"error": {"message": reason}}),
        })
    }

    async fn call_hooks(
        &mut self,
        event: &str,
        tool: &str,
        id: &str,
        more: Value,
    ) -> Result<Vec<Value>, TurnStop> {
        let mut input = json!({
            "hook_event_name": event, "session_id": self.session_id, "tool_name": tool,
        });
        if let (Value::Object(input), Value::Object(more)) = (&mut input, more) {
            input.extend(more);
        }
        let mut outputs = Vec::new();
        for callback in matching_callbacks(&self.hooks[event], tool) {
            let request = json!({
                "subtype": "hook_callback", "callback_id": callback, "input": input,
                "tool_use_id": id,
            });
            outputs.push(self.ask_driver(request).await?.unwrap_or_default());
        }
        Ok(outputs)
    }
}

/// Returns the ids of the hooks whose matcher is the tool's name, one of several names, or `*`.
fn matching_callbacks(entries: &Value, tool: &str) -> Vec<Value> {
    let matches = |entry: &&Value| match entry["matcher"].as_str() {
        None | Some("" | "*") => true,
        Some(names) => names.split('|').any(|name| name == tool),
    };
    let entries = entries.as_array().into_iter().flatten().filter(matches);
    entries.filter_map(|entry| entry["hookCallbackIds"].as_array()).flatten().cloned().collect()
}
