//! Every tool of every agent on a phone, and patches as diffs.

use callgate_wire::desk::{CardContent, FileOperation, PatchedFile};
use callgate_wire::tool_act::ToolKind;
use expect_test::expect;

use super::{card, change, check};
use crate::card::tests::{card_of, sample};
use crate::telegram::look::QuestionLook;

fn lower_first(text: &str) -> String {
    format!("{}{}", text[..1].to_lowercase(), &text[1..])
}

/// What a tool does is said here in the same words for every agent that has it.
#[test]
fn every_line_of_the_table_of_tools_is_known_on_phones() {
    for (agent, tool, kind) in ToolKind::table() {
        let (input, body) = sample(kind);
        let html = QuestionLook::of_open(&card_of(agent, tool, &input), &[]).html;
        let wants = match body {
            "plan" => " has a plan".to_owned(),
            "ask" => " asks".to_owned(),
            _ => format!(" wants to {}", lower_first(&kind.deed(tool))),
        };
        assert!(html.contains(&wants), "{agent} {tool}: {html}");
    }
}

#[test]
fn a_patch_is_a_diff_of_each_file() {
    let file = |operation, path: &str, changes| PatchedFile {
        operation,
        path: path.into(),
        moved_to: None,
        note: None,
        changes,
    };
    let mut changes = vec![change("old", "new", false)];
    changes[0].place = Some("fn main() {".into());
    let files = vec![
        file(FileOperation::Update, "a.rs", changes),
        file(FileOperation::Delete, "b.rs", Vec::new()),
    ];
    check(
        &card(CardContent::Patch { files }),
        &expect![[r#"
            <b>Claude Code</b> wants to change files
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            <code>Update a.rs</code>
            <pre><code class="language-diff">@@ fn main() {
            -old
            +new</code></pre>
            <code>Delete b.rs</code>

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
        "#]],
    );
}
