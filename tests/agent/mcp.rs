//! MCP servers as sources of tools: those of the settings, and those of a project's `.mcp.json`.

mod mcp_flood;
mod mcp_hostile;
mod mcp_oauth;
pub(crate) mod mcp_peers;
mod mcp_status;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use callgate_testkit::messages::{Messages, Recorded, Turn};
use callgate_testkit::picture::SMALL_PNG_BASE64;
use callgate_testkit::process::DEADLINE;
use callgate_testkit::tools::repo_root;
use callgate_testkit::until::until;
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup};

const PYTHON: &str = "/usr/bin/python3";

fn script() -> String {
    repo_root().join("tests/data/mcp_server.py").display().to_string()
}

/// The settings of the server `test`.
fn server() -> String {
    format!("[agent.mcp_servers.test]\ncommand = {PYTHON:?}\nargs = [{:?}]\n", script())
}

/// The tools of the server run unasked.
const ALLOWED: &str = "[[rule]]\nname = \"mcp\"\ndecide = \"allow\"\ntool = \"mcp__*\"\n";

fn setup(fake: &Messages) -> Setup {
    Setup::on(fake).rules(ALLOWED).config(&server())
}

fn calls(tool: &str, input: Value) -> Turn {
    Turn::tool_use(format!("mcp__test__{tool}"), input)
}

/// How many tools of servers the model was last offered.
fn offered(fake: &Messages) -> usize {
    fake.last().tool_names().iter().filter(|name| name.starts_with("mcp__")).count()
}

fn text(fake: &Messages) -> String {
    fake.last().tool_results()[0].text.clone()
}

/// Ends the runtime, and gives what it has logged.
fn log(mut agent: Runtime) -> String {
    agent.piped.close_stdin();
    agent.rest();
    agent.piped.wait_exit(DEADLINE);
    agent.piped.stderr()
}

/// Sends a message and reads all of the answer.
fn turn(agent: &mut Runtime, id: &str) -> Vec<Value> {
    agent.say(id, "go");
    let all = agent.all(id);
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    all
}

#[test]
fn the_model_calls_the_tools_of_a_server() {
    let fake = Messages::start([calls("echo", json!({"text": "hé"})), Turn::text("done")]);
    let mut agent = setup(&fake).start();
    turn(&mut agent, "1");
    assert_eq!(text(&fake), "hé");
    let last = fake.last();
    let echo = last.tool("mcp__test__echo").unwrap();
    assert_eq!(echo["description"], "Returns its text.");
    assert_eq!(echo["input_schema"]["properties"]["text"]["x-note"], "kept");
}

#[test]
fn a_hint_allows_nothing_and_the_gate_decides() {
    let fake = Messages::start([calls("echo", json!({"text": "a"})), Turn::text("no")]);
    let mut agent = Setup::on(&fake).config(&server()).start();
    turn(&mut agent, "1");
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && told.text.contains("callgate up"), "{told:?}");
}

#[test]
fn the_model_sees_pictures_and_the_front_end_progress() {
    let fake = Messages::start([
        calls("picture", json!({})),
        Turn::text("seen"),
        calls("progress", json!({})),
        Turn::text("done"),
    ]);
    let mut agent = setup(&fake).start();
    agent.hello();
    turn(&mut agent, "1");
    let body = fake.last().body;
    let results = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let content = results[0]["content"].as_array().unwrap();
    assert_eq!(content[0], json!({"type": "text", "text": "look"}));
    assert_eq!(content[1]["source"]["media_type"], "image/png");
    let all = turn(&mut agent, "2");
    let progress = all.iter().find(|event| event["type"] == "tool_progress").unwrap();
    assert_eq!(progress["data"]["text"], "half way\n");
    // The picture is stored with the conversation and sent again.
    assert!(fake.last().body.to_string().contains(SMALL_PNG_BASE64));
}

