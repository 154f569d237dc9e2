//! The tools of Claude Code, of Codex and of callgate's own runtime.

use serde_json::{Map, Value};

use super::input::{strings, text, texts};
use super::{Act, Class, MOST_STRINGS, host_of, input};
use crate::place::{Base, resolve};
use crate::shell::Script;

/// Tools that run a command.
pub(crate) const RUN_TOOLS: &[&str] =
    &["Bash", "shell", "local_shell", "shell_command", "exec_command", "run_shell_command"];
/// Tools that change files.
pub(crate) const WRITE_TOOLS: &[&str] =
    &["Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "edit_file", "apply_patch"];
/// Tools that look at one file.
const READ_TOOLS: &[&str] = &["Read", "NotebookRead", "read_file"];
/// Tools that look at all in a folder.
const SEARCH_TOOLS: &[&str] = &["Glob", "Grep", "LS", "list_files", "search_files", "search_text"];
/// Tools that speak to other machines.
const NETWORK_TOOLS: &[&str] = &["WebFetch", "WebSearch"];
/// Tools that ask the user, or plan, or look at the machine: nothing in their input is a path.
const QUIET_TOOLS: &[&str] =
    &["Task", "Agent", "ExitPlanMode", "AskUserQuestion", "TodoWrite", "get_system_info"];
/// The members that name a file or a folder.
const PATHS: [&str; 5] = ["file_path", "path", "notebook_path", "filePath", "dir_path"];

pub(super) fn class(tool: &str) -> Class {
    let is = |list: &[&str]| list.contains(&tool);
    if is(RUN_TOOLS) {
        Class::Run
    } else if is(WRITE_TOOLS) {
        Class::Write
    } else if is(READ_TOOLS) || is(SEARCH_TOOLS) || tool == "get_system_info" {
        Class::Read
    } else if is(NETWORK_TOOLS) {
        Class::Network
    } else {
        Class::Other
    }
}

/// Reads the input of a tool into the act.
pub(super) fn fill(act: &mut Act, json: &str) {
    let input = match input::read(json) {
        Ok(input) => input,
        Err(why) => {
            act.doubt(why);
            act.strings.push(json.to_owned());
            return;
        }
    };
    let tool = act.tool.as_str();
    match act.class {
        Class::Run => command(act, &input),
        Class::Network => network(act, &input),
        Class::Write if tool == "apply_patch" => {
            let patch = text(&input, "input").or_else(|| text(&input, "patch"));
            let patch = patch.or_else(|| text(&input, "command")).unwrap_or_default().to_owned();
            apply_patch(act, &patch);
        }
        _ if QUIET_TOOLS.contains(&tool) => {}
        Class::Read | Class::Write => files(act, &input),
        Class::Other => {
            act.strings = strings(&input);
            if act.strings.len() > MOST_STRINGS {
                act.doubt("its input has more texts than are looked through");
            }
        }
    }
}

fn files(act: &mut Act, input: &Map<String, Value>) {
    act.is_search = SEARCH_TOOLS.contains(&act.tool.as_str());
    let named: Vec<&str> = PATHS.iter().filter_map(|name| text(input, name)).collect();
    if PATHS
        .iter()
        .any(|name| input.get(*name).is_some_and(|path| !path.is_string() && !path.is_null()))
    {
        act.doubt("the path in its input is no text");
    }
    if named.is_empty() && !act.is_search {
        act.doubt("its input names no file");
    }
    let base = Base { cwd: &act.project, home: &act.home };
    let mut paths: Vec<String> = named.iter().map(|path| resolve(path, base)).collect();
    if named.is_empty() {
        paths.push(act.project.clone());
    }
    if matches!(act.tool.as_str(), "Glob" | "search_files")
        && let Some(pattern) = text(input, "pattern")
    {
        paths = paths.iter().map(|path| searched(path, pattern, &act.home)).collect();
        if begins_wild(pattern) {
            act.doubt("its pattern climbs to an unknown folder");
        }
    }
    if named.iter().any(|path| path.contains('\0')) {
        act.doubt("the path in its input has a NUL");
    }
    act.paths = paths;
}

/// The folder in which a search by this pattern begins.
fn searched(folder: &str, pattern: &str, home: &str) -> String {
    let is_wild = |segment: &&str| segment.contains(['*', '?', '[', '{', '!', '(']);
    let fixed: Vec<&str> = pattern.split('/').take_while(|segment| !is_wild(segment)).collect();
    let fixed =
        if pattern.starts_with('/') && fixed.len() == 1 { "/".into() } else { fixed.join("/") };
    resolve(&fixed, Base { cwd: folder, home })
}

/// Whether a `..` or a second root stands behind a wildcard.
fn begins_wild(pattern: &str) -> bool {
    let wild = pattern.find(['*', '?', '[', '{', '!', '(']).unwrap_or(pattern.len());
    pattern[wild..].contains("..")
        || pattern[wild..].contains("{/")
        || pattern[wild..].contains(",/")
}

fn network(act: &mut Act, input: &Map<String, Value>) {
    let Some(url) = text(input, "url") else {
        if act.tool == "WebFetch" {
            act.doubt("its input names no URL");
        }
        return;
    };
    if let Some(host) = host_of(url) {
        act.hosts.push(host);
    } else {
        act.doubt("its URL can be read in more than one way");
        act.strings.push(url.to_owned());
    }
}

/// The members with which an agent asks to run outside of its sandbox.
fn leaves_sandbox(input: &Map<String, Value>) -> bool {
    let is_set = |name: &str| match input.get(name) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => text != "use_default",
        Some(_) => true,
    };
    ["dangerouslyDisableSandbox", "with_escalated_permissions", "sandbox_permissions"]
        .iter()
        .any(|name| is_set(name))
}

