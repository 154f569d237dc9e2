//! What a tool call does, in the terms of rules.

use callgate_wire::tool_act::{
    FOLDERS, FileAct, GivenCommand, PatchAct, RunAct, ToolAct, ToolKind, ToolShell, text_member,
    texts_of_list,
};
use serde_json::{Map, Value};

use super::input::{CommandText, all_strings, named_commands};
use super::{Act, ActClass, LARGEST_INPUT, MOST_STRINGS, host_of, input};
use crate::place::{BaseFolders, resolve_path};
use crate::shell::ShellScript;
use crate::steps;

/// Why an input that gives something twice is unclear: tools differ in which of the two they take.
const TWICE: &str = "its input says the same thing in more than one place";

pub(crate) fn class_of_kind(kind: ToolKind) -> ActClass {
    match kind {
        ToolKind::Run(_) => ActClass::Run,
        _ if kind.changes_files() => ActClass::Write,
        ToolKind::Read | ToolKind::List | ToolKind::Find | ToolKind::Search | ToolKind::Note => {
            ActClass::Read
        }
        ToolKind::Fetch | ToolKind::WebSearch => ActClass::Network,
        _ => ActClass::Other,
    }
}

pub(super) fn fill_act(act: &mut Act, json: &str) {
    let input = match input::parse_object(json) {
        Ok(input) => input,
        Err(reason) => {
            act.note_doubt(reason);
            // Rules that deny still look for paths and names in it.
            act.strings.push(json.to_owned());
            return;
        }
    };
    act.input = (json.len() <= LARGEST_INPUT).then(|| json.to_owned());
    // A copy, because what is read borrows the name while the act changes.
    let tool = act.tool.clone();
    match ToolAct::from_call(&act.agent, &tool, &input) {
        ToolAct::Run(run) => {
            add_command(act, &run, &input);
            if run.shell == ToolShell::Typed {
                // The lines before it may have changed the folder, and what names mean.
                act.runs.note_anything("a running program's state, which is not known");
            }
        }
        ToolAct::Fetch { url, .. } => add_address(act, url),
        ToolAct::Patch(patch) => {
            if patch.texts.len() > 1 {
                act.note_doubt(TWICE);
            }
            let project = act.project.clone();
            add_patch(act, &patch, &project);
            // A list of changes has no text that could be examined in its place.
            if patch.is_odd && act.kind == ToolKind::Undo {
                act.strings = all_strings(&input);
            }
        }
        ToolAct::Read(file)
        | ToolAct::Search(file)
        | ToolAct::Write(file, _)
        | ToolAct::Edit(file, _) => add_files(act, &file),
        // Nothing in their input is a path.
        ToolAct::Plan(_) | ToolAct::Agent => {}
        ToolAct::Ask(..) if act.kind == ToolKind::AskUser => {}
        ToolAct::Ask(..) | ToolAct::Mcp(..) | ToolAct::Code(_) | ToolAct::Other => {
            act.strings = all_strings(&input);
            if act.strings.len() > MOST_STRINGS {
                steps::note_omission();
                act.note_doubt("its input has more strings than are examined");
            }
            possible_commands(act, &input);
        }
    }
}

/// Reads the files of a patch that is applied in `cwd` into the act.
fn add_patch(act: &mut Act, patch: &PatchAct<'_>, cwd: &str) {
    for path in &patch.paths {
        if steps::is_spent() {
            break;
        }
        act.refuse_overlong(path);
        act.paths.push(resolve_path(path, BaseFolders { cwd, home: &act.home }));
    }
    if patch.is_odd {
        act.note_doubt("its patch has a line that is nearly a header");
    }
    if act.paths.is_empty() {
        act.note_doubt("its patch names no file");
    }
    // A line that is not recognised may name a file all the same.
    if patch.is_odd || act.paths.is_empty() {
        act.strings.push(patch.texts.join("\n"));
    }
}

/// Reads what an unknown tool may run. Rules that deny or ask apply to it, and so does the guard.
/// What the tool really does with it is unknown, so no rule that names commands allows it.
fn possible_commands(act: &mut Act, input: &Map<String, Value>) {
    let base = BaseFolders { cwd: &act.project, home: &act.home };
    let named = FOLDERS.iter().filter_map(|name| text_member(input, name));
    let mut folders: Vec<String> = named.map(|folder| resolve_path(folder, base)).collect();
    // The tool may ignore the folder that its input names.
    folders.push(act.project.clone());
    for command in named_commands(input) {
        for cwd in &folders {
            let script = match &command.text {
                CommandText::Line(line) => ShellScript::from_line(line, cwd, &act.home),
                CommandText::Words(words) => {
                    ShellScript::of_words(words.iter().map(AsRef::as_ref), cwd)
                }
            };
            act.runs.extend_with_script(&script, &act.home, command.is_code);
        }
    }
}