#[test]
fn a_cancelled_call_is_cancelled_at_the_server() {
    let fake = Messages::start([]);
    let setup = setup(&fake);
    let file = setup.work().join("hung");
    fake.extend([calls("hang", json!({"text": file}))]);
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "go");
    until("the call has begun", || file.exists());
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    assert_eq!(agent.end("1")["data"]["stopReason"], "cancelled");
    until("the server knows", || fs::read_to_string(&file).unwrap() == "begun\ncancelled\n");
}

#[test]
fn a_server_that_ends_is_started_again() {
    let pid = || calls("pid", json!({}));
    let fake = Messages::start([pid(), calls("die", json!({})), pid(), Turn::text("done")]);
    let mut agent = setup(&fake).start();
    turn(&mut agent, "1");
    let results: Vec<_> = fake.requests().iter().flat_map(Recorded::tool_results).collect();
    assert_eq!(results.len(), 3, "{results:?}");
    assert!(results[1].is_error && results[1].text.contains("`test` failed"), "{:?}", results[1]);
    assert_ne!(results[0].text, results[2].text);
    assert!(!results[2].is_error, "{:?}", results[2]);
}

#[test]
fn a_server_that_cannot_start_costs_its_tools_only() {
    let fake = Messages::start([Turn::text("hello")]);
    let config = "[agent.mcp_servers.none]\ncommand = \"no-such-program\"\n\
        [agent.mcp_servers.broken]\ncommand = \"sh\"\nargs = [\"-c\", \"echo token=$TOKEN >&2; exit 1\"]\n\
        env = { TOKEN = \"s3cret-s3cret-s3cret\" }\n";
    let mut agent = Setup::on(&fake).config(config).start();
    turn(&mut agent, "1");
    assert_eq!(offered(&fake), 0);
    let log = log(agent);
    assert!(log.contains("`none` failed: there is no program `no-such-program`"), "{log}");
    assert!(log.contains("`broken` failed: it has ended: token="), "{log}");
    assert!(!log.contains("s3cret"), "{log}");
}

#[test]
fn a_list_that_changes_is_offered_in_the_next_round() {
    let fake = Messages::start([
        calls("grow", json!({})),
        calls("echo", json!({"text": "a"})),
        calls("more", json!({})),
        Turn::text("done"),
    ]);
    let mut agent = setup(&fake).start();
    turn(&mut agent, "1");
    assert_eq!(text(&fake), "more");
    assert_eq!(offered(&fake), 9);
}

#[test]
fn a_server_gets_no_secrets_but_its_own() {
    let fake = Messages::start([calls("environment", json!({})), Turn::text("done")]);
    let config = format!("{}env = {{ API_TOKEN = \"its-own\" }}\n", server());
    let setup = Setup::on(&fake).rules(ALLOWED).config(&config).env("GITHUB_TOKEN", "not-yours");
    turn(&mut setup.start(), "1");
    let text = text(&fake);
    assert!(text.contains("its-own"), "{text}");
    assert!(!text.contains("not-yours") && !text.contains("sk-test"), "{text}");
}

#[test]
fn servers_end_with_the_runtime() {
    let fake = Messages::start([calls("pid", json!({})), Turn::text("done")]);
    let mut agent = setup(&fake).start();
    turn(&mut agent, "1");
    let process = Path::new("/proc").join(text(&fake));
    assert!(process.exists());
    let (_, status) = agent.finish();
    assert!(status.success());
    assert!(!process.exists(), "the server is still there");
}

#[test]
fn servers_end_with_a_runtime_that_is_killed() {
    let fake = Messages::start([calls("pid", json!({})), Turn::text("done")]);
    let mut agent = setup(&fake).start();
    turn(&mut agent, "1");
    let process = Path::new("/proc").join(text(&fake));
    agent.kill();
    until("the server is gone", || !process.exists());
}

#[test]
fn nothing_is_started_before_the_first_message() {
    let setup = Setup::new();
    let mark = setup.work().join("started");
    let config = format!("[agent.mcp_servers.a]\ncommand = \"touch\"\nargs = [{mark:?}]\n");
    let mut agent = setup.config(&config).start();
    assert_eq!(agent.ask(&json!({"id": "s", "kind": "get_status"}))["type"], "status");
    assert!(!mark.exists());
}

