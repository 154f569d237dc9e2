//! The command line of the hook, and its help.

use super::*;

fn check(arguments: &str, expected: Result<HookInvocation, &str>) {
    let invocation = HookInvocation::parse(arguments.split_whitespace().map(OsString::from));
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
    let codex = HookOptions { agent: Some(HookAgent::Codex), settings };
    check(
        "--agent codex --config /c.toml --socket /s --rules /r.toml",
        Ok(HookInvocation::Serve(codex)),
    );
    let claude = HookOptions { agent: Some(HookAgent::Claude), settings: HookFlags::default() };
    check("--agent claude", Ok(HookInvocation::Serve(claude)));
    for help in ["--help", "-h", "--agent codex --help"] {
        check(help, Ok(HookInvocation::Help));
    }
    for version in ["--version", "-V"] {
        check(version, Ok(HookInvocation::Version));
    }
    check("--agent gemini", Err("there is no such agent;"));
    check("--agent", Err("there is no such agent;"));
    check("--config", Err("--config needs a path after it;"));
    check("--fast", Err("unknown argument --fast;"));
    check("now", Err("unknown argument now;"));
    check("--sokcet /s", Err("unknown argument --sokcet: did you mean --socket?"));
    check("--rules=/r", Err("unknown argument --rules=/r: did you mean --rules?"));
}

#[test]
fn the_help_names_every_option() {
    let help = help();
    for (flag, value, about) in OPTIONS {
        assert!(help.contains(&format!("{flag} <{value}>")) && help.contains(about), "{help}");
        assert!(USAGE.contains(flag), "{flag}");
    }
}
