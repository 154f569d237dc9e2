//! A conversation in the window, with the real runtime and a strict fake of a model.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::page_chat::{
    answer_question, commands_that_fail_are_no_success, turns_with_failing_commands,
};
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::{proc, tools};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::manners::press;
use crate::stage::{Stage, StageOptions};

/// Starts the shell with a model behind its runtime.
fn with_model(model: &Messages) -> Option<Stage> {
    let variables =
        [("ANTHROPIC_API_KEY", "sk-test".to_owned()), ("ANTHROPIC_BASE_URL", model.url())];
    Stage::start(&StageOptions { variables: &variables, ..StageOptions::default() })
}

#[test]
fn an_answer_grows_in_steps_and_survives_a_reload() {
    let long = (0..400).map(|at| format!("word{at}")).collect::<Vec<_>>().join(" ");
    let model = Messages::start([
        Turn::text(&*long).pieces(12).stall_after(40),
        Turn::text("A second answer."),
    ]);
    let Some(stage) = with_model(&model) else { return };
    stage.begin_chat();
    stage.say("Count, please");
    // The model stalls in the middle, so what is seen now is a part of the answer.
    stage.page.wait_for_text("[data-turn]:last-of-type .answer", "word0");
    let part = stage.page.text("[data-turn]:last-of-type .answer");
    assert!(!part.contains("word399"), "{part}");
    stage.page.reload();
    stage.page.wait_for_text("[data-turn]:last-of-type .answer", "word0");
    assert_eq!(stage.page.count("[data-turn]"), 1, "a reload loses nothing and repeats nothing");
    stage.page.click("[data-stop]");
    stage.wait_for_answer("Stopped.");
    stage.page.wait_until_gone("[data-stop]");
    stage.say("And now?");
    stage.wait_for_answer("A second answer.");
    assert_eq!(stage.page.count("[data-turn]"), 2);
}

#[test]
fn tools_are_shown_and_what_is_risky_is_asked_in_the_window() {
    let write = |name: &str| Turn::tool_use("write_file", json!({"path": name, "content": "x"}));
    let model = Messages::start([
        Turn::tool_use("read_file", json!({"path": "notes.txt"})),
        Turn::text("You need milk."),
        write("allowed.txt"),
        Turn::text("Written."),
        write("denied.txt"),
        Turn::text("As you wish."),
    ]);
    let Some(stage) = with_model(&model) else { return };
    fs::write(stage.path("work/notes.txt"), "Buy milk.\n").unwrap();
    stage.begin_chat();
    stage.say("What do I need?");
    stage.wait_for_answer("You need milk.");
    assert_eq!(stage.page.count("[data-tool=read_file]"), 1);

    stage.say("Write it down");
    answer(&stage, "allowed.txt", "allow");
    stage.wait_for_answer("Written.");
    assert_eq!(fs::read_to_string(stage.path("work/allowed.txt")).unwrap(), "x");

    stage.say("Once more");
    answer(&stage, "denied.txt", "deny");
    stage.wait_for_answer("As you wish.");
    assert!(!stage.path("work/denied.txt").exists());
    the_status_is_shown(&stage);
    the_conversation_is_cleared(&stage);
    model.assert_played();
}

/// Answers the question about a file that is not there yet.
fn answer(stage: &Stage, file: &str, press: &str) {
    stage.page.wait_for_text(".chat-question .card", file);
    assert!(!stage.path(&format!("work/{file}")).exists(), "nobody has answered yet");
    answer_question(&stage.page, file, press);
}

#[test]
fn a_command_that_failed_is_no_success() {
    let model = Messages::start(turns_with_failing_commands());
    let Some(stage) = with_model(&model) else { return };
    stage.begin_chat();
    commands_that_fail_are_no_success(&stage.page);
    model.assert_played();
}

