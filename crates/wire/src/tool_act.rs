//! What an agent wants to do, made in one place from the agent, the tool's name and its input.
//!
//! An act has every reading of its input. Where an input says the same thing in two places, both
//! are here: rules examine both, and people are shown the input as it is.

mod patch_act;
mod tool_kind;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::desk::{TodoItem, TodoStatus};

pub use patch_act::PatchAct;
pub use tool_kind::{OWN_AGENT, ToolKind, ToolShell, server_and_tool};

const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
/// The member that is typed into a running program.
const TYPED: [&str; 1] = ["line"];
/// The members that name the folder of a command.
pub const FOLDERS: [&str; 4] = ["workdir", "cwd", "working_directory", "directory"];
/// The member that has the arguments of a program.
const ARGUMENTS: &str = "args";
/// The member that has a list of commands, to be run one after the other.
const COMMAND_LIST: &str = "commands";
/// The members that say something about a command and do not change what it does.
const REMARKS: [&str; 7] =
    ["description", "timeout", "summary", "riskLevel", "riskLevelReason", "security_risk", "kind"];
/// The members that name a file or a folder.
const PATHS: [&str; 9] = [
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "dir_path",
    "target_file",
    "absolute_path",
    "target_directory",
    "directory_path",
];
/// The names that agents have for a text and for what takes its place.
const CHANGE_NAMES: [(&str, &str); 6] = [
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("old_string", "new_string"),
    ("oldText", "newText"),
    ("before", "after"),
    ("old_str", "new_str"),
];
/// The one member that is a path for our own tools, which refuse unknown members.
const OWN_PATHS: [&str; 1] = ["path"];

