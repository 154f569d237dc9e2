//! What a tool would do, in the form in which people need to see it.

use std::iter;

use callgate_wire::desk::{
    CardContent, ChangedLine, CommandSegment, ContentChange, LineOperation, PatchedFile,
    SegmentStyle,
};
use callgate_wire::tool_act::{
    EditChange, FileAct, GivenCommand, PatchAct, RunAct, TextChange, ToolAct, todo_items,
};
use serde_json::{Map, Value};

use crate::text::{self, diff_lines, diff_pieces};

/// Returns what is shown of a call: everything in its input. An input of unusual shape is shown as
/// it is. `input` is the JSON of `fields`, of which `act` was made.
pub fn content_of(act: &ToolAct<'_>, fields: &Map<String, Value>, input: &str) -> CardContent {
    known_content(act, fields, input)
        .unwrap_or_else(|| CardContent::Other { input: pretty_json(input) })
}

fn known_content(
    act: &ToolAct<'_>,
    fields: &Map<String, Value>,
    input: &str,
) -> Option<CardContent> {
    Some(match act {
        ToolAct::Run(run) => return content_of_command(run),
        ToolAct::Read(file) | ToolAct::Search(file) => return content_of_read(file, fields),
        ToolAct::Write(file, content) => {
            let content = visible_string((*content)?);
            let lines = content.lines().count() as u64;
            CardContent::Write { path: visible_string(file.path()?), content, lines }
        }
        ToolAct::Edit(file, change) => {
            let path = visible_string(file.path()?);
            match change {
                EditChange::Texts(changes) => {
                    CardContent::Edit { path, changes: changes.iter().map(change_of).collect() }
                }
                EditChange::Cell { what, source } => CardContent::Notebook {
                    path,
                    what: visible_string(what),
                    content: visible_string(source),
                },
                EditChange::Unclear => return None,
            }
        }
        ToolAct::Patch(patch) => return content_of_patch(patch),
        ToolAct::Fetch { url, what, has_more: false } => {
            CardContent::Fetch { url: visible_string((*url)?), what: what.map(visible_string) }
        }
        ToolAct::Plan(Some(plan)) => CardContent::Plan { markdown: visible_string(plan) },
        ToolAct::Plan(None) => {
            let mut items = todo_items(fields)?;
            for item in &mut items {
                item.text = visible_string(&item.text);
            }
            CardContent::Todo { items }
        }
        ToolAct::Ask(questions, details) if !questions.is_empty() => {
            let all: Vec<String> =
                questions.iter().map(|question| visible_string(question)).collect();
            CardContent::Ask { question: all.join("\n"), detail: details.map(visible_string) }
        }
        ToolAct::Mcp(server, tool) => {
            let (server, tool) = (visible_string(server), visible_string(tool));
            CardContent::Mcp { server, tool, input: pretty_json(input) }
        }
        ToolAct::Code(Some(code)) => CardContent::Command {
            segments: unparsed_command(visible_string(code)),
            description: Some("Code that can use every tool of the agent".to_owned()),
        },
        _ => return None,
    })
}

/// Returns what is read: the file or folder, and all other arguments by their names.
fn content_of_read(file: &FileAct<'_>, fields: &Map<String, Value>) -> Option<CardContent> {
    let path = match file.path() {
        Some(path) => path,
        // A search without a path begins in the working folder.
        None if file.named.is_empty() && file.others.is_empty() && !file.is_odd => ".",
        None => return None,
    };
    let is_path = |name: &str, value: &Value| {
        name.to_lowercase().contains("path") && value.as_str() == Some(path)
    };
    let others = fields.iter().filter(|(name, value)| !is_path(name, value));
    let others: Vec<String> = others.map(|(name, value)| argument_text(name, value)).collect();
    let what = (!others.is_empty()).then(|| others.join("; "));
    Some(CardContent::Read { path: visible_string(path), what })
}

fn argument_text(name: &str, value: &Value) -> String {
    visible_string(&format!("{name}: {value}"))
}

