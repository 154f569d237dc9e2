//! Commands, from their input to their outcome.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use callgate_testkit::proc::is_running;
use serde_json::Value;
use tempfile::TempDir;

use callgate_wire::session::ToolStream;

use serde_json::value::to_raw_value;

use super::*;

/// A folder to run in, and what a command said while it ran.
struct Bench {
    folder: TempDir,
    tool: Arc<dyn AgentTool>,
    said: Arc<Mutex<Vec<(ToolStream, String)>>>,
}

impl Bench {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut RunSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C"), ("API_TOKEN", "abc")];
        let env = env.map(|(name, value)| (name.into(), value.into())).to_vec();
        let mut settings = RunSettings::new(folder.path().to_owned(), env);
        change(&mut settings);
        Self { folder, tool: build_shell_tool(settings), said: Arc::default() }
    }

    fn invocation(&self, input: &Value) -> ToolInvocation {
        let said = Arc::clone(&self.said);
        let progress = move |channel, text: &str| said.lock().unwrap().push((channel, text.into()));
        ToolInvocation {
            input: to_raw_value(input).unwrap(),
            conversation: "c".into(),
            address: crate::tool::CallAddress::default(),
            progress: Arc::new(progress),
            asker: crate::tool::PersonAsker::default(),
        }
    }

    async fn run(&self, input: Value) -> CallOutcome {
        let run = self.tool.run_call(self.invocation(&input));
        tokio::time::timeout(Duration::from_mins(1), run).await.expect("it hangs")
    }

    async fn sh(&self, script: &str) -> CallOutcome {
        self.run(json!({ "command": "sh", "args": ["-c", script] })).await
    }

    /// Waits until a file of the folder has a process id in it.
    async fn id_in(&self, name: &str) -> u32 {
        let file = self.folder.path().join(name);
        let read = || fs::read_to_string(&file).ok()?.trim().parse().ok();
        until(read, "a process id").await
    }
}

/// Waits for something.
async fn until<T>(mut look: impl FnMut() -> Option<T>, what: &str) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "there is never {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn gone(id: u32) {
    until(|| (!is_running(id)).then_some(()), "an end of the process").await;
}

fn result(outcome: &CallOutcome) -> Value {
    let mut result: Value = serde_json::from_str(outcome.result.get()).unwrap();
    if let Some(object) = result.as_object_mut()
        && let Some(took) = object.remove("durationMs")
    {
        assert!(took.is_u64());
    }
    result
}

#[tokio::test]
async fn a_command_gives_its_code_and_its_output() {
    let bench = Bench::new();
    let outcome = bench.sh("echo out; echo err >&2; exit 3").await;
    assert!(!outcome.is_error, "an exit code is an answer");
    assert_eq!(outcome.text, "exit code 3\nstdout:\nout\n\nstderr:\nerr\n");
    let expected = json!({
        "exitCode": 3, "stdout": "out\n", "stderr": "err\n", "timedOut": false, "truncated": false
    });
    assert_eq!(result(&outcome), expected);
    let silent = bench.run(json!({ "command": "true" })).await;
    assert_eq!(silent.text, "exit code 0\n(no output)");
}

#[tokio::test]
async fn arguments_are_taken_as_they_are() {
    let words = ["$HOME", "a b", "*", "; echo x", "", "ä\"'"];
    let args: Vec<&str> = ["%s|"].into_iter().chain(words).collect();
    let outcome = Bench::new().run(json!({ "command": "printf", "args": args })).await;
    assert_eq!(result(&outcome)["stdout"], "$HOME|a b|*|; echo x||ä\"'|");
}

