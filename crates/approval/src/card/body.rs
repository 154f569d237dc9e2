//! What a tool would do, in the form in which people need to see it.

use crate::plain;
use serde_json::{Map, Value};

/// What a tool would do.
#[derive(Debug, Clone, PartialEq)]
pub enum CardBody {
    /// Run a shell command.
    Command {
        /// The command line.
        command: String,
        /// What the agent says it is for.
        description: Option<String>,
    },
    /// Write a whole file.
    Write {
        /// The file.
        path: String,
        /// Its new content.
        content: String,
    },
    /// Change a file.
    Edit {
        /// The file.
        path: String,
        /// The changes, in order.
        changes: Vec<FileChange>,
    },
    /// Change a cell of a notebook.
    Notebook {
        /// The notebook.
        path: String,
        /// What happens to which cell, as in "replace the code cell `a1`".
        change: String,
        /// The cell's new content.
        source: String,
    },
    /// Fetch a page.
    Fetch {
        /// Its address.
        url: String,
        /// What the agent wants to know about it.
        prompt: Option<String>,
    },
    /// Begin to carry out a plan.
    Plan(String),
    /// The agent's questions to its user; the card's pickers hold the answers to choose from.
    Questions(Vec<String>),
    /// A question of a script or of a tool server.
    Question {
        /// The question.
        question: String,
        /// More about the question.
        details: Option<String>,
    },
    /// Call a tool of an MCP server.
    Mcp {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
        /// The input, as JSON.
        input: String,
    },
    /// Anything else, as JSON.
    Other(String),
}

/// One change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The old text.
    pub old: String,
    /// The new text.
    pub new: String,
    /// Whether every occurrence is replaced.
    pub everywhere: bool,
}

impl CardBody {
    /// Returns the body for a tool's masked input. An input of unusual shape is shown as it is.
    pub(super) fn of(tool: &str, input: &str) -> Self {
        let fields: Map<String, Value> = serde_json::from_str(input).unwrap_or_default();
        let known = match tool {
            "Bash" | "shell" | "local_shell" | "exec_command" => command(&fields),
            "run_shell_command" => program(&fields),
            "Write" | "write_file" => write(&fields),
            "Edit" | "MultiEdit" | "edit_file" => edit(&fields),
            "NotebookEdit" => notebook(&fields),
            "WebFetch" => fetch(&fields),
            "ExitPlanMode" => shown(&fields, "plan").map(Self::Plan),
            "AskUserQuestion" => questions(&fields),
            "Ask" => question(&fields, "question", "details"),
            "Elicitation" => question(&fields, "message", "mcp_server_name"),
            _ => mcp(tool, input),
        };
        known.unwrap_or_else(|| Self::Other(pretty(input)))
    }

    /// Returns what it is about, on one line, or `None` if that needs the tool's name.
    pub(super) fn line(&self) -> Option<String> {
        match self {
            Self::Command { command, .. } => Some(command.clone()),
            Self::Write { path, .. } => Some(format!("write {path}")),
            Self::Edit { path, .. } => Some(format!("edit {path}")),
            Self::Notebook { path, change, .. } => Some(format!("{change} of {path}")),
            Self::Fetch { url, .. } => Some(format!("fetch {url}")),
            Self::Plan(plan) => {
                // The first line that has words, without the mark of a heading.
                let mut lines = plan.lines().map(|line| line.trim().trim_start_matches('#').trim());
                lines.find(|line| !line.is_empty()).map(str::to_owned)
            }
            Self::Questions(all) => all.first().cloned(),
            Self::Question { question, .. } => Some(question.clone()),
            Self::Mcp { server, tool, .. } => Some(format!("{server}: {tool}")),
            Self::Other(_) => None,
        }
    }
}

fn shown(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name)?.as_str().map(plain::visible)
}

fn command(fields: &Map<String, Value>) -> Option<CardBody> {
    let command = match fields.get("command").or_else(|| fields.get("cmd"))? {
        Value::String(command) => plain::visible(command),
        // Codex sends a list of words.
        Value::Array(words) => plain::visible(&words_of(words)?),
        _ => return None,
    };
    Some(CardBody::Command { command, description: described(fields) })
}

/// Returns the body for a program with separate arguments, without a shell.
fn program(fields: &Map<String, Value>) -> Option<CardBody> {
    let mut words = vec![fields.get("command")?.clone()];
    match fields.get("args") {
        None | Some(Value::Null) => return command(fields),
        Some(Value::Array(args)) => words.extend(args.iter().cloned()),
        Some(_) => return None,
    }
    let mut rest = fields.clone();
    rest.retain(|name, _| name != "args");
    Some(CardBody::Command {
        command: plain::visible(&words_of(&words)?),
        description: described(&rest),
    })
}

