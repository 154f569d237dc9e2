//! opencode as a client, with the command that the host returns.

use std::fs;
use std::process::Command;

use callgate_testkit::chat::{API_KEY, Chat, ChatReply, Dialect};
use callgate_testkit::process::run;
use callgate_testkit::tools;
use serde_json::json;

use crate::fixture::{DEADLINE, Fixture, NAME};

#[test]
fn opencode_calls_the_tools_of_a_host() {
    let Some(program) = tools::opencode() else { return };
    let fixture = Fixture::sequential();
    let uses = |tool: &str, arguments| ChatReply::Call(format!("{NAME}_{tool}"), arguments);
    let fake = Chat::start(
        Dialect::ChatCompletions,
        [
            uses("add", json!({"a": 40, "b": 2})),
            uses("fail", json!({"text": "no such day"})),
            uses("add", json!({"a": "7; rm", "b": 2})),
            ChatReply::Text("Done.".to_owned()),
        ],
    );
    let bridge = fixture.bridge();
    let mut line = vec![bridge.program];
    line.extend(bridge.arguments);
    let settings = json!({
        "model": "fake/fake-model",
        "provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": fake.url(), "apiKey": API_KEY},
            "models": {"fake-model": {"name": "Fake"}},
        }},
        "mcp": {NAME: {"type": "local", "command": line, "enabled": true}},
    });
    let home = fixture.home();
    let folder = home.join(".config/opencode");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("opencode.json"), settings.to_string()).unwrap();

    let mut command = Command::new(program);
    command.args(["run", "--format", "json", "Go"]).current_dir(&home);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &home);
    command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    let done = run(command, 2 * DEADLINE).success();
    assert!(done.stdout.contains("Done."), "{}{}", done.stdout, done.stderr);
    let results = fake.results();
    assert!(results[0].contains("42"), "{results:?}");
    assert!(results[1].contains("ValueError: no such day"), "{results:?}");
    assert!(results[2].contains("ToolArgumentError"), "{results:?}");
}
