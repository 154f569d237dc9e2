//! The hooks of Codex, and its trust in them.

use super::*;

#[test]
fn codex_gets_its_own_events_in_its_own_file() {
    let home = Home::new();
    fs::remove_dir_all(home.path("bin")).unwrap();
    home.refuses(&["install", "--agent", "all"], "no agent was found");
    assert!(home.does(&["uninstall"]).starts_with("no agent's settings were found here"));
    let said = home.does(&["install", "--agent", "codex"]);
    assert!(said.contains("not proved, as `codex` is not on PATH"), "{said}");
    let file = home.path(".codex/hooks.json");
    let command = format!("{HOOK} {}", home.options("codex"));
    let ours = |event: &str, limit| (event.to_owned(), command.clone(), limit);
    let expected = [
        ours("PreToolUse", 4260),
        ours("PermissionRequest", 4260),
        ours("PostToolUse", 10),
        ours("Stop", 10),
        ours("SessionEnd", 3),
    ];
    assert_eq!(hooks(&file), expected);
    assert!(!home.settings().exists());
    fs::create_dir(home.path(".claude")).unwrap();
    let said = home.does(&["install", "--agent", "all"]);
    assert!(said.contains("Claude Code: changed") && said.contains("Codex: "), "{said}");
    assert!(read(&home.path(".codex/config.toml")).contains("hooks.json:pre_tool_use:0:0\"]"));
    home.does(&["uninstall"]);
    assert!(!file.exists() && !home.settings().exists());
    assert!(!home.path(".codex/config.toml").exists(), "the trust is gone, too");
    let elsewhere = home.path("elsewhere");
    let home = home.env("CODEX_HOME", &elsewhere);
    home.does(&["install", "--agent", "codex"]);
    assert!(elsewhere.join("hooks.json").exists());
}

/// Codex as far as it lists its hooks: all that are in `hooks.json`, in the state `STATE`.
const CODEX: &str = r#"#!/bin/sh
test "$1" = app-server || exit 1
key=$HOME/.codex/hooks.json
printf '%s' '{"id":2,"result":{"data":[{"hooks":['
for event in pre_tool_use permission_request post_tool_use stop session_end; do
    printf '{"key":"%s:%s:0:0","eventName":"%s","command":"callgate hook",' "$key" $event $event
    printf '"sourcePath":"%s","enabled":true,"currentHash":"sha256:%s",' "$key" $event
    printf '"trustStatus":"STATE"},'
done
echo '{"key":"other:0","eventName":"stop","command":"beep","sourcePath":"/x","enabled":true}]}]}}'
"#;

/// It may end before it has read anything: only what it printed counts.
#[test]
fn codex_itself_says_what_is_to_be_trusted_and_whether_it_is() {
    let home = Home::new();
    fs::create_dir(home.path(".codex")).unwrap();
    let mine = "model = \"x\" # mine\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n";
    fs::write(home.path(".codex/config.toml"), mine).unwrap();
    home.program("codex", &CODEX.replace("STATE", "trusted"));
    let said = home.does(&["install", "--agent", "codex"]);
    assert!(said.contains("trust    Codex trusts them, by "), "{said}");
    let config = read(&home.path(".codex/config.toml"));
    assert!(config.starts_with(mine), "{config}");
    assert!(config.contains(":pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:pre_tool_use\""));
    home.program("codex", &CODEX.replace("STATE", "untrusted"));
    let refused = home.run(&["install", "--agent", "codex"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stderr.contains("Codex runs 0 of 5 hooks"), "{}", refused.stderr);
    assert!(refused.stderr.contains("open /hooks and trust callgate's"), "{}", refused.stderr);
    for broken in ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nread line; echo no JSON\n"] {
        home.program("codex", broken);
        let said = home.does(&["install", "--agent", "codex"]);
        assert!(said.contains("not proved, as `codex app-server` ended without"), "{said}");
    }
    home.does(&["uninstall"]);
    assert_eq!(read(&home.path(".codex/config.toml")), mine);
    fs::write(home.path(".codex/config.toml"), "hooks = { state = {} }\n").unwrap();
    let refused = home.run(&["install", "--agent", "codex"]);
    assert!(refused.stderr.contains("config.toml was left as it is: "), "{}", refused.stderr);
}