fn the_status_is_shown(stage: &Stage) {
    let _ = stage.page.run("location.hash = '#/status'", &json!([]));
    stage.page.wait_for_text("[data-fact=engine]", "anthropic");
    stage.page.wait_for_text("[data-fact=state]", "Idle");
    stage.page.wait_for_text("[data-fact=length]", "messages");
    let _ = stage.page.run("location.hash = '#/chat'", &json!([]));
}

fn the_conversation_is_cleared(stage: &Stage) {
    stage.page.wait_for("turns", "return document.querySelectorAll('[data-turn]').length === 3");
    stage.page.click("[data-clear]");
    stage.page.click("[data-sure]");
    stage.page.wait_until_gone("[data-turn]");
}

#[test]
fn files_are_attached_by_dropping_and_pasting_them() {
    let model = Messages::start([Turn::text("A plan and a picture.")]);
    let Some(python) = tools::gtk_python() else { return };
    let Some(stage) = with_model(&model) else { return };
    stage.begin_chat();
    fs::write(stage.path("plan.txt"), "of the engine").unwrap();
    fs::write(stage.path("list.txt"), "of the files").unwrap();
    fs::write(stage.path("dot.png"), DOT).unwrap();
    fs::write(stage.path("photo.png"), DOT).unwrap();
    drag(&stage, &python, &["plan.txt", "photo.png"]);
    stage.page.wait_for("the file", "return document.querySelector('[data-file=\"plan.txt\"]')");
    stage
        .page
        .wait_for("the photo", "return document.querySelector('[data-file=\"photo.png\"] img')");

    let desktop = &stage.desktop;
    let window = desktop.wait_for_window();
    desktop.xdotool(&["windowactivate", "--sync", &window]).expect("the window can be activated");
    let copied = paste(&stage, "image/png", &stage.path("dot.png"));
    stage
        .page
        .wait_for("the picture", "return document.querySelector('[data-file=\"pasted.png\"] img')");
    fs::write(stage.path("copied"), format!("file://{}\r\n", stage.path("list.txt").display()))
        .unwrap();
    drop(copied);
    let _copied = paste(&stage, "text/uri-list", &stage.path("copied"));
    stage.page.wait_for("the copy", "return document.querySelector('[data-file=\"list.txt\"]')");
    assert_eq!(stage.page.count("[data-file]"), 4);
    assert_eq!(
        stage.page.run("return document.querySelector('[data-message]').value", &json!([])),
        "",
        "the address of a file is no message"
    );
    stage.say("What is it?");
    stage.wait_for_answer("A plan and a picture.");
    let sent = model.last().body["messages"].to_string();
    for part in ["of the engine", "of the files"] {
        assert!(sent.contains(part), "{part} is not in {sent}");
    }
    assert_eq!(sent.matches("image/png").count(), 2, "both pictures are sent: {sent}");
}

/// The key that has a V in a Latin layout, as X11 numbers it, and М in a Cyrillic one.
const KEY_V: &str = "55";

