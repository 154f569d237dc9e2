//! Tool calls as faces draw them: what a call is about on one line, and its card.

use callgate_wire::desk::{CallCard, CardContent};
use callgate_wire::tool_act::{EditChange, PatchAct, RunAct, ToolAct, ToolKind, ToolShell};
use serde_json::{Map, Value};

use crate::card_content::{content_of, count_lines_from, quoted_word, typed_command};
use crate::text::{one_line, shortened_text};

const MOST_FILES: usize = 3;
/// The longest subject of a card, in characters.
const LONGEST_SUBJECT: usize = 300;
/// How much of an input a card has, in bytes, and what each line of it counts in addition.
const LARGEST_CARD: usize = 8 * 1024;
const LINE_COST: usize = 48;
/// The most values of an input that a card has. Each has a place in it, however short it is.
const MOST_VALUES: usize = 200;
/// The longest name of a member that counts as no text, in bytes.
const SHORT_NAME: usize = 40;

/// Returns the card of a call. It stays small however long the input is. Nothing in it is masked.
pub fn call_card(tool: &str, mut input: Map<String, Value>) -> CallCard {
    // Before the card is made, so that no long text is compared or copied for it.
    CardRoom { letters: LARGEST_CARD, values: MOST_VALUES }.cut_members(&mut input);
    // Of any agent, because an engine of the runtime may be an agent with tools of its own.
    let kind = ToolKind::for_tool("", tool);
    let act = ToolAct::from_call("", tool, &input);
    let json = Value::Object(input.clone()).to_string();
    let mut body = content_of(&act, &input, &json);
    // The call may have been made long ago, so its place in the file is not known.
    count_lines_from(&mut body, &[]);
    let about = match (subject_of_call(kind, &act), &body) {
        (Some(subject), _) => subject,
        (None, CardContent::Other { .. }) => arguments_line(kind, &input).unwrap_or(json),
        (None, _) => String::new(),
    };
    let subject = shortened_text(&one_line(about.trim()), LONGEST_SUBJECT);
    CallCard { deed: call_deed(tool), did: kind.did(&one_line(tool)), subject, body }
}

/// Returns what a call of a tool does, as its card says it.
pub fn call_deed(tool: &str) -> String {
    ToolKind::for_tool("", tool).deed(&one_line(tool))
}

/// Returns the arguments of a call of which nothing else is known: a single text as it is, others
/// with their names. `None` if they are nested.
fn arguments_line(kind: ToolKind, input: &Map<String, Value>) -> Option<String> {
    // Our own tool reads a background command, however long it waits for its output.
    let about = input.get("id").filter(|_| kind == ToolKind::Note);
    let only = input.values().next().filter(|_| input.len() == 1);
    if let Some(Value::String(text)) = about.or(only) {
        return Some(text.clone());
    }
    let named = input.iter().map(|(name, value)| match value {
        Value::Array(_) | Value::Object(_) => None,
        // Quoted unless it is plain, so that no text reads like another argument.
        Value::String(text) => Some(format!("{name}: {}", quoted_word(text))),
        value => Some(format!("{name}: {value}")),
    });
    let named: Option<Vec<String>> = named.collect();
    Some(named?.join(", "))
}

/// What is left of the size of a card.
struct CardRoom {
    letters: usize,
    values: usize,
}

impl CardRoom {
    /// Takes the place of one value; false if there is none.
    fn take_value(&mut self, name: &str) -> bool {
        let fits = self.values > 0 && (name.len() <= SHORT_NAME || name.len() <= self.letters);
        if fits {
            self.values -= 1;
            self.letters = self.letters.saturating_sub(name.len());
        }
        fits
    }