/// Returns what the agent says a command is for, and how it would be run if that is unusual: in the
/// background, outside its sandbox, or in an unknown way.
fn described(fields: &Map<String, Value>) -> Option<String> {
    let is_shown = |name: &str| matches!(name, "command" | "cmd" | "description" | "timeout");
    let others = fields.iter().filter(|(name, _)| !is_shown(name));
    let unusual = others.filter(|(_, value)| !matches!(value, Value::Null | Value::Bool(false)));
    let all: Vec<String> = shown(fields, "description")
        .into_iter()
        .chain(unusual.map(|(name, value)| plain::visible(&format!("{name}: {value}"))))
        .collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Joins words as one would type them.
fn words_of(words: &[Value]) -> Option<String> {
    let words = words.iter().map(|word| word.as_str().map(quoted));
    Some(words.collect::<Option<Vec<_>>>()?.join(" "))
}

/// Quotes a word as one would type it, unless it has only plain characters.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn path_of(fields: &Map<String, Value>) -> Option<String> {
    shown(fields, "file_path").or_else(|| shown(fields, "path"))
}

fn write(fields: &Map<String, Value>) -> Option<CardBody> {
    Some(CardBody::Write { path: path_of(fields)?, content: shown(fields, "content")? })
}

fn edit(fields: &Map<String, Value>) -> Option<CardBody> {
    let changes = match fields.get("edits") {
        Some(edits) => edits.as_array()?.iter().map(|edit| change(edit.as_object()?)).collect(),
        None => change(fields).map(|change| vec![change]),
    };
    Some(CardBody::Edit { path: path_of(fields)?, changes: changes? })
}

fn change(fields: &Map<String, Value>) -> Option<FileChange> {
    // Claude's names, or those of callgate's own runtime.
    let either = |name: &str, ours: &str| shown(fields, name).or_else(|| shown(fields, ours));
    let everywhere = fields.get("replace_all").or_else(|| fields.get("replaceAll"));
    let everywhere = everywhere.and_then(Value::as_bool).unwrap_or_default();
    let (old, new) = (either("old_string", "oldText")?, either("new_string", "newText")?);
    Some(FileChange { old, new, everywhere })
}

/// Returns the body for a notebook cell, or `None` if the input has unknown members.
fn notebook(fields: &Map<String, Value>) -> Option<CardBody> {
    const KNOWN: [&str; 5] = ["notebook_path", "cell_id", "cell_type", "edit_mode", "new_source"];
    if !has_only(fields, &KNOWN) {
        return None;
    }
    let text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(value) => value.as_str().map(|text| Some(plain::visible(text))),
    };
    let kind = text("cell_type")?.map(|kind| format!("{kind} ")).unwrap_or_default();
    let change = match (text("edit_mode")?.as_deref(), text("cell_id")?) {
        (None | Some("replace"), Some(cell)) => format!("replace the {kind}cell `{cell}`"),
        (None | Some("replace"), None) => format!("replace the first {kind}cell"),
        (Some("insert"), Some(cell)) => format!("insert a {kind}cell after `{cell}`"),
        (Some("insert"), None) => format!("insert a {kind}cell at the beginning"),
        (Some("delete"), Some(cell)) => format!("delete the {kind}cell `{cell}`"),
        _ => return None,
    };
    let source = text("new_source")?.unwrap_or_default();
    Some(CardBody::Notebook { path: shown(fields, "notebook_path")?, change, source })
}

/// Returns the body for a page to be fetched, or `None` if the input has unknown members.
fn fetch(fields: &Map<String, Value>) -> Option<CardBody> {
    if !has_only(fields, &["url", "prompt"]) {
        return None;
    }
    Some(CardBody::Fetch { url: shown(fields, "url")?, prompt: shown(fields, "prompt") })
}

fn has_only(fields: &Map<String, Value>, known: &[&str]) -> bool {
    fields.keys().all(|name| known.contains(&name.as_str()))
}

fn questions(fields: &Map<String, Value>) -> Option<CardBody> {
    let all = fields.get("questions")?.as_array()?.iter();
    let texts: Option<Vec<_>> = all.map(|one| shown(one.as_object()?, "question")).collect();
    texts.map(CardBody::Questions)
}

fn question(fields: &Map<String, Value>, question: &str, details: &str) -> Option<CardBody> {
    Some(CardBody::Question { question: shown(fields, question)?, details: shown(fields, details) })
}

fn mcp(tool: &str, input: &str) -> Option<CardBody> {
    let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
    let (server, tool) = (plain::visible(server), plain::visible(tool));
    Some(CardBody::Mcp { server, tool, input: pretty(input) })
}

fn pretty(input: &str) -> String {
    let value: Option<Value> = serde_json::from_str(input).ok();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    plain::visible(&pretty.unwrap_or_else(|| input.to_owned()))
}
