//! The tools of Claude Code, of Codex and of callgate's own runtime.

use serde_json::{Map, Value};

use super::input::{CommandText, named_commands, strings, text, texts};
use super::{Act, Class, LARGEST_INPUT, MOST_STRINGS, host_of, input, patch};
use crate::place::{BaseFolders, resolve};
use crate::shell::ShellScript;
use crate::shell::names::has;
use crate::steps;

/// Tools that run a command.
pub(crate) const RUN_TOOLS: &str = "\
    Bash Monitor PowerShell shell local_shell shell_command exec_command run_shell_command";
/// The tool whose commands are read as those of `sh` and therefore never understood.
const POWERSHELL: &str = "PowerShell";
/// Tools that change files.
pub(crate) const WRITE_TOOLS: &str =
    "Write Edit MultiEdit NotebookEdit write_file edit_file apply_patch";
/// Tools that read one file.
const READ_TOOLS: &str = "Read NotebookRead read_file";
/// Tools that read everything in a folder.
const SEARCH_TOOLS: &str = "Glob Grep LS search_files search_text";
/// Our own tool that lists the names in one folder and reads no file there.
const LIST_TOOL: &str = "list_files";
/// Our own tool that runs a program without a shell.
const OWN_RUN: &str = "run_shell_command";
/// Our own file tools, and the one member of their input that is a path: they refuse unknown
/// members.
const OWN_FILES: &str = "list_files read_file write_file edit_file search_files search_text";
const OWN_PATH: &str = "path";
/// Tools that connect to other machines.
const NETWORK_TOOLS: &str = "WebFetch WebSearch";
/// Tools that ask the user or plan: nothing in their input is a path.
const QUIET_TOOLS: &str = "Task Agent ExitPlanMode AskUserQuestion TodoWrite";
/// Our own tools that describe the machine or show a plan: they touch nothing.
pub(crate) const OWN_QUIET: &str = "get_system_info todo_write";
/// The members that name a file or a folder.
const PATHS: [&str; 5] = ["file_path", "path", "notebook_path", "filePath", "dir_path"];

/// The members that name a command.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
/// The members that name the folder of a command, and the tools that have one of them.
const FOLDERS: [&str; 4] = ["workdir", "cwd", "working_directory", "directory"];
const FOLDER_TOOLS: &str = "shell local_shell shell_command exec_command";
/// Why an input that gives something twice is unclear: tools differ in which of the two they take.
const TWICE: &str = "its input says the same thing in more than one place";

pub(super) fn class(tool: &str) -> Class {
    let is = |list: &str| has(list, tool);
    if is(RUN_TOOLS) {
        Class::Run
    } else if is(WRITE_TOOLS) {
        Class::Write
    } else if is(READ_TOOLS)
        || is(SEARCH_TOOLS)
        || matches!(tool, LIST_TOOL)
        || has(OWN_QUIET, tool)
    {
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
        Err(reason) => {
            act.doubt(reason);
            act.strings.push(json.to_owned());
            return;
        }
    };
    act.input = (json.len() <= LARGEST_INPUT).then(|| json.to_owned());
    let tool = act.tool.as_str();
    match act.class {
        Class::Run => command(act, &input),
        Class::Network => network(act, &input),
        Class::Write if tool == "apply_patch" => {
            let patches: Vec<&str> = ["input", "patch", "command"]
                .iter()
                .filter_map(|name| text(&input, name))
                .collect();
            if patches.len() > 1 {
                act.doubt(TWICE);
            }
            let project = act.project.clone();
            patch::fill(act, &patches.join("\n"), &project);
        }
        _ if has(QUIET_TOOLS, tool) || has(OWN_QUIET, tool) => {}
        Class::Read | Class::Write => files(act, &input),
        Class::Other => {
            act.strings = strings(&input);
            if act.strings.len() > MOST_STRINGS {
                steps::cut();
                act.doubt("its input has more strings than are examined");
            }
            possible_commands(act, &input);
        }
    }
}

/// Reads what an unknown tool may run. Rules that deny or ask apply to it, and so does the guard.
/// What the tool really does with it is unknown, so no rule that names commands allows it.
fn possible_commands(act: &mut Act, input: &Map<String, Value>) {
    let base = BaseFolders { cwd: &act.project, home: &act.home };
    let named = FOLDERS.iter().filter_map(|name| text(input, name));
    let mut folders: Vec<String> = named.map(|folder| resolve(folder, base)).collect();
    folders.push(act.project.clone());
    for command in named_commands(input) {
        for cwd in &folders {
            let script = match &command.text {
                CommandText::Line(line) => ShellScript::read(line, cwd, &act.home),
                CommandText::Words(words) => {
                    ShellScript::of_words(words.iter().map(AsRef::as_ref), cwd)
                }
            };
            act.runs.extend(&script, &act.home, command.is_code);
        }
    }
}

