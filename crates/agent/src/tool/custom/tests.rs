//! Tools of the user's own, and those that are not.

use std::os::unix::fs::{PermissionsExt, symlink};

use callgate_wire::session::PermissionAnswer;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::gate::{GateQuestion, PermissionGate, ToolPermit};
use crate::tool::{CallOutcome, ToolInvocation};

/// Reads `{"name": …}` and greets.
const GREET: &str = "#!/bin/sh\nread line\necho \"got $line\"\necho note >&2\n";

struct Bench {
    home: TempDir,
    tools: CustomTools,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Bench {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("callgate/tools");
        fs::create_dir_all(&folder).unwrap();
        for folder in [&folder, &home.path().join("callgate")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let work = home.path().join("work");
        fs::create_dir(&work).unwrap();
        let env = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&warnings);
        let warn = Arc::new(move |what: &str| lock(&heard).push(what.to_owned()));
        let tools = CustomTools::new(folder, RunSettings::new(work, env), warn);
        Self { home, tools, warnings }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("callgate/tools").join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) {
        fs::write(self.path(name), content).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn greeter(&self) {
        self.put("greet", GREET, 0o700);
        self.put("greet.json", json!({"description": "Greets."}).to_string(), 0o600);
    }

    fn names(&self) -> Vec<String> {
        self.tools.0.refresh();
        self.tools.tools().iter().map(|tool| tool.spec().name.to_string()).collect()
    }

    /// Checks that there is no tool, and why.
    fn check_refused(&self, expected: &str) {
        assert_eq!(self.names(), [""; 0]);
        let warnings = std::mem::take(&mut *lock(&self.warnings));
        assert!(warnings.iter().any(|text| text.contains(expected)), "{warnings:?}");
    }

    async fn run(&self, input: &Value) -> CallOutcome {
        self.tools.0.refresh();
        let tool = self.tools.tools().remove(0);
        let progress = Arc::new(|_, _: &str| {});
        tool.run_call(ToolInvocation {
            input: raw_json(input),
            conversation: "c".into(),
            address: crate::tool::CallAddress::default(),
            progress,
            asker: crate::tool::PersonAsker::default(),
        })
        .await
    }
}

#[tokio::test]
async fn a_program_reads_its_input_and_prints_its_result() {
    let bench = Bench::new();
    assert_eq!(bench.names(), [""; 0]);
    bench.greeter();
    assert_eq!(bench.names(), ["custom__greet"]);
    let outcome = bench.run(&json!({"name": "Ada"})).await;
    assert!(!outcome.is_error && outcome.text.contains(r#"got {"name":"Ada"}"#), "{outcome:?}");
    assert!(outcome.text.contains("note"), "{}", outcome.text);
    // A description that is changed counts at once.
    let revision = bench.tools.revision();
    bench.put("greet.json", json!({"description": "Greets you."}).to_string(), 0o600);
    bench.tools.0.refresh();
    assert!(bench.tools.revision() > revision);
    assert_eq!(bench.tools.tools()[0].spec().description, "Greets you.");
    bench.tools.0.refresh();
    assert_eq!(bench.tools.revision(), revision + 1, "nothing has changed");
}

#[tokio::test]
async fn a_large_input_arrives_whole_and_a_failure_is_one() {
    let bench = Bench::new();
    bench.greeter();
    bench.put("greet", "#!/bin/sh\nwc -c\n", 0o700);
    let outcome = bench.run(&json!({"text": "x".repeat(1_000_000)})).await;
    assert!(outcome.text.contains("1000011"), "{}", outcome.text);
    bench.put("greet", "#!/bin/sh\necho broken >&2\nexit 3\n", 0o700);
    let outcome = bench.run(&json!({})).await;
    assert!(outcome.is_error && outcome.text.contains("broken"), "{outcome:?}");
    assert!(outcome.text.contains("exit code 3"), "{}", outcome.text);
}

#[test]
fn what_others_could_have_put_there_is_not_used() {
    let bench = Bench::new();
    bench.greeter();
    assert_eq!(bench.names(), ["custom__greet"]);
    bench.put("greet.json", json!({"description": "Greets."}).to_string(), 0o620);
    bench.check_refused("others can write");
    bench.greeter();
    bench.put("greet", GREET, 0o702);
    bench.check_refused("others can write");
    bench.put("greet", GREET, 0o600);
    bench.check_refused("not executable");
    fs::remove_file(bench.path("greet")).unwrap();
    bench.check_refused("is missing");
    symlink("/bin/sh", bench.path("greet")).unwrap();
    bench.check_refused("not a regular file");
    fs::remove_file(bench.path("greet")).unwrap();
    bench.greeter();
    fs::rename(bench.path("greet.json"), bench.path("real")).unwrap();
    symlink(bench.path("real"), bench.path("greet.json")).unwrap();
    bench.check_refused("cannot be opened");
    fs::remove_file(bench.path("greet.json")).unwrap();
    bench.greeter();
    for folder in ["callgate", "callgate/tools"] {
        let folder = bench.home.path().join(folder);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        bench.put("greet.json", json!({"description": folder}).to_string(), 0o600);
        bench.check_refused("others can write");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn a_description_that_is_none_is_not_used() {
    let bench = Bench::new();
    bench.greeter();
    let check = |text: &str, expected: &str| {
        bench.put("greet.json", text, 0o600);
        bench.check_refused(expected);
    };
    check("{", "EOF");
    check(r#"{"description": " "}"#, "empty");
    check(r#"{"description": "a", "input_schema": []}"#, "not an object");
    // One such schema would make the model service refuse every message.
    check(
        r#"{"description": "a", "input_schema": {"type": "array"}}"#,
        "not described as an object",
    );
    check(r#"{"description": "a", "input_schema": {"required": 1}}"#, "malformed");
    check(r#"{"description": "a", "command": "sh"}"#, "unknown field");
    check(&format!(r#"{{"description": "{}"}}"#, "x".repeat(70_000)), "it is larger than");
    fs::remove_file(bench.path("greet.json")).unwrap();
    bench.put("Bash run.json", r#"{"description": "a"}"#, 0o600);
    bench.check_refused("its name must be");
}

#[tokio::test]
async fn a_program_that_has_become_unsafe_does_not_run() {
    let bench = Bench::new();
    bench.greeter();
    bench.tools.0.refresh();
    let tool = bench.tools.tools().remove(0);
    bench.put("greet", GREET, 0o722);
    let progress = Arc::new(|_, _: &str| {});
    let outcome = tool
        .run_call(ToolInvocation {
            input: raw_json(&json!({})),
            conversation: "c".into(),
            address: crate::tool::CallAddress::default(),
            progress,
            asker: crate::tool::PersonAsker::default(),
        })
        .await;
    assert!(outcome.is_error && outcome.text.contains("others can write"), "{outcome:?}");
}

#[tokio::test]
async fn they_are_read_before_a_turn() {
    struct Shut;
    impl PermissionGate for Shut {
        fn decide_question(&self, _: GateQuestion) -> BoxFuture<'_, ToolPermit> {
            unreachable!("nobody is asked whether a tool is offered")
        }
        fn answer(&self, _: PermissionAnswer) -> BoxFuture<'_, Result<String, String>> {
            unreachable!("nobody was asked")
        }
        fn note_unattended(&self) {}
    }
    let bench = Bench::new();
    bench.greeter();
    assert!(bench.tools.tools().is_empty());
    bench
        .tools
        .prepare(TurnContext {
            gate: &Shut,
            conversation: "c",
            may_ask: true,
            mirror: None,
            notices: Arc::new(|_| {}),
            asker: crate::tool::PersonAsker::default(),
            stay: crate::tool::TurnStay::default(),
        })
        .await;
    assert_eq!(bench.tools.tools().len(), 1);
}
