//! The real Claude Code CLI in `-p` mode, with the hooks that `callgate install` adds, the real
//! daemon, and a phone.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use callgate_store::Store;
use callgate_testkit::claude::Claude;
use callgate_testkit::messages::{Messages, Recorded, ToolResult, Turn};
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::telegram::Message;
use serde_json::{Value, json};

use crate::fixture::{ADA, Stage};

/// A CLI that works on its own.
struct Agent {
    group: Group,
    claude: Claude,
    fake: Messages,
}

impl Agent {
    /// It is told to run these shell commands one by one, and then says that it is done.
    fn start(stage: &Stage, commands: &[&str]) -> Self {
        let turns = commands.iter().map(|command| runs(command));
        let fake = Messages::start(turns.chain([Turn::text("Done")]));
        let claude = claude(stage, &fake).prompt("Go");
        let makefile = "build:\n\t@echo built | tee -a built\n";
        fs::write(claude.work().join("Makefile"), makefile).unwrap();
        let mut command = claude.command();
        let file = |name: &str| fs::File::create(claude.folder().join(name)).unwrap();
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        Self { group: Group::spawn(command), claude, fake }
    }

    /// The question on the phone about a command of the agent's first turn.
    fn question(&self, stage: &Stage, command: &str) -> Message {
        // The CLI may need its time to start.
        self.fake.wait_for_main(1);
        stage.question(command)
    }

    fn work(&self, name: &str) -> PathBuf {
        self.claude.work().join(name)
    }

    /// Waits for its end, which must be a good one with the whole script played; gives what the
    /// model saw of each command.
    fn end(&mut self) -> Vec<ToolResult> {
        let read = |name: &str| fs::read_to_string(self.claude.folder().join(name)).unwrap();
        let status = self.group.wait(4 * DEADLINE);
        let (printed, errors) = (read("stdout"), read("stderr"));
        assert!(status.is_some_and(|it| it.success()), "{status:?}\n{printed}\n{errors}");
        self.fake.assert_played();
        let last: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
        assert_eq!((&last["type"], &last["result"]), (&json!("result"), &json!("Done")));
        self.fake.main_requests().iter().flat_map(Recorded::tool_results).collect()
    }

    /// The same for a single command.
    fn result(&mut self) -> ToolResult {
        let mut results = self.end();
        assert_eq!(results.len(), 1, "{results:?}");
        results.remove(0)
    }
}

/// A CLI in the home of a stage, whose settings have the hooks that `callgate install` wrote.
pub(crate) fn claude(stage: &Stage, fake: &Messages) -> Claude {
    let claude = Claude::new(fake).env("HOME", stage.home.folder());
    let mut install = stage.callgate(&["install", "--agent", "claude"]);
    install.env("CLAUDE_CONFIG_DIR", claude.folder().join("config"));
    // It looks which version is there.
    let mut path = OsString::from(Claude::find().unwrap().parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    install.env("PATH", path);
    let said = run(install, 2 * DEADLINE).success().stdout;
    let settings = fs::read_to_string(claude.folder().join("config/settings.json")).unwrap();
    assert!(settings.contains("PermissionRequest"), "{settings}\n{said}");
    claude
}

/// The model wants to run a shell command.
pub(crate) fn runs(command: &str) -> Turn {
    let input = json!({ "command": command, "description": "For the test" });
    Turn::text(format!("I run {command}.")).tool("Bash", input)
}

/// The label of the one button that allows for longer than this time.
fn always(question: &Message) -> String {
    let labels = question.labels();
    let found: Vec<&&str> = labels.iter().filter(|label| label.contains("Always")).collect();
    assert_eq!(found.len(), 1, "{labels:?}");
    (*found[0]).to_owned()
}

#[test]
fn what_is_allowed_on_the_phone_runs() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &["touch x"]);
    let question = agent.question(&stage, "touch x");
    // The agent writes them down after its call.
    stage.shows(&question, "I run touch x.");
    assert!(!agent.work("x").exists());
    assert_eq!(stage.press(&question, "Allow").text, "Allowed by Ada");
    let result = agent.result();
    assert!(!result.is_error, "{result:?}");
    assert!(agent.work("x").exists());
    assert!(stage.shows(&question, "Allowed by Ada").shape.buttons.is_empty());
    stage.assert_story(
        "touch x",
        &[
            "asked",
            "pressed allow: decided",
            "decided allow by Ada",
            "delivered",
            "closed: Allowed by Ada",
            "ran, ok: true",
        ],
    );
    stage.phone.assert_nothing_refused();
}

