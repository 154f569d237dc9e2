//! The editor of settings files: by example, and for any file at all.

mod any_format;
mod any_settings;

use callgate_wire::hook::agents::JsonHooks;
use expect_test::{Expect, expect};
use serde_json::Value;

use super::RemovedHooks;
use super::edit::{self, InstalledSettings, WantedHook};
use crate::agents::hooks::{EditRefusal, FoundHooks};

/// The form of most of these tests.
const FORM: JsonHooks = JsonHooks::CLAUDE;

fn install(text: &str, wanted: &[WantedHook]) -> Result<InstalledSettings, EditRefusal> {
    edit::install_json_hooks(&FORM, text, wanted)
}

fn uninstall(text: &str, backup: Option<&str>) -> Result<RemovedHooks, EditRefusal> {
    edit::uninstall_json_hooks(&FORM, text, backup)
}

fn composed(text: &str) -> Vec<String> {
    edit::composed_events(&FORM, text)
}

fn hook(event: &str, timeout: u64) -> WantedHook {
    let command = "/bin/callgate hook".to_owned();
    WantedHook { event: event.to_owned(), command, is_direct: false, timeout }
}

fn one() -> Vec<WantedHook> {
    vec![hook("Stop", 10)]
}

fn two() -> Vec<WantedHook> {
    vec![hook("PermissionRequest", 325), hook("Stop", 10)]
}

/// Installs, checks that a second time changes nothing and that all goes back, and shows the text.
fn round_trip(before: &str, wanted: &[WantedHook]) -> InstalledSettings {
    let done = install(before, wanted).unwrap_or_else(|refusal| panic!("{refusal}\n{before}"));
    let again = install(&done.text, wanted).unwrap();
    assert_eq!(again.text, done.text, "a second time changes nothing");
    assert!(again.added.is_empty() && again.updated.is_empty() && again.removed.is_empty());
    let back = uninstall(&done.text, Some(before)).unwrap();
    assert_eq!(back, RemovedHooks::AsBefore(before.to_owned()));
    done
}

fn check(before: &str, wanted: &[WantedHook], expected: &Expect) {
    expected.assert_eq(&round_trip(before, wanted).text);
}

#[test]
fn a_new_file_is_made_readable() {
    let expected = expect![[r#"
        {
          "hooks": {
            "PermissionRequest": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "/bin/callgate hook",
                    "timeout": 325
                  }
                ]
              }
            ],
            "Stop": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "/bin/callgate hook",
                    "timeout": 10
                  }
                ]
              }
            ]
          }
        }
    "#]];
    for before in ["", " \n", "{}\n", "{ }\n", "{\n}\n"] {
        check(before, &two(), &expected);
    }
    let made = install("", &two()).unwrap().text;
    assert_eq!(uninstall(&made, None).unwrap(), RemovedHooks::File, "nothing else is in it");
}

#[test]
fn hooks_come_last_and_look_like_the_rest() {
    check(
        "{\n\t\"model\": \"x\",\n\t\"env\": {\"A\": \"1\"}\n}",
        &one(),
        &expect![[r#"
            {
            	"model": "x",
            	"env": {"A": "1"},
            	"hooks": {
            		"Stop": [
            			{
            				"hooks": [
            					{
            						"type": "command",
            						"command": "/bin/callgate hook",
            						"timeout": 10
            					}
            				]
            			}
            		]
            	}
            }"#]],
    );
    check(
        r#"{"model":"x"}"#,
        &one(),
        &expect![[
            r#"{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/callgate hook","timeout":10}]}]}}"#
        ]],
    );
    check(
        r#"{ "model": "x" }"#,
        &one(),
        &expect![[
            r#"{ "model": "x", "hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/callgate hook","timeout":10}]}]} }"#
        ]],
    );
}

#[test]
fn other_hooks_of_the_same_event_stay_before_ours() {
    check(
        r#"{
    "hooks": {
        "Stop": [
            {"matcher": "", "hooks": [{"type": "command", "command": "beep"}]}
        ],
        "PreCompact": []
    },
    "model": "x"
}
"#,
        &two(),
        &expect![[r#"
            {
                "hooks": {
                    "Stop": [
                        {"matcher": "", "hooks": [{"type": "command", "command": "beep"}]},
                        {
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": "/bin/callgate hook",
                                    "timeout": 10
                                }
                            ]
                        }
                    ],
                    "PreCompact": [],
                    "PermissionRequest": [
                        {
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": "/bin/callgate hook",
                                    "timeout": 325
                                }
                            ]
                        }
                    ]
                },
                "model": "x"
            }
        "#]],
    );
}

