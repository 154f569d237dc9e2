//! Tests of the file tools, as a model uses them.

mod edit;
mod globs;
mod hidden;
mod list;
mod outside;
mod preview;
mod race;
mod read;
mod search;
mod seen;
mod write;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{AllowedFolders, FileLimits, HiddenFiles, build_file_tools};
use crate::tool::{AgentTool, CallAddress, CallOutcome, FaultContext, ToolInvocation};

/// What lies outside, and must never be seen or changed.
const CANARY: &str = "canary in the coal mine";

/// An allowed folder `root`, which is also the working folder, and a folder `outside` beside it
/// with a canary.
struct Room {
    dir: TempDir,
    tools: Vec<Arc<dyn AgentTool>>,
}

impl Room {
    fn new() -> Self {
        Self::with(FileLimits::default())
    }

    fn with(limits: FileLimits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/canary.txt"), CANARY).unwrap();
        let tools = Self::tools_of(&dir.path().join("root"), limits);
        Self { dir, tools }
    }

    fn tools_of(root: &Path, limits: FileLimits) -> Vec<Arc<dyn AgentTool>> {
        build_file_tools(AllowedFolders::open(root, &[root.to_owned()]).unwrap(), limits, nothing())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("root").join(name)
    }

    fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    /// Returns a file with its folders.
    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(name)).unwrap();
    }

    fn run(&self, name: &str, input: &Value) -> CallOutcome {
        run(&self.tools, name, input)
    }

    /// Returns why nobody is asked about a use.
    fn refusal(&self, name: &str, input: &Value) -> Option<String> {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name).unwrap();
        tool.refusal(&to_raw_value(input).unwrap())
    }

    /// Returns why a call cannot succeed, if the model may or may not read the files.
    fn fault(&self, name: &str, input: &Value, may_read: bool) -> Option<String> {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name).unwrap();
        let context = FaultContext { conversation: "c", may_read: &|_| may_read };
        tool.fault(&to_raw_value(input).unwrap(), context)
    }

    /// Lets the model read a file, so that it may replace it.
    fn show(&self, path: &str) {
        self.run("read_file", &json!({ "path": path }));
    }

    /// Returns the result of a use that goes well.
    fn done(&self, name: &str, input: &Value) -> (Value, String) {
        let outcome = self.run(name, input);
        assert!(!outcome.is_error, "{name} {input}: {}", outcome.text);
        (serde_json::from_str(outcome.result.get()).unwrap(), outcome.text)
    }

    /// Returns the text of a use that does not.
    fn failed(&self, name: &str, input: &Value) -> String {
        let outcome = self.run(name, input);
        assert!(outcome.is_error, "{name} {input}: {}", outcome.text);
        let result: Value = serde_json::from_str(outcome.result.get()).unwrap();
        assert_eq!(result, json!({ "error": outcome.text }));
        outcome.text
    }

    fn check_failed(&self, name: &str, input: &Value, part: &str) {
        let text = self.failed(name, input);
        assert!(text.contains(part), "{name} {input}: {text}");
    }

    /// Returns the names in the allowed folder, with drafts that were left behind.
    fn names(&self) -> Vec<String> {
        names(&self.path(""))
    }

    fn assert_canary(&self) {
        assert_eq!(fs::read_to_string(self.outside().join("canary.txt")).unwrap(), CANARY);
        assert_eq!(names(&self.outside()), ["canary.txt"]);
    }
}

/// No rule keeps anything from searches.
fn nothing() -> HiddenFiles {
    Arc::new(|_, _| None)
}

fn run(tools: &[Arc<dyn AgentTool>], name: &str, input: &Value) -> CallOutcome {
    run_in("c", tools, name, input)
}

fn run_in(
    conversation: &str,
    tools: &[Arc<dyn AgentTool>],
    name: &str,
    input: &Value,
) -> CallOutcome {
    let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let invocation = ToolInvocation { conversation: conversation.into(), ..use_of(input) };
    runtime.block_on(tool.run_call(invocation))
}

