//! The window as an assistant that is one keystroke away: its first screen, a shortcut that is
//! taken, a second start with a folder, and answers that come while it is hidden.

use std::fs;
use std::path::Path;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::page_chat::answer_question;
use serde_json::{Value, json};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, GrabMode, ModMask};
use x11rb::rust_connection::RustConnection;

use crate::bus_services::NoticeService;
use crate::manners::{press, type_message};
use crate::stage::{Stage, StageOptions};
use crate::test_desktop::TestDesktop;

/// A screen of 1920 points at a scale of 1.5: GTK draws for a scale of 2, and the display shrinks
/// that.
const SCALED_SCREEN: &str = "2560x1800x24";

/// Waits until the chat works in a folder.
fn wait_for_folder(stage: &Stage, folder: &Path) {
    let shown = "document.querySelector('.folder')?.textContent";
    stage.page.wait_for("the folder", &format!("return {shown}.includes({})", json!(folder)));
}

/// Whether a file in a folder, or in one below it, has this path in it, as storages of pages have
/// texts.
fn holds_text(folder: &Path, path: &Path) -> bool {
    let wide = path.to_str().unwrap().encode_utf16().flat_map(u16::to_le_bytes);
    let wide: Vec<u8> = wide.collect();
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let found = entry.path();
            let bytes = || fs::read(&found).unwrap_or_default();
            holds_text(&found, path) || bytes().windows(wide.len()).any(|part| part == wide)
        })
    })
}

#[test]
fn the_first_screen_is_a_composer_in_the_home_folder_beside_the_conversations() {
    let Some(desktop) = TestDesktop::start_with_screen(SCALED_SCREEN) else { return };
    let settings = "[agent]\nengine = \"offline\"\n";
    let variables = &[("GDK_SCALE", "2".to_owned())];
    let options =
        StageOptions { is_folderless: true, settings, variables, ..StageOptions::default() };
    let Some(stage) = Stage::start_on(desktop, &options) else { return };
    type_message(&stage, "Good morning");
    let home = stage.desktop.home.path().canonicalize().unwrap();
    wait_for_folder(&stage, &home);
    let is_full = "return devicePixelRatio === 2 && innerWidth >= 1100
        && document.querySelector('.chat .list-pane').checkVisibility()
        && document.querySelector('.nav .brand span').offsetWidth > 10";
    assert_eq!(stage.page.run(is_full, &json!([])), true, "not all of it is side by side");

    // The last folder is the first of the next start, and a second start has its own.
    let other = stage.path("other");
    fs::create_dir(&other).unwrap();
    stage.start_again(&[other.to_str().unwrap()]);
    wait_for_folder(&stage, &other);
    stage.begin_chat();
    stage.say("list files");
    stage.wait_for_answer("files");
    // WebKit writes what the page keeps a moment later.
    let stored = stage.path(".local/share/dev.callgate.shell");
    stage.desktop.until("the folder is stored", || holds_text(&stored, &other).then_some(()));
    let Some(stage) = Stage::start_on(stage.end(), &options) else { return };
    wait_for_folder(&stage, &other);
    // What was said before is beside the composer.
    stage.page.wait_for(
        "a recent conversation",
        "const row = document.querySelector('.list-pane .conversation');
        return row?.checkVisibility() && row.textContent.includes('list files')
            && document.querySelector('[data-message]').checkVisibility()",
    );
}