fn command(act: &mut Act, input: &Map<String, Value>) {
    if leaves_sandbox(input) {
        act.doubt("it asks to leave its sandbox");
    }
    if input.contains_key("shell") {
        act.doubt("it chooses its own shell");
    }
    let folder = text(input, "workdir").or_else(|| text(input, "cwd")).unwrap_or(".");
    let cwd = resolve(folder, Base { cwd: &act.project, home: &act.home });
    let member =
        if input.contains_key("cmd") && !input.contains_key("command") { "cmd" } else { "command" };
    if let Some(words) = texts(input, member) {
        argv(act, &words, &cwd);
    } else if let Some(line) = text(input, member) {
        match input.get("args").filter(|args| !args.is_null()) {
            None => act.run(line.to_owned(), Script::read(line, &cwd, &act.home)),
            Some(_) => with_args(act, line, input, &cwd),
        }
    } else {
        act.doubt("its input names no command");
        act.strings = strings(input);
    }
}

/// A program and its arguments apart: no shell reads them.
fn with_args(act: &mut Act, program: &str, input: &Map<String, Value>, cwd: &str) {
    let Some(args) = texts(input, "args") else {
        act.doubt("the arguments in its input are no texts");
        act.strings = strings(input);
        return;
    };
    if program.contains(|c: char| c.is_whitespace() || ";&|<>()$`'\"\\".contains(c)) {
        act.doubt("its program is no single word");
    }
    let words: Vec<&str> = std::iter::once(program).chain(args).collect();
    argv(act, &words, cwd);
}

/// Words that are run without a shell, or a patch that looks like one.
fn argv(act: &mut Act, words: &[&str], cwd: &str) {
    if let ["apply_patch" | "applypatch", patch] = words {
        act.class = Class::Write;
        apply_patch(act, patch);
        return;
    }
    let script = Script::of_words(words.iter().copied(), cwd);
    let shown: Vec<String> = script
        .commands
        .iter()
        .flat_map(|command| &command.words)
        .map(crate::shell::Word::shown)
        .collect();
    act.run(shown.join(" "), script);
}

/// The files of a patch in Codex's form.
fn apply_patch(act: &mut Act, patch: &str) {
    const MARKS: [&str; 4] =
        ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let base = Base { cwd: &act.project, home: &act.home };
    let named = patch.lines().filter_map(|line| {
        let line = line.trim_start();
        MARKS.iter().find_map(|mark| line.strip_prefix(mark))
    });
    act.paths = named.map(|path| resolve(path.trim(), base)).collect();
    if act.paths.is_empty() {
        act.doubt("its patch names no file");
        act.strings.push(patch.to_owned());
    }
}
