//! `docs/protocol/runtime-tools.md` and its types are true: each input is compared with the schema
//! of the tool, and each result with what a call returns.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use callgate_agent::tool::files::{AllowedFolders, FileLimits};
use callgate_agent::tool::run::{BackgroundCommands, RunSettings};
use callgate_agent::tool::{AgentTool, CallAddress, PersonAsker, ToolInvocation, ToolSource};
use callgate_agent::tool::{ask_user, desktop, files, run, system, todo};
use callgate_testkit::picture::SMALL_PNG;
use callgate_testkit::tools::repo_root;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// The members of an input or a result, by their path: the type, and whether it is always there.
type Members = BTreeMap<String, (String, bool)>;

/// What the page says about a tool.
#[derive(Debug, Default)]
struct DocumentedTool {
    input: Members,
    result: Members,
}

fn documented() -> BTreeMap<String, DocumentedTool> {
    let page = fs::read_to_string(repo_root().join("docs/protocol/runtime-tools.md")).unwrap();
    let mut tools: BTreeMap<String, DocumentedTool> = BTreeMap::new();
    let (mut name, mut is_input) = (String::new(), true);
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## `") {
            heading.trim_end_matches('`').clone_into(&mut name);
            tools.insert(name.clone(), DocumentedTool::default());
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells[..] {
            ["input", ..] => is_input = true,
            ["result", ..] => is_input = false,
            [member, kind, always, ..] if member.starts_with('`') => {
                let tool = tools.get_mut(&name).unwrap();
                let members = if is_input { &mut tool.input } else { &mut tool.result };
                let member = member.trim_matches('`').to_owned();
                members.insert(member, (kind.to_owned(), always == "yes"));
            }
            _ => {}
        }
    }
    tools
}

fn tools(folder: &Path) -> Vec<Arc<dyn AgentTool>> {
    let roots = AllowedFolders::open(folder, &[folder.to_owned()]).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let env = [("PATH".into(), path), ("DISPLAY".into(), OsString::from(":0"))];
    let settings = RunSettings::new(folder.to_owned(), env.into());
    let mut tools = files::build_file_tools(roots, FileLimits::default(), Arc::new(|_, _| None));
    tools.extend([
        todo::build_todo_tool(),
        ask_user::build_ask_user_tool(),
        system::build_system_tool(&settings),
        run::build_shell_tool(settings.clone()),
    ]);
    tools.extend(desktop::build_desktop_tools(&settings));
    tools.extend(BackgroundCommands::new(settings).tools());
    tools
}

/// Returns the members of a schema.
fn members(schema: &Value, before: &str) -> Members {
    let mut found = Members::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{before}{name}");
        let items = &member["items"]["type"];
        let kind = match member["type"].as_str().unwrap() {
            "integer" => "whole number",
            "array" if items == "object" => {
                found.extend(members(&member["items"], &format!("{path}[].")));
                continue;
            }
            "array" => "array of strings",
            kind => kind,
        };
        found.insert(path, (kind.to_owned(), required.contains(&json!(name))));
    }
    found
}

/// Checks that a result has what is documented, and nothing else.
fn check_result(tool: &str, result: &Value, before: &str, documented: &Members) {
    let found = result.as_object().unwrap();
    for (name, value) in found {
        let path = format!("{before}{name}");
        match value {
            Value::Array(items) if items.first().is_some_and(Value::is_object) => {
                for item in items {
                    check_result(tool, item, &format!("{path}[]."), documented);
                }
                continue;
            }
            Value::Array(items) if items.is_empty() => continue,
            Value::Object(_) if !documented.contains_key(&path) => {
                check_result(tool, value, &format!("{path}."), documented);
                continue;
            }
            _ => {}
        }
        let (kind, _) = documented.get(&path).unwrap_or_else(|| panic!("{tool}: {path} is new"));
        let is = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "whole number",
            Value::String(_) => "string",
            Value::Array(_) => "array of strings",
            Value::Object(_) => "object",
        };
        assert!(kind.split(" or ").any(|kind| kind == is), "{tool}: {path} is {value}, not {kind}");
    }
    for (path, (_, is_always)) in documented {
        let own = path.strip_prefix(before).filter(|rest| !rest.contains(['.', '[']));
        let is_there = own.is_none_or(|name| found.contains_key(name) || !is_always);
        assert!(is_there, "{tool}: {path} is missing in {result}");
    }
}

