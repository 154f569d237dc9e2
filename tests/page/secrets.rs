//! Secrets that people type in the page: they go into the keyring, and nowhere else.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_testkit::browser::Browser;
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::tools;
use serde_json::json;

use crate::fixture::Stage;
use crate::stage::{link, wait_until_live};

const SECRET: &str = "sk-ant-of-the-page";

#[test]
#[allow(clippy::disallowed_methods, reason = "a bus writes one short line")]
fn a_key_goes_from_the_page_into_a_real_keyring() {
    let Some([_, keyring, client]) = tools::keyring() else { return };
    let Some(browser) = Browser::start(1280, 900) else { return };
    let stage = Stage::without_phone_unstarted();
    let mut bus = Command::new("/usr/bin/dbus-daemon");
    bus.args(["--session", "--nofork", "--print-address"]).env_clear().envs(stage.environment());
    bus.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut bus = Group::spawn(bus);
    let mut address = String::new();
    BufReader::new(bus.take_stdout()).read_line(&mut address).unwrap();
    let on_the_bus = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(stage.environment());
        command.env("DBUS_SESSION_BUS_ADDRESS", address.trim());
        command
    };
    let mut unlock = on_the_bus(&keyring, &["--unlock", "--foreground", "--components=secrets"]);
    unlock.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut keyring = Group::spawn(unlock);
    drop(keyring.take_stdin().write_all(b"password"));
    stage.until("the keyring", || {
        let has_owner = [
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.NameHasOwner",
            "string:org.freedesktop.secrets",
        ];
        let asked = run(on_the_bus(Path::new("/usr/bin/dbus-send"), &has_owner), DEADLINE);
        asked.stdout.contains("true").then_some(())
    });
    let mut up = stage.callgate(&["up", "--no-terminal"]);
    up.env("DBUS_SESSION_BUS_ADDRESS", address.trim());
    let _desk = stage.home.start_desk(up);

    browser.open(&link(&stage));
    wait_until_live(&browser);
    let _ = browser.run("location.hash = '#/settings'", &json!([]));
    browser.wait_for(
        "the settings",
        "const parts = document.querySelectorAll('.setting-part');
        parts.forEach((part) => { part.open = true; });
        return parts.length > 0",
    );
    let setting = "[data-setting='agent.api_key_keyring']";
    browser.fill(&format!("{setting} input"), SECRET);
    browser.click(&format!("{setting} [type=submit]"));
    browser.wait_for_text(&format!("{setting} .is-saved"), "Saved");
    let lookup = ["lookup", "service", "callgate", "key", "agent-api-key"];
    assert_eq!(run(on_the_bus(&client, &lookup), DEADLINE).stdout.trim(), SECRET);
    let field = format!(
        "const field = document.querySelector(\"{setting} input\"); return [field.value, field.placeholder]"
    );
    assert_eq!(browser.run(&field, &json!([])), json!(["", "Stored in the keyring"]));
    let file = fs::read_to_string(stage.path(".config/callgate/config.toml")).unwrap();
    assert!(file.contains("api_key_keyring = true") && !file.contains(SECRET), "{file}");
    let page = browser.run("return document.documentElement.outerHTML", &json!([]));
    assert!(!page.to_string().contains(SECRET), "the page shows it");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