#[test]
fn line_ends_of_windows_stay() {
    let text = round_trip("{\r\n  \"a\": 1\r\n}\r\n", &two()).text;
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
}

#[test]
fn containers_that_were_empty_before_stay_when_the_rest_has_changed() {
    let check = |before: &str| {
        let done = install(before, &two()).unwrap().text;
        let add = |text: &str| text.replacen('{', "{\"new\":1,", 1);
        let RemovedHooks::Ours(back) = uninstall(&add(&done), Some(before)).unwrap() else {
            panic!("{before}")
        };
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(value(&back), value(&add(before)), "{before}");
    };
    check(r#"{"hooks":{}}"#);
    check(r#"{"hooks":{"Stop":[]}}"#);
    check(r#"{"hooks":{"Stop":[],"PreCompact":[]}}"#);
    check("{\"a\":1,\n\"hooks\":{\n}\n}");
}

/// `before` and `after` are the handlers of an entry; the rest is the same.
fn check_update(before: &str, after: &str) {
    let file = |handlers: &str| format!("{{\"hooks\":{{\"Stop\":[{handlers}]}}}}");
    let done = install(&file(before), &one()).unwrap();
    assert_eq!(done.text, file(after), "{before}");
    assert_eq!(done.updated, if before == after { vec![] } else { vec!["Stop".to_owned()] });
    assert!(done.added.is_empty() && done.removed.is_empty());
    assert_eq!(install(&done.text, &one()).unwrap().text, done.text);
}

#[test]
fn an_older_hook_of_ours_is_changed_in_place() {
    let new = r#"{"hooks":[{"command":"/bin/callgate hook","timeout":10}]}"#;
    check_update(r#"{"hooks":[{"command":"/old/callgate hook","timeout":60}]}"#, new);
    check_update(r#"{"hooks":[{"command":"/bin/callgate hook","timeout":"?"}]}"#, new);
    check_update(new, new);
    check_update(
        r#"{"hooks":[{"timeout":5,"command":"callgate hook --agent codex","async":true}],"x":1}"#,
        r#"{"hooks":[{"timeout":10,"command":"/bin/callgate hook","async":true}],"x":1}"#,
    );
    check_update(
        r#"{"hooks":[{"command":"a"}, {"command":"callgate hook" }, {"command":"b"}]}"#,
        r#"{"hooks":[{"command":"a"}, {"command":"/bin/callgate hook","timeout":10 }, {"command":"b"}]}"#,
    );
    for small in ["/bin/callgate-hook", "/old/callgate-hook --agent codex", "'/a b/callgate-hook'"]
    {
        check_update(&format!(r#"{{"hooks":[{{"command":"{small}","timeout":10}}]}}"#), new);
    }
    // An escape is another way to write the same.
    let escaped = r#"{"hooks":[{"command":"\/bin\/callgate hook","timeout":10}]}"#;
    check_update(escaped, escaped);
}

fn direct(command: &str) -> WantedHook {
    WantedHook { command: command.to_owned(), is_direct: true, ..hook("Stop", 10) }
}

/// A hook that a shell started is started by the agent itself from now on, and the other way round
/// for an agent that cannot do that. It then looks as if it had been added so.
#[test]
fn a_hook_changes_its_form_and_still_comes_out() {
    for before in ["{}\n", "{\n  \"a\": 1\n}\n", r#"{"a":1}"#] {
        let shell = install(before, &one()).unwrap().text;
        let wanted = [direct("'/a b/callgate-hook' --agent claude")];
        let done = install(&shell, &wanted).unwrap();
        assert_eq!(done.text, install(before, &wanted).unwrap().text, "{before}");
        assert_eq!(done.updated, ["Stop"]);
        assert_eq!(install(&done.text, &one()).unwrap().text, shell);
        let back = uninstall(&done.text, Some(before)).unwrap();
        assert!(matches!(&back, RemovedHooks::AsBefore(text) if text == before), "{back:?}");
    }
    let file = |hook: &str| format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{{{hook}}}]}}]}}}}"#);
    let mine = file(r#""async":true,"command":"callgate-hook","timeout":10"#);
    let done = install(&mine, &[direct("/bin/callgate-hook --agent claude")]).unwrap().text;
    let expected =
        r#""async":true,"command":"/bin/callgate-hook","timeout":10,"args":["--agent","claude"]"#;
    assert_eq!(done, file(expected));
    let done = install(&done, &[direct("/new/callgate-hook --agent claude")]).unwrap().text;
    assert_eq!(done, file(&expected.replace("/bin/", "/new/")));
    let done = install(&done, &[hook("Stop", 10)]).unwrap().text;
    assert_eq!(done, file(r#""async":true,"command":"/bin/callgate hook","timeout":10"#));
}

#[test]
fn hooks_with_matchers_of_their_own_stay_and_doubles_go() {
    check_update(
        r#"{"matcher":"A","hooks":[{"command":"/x/callgate hook"}]},{"matcher":"B","hooks":[{"command":"/y/callgate hook"}]}"#,
        r#"{"matcher":"A","hooks":[{"command":"/bin/callgate hook","timeout":10}]},{"matcher":"B","hooks":[{"command":"/bin/callgate hook","timeout":10}]}"#,
    );
    check_update(
        r#"{"matcher":"A","hooks":[{"command":"/x/callgate-hook"}]},{"matcher":"B","hooks":[{"command":"/y/callgate hook"}]}"#,
        r#"{"matcher":"A","hooks":[{"command":"/bin/callgate hook","timeout":10}]},{"matcher":"B","hooks":[{"command":"/bin/callgate hook","timeout":10}]}"#,
    );
    let double = r#"{"hooks":{"Stop":[{"hooks":[{"command":"/x/callgate hook","timeout":10},{"command":"beep"}]},{"hooks":[{"command":"/y/callgate hook"}]}]}}"#;
    let done = install(double, &one()).unwrap();
    let single = r#"{"hooks":{"Stop":[{"hooks":[{"command":"/bin/callgate hook","timeout":10},{"command":"beep"}]}]}}"#;
    assert_eq!((done.text.as_str(), done.removed), (single, vec!["Stop".to_owned()]));
}

#[test]
fn a_hook_for_an_event_that_is_not_wanted_any_more_goes() {
    let old = install("{\"a\":1}", &[hook("PreToolUse", 325), hook("Stop", 10)]).unwrap().text;
    let done = install(&old, &two()).unwrap();
    assert_eq!(done.removed, ["PreToolUse"]);
    assert_eq!(done.added, ["PermissionRequest"]);
    assert!(!done.text.contains("PreToolUse"), "{}", done.text);
    assert_eq!(
        uninstall(&done.text, Some("{\"a\":1}")).unwrap(),
        RemovedHooks::AsBefore("{\"a\":1}".into())
    );
}

#[test]
fn a_command_that_somebody_put_together_is_neither_changed_nor_doubled_nor_removed() {
    for hook in ["callgate hook", "/bin/callgate-hook"] {
        let text =
            format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{{"command":"{hook} 2>>/tmp/log"}}]}}]}}}}"#);
        let done = install(&text, &one()).unwrap();
        assert_eq!(done.text, text);
        assert!(done.notes[0].starts_with("Stop has a command of yours"), "{:?}", done.notes);
        assert_eq!(uninstall(&text, None).unwrap(), RemovedHooks::Nothing);
        assert_eq!(composed(&text), ["Stop"]);
    }
}