fn add_files(act: &mut Act, file: &FileAct<'_>) {
    act.is_search = matches!(act.kind, ToolKind::Find | ToolKind::Search);
    let FileAct { named, others, is_own, .. } = file;
    if file.is_odd {
        act.note_doubt("the path in its input is not a string");
    }
    if named.is_empty() && !act.is_search && act.kind != ToolKind::List {
        act.note_doubt("its input names no file");
    }
    if named.len() > 1 || !others.is_empty() {
        act.note_doubt(TWICE);
    }
    let base = BaseFolders { cwd: &act.project, home: &act.home };
    let mut paths: Vec<String> =
        named.iter().chain(others).map(|path| resolve_path(path, base)).collect();
    // Without a path the tool works in the project, whatever its other members name.
    if named.is_empty() && (*is_own || paths.is_empty()) {
        paths.insert(0, act.project.clone());
    }
    // The pattern may lead out of the folder beside it: `/etc/*`, `../x`.
    let is_find = act.kind == ToolKind::Find;
    if let Some(pattern) = file.pattern.filter(|pattern| is_find && is_tied(*is_own, pattern)) {
        paths = paths.iter().map(|path| search_folder(path, pattern, &act.home)).collect();
        if begins_wild(pattern) {
            act.note_doubt("its pattern leads up to an unknown folder");
        }
    }
    if file.glob.is_some_and(|glob| glob.contains("..")) {
        act.note_doubt("its pattern leads up to an unknown folder");
    }
    for path in named {
        if let Some(reason) = path_oddity(path) {
            act.note_doubt(reason);
        }
    }
    for path in named.iter().chain(others) {
        act.refuse_overlong(path);
    }
    act.paths = paths;
}

/// Returns why a path may have another meaning for the tool than it has here.
fn path_oddity(path: &str) -> Option<&'static str> {
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
fn is_tied(is_own: bool, pattern: &str) -> bool {
    !is_own || pattern.trim_end_matches('/').contains('/')
}

fn search_folder(folder: &str, pattern: &str, home: &str) -> String {
    let is_wild = |segment: &&str| segment.contains(['*', '?', '[', '{', '!', '(']);
    let fixed: Vec<&str> = pattern.split('/').take_while(|segment| !is_wild(segment)).collect();
    let fixed =
        // The fixed part of `/*` is one empty name, which would stand for the folder of the search.
        if pattern.starts_with('/') && fixed.len() == 1 { "/".into() } else { fixed.join("/") };
    resolve_path(&fixed, BaseFolders { cwd: folder, home })
}

/// Returns true if the pattern has a `..`, or a second root after a wildcard.
fn begins_wild(pattern: &str) -> bool {
    let wild = pattern.find(['*', '?', '[', '{', '!', '(']).unwrap_or(pattern.len());
    pattern.contains("..") || pattern[wild..].contains("{/") || pattern[wild..].contains(",/")
}

fn add_address(act: &mut Act, url: Option<&str>) {
    let Some(url) = url else {
        if act.kind == ToolKind::Fetch {
            act.note_doubt("its input names no URL");
        }
        return;
    };
    if let Some(host) = host_of(url) {
        act.hosts.push(host);
    } else {
        act.note_doubt("its URL is ambiguous");
        act.strings.push(url.to_owned());
    }
}

fn leaves_sandbox(input: &Map<String, Value>) -> bool {
    let is_set = |name: &str| match input.get(name) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        // Codex sends this word where it asks for nothing beyond the sandbox.
        Some(Value::String(text)) => text != "use_default",
        // What is not plainly a no counts as a yes.
        Some(_) => true,
    };
    ["dangerouslyDisableSandbox", "with_escalated_permissions", "sandbox_permissions"]
        .iter()
        .any(|name| is_set(name))
}

fn add_command(act: &mut Act, run: &RunAct<'_>, input: &Map<String, Value>) {
    if leaves_sandbox(input) {
        act.note_doubt("it asks to leave its sandbox");
    }
    if input.contains_key("shell") || run.shell == ToolShell::Foreign {
        act.note_doubt("it is not run by the usual shell");
    }
    if run.shell == ToolShell::Typed {
        act.note_doubt("it is typed into a running program, whose state is not known");
    }
    if run.shell == ToolShell::Bare && !run.others.is_empty() {
        act.note_doubt("its input has more than a command");
    }
    let folders = command_folders(act, run, input);
    if run.commands.len() > 1 || folders.len() > 1 {
        // Tools differ in which of the two they take, so every combination is examined.
        return add_contradiction(act, run, input, &folders);
    }
    let cwd = folders[0].clone();
    match (run.given_command(), run.commands.first()) {
        (Some(GivenCommand::Line(line)), _) => {
            let mut script = ShellScript::from_line(line, &cwd, &act.home);
            if let Some(words) = run.words_with_others() {
                // Nothing allows it; rules that deny examine it with and without the arguments.
                act.note_doubt("its input has arguments, which this tool may not know");
                script.add_script(ShellScript::from_line(&words.join(" "), &cwd, &act.home));
                script.add_script(ShellScript::of_words(words, &cwd));
            }
            act.set_script(line.to_owned(), script);
        }
        (Some(GivenCommand::Words(words)), Some(Value::String(_))) => {
            with_args(act, run, &words, &cwd);
        }
        (Some(GivenCommand::Words(words)), _) => add_words(act, run, &words, &cwd),
        (None, command) => {
            act.note_doubt(match command {
                Some(Value::String(_)) => "the arguments in its input are not strings",
                _ => "its input names no command",
            });
            act.strings = all_strings(input);
        }
    }
}

