//! How the window behaves on the desktop: shortcut, Escape, closing, second start, place and size,
//! tray and notifications.

use serde_json::{Value, json};

use crate::bus_services::{IconPanel, NoticeService};
use crate::inbox::{go, start_linked_desk};
use crate::stage::{Stage, StageOptions};
use crate::test_desktop::TestDesktop;

/// Presses keys as a person does, wherever the focus is.
pub(crate) fn press(desktop: &TestDesktop, keys: &str) {
    desktop.xdotool(&["key", "--clearmodifiers", keys]).expect("keys can be pressed");
}

/// Waits until the window has the focus, and in it the composer.
fn wait_for_composer(stage: &Stage) {
    let window = stage.desktop.wait_for_window();
    stage.desktop.until("the window has the focus", || {
        (stage.desktop.xdotool(&["getactivewindow"]).as_ref() == Some(&window)).then_some(())
    });
    stage.page.wait_for(
        "the focus",
        "return document.hasFocus() && document.activeElement.matches('[data-message]')",
    );
}

/// Leaves the chat, and hides the window.
fn hide_in_settings(stage: &Stage) {
    go(stage, "settings");
    stage.page.wait_for("settings", "return document.querySelector('[data-view=settings]')");
    hide(stage);
}

fn hide(stage: &Stage) {
    assert_eq!(stage.invoke("window_hide", &json!({})), Ok(Value::Null));
    stage.desktop.wait_for_no_window();
}

/// Types into the window that has the focus, as hands do, once the composer has it.
pub(crate) fn type_message(stage: &Stage, words: &str) {
    wait_for_composer(stage);
    stage.desktop.xdotool(&["type", "--delay", "20", words]).expect("keys can be pressed");
    stage.page.wait_for(
        words,
        &format!("return document.querySelector('[data-message]').value === {}", json!(words)),
    );
}