#[test]
fn a_picture_is_pasted_in_a_cyrillic_layout() {
    let runtime = Some(r#"printf '{"type":"ready","timestamp":1}\n'; cat >/dev/null"#);
    let Some(stage) = Stage::start(&StageOptions { runtime, ..StageOptions::default() }) else {
        return;
    };
    stage.begin_chat();
    fs::write(stage.path("dot.png"), DOT).unwrap();
    let window = stage.desktop.wait_for_window();
    stage.desktop.xdotool(&["windowactivate", "--sync", &window]).unwrap();
    let mut command = Command::new("setxkbmap");
    command.args(["-layout", "ru,us"]).env("DISPLAY", &stage.desktop.display);
    command.stdin(Stdio::null());
    assert!(run(command, DEADLINE).status.success(), "the layout can be set");
    let _copied = copy(&stage, "image/png", &stage.path("dot.png"));
    stage.page.click("[data-message]");
    press(&stage.desktop, &format!("ctrl+{KEY_V}"));
    stage.page.wait_for("it", "return document.querySelector('[data-file=\"pasted.png\"] img')");
}

/// Drags files out of another program and drops them onto the window, by the mouse.
fn drag(stage: &Stage, python: &Path, files: &[&str]) {
    let desktop = &stage.desktop;
    let mut source = Command::new(python);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/window/drag_source.py");
    source.arg(script);
    source.args(files.iter().map(|file| format!("file://{}", stage.path(file).display())));
    source.env_clear().envs(desktop.environment()).stdin(Stdio::null());
    let _source = Group::spawn(source);
    let window = desktop.until("the other program", || {
        desktop.xdotool(&["search", "--onlyvisible", "--name", "^drag source$"])
    });
    desktop.xdotool(&["windowraise", &window]).expect("it comes to the front");
    desktop.xdotool(&["mousemove", "--window", &window, "30", "30"]).expect("the mouse moves");
    desktop.xdotool(&["mousedown", "1"]).expect("the button goes down");
    let mut at = 0;
    // The window notices what is held over it while the mouse moves.
    desktop.until("a drag over the window", || {
        at += 1;
        let (x, y) = (600 + at % 40, 500 + at % 7);
        desktop.xdotool(&["mousemove", &x.to_string(), &y.to_string()])?;
        let is_over = "return !!document.querySelector('.chat.is-dragging')";
        (stage.page.run(is_over, &json!([])) == true).then_some(())
    });
    desktop.xdotool(&["mouseup", "1"]).expect("the button goes up");
}

#[test]
fn an_answer_is_copied_and_a_conversation_is_saved_where_the_window_says() {
    let answer = "Milk, **bread** and tea.";
    let model = Messages::start([Turn::text(answer)]);
    let Some(stage) = with_model(&model) else { return };
    let (desktop, page) = (&stage.desktop, &stage.page);
    stage.begin_chat();
    stage.say("What do I need?");
    stage.wait_for_answer("Milk, bread and tea.");
    page.click("[data-copy-answer]");
    desktop.until("the answer is in the clipboard", || {
        let mut command = Command::new("xclip");
        command.args(["-selection", "clipboard", "-o"]).env("DISPLAY", &desktop.display);
        command.stdin(Stdio::null());
        (run(command, DEADLINE).stdout == answer).then_some(())
    });
    for name in ["What-do-I-need.md", "What-do-I-need (1).md"] {
        page.click("[data-conversation-menu] summary");
        page.click("[data-conversation-menu] [data-conversation=export]");
        let file = stage.path("Downloads").join(name);
        page.wait_for_text(".toasts", &format!("Saved as {}", file.display()));
        let saved = fs::read_to_string(file).unwrap();
        assert!(saved.contains("> What do I need?") && saved.contains(answer), "{saved}");
    }
    model.assert_played();
}

/// Copies what is in a file to the clipboard, as this kind, and presses the keys for pasting. The
/// clipboard has it until the program that is returned ends.
fn paste(stage: &Stage, kind: &str, file: &Path) -> Group {
    let owner = copy(stage, kind, file);
    stage.page.click("[data-message]");
    stage.desktop.xdotool(&["key", "ctrl+v"]).expect("keys can be pressed");
    owner
}

fn copy(stage: &Stage, kind: &str, file: &Path) -> Group {
    let xclip = |arguments: &[&str]| {
        let mut command = Command::new("xclip");
        command.args(["-selection", "clipboard", "-t"]).args(arguments);
        command.env("DISPLAY", &stage.desktop.display);
        command.stdin(Stdio::null());
        command
    };
    let mut owner = xclip(&[kind, "-quiet", "-i"]);
    owner.arg(file).stdout(Stdio::null()).stderr(Stdio::null());
    let owner = Group::spawn(owner);
    stage.desktop.until("it is in the clipboard", || {
        let offered = run(xclip(&["TARGETS", "-o"]), DEADLINE).stdout;
        offered.lines().any(|line| line == kind).then_some(())
    });
    owner
}

/// A picture of one point.
const DOT: &[u8] = &[
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0,
    0, 0, 31, 21, 196, 137, 0, 0, 0, 13, 73, 68, 65, 84, 120, 218, 99, 100, 248, 207, 80, 15, 0, 3,
    134, 1, 128, 90, 52, 125, 107, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

#[test]
fn a_page_that_does_not_read_needs_little_memory() {
    // A runtime that says 140 MB without being asked for more.
    let script = r#"printf '{"type":"ready","timestamp":1}\n'
        while IFS= read -r line; do
            id=$(sed 's/.*"id":"\([^"]*\)".*/\1/' <<<"$line")
            case $line in
            *user_message*)
                until [ -e "$HOME/go" ]; do sleep 0.05; done
                token=$(head -c 4000 /dev/zero | tr '\0' x)
                yes "$(printf '{"type":"token","id":"%s","token":"%s","timestamp":2}' "$id" "$token")" | head -n 35000
                printf '{"type":"done","id":"%s","timestamp":3}\n' "$id"
                touch "$HOME/said" ;;
            esac
        done"#;
    let options = StageOptions { runtime: Some(script), ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    // The chat itself would show all of it.
    let _ = stage.page.run("location.hash = '#/inbox'", &json!([]));
    stage.page.reload();
    stage.page.wait_for("no desk", "return document.querySelector('[data-no-desk]')");
    let start = json!({ "folder": stage.path("work").to_str().unwrap() });
    stage.invoke("chat_start", &start).unwrap();
    let line = json!({ "id": "a", "kind": "user_message", "message": "Go on" }).to_string();
    let _ = stage.page.run_async(
        "const [line, done] = arguments;
        const { invoke, Channel } = window.__TAURI__.core;
        const events = new Channel();
        events.onmessage = () => {};
        invoke('chat_watch', { session: null, after: null, events })
            .then(() => invoke('chat_send', { line }))
            .then(() => done(null), (error) => done(String(error)));",
        &json!([line]),
    );
    let stopped = StoppedPage::stop(&stage);
    let before = stopped.resident(&stage);
    fs::write(stage.path("go"), "").unwrap();
    stage.desktop.until("all was said", || stage.path("said").exists().then_some(()));
    let grown = stopped.resident(&stage).saturating_sub(before);
    assert!(grown < 24 << 20, "the window has grown by {} MiB", grown >> 20);
}

/// The processes of a page, which read nothing and do not grow by themselves, however long that
/// takes. Dropping it lets them go on.
struct StoppedPage(Vec<u32>);

impl StoppedPage {
    fn stop(stage: &Stage) -> Self {
        let home = stage.desktop.home.path().to_str().unwrap();
        let all = proc::all().into_iter().map(|process| process.pid);
        let page = all.filter(|pid| {
            proc::command_line(*pid).contains("WebKitWebProcess")
                && proc::environment(*pid).contains(home)
        });
        let page = Self(page.collect());
        assert!(!page.0.is_empty(), "the page has a process");
        page.signal(Signal::STOP);
        let is_stopped = |pid: &u32| proc::read(*pid).is_some_and(|process| process.state == 'T');
        stage.desktop.until("it is stopped", || page.0.iter().all(is_stopped).then_some(()));
        page
    }

    fn signal(&self, signal: Signal) {
        for pid in &self.0 {
            let pid = Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
            kill_process(pid, signal).ok();
        }
    }

    /// Returns the bytes of memory of the shell and of the page.
    fn resident(&self, stage: &Stage) -> u64 {
        let of = |pid: &u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
        };
        self.0.iter().chain([&stage.shell_pid()]).map(of).sum()
    }
}

impl Drop for StoppedPage {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
    }
}

