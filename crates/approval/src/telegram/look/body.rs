//! What a tool would do, as part of a message.

use crate::telegram::html::{Html, HtmlStyle};
use callgate_mask::text;

use super::name;
use crate::card::{Card, CardBody, FileChange};

/// How many changes are shown, each as a block of its own.
const MOST_CHANGES: usize = 16;

/// Adds what the agent wants, after its name.
pub(super) fn wants(html: Html, card: &Card) -> Html {
    if let Some(blocked) = &card.blocked {
        let html = html.text("was stopped: ").fixed(HtmlStyle::Bold, name(&blocked.by));
        return html.text(" blocked ").fixed(HtmlStyle::Bold, name(&card.tool));
    }
    match &card.body {
        CardBody::Command { .. } => html.text("wants to run a command"),
        CardBody::Write { .. } => html.text("wants to write a file"),
        CardBody::Edit { .. } => html.text("wants to edit a file"),
        CardBody::Notebook { .. } => html.text("wants to edit a notebook"),
        CardBody::Fetch { .. } => html.text("wants to fetch a page"),
        CardBody::Plan(_) => html.text("has a plan"),
        CardBody::Questions(_) | CardBody::Question { .. } => html.text("asks"),
        CardBody::Mcp { server, tool, .. } => html
            .text("wants to call ")
            .fixed(HtmlStyle::Bold, name(tool))
            .text(" of ")
            .fixed(HtmlStyle::Bold, name(server)),
        CardBody::Other(_) => html.text("wants to use ").fixed(HtmlStyle::Bold, name(&card.tool)),
    }
}

/// Adds what the tool would do. Returns true if something is left out.
pub(super) fn add(html: Html, card: &Card) -> (Html, bool) {
    let html = html.text("\n");
    let html = match &card.body {
        CardBody::Command { command, description } => {
            optional(html, HtmlStyle::Italic, description.as_ref())
                .content(HtmlStyle::Pre(Some("bash")), command)
                .text("\n")
        }
        CardBody::Write { path, content } => html
            .content(HtmlStyle::Code, path)
            .text(&format!(" ({})\n", lines(content)))
            .content(HtmlStyle::Pre(None), content)
            .text("\n"),
        CardBody::Edit { path, changes } => return edit(html, path, changes),
        CardBody::Notebook { path, change, source } => {
            let html =
                html.content(HtmlStyle::Code, path).text("\n").content(HtmlStyle::Plain, change);
            optional(
                html.text("\n"),
                HtmlStyle::Pre(None),
                Some(source).filter(|it| !it.is_empty()),
            )
        }
        CardBody::Fetch { url, prompt } => {
            let html = html.content(HtmlStyle::Code, url).text("\n");
            optional(html, HtmlStyle::Italic, prompt.as_ref())
        }
        CardBody::Plan(plan) => html.content(HtmlStyle::Plain, plan).text("\n"),
        // The questions are shown with their answers.
        CardBody::Questions(_) if !card.pickers.is_empty() => html,
        CardBody::Questions(questions) => {
            html.content(HtmlStyle::Bold, &questions.join("\n")).text("\n")
        }
        // A picker shows it too.
        CardBody::Question { details, .. } if !card.pickers.is_empty() => {
            optional(html, HtmlStyle::Plain, details.as_ref())
        }
        CardBody::Question { question, details } => {
            let html = html.content(HtmlStyle::Bold, question).text("\n");
            optional(html, HtmlStyle::Plain, details.as_ref())
        }
        CardBody::Mcp { input, .. } | CardBody::Other(input) => {
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

fn lines(content: &str) -> String {
    match content.lines().count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

fn edit(html: Html, path: &str, changes: &[FileChange]) -> (Html, bool) {
    let mut html = html.content(HtmlStyle::Code, path).text("\n");
    let mut is_cut = false;
    for change in changes.iter().take(MOST_CHANGES) {
        if change.everywhere {
            html = html.text("Every occurrence:\n");
        }
        let lines = text::diff(&change.old, &change.new);
        is_cut |= lines.iter().any(|line| is_gap(line.change));
        let shown = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        html = html.content(HtmlStyle::Pre(Some("diff")), &shown).text("\n");
    }
    match changes.len().saturating_sub(MOST_CHANGES) {
        0 => (html, is_cut),
        more => (html.text(&format!("… {more} more changes\n")), true),
    }
}

/// Returns true if lines that the edit would add or remove are left out.
fn is_gap(change: text::LineChange) -> bool {
    matches!(change, text::LineChange::Gap(text::OmittedLines::Old | text::OmittedLines::New, _))
}
