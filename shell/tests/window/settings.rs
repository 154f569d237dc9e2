//! The settings of the page in the window, which `callgate config` reads and writes.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::script::write_program;
use callgate_testkit::tools;
use serde_json::{Value, json};

use crate::bus_services::wait_for_service;
use crate::stage::{Stage, StageOptions};
use crate::test_desktop::TestDesktop;

#[test]
fn settings_are_saved_and_kept() {
    let settings = "# Mine.\n[agent]\nengine = \"offline\" # for now\n";
    let options = StageOptions { settings, ..StageOptions::default() };
    let Some(stage) = Stage::start(&options) else { return };
    let _ = stage.page.run("location.hash = '#/settings'", &json!([]));
    stage.page.wait_for(
        "the field",
        "return document.querySelector(\"[data-setting='agent.model'] input\")",
    );
    let _ = stage.page.run(
        "const field = document.querySelector(\"[data-setting='agent.model'] input\");
        field.value = 'claude-opus-4-8';
        field.dispatchEvent(new Event('change', { bubbles: true }))",
        &json!([]),
    );
    let file = stage.path(".config/callgate/config.toml");
    stage.desktop.until("the settings file", || {
        let text = fs::read_to_string(&file).unwrap();
        text.contains("model = \"claude-opus-4-8\"").then_some(())
    });
    let theme = json!({ "key": "shell.theme", "value": "dark" });
    stage.invoke("settings_write", &theme).unwrap();
    stage
        .page
        .wait_for("dark colours", "return matchMedia('(prefers-color-scheme: dark)').matches");
    let model = |value: Value| json!({ "key": "agent.model", "value": value });
    stage.invoke("settings_write", &model(Value::Null)).unwrap();
    assert!(!fs::read_to_string(&file).unwrap().contains("model"), "nothing is the default");
    stage.invoke("settings_write", &model(json!("claude-opus-4-8"))).unwrap();
    let roots = json!({ "key": "agent.roots", "value": ["/srv", "/usr"] });
    stage.invoke("settings_write", &roots).unwrap();
    let wrong = json!({ "key": "agent.engine", "value": "steam" });
    let refused = stage.invoke("settings_write", &wrong).unwrap_err();
    assert_eq!(refused["status"], 400);
    assert!(refused["text"].as_str().unwrap().contains("agent.engine"), "{refused}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("# Mine.") && text.contains("# for now"), "{text}");
    assert!(text.contains("theme = \"dark\"") && !text.contains("steam"), "{text}");

    let desktop = stage.end();
    let Some(stage) = Stage::start_on(desktop, &StageOptions::default()) else { return };
    let read = stage.invoke("settings_read", &json!({})).unwrap();
    let value = |key: &str| {
        let all = read["settings"].as_array().unwrap();
        all.iter().find(|setting| setting["key"] == key).unwrap()["value"].clone()
    };
    assert_eq!(value("agent.model"), "claude-opus-4-8");
    assert_eq!(value("agent.roots"), json!(["/srv", "/usr"]));
    assert_eq!((value("shell.theme"), value("agent.engine")), (json!("dark"), json!("offline")));
    stage.desktop.until("the theme is known", || {
        (stage.invoke("shell_info", &json!({})).unwrap()["theme"] == "dark").then_some(())
    });
}

#[test]
fn the_key_of_the_model_reaches_a_real_keyring_and_the_runtime_reads_it_there() {
    let (Some([_, daemon, tool]), Some(desktop)) = (tools::keyring(), TestDesktop::start()) else {
        return;
    };
    let model = Messages::start([Turn::text("With the key of the keyring.")]);
    let mut unlock = Command::new(daemon);
    unlock.args(["--unlock", "--foreground", "--components=secrets"]).env_clear();
    unlock.envs(desktop.environment()).stdin(Stdio::piped());
    unlock.stdout(Stdio::null()).stderr(Stdio::null());
    let mut keyring = Group::spawn(unlock);
    drop(keyring.take_stdin().write_all(b"password"));
    wait_for_service(&desktop, "org.freedesktop.secrets");
    let lookup = |desktop: &TestDesktop| {
        let mut command = Command::new(&tool);
        command.args(["lookup", "service", "callgate", "key", "agent-api-key"]).env_clear();
        command.envs(desktop.environment());
        run(command, DEADLINE)
    };
    let variables = [("ANTHROPIC_BASE_URL", model.url())];
    let options = StageOptions { variables: &variables, ..StageOptions::default() };
    let Some(stage) = Stage::start_on(desktop, &options) else { return };
    let _ = stage.page.run("location.hash = '#/settings'", &json!([]));
    stage.page.fill("[data-api-key]", "sk-ant-of-the-keyring");
    stage.page.click("[data-store-key]");
    stage.page.wait_for_text("[data-setting=api_key]", "Saved");
    assert_eq!(lookup(&stage.desktop).stdout.trim(), "sk-ant-of-the-keyring");
    let read = stage.invoke("settings_read", &json!({})).unwrap();
    assert_eq!(read["has_api_key"], true);
    assert!(!read.to_string().contains("sk-ant"), "{read}");
    // The runtime that runs was started without it.
    stage.page.click("[data-shell-settings] [data-restart]");
    stage.begin_chat();
    stage.page.wait_for_text(".chat-inner", "Answered by the anthropic engine");
    stage.say("Hello");
    stage.wait_for_answer("With the key of the keyring.");
    assert_eq!(model.last().header("x-api-key"), Some("sk-ant-of-the-keyring"));
}

#[test]
fn the_key_of_the_model_goes_to_the_keyring_and_is_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let program = folder.path().join("secret-tool");
    // A keyring that shows what reaches it on the command line and on standard input, once all of
    // it is there.
    let script = format!(
        "#!/bin/bash\ncase $1 in\n\
         store) {{ printf '%s|' \"$@\"; cat; }} >{0}.new && mv {0}.new {0} ;;\n\
         lookup) tr '|' '\\n' <{0} | tail -n 1 ;;\nesac\n",
        seen.display()
    );
    write_program(&program, &script);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let variables = [("PATH", path)];
    let Some(stage) = Stage::start(&StageOptions { variables: &variables, ..Default::default() })
    else {
        return;
    };
    let before = stage.invoke("settings_read", &json!({})).unwrap();
    assert_eq!(before["has_api_key"], false);
    let _ = stage.page.run("location.hash = '#/settings'", &json!([]));
    stage.page.fill("[data-api-key]", "sk-ant-a-very-secret-key");
    stage.page.click("[data-store-key]");
    let stored = stage.desktop.until("the keyring", || fs::read_to_string(&seen).ok());
    let (arguments, secret) = stored.rsplit_once('|').unwrap();
    assert_eq!(secret.trim(), "sk-ant-a-very-secret-key");
    assert!(arguments.starts_with("store|") && !arguments.contains("sk-ant"), "{arguments}");
    stage.desktop.until("a key", || {
        let read = stage.invoke("settings_read", &json!({})).unwrap();
        assert!(!read.to_string().contains("sk-ant"), "{read}");
        (read["has_api_key"] == true).then_some(())
    });
    stage.page.wait_for(
        "the page forgets it",
        "return document.querySelector('[data-api-key]').value === ''",
    );
    let file = fs::read_to_string(stage.path(".config/callgate/config.toml")).unwrap();
    assert!(file.contains("api_key_keyring") && !file.contains("sk-ant"), "{file}");
    assert!(!stage.desktop.log().contains("sk-ant"));
}
