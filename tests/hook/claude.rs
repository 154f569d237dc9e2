//! The hook as the real Claude Code CLI starts it.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use callgate_testkit::claude::{Claude, Run};
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Piped};
use callgate_testkit::until::until_or;
use serde_json::{Value, json};

use crate::fixture::Stage;

const EVENTS: [&str; 9] = [
    "PermissionRequest",
    "PreToolUse",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SessionEnd",
    "Notification",
    "Elicitation",
];

/// A desk that answers each question with what `decide` says, and keeps what it was told.
struct Answering {
    requests: Arc<Mutex<Vec<Value>>>,
    stage: Stage,
}

impl Answering {
    /// A desk at which no rule names any call.
    fn start(decide: impl Fn(&Value) -> String + Send + 'static) -> Self {
        Self::checking(decide, |_| r#""decision":"none""#.to_owned())
    }

    /// A desk that answers checks with what `checked` says.
    fn checking(
        decide: impl Fn(&Value) -> String + Send + 'static,
        mut checked: impl FnMut(&Value) -> String + Send + 'static,
    ) -> Self {
        let stage = Stage::new();
        let desk = stage.desk();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        // It ends with the stage.
        thread::spawn(move || {
            while let Some(mut asked) = desk.accept_any() {
                let request = asked.request();
                match request.get("kind").and_then(Value::as_str) {
                    None => asked.answer(&decide(&request)),
                    Some("check") => asked.answer(&checked(&request)),
                    Some(_) => {}
                }
                kept.lock().unwrap().push(request);
            }
        });
        Self { requests, stage }
    }

    /// What came of this event, in order: so many requests. What is only told may come a little
    /// after its hook has ended.
    fn of(&self, event: &str, count: usize) -> Vec<Value> {
        let requests = || self.requests.lock().unwrap().clone();
        let found = until_or(
            || format!("{count} of {event}: {:#?}", requests()),
            || {
                let is_it = |request: &Value| request["context"]["event"] == event;
                let found: Vec<Value> = requests().into_iter().filter(is_it).collect();
                (found.len() >= count).then_some(found)
            },
        );
        assert_eq!(found.len(), count, "{event}: {found:#?}");
        found
    }
}

fn settings() -> Value {
    let command = format!("{} hook", env!("CARGO_BIN_EXE_callgate"));
    let entry = json!([{"hooks": [{"type": "command", "command": command}]}]);
    let hooks: serde_json::Map<_, _> =
        EVENTS.into_iter().map(|event| (event.to_owned(), entry.clone())).collect();
    json!({"hooks": hooks})
}

fn claude(stage: &Stage, fake: &Messages) -> Claude {
    Claude::new(fake).settings(&settings()).env("CALLGATE_SOCKET", &stage.socket)
}

fn bash(command: &str) -> Turn {
    let input = json!({"command": command, "description": "d"});
    Turn::text(format!("I run {command}.")).tool("Bash", input)
}

/// Runs the CLI on these turns, before a desk that decides so.
fn run(
    turns: impl IntoIterator<Item = Turn>,
    prepare: impl FnOnce(&Path),
    decide: impl Fn(&Value) -> String + Send + 'static,
) -> (Answering, Run, Messages) {
    let desk = Answering::start(decide);
    let fake = Messages::start(turns);
    let claude = claude(&desk.stage, &fake).prompt("Go");
    prepare(&claude.work());
    (desk, claude.run(), fake)
}

fn always(request: &Value) -> String {
    let suggestions = &request["permission_suggestions"];
    format!(
        r#""decision":"allow","always_allow_suggestion":{},"updated_permissions":{suggestions}"#,
        suggestions[0]
    )
}

#[test]
fn a_person_allows() {
    if Claude::find().is_none() {
        return;
    }
    let turns = [bash("touch x"), bash("false | tee y"), Turn::text("Done")];
    let (desk, run, fake) = run(turns, |_| (), |_| r#""decision":"allow""#.to_owned());
    fake.assert_played();
    assert!(run.folder().join("work/x").exists());
    let asked = desk.of("PermissionRequest", 2);
    assert_eq!(asked[0]["tool_input"]["command"], "touch x");
    assert_eq!(asked[0]["agent"], "claude-code");
    assert!(asked[0]["permission_suggestions"].is_array());
    // The CLI writes its transcript behind time: on a busy machine the words before are the last.
    let words: Vec<&str> =
        asked.iter().filter_map(|one| one["context"]["last_words"].as_str()).collect();
    assert!(
        words.iter().all(|words| ["I run touch x.", "I run false | tee y."].contains(words)),
        "{words:?}"
    );
    let first = &asked[0]["context"]["last_words"];
    assert_ne!(first, "I run false | tee y.", "nobody had said that yet");
    // What has run is told under the same names.
    let settled = desk.of("PostToolUse", 2);
    for (asked, settled) in asked.iter().zip(&settled) {
        assert_eq!(settled["kind"], "settle");
        assert_eq!(settled["context"]["ok"], true);
        for field in ["tool_name", "tool_input", "session_id", "cwd"] {
            assert_eq!(settled[field], asked[field]);
        }
        assert_eq!(settled["context"]["prompt_id"], asked["context"]["prompt_id"]);
    }
    assert_eq!(desk.of("Stop", 1)[0]["context"]["last_words"], "Done");
    desk.of("SessionEnd", 1);
}

#[test]
fn a_person_denies_with_words_of_their_own() {
    if Claude::find().is_none() {
        return;
    }
    let turns = [bash("touch x"), Turn::text("Well")];
    let deny = r#""decision":"deny","message":"Only \"grün\", please.""#;
    let (_, run, fake) = run(turns, |_| (), |_| deny.to_owned());
    fake.assert_played();
    assert!(!run.folder().join("work/x").exists());
    assert_eq!(fake.last().tool_results()[0].text, "Only \"grün\", please.");
    assert!(fake.last().tool_results()[0].is_error);
}

#[test]
fn what_is_always_allowed_is_not_asked_again() {
    if Claude::find().is_none() {
        return;
    }
    let make = |work: &Path| fs::write(work.join("Makefile"), "build:\n\t@echo built\n").unwrap();
    let turns =
        [bash("make build"), bash("make build"), bash("touch x"), bash("touch y"), Turn::text(".")];
    let (desk, run, fake) = run(turns, make, always);
    fake.assert_played();
    let commands: Vec<Value> = desk
        .of("PermissionRequest", 2)
        .iter()
        .map(|request| request["tool_input"]["command"].clone())
        .collect();
    assert_eq!(commands, ["make build", "touch x"]);
    assert!(run.tool_results().iter().all(|result| !result.is_error));
    assert!(run.folder().join("work/y").exists());
}

#[test]
fn a_person_changes_the_command() {
    if Claude::find().is_none() {
        return;
    }
    let edited =
        r#""decision":"allow","updated_input":{"command":"touch other","description":"d"}"#;
    let turns = [bash("touch x"), Turn::text("Done")];
    let (desk, run, fake) = run(turns, |_| (), |_| edited.to_owned());
    fake.assert_played();
    let work = run.folder().join("work");
    assert!(work.join("other").exists() && !work.join("x").exists());
    assert_eq!(desk.of("PostToolUse", 1)[0]["tool_input"]["command"], "touch other");
}

#[test]
fn a_person_stops_the_turn() {
    if Claude::find().is_none() {
        return;
    }
    let stop = r#""decision":"deny","message":"Stop.","interrupt":true"#;
    let turns = [bash("touch x")];
    let (desk, run, fake) = run(turns, |_| (), |_| stop.to_owned());
    // The model is not asked again.
    fake.assert_played();
    desk.of("PermissionRequest", 1);
    assert!(!run.folder().join("work/x").exists());
}

#[test]
fn without_a_desk_the_cli_asks_in_its_own_way() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::new();
    let fake = Messages::start([bash("touch x"), Turn::text("Well")]);
    let run = claude(&stage, &fake).prompt("Go").run();
    fake.assert_played();
    // Nobody sits at a terminal, so its own way is no.
    assert!(fake.last().tool_results()[0].is_error);
    assert!(!run.folder().join("work/x").exists());
    assert_eq!(run.result_text(), "Well");
}

/// The smallest MCP server that asks its user something.
const ELICITS: &str = r#"
import json, sys
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
tool = {"name": "who", "description": "Asks", "inputSchema": {"type": "object"}}
schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
call = None
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if method == "initialize":
        info = {"name": "toy", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        say({"id": id, "result": result})
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [tool]}})
    elif method == "tools/call":
        call = id
        params = {"message": "your name?", "requestedSchema": schema}
        say({"id": "asked", "method": "elicitation/create", "params": params})
    elif id == "asked":
        text = json.dumps(message["result"], sort_keys=True)
        say({"id": call, "result": {"content": [{"type": "text", "text": text}]}})
    elif id is not None:
        say({"id": id, "error": {"code": -32601, "message": "no"}})
