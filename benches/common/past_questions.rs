//! A ledger of questions that were asked and answered in the past.

use std::path::Path;
use std::time::Duration;

use callgate_store::{EntryDraft, Store};
use serde_json::{Value, json};

/// The number of entries of a question.
const PER_QUESTION: u64 = 5;
/// The number of questions that are written at once.
const AT_ONCE: u64 = 500;
/// When the first question was asked, in milliseconds.
const BEGAN_MS: i64 = 1_780_000_000_000;

/// Commands that agents want to run.
const COMMANDS: [&str; 10] = [
    "cargo test --workspace",
    "git status --short",
    "ls -la src",
    "cat README.md",
    "git push origin main",
    "npm run build",
    "rm -rf target",
    "grep -rn \"fn main\" src | head -20",
    "python3 scripts/run.py --input data/file-NUMBER.json",
    "sed -n 1,NUMBERp src/main.rs && echo done",
];

/// Creates a ledger of this many entries, with a pause after each question.
pub(crate) fn write(ledger: &Path, entries: u64, pause: Duration) {
    let mut store = Store::open(ledger).unwrap();
    let questions = entries / PER_QUESTION;
    for first in (0..questions).step_by(usize::try_from(AT_ONCE).unwrap()) {
        let numbers = first..questions.min(first + AT_ONCE);
        let drafts: Vec<_> = numbers.flat_map(|number| question(number, pause)).collect();
        store.append_entries(&drafts).unwrap();
    }
}

/// Returns the entries of one question, as the desk writes them.
fn question(number: u64, pause: Duration) -> Vec<EntryDraft> {
    let id = format!("{:08x}-0000-4000-8000-{number:012x}", number.wrapping_mul(0x9e37_79b9) >> 8);
    let since_ms = u128::from(number) * pause.as_millis();
    let at_ms = BEGAN_MS + i64::try_from(since_ms).unwrap();
    let command = COMMANDS[usize::try_from(number * 7 % 10).unwrap()];
    let command = command.replace("NUMBER", &number.to_string());
    let decision = if number % 10 == 4 { "deny" } else { "allow" };
    let session = format!("34fb81ac-7029-49d7-a308-{:012x}", number / 50);
    let request = json!({
        "request_id": id,
        "tool_name": "Bash",
        "tool_input": { "command": command, "description": "Run it in the project" },
        "cwd": "/home/ada/engine",
        "session_id": session,
        "permission_suggestions": [{
            "type": "addRules",
            "rules": [{ "toolName": "Bash", "ruleContent": command }],
            "behavior": "allow",
            "destination": "localSettings",
        }],
        "agent": "claude-code",
        "context": { "mode": "default", "last_words": "I run the tests and look at what fails." },
    });
    let asked = json!({
        "tool": "Bash",
        "summary": command,
        "cwd": "/home/ada/engine",
        "session": session,
        "agent": "claude-code",
        "ruling": "ask",
        "because": null,
        "digest": format!("{number:064x}"),
        "until_ms": at_ms + 300_000,
        "request": request,
        "mode": "default",
    });
    let draft = |kind: &str, body: &Value| EntryDraft {
        at_ms,
        kind: kind.to_owned(),
        question: Some(id.clone()),
        body: body.to_string(),
    };
    let by = json!({ "channel": "terminal", "by": "you" });
    vec![
        draft("asked", &asked),
        draft("shown", &json!({ "channel": "terminal" })),
        draft("pressed", &by),
        draft("decided", &json!({ "decision": decision, "channel": "terminal", "by": "you" })),
        draft("closed", &json!({ "how": "answered" })),
    ]
}
