//! The settings as a hook reads them, and what holds without a desk.

use super::*;

fn hook_in(home: &Home, flags: &HookFlags) -> Result<AskerSettings, ConfigProblems> {
    HookConfig::read_settings(flags, home.around()).asker_settings()
}

#[test]
fn the_hook_needs_three_settings_and_minds_no_others() {
    let none = HookFlags::default();
    let home =
        Home::with("socket = \"/h\"\ntimeout_seconds = 9\nnonsense = 1\ntelegram.api_url = \"x\"");
    let settings = hook_in(&home, &none).unwrap();
    let (timeout, grace) = (Duration::from_secs(9), Duration::from_secs(15));
    assert_eq!(settings, AskerSettings { socket: "/h".into(), timeout, grace });
    let home = home.variable("CALLGATE_SOCKET", "/e").variable("CALLGATE_NOTIFY_ON_STOP", "?");
    assert_eq!(hook_in(&home, &none).unwrap().socket, PathBuf::from("/e"));
    let wrong =
        home.variable("CALLGATE_TIMEOUT_SECONDS", "0").variable("CALLGATE_GRACE_SECONDS", "x");
    let problems = hook_in(&wrong, &none).unwrap_err();
    assert_eq!(
        problems.one_line(),
        "environment CALLGATE_GRACE_SECONDS: `grace_seconds` must be a whole number (and 1 more)"
    );
    let broken = Home::with("socket = ");
    hook_in(&broken, &none).unwrap_err();
}

/// A project can set variables for the agent that works in it, and so for the agent's hooks.
#[test]
fn an_installed_hook_reads_no_variable() {
    let home = Home::with("rules = \"/h/rules.toml\"\ngate.when_absent = \"deny\"");
    let home = home.variable("CALLGATE_SOCKET", "/e").variable("CALLGATE_CONFIG", "/e.toml");
    let home = home.variable("CALLGATE_RULES", "/e").variable("CALLGATE_GATE_WHEN_ABSENT", "agent");
    let config = Some(home.path(".config/callgate/config.toml"));
    let socket = Some(PathBuf::from("/s"));
    let flags = HookFlags { config, socket, ..HookFlags::default() };
    assert_eq!(hook_in(&home, &flags).unwrap().socket, PathBuf::from("/s"));
    let whole = HookConfig::read_settings(&flags, home.around()).all_settings().unwrap();
    assert_eq!(whole.rules, PathBuf::from("/h/rules.toml"));
    assert_eq!(whole.gate.when_absent, WhenAbsent::Deny);
    let flags = HookFlags { rules: Some("/r".into()), ..flags };
    let whole = HookConfig::read_settings(&flags, home.around()).all_settings().unwrap();
    assert_eq!(whole.rules, PathBuf::from("/r"));
    // Without a settings file of its own it has an environment of ours, and a flag is above that.
    let flags = HookFlags { config: None, ..flags };
    let home = Home::new().variable("CALLGATE_SOCKET", "/e");
    assert_eq!(hook_in(&home, &flags).unwrap().socket, PathBuf::from("/s"));
}

#[test]
fn the_settings_file_of_an_installed_hook_may_be_absent_but_not_broken() {
    let home = Home::new();
    let config = Some(home.path("nowhere/config.toml"));
    let flags = HookFlags { config, ..HookFlags::default() };
    assert_eq!(hook_in(&home, &flags).unwrap().timeout, Duration::from_mins(5));
    let home = Home::with("gate.unattended = \"perhaps\"\nagent.max_rounds = 0");
    let config = Some(home.path(".config/callgate/config.toml"));
    let flags = HookFlags { config, ..HookFlags::default() };
    let problems = HookConfig::read_settings(&flags, home.around()).all_settings().unwrap_err();
    assert!(problems.one_line().ends_with("`gate.unattended` must be rules or ask"), "{problems}");
    let home = Home::with("gate.unclear = \"perhaps\"");
    HookConfig::read_settings(&HookFlags::default(), home.around()).all_settings().unwrap_err();
}

#[test]
fn what_holds_without_a_desk_follows_what_holds_in_modes_that_ask_nobody() {
    let check = |text: &str, unattended: Unattended, when_absent: WhenAbsent| {
        let gate = Home::with(text).config().gate;
        assert_eq!((gate.unattended, gate.when_absent), (unattended, when_absent));
    };
    check("", Unattended::Rules, WhenAbsent::Agent);
    check("gate.unattended = \"ask\"", Unattended::Ask, WhenAbsent::Deny);
    check("gate.when_absent = \"deny\"", Unattended::Rules, WhenAbsent::Deny);
    let both = "[gate]\nunattended = \"ask\"\nwhen_absent = \"agent\"";
    check(both, Unattended::Ask, WhenAbsent::Agent);
    let of = |text: &str, agent| Home::with(text).config().gate.when_absent_of(agent);
    let gemini = "gate.agents.gemini.when_absent = \"deny\"\n[gate.agents.claude-code]\nwhen_absent = \"agent\"";
    assert_eq!(of(gemini, Some("gemini")), WhenAbsent::Deny);
    assert_eq!(of(gemini, Some("claude-code")), WhenAbsent::Agent);
    assert_eq!(of(gemini, Some("kimi")), WhenAbsent::Agent);
    assert_eq!(of("gate.when_absent = \"deny\"", Some("kimi")), WhenAbsent::Deny);
    assert_eq!(of("gate.when_absent = \"deny\"", None), WhenAbsent::Deny);
    let alone = "`gate.agents.kimi` must have `when_absent`, agent or deny, alone";
    check_wrong("gate.agents.kimi.when_absent = \"no\"", &[&format!("1:6: {alone}")]);
    check_wrong(
        "gate.agents.kimi = { when_absent = \"deny\", x = \"y\" }",
        &[&format!("1:6: {alone}")],
    );
    let unclear = |text: &str| Home::with(text).config().gate.unclear;
    assert_eq!(unclear(""), UnclearCommands::Ask);
    assert_eq!(unclear("gate.unclear = \"mode\""), UnclearCommands::Mode);
    check_wrong("gate.unclear = \"no\"", &["1:16: `gate.unclear` must be ask or mode"]);
    check_wrong("gate.unattended = 5", &["1:19: `gate.unattended` must be text in quotes"]);
}