fn files(act: &mut Act, input: &Map<String, Value>) {
    act.is_search = has(SEARCH_TOOLS, &act.tool);
    let is_own = has(OWN_FILES, &act.tool);
    let members = if is_own { &[OWN_PATH][..] } else { &PATHS };
    let named: Vec<&str> = members.iter().filter_map(|name| text(input, name)).collect();
    if PATHS
        .iter()
        .any(|name| input.get(*name).is_some_and(|path| !path.is_string() && !path.is_null()))
    {
        act.doubt("the path in its input is not a string");
    }
    if named.is_empty() && !act.is_search && act.tool != LIST_TOOL {
        act.doubt("its input names no file");
    }
    let others: Vec<&str> = others(input, members).collect();
    if named.len() > 1 || !others.is_empty() {
        act.doubt(TWICE);
    }
    let base = BaseFolders { cwd: &act.project, home: &act.home };
    let mut paths: Vec<String> =
        named.iter().chain(&others).map(|path| resolve(path, base)).collect();
    if named.is_empty() && (is_own || paths.is_empty()) {
        paths.insert(0, act.project.clone());
    }
    if let Some(pattern) = text(input, "pattern").filter(|pattern| is_tied(&act.tool, pattern)) {
        paths = paths.iter().map(|path| searched(path, pattern, &act.home)).collect();
        if begins_wild(pattern) {
            act.doubt("its pattern leads up to an unknown folder");
        }
    }
    if text(input, "glob").is_some_and(|glob| glob.contains("..")) {
        act.doubt("its pattern leads up to an unknown folder");
    }
    for path in &named {
        if let Some(reason) = odd(path) {
            act.doubt(reason);
        }
    }
    for path in named.iter().chain(&others) {
        act.refuse_overlong(path);
    }
    act.paths = paths;
}

/// Texts of other members that call themselves the name of a file.
fn others<'a>(input: &'a Map<String, Value>, known: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let says = |name: &str| {
        let name = name.to_lowercase();
        name.contains("path") || name.contains("file")
    };
    let other = input.iter().filter(move |(name, _)| says(name) && !known.contains(&name.as_str()));
    other.flat_map(|(_, value)| match value {
        Value::String(text) => vec![text.as_str()],
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    })
}

/// Returns why a path may have another meaning for the tool than it has here.
fn odd(path: &str) -> Option<&'static str> {
    if path.contains('\0') {
        Some("the path in its input has a NUL")
    } else if path.trim_start().to_lowercase().starts_with("file:") {
        Some("the path in its input is a URL")
    } else if path.trim_start().starts_with('$') {
        Some("the path in its input begins with a variable")
    } else {
        None
    }
}

/// Returns true if the pattern determines where a search begins. For our own tool, one without a
/// slash is a name in any folder.
fn is_tied(tool: &str, pattern: &str) -> bool {
    tool == "Glob" || (tool == "search_files" && pattern.trim_end_matches('/').contains('/'))
}

/// Returns the folder in which a search by this pattern begins.
fn searched(folder: &str, pattern: &str, home: &str) -> String {
    let is_wild = |segment: &&str| segment.contains(['*', '?', '[', '{', '!', '(']);
    let fixed: Vec<&str> = pattern.split('/').take_while(|segment| !is_wild(segment)).collect();
    let fixed =
        if pattern.starts_with('/') && fixed.len() == 1 { "/".into() } else { fixed.join("/") };
    resolve(&fixed, BaseFolders { cwd: folder, home })
}

/// Returns true if the pattern has a `..`, or a second root after a wildcard.
fn begins_wild(pattern: &str) -> bool {
    let wild = pattern.find(['*', '?', '[', '{', '!', '(']).unwrap_or(pattern.len());
    pattern.contains("..") || pattern[wild..].contains("{/") || pattern[wild..].contains(",/")
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
        act.doubt("its URL is ambiguous");
        act.strings.push(url.to_owned());
    }
}

/// Returns true if a member of the input asks to run outside of the sandbox.
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
    if input.contains_key("shell") || act.tool == POWERSHELL {
        act.doubt("it is not run by the usual shell");
    }
    let folders = folders(act, input);
    let members: Vec<&str> = COMMANDS
        .into_iter()
        .filter(|name| input.get(*name).is_some_and(|v| !v.is_null()))
        .collect();
    if members.len() > 1 || folders.len() > 1 {
        return contradicted(act, input, &members, &folders);
    }
    let member = members.first().copied().unwrap_or("command");
    let cwd = folders[0].clone();
    let is_own = act.tool == OWN_RUN;
    let has_args = is_own || input.get("args").is_some_and(|args| !args.is_null());
    if let Some(words) = texts(input, member).filter(|_| !is_own) {
        argv(act, &words, &cwd);
    } else if let Some(line) = text(input, member) {
        if has_args {
            with_args(act, line, input, &cwd);
        } else {
            act.run(line.to_owned(), ShellScript::read(line, &cwd, &act.home));
        }
    } else {
        act.doubt("its input names no command");
        act.strings = strings(input);
    }
}

