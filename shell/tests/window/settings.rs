//! The settings of the page in the window, which `callgate config` reads and writes.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Stage, StageOptions};

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