/// A project's file that names one server.
fn project(command: &str, args: &[&str]) -> String {
    json!({"mcpServers": {"test": {"command": command, "args": args}}}).to_string()
}

/// Answers the question about `.mcp.json`.
fn answer(agent: &mut Runtime, id: &str, decision: &str) -> Value {
    agent.say(id, "go");
    let asked = agent.until(id, "permission_request")["data"].clone();
    assert_eq!(asked["toolName"], "use_mcp_servers", "{asked}");
    let reply = json!({
        "id": "p", "kind": "permission_answer", "question": asked["question"], "decision": decision
    });
    agent.send(&reply);
    assert_eq!(agent.end("p")["type"], "done");
    assert_eq!(agent.end(id)["type"], "done");
    asked
}

#[test]
fn a_project_is_asked_about_once_and_after_every_change() {
    let fake = Messages::start((0..8).map(|_| Turn::text("hello")));
    let args = [script()];
    let file = project(PYTHON, &[&args[0]]);
    let setup = Setup::on(&fake).file(".mcp.json", &file);
    let mut agent = setup.start();
    agent.hello();
    let asked = answer(&mut agent, "1", "allow");
    assert_eq!(asked["input"]["mcpServers"]["test"]["command"], PYTHON);
    assert!(asked["reason"].as_str().unwrap().contains("guarded"), "{asked}");
    assert_eq!(offered(&fake), 8);
    turn(&mut agent, "2");
    // Another runtime knows it.
    let mut other = setup.start();
    other.hello();
    turn(&mut other, "3");
    assert_eq!(offered(&fake), 8);
    // One space more is another file; it is asked about, and the old one is no longer used.
    fs::write(setup.work().join(".mcp.json"), format!("{file} ")).unwrap();
    answer(&mut agent, "4", "deny");
    assert_eq!(offered(&fake), 0);
    turn(&mut agent, "5");
    assert_eq!(offered(&fake), 0);
    // The old content was agreed to.
    fs::write(setup.work().join(".mcp.json"), &file).unwrap();
    turn(&mut agent, "6");
    assert_eq!(offered(&fake), 8);
    fs::remove_file(setup.work().join(".mcp.json")).unwrap();
    turn(&mut agent, "7");
    assert_eq!(offered(&fake), 0);
}

#[test]
fn a_mode_in_which_nobody_is_asked_settles_nothing() {
    let fake = Messages::start((0..2).map(|_| Turn::text("hello")));
    let setup = Setup::on(&fake).file(".mcp.json", project(PYTHON, &[&script()]));
    let mut agent = setup.start();
    agent.hello();
    let mode = |mode: &str| json!({"id": "m", "kind": "set_mode", "mode": mode});
    assert_eq!(agent.ask(&mode("auto"))["type"], "done");
    turn(&mut agent, "1");
    assert_eq!(offered(&fake), 0);
    assert_eq!(agent.ask(&mode("ask"))["type"], "done");
    answer(&mut agent, "2", "allow");
    assert_eq!(offered(&fake), 8);
}

#[test]
fn a_project_that_nobody_agrees_to_starts_nothing() {
    for config in ["", "[agent]\nlog_level = \"warn\"\n"] {
        let fake = Messages::start([Turn::text("hello")]);
        let setup = Setup::on(&fake).config(config);
        // Rules cannot agree to it: the file decides what is run.
        let rule = "[[rule]]\nname = \"all\"\ndecide = \"allow\"\ntool = \"*\"\n";
        fs::write(setup.home().join(".config/callgate/rules.toml"), rule).unwrap();
        let mark = setup.work().join("started");
        let setup = setup.file(".mcp.json", project("touch", &[mark.to_str().unwrap()]));
        turn(&mut setup.start(), "1");
        assert_eq!(offered(&fake), 0);
        assert!(!mark.exists(), "the server was started");
    }
}