#[test]
fn a_shortcut_and_a_message_are_answered_and_no_key_answers_a_question_that_comes_meanwhile() {
    let write = json!({ "path": "list.txt", "content": "x" });
    let model = Messages::start([Turn::tool_use("write_file", write), Turn::text("Written.")]);
    let variables =
        [("ANTHROPIC_API_KEY", "sk-test".to_owned()), ("ANTHROPIC_BASE_URL", model.url())];
    let arguments = &["--debug"];
    let options = StageOptions { variables: &variables, arguments, ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    let desktop = &stage.desktop;
    desktop.wait_for_window();
    desktop.until("the shortcut is taken", || {
        desktop.log().contains("shortcut: Ctrl+Shift+Space").then_some(())
    });
    assert_eq!(stage.invoke("window_hide", &json!({})), Ok(Value::Null));
    desktop.wait_for_no_window();
    press(desktop, "ctrl+shift+space");
    type_message(&stage, "Write it down");
    press(desktop, "Return");
    // The question comes while these are typed, or soon after.
    desktop.xdotool(&["type", "--delay", "20", "add"]).expect("keys can be pressed");
    stage.page.wait_for_text(".chat-question .card", "list.txt");
    stage.page.wait_for(
        "presses count",
        "return document.querySelector('.chat-question [data-press=allow][aria-disabled=false]')",
    );
    desktop.xdotool(&["type", "--delay", "20", "add1"]).expect("keys can be pressed");
    stage.page.wait_for(
        "all keys are in the message",
        "return document.querySelector('[data-message]').value === 'addadd1'",
    );
    assert!(!stage.path("work/list.txt").exists(), "a letter of a message has allowed it");
    answer_question(&stage.page, "list.txt", "allow");
    stage.wait_for_answer("Written.");
    assert!(stage.path("work/list.txt").exists());
    model.assert_played();
}

#[test]
fn a_shortcut_that_another_program_has_is_told_in_the_window() {
    let Some(desktop) = TestDesktop::start() else { return };
    let (other, screen) = RustConnection::connect(Some(&desktop.display)).unwrap();
    let root = other.setup().roots[screen].root;
    let modifiers = ModMask::CONTROL | ModMask::SHIFT;
    let (first, mapping) = (other.setup().min_keycode, {
        let (first, last) = (other.setup().min_keycode, other.setup().max_keycode);
        other.get_keyboard_mapping(first, last - first + 1).unwrap().reply().unwrap()
    });
    let mut keys = mapping.keysyms.chunks(usize::from(mapping.keysyms_per_keycode));
    let space = keys.position(|names| names.first() == Some(&u32::from(b' '))).unwrap();
    let space = first + u8::try_from(space).unwrap();
    let mode = GrabMode::ASYNC;
    other.grab_key(false, root, modifiers, space, mode, mode).unwrap().check().unwrap();

    let Some(stage) = Stage::start_on(desktop, &StageOptions::default()) else { return };
    let told = "[data-shortcut-problem]";
    stage.page.wait_for_text(told, "Ctrl+Shift+Space: another program has this shortcut");
    // A page that is loaded later knows it, too.
    stage.page.reload();
    stage.page.wait_for_text(told, "another program");
    let write = json!({ "key": "shell.shortcut", "value": "Ctrl+Alt+K" });
    assert_eq!(stage.invoke("settings_write", &write), Ok(Value::Null));
    stage.page.wait_until_gone(told);
}

/// Answers when the user's home has the file `go`.
const SLOW: &str = r#"printf '{"type":"ready","timestamp":1}\n'
    while IFS= read -r line; do
        id=$(sed 's/.*"id":"\([^"]*\)".*/\1/' <<<"$line")
        case $line in
        *user_message*)
            until [ -e "$HOME/go" ]; do sleep 0.05; done
            printf '{"type":"token","id":"%s","token":"a-secret-word","timestamp":2}\n' "$id" ;;
        esac
        printf '{"type":"done","id":"%s","timestamp":%s000}\n' "$id" "$(date +%s)"
    done"#;

#[test]
fn an_answer_that_comes_while_the_window_is_hidden_is_notified() {
    let Some(desktop) = TestDesktop::start() else { return };
    let service = NoticeService::start(&desktop);
    let options = StageOptions { runtime: Some(SLOW), ..StageOptions::default() };
    let Some(stage) = Stage::start_on(desktop, &options) else { return };
    stage.desktop.wait_for_window();
    stage.begin_chat();
    stage.say("Take your time");
    assert_eq!(stage.invoke("window_hide", &json!({})), Ok(Value::Null));
    stage.desktop.wait_for_no_window();
    fs::write(stage.path("go"), "").unwrap();
    let notice = service.wait_for(1);
    assert_eq!((&*notice.summary, &*notice.body), ("Answer ready", "in work"));
    assert_eq!(notice.actions, ["default", "Open", "open", "Open"]);
    service.press(notice.id, "open");
    stage.desktop.wait_for_window();
    stage.wait_for_answer("a-secret-word");
    service.wait_until_closed(notice.id);
}

/// The page tells the shell of it, which the tests of the page check.
#[test]
fn a_call_without_a_verdict_is_notified_and_leads_to_the_history() {
    let Some(desktop) = TestDesktop::start() else { return };
    let service = NoticeService::start(&desktop);
    let Some(stage) = Stage::start_on(desktop, &StageOptions::default()) else { return };
    stage.desktop.wait_for_window();
    assert_eq!(stage.invoke("window_hide", &json!({})), Ok(Value::Null));
    stage.desktop.wait_for_no_window();
    let run = json!({ "agent": "Kimi Code", "project": "engine" });
    assert_eq!(stage.invoke("notify_unchecked", &run), Ok(Value::Null));
    let notice = service.wait_for(1);
    assert_eq!(notice.summary, "Kimi Code ran a call without a verdict");
    assert_eq!(notice.body, "in engine: its hook did not ask");
    service.press(notice.id, "open");
    stage.desktop.wait_for_window();
    stage.page.wait_for("the history", "return location.hash.startsWith('#/history')");
}
