//! `callgate status` and `callgate stop`, with a daemon, a phone and a question that waits.

use callgate_testkit::process::{DEADLINE, Finished, run};
use serde_json::{Value, json};

use crate::fixture::{Stage, bash};

fn run_in(stage: &Stage, arguments: &[&str]) -> Finished {
    run(stage.callgate(arguments), DEADLINE)
}

#[test]
fn the_status_says_who_is_up_what_waits_and_what_was_answered_last() {
    let stage = Stage::new();
    let allowed = stage.hook(&bash("make build"));
    stage.press(&stage.question("make build"), "Allow");
    assert_eq!(allowed.decision()["behavior"], "allow");
    let waiting = stage.hook(&bash("make deploy"));
    stage.question("make deploy");

    let said = run_in(&stage, &["status"]).success().stdout;
    let expected = [
        format!("callgate {} is up, as process ", env!("CARGO_PKG_VERSION")),
        format!(", as process {}, for ", stage.daemon_pid()),
        "\nAnswers can come on Telegram from chat 7.\n".to_owned(),
        "\nLinked:\n  by `telegram.allowed_chats` (".to_owned(),
        "\nLast answer: allowed by Ada ".to_owned(),
        " ago: Claude Code in /home/ada/engine: make build\n".to_owned(),
        "\n1 question waits:\n  ".to_owned(),
        " left: Claude Code in /home/ada/engine: make deploy\n".to_owned(),
    ];
    for part in expected {
        assert!(said.contains(&part), "{part:?} is missing in:\n{said}");
    }

    let printed = run_in(&stage, &["status", "--json"]).success().stdout;
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["up"], true);
    assert_eq!(printed["status"]["pid"], stage.daemon_pid());
    assert_eq!(printed["open"][0]["question"], stage.id_of("make deploy"));
    assert_eq!(printed["linked"][0]["link"], "chat/7");
    assert_eq!(printed["last_answer"]["question"], stage.id_of("make build"));

    let stopped = run_in(&stage, &["stop"]).success().stdout;
    let process = format!("callgate has stopped; it ran as process {}.\n", stage.daemon_pid());
    assert!(stopped.starts_with(&process), "{stopped}");
    assert!(stopped.ends_with("\n  Claude Code in /home/ada/engine: make deploy\n"), "{stopped}");

    let down = run_in(&stage, &["status"]);
    assert_eq!((down.status.code(), down.stderr.as_str()), (Some(1), ""));
    assert!(down.stdout.starts_with("callgate is not up: no desk listens at "), "{}", down.stdout);
    let down = run_in(&stage, &["status", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&down.stdout).unwrap(), json!({ "up": false }));
    let none = run_in(&stage, &["stop"]);
    assert_eq!((none.status.code(), none.stdout.as_str()), (Some(1), ""));
    assert!(none.stderr.contains("no desk listens at "), "{}", none.stderr);

    // The hook finds the next desk, which knows its question.
    stage.up();
    stage.press(&stage.question("make deploy"), "Deny");
    assert_eq!(waiting.decision()["behavior"], "deny");
}
