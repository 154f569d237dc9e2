//! What agents do, in the words that machines record: calls of a usual mix, and questions.

use callgate_wire::approval::{Decision, RequestId};
use callgate_wire::ledger::{
    AgentCall, AnswerChannel, ClosedHow, LedgerEvent, LedgerRuling, NoMembers, PersonPress,
    PressOutcome, QuestionAsked, QuestionClosed, QuestionDecided,
};
use serde_json::{Value, json};

/// How many agents a machine has.
pub(crate) const AGENTS: u64 = 10;

/// Commands of agents, short and long.
const COMMANDS: [&str; 8] = [
    "ls -l src",
    "git status --short",
    "cargo test -p engine --test network -- --nocapture",
    "git diff HEAD~1 -- crates/engine/src/network.rs",
    "rg -n 'fn connect' crates --glob '*.rs'",
    "npm run build --workspace web && npm run lint --workspace web",
    "python3 scripts/report.py --since 2026-11-01 --format markdown --output target/report.md",
    "make build",
];
const FILES: [&str; 5] = [
    "README.md",
    "crates/engine/src/network.rs",
    "crates/engine/tests/network/reconnect.rs",
    "web/src/components/InboxRow.tsx",
    "docs/guide/installation.md",
];
/// A line of code; edits have some of them.
const LINE: &str = "        let answer = self.connection.send(request).await?;\n";

/// One call of an agent.
pub(crate) struct AgentCallText {
    number: u64,
    tool: &'static str,
    summary: String,
    input: Value,
}

/// A question of an agent.
pub(crate) struct QuestionText(AgentCallText);

impl AgentCallText {
    /// Makes the call with this number. Of 20 calls 8 are commands, 7 read or search, 4 edit a few
    /// lines and 1 writes a file of 2 kB.
    pub(crate) fn new(number: u64) -> Self {
        let pick = usize::try_from(number / 20).unwrap();
        let (command, file) = (COMMANDS[pick % COMMANDS.len()], FILES[pick % FILES.len()]);
        let path = format!("/home/ada/engine/{file}");
        let (tool, summary, input) = match number % 20 {
            0..8 => {
                let input = json!({ "command": command, "description": "Look at the project" });
                ("Bash", command.to_owned(), input)
            }
            8..13 => ("Read", path.clone(), json!({ "file_path": path, "limit": 200 })),
            13..15 => {
                let input = json!({ "pattern": "fn connect", "path": "/home/ada/engine" });
                ("Grep", "fn connect in /home/ada/engine".to_owned(), input)
            }
            15..19 => {
                let (old, new) = (LINE.repeat(3), LINE.repeat(4));
                let input = json!({ "file_path": path, "old_string": old, "new_string": new });
                ("Edit", path.clone(), input)
            }
            _ => {
                let input = json!({ "file_path": path, "content": LINE.repeat(35) });
                ("Write", path.clone(), input)
            }
        };
        Self { number, tool, summary, input }
    }

    fn call(&self) -> AgentCall {
        AgentCall {
            tool: self.tool.to_owned(),
            summary: self.summary.clone(),
            session: session(self.number),
            cwd: "/home/ada/engine".to_owned(),
            agent: Some("claude-code".to_owned()),
            mode: Some("default".to_owned()),
            tool_use_id: Some(format!("toolu_01{:022}", self.number)),
            ..AgentCall::default()
        }
    }

    /// A rule has allowed it.
    pub(crate) fn checked(&self) -> LedgerEvent {
        let by = "allowed by rule `usual work` (/home/ada/.config/callgate/rules.toml:12): every \
                  part is in the project";
        let (decision, by) = (Some(Decision::Allow), Some(by.to_owned()));
        LedgerEvent::Checked(AgentCall { decision, by, ..self.call() })
    }

    /// It has run.
    pub(crate) fn ran(&self) -> LedgerEvent {
        let input = serde_json::value::to_raw_value(&self.input).ok();
        LedgerEvent::Ran(AgentCall { ok: Some(true), input, ..self.call() })
    }
}

/// The session of the agent that makes a call.
fn session(number: u64) -> String {
    format!("34fb81ac-7029-49d7-a308-{:012}", number % AGENTS)
}

impl QuestionText {
    pub(crate) fn new(number: u64) -> Self {
        // Commands are asked about.
        Self(AgentCallText::new(number * 20))
    }

    /// The request as it is on the line.
    pub(crate) fn request(&self, id: &RequestId) -> Value {
        let call = &self.0;
        json!({ "request_id": id, "tool_name": call.tool, "tool_input": call.input,
            "cwd": "/home/ada/engine", "session_id": session(call.number), "agent": "claude-code",
            "context": { "event": "PermissionRequest", "prompt_id": "p1", "timeout_seconds": 300,
                "takes": ["always", "edit", "interrupt"], "mode": "default" } })
    }

    pub(crate) fn asked(&self, id: &RequestId) -> LedgerEvent {
        let call = self.0.call();
        LedgerEvent::Asked(QuestionAsked {
            tool: call.tool,
            deed: Some("Run a command".to_owned()),
            summary: call.summary,
            cwd: call.cwd,
            session: call.session,
            agent: call.agent,
            ruling: LedgerRuling::Ask,
            digest: "d".repeat(64),
            request: serde_json::value::to_raw_value(&self.request(id)).ok(),
            mode: call.mode,
            ..QuestionAsked::default()
        })
    }

    /// What the machine records when the answer of a person comes.
    pub(crate) fn ended(by: &str) -> [LedgerEvent; 4] {
        let by = by.to_owned();
        [
            LedgerEvent::Pressed(PersonPress {
                by: by.clone(),
                channel: Some(AnswerChannel::Viewer),
                action: "allow".to_owned(),
                outcome: Some(PressOutcome::Decided),
                ..PersonPress::default()
            }),
            LedgerEvent::Decided(QuestionDecided {
                decision: Some(Decision::Allow),
                by: by.clone(),
                ..QuestionDecided::default()
            }),
            LedgerEvent::Delivered(NoMembers::default()),
            LedgerEvent::Closed(QuestionClosed {
                how: Some(ClosedHow::Answered),
                text: format!("Allowed by {by}"),
            }),
        ]
    }
}