fn content_of_command(run: &RunAct<'_>) -> Option<CardContent> {
    if let Some(patch) = run.patch() {
        return content_of_patch(&patch);
    }
    let segments = unparsed_command(visible_string(&typed_command(&run.given_command()?)));
    Some(CardContent::Command { segments, description: command_description(run) })
}

fn unparsed_command(text: String) -> Vec<CommandSegment> {
    vec![CommandSegment { text, style: SegmentStyle::Unclear, breaks: false }]
}

/// Returns what the agent says a command is for, and how it would be run if that is unusual: in the
/// background, outside its sandbox, or in an unknown way.
fn command_description(run: &RunAct<'_>) -> Option<String> {
    let unusual = run.others.iter().map(|(name, value)| argument_text(name, value));
    let all: Vec<String> = run.description.map(visible_string).into_iter().chain(unusual).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

pub fn typed_command(words: &GivenCommand<'_>) -> String {
    match words {
        GivenCommand::Line(line) => (*line).to_owned(),
        GivenCommand::Words(words) => {
            words.iter().map(|word| quoted_word(word)).collect::<Vec<_>>().join(" ")
        }
    }
}

/// Quotes a word as one would type it, unless it has only plain characters.
pub fn quoted_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn change_of(change: &TextChange<'_>) -> ContentChange {
    let (old, new) = (visible_string(change.old), visible_string(change.new));
    let mut lines = diff_pieces(&old, &new);
    if lines.is_empty() {
        // Two texts that differ only in what is hidden look the same. The new one is shown then, so
        // that the card is not empty.
        let same = |line| ChangedLine { op: LineOperation::Same, ..line };
        lines = diff_lines("", &new)
            .map(same)
            .map(|line| ChangedLine { old: line.new, ..line })
            .collect();
    }
    ContentChange { everywhere: change.everywhere, place: None, lines }
}

/// Makes the lines of an edit count from the lines of the file at which its changes begin.
/// Where that is 0 or missing, it is not known, and the lines have no numbers: those of the edit
/// would pass for the file's. What earlier changes above a change add or remove moves its new
/// lines.
pub fn count_lines_from(body: &mut CardContent, edit_lines: &[u64]) {
    let CardContent::Edit { changes, .. } = body else { return };
    let mut moved: Vec<(u64, i64)> = Vec::new();
    for (change, begin) in changes.iter_mut().zip(edit_lines.iter().chain(iter::repeat(&0))) {
        if *begin == 0 {
            change.lines.iter_mut().for_each(|line| (line.old, line.new) = (None, None));
            continue;
        }
        let by: i64 = moved.iter().filter(|(line, _)| line < begin).map(|(_, by)| by).sum();
        let count = |op| change.lines.iter().filter(|line| line.op == op).count();
        let (added, removed) = (count(LineOperation::Added), count(LineOperation::Removed));
        moved.push((*begin, added.cast_signed() as i64 - removed.cast_signed() as i64));
        for line in &mut change.lines {
            line.old = line.old.map(|number| number.saturating_add(begin - 1));
            line.new =
                line.new.map(|number| number.saturating_add(begin - 1).saturating_add_signed(by));
        }
    }
}

fn content_of_patch(patch: &PatchAct<'_>) -> Option<CardContent> {
    let mut files = patch.files()?;
    for PatchedFile { path, moved_to, note, changes, .. } in &mut files {
        let places = changes.iter_mut().filter_map(|change| change.place.as_mut());
        let texts = [path].into_iter().chain(moved_to).chain(note).chain(places);
        texts.for_each(|text| *text = visible_string(text));
        for line in changes.iter_mut().flat_map(|change| &mut change.lines) {
            line.text = visible_string(&line.text);
        }
    }
    Some(CardContent::Patch { files })
}

fn pretty_json(input: &str) -> String {
    let pretty = serde_json::from_str(input).map(|value: Value| format!("{value:#}"));
    visible_string(&pretty.unwrap_or_else(|_| input.to_owned()))
}

fn visible_string(text: &str) -> String {
    text::visible_text(text).into_owned()
}
