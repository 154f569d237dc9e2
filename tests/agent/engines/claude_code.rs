//! The real Claude Code CLI as the engine of a conversation.

use callgate_testkit::claude::Claude;
use callgate_testkit::messages::{Messages, Recorded, Turn};
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, words};

/// A turn of the model that runs a command.
pub(crate) fn runs(command: &str) -> Turn {
    Turn::tool_use("Bash", json!({"command": command, "description": "A command."}))
}

/// A runtime whose conversations the CLI answers, and whose CLI talks to the fake.
pub(crate) struct Stage {
    pub(crate) fake: Messages,
    pub(crate) setup: Setup,
    /// Holds the folders of the CLI.
    _claude: Claude,
}

impl Stage {
    /// `None` where the CLI is not installed.
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Option<Self> {
        let cli = Claude::find()?;
        let fake = Messages::start(turns);
        let claude = Claude::new(&fake);
        let mut setup = Setup::new();
        for (name, value) in claude.environment() {
            setup = setup.env(name.to_str().unwrap(), value.to_str().unwrap());
        }
        let home = setup.home().to_str().unwrap().to_owned();
        let setup = setup
            .env("HOME", &home)
            .env("CALLGATE_AGENT_ENGINE", "claude-code")
            .env("CALLGATE_AGENT_CLAUDE_CLI", cli.to_str().unwrap());
        Some(Self { fake, setup, _claude: claude })
    }

    /// What the model was told of each tool it used, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        let requests = self.fake.main_requests();
        let results = requests.iter().skip(1).flat_map(Recorded::tool_results);
        results.map(|result| result.text).collect()
    }
}

/// Sends a message and answers each question in this way.
pub(crate) fn say_and_answer(
    agent: &mut Runtime,
    id: &str,
    message: &str,
    decision: &str,
) -> Vec<Value> {
    agent.say(id, message);
    let mut all = Vec::new();
    loop {
        let event = agent.next_of(id);
        if event["type"] == "permission_request" {
            let question = event["data"]["question"].clone();
            agent.send(&json!({"id": "answer", "kind": "permission_answer", "question": question,
                "decision": decision}));
        }
        let is_end = event["type"] == "done" || event["type"] == "error";
        all.push(event);
        if is_end {
            return all;
        }
    }
}

pub(crate) fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn its_tools_are_asked_about_once_and_shown_with_their_results() {
    let turns = [runs("touch allowed"), runs("touch denied"), Turn::text("Done.")];
    let Some(stage) = Stage::new(turns) else { return };
    let setup = stage
        .setup
        .clone()
        .rules("[[rule]]\nname = \"no\"\ndecide = \"deny\"\ncommand = \"touch denied\"\n");
    let mut agent = setup.start();
    agent.hello();
    let all = say_and_answer(&mut agent, "1", "Go", "allow");
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    assert_eq!(words(&all), "Done.");
    let uses = of_type(&all, "tool_use");
    let results = of_type(&all, "tool_result");
    assert_eq!((uses.len(), results.len()), (2, 2), "{all:#?}");
    assert_eq!(uses[0]["data"]["toolName"], "Bash");
    let asked = of_type(&all, "permission_request");
    assert_eq!(asked.len(), 1, "asked once, and not about what a rule denies: {asked:#?}");
    assert_eq!(asked[0]["data"]["toolId"], uses[0]["data"]["toolId"]);
    let failed: Vec<bool> = results.iter().map(|it| it["data"]["isError"] == true).collect();
    assert_eq!(failed, [false, true]);
    let denied = &results[1]["data"]["result"];
    assert_eq!(denied["denied"], true, "a front end can name what was denied: {denied}");
    assert!(denied["error"].as_str().unwrap().contains("rule `no`"), "{denied}");
    assert!(setup.work().join("allowed").exists() && !setup.work().join("denied").exists());
    assert!(all.last().unwrap()["data"]["usage"]["outputTokens"].as_u64().unwrap() > 0);
}

