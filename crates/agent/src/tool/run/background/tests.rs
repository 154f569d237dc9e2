//! Commands in the background, as a model uses them.

use serde_json::Value;
use std::fs;

use callgate_testkit::proc::is_running;
use serde_json::value::to_raw_value;
use tempfile::TempDir;

use super::*;

/// A folder to run in, and the tools.
struct Bench {
    folder: TempDir,
    source: BackgroundCommands,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let env = vec![("PATH".into(), path), ("API_TOKEN".into(), "secret".into())];
        let source = BackgroundCommands::new(RunSettings::new(folder.path().to_owned(), env));
        Self { folder, source }
    }

    fn tool(&self, name: &str) -> Arc<dyn AgentTool> {
        self.source.tools().into_iter().find(|tool| tool.spec().name == name).unwrap()
    }

    async fn run_in(&self, conversation: &str, name: &str, input: Value) -> CallOutcome {
        let (input, progress) = (to_raw_value(&input).unwrap(), Arc::new(|_, _: &str| ()));
        let conversation = conversation.into();
        self.tool(name)
            .run_call(ToolInvocation {
                input,
                conversation,
                address: crate::tool::CallAddress::default(),
                progress,
                asker: crate::tool::PersonAsker::default(),
            })
            .await
    }

    async fn done(&self, name: &str, input: Value) -> Value {
        let outcome = self.run_in("c", name, input).await;
        assert!(!outcome.is_error, "{}", outcome.text);
        serde_json::from_str(outcome.result.get()).unwrap()
    }

    async fn failed(&self, name: &str, input: Value) -> String {
        let outcome = self.run_in("c", name, input).await;
        assert!(outcome.is_error, "{}", outcome.text);
        outcome.text
    }

    /// Starts a script for `sh` and returns its id.
    async fn start(&self, script: &str) -> String {
        let input = json!({ "command": "sh", "args": ["-c", script] });
        self.done("start_command", input).await["id"].as_str().unwrap().to_owned()
    }

    /// Reads until the output has this text.
    async fn read_until(&self, id: &str, part: &str) -> Value {
        let mut all = String::new();
        loop {
            let news = self.done("read_command", json!({ "id": id, "waitSeconds": 30 })).await;
            all += news["output"].as_str().unwrap();
            if all.contains(part) {
                return json!({ "news": news, "all": all });
            }
            assert_eq!(news["running"], true, "{all}");
        }
    }
}

#[tokio::test]
async fn a_command_is_started_read_written_to_and_stopped() {
    let bench = Bench::new();
    let id = bench.start("echo ready; while read line; do echo \"got $line\" >&2; done").await;
    assert_eq!(id, "command-1");
    bench.read_until(&id, "ready\n").await;
    let wrote = bench.done("write_to_command", json!({ "id": id, "line": "one" })).await;
    assert_eq!(wrote, json!({ "id": id, "bytes": 4 }));
    bench.read_until(&id, "got one\n").await;
    // Nothing is read twice.
    let news = bench.done("read_command", json!({ "id": id })).await;
    assert_eq!((&news["running"], &news["output"]), (&json!(true), &json!("")));
    let news = bench.done("stop_command", json!({ "id": id })).await;
    assert_eq!((&news["running"], &news["signal"]), (&json!(false), &json!("SIGTERM")));
    let gone = bench.failed("read_command", json!({ "id": id })).await;
    assert!(gone.contains("there is no command \"command-1\""), "{gone}");
}

#[tokio::test]
async fn a_command_that_ends_by_itself_says_how() {
    let bench = Bench::new();
    let id = bench.start("cat; exit 3").await;
    bench.done("write_to_command", json!({ "id": id, "line": "last", "endInput": true })).await;
    let late = bench.failed("write_to_command", json!({ "id": id, "line": "x" })).await;
    assert!(late.contains("its input is closed"), "{late}");
    let mut news = bench.read_until(&id, "last\n").await["news"].clone();
    while news["running"] == true {
        news = bench.done("read_command", json!({ "id": id, "waitSeconds": 30 })).await;
    }
    assert_eq!(news["exitCode"], 3);
    // It is remembered until it is stopped.
    let again = bench.done("read_command", json!({ "id": id })).await;
    assert_eq!((&again["exitCode"], &again["output"]), (&json!(3), &json!("")));
}

