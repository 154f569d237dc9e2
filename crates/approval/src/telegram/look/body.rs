//! What a tool would do, as part of a message.

use crate::telegram::html::{Html, HtmlStyle};
use callgate_wire::desk::{CardContent, ContentChange};

use super::name;
use crate::card::Card;

/// How many changes are shown, each as a block of its own.
const MOST_CHANGES: usize = 16;

/// Adds what the agent wants, after its name.
pub(super) fn wants(html: Html, card: &Card) -> Html {
    let tool = &card.row.tool;
    if let Some(blocked) = &card.blocked {
        let html = html.text("was stopped: ").fixed(HtmlStyle::Bold, name(&blocked.by));
        return html.text(" blocked ").fixed(HtmlStyle::Bold, name(tool));
    }
    match &card.body {
        CardContent::Command { .. } => html.text("wants to run a command"),
        CardContent::Write { .. } => html.text("wants to write a file"),
        CardContent::Edit { .. } => html.text("wants to edit a file"),
        CardContent::Patch { files } if files.len() == 1 => html.text("wants to edit a file"),
        CardContent::Patch { .. } => html.text("wants to edit files"),
        CardContent::Notebook { .. } => html.text("wants to edit a notebook"),
        CardContent::Fetch { .. } => html.text("wants to fetch a page"),
        CardContent::Plan { .. } => html.text("has a plan"),
        CardContent::Ask { .. } => html.text("asks"),
        CardContent::Mcp { server, tool, .. } => html
            .text("wants to call ")
            .fixed(HtmlStyle::Bold, name(tool))
            .text(" of ")
            .fixed(HtmlStyle::Bold, name(server)),
        CardContent::Other { .. } => html.text("wants to use ").fixed(HtmlStyle::Bold, name(tool)),
    }
}

/// Adds what the tool would do. Returns true if something is left out.
pub(super) fn add(html: Html, card: &Card) -> (Html, bool) {
    let html = html.text("\n");
    let html = match &card.body {
        CardContent::Command { description, .. } => {
            optional(html, HtmlStyle::Italic, description.as_ref())
                .content(HtmlStyle::Pre(Some("bash")), &card.body.command())
                .text("\n")
        }
        CardContent::Write { path, content, lines } => html
            .content(HtmlStyle::Code, path)
            .text(&if *lines == 1 {
                " (1 line)\n".to_owned()
            } else {
                format!(" ({lines} lines)\n")
            })
            .content(HtmlStyle::Pre(None), content)
            .text("\n"),
        CardContent::Edit { path, changes } => {
            return changed([(path.clone(), &changes[..])].into_iter(), html);
        }
        CardContent::Patch { files } => {
            return changed(files.iter().map(|file| (file.heading(), &file.changes[..])), html);
        }
        CardContent::Notebook { path, what, content } => {
            let html =
                html.content(HtmlStyle::Code, path).text("\n").content(HtmlStyle::Plain, what);
            let content = Some(content).filter(|it| !it.is_empty());
            optional(html.text("\n"), HtmlStyle::Pre(None), content)
        }
        CardContent::Fetch { url, what } => {
            let html = html.content(HtmlStyle::Code, url).text("\n");
            optional(html, HtmlStyle::Italic, what.as_ref())
        }
        CardContent::Plan { markdown } => html.content(HtmlStyle::Plain, markdown).text("\n"),
        CardContent::Ask { question, detail } => {
            // Pickers show the questions, with their answers.
            let question = Some(question).filter(|_| card.pickers.is_empty());
            let html = optional(html, HtmlStyle::Bold, question);
            optional(html, HtmlStyle::Plain, detail.as_ref())
        }
        CardContent::Mcp { input, .. } | CardContent::Other { input } => {
            html.content(HtmlStyle::Pre(Some("json")), input).text("\n")
        }
    };
    (html, false)
}

fn optional(html: Html, style: HtmlStyle, text: Option<&String>) -> Html {
    match text {
        Some(text) => html.content(style, text).text("\n"),
        None => html,
    }
}

/// Adds the changes of files, each file below its heading. Telegram formats no more than a hundred
/// places in a message. Returns true if something is left out.
fn changed<'a>(
    files: impl Iterator<Item = (String, &'a [ContentChange])>,
    mut html: Html,
) -> (Html, bool) {
    let (mut left, mut more) = (MOST_CHANGES, 0);
    for (heading, changes) in files {
        // A file that is deleted or moved has no change of its own.
        let count = changes.len().max(1);
        let shown = count.min(left);
        more += count - shown;
        left -= shown;
        if shown > 0 {
            html = html.content(HtmlStyle::Code, &heading).text("\n");
        }
        for change in changes.iter().take(shown) {
            let diff = change.to_string();
            html = html.content(HtmlStyle::Pre(Some("diff")), diff.trim_end_matches('\n'));
            html = html.text("\n");
        }
    }
    match more {
        0 => (html, false),
        more => (html.text(&format!("… {more} more changes\n")), true),
    }
}