#[test]
fn a_failed_command_is_shown_with_its_exit_code_or_time_limit() {
    let sleep = json!({"command": "echo begun; sleep 60", "description": "d", "timeout": 1000});
    let turns = [
        runs("echo out; echo err >&2; exit 3"),
        Turn::tool_use("Bash", sleep),
        Turn::text("Both have failed."),
    ];
    let Some(stage) = Stage::new(turns) else { return };
    // Otherwise the CLI goes on in the background with a command whose time is over.
    let setup = stage.setup.clone().env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1").runs();
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "Go");
    let all = agent.all("1");
    let results: Vec<&Value> =
        of_type(&all, "tool_result").iter().map(|it| &it["data"]["result"]).collect();
    let expected = json!([
        {"error": "failed with exit code 3", "exitCode": 3, "stdout": "out\nerr", "timedOut": false},
        {"error": "ended by the time limit of 1s", "exitCode": null, "stdout": "begun",
            "timedOut": true},
    ]);
    assert_eq!(json!(results), expected, "{all:#?}");
    let told = stage.told();
    assert!(told[0].starts_with("Exit code 3\n"), "the model reads the words of the CLI: {told:?}");
}

#[test]
fn what_a_person_denies_does_not_run_and_the_model_reads_why() {
    let Some(stage) = Stage::new([runs("touch it"), Turn::text("A pity.")]) else { return };
    let mut agent = stage.setup.start();
    agent.hello();
    let all = say_and_answer(&mut agent, "1", "Go", "deny");
    assert_eq!(words(&all), "A pity.");
    assert!(!stage.setup.work().join("it").exists());
    assert_eq!(of_type(&all, "permission_request").len(), 1);
    assert_eq!(stage.told().len(), 1);
}

#[test]
fn the_tools_of_the_runtime_are_offered_to_it() {
    let turn = Turn::tool_use("mcp__callgate__list_files", json!({"path": "."}));
    let Some(stage) = Stage::new([turn, Turn::text("One file.")]) else { return };
    let setup = stage.setup.clone().file("a.txt", "x");
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "Look");
    let all = agent.all("1");
    assert_eq!(words(&all), "One file.", "{all:#?}");
    let uses = of_type(&all, "tool_use");
    assert_eq!(uses[0]["data"]["toolName"], "list_files");
    assert_eq!(uses[0]["data"]["kind"], "read");
    assert!(stage.told()[0].contains("a.txt"), "{:?}", stage.told());
    let conversation = agent_conversation(&mut agent);
    let loaded = agent.load(&conversation);
    assert_eq!(loaded.len(), 4, "the round is stored like any other: {loaded:#?}");
}

pub(crate) fn agent_conversation(agent: &mut Runtime) -> String {
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    status["data"]["conversationId"].as_str().unwrap().to_owned()
}

#[test]
fn its_session_is_resumed_with_the_conversation_also_after_a_restart() {
    let turns = [Turn::text("First."), Turn::text("Second."), Turn::text("Third.")];
    let Some(stage) = Stage::new(turns) else { return };
    let mut agent = stage.setup.start();
    agent.hello();
    agent.say("1", "one");
    assert_eq!(words(&agent.all("1")), "First.");
    agent.say("2", "two");
    assert_eq!(words(&agent.all("2")), "Second.");
    agent.finish();
    let mut agent = stage.setup.clone().arg("--resume").start();
    agent.hello();
    agent.say("3", "three");
    assert_eq!(words(&agent.all("3")), "Third.");
    let last = stage.fake.last().body["messages"].to_string();
    for said in ["one", "First.", "two", "Second.", "three"] {
        assert!(last.contains(said), "{said}: {last}");
    }
    assert!(!last.contains("This is what was said"), "it knows by itself: {last}");
}

#[test]
fn a_session_that_does_not_fit_the_conversation_is_not_resumed() {
    let Some(stage) = Stage::new([Turn::text("First."), Turn::text("Other.")]) else { return };
    let mut agent = stage.setup.start();
    agent.hello();
    agent.say("1", "one");
    assert_eq!(words(&agent.all("1")), "First.");
    agent.send(&json!({"id": "2", "kind": "regenerate"}));
    assert_eq!(words(&agent.all("2")), "Other.");
    let last = stage.fake.last().body["messages"].to_string();
    assert!(!last.contains("First."), "{last}");
}