#[tokio::test]
async fn what_cannot_be_started_says_what_to_do() {
    let bench = Bench::new();
    fs::write(bench.folder.path().join("plain"), "x").unwrap();
    fs::create_dir(bench.folder.path().join("src")).unwrap();
    for (input, expected) in [
        (json!({ "command": "make test" }), "perhaps {\"command\":\"make\",\"args\":[\"test\"]}"),
        (json!({ "command": "./make test", "args": [] }), "belong into `args`"),
        (json!({ "command": "no-such-program" }), "no program `no-such-program` on PATH"),
        (json!({ "command": "./no" }), "check the path"),
        (json!({ "command": "cd", "args": ["src"] }), "give the folder as `cwd`"),
        (json!({ "command": " " }), "the command is empty"),
        (json!({ "command": "./plain" }), "make it executable"),
        (json!({ "command": "./src" }), "is a folder"),
        (json!({ "command": "echo", "args": ["a\0b"] }), "NUL"),
        (json!({ "command": "echo", "args": "a b" }), "cannot be read"),
        (json!({ "command": "echo", "argv": [] }), "unknown field `argv`"),
        (json!({ "cmd": "echo" }), "cannot be read"),
        (json!(["echo", ["a"], null, null]), "cannot be read"),
        (json!({ "command": "echo", "timeoutSeconds": 0 }), "above 0"),
        (json!({ "command": "ls", "cwd": ".." }), "it is outside"),
        (json!({ "command": "ls", "cwd": "/" }), "it is outside"),
        (json!({ "command": "ls", "cwd": "none" }), "cannot run in the folder"),
        (json!({ "command": "ls", "cwd": "plain" }), "it is not a folder"),
    ] {
        let outcome = bench.run(input.clone()).await;
        assert!(outcome.is_error, "{input}");
        assert!(outcome.text.contains(expected), "{input}: {}", outcome.text);
        assert_eq!(result(&outcome)["error"], outcome.text);
    }
}

#[tokio::test]
async fn a_name_with_blanks_that_is_a_program_runs() {
    let bench = Bench::new();
    let program = bench.folder.path().join("my tool");
    std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
    let outcome = bench.run(json!({ "command": "./my tool", "args": ["-c", "echo $0"] })).await;
    assert_eq!(result(&outcome)["stdout"], "./my tool\n");
}

#[tokio::test]
async fn a_command_runs_in_its_folder() {
    let bench = Bench::new();
    let src = bench.folder.path().join("src");
    fs::create_dir(&src).unwrap();
    std::os::unix::fs::symlink("/", bench.folder.path().join("out")).unwrap();
    let pwd = |cwd: &'static str| {
        bench.run(json!({ "command": "sh", "args": ["-c", "pwd; echo $PWD"], "cwd": cwd }))
    };
    let shown = |path: &Path| format!("{0}\n{0}\n", path.canonicalize().unwrap().display());
    assert_eq!(result(&pwd("src").await)["stdout"], shown(&src));
    assert_eq!(result(&pwd(".").await)["stdout"], shown(bench.folder.path()));
    assert!(pwd("out").await.is_error, "a link leads outside");
    let refusal = |cwd: &str| {
        let input = to_raw_value(&json!({ "command": "pwd", "cwd": cwd })).unwrap();
        bench.tool.refusal(&input)
    };
    assert_eq!(refusal("src"), None);
    for outside in ["out", "..", "/"] {
        assert!(refusal(outside).unwrap().contains("it is outside"), "{outside}");
    }
}

#[test]
fn faults_are_found_before_anybody_is_asked() {
    let bench = Bench::new();
    let fault = |input: serde_json::Value, may_read: bool| {
        let context = FaultContext { conversation: "c", may_read: &|_| may_read };
        bench.tool.fault(&to_raw_value(&input).unwrap(), context)
    };
    let check = |input: serde_json::Value, part: &str| {
        let fault = fault(input.clone(), true).unwrap_or_else(|| panic!("{input}"));
        assert!(fault.contains(part), "{input}: {fault}");
    };
    assert_eq!(fault(json!({ "command": "sh", "args": ["-c", "exit"] }), true), None);
    check(json!({ "args": ["a"] }), "cannot be read");
    check(json!({ "command": "sh", "shell": true }), "cannot be read");
    check(json!({ "command": "no-such-program" }), "there is no program `no-such-program`");
    check(json!({ "command": "./missing" }), "check the path");
    check(json!({ "command": "sh", "cwd": "missing" }), "cannot run in the folder");
    check(json!({ "command": "sh", "timeoutSeconds": 0 }), "timeoutSeconds is 0");
    // Whether a file exists is not told where the model may not read.
    assert_eq!(fault(json!({ "command": "/root/missing" }), false), None);
}