#[test]
fn a_project_cannot_take_secrets_or_the_place_of_a_server_of_the_settings() {
    let fake = Messages::start([Turn::text("hello"), calls("pid", json!({})), Turn::text("done")]);
    let setup = setup(&fake).env("API_TOKEN", "s3cret-s3cret");
    let mark = setup.work().join("started");
    let mark = mark.to_str().unwrap();
    let file = json!({"mcpServers": {
        "test": {"command": "touch", "args": [mark]},
        "leak": {"command": "touch", "args": [format!("{mark}-${{API_TOKEN}}")]},
        "far": {"url": "http://example.org/mcp"},
        "a__b": {"command": "touch", "args": [mark]},
    }});
    let mut agent = setup.file(".mcp.json", file.to_string()).start();
    agent.hello();
    // None of them can be used, so nobody is asked.
    turn(&mut agent, "1");
    turn(&mut agent, "2");
    assert!(!fs::exists(mark).unwrap(), "a server was started");
    let log = log(agent);
    for expected in [
        "`test` is not used: the settings have one",
        "the server `leak` needs the variable \"API_TOKEN\"",
        "the address of the server `far` must begin with https://",
        "\"a__b\" cannot be the name of a server",
    ] {
        assert!(log.contains(expected), "{expected} is not in {log}");
    }
}

#[test]
fn a_file_that_is_none_is_said_and_not_used() {
    let check = |make: &dyn Fn(&Path), expected: &str| {
        let fake = Messages::start([Turn::text("hello")]);
        let setup = Setup::on(&fake);
        make(&setup.work().join(".mcp.json"));
        let mut agent = setup.start();
        agent.hello();
        turn(&mut agent, "1");
        let log = log(agent);
        assert!(log.contains(expected), "{expected} is not in {log}");
    };
    let written = |text: &'static str| move |file: &Path| fs::write(file, text).unwrap();
    check(&written("{"), "it is not JSON");
    check(&written("[]"), "it has no object `mcpServers`");
    check(&|file| fs::write(file, " ".repeat(300_000)).unwrap(), "it is larger than 262144 bytes");
    check(&|file| fs::create_dir(file).unwrap(), "it is not a regular file");
    check(&|file| symlink("/dev/zero", file).unwrap(), "it is not a regular file");
    check(
        &|file| {
            let fifo = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, file, fifo, 0o600.into(), 0).unwrap();
        },
        "it is not a regular file",
    );
}

#[test]
fn properties_that_the_service_refuses_are_replaced_and_a_tool_that_it_rejects_is_left_out() {
    // The fake refuses what the service refuses.
    let fake = Messages::start([
        calls("query", json!({"_filter_0c097d40d6b7": "a eq 1"})),
        Turn::text("done"),
        Turn::text("again"),
    ]);
    let odd = format!("{}\n[agent.mcp_servers.test.env]\nODD_TOOLS = \"1\"\n", server());
    let setup = Setup::on(&fake).rules(ALLOWED).config(&odd);
    let mut agent = setup.start();
    agent.hello();
    let all = turn(&mut agent, "1");
    let notice = all.iter().find(|event| event["data"]["kind"] == "tool_left_out").unwrap();
    let told = notice["data"]["text"].as_str().unwrap();
    assert!(told.contains("`mcp__test__broken`") && told.contains("draft 2020-12"), "{told}");
    assert_eq!(text(&fake), r#"{"$filter": "a eq 1"}"#, "the server gets its own names");
    let used = all.iter().find(|event| event["type"] == "tool_use").unwrap();
    assert_eq!(used["data"]["input"], json!({"$filter": "a eq 1"}), "and so does the front end");
    agent.kill();
    let mut agent = setup.arg("--resume").start();
    turn(&mut agent, "2");
    let sent = fake.last();
    assert!(sent.tool("mcp__test__broken").is_none() && sent.tool("mcp__test__query").is_some());
    let called = &sent.body["messages"][1]["content"][0]["input"];
    assert_eq!(*called, json!({"_filter_0c097d40d6b7": "a eq 1"}), "as before the restart");
}