#[test]
fn the_inputs_are_those_of_the_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let (pages, tools) = (documented(), tools(folder.path()));
    for tool in &tools {
        let spec = tool.spec();
        let page = pages.get(&*spec.name).unwrap_or_else(|| panic!("{} is missing", spec.name));
        let schema = serde_json::from_str(spec.input_schema.get()).unwrap();
        assert_eq!(page.input, members(&schema, ""), "{}", spec.name);
    }
    assert_eq!(pages.len(), tools.len());
}

#[tokio::test]
async fn the_results_are_those_of_the_calls() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("a.txt", folder.path().join("link")).unwrap();
    fs::write(folder.path().join("dot.png"), SMALL_PNG).unwrap();
    let (pages, tools) = (documented(), tools(folder.path()));
    let plan = json!({ "items": [{ "text": "Read it", "status": "active" }] });
    let calls = [
        ("write_file", json!({ "path": "a.txt", "content": "one\ntwo\n" })),
        ("edit_file", json!({ "path": "a.txt", "oldText": "one", "newText": "1" })),
        ("list_files", json!({})),
        ("read_file", json!({ "path": "a.txt" })),
        ("read_file", json!({ "path": "a.txt", "limit": 1 })),
        ("search_files", json!({ "pattern": "a" })),
        ("search_text", json!({ "pattern": "two" })),
        ("analyze_image", json!({ "path": "dot.png" })),
        ("run_shell_command", json!({ "command": "echo", "args": ["hello"] })),
        ("run_shell_command", json!({ "command": "sh", "args": ["-c", "kill $$"] })),
        ("start_command", json!({ "command": "cat" })),
        ("write_to_command", json!({ "id": "command-1", "line": "hello" })),
        ("read_command", json!({ "id": "command-1" })),
        ("stop_command", json!({ "id": "command-1" })),
        ("todo_write", plan),
        // The gate adds the answers.
        ("ask_user", json!({ "questions": [], "answers": { "Which?": "Blue" } })),
        ("get_system_info", json!({})),
    ];
    for (name, input) in calls {
        let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
        let outcome = tool.run_call(ToolInvocation {
            input: to_raw_value(&input).unwrap(),
            conversation: "c".into(),
            address: CallAddress::default(),
            progress: Arc::new(|_, _: &str| {}),
            asker: PersonAsker::default(),
        });
        let outcome = outcome.await;
        let result: Value = serde_json::from_str(outcome.result.get()).unwrap();
        assert_eq!(outcome.is_error, input["args"][0] == "-c", "{name}: {result}");
        check_result(name, &result, "", &pages[name].result);
    }
}

/// Returns the members as a TypeScript type.
fn typescript(members: &Members, indent: &str) -> String {
    let mut groups: BTreeMap<&str, (Members, bool)> = BTreeMap::new();
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    for (path, kind) in members {
        let inner = |rest: &str| BTreeMap::from([(rest.to_owned(), kind.clone())]);
        if let Some((name, rest)) = path.split_once("[].") {
            groups.entry(name).or_insert_with(|| (Members::new(), true)).0.extend(inner(rest));
        } else if let Some((name, rest)) = path.split_once('.') {
            groups.entry(name).or_insert_with(|| (Members::new(), false)).0.extend(inner(rest));
        } else {
            let (kind, is_always) = kind;
            let kind = kind.replace("whole number", "number").replace(" or ", " | ");
            let kind = kind.replace("array of strings", "string[]");
            let kind = kind.replace("object", "Record<string, unknown>");
            let mark = if *is_always { "" } else { "?" };
            lines.insert(path, format!("{indent}  {path}{mark}: {kind};\n"));
        }
    }
    for (name, (members, is_list)) in &groups {
        let list = if *is_list { "[]" } else { "" };
        let body = typescript(members, &format!("{indent}  "));
        lines.insert(name, format!("{indent}  {name}: {body}{list};\n"));
    }
    let body: String = lines.into_values().collect();
    if body.is_empty() { "{}".to_owned() } else { format!("{{\n{body}{indent}}}") }
}

#[test]
fn the_types_are_those_of_the_page() {
    let mut expected = "// The inputs and results of the runtime's tools, from runtime-tools.md, by the tools' names.\n\n\
        export interface RuntimeTools {\n"
        .to_owned();
    for (name, DocumentedTool { input, result }) in documented() {
        let [input, result] = [input, result].map(|members| typescript(&members, "    "));
        let types = ["  ", &name, ": {\n    input: ", &input, ";\n    result: ", &result];
        expected.extend(types);
        expected += ";\n  };\n";
    }
    expected += "}\n";
    let path = repo_root().join("docs/protocol/runtime-tools.d.ts");
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(found == expected, "docs/protocol/runtime-tools.d.ts should be:\n{expected}");
}