#[tokio::test]
async fn the_environment_has_no_secrets_and_stdin_is_empty() {
    let outcome = Bench::new().sh("cat; env").await;
    let result = result(&outcome);
    let env = result["stdout"].as_str().unwrap();
    assert!(env.contains("LANG=C\n") && env.contains("TERM=dumb\n"), "{env}");
    assert!(!env.contains("API_TOKEN"), "{env}");
    assert!(!env.contains("CARGO"), "only what the settings give: {env}");
}

#[tokio::test]
async fn output_is_told_as_it_comes() {
    let bench = Bench::new();
    let run = bench.tool.run_call(bench.invocation(&json!({
        "command": "sh",
        "args": ["-c", "echo one; echo two >&2; until [ -e go ]; do sleep 0.01; done; echo three"],
    })));
    let said = || bench.said.lock().unwrap().clone();
    let both = async {
        until(|| (said().len() >= 2).then_some(()), "live output").await;
        fs::write(bench.folder.path().join("go"), "").unwrap();
    };
    let (outcome, ()) = tokio::join!(run, both);
    assert_eq!(result(&outcome)["stdout"], "one\nthree\n");
    let said = said();
    assert!(said.contains(&(ToolStream::Stdout, "one\n".into())), "{said:?}");
    assert!(said.contains(&(ToolStream::Stderr, "two\n".into())), "{said:?}");
    assert_eq!(said.last(), Some(&(ToolStream::Stdout, "three\n".into())));
}

#[tokio::test]
async fn the_time_limit_ends_everything_and_keeps_what_came() {
    let bench = Bench::new();
    // A shell that waited for `sleep` could still print that it was killed.
    let script = "echo begun; echo $$ >leader; \
                  setsid sh -c 'echo $$ >stray; exec sleep 1000' & exec sleep 1000";
    let outcome =
        bench.run(json!({ "command": "sh", "args": ["-c", script], "timeoutSeconds": 2.5 })).await;
    assert!(outcome.is_error);
    assert_eq!(outcome.text, "ended by the time limit of 2.5 s\nstdout:\nbegun\n");
    let expected = json!({
        "error": "ended by the time limit of 2.5 s", "exitCode": null, "stdout": "begun\n",
        "stderr": "", "timedOut": true, "truncated": false
    });
    assert_eq!(result(&outcome), expected);
    gone(bench.id_in("leader").await).await;
    gone(bench.id_in("stray").await).await;
}

/// Front ends wait 60 seconds for a word, and those without extensions get none before the result.
#[test]
fn a_command_ends_before_a_front_end_gives_up() {
    let settings = RunSettings::new("/".into(), Vec::new());
    assert!(time_limit(&settings, None).unwrap() < Duration::from_mins(1));
    assert_eq!(time_limit(&settings, Some(599.0)).unwrap(), Duration::from_secs(599));
    let schema = build_shell_tool(settings).spec().input_schema.to_string();
    assert!(schema.contains("50 by default, at most 600"), "{schema}");
    let bench = Bench::with(|settings| settings.timeout = Duration::from_secs(7));
    let schema = bench.tool.spec().input_schema.to_string();
    assert!(schema.contains("7 by default, at most 600"), "{schema}");
}

#[tokio::test]
async fn limits_of_the_settings_hold() {
    let bench = Bench::with(|settings| {
        settings.timeout = Duration::from_millis(200);
        settings.max_timeout = Duration::from_millis(300);
    });
    let slow = |wish: Value| {
        bench.run(json!({ "command": "sleep", "args": ["1000"], "timeoutSeconds": wish }))
    };
    assert_eq!(slow(Value::Null).await.text, "ended by the time limit of 0.2 s\n(no output)");
    for wish in [json!(1000), json!(1e300)] {
        assert_eq!(slow(wish).await.text, "ended by the time limit of 0.3 s\n(no output)");
    }
}

#[tokio::test]
async fn a_signal_is_a_failure() {
    let outcome = Bench::new().sh("kill -SEGV $$").await;
    assert!(outcome.is_error);
    assert_eq!(outcome.text, "ended by the signal SIGSEGV\n(no output)");
    assert_eq!(result(&outcome)["signal"], "SIGSEGV");
}