"#;

#[test]
fn an_mcp_server_asks_a_person() {
    if Claude::find().is_none() {
        return;
    }
    let accept = r#""decision":"allow","updated_input":{"name":"Ada"}"#;
    let desk = Answering::start(|_| accept.to_owned());
    let call = || Turn::text("I ask.").tool("mcp__toy__who", json!({}));
    let fake = Messages::start([call(), Turn::text("Done")]);
    let server = json!({"command": "/usr/bin/python3", "args": ["-c", ELICITS]});
    let run = claude(&desk.stage, &fake)
        .prompt("Go")
        .mcp_config(&json!({"mcpServers": {"toy": server}}))
        .allowed_tools(["mcp__toy"])
        .run();
    fake.assert_played();
    assert_eq!(run.result_text(), "Done");
    let answer = &fake.last().tool_results()[0].text;
    assert_eq!(answer, r#"{"action": "accept", "content": {"name": "Ada"}}"#);
    let asked = &desk.of("Elicitation", 1)[0];
    assert_eq!(asked["tool_name"], "Elicitation");
    assert_eq!(asked["tool_input"]["message"], "your name?");
    assert_eq!(asked["tool_input"]["requested_schema"]["required"], json!(["name"]));
    assert_eq!(asked["tool_input"]["mcp_server_name"], "toy");
    // The transcript may be behind time here too.
    let words = asked["context"]["last_words"].as_str();
    assert!(words.is_none_or(|words| words == "I ask."), "{words:?}");
}

/// A session that offers the tools for which somebody has to be there.
struct Session(Piped);

impl Session {
    fn start(claude: &Claude) -> Self {
        Self(Piped::spawn(claude.command()).deadline(DEADLINE))
    }

    /// Says something and waits for the end of the turn.
    fn say(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text});
        let line = json!({"type": "user", "message": message, "parent_tool_use_id": null});
        self.0.send(line.to_string());
        while self.0.recv()["type"] != "result" {}
    }

    fn end(mut self) {
        self.0.close_stdin();
        self.0.wait_exit(DEADLINE);
    }
}

