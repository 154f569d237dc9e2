//! The editing of settings for all users.

use expect_test::expect;

use super::*;
use crate::agents::hooks::EditRefusal;
use crate::install::RemovedHooks;
use crate::install::edit::InstalledSettings;

fn hook(event: &str, is_direct: bool) -> WantedHook {
    let command = "/bin/callgate-hook --agent x".to_owned();
    WantedHook { event: event.to_owned(), command, is_direct, timeout: 10 }
}

fn with_hooks(
    agent: CodingAgent,
    text: &str,
    wanted: &[WantedHook],
) -> Result<InstalledSettings, EditRefusal> {
    managed_file(agent).part.install_into_text(text, wanted)
}

/// Installs, checks that a second time changes nothing and that all goes back, and returns the
/// text.
fn round_trip(agent: CodingAgent, before: &str) -> String {
    let wanted = ["PreToolUse", "Stop"].map(|event| hook(event, *agent == CLAUDE));
    let text = with_hooks(agent, before, &wanted).unwrap().text;
    assert_eq!(with_hooks(agent, &text, &wanted).unwrap().text, text, "{before}");
    let newer =
        wanted.map(|hook| WantedHook { command: hook.command.replace("bin", "new"), ..hook });
    let newer_text = with_hooks(agent, &text, &newer).unwrap().text;
    assert_eq!(newer_text, with_hooks(agent, before, &newer).unwrap().text, "{before}");
    let back = managed_file(agent).part.uninstall_from_text(&text, Some(before)).unwrap();
    assert_eq!(back, RemovedHooks::AsBefore(before.to_owned()));
    text
}

#[test]
fn claude_code_gets_hooks_that_nobody_switches_off() {
    let text = round_trip(&CLAUDE, "");
    expect![[r#"
        {
          "hooks": {
            "PreToolUse": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "/bin/callgate-hook",
                    "args": [
                      "--agent",
                      "x"
                    ],
                    "timeout": 10
                  }
                ]
              }
            ],
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "/bin/callgate-hook",
                    "args": [
                      "--agent",
                      "x"
                    ],
                    "timeout": 10
                  }
                ]
              }
            ]
          },
          "disableAllHooks": false,
          "allowManagedHooksOnly": true,
          "env": {
            "CLAUDE_CODE_SHELL_PREFIX": ""
          }
        }
    "#]]
    .assert_eq(&text);
    assert_eq!(claude::uninstall_claude_hooks(&text, None).unwrap(), RemovedHooks::File);
}

#[test]
fn other_settings_of_claude_code_stay() {
    let agent = &CLAUDE;
    round_trip(agent, r#"{"model":"x","env":{"A":"1"},"disableAllHooks":true}"#);
    round_trip(agent, "{\n  \"env\": {\n    \"CLAUDE_CODE_SHELL_PREFIX\": \"/x\"\n  }\n}\n");
    let text = round_trip(agent, r#"{"allowManagedHooksOnly":true,"env":{}}"#);
    // Somebody has added a key since.
    let text = text.replacen('{', r#"{"model":"x","#, 1);
    let before = r#"{"allowManagedHooksOnly":true,"env":{}}"#;
    let RemovedHooks::Ours(text) = claude::uninstall_claude_hooks(&text, Some(before)).unwrap()
    else {
        panic!("{text}")
    };
    assert_eq!(text, r#"{"model":"x","allowManagedHooksOnly":true,"env":{}}"#);
    assert_eq!(claude::uninstall_claude_hooks(&text, None).unwrap(), RemovedHooks::Nothing);
    claude::install_claude_hooks("{", &[]).unwrap_err();
}

#[test]
fn what_an_administrator_had_set_is_back_although_the_file_has_changed_since() {
    let before = "{\"disableAllHooks\":true,\"env\":{\"CLAUDE_CODE_SHELL_PREFIX\":\"/x\"}}";
    let text = round_trip(&CLAUDE, before).replacen('{', "{\"model\":\"x\",", 1);
    let RemovedHooks::Ours(text) = claude::uninstall_claude_hooks(&text, Some(before)).unwrap()
    else {
        panic!("{text}")
    };
    assert_eq!(text, before.replacen('{', "{\"model\":\"x\",", 1));
    let before = "allow_managed_hooks_only = false\n\n[features]\nhooks = false\nweb = false\n";
    let text = round_trip(&CODEX, before).replace("web = false", "web = true");
    let RemovedHooks::Ours(text) = codex::uninstall_codex_hooks(&text, Some(before)).unwrap()
    else {
        panic!("{text}")
    };
    assert_eq!(text, before.replace("web = false", "web = true"));
}

#[test]
fn codex_gets_requirements() {
    let text = round_trip(&CODEX, "");
    expect![[r#"
        allow_managed_hooks_only = true

        [features]
        hooks = true

        [[hooks.PreToolUse]]

        [[hooks.PreToolUse.hooks]]
        type = "command"
        command = "/bin/callgate-hook --agent x"
        timeout = 10

        [[hooks.Stop]]

        [[hooks.Stop.hooks]]
        type = "command"
        command = "/bin/callgate-hook --agent x"
        timeout = 10
    "#]]
    .assert_eq(&text);
    assert_eq!(codex::uninstall_codex_hooks(&text, None).unwrap(), RemovedHooks::File);
}

#[test]
fn other_requirements_of_codex_stay() {
    let before = "# ours\nallowed_approval_policies = [\"never\"] # why\n\n[features]\nweb = false\n\n\
                  [hooks]\nmanaged_dir = \"/opt\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n\
                  type = \"command\"\ncommand = \"beep\"\n";
    let text = round_trip(&CODEX, before);
    assert!(text.starts_with("# ours\nallowed_approval_policies = [\"never\"] # why\n"), "{text}");
    let text = text.replace("beep", "bell");
    let RemovedHooks::Ours(text) = codex::uninstall_codex_hooks(&text, Some(before)).unwrap()
    else {
        panic!("{text}")
    };
    assert_eq!(text, before.replace("beep", "bell"));
    assert_eq!(codex::uninstall_codex_hooks(before, None).unwrap(), RemovedHooks::Nothing);
    codex::install_codex_hooks("hooks = 3", &[hook("Stop", false)]).unwrap_err();
    codex::install_codex_hooks("a =", &[]).unwrap_err();
}
