//! One run of the fake CLI.

use std::collections::VecDeque;
use std::io;

use callgate_link::sync::lock;
use callgate_link::tokio::fill_lines;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream};
use uuid::Uuid;

use super::{FakeCli, FakeSetup, FakeStep};
use crate::fields::content_text;

/// The version that the fake reports.
const VERSION: &str = "2.1.325";
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Why a turn ended early.
pub(super) enum TurnStop {
    Interrupted,
    Gone(io::Error),
}

impl From<io::Error> for TurnStop {
    fn from(error: io::Error) -> Self {
        Self::Gone(error)
    }
}

pub(super) struct FakeSession {
    pub(super) fake: FakeCli,
    pub(super) setup: FakeSetup,
    pub(super) session_id: String,
    pub(super) hooks: Value,
    /// Prompts that came during a turn.
    prompts: VecDeque<Value>,
    pub(super) denials: Vec<Value>,
    pub(super) uses: u64,
    pub(super) requests: u64,
    input: DuplexStream,
    output: DuplexStream,
    lines: LineDecoder,
}

impl FakeSession {
    pub(super) fn new(
        fake: FakeCli,
        setup: FakeSetup,
        input: DuplexStream,
        output: DuplexStream,
    ) -> Self {
        Self {
            fake,
            setup,
            session_id: Uuid::new_v4().to_string(),
            hooks: Value::Null,
            prompts: VecDeque::new(),
            denials: Vec::new(),
            uses: 0,
            requests: 0,
            input,
            output,
            lines: LineDecoder::new(LONGEST_LINE),
        }
    }

