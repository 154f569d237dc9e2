//! A program that drives the CLI is killed: after the next start nothing of it is left.

use std::fs;
use std::path::Path;
use std::process::Command;

use callgate_claude::{ClaudeSettings, Model, ToolTransport, blocking};
use callgate_testkit::leaks::Leaks;
use callgate_testkit::messages::Turn;
use callgate_testkit::process::{DEADLINE, Piped};
use callgate_testkit::tools;
use callgate_testkit::until::until;
use callgate_tools::{Host, NoArguments, Tool};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::{ENDLESS, Stage, TRANSPORTS, runs};

/// Set in the process that drives a CLI and is killed: what it needs to know.
const DRIVES: &str = "CALLGATE_TEST_DRIVES";

/// Not a test of its own: the process that [`driver`] starts and the tests kill.
#[test]
fn driving_process() {
    let Ok(told) = std::env::var(DRIVES) else { return };
    let told: Value = serde_json::from_str(&told).unwrap();
    let text = |name: &str| told[name].as_str().unwrap().to_owned();
    let mut settings = ClaudeSettings::new().cli(text("cli")).env_clear().folder(text("work"));
    settings = settings.temporary_folder(text("folder"));
    for (name, value) in told["environment"].as_object().unwrap() {
        settings = settings.env(name, value.as_str().unwrap());
    }
    let waits = Tool::blocking("waits", "Waits for its end.", |_: NoArguments, call| {
        println!("\n{}", json!({"entered": true}));
        while !call.is_cancelled() {
            std::thread::yield_now();
        }
    });
    let host = Host::new([waits]).unwrap().folder(text("folder"));
    let transport = if told["sdk"] == true { ToolTransport::Sdk } else { ToolTransport::Stdio };
    let mut model = Model::with_settings(settings);
    model.set_tools(host.bridge(env!("CARGO_BIN_EXE_callgate")), transport);
    println!("\n{}", json!({"ended": format!("{:?}", blocking::request(&model, "Go"))}));
}

/// A process that drives `cli`.
fn driver(stage: &Stage, cli: &Path, transport: ToolTransport) -> Piped {
    let environment = stage.claude.environment().iter();
    let mut environment: serde_json::Map<String, Value> = environment
        .map(|(name, value)| (name.to_str().unwrap().into(), value.to_str().unwrap().into()))
        .collect();
    environment.insert("CALLGATE_TEST_FOLDER".to_owned(), json!(stage.folder.path()));
    let told = json!({
        "cli": cli,
        "work": stage.claude.work(),
        "folder": stage.folder.path(),
        "environment": environment,
        "sdk": transport == ToolTransport::Sdk,
    });
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "killed::driving_process", "--nocapture", "--quiet"]);
    command.env(DRIVES, told.to_string());
    Piped::spawn(command)
}

/// Waits for a line of JSON of the driver.
fn heard(driver: &mut Piped) -> Value {
    loop {
        let line = driver.recv_line();
        if line.starts_with('{') {
            return serde_json::from_str(&line).unwrap();
        }
    }
}

/// Kills the driver; all that it has started ends by itself, and the next start tidies up.
fn kill_and_start_anew(
    stage: &Stage,
    mut driver: Piped,
    processes: Leaks,
    transport: ToolTransport,
) {
    driver.signal(Signal::KILL);
    driver.wait_exit(DEADLINE);
    processes.check();
    stage.fake.conversation("[again]", [Turn::text("All is well.")]);
    let answer = blocking::request(&stage.model(transport), "[again]");
    assert_eq!(answer.unwrap(), "All is well.");
    assert_eq!(fs::read_dir(stage.folder.path()).unwrap().count(), 0);
}

/// Watches what has this test's folder in its command line or environment, the folder aside.
fn processes(stage: &Stage) -> Leaks {
    Leaks::watch(stage.folder.path(), &[]).marker(stage.folder.path().to_str().unwrap())
}

#[test]
fn in_the_middle_of_a_tool() {
    for transport in TRANSPORTS {
        let turns = [Turn::tool_use("mcp__callgate__waits", json!({}))];
        let Some(stage) = Stage::new(turns) else { return };
        let processes = processes(&stage);
        let mut driver = driver(&stage, &tools::claude().unwrap(), transport);
        assert_eq!(heard(&mut driver), json!({"entered": true}));
        kill_and_start_anew(&stage, driver, processes, transport);
    }
}

#[test]
fn while_the_agent_runs_a_command() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([runs(ENDLESS)]) else { return };
        let processes = processes(&stage);
        let driver = driver(&stage, &tools::claude().unwrap(), transport);
        until("an endless command", || !stage.processes(ENDLESS).is_empty());
        kill_and_start_anew(&stage, driver, processes, transport);
    }
}

/// The file that tells of a bridge is there until the CLI has read it; tools behind the control
/// channel need none.
#[test]
fn before_the_cli_has_begun() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([]) else { return };
        let processes = processes(&stage);
        let cli = stage.program("sleeps", "exec sleep 1000");
        let driver = driver(&stage, &cli, transport);
        until("a sleep", || !stage.processes("sleep 1000").is_empty());
        let names = fs::read_dir(stage.folder.path()).unwrap().flatten();
        let names: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
        let has_file = names.iter().any(|name| name.starts_with("callgate_mcp_"));
        assert_eq!(has_file, transport == ToolTransport::Stdio, "{names:?}");
        assert_eq!(names.is_empty(), transport == ToolTransport::Sdk, "{names:?}");
        kill_and_start_anew(&stage, driver, processes, transport);
    }
}