fn use_of(input: &Value) -> ToolInvocation {
    ToolInvocation {
        input: to_raw_value(input).unwrap(),
        conversation: "c".into(),
        address: CallAddress::default(),
        progress: Arc::new(|_, _| ()),
        asker: crate::tool::PersonAsker::default(),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_tools_have_the_names_that_users_know() {
    let room = Room::new();
    let specs: Vec<(&str, bool)> =
        room.tools.iter().map(|tool| (&*tool.spec().name, tool.spec().is_read_only)).collect();
    assert_eq!(
        specs,
        [
            ("list_files", true),
            ("read_file", true),
            ("write_file", false),
            ("edit_file", false),
            ("search_files", true),
            ("search_text", true),
            ("analyze_image", true),
        ]
    );
    for tool in &room.tools {
        let schema: Value = serde_json::from_str(tool.spec().input_schema.get()).unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        let properties = schema["properties"].as_object().unwrap();
        for name in schema["required"].as_array().unwrap() {
            assert!(properties.contains_key(name.as_str().unwrap()));
        }
        // Every member that names a file is one that the rules read as a path.
        let named = |name: &str| name.to_lowercase().contains("path") || name.contains("file");
        let paths: Vec<&String> = properties.keys().filter(|name| named(name)).collect();
        assert_eq!(paths, ["path"]);
    }
}

#[test]
fn wrong_input_is_told_by_its_name() {
    let room = Room::new();
    room.check_failed("read_file", &json!([1]), "not a JSON object");
    room.check_failed("read_file", &json!({}), "`path` is missing");
    room.check_failed("read_file", &json!({ "path": null }), "`path` is missing");
    room.check_failed("read_file", &json!({ "path": 3 }), "`path` in the input is not a string");
    room.check_failed("read_file", &json!({ "path": "a", "offset": 0 }), "`offset`");
    room.check_failed("read_file", &json!({ "path": "a", "limit": "ten" }), "`limit`");
    room.check_failed("read_file", &json!({ "path": "a", "limit": -1 }), "`limit`");
    room.check_failed("read_file", &json!({ "path": "a", "limit": 1.5 }), "`limit`");
    room.check_failed("write_file", &json!({ "path": "a" }), "`content` is missing");
    room.check_failed("edit_file", &json!({ "path": "a", "newText": "" }), "`oldText` is missing");
    let replace = json!({ "path": "a", "oldText": "a", "newText": "b", "replaceAll": "yes" });
    room.check_failed("edit_file", &replace, "`replaceAll`");
    room.check_failed("search_files", &json!({}), "`pattern` is missing");
    room.check_failed("search_text", &json!({ "pattern": "a", "maxResults": 0 }), "`maxResults`");
    room.put("a", "text");
    room.done("read_file", &json!({ "path": "a", "limit": 2.0, "offset": null }));
    let twice = r#"{"path": "a", "path": "b"}"#.to_owned();
    let input = serde_json::value::RawValue::from_string(twice).unwrap();
    let tool = room.tools.iter().find(|tool| tool.spec().name == "read_file").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = runtime.block_on(tool.run_call(ToolInvocation { input, ..use_of(&json!({})) }));
    assert!(outcome.is_error && outcome.text.contains("`path` twice"), "{}", outcome.text);
}

/// Rules may take such a member for the path, and then judge another one than is used.
#[test]
fn a_member_that_a_tool_does_not_know_is_refused() {
    let room = Room::new();
    room.put("a", "text");
    for tool in &room.tools {
        let name = &*tool.spec().name;
        for member in ["file_path", "dir_path", "Path", "cwd"] {
            for value in [json!("a"), json!(null)] {
                let input = json!({ "path": "a", "pattern": "text", "content": "", member: value });
                let input = Value::Object(
                    input
                        .as_object()
                        .unwrap()
                        .clone()
                        .into_iter()
                        .filter(|(known, _)| known == member || schema_has(tool, known))
                        .collect(),
                );
                let expected = format!("`{member}` is unknown in the input: this tool takes ");
                room.check_failed(name, &input, &expected);
                room.check_failed(name, &input, "`path`");
            }
        }
    }
    assert_eq!(fs::read_to_string(room.path("a")).unwrap(), "text");
    let long = room.failed("list_files", &json!({ "x\n".repeat(10_000): 1 }));
    assert!(long.len() < 400 && !long.contains('\n'), "{long}");
}

fn schema_has(tool: &Arc<dyn AgentTool>, member: &str) -> bool {
    let schema: Value = serde_json::from_str(tool.spec().input_schema.get()).unwrap();
    schema["properties"].get(member).is_some()
}

#[test]
fn roots_have_to_be_folders_that_are_there() {
    let room = Room::new();
    let file = room.put("file", "");
    let open =
        |cwd: &Path, roots: &[PathBuf]| AllowedFolders::open(cwd, roots).unwrap_err().to_string();
    let dir = room.dir.path();
    assert!(open(dir, &[]).contains("no allowed folder"));
    assert!(open(Path::new("here"), &[dir.into()]).contains("not absolute"));
    assert!(open(dir, &[file]).contains("cannot be opened"));
    assert!(open(dir, &["missing".into()]).contains("cannot be opened"));
    assert!(AllowedFolders::open(dir, &["root".into()]).is_ok());
}

#[test]
fn a_kernel_without_openat2_is_told_of_and_nothing_weaker_is_used() {
    let text = super::error_text::errno_text(rustix::io::Errno::NOSYS);
    assert!(text.contains("openat2") && text.contains("Linux 5.6"), "{text}");
    let error = super::AllowedFoldersError::NoOpenat2(rustix::io::Errno::NOSYS.into()).to_string();
    assert!(error.contains("openat2") && error.contains("Linux 5.6"), "{error}");
    // One call opens what has to stay inside, and one the allowed folders themselves.
    for source in [include_str!("roots.rs"), include_str!("beneath.rs")] {
        let plain = source.matches("openat(").count() + source.matches("File::open").count();
        assert_eq!(plain, usize::from(source.contains("pub struct AllowedFolders ")));
    }
}
