//! Tests of reading tool calls.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use callgate_wire::tool_act::ToolShell;

use super::*;

fn act(tool: &str, input: &str) -> Act {
    let agent = if ToolKind::is_tool_of(OWN_AGENT, tool) { OWN_AGENT } else { "claude-code" };
    Act::from_call(tool, input, "/home/ada/engine", agent, "/home/ada")
}

fn check(tool: &str, input: &str, expected: &Expect) {
    let act = act(tool, input);
    let mut parts = vec![act.class.to_string()];
    parts.extend(act.command.iter().map(|command| format!("command {command}")));
    parts.extend(act.paths.iter().map(|path| format!("path {path}")));
    parts.extend(act.hosts.iter().map(|host| format!("host {host}")));
    if act.is_search {
        parts.push("search".into());
    }
    parts.extend(act.doubt_reason());
    expected.assert_eq(&parts.join("; "));
}

#[test]
fn claude_codes_tools_are_known() {
    check(
        "Bash",
        r#"{"command":"make build","description":"x"}"#,
        &expect!["run; command make build"],
    );
    check("Read", r#"{"file_path":"/etc/../etc/passwd"}"#, &expect!["read; path /etc/passwd"]);
    check(
        "Write",
        r#"{"file_path":"a.txt","content":"/etc"}"#,
        &expect!["write; path /home/ada/engine/a.txt"],
    );
    check(
        "Edit",
        r#"{"file_path":"~/x","old_string":"","new_string":""}"#,
        &expect!["write; path /home/ada/x"],
    );
    check("MultiEdit", r#"{"file_path":"/a","edits":[]}"#, &expect!["write; path /a"]);
    check("NotebookEdit", r#"{"notebook_path":"/a.ipynb"}"#, &expect!["write; path /a.ipynb"]);
    check("Glob", r#"{"pattern":"**/*.rs"}"#, &expect!["read; path /home/ada/engine; search"]);
    check("Glob", r#"{"pattern":"/etc/*.conf"}"#, &expect!["read; path /etc; search"]);
    check("Glob", r#"{"pattern":"/*"}"#, &expect!["read; path /; search"]);
    check(
        "Glob",
        r#"{"pattern":"../../*","path":"src"}"#,
        &expect!["read; path /home/ada; search; its pattern leads up to an unknown folder"],
    );
    check(
        "Glob",
        r#"{"pattern":"*/../../x"}"#,
        &expect!["read; path /home/ada/engine; search; its pattern leads up to an unknown folder"],
    );
    check(
        "Grep",
        r#"{"pattern":"/etc","path":"src"}"#,
        &expect!["read; path /home/ada/engine/src; search"],
    );
    check("WebFetch", r#"{"url":"https://Docs.rs/x"}"#, &expect!["network; host docs.rs"]);
    check("WebSearch", r#"{"query":"x"}"#, &expect!["network"]);
    for tool in ["Task", "Agent", "ExitPlanMode", "AskUserQuestion"] {
        check(tool, r#"{"prompt":"see /etc"}"#, &expect!["other"]);
    }
    check("mcp__files__read", r#"{"path":"/etc"}"#, &expect!["other"]);
}

/// A line of the table of tools is all that rules need to know a tool.
#[test]
fn every_line_of_the_table_of_tools_has_its_class() {
    let patch = "*** Begin Patch\\n*** Delete File: a\\n*** End Patch";
    let input = format!(r#"{{"path":"a","url":"https://docs.rs","input":"{patch}"}}"#);
    let undone = r#"{"files":[{"operation":"delete","path":"a","changes":[]}]}"#;
    for (agent, tool, kind) in ToolKind::table() {
        let input = match kind {
            ToolKind::Run(ToolShell::Typed) => r#"{"line":"make"}"#,
            ToolKind::Run(_) => r#"{"command":"make"}"#,
            ToolKind::Undo => undone,
            _ => &input,
        };
        let act = Act::from_call(tool, input, "/home/ada/engine", agent, "/home/ada");
        assert_eq!(act.class, tools::class_of_kind(kind), "{agent} {tool}");
        assert_eq!(act.command.is_some(), act.class == ActClass::Run, "{agent} {tool}");
        let is_file =
            matches!(act.class, ActClass::Read | ActClass::Write) && kind != ToolKind::Note;
        assert_eq!(!act.paths.is_empty(), is_file, "{agent} {tool}");
        assert_eq!(!act.hosts.is_empty(), act.class == ActClass::Network, "{agent} {tool}");
        assert_eq!(!act.strings.is_empty(), has_strings(kind), "{agent} {tool}");
    }
}

/// Whether each text in the input could be a command.
fn has_strings(kind: ToolKind) -> bool {
    let is_asked = matches!(kind, ToolKind::Script | ToolKind::Elicit);
    let is_unknown = matches!(kind, ToolKind::Mcp | ToolKind::Own | ToolKind::Other);
    is_asked || is_unknown || kind == ToolKind::Code
}

#[test]
fn codexs_and_the_runtimes_tools_are_known() {
    check(
        "shell",
        r#"{"command":["bash","-lc","git status"]}"#,
        &expect!["run; command bash -lc 'git status'"],
    );
    check("shell_command", r#"{"command":"ls","workdir":"src"}"#, &expect!["run; command ls"]);
    check("exec_command", r#"{"cmd":"ls"}"#, &expect!["run; command ls"]);
    let patch = r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n+x\n*** Move to: ../b.rs\n*** End Patch"}"#;
    check("apply_patch", patch, &expect!["write; path /home/ada/engine/a.rs; path /home/ada/b.rs"]);
    check(
        "shell",
        r#"{"command":["apply_patch","*** Delete File: /x"]}"#,
        &expect!["write; path /x"],
    );
    check("apply_patch", r#"{"input":"x"}"#, &expect!["write; its patch names no file"]);
    check("read_file", r#"{"path":"a"}"#, &expect!["read; path /home/ada/engine/a"]);
    check("write_file", r#"{"path":"a"}"#, &expect!["write; path /home/ada/engine/a"]);
    check("edit_file", r#"{"path":"a"}"#, &expect!["write; path /home/ada/engine/a"]);
    check(
        "run_shell_command",
        r#"{"command":"ls","args":["-l"],"cwd":"src"}"#,
        &expect!["run; command ls -l"],
    );
    check(
        "start_command",
        r#"{"command":"ls","args":["-l"],"cwd":"src"}"#,
        &expect!["run; command ls -l"],
    );
    check(
        "write_to_command",
        r#"{"id":"command-1","line":"cd /tmp; git push"}"#,
        &expect![
            "run; command cd /tmp; git push; it is typed into a running program, whose state is not known"
        ],
    );
    check("read_command", r#"{"id":"command-1"}"#, &expect!["read"]);
    check("list_files", r"{}", &expect!["read; path /home/ada/engine"]);
    check("search_files", r#"{"pattern":"/x/*"}"#, &expect!["read; path /x; search"]);
    check("search_text", r#"{"query":"/x"}"#, &expect!["read; path /home/ada/engine; search"]);
    check("get_system_info", r"{}", &expect!["read"]);
    check(
        "todo_write",
        r#"{"items": [{"text": "edit ~/.config/callgate", "status": "active"}]}"#,
        &expect!["read"],
    );
    check(
        "run_shell_command",
        r#"{"command":"echo","args":["a; rm -rf /","$(x)"]}"#,
        &expect!["run; command echo 'a; rm -rf /' '$(x)'"],
    );
    assert_eq!(
        act("shell_command", r#"{"command":"ls","workdir":"/x"}"#).commands().unwrap()[0].folders,
        ["/x"]
    );
}

#[test]
fn our_own_command_is_a_program_and_its_arguments() {
    let is_no_word = expect!["run; command 'git status x/evil'; its program is not a single word"];
    for args in ["", r#","args":null"#, r#","args":[]"#] {
        let input = format!(r#"{{"command":"git status x/evil"{args}}}"#);
        check("run_shell_command", &input, &is_no_word);
    }
    check("run_shell_command", r#"{"command":"ls"}"#, &expect!["run; command ls"]);
    check(
        "run_shell_command",
        r#"{"command":["ls"]}"#,
        &expect!["run; its input names no command"],
    );
    check(
        "run_shell_command",
        r#"{"command":"apply_patch","args":["*** Delete File: /x"]}"#,
        &expect!["run; command apply_patch '*** Delete File: /x'"],
    );
    // Its folder is no word of a shell, and the system resolves a `..` behind a link.
    for (cwd, is_known) in [
        ("src", true),
        ("", true),
        ("./src/", true),
        ("../other", true),
        ("/home/ada/other", true),
        ("~", false),
        ("~/x", false),
        ("src/..", false),
        ("/home/ada/engine/src/../x", false),
    ] {
        let input = serde_json::json!({"command": "ls", "cwd": cwd}).to_string();
        assert_eq!(act("run_shell_command", &input).doubt_reason().is_none(), is_known, "{cwd}");
    }
}

#[test]
fn our_own_file_tools_know_one_member_that_is_a_path() {
    let own = ["list_files", "read_file", "write_file", "edit_file", "search_files", "search_text"];
    for tool in own {
        let known = act(tool, r#"{"path":"src/a"}"#);
        assert_eq!(
            (known.doubt_reason(), known.paths),
            (None, vec!["/home/ada/engine/src/a".into()])
        );
        for name in ["file_path", "filePath", "dir_path", "notebook_path", "paths", "file"] {
            let alone = act(tool, &format!(r#"{{"{name}":"src"}}"#));
            assert!(alone.doubt_reason().is_some(), "{tool} {name}");
            // What the tool takes without a path, and what the input speaks of.
            assert_eq!(alone.paths, ["/home/ada/engine", "/home/ada/engine/src"], "{tool} {name}");
            let beside = act(tool, &format!(r#"{{"path":"a","{name}":"src"}}"#));
            assert!(beside.doubt_reason().is_some(), "{tool} {name}");
            assert_eq!(beside.paths, ["/home/ada/engine/a", "/home/ada/engine/src"]);
        }
        assert!(act(tool, r#"{"path":["a"]}"#).doubt_reason().is_some());
        assert!(act(tool, r#"{"path":"a","file_path":["a"]}"#).doubt_reason().is_some());
        assert!(act(tool, r#"{"path":"a\u0000b"}"#).doubt_reason().is_some());
    }
}

#[test]
fn a_search_for_a_name_begins_where_its_tool_begins() {
    for (pattern, folder) in [
        ("key", "/home/ada/engine/src"),
        ("key/", "/home/ada/engine/src"),
        ("*.key", "/home/ada/engine/src"),
        ("deep/key", "/home/ada/engine/src/deep/key"),
        ("deep/*.key", "/home/ada/engine/src/deep"),
        ("./key", "/home/ada/engine/src/key"),
    ] {
        let input = serde_json::json!({"pattern": pattern, "path": "src"}).to_string();
        assert_eq!(act("search_files", &input).paths, [folder], "{pattern}");
    }
    let glob = act("Glob", r#"{"pattern":"key","path":"src"}"#);
    assert_eq!(glob.paths, ["/home/ada/engine/src/key"]);
}

/// Whoever reads it next may read something else.
#[test]
fn an_input_that_can_be_read_in_two_ways_is_refused() {
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(127), "]".repeat(127));
    for (input, reason) in [
        (r#"{"command":"touch made # \ud800"}"#, "half of a surrogate pair"),
        (r#"{"command":"ls","\udfff":1}"#, "half of a surrogate pair"),
        (r#"{"command":"ls","command":"rm x"}"#, "the same key twice"),
        (r#"{"command":"ls","\u0063ommand":"rm x"}"#, "the same key twice"),
        (r#"{"command":"ls","a":[{"b":1,"b":1}]}"#, "the same key twice"),
        (r#"{"command":"ls","a":1e400}"#, "too large or too precise"),
        (&deep, "more than 127 levels"),
    ] {
        for tool in ["Bash", "Write", "TodoWrite", "mcp__shop__buy", "list_files"] {
            let refused = act(tool, input).refused;
            assert!(refused.as_ref().is_some_and(|why| why.contains(reason)), "{tool} {input}");
        }
    }
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(126), "]".repeat(126));
    for input in [r#"{"command":"echo \ud83d\ude00","n":[1.0,1e3,{"n":0.1}]}"#, &deep] {
        let act = act("mcp__shop__buy", input);
        assert_eq!((act.refused, act.unsure), (None, None), "{input}");
    }
}

#[test]
fn what_cannot_be_known_is_said() {
    check("Bash", "{", &expect!["run; its input is not a JSON object"]);
    check("Bash", "[]", &expect!["run; its input is not a JSON object"]);
    check("Bash", r#"{"command":1}"#, &expect!["run; its input names no command"]);
    check(
        "Bash",
        r#"{"command":"ls","dangerouslyDisableSandbox":true}"#,
        &expect!["run; command ls; it asks to leave its sandbox"],
    );
    check(
        "shell",
        r#"{"command":["ls"],"sandbox_permissions":"require_escalated"}"#,
        &expect!["run; command ls; it asks to leave its sandbox"],
    );
    check(
        "exec_command",
        r#"{"cmd":"ls","shell":"/x"}"#,
        &expect!["run; command ls; it is not run by the usual shell"],
    );
    check(
        "run_shell_command",
        r#"{"command":"a b","args":[]}"#,
        &expect!["run; command 'a b'; its program is not a single word"],
    );
    check(
        "run_shell_command",
        r#"{"command":"a","args":[1]}"#,
        &expect!["run; the arguments in its input are not strings"],
    );
    check("Write", r"{}", &expect!["write; path /home/ada/engine; its input names no file"]);
    check(
        "Read",
        r#"{"file_path":["/x"]}"#,
        &expect!["read; path /home/ada/engine; the path in its input is not a string"],
    );
    check("WebFetch", r#"{"url":"https://a\\b"}"#, &expect!["network; its URL is ambiguous"]);
    check("WebFetch", r"{}", &expect!["network; its input names no URL"]);
    for (tool, input) in [
        ("Bash", r#"{"command":"ls","cmd":"ls"}"#),
        ("Bash", r#"{"command":"ls","script":"rm"}"#),
        ("Bash", r#"{"command":"ls","cwd":"/x"}"#),
        ("run_shell_command", r#"{"command":"ls","workdir":"/x"}"#),
        ("shell", r#"{"command":"ls","cwd":"/x","workdir":"/x"}"#),
        ("shell", r#"{"command":"ls","workdir":["/x"]}"#),
        ("Read", r#"{"file_path":"a","path":"a"}"#),
        ("Read", r#"{"file_path":"a","paths":["/etc/passwd"]}"#),
        ("Read", r#"{"file_path":"file:///etc/passwd"}"#),
        ("Write", r#"{"file_path":"$HOME/x"}"#),
        ("Write", r#"{"file_path":"/proc/self/cwd/x"}"#),
        ("Grep", r#"{"pattern":"x","glob":"../../**"}"#),
        ("Bash", r#"{"command":"cat /dev/fd/3"}"#),
        ("Bash", r#"{"command":"cd /proc/self/root; ls"}"#),
        ("Bash", r#"{"command":"cd /proc/self; cd root; ls"}"#),
        ("apply_patch", r#"{"input":"*** Add File: a","patch":"*** Add File: b"}"#),
        ("apply_patch", r#"{"input":"*** Add File: a\n*** Move To: b"}"#),
        ("apply_patch", r#"{"input":"*** Add File: a\n \t***Add File: b"}"#),
    ] {
        assert!(act(tool, input).doubt_reason().is_some(), "{tool} {input}");
    }
    for (tool, input) in [
        ("Bash", r#"{"command":"ls","cmd":null,"description":"x","timeout":5}"#),
        ("Bash", r#"{"command":"cat /proc/self/root/etc/hosts"}"#),
        ("Grep", r#"{"pattern":"x","glob":"*.rs","output_mode":"files_with_matches"}"#),
        (
            "apply_patch",
            r#"{"input":"*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n"}"#,
        ),
    ] {
        assert_eq!(act(tool, input).doubt_reason(), None, "{tool} {input}");
    }
    let relative = Act::from_call("Read", r#"{"file_path":"a"}"#, "engine", "claude", "/home/ada");
    assert!(relative.unsure.is_some());
    let many: Vec<String> = (0..=MOST_STRINGS).map(|n| n.to_string()).collect();
    assert!(act("mcp__a__b", &serde_json::json!({ "x": many }).to_string()).unsure.is_some());
}

proptest! {
    #[test]
    fn any_input_is_read_without_a_panic(input in "\\PC{0,40}", path in "\\PC{0,20}", tool in prop::sample::select(
        ["Bash", "Read", "Glob", "Grep", "Write", "WebFetch", "apply_patch", "mcp__a__b", "shell"].to_vec()
    )) {
        let _ = act(tool, &input);
        let json = serde_json::json!({"command": path, "file_path": path, "path": path, "pattern": path, "url": path, "input": path});
        for path in act(tool, &json.to_string()).paths {
            prop_assert!(path.starts_with('/') && !path.contains("/../"));
        }
    }
}