#[test]
fn large_messages_arrive_in_order() {
    let Some(stage) = Stage::start(&StageOptions {
        settings: "[agent]\nengine = \"offline\"\n",
        ..StageOptions::default()
    }) else {
        return;
    };
    let folder = stage.path("work");
    let start = json!({ "folder": folder.to_str().unwrap() });
    let place = stage.invoke("chat_start", &start).unwrap();
    assert_eq!(place["folder"], folder.canonicalize().unwrap().to_str().unwrap());
    assert_eq!(stage.invoke("chat_start", &start), Ok(place), "it is found again");
    let elsewhere = stage.invoke("chat_start", &json!({ "folder": "/nowhere" })).unwrap_err();
    assert_eq!(elsewhere["status"], 400);
    let hello = json!({ "line": r#"{"id":"1","kind":"hello","capabilities":[]}"# });
    assert_eq!(stage.invoke("chat_send", &hello).unwrap_err()["status"], 403);
    // Small messages and large ones take different ways to the page.
    let events = stage.page.run_async(
        "const done = arguments[0];
        const { invoke, Channel } = window.__TAURI__.core;
        const seen = [];
        const events = new Channel();
        const sizes = [10, 50000, 20, 200000, 30];
        events.onmessage = (event) => {
            // The page asks for things of its own.
            if (event.event === 'request' && event.data.kind !== 'user_message') return;
            seen.push([event.event, event.id, JSON.stringify(event.data).length]);
            if (seen.filter(([kind]) => kind === 'request').length === sizes.length) done(seen);
        };
        (async () => {
            await invoke('chat_watch', { session: null, after: null, events });
            for (const size of sizes) {
                const message = 'x'.repeat(size);
                await invoke('chat_send', { line: JSON.stringify({ id: 'a', kind: 'user_message', message }) });
            }
        })();",
        &json!([]),
    );
    let numbers: Vec<u64> =
        events.as_array().unwrap().iter().filter_map(|event| event[1].as_u64()).collect();
    assert!(numbers.is_sorted() && numbers.len() >= 5, "{events}");
    assert_eq!(events[0][0], "session");
    let large = |event: &&Value| event[0] == "request" && event[2].as_u64() > Some(40_000);
    assert_eq!(events.as_array().unwrap().iter().filter(large).count(), 2);
}

/// Writes a picture of the window for the guide to the folder that `CALLGATE_PICTURES` names, if it
/// names one.
#[test]
fn picture_of_the_window() {
    let Some(folder) = std::env::var_os("CALLGATE_PICTURES") else { return };
    let file = tools::repo_root().join(folder).join("shell.png");
    let edit = json!({
        "path": "src/week.rs",
        "oldText": "    date.days_from_sunday()\n",
        "newText": "    // The report's weeks are ISO weeks.\n    date.days_from_monday()\n",
    });
    let model = Messages::start([
        Turn::text("I look at how the week is counted.")
            .tool("read_file", json!({ "path": "src/week.rs" })),
        Turn::text(
            "`week_start` counts from Sunday, but the report asks for the ISO week, which begins on \
             **Monday**. So on a Monday the first day is lost.",
        )
        .tool("edit_file", edit),
    ]);
    let Some(stage) = with_model(&model) else { return };
    fs::create_dir(stage.path("work/src")).unwrap();
    let code = "/// Returns how many days of the week have passed.\n\
        fn week_start(date: Date) -> u8 {\n    date.days_from_sunday()\n}\n";
    fs::write(stage.path("work/src/week.rs"), code).unwrap();
    stage.begin_chat();
    stage.say("Why does the report lose its Mondays? Mend it.");
    stage.page.wait_for_text(".chat-question .card", "week.rs");
    stage.page.wait_for(
        "presses count",
        "return document.querySelector('.chat-question [data-press=allow][aria-disabled=false]')",
    );
    let folder = "document.querySelector('.folder').textContent = 'report · /home/ada/report'";
    let _ = stage.page.run(folder, &json!([]));
    let picture = base64(&stage.page.picture());
    fs::write(file, picture).unwrap();
}

/// Decodes a text of base64.
fn base64(text: &str) -> Vec<u8> {
    let mut program = Command::new("base64");
    program.arg("-d").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writing =
        std::thread::spawn(move || std::io::Write::write_all(&mut input, text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    output.stdout
}
