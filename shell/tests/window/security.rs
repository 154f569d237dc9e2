//! What the page cannot do, whatever is in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::stage::{Stage, StageOptions};

#[test]
fn only_granted_commands_and_places_are_reachable() {
    let folder = tempfile::tempdir().unwrap();
    let opened = folder.path().join("opened");
    let program = folder.path().join("xdg-open");
    fs::write(&program, format!("#!/bin/sh\necho \"$@\" >>{}\n", opened.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let variables = [("PATH", path)];
    let options = StageOptions { variables: &variables, ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    undeclared_commands_are_refused(&stage);
    nothing_else_is_loaded(&stage);
    settings_beyond_the_list_are_refused(&stage);

    for url in ["file:///etc/passwd", "javascript:1", "tauri://localhost/", "--version"] {
        let refused = stage.invoke("open_outside", &json!({ "url": url })).unwrap_err();
        assert_eq!(refused["status"], 403, "{url}");
    }
    let url = json!({ "url": "https://example.com/?a=b&c" });
    assert_eq!(stage.invoke("open_outside", &url), Ok(Value::Null));
    // The program makes the file before it writes to it.
    let look = || fs::read_to_string(&opened).ok().filter(|seen| seen.ends_with('\n'));
    let seen = stage.desktop.until("a browser", look);
    assert_eq!(seen, "https://example.com/?a=b&c\n");
}

fn undeclared_commands_are_refused(stage: &Stage) {
    for command in [
        "no_such_command",
        "plugin:window|close",
        "plugin:window|set_title",
        "plugin:webview|create_webview_window",
        "plugin:event|emit",
        "plugin:path|resolve_directory",
        "plugin:app|version",
        "plugin:resources|close",
        "plugin:menu|new",
        "plugin:image|from_path",
        "plugin:shell|execute",
        "plugin:fs|read_file",
    ] {
        let refused = stage.invoke(command, &json!({})).unwrap_err();
        let text = refused.to_string();
        let is_refused = text.contains("not allowed") || text.contains("not found");
        assert!(is_refused, "{command}: {text}");
    }
}

/// Navigation, new windows, frames, inline scripts and requests to others do nothing.
fn nothing_else_is_loaded(stage: &Stage) {
    let page = &stage.page;
    let before = page.run("return location.href", &json!([]));
    assert_eq!(before.as_str().map(|url| url.starts_with("tauri://localhost")), Some(true));
    let outcome = page.run_async(
        "const done = arguments[0];
        const tried = {};
        tried.opened = window.open('https://example.com/') === null;
        const script = document.createElement('script');
        try { script.text = 'window.taken = 1'; } catch { tried.types = true; }
        document.head.append(script);
        try { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.taken=1\">'); }
        catch { tried.markup = true; }
        const frame = document.createElement('iframe');
        frame.src = 'https://example.com/';
        document.body.append(frame);
        try { eval('window.taken = 1'); } catch { tried.eval = true; }
        const others = ['https://example.com/', 'http://127.0.0.1:9/', 'file:///etc/passwd'];
        Promise.all(others.map((url) => fetch(url).then(() => false, () => true)))
            .then((all) => { frame.remove(); tried.fetch = all.every(Boolean);
                tried.taken = window.taken === undefined; done(tried); });",
        &json!([]),
    );
    for (what, held) in outcome.as_object().unwrap() {
        assert_eq!(held, true, "{what}: {outcome}");
    }
    let _ = page.run("location.href = 'https://example.com/'", &json!([]));
    let _ = page.run("location.assign('file:///etc/passwd')", &json!([]));
    page.wait_for("the page stays", "return location.href.startsWith('tauri://localhost')");
    assert_eq!(stage.desktop.windows().len(), 1);
}

fn settings_beyond_the_list_are_refused(stage: &Stage) {
    for key in ["agent.api_key_command", "database", "socket", "telegram.token_file", "rules"] {
        let write = json!({ "key": key, "value": "/tmp/x" });
        assert_eq!(stage.invoke("settings_write", &write).unwrap_err()["status"], 403, "{key}");
    }
    let read = stage.invoke("settings_read", &json!({})).unwrap();
    let keys: Vec<&str> = read["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|setting| setting["key"].as_str().unwrap())
        .collect();
    assert_eq!(
        keys,
        ["agent.engine", "agent.model", "agent.roots", "shell.shortcut", "shell.theme"]
    );
}
