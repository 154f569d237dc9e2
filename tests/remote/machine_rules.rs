//! The machine decides by its own rules, at once; only what is left for people comes here.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use callgate_testkit::process::{DEADLINE, Piped, run};
use callgate_wire::approval::Press;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::fixture::{BOX, House};

const BOX_RULES: &str = r#"
[[rule]]
name = "builds"
decide = "allow"
command = "make build"

[[rule]]
name = "no removing"
decide = "deny"
command = "rm *"

[[rule]]
name = "no secrets"
decide = "deny"
path = "~/secrets/**"

[[rule]]
name = "deploys"
decide = "ask"
command = "make deploy"
"#;

/// The laptop allows everything, which is not its business.
const LAPTOP_RULES: &str = r#"
[[rule]]
name = "everything"
decide = "allow"
tool = "*"
"#;

fn house() -> House {
    let house = House::over_pipe();
    house.machine.write(".config/callgate/rules.toml", BOX_RULES);
    house.laptop.write(".config/callgate/rules.toml", LAPTOP_RULES);
    house.machine.write(
        "engine/.callgate/rules.toml",
        "[[rule]]\nname = \"no net\"\ndecide = \"deny\"\ncommand = \"curl *\"\n",
    );
    house.up();
    house
}

#[test]
fn a_deny_there_is_final_and_an_allow_here_lets_nothing_run() {
    let house = house();
    house.wait_until_connected();
    let denied = house.ask("rm -rf build").decision();
    assert_eq!(denied["behavior"], "deny", "{denied}");
    // The rules of a project are found on the disk of the box.
    let denied = house.ask_in("curl example.org", &house.machine.path("engine")).decision();
    assert_eq!(denied["behavior"], "deny", "{denied}");
    assert_eq!(house.ask("make build").decision()["behavior"], "allow");

    // So are its home and its links, which this disk does not have.
    house.machine.write("secrets/key", "");
    symlink(house.machine.path("secrets"), house.machine.path("harmless")).unwrap();
    for command in ["cat ~/secrets/key", "cat ~/harmless/key", "cat harmless/key"] {
        let denied = house.ask(command).decision();
        assert_eq!(denied["behavior"], "deny", "{command}: {denied}");
    }

    let mut ada = house.person("Ada");
    let hook = house.ask("git push");
    let row = ada.question(&house, "git push");
    assert_eq!(row.machine.as_deref(), Some(BOX));
    assert_eq!(row.project, house.machine.folder().display().to_string());
    assert_eq!(ada.inbox().len(), 1, "what rules decide there is not asked here");
    let (done, text) = ada.press(&row, Press::Words("not on a Friday".to_owned()));
    assert!(done, "{text}");
    let denied = hook.decision();
    assert_eq!(denied["message"], "not on a Friday", "{denied}");

    let asked: Vec<Value> = house
        .laptop_entries()
        .iter()
        .filter(|entry| entry.kind == "asked")
        .map(|entry| serde_json::from_str(&entry.body).unwrap())
        .collect();
    assert_eq!(asked.len(), 1, "{asked:#?}");
    let machine = json!({ "name": BOX, "user": "bo", "home": house.machine.folder() });
    assert_eq!((&asked[0]["machine"], &asked[0]["request"]["machine"]), (&json!(BOX), &machine));
    let story = House::story(&house.box_entries(), "git push");
    assert_eq!(story.last().unwrap().split(": ").next(), Some("closed"));
    assert!(story.last().unwrap().contains("Denied by Ada at "), "{story:?}");
    house.assert_copied();

    let log = house.run_on_laptop(&["log"]).success().stdout;
    assert!(log.contains(&format!("on {BOX}")), "{log}");
    let log = house.run_on_laptop(&["log", "--machine", BOX]).success().stdout;
    assert!(log.contains("rm -rf build") && log.contains("make build"), "{log}");
    let log = house.run_on_laptop(&["log", "--machine", "nowhere"]).success();
    assert!(
        log.stderr.contains("there is no copy of the ledger of that machine"),
        "{}",
        log.stderr
    );
    let status = house.run_on_laptop(&["status"]).success().stdout;
    assert!(status.contains(&format!("Remote {BOX}: connected for ")), "{status}");
    assert!(ada.links().iter().all(|link| !link.link.contains("remote")), "it may not answer");
}

#[test]
fn while_the_laptop_sleeps_rules_decide_at_once_and_questions_wait() {
    let house = house();
    house.wait_until_connected();
    let mut ada = house.person("Ada");
    let doctor = || run(house.on_box(&["doctor"]), DEADLINE).stdout;
    house.until("the box is connected", || doctor().contains("its desk has been connected for"));
    let begun = Instant::now();
    house.signal_desk(Signal::STOP);
    assert_eq!(house.ask("make build").decision()["behavior"], "allow");
    assert_eq!(house.ask("rm -rf build").decision()["behavior"], "deny");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    let mut hook = house.ask("git push");
    // The box notices within 15 seconds that nobody is there. A look at it takes a moment.
    house.until("the line is dead", || doctor().contains("The desk above is not connected"));
    assert!(begun.elapsed() < Duration::from_secs(18), "{:?}", begun.elapsed());
    assert!(hook.still_waits());
    house.signal_desk(Signal::CONT);
    let row = ada.question(&house, "git push");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied();
}

/// What the hook prints before an agent runs a command in a mode that takes silence for a yes.
fn start_check(house: &House, command: &str) -> Piped {
    let call = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": house.machine.folder(),
        "transcript_path": "/t", "permission_mode": "bypassPermissions", "tool_use_id": "t",
        "tool_name": "Bash", "tool_input": { "command": command },
    });
    let mut hook = Piped::spawn(house.on_box(&["hook"]));
    hook.send_bytes(call.to_string());
    hook.close_stdin();
    hook
}

#[test]
fn a_question_over_a_cut_waits_until_its_time_is_over_and_is_denied_then() {
    let house = House::over_pipe();
    house.machine.write(".config/callgate/rules.toml", BOX_RULES);
    house.machine.write_settings("timeout_seconds = 6\n");
    house.up();
    house.wait_until_connected();
    let mut ada = house.person("Ada");
    let begun = Instant::now();
    let mut hook = start_check(&house, "make deploy");
    ada.question(&house, "make deploy");
    house.cut();
    let answer = hook.recv();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    assert!(begun.elapsed() >= Duration::from_secs(5), "it waited: {:?}", begun.elapsed());
    // What it owes is delivered, and is over here as well.
    house.mend();
    house.until("it is withdrawn", || ada.inbox().is_empty());
    house.assert_copied();
}

#[test]
fn a_hook_here_cannot_name_a_machine_to_avoid_the_rules() {
    let house = house();
    house.laptop.write(".config/callgate/rules.toml", BOX_RULES);
    let deny = json!({
        "request_id": "6f9619ff-8b86-4d01-b42d-00c04fc964ff", "tool_name": "Bash",
        "tool_input": { "command": "rm -rf /" }, "cwd": "/", "session_id": "s",
        "machine": { "name": BOX, "user": "bo", "home": "/" },
    });
    let socket = house.laptop.path(".local/share/callgate/ask.sock");
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    std::io::Write::write_all(&mut stream, format!("{deny}\n").as_bytes()).unwrap();
    let answer: Value =
        serde_json::from_str(&std::io::read_to_string(&mut stream).unwrap()).unwrap();
    assert_eq!(answer["decision"], "deny", "{answer}");
    let entries = house.laptop_entries();
    let asked = entries.iter().find(|entry| entry.kind == "asked").unwrap();
    assert!(!asked.body.contains("machine"), "{}", asked.body);
}
