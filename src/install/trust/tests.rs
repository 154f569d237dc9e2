//! The hashes that Codex computes, and edits of its settings.

use super::*;

fn trusted(name: &str, digit: char) -> TrustedHook {
    let hash = format!("sha256:{}", digit.to_string().repeat(64));
    TrustedHook { key: format!("/h\"o/.codex/hooks.json:{name}:0:0"), hash }
}

/// The values are those that Codex 0.166.0 computed for the same hooks.
#[test]
fn hashes_are_those_that_codex_computes() {
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command",
        "command":"/usr/bin/callgate-hook --agent codex","timeout":4260}]}],
        "SessionEnd":[{"hooks":[{"type":"command","command":"beep"}]},{"matcher":"*",
        "hooks":[{"type":"command","command":"/usr/bin/callgate-hook","timeout":3}]}]}}"#;
    let ours = find_trusted_hooks(text, "/h/hooks.json").unwrap();
    let keys: Vec<&str> = ours.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["/h/hooks.json:pre_tool_use:0:0", "/h/hooks.json:session_end:1:0"]);
    assert_eq!(
        ours[0].hash,
        "sha256:bb0095f8477826c02dcba13f305ff1b892b3d25bc23705800ebb424d1155e42a"
    );
    assert_eq!(
        ours[1].hash,
        "sha256:e4e310548d73f7e118b5118dd6fbf12ab090f94db13eec5c04f0e9c84bfe66d9"
    );
}

#[test]
fn trust_is_added_changed_and_removed_and_all_else_stays() {
    for before in [
        "",
        "# mine\nmodel = \"x\" # why\n",
        "a = 1",
        "[hooks]\n# none yet\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n",
        "[hooks.state.\"other:0\"]\ntrusted_hash = \"sha256:1\"\n\n# the end\n",
        "[hooks.state]\n",
    ] {
        let hooks = [trusted("stop", 'a'), trusted("pre_tool_use", 'b')];
        let with = add_trust(before, &hooks).unwrap();
        assert!(with.starts_with(before), "{with}");
        assert_eq!(add_trust(&with, &hooks).unwrap(), with, "twice is once");
        let without = remove_trust(&with, &hooks).unwrap();
        assert_eq!(without.trim_end(), before.trim_end(), "{with}");
        let newer = [trusted("stop", 'c'), trusted("pre_tool_use", 'b')];
        let changed = add_trust(&with, &newer).unwrap();
        assert_eq!(changed, with.replace(&"a".repeat(64), &"c".repeat(64)));
        assert_eq!(remove_trust(&changed, &hooks[..1]).unwrap(), changed, "that is not ours");
    }
}

#[test]
fn what_the_user_has_switched_off_stays_off() {
    let off = "[hooks.state.'/h/hooks.json:stop:0:0']\nenabled = false\n# x\n";
    let hook = TrustedHook { key: "/h/hooks.json:stop:0:0".into(), hash: "sha256:1".into() };
    let line = "trusted_hash = \"sha256:1\"\nenabled";
    assert_eq!(add_trust(off, &[hook]).unwrap(), off.replace("enabled", line));
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let hooks = [trusted("stop", 'a')];
    for (text, why) in [
        ("a = ", "it is not TOML"),
        ("hooks = 1\n", "`hooks` is not a table"),
        ("[hooks]\nstate = 1\n", "`state` is not a table"),
        ("hooks = { state = {} }\n", "does not edit"),
        ("[hooks]\nstate = { x = { trusted_hash = \"1\" } }\n", "does not edit"),
    ] {
        let refused = add_trust(text, &hooks).unwrap_err().to_string();
        assert!(refused.contains(why), "{text}: {refused}");
    }
    // A line in a text is no header.
    let text = add_trust("", &hooks).unwrap();
    let inside = format!("a = '''\n{text}'''\n");
    assert!(add_trust(&inside, &hooks).unwrap().starts_with(&inside));
    assert_eq!(remove_trust(&inside, &hooks).unwrap(), inside);
}
