//! What a call is about, on one line.

use callgate_wire::tool_act::{EditChange, PatchAct, RunAct, ToolAct, ToolKind, ToolShell};

use super::body::{quoted, typed};
use crate::plain;

/// The most files of a patch that are named.
const MOST_FILES: usize = 3;

/// Returns what a call is about, made of its masked input, or the tool's name if that is all that
/// is known.
pub(super) fn summary(kind: ToolKind, act: &ToolAct<'_>, tool: &str) -> String {
    let line = line(kind, act).unwrap_or_else(|| tool.to_owned());
    plain::line(line.trim_matches([' ', '\t', '\n']))
}

fn line(kind: ToolKind, act: &ToolAct<'_>) -> Option<String> {
    match act {
        ToolAct::Run(run) => command(run),
        ToolAct::Read(file) => Some(format!("read {}", file.path()?)),
        ToolAct::Search(file) => {
            // Quoted unless it is plain, so that nothing in it reads as our own text.
            let folder = file.path().map_or_else(|| ".".to_owned(), quoted);
            match (kind, file.pattern.map(quoted)) {
                (ToolKind::List, _) => Some(format!("list {folder}")),
                (ToolKind::Find, Some(pattern)) => Some(format!("find {pattern} in {folder}")),
                (_, Some(pattern)) => Some(format!("search for {pattern} in {folder}")),
                (_, None) => None,
            }
        }
        ToolAct::Write(file, _) => Some(format!("write {}", file.path()?)),
        ToolAct::Edit(file, EditChange::Cell { what, .. }) => {
            Some(format!("{what} of {}", file.path()?))
        }
        // A change of a notebook that is not understood may be anything.
        ToolAct::Edit(..) if kind == ToolKind::Notebook => None,
        ToolAct::Edit(file, _) => Some(format!("edit {}", file.path()?)),
        ToolAct::Patch(patch) => patched(patch),
        ToolAct::Fetch { url, has_more: false, .. } => Some(format!("fetch {}", (*url)?)),
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

fn command(run: &RunAct<'_>) -> Option<String> {
    if let Some(patch) = run.patch() {
        return patched(&patch);
    }
    let command = typed(&run.words()?);
    match run.folders.first().and_then(|folder| folder.as_str()) {
        Some(folder) if run.shell == ToolShell::Program => {
            Some(format!("{} (in {})", command.trim(), quoted(folder)))
        }
        _ => Some(command),
    }
}

fn patched(patch: &PatchAct<'_>) -> Option<String> {
    let named: Vec<&str> = patch.paths.iter().take(MOST_FILES).copied().collect();
    let more = match patch.paths.len().saturating_sub(MOST_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("patch {}{more}", named.join(", ")))
}