/// Returns the folders in which a command may run: one, unless the input is unclear.
fn folders(act: &mut Act, input: &Map<String, Value>) -> Vec<String> {
    let named: Vec<&Value> =
        FOLDERS.iter().filter_map(|name| input.get(*name)).filter(|v| !v.is_null()).collect();
    let is_ours = || FOLDERS.iter().all(|name| *name == "cwd" || !input.contains_key(*name));
    let is_own = act.tool == OWN_RUN;
    let has_them = has(FOLDER_TOOLS, &act.tool) || (is_own && is_ours());
    if !named.is_empty() && !has_them {
        act.doubt("its input names a folder, which this tool does not know");
    }
    if named.iter().any(|folder| folder.as_str().is_none_or(|folder| odd(folder).is_some())) {
        act.doubt("the folder in its input is not a path");
    }
    if is_own && named.iter().filter_map(|folder| folder.as_str()).any(is_bent) {
        act.doubt("the folder in its input has a `~`, or a `..` after a name");
    }
    if is_own {
        let folder = named.first().and_then(|folder| folder.as_str()).unwrap_or_default();
        let is_absolute = folder.starts_with('/');
        let whole = || format!("{}/{folder}", act.project);
        act.run_in = Some(if is_absolute { folder.to_owned() } else { whole() });
    }
    let base = BaseFolders { cwd: &act.project, home: &act.home };
    let mut found: Vec<String> =
        named.iter().filter_map(|v| v.as_str()).map(|folder| resolve(folder, base)).collect();
    act.cwds.clone_from(&found);
    if found.is_empty() || !has_them {
        found.insert(0, act.project.clone());
    }
    found
}

/// Returns true if our own tool, which lets the system resolve a folder, may use a different folder
/// than the text names.
fn is_bent(folder: &str) -> bool {
    let names = || folder.split('/').filter(|name| !matches!(*name, "" | "."));
    folder.starts_with('~') || names().skip_while(|name| *name == "..").any(|name| name == "..")
}

/// Reads input that gives the same thing twice. All of it is examined, and nothing allows it.
fn contradicted(act: &mut Act, input: &Map<String, Value>, members: &[&str], folders: &[String]) {
    act.doubt(TWICE);
    act.strings = strings(input);
    let mut whole = ShellScript::default();
    let mut shown = Vec::new();
    for member in members {
        let words = texts(input, member);
        shown.extend(text(input, member).map(ToOwned::to_owned));
        shown.extend(words.as_ref().map(|words| words.join(" ")));
        for cwd in folders {
            let line = text(input, member).map(|line| ShellScript::read(line, cwd, &act.home));
            let argv =
                words.as_ref().map(|words| ShellScript::of_words(words.iter().copied(), cwd));
            for script in line.into_iter().chain(argv) {
                whole.add(script);
            }
        }
    }
    if !whole.commands.is_empty() {
        act.run(shown.join("\n"), whole);
    }
}

/// Reads a program and its arguments that are given separately. No shell interprets them.
fn with_args(act: &mut Act, program: &str, input: &Map<String, Value>, cwd: &str) {
    let is_given = input.get("args").is_some_and(|args| !args.is_null());
    let Some(args) = (if is_given { texts(input, "args") } else { Some(Vec::new()) }) else {
        act.doubt("the arguments in its input are not strings");
        act.strings = strings(input);
        return;
    };
    let words: Vec<&str> = std::iter::once(program).chain(args).collect();
    let is_word = !program.contains(|c: char| c.is_whitespace() || ";&|<>()$`'\"\\".contains(c));
    if is_word {
        return argv(act, &words, cwd);
    }
    // Nothing allows it; rules that deny examine it in case a shell interprets it after all.
    act.doubt("its program is not a single word");
    let mut script = ShellScript::of_words(words.iter().copied(), cwd);
    let shown = shown(&script);
    script.add(ShellScript::read(program, cwd, &act.home));
    act.run(shown, script);
}

/// Reads words that are run without a shell, or a patch in that form.
fn argv(act: &mut Act, words: &[&str], cwd: &str) {
    if let ["apply_patch" | "applypatch", patch] = words
        && act.tool != OWN_RUN
    {
        act.class = Class::Write;
        patch::fill(act, patch, cwd);
        return;
    }
    let script = ShellScript::of_words(words.iter().copied(), cwd);
    act.run(shown(&script), script);
}

fn shown(script: &ShellScript) -> String {
    let commands: Vec<String> =
        script.commands.iter().map(crate::shell::ShellCommand::shown).collect();
    commands.join(" ")
}