#[test]
fn the_shortcut_toggles_the_window_and_can_be_changed() {
    let options = StageOptions { arguments: &["--debug"], ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    let desktop = &stage.desktop;
    let window = desktop.wait_for_window();
    desktop.xdotool(&["windowactivate", "--sync", &window]).expect("the window can be activated");
    // The shortcut is taken a moment after the window is there.
    desktop.until("the shortcut is taken", || {
        desktop.log().contains("shortcut: Ctrl+Shift+Space").then_some(())
    });
    press(desktop, "ctrl+shift+space");
    desktop.wait_for_no_window();
    press(desktop, "ctrl+shift+space");
    let window = desktop.wait_for_window();
    desktop.until("the window has the focus", || {
        (desktop.xdotool(&["getactivewindow"]).as_ref() == Some(&window)).then_some(())
    });
    // Whoever calls the window can write at once, wherever the page was left.
    let _ = stage.page.run("location.hash = '#/settings'", &json!([]));
    stage.page.wait_for("settings", "return document.querySelector('[data-view=settings]')");
    press(desktop, "ctrl+shift+space");
    desktop.wait_for_no_window();
    press(desktop, "ctrl+shift+space");
    type_message(&stage, "add");
    press(desktop, "ctrl+shift+space");
    desktop.wait_for_no_window();

    let write = json!({ "key": "shell.shortcut", "value": "Ctrl+Alt+K" });
    assert_eq!(stage.invoke("settings_write", &write), Ok(Value::Null));
    press(desktop, "ctrl+alt+k");
    desktop.wait_for_window();
    press(desktop, "ctrl+shift+space");
    press(desktop, "ctrl+alt+k");
    desktop.wait_for_no_window();
    let refused = stage.invoke("settings_write", &json!({ "key": "shell.shortcut", "value": "K" }));
    assert_eq!(refused.unwrap_err()["status"], 400);
    press(desktop, "ctrl+alt+k");
    desktop.wait_for_window();
    // Nothing at all is no shortcut, and unsetting it brings the default back.
    let write = json!({ "key": "shell.shortcut", "value": "" });
    assert_eq!(stage.invoke("settings_write", &write), Ok(Value::Null));
    press(desktop, "ctrl+alt+k");
    let write = json!({ "key": "shell.shortcut", "value": null });
    assert_eq!(stage.invoke("settings_write", &write), Ok(Value::Null));
    assert_eq!(desktop.windows().len(), 1, "a key that is no shortcut any more hides nothing");
    desktop.xdotool(&["windowactivate", "--sync", &desktop.wait_for_window()]).unwrap();
    press(desktop, "ctrl+shift+space");
    desktop.wait_for_no_window();
}

/// Hides the window, calls it by the shortcut, and writes a message by hand.
fn call_and_write(stage: &Stage, words: &str) {
    hide(stage);
    press(&stage.desktop, "ctrl+shift+space");
    type_message(stage, words);
    take_message_back(stage);
}

fn take_message_back(stage: &Stage) {
    press(&stage.desktop, "ctrl+a");
    press(&stage.desktop, "BackSpace");
    stage.page.wait_for("nothing", "return document.querySelector('[data-message]').value === ''");
}

#[test]
fn the_shortcut_leads_to_the_composer_from_an_empty_field_and_from_the_list() {
    let options = StageOptions { arguments: &["--debug"], ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    let (desktop, page) = (&stage.desktop, &stage.page);
    let window = desktop.wait_for_window();
    desktop.until("the shortcut is taken", || {
        desktop.log().contains("shortcut: Ctrl+Shift+Space").then_some(())
    });
    go(&stage, "inbox");
    let _desk = start_linked_desk(&stage);
    go(&stage, "history");
    // The view may be drawn once more after the first click: the desk has only just come.
    desktop.until("the search has the focus", || {
        page.click("#search");
        let has_focus = page.run("return document.activeElement.id === 'search'", &json!([]));
        (has_focus == json!(true)).then_some(())
    });
    call_and_write(&stage, "add");

    // Without the focus anywhere, what is typed is a message, too.
    let _ = page.run("document.activeElement.blur()", &json!([]));
    page.wait_for("no focus", "return document.activeElement === document.body");
    desktop.xdotool(&["type", "--delay", "20", "gh1"]).expect("keys can be pressed");
    page.wait_for("gh1", "return document.querySelector('[data-message]').value === 'gh1'");
    take_message_back(&stage);

    desktop.xdotool(&["windowsize", "--sync", &window, "700", "500"]).unwrap();
    page.wait_for("a narrow window", "return innerWidth < 1100");
    page.click("[data-list]");
    let is_listed = "return !document.querySelector('[data-message]').checkVisibility()";
    page.wait_for("the list", is_listed);
    call_and_write(&stage, "add");
}

#[test]
fn closing_hides_and_a_second_start_raises_the_window() {
    let Some(stage) = Stage::start(&StageOptions::default()) else { return };
    let desktop = &stage.desktop;
    let window = desktop.wait_for_window();
    let shell = stage.shell_pid();
    // The window manager asks the window to close.
    desktop.xdotool(&["windowactivate", "--sync", &window]).expect("the window can be activated");
    press(desktop, "alt+F4");
    desktop.wait_for_no_window();
    stage.start_again(&[]);
    desktop.wait_for_window();
    assert_eq!(stage.shell_pid(), shell, "there is one shell");
    wait_for_composer(&stage);
    hide_in_settings(&stage);
    stage.start_again(&["--toggle"]);
    wait_for_composer(&stage);
    assert!(!desktop.log().contains("panicked"), "{}", desktop.log());
}

#[test]
fn escape_hides_the_window() {
    let Some(stage) = Stage::start(&StageOptions::default()) else { return };
    stage.desktop.wait_for_window();
    // Escape, by the number that WebDriver has for it.
    stage.page.press_keys("\u{e00c}");
    stage.desktop.wait_for_no_window();
}

/// Returns where the window is and how large, as the window manager has it.
fn geometry(desktop: &TestDesktop, window: &str) -> String {
    let text = desktop.xdotool(&["getwindowgeometry", "--shell", window]).unwrap_or_default();
    let is_geometry =
        |line: &&str| ["X=", "Y=", "WIDTH", "HEIGHT"].iter().any(|it| line.starts_with(it));
    text.lines().filter(is_geometry).collect::<Vec<_>>().join(" ")
}

#[test]
fn size_and_place_are_remembered() {
    let Some(stage) = Stage::start(&StageOptions::default()) else { return };
    let desktop = &stage.desktop;
    let window = desktop.wait_for_window();
    desktop.xdotool(&["windowsize", "--sync", &window, "700", "500"]).unwrap();
    desktop.xdotool(&["windowmove", "--sync", &window, "210", "120"]).unwrap();
    let moved = desktop.until("the size", || {
        let now = geometry(desktop, &window);
        (now.contains("WIDTH=700") && now.contains("HEIGHT=500")).then_some(now)
    });
    for _ in 0..3 {
        assert_eq!(stage.invoke("window_hide", &json!({})), Ok(Value::Null));
        desktop.wait_for_no_window();
        stage.start_again(&[]);
        let window = desktop.wait_for_window();
        desktop.until("the same place after hiding", || {
            (geometry(desktop, &window) == moved).then_some(())
        });
    }
    assert_eq!(stage.invoke("window_hide", &json!({})), Ok(Value::Null));
    desktop.wait_for_no_window();
    let desktop = stage.end();
    let Some(stage) = Stage::start_on(desktop, &StageOptions::default()) else { return };
    let window = stage.desktop.wait_for_window();
    stage.desktop.until("the same place after a new start", || {
        (geometry(&stage.desktop, &window) == moved).then_some(())
    });
}

#[test]
fn the_menu_of_the_tray_restarts_the_runtime() {
    let Some(desktop) = TestDesktop::start() else { return };
    let panel = IconPanel::start(&desktop);
    let settings = "[agent]\nengine = \"offline\"\n";
    let options = StageOptions { settings, ..StageOptions::default() };
    let Some(stage) = Stage::start_on(desktop, &options) else { return };
    stage.begin_chat();
    let first = stage.runtime_pid();
    panel.choose("Restart");
    stage.desktop.until("another runtime", || {
        (!callgate_testkit::proc::is_running(first) && stage.runtime_pid() != first).then_some(())
    });
    stage.page.wait_until_gone("[data-runtime]");
    stage.say("list files");
    stage.wait_for_answer("files");
}

#[test]
fn a_folder_is_chosen_in_a_dialog_of_the_system() {
    let Some(stage) = Stage::start(&StageOptions::default()) else { return };
    let desktop = &stage.desktop;
    desktop.wait_for_window();
    let dialog = || {
        let found = desktop.xdotool(&["search", "--onlyvisible", "--name", "^Choose a folder$"]);
        found.and_then(|found| found.lines().next().map(str::to_owned))
    };
    let open = |button: &str| {
        stage.page.click(button);
        let window = desktop.until("the dialog", dialog);
        desktop.xdotool(&["windowactivate", "--sync", &window]).expect("it can be activated");
    };
    stage.begin_chat();
    stage.page.click(".folder");
    open("[data-choose-folder]");
    let refused = stage.invoke("folder_choose", &json!({ "first": null })).unwrap_err();
    assert_eq!(refused["status"], 409, "one dialog at a time");
    press(desktop, "Escape");
    desktop.until("no dialog", || dialog().is_none().then_some(()));
    let typed =
        || stage.page.run("return document.querySelector('[data-folder]').value", &json!([]));
    let before = stage.path("work");
    assert_eq!(typed(), before.to_str().unwrap(), "nothing was chosen");
    open("[data-choose-folder]");
    let folder = stage.path("other");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    // A path that is typed is a place in GTK's dialog.
    desktop.xdotool(&["type", "--delay", "20", folder]).expect("keys can be pressed");
    press(desktop, "Return");
    stage.page.wait_for("the folder", &format!("return {FOLDER} === {}", json!(folder)));

    let _ = stage.page.run("location.hash = '#/settings'", &json!([]));
    open("[data-add-folder]");
    desktop.xdotool(&["type", "--delay", "20", folder]).expect("keys can be pressed");
    press(desktop, "Return");
    let file = stage.path(".config/callgate/config.toml");
    desktop.until("the folder is a setting", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        text.contains(&format!("roots = [{before:?}, \"{folder}\"]")).then_some(())
    });
}

const FOLDER: &str = "document.querySelector('[data-folder]').value";

#[test]
fn the_tray_has_a_menu_and_counts_what_waits() {
    let Some(desktop) = TestDesktop::start() else { return };
    let panel = IconPanel::start(&desktop);
    let Some(stage) = Stage::start_on(desktop, &StageOptions::default()) else { return };
    let desktop = &stage.desktop;
    desktop.wait_for_window();
    assert_eq!(panel.title(), "callgate");
    let (status, quiet) = panel.look();
    assert_eq!(status, "Active");
    assert_eq!(stage.invoke("waiting_changed", &json!({ "count": 2 })), Ok(Value::Null));
    assert_eq!(panel.title(), "callgate: 2 questions wait");
    let (status, waiting) = panel.look();
    assert_eq!(status, "NeedsAttention");
    assert!(quiet != waiting, "the icon has a badge");
    let window = desktop.wait_for_window();
    desktop.until("the window counts too", || {
        let name = desktop.xdotool(&["getwindowname", &window])?;
        (name == "callgate: 2 questions wait").then_some(())
    });
    assert_eq!(stage.invoke("waiting_changed", &json!({ "count": 0 })), Ok(Value::Null));
    assert_eq!((panel.title(), panel.look().1), ("callgate".to_owned(), quiet));

    hide_in_settings(&stage);
    panel.choose("Show");
    wait_for_composer(&stage);
    hide_in_settings(&stage);
    panel.click();
    wait_for_composer(&stage);
    listen(&stage);
    panel.choose("Status");
    assert_eq!(heard(&stage, 1), json!([{ "kind": "status" }]));
    let shell = stage.shell_pid();
    panel.choose("Quit");
    desktop.until("the shell has ended", || {
        (!callgate_testkit::proc::is_running(shell)).then_some(())
    });
}

/// Collects what the shell tells the page from now on.
fn listen(stage: &Stage) {
    let _ = stage.page.run_async(
        "const done = arguments[0]; window.heard = [];
        window.__TAURI__.event.listen('shell', (event) => window.heard.push(event.payload))
            .then(() => done(null), (error) => done(String(error)));",
        &json!([]),
    );
}

fn heard(stage: &Stage, count: usize) -> Value {
    stage.page.wait_for("events", &format!("return window.heard.length >= {count}"));
    stage.page.run("return window.heard", &json!([]))
}

#[test]
fn a_question_is_notified_without_its_command_and_can_be_opened_and_denied() {
    let Some(desktop) = TestDesktop::start() else { return };
    let service = NoticeService::start(&desktop);
    let Some(stage) = Stage::start_on(desktop, &StageOptions::default()) else { return };
    let desktop = &stage.desktop;
    desktop.wait_for_window();
    listen(&stage);
    let notify = |id: &str| {
        let question =
            json!({ "id": id, "agent": "Claude Code", "project": "engine", "kind": "Run" });
        desktop.until("the shell can notify", || stage.invoke("notify", &question).ok());
    };
    notify("q1");
    let notice = service.wait_for(1);
    assert_eq!((&*notice.summary, &*notice.body), ("Claude Code asks", "Run in engine"));
    assert_eq!(notice.actions, ["default", "Open", "open", "Open", "deny", "Deny"]);
    assert_eq!(stage.invoke("window_hide", &json!({})), Ok(Value::Null));
    desktop.wait_for_no_window();
    service.press(notice.id, "deny");
    assert_eq!(heard(&stage, 1), json!([{ "kind": "deny_question", "id": "q1" }]));
    assert_eq!(desktop.windows(), Vec::<String>::new(), "a denial needs no window");
    // The numbers of others are not ours.
    service.press(9_999, "open");
    notify("q2");
    let second = service.wait_for(2);
    service.press(second.id, "open");
    desktop.wait_for_window();
    assert_eq!(heard(&stage, 2)[1], json!({ "kind": "open_question", "id": "q2" }));
    assert_eq!(stage.invoke("waiting_changed", &json!({ "count": 0 })), Ok(Value::Null));
    service.wait_until_closed(notice.id);
    service.wait_until_closed(second.id);
}