/// Returns the folders in which a command may run: one, unless the input is unclear.
fn command_folders(act: &mut Act, run: &RunAct<'_>, input: &Map<String, Value>) -> Vec<String> {
    // Our own tool knows `cwd` alone and refuses the other names.
    let is_ours = || FOLDERS.iter().all(|name| *name == "cwd" || !input.contains_key(*name));
    let is_own = run.shell == ToolShell::Program;
    let has_them = run.shell == ToolShell::Folder || (is_own && is_ours());
    if !run.folders.is_empty() && !has_them {
        act.note_doubt("its input names a folder, which this tool does not know");
    }
    let named: Vec<&str> = run.folders.iter().filter_map(|folder| folder.as_str()).collect();
    if named.len() < run.folders.len() || named.iter().any(|folder| path_oddity(folder).is_some()) {
        act.note_doubt("the folder in its input is not a path");
    }
    if is_own {
        // Our own tool passes the folder to the system, which knows no `~` and goes up from where a
        // link leads.
        if named.iter().any(|folder| is_bent(folder)) {
            act.note_doubt("the folder in its input has a `~`, or a `..` after a name");
        }
        let first = run.folders.first().and_then(|folder| folder.as_str());
        let folder = first.unwrap_or_default();
        let is_absolute = folder.starts_with('/');
        let whole = || format!("{}/{folder}", act.project);
        act.run_in = Some(if is_absolute { folder.to_owned() } else { whole() });
    }
    let base = BaseFolders { cwd: &act.project, home: &act.home };
    let mut found: Vec<String> = named.iter().map(|folder| resolve_path(folder, base)).collect();
    act.cwds.clone_from(&found);
    // A tool that does not know the member runs the command in the project.
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
fn add_contradiction(
    act: &mut Act,
    run: &RunAct<'_>,
    input: &Map<String, Value>,
    folders: &[String],
) {
    act.note_doubt(TWICE);
    act.strings = all_strings(input);
    let mut whole = ShellScript::default();
    let mut shown = Vec::new();
    for command in &run.commands {
        let words = texts_of_list(command);
        shown.extend(command.as_str().map(ToOwned::to_owned));
        shown.extend(words.as_ref().map(|words| words.join(" ")));
        for cwd in folders {
            let line = command.as_str().map(|line| ShellScript::from_line(line, cwd, &act.home));
            let argv =
                words.as_ref().map(|words| ShellScript::of_words(words.iter().copied(), cwd));
            for script in line.into_iter().chain(argv) {
                whole.add_script(script);
            }
        }
    }
    if !whole.commands.is_empty() {
        act.set_script(shown.join("\n"), whole);
    }
}

/// Reads a program and its arguments that are given separately. No shell interprets them.
fn with_args(act: &mut Act, run: &RunAct<'_>, words: &[&str], cwd: &str) {
    // `GivenCommand::Words` made from a string always has the program as its first word.
    let program = words[0];
    let is_word = !program.contains(|c: char| c.is_whitespace() || ";&|<>()$`'\"\\".contains(c));
    if is_word {
        return add_words(act, run, words, cwd);
    }
    // Nothing allows it; rules that deny examine it in case a shell interprets it after all.
    act.note_doubt("its program is not a single word");
    let mut script = ShellScript::of_words(words.iter().copied(), cwd);
    let shown = render_script(&script);
    script.add_script(ShellScript::from_line(program, cwd, &act.home));
    act.set_script(shown, script);
}

/// Reads words that are run without a shell, or a patch in that form.
fn add_words(act: &mut Act, run: &RunAct<'_>, words: &[&str], cwd: &str) {
    if let Some(patch) = run.patch() {
        // It is no command, so the rules for writing apply to it.
        act.class = ActClass::Write;
        return add_patch(act, &patch, cwd);
    }
    let script = ShellScript::of_words(words.iter().copied(), cwd);
    act.set_script(render_script(&script), script);
}

fn render_script(script: &ShellScript) -> String {
    let commands: Vec<String> =
        script.commands.iter().map(crate::shell::ShellCommand::render_line).collect();
    commands.join(" ")
}
