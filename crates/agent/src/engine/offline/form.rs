//! The eight forms of message that the engine understands, each one use of a tool.

use serde_json::{Map, Value, json};

/// The characters with which a shell does more than separate words.
const SHELL: [char; 12] = ['|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '\n'];

/// What a user may type. Upper-case words stand for a word or a quoted text, `…` for the rest of
/// the message, and brackets for what may be left out.
const FORMS: [MessageForm; 8] = [
    MessageForm { pattern: "list files [in PATH]", tool: "list_files", arguments: &["path"] },
    MessageForm { pattern: "read PATH", tool: "read_file", arguments: &["path"] },
    MessageForm {
        pattern: "search for TEXT [in PATH]",
        tool: "search_text",
        arguments: &["pattern", "path"],
    },
    MessageForm {
        pattern: "find NAME [in PATH]",
        tool: "search_files",
        arguments: &["pattern", "path"],
    },
    MessageForm {
        pattern: "write TEXT to PATH",
        tool: "write_file",
        arguments: &["content", "path"],
    },
    MessageForm {
        pattern: "replace OLD with NEW in PATH",
        tool: "edit_file",
        arguments: &["oldText", "newText", "path"],
    },
    MessageForm { pattern: "run COMMAND …", tool: "run_shell_command", arguments: &["command"] },
    MessageForm { pattern: "system info", tool: "get_system_info", arguments: &[] },
];

/// What people ask first, which is the same as `list files`.
const FIRST_QUESTIONS: [&str; 3] =
    ["what does this folder hold", "what is in this folder", "what files are here"];

/// One form, with the tool it uses and the arguments that its upper-case words become.
struct MessageForm {
    pattern: &'static str,
    tool: &'static str,
    arguments: &'static [&'static str],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolRequest {
    pub(super) tool: &'static str,
    pub(super) input: Value,
}

/// Parses a message; the error says why it has none of the forms.
pub(super) fn parse_tool_request(message: &str) -> Result<ToolRequest, String> {
    let question = message.trim().trim_end_matches('?').to_lowercase();
    if FIRST_QUESTIONS.contains(&&*question) {
        return parse_tool_request("list files");
    }
    let words = split_words(message)?;
    FORMS.iter().find_map(|form| form.fill(&words)).unwrap_or_else(|| {
        Err("I do not understand that. Say `help` for the forms I know.".to_owned())
    })
}

pub(super) fn forms_list() -> String {
    FORMS.map(|form| format!("- `{}`\n", form.pattern)).concat()
}

#[derive(Debug)]
struct MessageWord {
    text: String,
    is_quoted: bool,
}

/// Splits a message at white space outside double quotes.
fn split_words(message: &str) -> Result<Vec<MessageWord>, String> {
    let mut words = Vec::new();
    let mut rest = message.trim();
    while !rest.is_empty() {
        let (text, after, is_quoted) = if let Some(inside) = rest.strip_prefix('"') {
            let (text, after) = inside.split_once('"').ok_or("A quote is not closed.")?;
            (text, after, true)
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (&rest[..end], &rest[end..], false)
        };
        words.push(MessageWord { text: text.to_owned(), is_quoted });
        rest = after.trim_start();
    }
    Ok(words)
}

impl MessageForm {
    /// Fills the form with the words of a message, or returns `None` if they do not have it.
    fn fill(&self, words: &[MessageWord]) -> Option<Result<ToolRequest, String>> {
        let mut words = words.iter();
        let mut values = Vec::new();
        for part in self.pattern.split_whitespace() {
            let is_optional = part.starts_with('[');
            let part = part.trim_matches(['[', ']']);
            if part == "…" {
                return Some(
                    command_input(&values, words.as_slice()).map(|input| self.request(input)),
                );
            }
            let Some(word) = words.next() else {
                if is_optional {
                    break;
                }
                return None;
            };
            if part.chars().all(char::is_uppercase) {
                values.push(word);
            } else if word.is_quoted || !word.text.eq_ignore_ascii_case(part) {
                return None;
            }
        }
        if words.next().is_some() {
            return None;
        }
        let values = values.iter().map(|word| Value::from(word.text.as_str()));
        let names = self.arguments.iter().map(|name| (*name).to_owned());
        let mut input: Map<String, Value> = names.zip(values).collect();
        if self.tool == "list_files" {
            input.entry("path").or_insert_with(|| ".".into());
        }
        Some(Ok(self.request(Value::Object(input))))
    }

    fn request(&self, input: Value) -> ToolRequest {
        ToolRequest { tool: self.tool, input }
    }
}

/// Returns the input for a command, which runs without a shell.
fn command_input(command: &[&MessageWord], arguments: &[MessageWord]) -> Result<Value, String> {
    let needs_shell = |word: &&MessageWord| !word.is_quoted && word.text.contains(SHELL);
    if let Some(word) = command.iter().copied().chain(arguments).find(needs_shell) {
        let text = &word.text;
        return Err(format!(
            "I run commands without a shell, and `{text}` needs one. Put it in double quotes to \
             pass it as it is, or start a shell: run sh -c \"…\""
        ));
    }
    let arguments: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    Ok(json!({ "command": command[0].text, "args": arguments }))
}
