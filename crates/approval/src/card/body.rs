//! What a tool would do, in the form in which people need to see it.

use callgate_mask::text::{diff, diff_pieces};
use callgate_wire::desk::{
    CardContent, CardGrants, ChangedLine, CommandSegment, ContentChange, LineOperation,
    PatchedFile, SegmentStyle,
};
use callgate_wire::tool_act::{EditChange, GivenCommand, PatchAct, RunAct, TextChange, ToolAct};
use serde_json::Value;

use crate::plain::visible;

/// Returns what is shown of a call. An input of unusual shape is shown as it is. `edit_lines` says
/// where in its file each change of an edit begins, where that is known.
pub(super) fn content_of(act: &ToolAct<'_>, input: &str, edit_lines: &[u64]) -> CardContent {
    known(act, input, edit_lines).unwrap_or_else(|| CardContent::Other { input: pretty(input) })
}

fn known(act: &ToolAct<'_>, input: &str, edit_lines: &[u64]) -> Option<CardContent> {
    Some(match act {
        ToolAct::Run(run) => return command(run),
        ToolAct::Write(file, content) => {
            let content = visible((*content)?);
            let lines = content.lines().count() as u64;
            CardContent::Write { path: visible(file.path()?), content, lines }
        }
        ToolAct::Edit(file, change) => {
            let path = visible(file.path()?);
            match change {
                EditChange::Texts(changes) => {
                    let mut changes: Vec<ContentChange> = changes.iter().map(change_of).collect();
                    count_from(&mut changes, edit_lines);
                    CardContent::Edit { path, changes }
                }
                EditChange::Cell { what, source } => {
                    CardContent::Notebook { path, what: visible(what), content: visible(source) }
                }
                EditChange::Unclear => return None,
            }
        }
        ToolAct::Patch(patch) => return patched(patch),
        ToolAct::Fetch { url, what, has_more: false } => {
            CardContent::Fetch { url: visible((*url)?), what: what.map(visible) }
        }
        ToolAct::Plan(plan) => CardContent::Plan { markdown: visible((*plan)?) },
        ToolAct::Ask(questions, details) if !questions.is_empty() => {
            let all: Vec<String> = questions.iter().map(|question| visible(question)).collect();
            CardContent::Ask { question: all.join("\n"), detail: details.map(visible) }
        }
        ToolAct::Mcp(server, tool) => {
            let (server, tool) = (visible(server), visible(tool));
            CardContent::Mcp { server, tool, input: pretty(input) }
        }
        ToolAct::Code(Some(code)) => CardContent::Command {
            segments: unread(visible(code)),
            description: Some("Code that can use every tool of the agent".to_owned()),
        },
        _ => return None,
    })
}

fn command(run: &RunAct<'_>) -> Option<CardContent> {
    if let Some(patch) = run.patch() {
        return patched(&patch);
    }
    let segments = unread(visible(&typed(&run.words()?)));
    Some(CardContent::Command { segments, description: described(run) })
}

/// Returns a command whose parts are not known.
fn unread(text: String) -> Vec<CommandSegment> {
    vec![CommandSegment { text, style: SegmentStyle::Unclear, breaks: false }]
}

/// Returns what the agent says a command is for, and how it would be run if that is unusual: in the
/// background, outside its sandbox, or in an unknown way.
fn described(run: &RunAct<'_>) -> Option<String> {
    let unusual = run.others.iter().map(|(name, value)| visible(&format!("{name}: {value}")));
    let all: Vec<String> = run.description.map(visible).into_iter().chain(unusual).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns a command as one would type it.
pub(super) fn typed(words: &GivenCommand<'_>) -> String {
    match words {
        GivenCommand::Line(line) => (*line).to_owned(),
        GivenCommand::Words(words) => {
            words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        }
    }
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

fn change_of(change: &TextChange<'_>) -> ContentChange {
    let (old, new) = (visible(change.old), visible(change.new));
    let mut lines = diff_pieces(&old, &new);
    if lines.is_empty() {
        // Two secrets look the same.
        let same = |line| ChangedLine { op: LineOperation::Same, ..line };
        lines =
            diff("", &new).map(same).map(|line| ChangedLine { old: line.new, ..line }).collect();
    }
    ContentChange { everywhere: change.everywhere, place: None, lines }
}

/// Makes the lines of each change count from the line of the file at which it begins. What earlier
/// changes above it add or remove moves the new ones.
fn count_from(changes: &mut [ContentChange], edit_lines: &[u64]) {
    let mut moved: Vec<(u64, i64)> = Vec::new();
    for (change, begin) in changes.iter_mut().zip(edit_lines).filter(|(_, line)| **line > 0) {
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

fn patched(patch: &PatchAct<'_>) -> Option<CardContent> {
    let mut files = patch.files()?;
    for PatchedFile { path, moved_to, changes, .. } in &mut files {
        let places = changes.iter_mut().filter_map(|change| change.place.as_mut());
        let texts = [path].into_iter().chain(moved_to).chain(places);
        texts.for_each(|text| *text = visible(text));
        for line in changes.iter_mut().flat_map(|change| &mut change.lines) {
            line.text = visible(&line.text);
        }
    }
    Some(CardContent::Patch { files })
}

fn pretty(input: &str) -> String {
    let pretty = serde_json::from_str(input).map(|value: Value| format!("{value:#}"));
    visible(&pretty.unwrap_or_else(|_| input.to_owned()))
}

/// Returns what each answer grants.
pub(super) fn grants_of(body: &CardContent, is_blocked: bool, is_picked: bool) -> CardGrants {
    let allow = match body {
        _ if is_blocked => "Lets this call try again, once.",
        _ if is_picked => "Sends the agent what you choose.",
        CardContent::Command { .. } => "Runs this command once.",
        CardContent::Write { .. } => "Writes this file once.",
        CardContent::Edit { .. } => "Makes this change once.",
        CardContent::Patch { .. } => "Makes these changes once.",
        CardContent::Notebook { .. } => "Changes this notebook once.",
        CardContent::Fetch { .. } => "Fetches this page once.",
        CardContent::Plan { .. } => "Lets the agent carry out this plan.",
        CardContent::Ask { .. } => "Answers yes.",
        CardContent::Mcp { .. } | CardContent::Other { .. } => "Lets this tool run once.",
    };
    let deny = match body {
        _ if is_blocked => "It stays blocked.",
        CardContent::Ask { .. } => "Answers no.",
        _ => "It does not run; the agent is told so and goes on.",
    };
    CardGrants { allow: allow.to_owned(), deny: deny.to_owned() }
}
