//! The command line of the hook, and its help.

use callgate_wire::hook::agents::{CODEX, GEMINI};

use super::*;

fn check(arguments: &str, expected: Result<HookInvocation, &str>) {
    let invocation = HookInvocation::parse(arguments.split_whitespace().map(OsString::from));
    let invocation = invocation.map_err(|(_, usage)| usage);
    let expected = expected.map_err(|reason| format!("{reason} {USAGE}"));
    assert_eq!(invocation, expected, "{arguments}");
}

#[test]
fn arguments_are_read_or_refused_with_a_reason() {
    check("", Ok(HookInvocation::Serve(HookOptions::default())));
    let settings = HookFlags {
        config: Some("/c.toml".into()),
        socket: Some("/s".into()),
        rules: Some("/r.toml".into()),
    };
    let codex = HookOptions { agent: Some(&CODEX), settings };
    check(
        "--agent codex --config /c.toml --socket /s --rules /r.toml",
        Ok(HookInvocation::Serve(codex)),
    );
    let claude = HookOptions { agent: Some(&CLAUDE), settings: HookFlags::default() };
    check("--agent claude", Ok(HookInvocation::Serve(claude)));
    for help in ["--help", "-h", "--agent codex --help"] {
        check(help, Ok(HookInvocation::Help));
    }
    for version in ["--version", "-V"] {
        check(version, Ok(HookInvocation::Version));
    }
    let gemini = HookOptions { agent: Some(&GEMINI), settings: HookFlags::default() };
    check("--agent gemini", Ok(HookInvocation::Serve(gemini)));
    let none = "there is no such agent, only claude, codex, gemini, qwen, copilot, opencode, cline, \
                kimi, droid, goose, grok, pi, kilo, openhands, amp;";
    check("--agent cursor", Err(none));
    check("--agent", Err(none));
    check("--config", Err("--config needs a path after it;"));
    check("--fast", Err("unknown argument --fast;"));
    check("now", Err("unknown argument now;"));
    check("--sokcet /s", Err("unknown argument --sokcet: did you mean --socket?"));
    check("--rules=/r", Err("unknown argument --rules=/r: did you mean --rules?"));
}

#[test]
fn the_help_names_every_option() {
    let help = hook_help();
    for (flag, value, about) in OPTIONS {
        assert!(help.contains(&format!("{flag} <{value}>")) && help.contains(about), "{help}");
        assert!(USAGE.contains(flag), "{flag}");
    }
}
