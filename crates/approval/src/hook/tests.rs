//! A fault of our own lets no tool call run.

use super::*;

/// What a hook does whose settings make it panic.
fn crashed(input: &str) -> HookOutcome {
    let hook = HookCommand {
        gated: None,
        agent: None,
        variable: &|_| None,
        is_attended: true,
        settings_folder: None,
        desk: &|| panic!("on purpose"),
        settings_change: &|_, _| panic!("on purpose"),
        without_desk: &|_| Err("not reached".to_owned()),
        by_rules: &|_| Box::new(|| None),
    };
    hook.serve_or_deny(input.as_bytes(), &AskerCancellation::default())
}

#[test]
fn a_crash_denies_a_call_and_falls_back_where_the_agent_asks() {
    let input = |event: &str| format!(r#"{{"hook_event_name":"{event}","tool_name":"Bash"}}"#);
    let HookOutcome::Decided(line) = crashed(&input("PreToolUse")) else { panic!("it may run") };
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains(r#""permissionDecision":"deny""#), "{line}");
    assert!(line.contains("the hook failed") && !line.contains("on purpose"), "{line}");
    assert!(matches!(crashed(&input("PermissionRequest")), HookOutcome::Fallback(_)));
    let change = r#"{"hook_event_name":"ConfigChange","source":"s","file_path":"/f"}"#;
    let HookOutcome::Decided(line) = crashed(change) else { panic!("it is applied") };
    assert!(line.starts_with(br#"{"decision":"block","reason":"the hook failed"#));
    for event in ["PermissionDenied", "PostToolUse", "Stop", "Notification"] {
        assert_eq!(crashed(&input(event)), HookOutcome::Silent, "{event}");
    }
}