    /// Cuts long texts and lists, so that all of them fit.
    fn cut_members(&mut self, members: &mut Map<String, Value>) {
        let mut left_out = 0;
        members.retain(|name, value| {
            let is_kept = self.take_value(name);
            if is_kept {
                self.cut_value(value);
            }
            left_out += usize::from(!is_kept);
            is_kept
        });
        if left_out > 0 {
            // Reported as a member of its own, so that nobody takes the card for the whole input.
            members.insert("…".to_owned(), format!("{left_out} more").into());
        }
    }

    fn cut_value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.cut_text(text),
            Value::Array(values) => {
                let mut kept = 0;
                for value in values.iter_mut() {
                    if !self.take_value("") {
                        break;
                    }
                    self.cut_value(value);
                    kept += 1;
                }
                let left_out = values.len() - kept;
                if left_out > 0 {
                    values.truncate(kept);
                    values.push(format!("… {left_out} more").into());
                }
            }
            Value::Object(members) => self.cut_members(members),
            _ => {}
        }
    }

    fn cut_text(&mut self, text: &mut String) {
        let mut end = 0;
        for line in text.split_inclusive('\n') {
            let cost = line.len() + LINE_COST;
            if cost > self.letters {
                // A long line is shown as far as there is room for it.
                end = text.floor_char_boundary(end + self.letters.saturating_sub(LINE_COST));
                self.letters = 0;
                break;
            }
            self.letters -= cost;
            end += line.len();
        }
        let left_out = text[end..].chars().count();
        if left_out > 0 {
            text.truncate(end);
            *text = format!("{text}… {left_out} more characters");
        }
    }
}

/// Returns what a call is about: the command, the file, the address. `None` if that is not known.
pub fn subject_of_call(kind: ToolKind, act: &ToolAct<'_>) -> Option<String> {
    let file = |path: Option<&str>| path.map(str::to_owned);
    match act {
        ToolAct::Run(run) => subject_of_command(run),
        ToolAct::Read(read) => file(read.path()),
        ToolAct::Search(search) => {
            // Quoted unless it is plain, so that nothing in it reads as our own text.
            let folder = search.path().map_or_else(|| ".".to_owned(), quoted_word);
            match search.pattern.map(quoted_word) {
                _ if kind == ToolKind::List => Some(folder),
                Some(pattern) => Some(format!("{pattern} in {folder}")),
                None => None,
            }
        }
        ToolAct::Write(written, _) => file(written.path()),
        ToolAct::Edit(edited, EditChange::Cell { what, .. }) => {
            Some(format!("{what} of {}", edited.path()?))
        }
        // A change of a notebook that is not understood may be anything.
        ToolAct::Edit(..) if kind == ToolKind::Notebook => None,
        ToolAct::Edit(edited, _) => file(edited.path()),
        ToolAct::Patch(patch) => subject_of_patch(patch),
        ToolAct::Fetch { url, has_more: false, .. } => file(*url),
        ToolAct::Plan(plan) => {
            // The first line that has words, without the mark of a heading.
            let mut lines = plan.as_ref()?.lines();
            let words = |line: &str| line.trim().trim_start_matches('#').trim().to_owned();
            lines.find_map(|line| Some(words(line)).filter(|line| !line.is_empty()))
        }
        ToolAct::Ask(questions, _) => questions.first().map(|question| (*question).to_owned()),
        ToolAct::Mcp(server, tool) => Some(format!("{server}: {tool}")),
        ToolAct::Fetch { .. } | ToolAct::Agent | ToolAct::Code(_) | ToolAct::Other => None,
    }
}

fn subject_of_command(run: &RunAct<'_>) -> Option<String> {
    if let Some(patch) = run.patch() {
        return subject_of_patch(&patch);
    }
    let command = typed_command(&run.given_command()?);
    match run.folders.first().and_then(|folder| folder.as_str()) {
        Some(folder) if matches!(run.shell, ToolShell::Program | ToolShell::Bare) => {
            Some(format!("{} (in {})", command.trim(), quoted_word(folder)))
        }
        _ => Some(command),
    }
}

