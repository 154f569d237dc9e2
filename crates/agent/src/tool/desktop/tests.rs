//! The desktop under Xvfb, with the real helpers.

use crate::tool::{ToolInvocation, raw_json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use callgate_testkit::tools::xvfb;
use tempfile::TempDir;

use super::*;
use crate::message::MediaSource;

/// A display of its own, ended when it is dropped.
struct TestDisplay {
    server: Child,
    name: String,
}

impl TestDisplay {
    /// Starts a display with a number that the server chooses.
    fn start() -> Option<Self> {
        use std::io::Read;
        let mut server = Command::new(xvfb()?)
            .args(["-displayfd", "1", "-screen", "0", "320x240x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        let mut output = server.stdout.take().unwrap();
        // The number ends with a newline, once the display can be used.
        while !number.ends_with('\n') {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            number.push(char::from(byte[0]));
        }
        Some(Self { server, name: format!(":{}", number.trim()) })
    }
}

impl Drop for TestDisplay {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

fn settings(work: &TempDir, vars: &[(&str, &str)]) -> RunSettings {
    let path = std::env::var("PATH").unwrap();
    let all = [("PATH", path.as_str())];
    let env = all.iter().chain(vars).map(|(name, value)| (name.into(), value.into()));
    RunSettings::new(work.path().to_owned(), env.collect())
}

async fn run(settings: &RunSettings, name: &str, input: Value) -> CallOutcome {
    let tools = build_desktop_tools(settings);
    let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
    let progress = Arc::new(|_, _: &str| {});
    tool.run_call(ToolInvocation {
        input: raw_json(&input),
        conversation: "c".into(),
        address: crate::tool::CallAddress::default(),
        progress,
        asker: crate::tool::PersonAsker::default(),
    })
    .await
}

#[test]
fn without_a_display_nothing_is_offered() {
    let work = TempDir::new().unwrap();
    assert!(build_desktop_tools(&settings(&work, &[])).is_empty());
    assert!(build_desktop_tools(&settings(&work, &[("DISPLAY", "")])).is_empty());
    let offered = build_desktop_tools(&settings(&work, &[("DISPLAY", ":0")]));
    let names: Vec<&str> = offered.iter().map(|tool| &*tool.spec().name).collect();
    assert_eq!(
        names,
        ["open_in_default_app", "read_clipboard", "write_clipboard", "capture_screenshot"]
    );
    assert!(offered.iter().all(|tool| !tool.spec().is_read_only));
}

#[tokio::test]
async fn what_is_written_to_the_clipboard_can_be_read() {
    let Some(screen) = TestDisplay::start() else { return };
    let work = TempDir::new().unwrap();
    let settings = settings(&work, &[("DISPLAY", &screen.name)]);
    let empty = run(&settings, "read_clipboard", json!({})).await;
    assert!(empty.is_error, "{empty:?}");
    let text = "Grüße\n".repeat(20_000);
    let written = run(&settings, "write_clipboard", json!({ "content": "Grüße" })).await;
    assert!(!written.is_error, "{written:?}");
    assert_eq!(run(&settings, "read_clipboard", json!({})).await.text, "Grüße");
    run(&settings, "write_clipboard", json!({ "content": text })).await;
    let long = run(&settings, "read_clipboard", json!({})).await;
    assert!(long.is_error && long.text.contains("more than 100000 bytes"), "{}", long.text);
    assert!(run(&settings, "write_clipboard", json!({})).await.is_error);
}

#[tokio::test]
async fn the_model_sees_the_screen() {
    let Some(screen) = TestDisplay::start() else { return };
    let work = TempDir::new().unwrap();
    let settings = settings(&work, &[("DISPLAY", &screen.name)]);
    let taken = run(&settings, "capture_screenshot", json!({ "mode": "screen" })).await;
    assert!(!taken.is_error, "{}", taken.text);
    let [MediaSource::Base64 { media_type, .. }] = &taken.images[..] else {
        panic!("{} pictures", taken.images.len())
    };
    assert_eq!(media_type, "image/png");
    // Nothing has the focus.
    let window = run(&settings, "capture_screenshot", json!({ "mode": "window" })).await;
    assert!(window.is_error && window.text.contains("scrot failed"), "{}", window.text);
    assert!(run(&settings, "capture_screenshot", json!({ "mode": "all" })).await.is_error);
}

#[tokio::test]
async fn an_absent_helper_is_named_with_its_package() {
    let work = TempDir::new().unwrap();
    let nowhere = work.path().to_str().unwrap();
    for (variable, expected) in [
        (
            "DISPLAY",
            "this needs xclip or xsel, and none is installed: ask the user to install the package xclip",
        ),
        (
            "WAYLAND_DISPLAY",
            "this needs wl-paste, and none is installed: ask the user to install the package wl-clipboard",
        ),
    ] {
        let env = [("PATH", nowhere), (variable, ":0")];
        let env = env.map(|(name, value)| (name.into(), value.into())).to_vec();
        let settings = RunSettings::new(work.path().to_owned(), env);
        let outcome = run(&settings, "read_clipboard", json!({})).await;
        assert_eq!(outcome.text, expected);
    }
}

#[tokio::test]
async fn what_is_opened_is_an_address_or_a_file_and_never_an_option() {
    let work = TempDir::new().unwrap();
    let opener = work.path().join("xdg-open");
    fs::write(&opener, "#!/bin/sh\nprintf %s \"$1\" > opened\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(work.path().join("--help"), "").unwrap();
    let env = [("PATH", work.path().to_str().unwrap()), ("DISPLAY", ":0")];
    let env = env.map(|(name, value)| (name.into(), value.into())).to_vec();
    let settings = RunSettings::new(work.path().to_owned(), env);
    let file = format!("{}/--help", work.path().display());
    for (target, expected) in
        [("https://example.org/?a=b", "https://example.org/?a=b"), ("--help", &file)]
    {
        let outcome = run(&settings, "open_in_default_app", json!({ "target": target })).await;
        assert!(!outcome.is_error, "{outcome:?}");
        assert_eq!(fs::read_to_string(work.path().join("opened")).unwrap(), expected);
    }
    for target in ["", "--version", "javascript:alert(1)", "nowhere.txt"] {
        let outcome = run(&settings, "open_in_default_app", json!({ "target": target })).await;
        assert!(outcome.is_error && outcome.text.contains("neither a file"), "{outcome:?}");
    }
    fs::write(&opener, "#!/bin/sh\nexit 4\n").unwrap();
    let outcome = run(&settings, "open_in_default_app", json!({ "target": "--help" })).await;
    assert!(outcome.is_error && outcome.text.contains("xdg-open failed"), "{outcome:?}");
}