#[derive(Debug, Clone, PartialEq)]
pub enum ToolAct<'a> {
    Run(RunAct<'a>),
    Read(FileAct<'a>),
    /// Look through a folder.
    Search(FileAct<'a>),
    /// Write a whole file with this content.
    Write(FileAct<'a>, Option<&'a str>),
    Edit(FileAct<'a>, EditChange<'a>),
    Patch(PatchAct<'a>),
    /// Fetch a page, or search the web.
    Fetch {
        url: Option<&'a str>,
        /// What the agent wants to know about it.
        what: Option<&'a str>,
        /// Whether the input has other members.
        has_more: bool,
    },
    /// Begin to carry out a plan, or keep a list of things to do.
    Plan(Option<&'a str>),
    /// Ask a person these questions, with more about them.
    Ask(Vec<&'a str>, Option<&'a str>),
    /// Call, of this MCP server, this tool.
    Mcp(&'a str, &'a str),
    Agent,
    /// Run code that uses tools. Each text in its input could be a command.
    Code(Option<&'a str>),
    /// Anything else: each text in its input could be a command.
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunAct<'a> {
    pub shell: ToolShell,
    /// The members that are the command; one, unless the input is unclear.
    pub commands: Vec<&'a Value>,
    /// The arguments of a program without a shell. A shell's tool would ignore them.
    pub args: Option<&'a Value>,
    /// The members that are the folder in which it runs.
    pub folders: Vec<&'a Value>,
    pub description: Option<&'a str>,
    /// The other members that are set: they may change how it is run.
    pub others: Vec<(&'a str, &'a Value)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenCommand<'a> {
    /// For a shell.
    Line(&'a str),
    /// A program and its arguments.
    Words(Vec<&'a str>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAct<'a> {
    /// The members that name it; one, unless the input is unclear.
    pub named: Vec<&'a str>,
    /// Texts of other members that call themselves the name of a file.
    pub others: Vec<&'a str>,
    /// Whether a member that should name it is not a text.
    pub is_odd: bool,
    /// Whether the tool is one of our own, which refuse unknown members.
    pub is_own: bool,
    pub pattern: Option<&'a str>,
    pub glob: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditChange<'a> {
    /// Texts are replaced, in order.
    Texts(Vec<TextChange<'a>>),
    Cell {
        /// What happens to which cell, as in "replace the code cell `a1`".
        what: String,
        /// The cell's new content.
        source: &'a str,
    },
    /// The input has an unusual form.
    Unclear,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextChange<'a> {
    pub old: &'a str,
    pub new: &'a str,
    pub everywhere: bool,
}

impl<'a> ToolAct<'a> {
    pub fn from_call(agent: &str, tool: &'a str, input: &'a Map<String, Value>) -> Self {
        let text = |name| text_member(input, name);
        let file = || FileAct::from_input(agent, tool, input);
        let asks =
            |question, details| Self::Ask(text(question).into_iter().collect(), text(details));
        match ToolKind::for_tool(agent, tool) {
            ToolKind::Run(shell) => {
                // Of an agent that is not known, our own tool is the one that takes arguments.
                let is_own = agent.is_empty() && ToolKind::is_tool_of(OWN_AGENT, tool);
                let takes_args = shell == ToolShell::Program || is_own;
                Self::Run(RunAct::from_input(shell, takes_args, input))
            }
            ToolKind::Read => Self::Read(file()),
            ToolKind::List | ToolKind::Find | ToolKind::Search => Self::Search(file()),
            ToolKind::Write => Self::Write(file(), written_text(input)),
            // Some agents have one tool that reads, writes and changes files, by its `command`.
            ToolKind::Edit => match text("command") {
                Some("view") => Self::Read(file()),
                Some("create" | "write") => Self::Write(file(), written_text(input)),
                _ => Self::Edit(file(), EditChange::of_texts(input)),
            },
            ToolKind::Notebook => Self::Edit(file(), EditChange::of_cell(input)),
            ToolKind::Patch => {
                let texts = ["input", "patch", "command", "patchText"].into_iter().filter_map(text);
                Self::Patch(PatchAct::from_texts(texts.collect()))
            }
            ToolKind::Undo => Self::Patch(PatchAct::of_list(input)),
            ToolKind::Fetch | ToolKind::WebSearch => Self::Fetch {
                url: text("url"),
                what: text("prompt"),
                has_more: !has_only(input, &["url", "prompt"]),
            },
            ToolKind::Plan => Self::Plan(text("plan")),
            ToolKind::Todo | ToolKind::Note => Self::Plan(None),
            ToolKind::AskUser => Self::Ask(question_texts(input).unwrap_or_default(), None),
            ToolKind::Script => asks("question", "details"),
            ToolKind::Elicit => asks("message", "mcp_server_name"),
            ToolKind::Agent => Self::Agent,
            ToolKind::Code => Self::Code(text("code")),
            ToolKind::Mcp | ToolKind::Own | ToolKind::Other => match server_and_tool(tool) {
                Some((server, tool)) => Self::Mcp(server, tool),
                None => Self::Other,
            },
        }
    }
}

impl<'a> RunAct<'a> {
    fn from_input(shell: ToolShell, takes_args: bool, input: &'a Map<String, Value>) -> Self {
        let set = |name: &str| input.get(name).filter(|value| !value.is_null());
        let commands: &[&str] = if shell == ToolShell::Typed { &TYPED } else { &COMMANDS };
        let others = input.iter().filter(|(name, value)| {
            let name = name.as_str();
            let is_read = commands.contains(&name) || REMARKS.contains(&name);
            let is_read = is_read || name == COMMAND_LIST || (takes_args && name == ARGUMENTS);
            // An option that is off changes nothing.
            !is_read && !matches!(value, Value::Null | Value::Bool(false))
        });
        let list = set(COMMAND_LIST).map(|list| match list {
            Value::Array(commands) => commands.iter().collect(),
            other => vec![other],
        });
        let named = commands.iter().copied().filter_map(set);
        Self {
            shell,
            commands: named.chain(list.into_iter().flatten()).collect(),
            args: set(ARGUMENTS).filter(|_| takes_args),
            folders: FOLDERS.into_iter().filter_map(set).collect(),
            description: text_member(input, "description"),
            others: others.map(|(name, value)| (name.as_str(), value)).collect(),
        }
    }

    /// Returns the command, or `None` if the input gives more or less than one.
    pub fn given_command(&self) -> Option<GivenCommand<'a>> {
        let [command] = self.commands[..] else { return None };
        let is_program = self.shell == ToolShell::Program;
        match (command, self.args) {
            (Value::String(line), None) if !is_program => Some(GivenCommand::Line(line)),
            (Value::String(program), args) => {
                let args = args.map_or_else(|| Some(Vec::new()), texts_of_list)?;
                let words = std::iter::once(program.as_str()).chain(args);
                Some(GivenCommand::Words(words.collect()))
            }
            (list, _) if !is_program => texts_of_list(list).map(GivenCommand::Words),
            _ => None,
        }
    }

    /// Returns the program and its arguments if the input of a shell's tool names both. Whether the
    /// tool takes the arguments is not known.
    pub fn words_with_others(&self) -> Option<Vec<&'a str>> {
        let [Value::String(program)] = self.commands[..] else { return None };
        let (_, args) = self.others.iter().find(|(name, _)| *name == ARGUMENTS)?;
        let args = args.as_str().map(|arg| vec![arg]).or_else(|| texts_of_list(args));
        Some(std::iter::once(program.as_str()).chain(args.unwrap_or_default()).collect())
    }

    /// Returns the patch that words without a shell apply, if they do. Codex takes it from them.
    pub fn patch(&self) -> Option<PatchAct<'a>> {
        let GivenCommand::Words(words) = self.given_command()? else { return None };
        match words[..] {
            // Our own tool would start a program of this name.
            ["apply_patch" | "applypatch", patch] if self.shell != ToolShell::Program => {
                Some(PatchAct::from_texts(vec![patch]))
            }
            _ => None,
        }
    }
}

impl<'a> FileAct<'a> {
    fn from_input(agent: &str, tool: &str, input: &'a Map<String, Value>) -> Self {
        let is_own =
            (agent.is_empty() || agent == OWN_AGENT) && ToolKind::is_tool_of(OWN_AGENT, tool);
        let members: &[&str] = if is_own { &OWN_PATHS } else { &PATHS };
        let is_odd =
            |name: &&str| input.get(*name).is_some_and(|path| !path.is_string() && !path.is_null());
        let says = |name: &str| {
            let name = name.to_lowercase();
            // `file_text` is the content of a file, and not its name.
            name != "file_text" && (name.contains("path") || name.contains("file"))
        };
        let others =
            input.iter().filter(|(name, _)| says(name) && !members.contains(&name.as_str()));
        let others = others.flat_map(|(_, value)| match value {
            Value::String(text) => vec![text.as_str()],
            Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        });
        Self {
            named: members.iter().filter_map(|name| text_member(input, name)).collect(),
            others: others.collect(),
            is_odd: PATHS.iter().any(is_odd),
            is_own,
            pattern: text_member(input, "pattern"),
            glob: text_member(input, "glob"),
        }
    }

    /// Returns the path, or `None` if the input names more or less than one.
    pub fn path(&self) -> Option<&'a str> {
        match (&self.named[..], self.others.is_empty() && !self.is_odd) {
            ([path], true) => Some(path),
            _ => None,
        }
    }
}

impl<'a> EditChange<'a> {
    fn of_texts(input: &'a Map<String, Value>) -> Self {
        let changes = match input.get("edits") {
            // Tools differ in which of the two they take.
            Some(_) if CHANGE_NAMES.iter().any(|names| names_change(input, *names)) => None,
            Some(edits) => edits.as_array().and_then(|edits| {
                edits.iter().map(|edit| TextChange::from_input(edit.as_object()?)).collect()
            }),
            None => TextChange::from_input(input).map(|change| vec![change]),
        };
        changes.map_or(Self::Unclear, Self::Texts)
    }

    /// Returns the change of a cell. It is unclear if the input has unknown members.
    fn of_cell(input: &'a Map<String, Value>) -> Self {
        const KNOWN: [&str; 5] =
            ["notebook_path", "cell_id", "cell_type", "edit_mode", "new_source"];
        let text = |name: &str| match input.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_str().map(Some),
        };
        let cell = || {
            let kind = text("cell_type")?.map(|kind| format!("{kind} ")).unwrap_or_default();
            let what = match (text("edit_mode")?, text("cell_id")?) {
                (None | Some("replace"), Some(cell)) => format!("replace the {kind}cell `{cell}`"),
                (None | Some("replace"), None) => format!("replace the first {kind}cell"),
                (Some("insert"), Some(cell)) => format!("insert a {kind}cell after `{cell}`"),
                (Some("insert"), None) => format!("insert a {kind}cell at the beginning"),
                (Some("delete"), Some(cell)) => format!("delete the {kind}cell `{cell}`"),
                _ => return None,
            };
            Some(Self::Cell { what, source: text("new_source")?.unwrap_or_default() })
        };
        has_only(input, &KNOWN).then(cell).flatten().unwrap_or(Self::Unclear)
    }
}

impl<'a> TextChange<'a> {
    /// Reads a change by the names that agents have for its texts.
    fn from_input(input: &'a Map<String, Value>) -> Option<Self> {
        let set = |name: &str| input.get(name).filter(|value| !value.is_null());
        let everywhere = match (set("replace_all"), set("replaceAll")) {
            (None, None) => false,
            (Some(one), None) | (None, Some(one)) => one.as_bool()?,
            // A change that is given twice is unclear: an agent may take either.
            (Some(_), Some(_)) => return None,
        };
        let mut given = CHANGE_NAMES.into_iter().filter(|names| names_change(input, *names));
        let (old, new) = given.next().filter(|_| given.next().is_none())?;
        let (old, new) = (text_member(input, old)?, text_member(input, new)?);
        Some(Self { old, new, everywhere })
    }
}

/// Returns true if an input gives one of the two texts by these names.
fn names_change(input: &Map<String, Value>, (old, new): (&str, &str)) -> bool {
    [old, new].iter().any(|name| input.get(*name).is_some_and(|value| !value.is_null()))
}

/// Returns the content of a file that is written; `None` if the input gives more or less than one.
fn written_text(input: &Map<String, Value>) -> Option<&str> {
    let is_set = |name: &&str| input.get(*name).is_some_and(|value| !value.is_null());
    let mut names = ["content", "file_text"].into_iter().filter(is_set);
    let name = names.next().filter(|_| names.next().is_none())?;
    text_member(input, name)
}

/// Returns the steps of the plan that an agent keeps, if the input is one: of our own runtime, of
/// Claude Code or of Codex. An input with more than that is not understood.
pub fn todo_items(input: &Map<String, Value>) -> Option<Vec<TodoItem>> {
    const NAMES: [(&str, &str); 3] = [("items", "text"), ("todos", "content"), ("plan", "step")];
    let (list, name) = NAMES.into_iter().find(|(list, _)| has_only(input, &[*list]))?;
    let item = |item: &Value| {
        let item = item.as_object()?;
        has_only(item, &[name, "status", "activeForm"]).then_some(())?;
        let status = match text_member(item, "status")? {
            "done" | "completed" => TodoStatus::Done,
            "active" | "in_progress" => TodoStatus::Active,
            _ => TodoStatus::Pending,
        };
        Some(TodoItem { text: text_member(item, name)?.to_owned(), status })
    };
    input.get(list)?.as_array()?.iter().map(item).collect()
}

/// Returns the text of a member of an input.
pub fn text_member<'a>(input: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    input.get(name)?.as_str()
}

pub fn texts_of_list(list: &Value) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Value::as_str).collect()
}

fn has_only(input: &Map<String, Value>, known: &[&str]) -> bool {
    input.keys().all(|name| known.contains(&name.as_str()))
}

fn question_texts(input: &Map<String, Value>) -> Option<Vec<&str>> {
    let all = input.get("questions")?.as_array()?.iter();
    all.map(|one| text_member(one.as_object()?, "question")).collect()
}