fn interactive(stage: &Stage, fake: &Messages, mode: &str) -> Claude {
    let stream = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    let asks = ["--permission-prompt-tool", "stdio", "--permission-mode", mode];
    claude(stage, fake).arg("-p").args(stream).args(asks)
}

#[test]
fn a_person_answers_the_agents_questions() {
    if Claude::find().is_none() {
        return;
    }
    let desk = Answering::start(|request| {
        let questions = &request["tool_input"]["questions"];
        let answers = json!({"Which colour?": "Blue", "Which sizes?": "S, L"});
        let input = json!({"questions": questions, "answers": answers});
        format!(r#""decision":"allow","updated_input":{input}"#)
    });
    let option = |label: &str| json!({"label": label, "description": "d"});
    let questions = json!([
        {"question": "Which colour?", "header": "Colour", "multiSelect": false,
         "options": [option("Red"), option("Blue")]},
        {"question": "Which sizes?", "header": "Sizes", "multiSelect": true,
         "options": [option("S"), option("L")]},
    ]);
    let ask = Turn::text("Tell me.").tool("AskUserQuestion", json!({"questions": questions}));
    let fake = Messages::start([ask, Turn::text("Done")]);
    let claude = interactive(&desk.stage, &fake, "default");
    let mut session = Session::start(&claude);
    session.say("Go");
    session.end();
    fake.assert_played();
    let told = &fake.last().tool_results()[0].text;
    assert!(told.contains(r#""Which colour?"="Blue", "Which sizes?"="S, L""#), "{told}");
    assert_eq!(desk.of("PermissionRequest", 1)[0]["tool_name"], "AskUserQuestion");
}

#[test]
fn a_person_approves_the_whole_plan() {
    if Claude::find().is_none() {
        return;
    }
    let desk = Answering::start(|_| r#""decision":"allow""#.to_owned());
    let fake = Messages::start([Turn::text("Hello")]);
    let claude = interactive(&desk.stage, &fake, "plan");
    let mut session = Session::start(&claude);
    session.say("Hello");
    // The CLI tells its model where to write the plan.
    let request = fake.last().body.to_string();
    let place = request.split("create your plan at ").nth(1).expect("a place for the plan");
    let place = place.split(".md").next().unwrap().to_owned() + ".md";
    let plan = format!("# Plan\n\n{}", "1. Grüße\n".repeat(2000));
    fake.extend([
        Turn::tool_use("Write", json!({"file_path": place, "content": plan})),
        Turn::text("This is my plan.").tool("ExitPlanMode", json!({})),
        Turn::text("Done"),
    ]);
    session.say("Go");
    session.end();
    fake.assert_played();
    let asked = &desk.of("PermissionRequest", 1)[0];
    assert_eq!(asked["tool_name"], "ExitPlanMode");
    assert_eq!(asked["tool_input"]["plan"], plan);
    let results = fake.main_requests().into_iter().flat_map(|request| request.tool_results());
    let approved = results.filter(|result| result.text.contains("User has approved your plan"));
    assert!(approved.count() > 0);
}

/// Runs the CLI in a mode in which it asks nobody, with our hook as it is installed.
fn run_in(mode: &str, stage: &Stage, turns: impl IntoIterator<Item = Turn>) -> Run {
    let fake = Messages::start(turns);
    let config = stage.folder.path().join("config.toml");
    let rules = stage.folder.path().join("rules.toml");
    let command = format!(
        "{} --agent claude --config {} --socket {} --rules {}",
        env!("CARGO_BIN_EXE_callgate-hook"),
        config.display(),
        stage.socket.display(),
        rules.display()
    );
    let entry = json!([{"hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"hooks": {"PreToolUse": entry, "PermissionDenied": entry}});
    let claude = Claude::new(&fake).settings(&settings).prompt_in(mode, "Go");
    // Without it root may not leave out all questions.
    let run = claude.env("IS_SANDBOX", "1").run();
    fake.assert_played();
    run
}

#[test]
fn before_every_call_it_holds_the_rules_without_a_desk() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::new();
    let rules = "[[rule]]\nname = \"keep\"\ndecide = \"deny\"\ncommand = \"touch denied\"\n\
                 reason = \"keep out\"\n";
    crate::fixture::write(&stage, "rules.toml", rules);
    let turns = || [bash("touch denied"), bash("touch free"), Turn::text("Done")];
    let run = run_in("bypassPermissions", &stage, turns());
    let has = |run: &Run, name: &str| run.folder().join("work").join(name).exists();
    assert_eq!((has(&run, "denied"), has(&run, "free")), (false, true));
    assert!(run.tool_results()[0].text.contains("keep out"), "{:?}", run.tool_results());
    // Settings that cannot be read let nothing run.
    crate::fixture::write(&stage, "config.toml", "socket =");
    let run = run_in("bypassPermissions", &stage, turns());
    assert_eq!((has(&run, "denied"), has(&run, "free")), (false, false));
    assert!(run.tool_results()[1].text.contains("cannot check"), "{:?}", run.tool_results());
}

#[test]
fn what_auto_mode_has_blocked_is_tried_again() {
    if Claude::find().is_none() {
        return;
    }
    // The classifier cannot be reached here, so it blocks what lies outside the project.
    let mut checks = 0;
    let desk = Answering::checking(
        |_| r#""decision":"allow""#.to_owned(),
        move |_| {
            checks += 1;
            let decision = if checks == 1 { "none" } else { "allow" };
            format!(r#""decision":"{decision}""#)
        },
    );
    let made = desk.stage.folder.path().join("made");
    let touch = format!("touch {}", made.display());
    run_in("auto", &desk.stage, [bash(&touch), bash(&touch), Turn::text("Done")]);
    assert!(made.exists());
    let blocked = desk.of("PermissionDenied", 1);
    assert_eq!(blocked[0]["tool_input"]["command"], touch);
    assert!(blocked[0]["context"]["reason"].is_string(), "{}", blocked[0]);
    let checks = desk.of("PreToolUse", 2);
    for check in &checks {
        assert_eq!((&check["kind"], &check["tool_name"]), (&json!("check"), &json!("Bash")));
        assert_eq!(check["context"]["mode"], "auto");
        assert_eq!(check["context"]["asks"], "desk", "nobody is at a terminal");
    }
    assert_ne!(checks[0]["context"]["tool_use_id"], checks[1]["context"]["tool_use_id"]);
}