#[tokio::test]
async fn who_stays_in_the_background_neither_hangs_it_nor_survives() {
    let bench = Bench::new();
    let began = Instant::now();
    let outcome = bench.sh("sleep 1000 & echo $! >child; echo done").await;
    assert!(began.elapsed() < Duration::from_secs(30));
    let text = "exit code 0\nwhat it left running in the background was ended\nstdout:\ndone\n";
    assert_eq!(outcome.text, text);
    gone(bench.id_in("child").await).await;
}

#[tokio::test]
async fn who_has_left_the_group_does_not_survive_either() {
    let bench = Bench::new();
    let script = "(setsid sh -c 'echo $$ >stray; exec sleep 1000' >/dev/null 2>&1 &); \
                  until [ -s stray ]; do sleep 0.01; done";
    let outcome = bench.sh(script).await;
    assert_eq!(outcome.text, "exit code 0\n(no output)");
    gone(bench.id_in("stray").await).await;
}

#[tokio::test]
async fn who_gets_away_does_not_hang_it() {
    let bench = Bench::new();
    let script = "(setsid env -i sh -c 'echo $$ >away; exec sleep 1000' &); \
                  until [ -s away ]; do sleep 0.01; done; echo done";
    let outcome = bench.sh(script).await;
    assert_eq!(result(&outcome)["stdout"], "done\n");
    let away = bench.id_in("away").await;
    assert!(is_running(away), "the documented limit");
    let away = rustix::process::Pid::from_raw(i32::try_from(away).unwrap()).unwrap();
    rustix::process::kill_process(away, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn dropping_the_future_ends_the_family() {
    let bench = Bench::new();
    let script = "setsid sh -c 'echo $$ >stray; exec sleep 1000' & echo $$ >leader; sleep 1000";
    let mut run =
        bench.tool.run_call(bench.invocation(&json!({ "command": "sh", "args": ["-c", script] })));
    let ids = async { (bench.id_in("leader").await, bench.id_in("stray").await) };
    let ids = tokio::select! {
        outcome = &mut run => panic!("it has ended: {}", outcome.text),
        ids = ids => ids,
    };
    assert!(is_running(ids.0) && is_running(ids.1));
    drop(run);
    gone(ids.0).await;
    gone(ids.1).await;
}

#[test]
fn the_runtime_ends_only_after_its_commands() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = Bench::new();
    let id = runtime.block_on(async {
        let input = json!({ "command": "sh", "args": ["-c", "echo $$ >leader; exec sleep 1000"] });
        tokio::select! {
            outcome = bench.run(input) => panic!("it has ended: {}", outcome.text),
            id = bench.id_in("leader") => id,
        }
    });
    drop(runtime);
    assert!(!is_running(id));
}

#[tokio::test]
async fn a_flood_costs_little() {
    let bench = Bench::new();
    let script = "yes 'a line of a flood' & yes >&2";
    let outcome =
        bench.run(json!({ "command": "sh", "args": ["-c", script], "timeoutSeconds": 2 })).await;
    let result = result(&outcome);
    assert_eq!(result["truncated"], true);
    assert!(outcome.text.len() < MOST_OUTPUT + 500, "{}", outcome.text.len());
    let stdout = result["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("a line of a flood\n") && stdout.contains(" bytes left out …"));
    let said: usize = bench.said.lock().unwrap().iter().map(|(_, text)| text.len()).sum();
    assert!(said <= 2 * (live_output::MOST_LIVE + 2 * live_output::LARGEST_PIECE), "{said}");
    let pieces = bench.said.lock().unwrap().len();
    assert!(pieces < 200, "{pieces} pieces in two seconds");
}

#[tokio::test]
async fn a_quiet_stream_leaves_its_share_to_the_other() {
    let bench = Bench::with(|settings| settings.max_output = 1000);
    let outcome = bench.sh("echo short; head -c 5000 /dev/zero | tr '\\0' x >&2").await;
    let result = result(&outcome);
    assert_eq!(result["stdout"], "short\n");
    let stderr = result["stderr"].as_str().unwrap();
    assert!(stderr.len() > 900 && stderr.contains("left out"), "{}", stderr.len());
    assert!(outcome.text.len() < 1200, "{}", outcome.text.len());
}
