//! What happens when something dies: the runtime, or the shell itself.

use std::time::{Duration, Instant};

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::proc;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::stage::{Stage, StageOptions};

fn kill(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn a_killed_runtime_is_an_error_at_once_and_is_started_again() {
    let model = Messages::start([
        Turn::text("It never ends, because the runtime is killed here.").pieces(4).stall_after(6),
        Turn::text("Here I am again."),
    ]);
    let variables =
        [("ANTHROPIC_API_KEY", "sk-test".to_owned()), ("ANTHROPIC_BASE_URL", model.url())];
    let options = StageOptions { variables: &variables, ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    stage.begin_chat();
    stage.say("Go on");
    stage.page.wait_for_text("[data-turn]:last-of-type .answer", "It");
    let first = stage.runtime_pid();
    let before = Instant::now();
    kill(first, Signal::KILL);
    stage.page.wait_for(
        "the turn is over",
        "return [...document.querySelectorAll('[data-turn]')].at(-1)?.dataset.over === 'true'",
    );
    assert!(before.elapsed() < Duration::from_secs(5), "after {:?}", before.elapsed());
    let text = stage.page.text("[data-turn]:last-of-type");
    assert!(text.contains("restarted"), "{text}");
    stage.desktop.until("another runtime", || (stage.runtime_pid() != first).then_some(()));
    stage.page.wait_until_gone("[data-runtime]");
    stage.say("Are you there?");
    stage.wait_for_answer("Here I am again.");
    assert!(stage.desktop.log().contains("callgate-shell: the runtime"), "{}", stage.desktop.log());
}

#[test]
fn a_page_whose_process_dies_is_loaded_again() {
    let Some(stage) = Stage::start(&StageOptions::default()) else { return };
    let home = stage.desktop.home.path().to_str().unwrap();
    let page = || {
        let is_page = |process: &&proc::ProcessEntry| {
            proc::command_line(process.pid).contains("WebKitWebProcess")
                && proc::environment(process.pid).contains(home)
        };
        proc::all().iter().find(is_page).map(|process| process.pid)
    };
    let first = stage.desktop.until("a page", page);
    kill(first, Signal::KILL);
    stage.desktop.until("another page", || page().filter(|pid| *pid != first));
    assert!(stage.desktop.log().contains("the process of the page has ended"));
    stage.desktop.wait_for_window();
}

#[test]
fn a_killed_shell_leaves_no_process() {
    for signal in [Signal::KILL, Signal::TERM] {
        let options =
            StageOptions { settings: "[agent]\nengine = \"offline\"\n", ..Default::default() };
        let Some(stage) = Stage::start(&options) else { return };
        let folder = stage.path("work");
        let start = json!({ "folder": folder.to_str().unwrap() });
        stage.invoke("chat_start", &start).unwrap();
        let (shell, runtime) = (stage.shell_pid(), stage.runtime_pid());
        kill(shell, signal);
        stage.desktop.until("the shell and the runtime have ended", || {
            let is_over = !proc::is_running(shell) && !proc::is_running(runtime);
            is_over.then_some(())
        });
        let home = stage.desktop.home.path().to_str().unwrap().to_owned();
        stage.desktop.until("nothing is left of it", || {
            let is_left = |process: &proc::ProcessEntry| {
                let program = proc::command_line(process.pid);
                let is_ours = ["callgate", "WebKitNetworkProcess", "WebKitWebProcess"]
                    .iter()
                    .any(|name| program.contains(name));
                is_ours && process.state != 'Z' && proc::environment(process.pid).contains(&home)
            };
            (!proc::all().iter().any(is_left)).then_some(())
        });
    }
}