#[tokio::test]
async fn a_command_belongs_to_its_conversation() {
    let bench = Bench::new();
    let id = bench.start("sleep 1000").await;
    for tool in ["read_command", "write_to_command", "stop_command"] {
        let mut input = json!({ "id": id });
        if tool == "write_to_command" {
            input["line"] = json!("x");
        }
        let outcome = bench.run_in("other", tool, input.clone()).await;
        assert!(outcome.is_error && outcome.text.contains("there are: none"), "{}", outcome.text);
        let may_read = |_: &str| true;
        let fault = |conversation: &str| {
            let context = FaultContext { conversation, may_read: &may_read };
            bench.tool(tool).fault(&to_raw_value(&input).unwrap(), context)
        };
        assert!(fault("other").unwrap().contains("there is no command"));
        assert_eq!(fault("c"), None, "{tool}");
    }
}

#[tokio::test]
async fn the_output_is_bounded() {
    let bench = Bench::new();
    let id = bench.start("yes | head -c 3000000; echo the end").await;
    let mut news;
    loop {
        news = bench.done("read_command", json!({ "id": id, "waitSeconds": 30 })).await;
        assert!(news["output"].as_str().unwrap().len() <= super::super::MOST_OUTPUT + 100);
        if news["running"] == false {
            break;
        }
    }
    assert!(news["output"].as_str().unwrap().ends_with("the end\n"), "{news}");
}

#[tokio::test]
async fn all_commands_end_with_the_session() {
    let bench = Bench::new();
    let script = "sleep 1000 & echo $$ $! > pids; wait";
    let id = bench.start(&format!("{script}; true")).await;
    let file = bench.folder.path().join("pids");
    let pids = loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if text.ends_with('\n') {
            break text;
        }
        tokio::task::yield_now().await;
    };
    let pids: Vec<u32> = pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2);
    bench.source.close().await;
    assert!(pids.iter().all(|pid| !is_running(*pid)), "{pids:?}");
    bench.failed("read_command", json!({ "id": id })).await;
}

#[tokio::test]
async fn what_cannot_be_started_is_told_and_there_are_limits() {
    let bench = Bench::new();
    let missing = bench.failed("start_command", json!({ "command": "no-such-program" })).await;
    assert!(missing.contains("there is no program `no-such-program`"), "{missing}");
    let outside = to_raw_value(&json!({ "command": "sh", "cwd": "/" })).unwrap();
    let refusal = bench.tool("start_command").refusal(&outside).unwrap();
    assert!(refusal.contains("it is outside"), "{refusal}");
    let unknown = bench.failed("start_command", json!({ "command": "sh", "env": {} })).await;
    assert!(unknown.contains("cannot be read"), "{unknown}");
    let id = bench.start("cat").await;
    let long =
        bench.failed("write_to_command", json!({ "id": id, "line": "x".repeat(LONGEST_LINE + 1) }));
    assert!(long.await.contains("are allowed"));
    let nothing = bench.failed("write_to_command", json!({ "id": id })).await;
    assert!(nothing.contains("`line` is missing"), "{nothing}");
    for _ in 1..MOST_RUNNING {
        bench.start("sleep 1000").await;
    }
    let input = json!({ "command": "sleep", "args": ["1000"] });
    let full = bench.failed("start_command", input).await;
    assert!(full.contains("end one with stop_command"), "{full}");
    // They get no secrets, like other commands.
    bench.done("stop_command", json!({ "id": id })).await;
    let id = bench.start("env; echo end").await;
    let env = bench.read_until(&id, "end\n").await["all"].to_string();
    assert!(env.contains("TERM=dumb") && !env.contains("API_TOKEN"), "{env}");
}