#[test]
fn what_keeps_our_hooks_from_being_asked_is_said() {
    let notes = |text: &str| install(text, &two()).unwrap().notes;
    assert_eq!(notes(r#"{"disableAllHooks":true}"#), ["`disableAllHooks` is true: no hook runs"]);
    assert!(notes(r#"{"disableAllHooks":false}"#).is_empty());
    let matcher = |text: &str| {
        format!(
            r#"{{"hooks":{{"PermissionRequest":[{{{text}"hooks":[{{"command":"callgate hook"}}]}}]}}}}"#
        )
    };
    let expected = r#"PermissionRequest applies only to tools that match "Bash", as before"#;
    assert_eq!(notes(&matcher(r#""matcher":"Bash","#)), [expected]);
    for all in ["", r#""matcher":"*","#, r#""matcher":"","#] {
        assert!(notes(&matcher(all)).is_empty(), "{all}");
    }
}

/// Ours goes; the rest of the handlers, entries, events and members stays to the byte.
#[test]
fn uninstall_removes_ours_only() {
    let check = |hooks: &str, expected: &str| {
        let file = |hooks: &str| format!("{{\n \"a\": 1,{hooks}\n \"b\" : [ ] }}\n");
        let RemovedHooks::Ours(text) = uninstall(&file(hooks), None).unwrap() else {
            panic!("{hooks}")
        };
        assert_eq!(text, file(expected), "{hooks}");
    };
    let ours = r#"{"type":"command","command":"/x/callgate hook"}"#;
    let other = r#"{"type":"command","command":"beep"}"#;
    let hooks = |events: &str| format!("\n \"hooks\": {{ {events} }},");
    let stop = |handlers: &str| hooks(&format!(r#""Stop": [ {{"hooks": [ {handlers} ]}} ]"#));
    check(&stop(ours), "");
    check(&stop(&format!("{ours} , {other}")), &stop(other));
    check(&stop(&format!("{other} , {ours}")), &stop(other));
    check(&stop(&format!("{other} , {ours}, {other}")), &stop(&format!("{other} , {other}")));
    let small = r#"{"type":"command","command":"'/x y/callgate-hook' --agent codex"}"#;
    check(&stop(&format!("{small} , {other} , {ours}")), &stop(other));
    let keys =
        |handlers: &str| hooks(&format!(r#""Stop": [ {{"note": 1, "hooks": [{handlers}]}} ]"#));
    check(&keys(ours), &keys(""));
    check(
        &hooks(&format!(r#""Stop" : [{{"hooks":[{ours}]}}], "PreCompact": [ 1 ]"#)),
        &hooks(r#""PreCompact": [ 1 ]"#),
    );
    check(
        &hooks(&format!(r#""Stop": [{{"hooks":[{ours}]}}, {{"hooks":[{other}]}} ]"#)),
        &hooks(&format!(r#""Stop": [{{"hooks":[{other}]}} ]"#)),
    );
    assert_eq!(uninstall("{}", None).unwrap(), RemovedHooks::Nothing);
    assert_eq!(
        uninstall(&format!("{{{}\"c\":1}}", stop(other)), None).unwrap(),
        RemovedHooks::Nothing
    );
}

#[test]
fn ours_at_an_event_that_we_do_not_install_stays_until_all_goes() {
    let text = r#"{"hooks":{"Later":[{"hooks":[{"command":"callgate hook"},{"command":"x"}]}]}}"#;
    let done = install(text, &one()).unwrap();
    assert!(done.text.starts_with(&text[..text.len() - 2]) && done.removed.is_empty());
    let expected = r#"{"hooks":{"Later":[{"hooks":[{"command":"x"}]}]}}"#;
    assert_eq!(uninstall(&done.text, Some(text)).unwrap(), RemovedHooks::Ours(expected.to_owned()));
}

/// A copy that holds a hook of ours is no file from before us.
#[test]
fn a_backup_with_ours_is_not_put_back() {
    let text =
        r#"{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"/bin/callgate hook","timeout":10}]}]}}"#;
    assert_eq!(
        uninstall(text, Some(text)).unwrap(),
        RemovedHooks::Ours(r#"{"a":1,"hooks":{"Stop":[]}}"#.into())
    );
    assert_eq!(uninstall(text, Some("broken")).unwrap(), RemovedHooks::Ours(r#"{"a":1}"#.into()));
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let check = |text: &str, expected: &str| {
        assert_eq!(install(text, &two()).unwrap_err().to_string(), expected, "{text}");
        uninstall(text, None).unwrap_err();
    };
    check("{\"a\":1,}", "it is not JSON: key must be a string at line 1 column 8");
    check("{} // mine", "it is not JSON: trailing characters at line 1 column 4");
    check("[]", "it is not a JSON object (line 1, column 1)");
    check("{\n \"hooks\": []}", "`hooks` is not an object (line 2, column 11)");
    check("{\"hooks\": null}", "`hooks` is not an object (line 1, column 11)");
    check("{\"hooks\": {}, \"hooks\": {}}", "`hooks` occurs twice (line 1, column 15)");
    check("{\"hooks\": {}, \"h\\u006foks\": {}}", "`hooks` occurs twice (line 1, column 15)");
    check(r#"{"hooks":{"Stop":{}}}"#, "`hooks.Stop` is not a list (line 1, column 18)");
    check(r#"{"hooks":{"Stop":[],"Stop":[]}}"#, "`Stop` occurs twice (line 1, column 21)");
    check(
        r#"{"hooks":{"Stop":[{"matcher":"x"}]}}"#,
        "an entry of `hooks.Stop` has no list of `hooks` (line 1, column 19)",
    );
    check(
        r#"{"hooks":{"Stop":[3]}}"#,
        "an entry of `hooks.Stop` has no list of `hooks` (line 1, column 19)",
    );
    check(
        r#"{"hooks":{"Stop":[{"hooks":{}}]}}"#,
        "an entry of `hooks.Stop` has no list of `hooks` (line 1, column 28)",
    );
    check(
        r#"{"hooks":{"Stop":[{"hooks":["x"]}]}}"#,
        "a hook of `hooks.Stop` is not an object (line 1, column 29)",
    );
    // What we have nothing to do with may look as it likes, and stand there twice.
    round_trip(r#"{"a":1,"a":2,"hooks":{"Later":{"x":1},"Later":3}}"#, &two());
}
