//! What the engine can do: one use of a tool.

use serde_json::{Map, Value, json};

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    List { path: String },
    Read { path: String, lines: Option<Lines> },
    Text { pattern: String, path: Option<String>, ignores_case: bool },
    Names { pattern: String, path: Option<String> },
    Write { path: String, content: String },
    Edit { path: String, old: String, new: String, is_everywhere: bool },
    Run { argv: Vec<String>, cwd: Option<String> },
    System,
}

/// A range of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    /// From 1.
    pub(super) first: u64,
    /// How many; none means all that follow.
    pub(super) count: Option<u64>,
}

impl Deed {
    /// The tool.
    pub(super) fn tool(&self) -> &'static str {
        match self {
            Self::List { .. } => "list_files",
            Self::Read { .. } => "read_file",
            Self::Text { .. } => "search_text",
            Self::Names { .. } => "search_files",
            Self::Write { .. } => "write_file",
            Self::Edit { .. } => "edit_file",
            Self::Run { .. } => "run_shell_command",
            Self::System => "get_system_info",
        }
    }

    /// Its arguments, without those that are not given.
    pub(super) fn input(&self) -> Value {
        let input = match self {
            Self::List { path } => json!({ "path": path }),
            Self::Read { path, lines } => json!({
                "path": path,
                "offset": lines.map(|lines| lines.first),
                "limit": lines.and_then(|lines| lines.count),
            }),
            Self::Text { pattern, path, ignores_case } => json!({
                "pattern": pattern,
                "path": path,
                "ignoreCase": ignores_case.then_some(true),
            }),
            Self::Names { pattern, path } => json!({ "pattern": pattern, "path": path }),
            Self::Write { path, content } => json!({ "path": path, "content": content }),
            Self::Edit { path, old, new, is_everywhere } => json!({
                "path": path,
                "oldText": old,
                "newText": new,
                "replaceAll": is_everywhere.then_some(true),
            }),
            Self::Run { argv, cwd } => {
                let (command, args) = argv.split_first().map_or(("", &[][..]), |(c, a)| (c, a));
                json!({ "command": command, "args": args, "cwd": cwd })
            }
            Self::System => json!({}),
        };
        let Value::Object(members) = input else { return input };
        let given: Map<_, _> = members.into_iter().filter(|(_, value)| !value.is_null()).collect();
        Value::Object(given)
    }

    /// Whether it changes nothing.
    pub(super) fn is_read_only(&self) -> bool {
        !matches!(self, Self::Write { .. } | Self::Edit { .. } | Self::Run { .. })
    }

    /// The file or folder that it is about.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::List { path }
            | Self::Read { path, .. }
            | Self::Write { path, .. }
            | Self::Edit { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// A use in words: what follows "I will" or "could not".
pub(super) fn in_words(tool: &str, input: &Value) -> String {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    let place = || input.get("path").and_then(Value::as_str).map(|path| format!(" in `{path}`"));
    let place = || place().unwrap_or_default();
    match tool {
        "list_files" => format!("list `{}`", text("path")),
        "read_file" => format!("read `{}`", text("path")),
        "search_text" => format!("search for `{}`{}", text("pattern"), place()),
        "search_files" => format!("find files named `{}`{}", text("pattern"), place()),
        "write_file" => format!("write `{}`", text("path")),
        "edit_file" => format!("edit `{}`", text("path")),
        "run_shell_command" => format!("run `{}`", command_line(input)),
        "get_system_info" => "look at the system".into(),
        other => format!("use {other}"),
    }
}

/// A command as it would be typed.
pub(super) fn command_line(input: &Value) -> String {
    let args = input.get("args").and_then(Value::as_array).into_iter().flatten();
    let words = input.get("command").into_iter().chain(args).filter_map(Value::as_str);
    let quoted = words.map(|word| {
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
        // What has a `=` in it and comes first would set a variable.
        let is_first = input.get("command").and_then(Value::as_str) == Some(word);
        let is_plain = !word.is_empty() && word.chars().all(is_plain);
        if is_plain && !(is_first && word.contains('=')) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