fn subject_of_patch(patch: &PatchAct<'_>) -> Option<String> {
    let named: Vec<&str> = patch.paths.iter().take(MOST_FILES).copied().collect();
    let more = match patch.paths.len().saturating_sub(MOST_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card(tool: &str, input: Value) -> CallCard {
        let Value::Object(input) = input else { panic!("an object") };
        call_card(tool, input)
    }

    #[test]
    fn a_card_says_what_the_call_is_about() {
        let check = |tool: &str, input: Value, subject: &str, kind: &str| {
            let card = card(tool, input);
            let body = serde_json::to_value(&card.body).unwrap();
            assert_eq!((&*card.subject, body["type"].as_str()), (subject, Some(kind)), "{tool}");
        };
        let run = json!({"command": "make", "args": ["a b"]});
        check("run_shell_command", run, "make 'a b'", "command");
        check("Bash", json!({"command": "cd x &&\nmake"}), "cd x &&⏎make", "command");
        check("read_file", json!({"path": "a.rs", "offset": 7}), "a.rs", "read");
        check("search_text", json!({"pattern": "x y"}), "'x y' in .", "read");
        check("list_files", json!({}), ".", "read");
        check("write_file", json!({"path": "a", "content": "x"}), "a", "write");
        let items = json!({"items": [{"text": "look", "status": "done"}]});
        check("todo_write", items, "", "todo");
        check("mcp__git__log", json!({"n": 1}), "git: log", "mcp");
        check("other", json!({"a": 1}), "a: 1", "other");
        check("other", json!({"a": "x, b: y"}), "x, b: y", "other");
        check("other", json!({"a": "x, b: y", "b": "z"}), "a: 'x, b: y', b: z", "other");
        check("other", json!({"a": [1]}), r#"{"a":[1]}"#, "other");
        check("read_command", json!({"id": "command-1", "waitSeconds": 5}), "command-1", "other");
        check("other", json!({}), "", "other");
        assert_eq!(card("Bash", json!({"command": "ls"})).did, "Ran a command");
        assert_eq!(card("fly", json!({})).deed, "Use fly");
    }

    /// An announcement must not become twice as long.
    #[test]
    fn a_card_stays_small() {
        let lines = "x\n".repeat(100_000);
        let inputs = [
            json!({"path": "a", "content": lines}),
            json!({"path": "a", "old_string": lines, "new_string": "y".repeat(100_000)}),
            json!({"command": "é".repeat(100_000)}),
            json!({"edits": vec![json!({"old_string": lines, "new_string": lines}); 20]}),
        ];
        for (tool, input) in ["write_file", "edit_file", "Bash", "MultiEdit"].iter().zip(inputs) {
            let card = card(tool, input);
            let size = serde_json::to_string(&card).unwrap().len();
            assert!(size < 3 * LARGEST_CARD, "{tool}: {size}");
            assert!(card.body.text().contains(" more characters"), "{tool}");
        }
    }

    #[test]
    fn a_card_of_many_values_stays_small() {
        let names: Map<String, Value> = (0..50_000).map(|at| (at.to_string(), json!(0))).collect();
        let long: Map<String, Value> =
            (0..100).map(|at| (format!("{at}{}", "n".repeat(1_000)), json!(0))).collect();
        let inputs = [
            json!({ "a": vec![""; 50_000] }),
            json!({ "a": vec![json!([[]]); 50_000] }),
            json!({ "edits": vec![json!({ "old_string": "a", "new_string": "b" }); 50_000] }),
            json!({ "a": names.clone() }),
            names.into(),
            long.into(),
        ];
        for (at, input) in inputs.into_iter().enumerate() {
            let card = card("mcp__a__b", input);
            let size = serde_json::to_string(&card).unwrap().len();
            assert!(size < 3 * LARGEST_CARD, "{at}: {size}");
            assert!(card.body.text().contains(" more"), "{at}");
        }
    }
}
