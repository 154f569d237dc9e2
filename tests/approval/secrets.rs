//! No secret leaves the memory of the processes that have it.

use std::fs;
use std::path::Path;

use callgate_testkit::secrets::{SAMPLES, leak_in};
use serde_json::json;

use crate::fixture::{Stage, bash, permission};

#[test]
fn no_secret_is_in_any_message_log_or_file() {
    let stage = Stage::new();
    let all: Vec<&str> =
        SAMPLES.iter().filter(|sample| sample.is_known_alone).map(|sample| sample.text).collect();
    assert!(all.len() > 20);
    let commands = all.iter().map(|secret| format!("deploy '{secret}'"));
    let commands = commands.collect::<Vec<_>>().join("\n");
    let mut words = bash("say");
    words["tool_input"]["description"] = json!(all.join(" "));
    words["permission_suggestions"] = json!([{ "type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{ "toolName": "Bash", "ruleContent": all.join(" ") }] }]);
    let edit = json!({ "file_path": "/a", "old_string": all.join("\n"), "new_string": "" });
    for (text, input) in [
        ("deploy", bash(&commands)),
        ("say", words),
        ("/a", permission("Edit", &edit)),
        ("fetch a page", permission("WebFetch", &json!({ "url": all[0], "headers": all }))),
    ] {
        let hook = stage.hook(&input);
        let question = stage.question(text);
        if question.button("Show in full").is_some() {
            stage.phone.press(7, 7, question.id, "Show in full");
        }
        stage.phone.reply(7, 7, question.id, &format!("use {}", all[1]));
        let ended = hook.end();
        assert_eq!(ended.code, Some(0));
        assert!(ended.stdout.contains(all[1]), "the agent gets the words as they were written");
        assert_eq!(ended.stderr, "");
        stage.shows(&question, "Denied by Ada");
    }
    let failing = stage.callgate(&["log", "--json"]).output().unwrap();
    assert!(leak_in(&failing.stdout).is_none());
    let sent = stage.phone.look(|seen| format!("{:?}", seen.calls));
    if let Some(sample) = leak_in(sent.as_bytes()) {
        panic!("a {} went to the phone", sample.name);
    }
    for file in files(stage.home.folder()) {
        if let Some(sample) = leak_in(&fs::read(&file).unwrap()) {
            panic!("a {} is in {}", sample.name, file.display());
        }
    }
    // The token is in its own file and nowhere else.
    let token = stage.phone.token().as_bytes();
    for file in files(stage.home.folder()).into_iter().filter(|file| !file.ends_with("token")) {
        let content = fs::read(&file).unwrap();
        assert!(!content.windows(token.len()).any(|window| window == token), "{}", file.display());
    }
    let command_line = fs::read(format!("/proc/{}/cmdline", stage.daemon_pid())).unwrap();
    assert!(!command_line.windows(token.len()).any(|window| window == token));
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let found = entries.flat_map(|entry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => files(&entry.path()),
        kind if kind.is_file() => vec![entry.path()],
        _ => Vec::new(),
    });
    found.collect()
}
