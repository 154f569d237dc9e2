//! A desk that runs beside the shell: the window finds it by itself, and works without it.

use std::process::Stdio;

use callgate_testkit::process::{DEADLINE, Group, run};
use serde_json::{Value, json};

use crate::stage::{Stage, StageOptions};

#[test]
fn a_running_desk_is_found_and_its_inbox_shown() {
    let Some(stage) = Stage::start(&StageOptions::default()) else { return };
    let absent = request(&stage, None, &json!({ "id": "1", "kind": "status" }));
    assert_eq!(absent.unwrap_err()["status"], 0, "nothing is wrong with a shell without a desk");

    let mut command = stage.callgate(&["up", "--no-terminal"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _desk = Group::spawn(command);
    let refused = stage.desktop.until("the desk is found", || {
        let refused = request(&stage, None, &json!({ "id": "1", "kind": "status" })).unwrap_err();
        (refused["status"] != 0).then_some(refused)
    });
    assert_eq!(refused["status"], 401, "a window without a key is not linked");
    let wrong = stage.invoke("desk_pair", &json!({ "code": "WRNGC0DE", "name": "Test" }));
    assert_eq!(wrong.unwrap_err()["status"], 403);

    let opened = stage.desktop.until("a code", || {
        let opened = run(stage.callgate(&["open", "--no-browser"]), DEADLINE);
        opened.status.success().then_some(opened.stdout)
    });
    let code = opened.split("#code=").nth(1).unwrap().split_whitespace().next().unwrap();
    let key = stage.invoke("desk_pair", &json!({ "code": code, "name": "The window" })).unwrap();
    let links = request(&stage, Some(&key), &json!({ "id": "7", "kind": "links" })).unwrap();
    assert_eq!((&links[0]["id"], &links[0]["kind"]), (&json!("7"), &json!("links")));
    assert!(links[0]["links"].to_string().contains("The window"), "{links}");
    for kind in ["watch", "code"] {
        let refused = request(&stage, Some(&key), &json!({ "id": "1", "kind": kind }));
        assert_eq!(refused.unwrap_err()["status"], 403, "{kind}");
    }
    let forged = json!("0000000000000000000000000000000000000000000000000000000000000000");
    let refused = request(&stage, Some(&forged), &json!({ "id": "1", "kind": "links" }));
    assert_eq!(refused.unwrap_err()["status"], 401);
    events_are_watched(&stage, &key);
}

/// Makes a request of the desk as the page does, and returns all of its messages.
fn request(stage: &Stage, key: Option<&Value>, line: &Value) -> Result<Value, Value> {
    let answer = stage.page.run_async(
        "const [key, line, done] = arguments;
        const messages = new window.__TAURI__.core.Channel();
        const seen = [];
        messages.onmessage = (message) => { seen.push(message); done({ seen }); };
        window.__TAURI__.core.invoke('desk_request', { key, line, messages })
            .catch((error) => done({ error }));",
        &json!([key, line.to_string()]),
    );
    match answer.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(answer["seen"].clone()),
    }
}

fn events_are_watched(stage: &Stage, key: &Value) {
    let seen = stage.page.run_async(
        "const [key, done] = arguments;
        const { invoke, Channel } = window.__TAURI__.core;
        const events = new Channel();
        const seen = [];
        const watch = invoke('desk_watch', { key, after: 0, events });
        watch.catch((error) => done(error));
        events.onmessage = (event) => {
            seen.push(event);
            if (event.event !== 'entry') return;
            watch.then((number) => invoke('desk_unwatch', { watch: number }))
                .then(() => done(seen.slice(0, 2)), (error) => done(error));
        };",
        &json!([key]),
    );
    assert_eq!(seen[0]["event"], "watching", "{seen}");
    assert_eq!((&seen[1]["event"], &seen[1]["id"]), (&json!("entry"), &json!(1)), "{seen}");
    assert_eq!(seen[1]["data"]["kind"], "started");
}
