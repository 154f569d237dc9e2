//! Where in its file an edit takes place, so that a diff has the file's line numbers.

use std::path::Path;

use callgate_link::text_file::read_text_file;
use callgate_wire::approval::ApprovalRequest;
use callgate_wire::tool_act::{EditChange, ToolAct, ToolKind};

/// The largest file that is looked into, in bytes. The lines of an edit to a larger one have no
/// numbers.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

pub fn note_edit_lines(request: &mut ApprovalRequest) {
    let agent = request.agent.as_deref().unwrap_or_default();
    if ToolKind::for_tool(agent, &request.tool_name) == ToolKind::Edit {
        let lines = edit_lines(agent, request);
        request.context.get_or_insert_default().edit_lines = lines;
    }
}

fn edit_lines(agent: &str, request: &ApprovalRequest) -> Option<Vec<u64>> {
    let input = serde_json::from_str(request.tool_input.get()).ok()?;
    let ToolAct::Edit(file, EditChange::Texts(changes)) =
        ToolAct::from_call(agent, &request.tool_name, &input)
    else {
        return None;
    };
    let text = read_text_file(&Path::new(&request.cwd).join(file.path()?), LARGEST_FILE).ok()?;
    let line = |old: &str| {
        let at = text.find(old).filter(|_| !old.is_empty())?;
        Some(text[..at].matches('\n').count() as u64 + 1)
    };
    Some(changes.iter().map(|change| line(change.old).unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests;
