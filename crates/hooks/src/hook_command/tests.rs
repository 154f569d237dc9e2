//! How commands are written, quoted and recognised.

use super::*;

#[test]
fn what_is_written_is_known_again() {
    let odd = ["/usr/bin/callgate", "/a b/callgate", "/it's/callgate", "/$x;\"`#/ü/callgate"];
    let options = [("--agent", "codex"), ("--config", "/a'b c.toml")];
    for program in odd {
        let command = build_hook_line(program, &options);
        assert_eq!(command_owner(&command), CommandOwner::Ours, "{command}");
        let expected = [program, "hook", "--agent", "codex", "--config", "/a'b c.toml"];
        assert_eq!(parse_shell_words(&command).words, expected, "{command}");
        assert_eq!(find_option(&command, "--config").as_deref(), Some("/a'b c.toml"));
        assert_eq!(find_option(&command, "--socket"), None);
        let small = format!("{program}-hook");
        let command = build_hook_line(&small, &options);
        assert_eq!(command_owner(&command), CommandOwner::Ours, "{command}");
        let expected = [&small, "--agent", "codex", "--config", "/a'b c.toml"];
        assert_eq!(parse_shell_words(&command).words, expected, "{command}");
    }
    assert_eq!(build_hook_line("/usr/bin/callgate", &[]), "/usr/bin/callgate hook");
    assert_eq!(build_hook_line("/a b/callgate", &[]), "'/a b/callgate' hook");
    assert_eq!(build_hook_line("/it's/callgate", &[]), r"'/it'\''s/callgate' hook");
    assert_eq!(build_hook_line("/usr/bin/callgate-hook", &[]), "/usr/bin/callgate-hook");
    assert_eq!(build_hook_line("/a b/callgate-hook", &[]), "'/a b/callgate-hook'");
}

#[test]
fn a_shell_reads_the_same_words() {
    for program in ["/a b/callgate", "/it's/callgate", "/$x;\"`#\\/\n/callgate", "", "*", "~"] {
        let script = format!("printf %s {}", shell_quoted(program));
        let shown = std::process::Command::new("/bin/sh").args(["-c", &script]).output();
        assert_eq!(String::from_utf8(shown.unwrap().stdout).unwrap(), program);
    }
}

#[test]
fn ours_is_what_starts_the_hook_and_nothing_else() {
    let check = |command: &str, expected: CommandOwner| {
        assert_eq!(command_owner(command), expected, "{command}");
    };
    for ours in [
        "callgate hook",
        " /old/path/callgate  hook --agent codex",
        "\"/a b/callgate\" hook",
        "~/.cargo/bin/callgate hook",
        "\"$HOME\"/.cargo/bin/callgate hook",
        r"/a\ b/callgate hook",
        "callgate-hook",
        " /old/path/callgate-hook  --agent codex",
        "\"$HOME\"/.cargo/bin/callgate-hook",
    ] {
        check(ours, CommandOwner::Ours);
    }
    for composed in [
        "callgate hook 2>>/tmp/log",
        "callgate hook; my-logger",
        "my-logger && callgate hook",
        "env A=1 callgate hook",
        "A=1 callgate hook",
        "callgate hook \"$(date)\"",
        "callgate hook 'cut",
        "callgate-hook 2>>/tmp/log",
        "my-logger && callgate-hook",
        "env A=1 /usr/bin/callgate-hook",
        "callgate-hook 'cut",
    ] {
        check(composed, CommandOwner::Composed);
    }
    for foreign in [
        "",
        "callgate",
        "callgate hooks",
        "callgate log hook",
        "notcallgate hook",
        "/usr/bin/callgate-notify hook",
        "/usr/bin/callgate-hooks",
        "my-callgate-hook",
        "/callgate-hook/other",
        "callgate callgate-hook-log",
        "echo 'callgate hook'",
        "\"callgate hook\"",
        "/callgate/other hook",
    ] {
        check(foreign, CommandOwner::Foreign);
    }
}