    /// Plays until its driver hangs up, which is not an error.
    pub(super) async fn play_script(mut self) {
        while let Ok(message) = self.receive().await {
            if self.handle_message(message).await.is_err() {
                return;
            }
            while let Some(prompt) = self.prompts.pop_front() {
                if self.play_turn(&prompt).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Handles a message between turns.
    async fn handle_message(&mut self, message: Value) -> io::Result<()> {
        match message["type"].as_str() {
            Some("control_request") => self.answer_request(&message).await,
            Some("user") => {
                self.prompts.push_back(message);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn answer_request(&mut self, message: &Value) -> io::Result<()> {
        let request = &message["request"];
        let response = match request["subtype"].as_str() {
            Some("initialize") => {
                self.hooks = request["hooks"].clone();
                json!({"claude_code_version": VERSION})
            }
            Some("set_model") => {
                self.setup.model = request["model"].as_str().unwrap_or("fake").to_owned();
                json!({})
            }
            _ => json!({}),
        };
        let id = &message["request_id"];
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        self.send(&json!({"type": "control_response", "response": response})).await
    }

    /// Plays one turn of the script.
    async fn play_turn(&mut self, prompt: &Value) -> io::Result<()> {
        let steps = {
            let mut state = lock(&self.fake.state);
            state.prompts.push(content_text(&prompt["message"]["content"]));
            state.turns.pop_front()
        };
        self.denials.clear();
        self.send_state("running").await?;
        let exhausted = || vec![FakeStep::Fails("the fake's script has ended".to_owned())];
        let result = match self.play_steps(steps.unwrap_or_else(exhausted)).await {
            Ok(result) => result,
            Err(TurnStop::Interrupted) => json!({
                "subtype": "error_during_execution", "is_error": true, "errors": [],
                "terminal_reason": "aborted_streaming",
            }),
            Err(TurnStop::Gone(error)) => return Err(error),
        };
        self.send_result(result, &prompt["uuid"]).await?;
        self.send_state("idle").await
    }

    async fn play_steps(&mut self, steps: Vec<FakeStep>) -> Result<Value, TurnStop> {
        self.send_setup().await?;
        for step in steps {
            match step {
                FakeStep::Thinks(text) => {
                    self.send_block(json!({"type": "thinking", "thinking": text, "signature": ""}))
                        .await?;
                }
                FakeStep::Says(text) => {
                    self.send_block(json!({"type": "text", "text": text})).await?;
                    return Ok(json!({"subtype": "success", "is_error": false, "result": text}));
                }
                FakeStep::Uses { name, input, result } => {
                    self.use_tool(name, input, result).await?;
                }
                FakeStep::Waits => loop {
                    let message = self.receive().await?;
                    self.take_during_turn(message).await?;
                },
                FakeStep::Fails(reason) => {
                    return Ok(json!({"subtype": "success", "is_error": true, "result": reason}));
                }
            }
        }
        Ok(json!({"subtype": "success", "is_error": false, "result": ""}))
    }

    /// Reports the setup of the agent.
    async fn send_setup(&mut self) -> Result<(), TurnStop> {
        let mut tools = Vec::new();
        let mut servers = Vec::new();
        if !self.setup.server.is_empty() {
            let listed = self.call_server("tools/list", json!({})).await?;
            let names = listed["result"]["tools"].as_array().into_iter().flatten();
            let names = names.filter_map(|tool| tool["name"].as_str());
            let server = &self.setup.server;
            tools.extend(names.map(|name| format!("mcp__{server}__{name}")));
            servers.push(json!({"name": server, "status": "connected"}));
        }
        let init = json!({
            "type": "system", "subtype": "init", "session_id": self.session_id,
            "model": self.setup.model, "tools": tools, "mcp_servers": servers,
        });
        Ok(self.send(&init).await?)
    }

    /// Sends a request to the driver, and waits for the answer or the reason why there is none.
    pub(super) async fn ask_driver(
        &mut self,
        request: Value,
    ) -> Result<Result<Value, String>, TurnStop> {
        self.requests += 1;
        let id = format!("fake-{}", self.requests);
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}))
            .await?;
        loop {
            let mut message = self.receive().await?;
            let response = &mut message["response"];
            if response["request_id"] == *id {
                return Ok(match response["subtype"].as_str() {
                    Some("success") => Ok(response["response"].take()),
                    _ => Err(string_or_empty(&response["error"])),
                });
            }
            if let Err(stop) = self.take_during_turn(message).await {
                // As the CLI does, so that callbacks and tools stop.
                let cancel = json!({"type": "control_cancel_request", "request_id": id});
                self.send(&cancel).await?;
                return Err(stop);
            }
        }
    }

    async fn take_during_turn(&mut self, message: Value) -> Result<(), TurnStop> {
        let is_interrupt = message["request"]["subtype"] == "interrupt";
        self.handle_message(message).await?;
        if is_interrupt { Err(TurnStop::Interrupted) } else { Ok(()) }
    }

    pub(super) async fn send_block(&mut self, block: Value) -> io::Result<()> {
        let message = json!({"role": "assistant", "content": [block]});
        self.send(&json!({"type": "assistant", "message": message})).await
    }

    async fn send_state(&mut self, state: &str) -> io::Result<()> {
        let report = json!({"type": "system", "subtype": "session_state_changed", "state": state});
        self.send(&report).await
    }

    async fn send_result(&mut self, mut result: Value, prompt: &Value) -> io::Result<()> {
        result["type"] = json!("result");
        result["num_turns"] = json!(1);
        result["total_cost_usd"] = json!(0.0);
        result["session_id"] = json!(self.session_id);
        result["permission_denials"] = json!(self.denials);
        result["user_message_uuid"] = prompt.clone();
        self.send(&result).await
    }

    pub(super) async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.output.write_all(format!("{message}\n").as_bytes()).await
    }

    /// Waits for the next message. The end of the input is an error.
    async fn receive(&mut self) -> io::Result<Value> {
        loop {
            if let Some(DecodedLine::Whole(line)) = self.lines.next_frame() {
                return Ok(serde_json::from_slice(line)?);
            }
            if fill_lines(&mut self.input, &mut self.lines).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

pub(super) fn string_or_empty(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
