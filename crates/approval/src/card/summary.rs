//! What a call would do, on one line.

use callgate_mask::call_card::subject_of_call;
use callgate_mask::text::shortened_text;
use callgate_wire::tool_act::{EditChange, ToolAct, ToolKind};

use crate::plain;

/// The longest summary, in characters. The content of the card has all of it.
const LONGEST_SUMMARY: usize = 16 * 1024;

/// Returns what a call would do, made of its masked input, or the tool's name if that is all that
/// is known.
pub(super) fn call_summary(kind: ToolKind, act: &ToolAct<'_>, tool: &str) -> String {
    let line =
        subject_of_call(kind, act).map(|subject| format!("{}{subject}", verb_of_call(kind, act)));
    let line = line.as_deref().unwrap_or(tool).trim_matches([' ', '\t', '\n']);
    shortened_text(&plain::safe_line(line), LONGEST_SUMMARY)
}

/// Returns the verb before the subject of a call, if it does not speak for itself.
fn verb_of_call(kind: ToolKind, act: &ToolAct<'_>) -> &'static str {
    match act {
        ToolAct::Read(_) => "read ",
        ToolAct::Search(_) => match kind {
            ToolKind::List => "list ",
            ToolKind::Find => "find ",
            _ => "search for ",
        },
        ToolAct::Write(..) => "write ",
        ToolAct::Edit(_, EditChange::Cell { .. }) => "",
        ToolAct::Edit(..) => "edit ",
        ToolAct::Run(run) if run.patch().is_some() => "patch ",
        ToolAct::Patch(_) if kind == ToolKind::Undo => "put back ",
        ToolAct::Patch(_) => "patch ",
        ToolAct::Fetch { .. } => "fetch ",
        _ => "",
    }
}