#[test]
fn words_from_the_phone_reach_the_model() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &["make build"]);
    let question = agent.question(&stage, "make build");
    stage.phone.reply(ADA, ADA, question.id, "Nur `make test`, bitte: \"grün\".");
    let result = agent.result();
    assert!(result.is_error);
    assert_eq!(result.text, "Nur `make test`, bitte: \"grün\".");
    assert!(!agent.work("built").exists());
    assert!(stage.shows(&question, "Denied by Ada").shape.buttons.is_empty());
    let closed = "closed: Denied by Ada: Nur `make test`, bitte: \"grün\".";
    let denied = ["asked", "pressed words: decided", "decided deny by Ada", "delivered", closed];
    stage.assert_story("make build", &denied);
}

/// Always is pressed for the first command; the second is not asked about.
fn check_always(first: &str, second: &str, meaning: &str, changes_mode: bool) {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &[first, second]);
    let question = agent.question(&stage, first);
    let label = always(&question);
    let mut told = stage.press(&question, &label);
    let mut story = vec!["asked"];
    if told.text.contains("Press again to confirm") {
        // A second press counts as one when it comes a second or more after the first.
        thread::sleep(Duration::from_millis(1_500));
        told = stage.press(&question, &label);
        story.push("pressed always: not yet");
    }
    assert_eq!(story.len() > 1, changes_mode, "{told:?}");
    assert!(told.text.contains(meaning), "{told:?}");
    let results = agent.end();
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results.iter().all(|result| !result.is_error), "{results:?}");
    stage.shows(&question, meaning);
    let closed = format!("closed: {}", told.text);
    let decided = ["pressed always: decided", "decided allow by Ada", "delivered"];
    story.extend(decided.into_iter().chain([&*closed, "ran, ok: true"]));
    stage.assert_story(first, &story);
    let asked = stage.entries().iter().filter(|entry| entry.kind == "asked").count();
    assert_eq!(asked, 1, "nobody is asked a second time");
    // What ran without a question is in the ledger, too.
    stage.until("both runs are told", || {
        (stage.entries().iter().filter(|entry| entry.kind == "ran").count() == 2).then_some(())
    });
}

#[test]
fn a_command_that_is_always_allowed_is_not_asked_again() {
    check_always(
        "make build",
        "make build",
        "for good, in this project for you: make build",
        false,
    );
}

#[test]
fn edits_that_are_always_allowed_are_not_asked_again() {
    check_always("touch x", "touch y", "accept all edits", true);
}

#[test]
fn a_command_that_was_changed_runs_as_changed() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut page = stage.viewer();
    let mut agent = Agent::start(&stage, &["touch x"]);
    let question = agent.question(&stage, "touch x");
    let changed = json!({ "command": "touch other", "description": "For the test" });
    stage.change(&mut page, "touch x", &changed);
    assert!(!agent.result().is_error);
    assert!(agent.work("other").exists() && !agent.work("x").exists());
    stage.shows(&question, "Allowed by The page, with changes");
    stage.assert_story(
        "touch x",
        &[
            "asked",
            "pressed edit: decided",
            "decided allow by The page",
            "delivered",
            "closed: Allowed by The page, with changes",
            "ran, ok: true",
        ],
    );
}

#[test]
fn without_a_daemon_nothing_runs_and_the_agent_goes_on() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::unstarted("");
    let mut agent = Agent::start(&stage, &["touch x"]);
    // Nobody sits at a terminal, so the CLI's own way of asking is a no.
    assert!(agent.result().is_error);
    assert!(!agent.work("x").exists());
    assert!(!stage.database().exists());
}

#[test]
fn a_daemon_that_was_killed_and_started_again_still_lets_the_agent_run() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &["touch x"]);
    let question = agent.question(&stage, "touch x");
    stage.until("the daemon knows that the question has arrived", || {
        let store = Store::open_read_only(&stage.database()).unwrap();
        store.kept_under("copy/").unwrap().pop()
    });
    stage.kill();
    assert!(agent.group.wait(Duration::ZERO).is_none(), "the agent waits");
    stage.up();
    stage.assert_story("touch x", &["asked", "returned"]);
    stage.press(&question, "Allow");
    assert!(!agent.result().is_error);
    assert!(agent.work("x").exists());
    stage.shows(&question, "Allowed by Ada");
    stage.assert_story(
        "touch x",
        &[
            "asked",
            "returned",
            "pressed allow: decided",
            "decided allow by Ada",
            "delivered",
            "closed: Allowed by Ada",
            "ran, ok: true",
        ],
    );
}
