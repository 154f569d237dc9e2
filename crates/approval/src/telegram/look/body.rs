//! What a tool would do, in a message.

use crate::telegram::html::{Html, Style};
use callgate_mask::text;

use super::name;
use crate::card::{Body, Card, Change};

/// So many changes are shown, each as a block of its own.
const MOST_CHANGES: usize = 16;

/// What the agent wants, to follow its name.
pub(super) fn wants(html: Html, card: &Card) -> Html {
    if let Some(blocked) = &card.blocked {
        let html = html.text("was stopped: ").fixed(Style::Bold, name(&blocked.by));
        return html.text(" blocked ").fixed(Style::Bold, name(&card.tool));
    }
    match &card.body {
        Body::Command { .. } => html.text("wants to run a command"),
        Body::Write { .. } => html.text("wants to write a file"),
        Body::Edit { .. } => html.text("wants to edit a file"),
        Body::Notebook { .. } => html.text("wants to edit a notebook"),
        Body::Fetch { .. } => html.text("wants to fetch a page"),
        Body::Plan(_) => html.text("has a plan"),
        Body::Questions(_) | Body::Question { .. } => html.text("asks"),
        Body::Mcp { server, tool, .. } => html
            .text("wants to call ")
            .fixed(Style::Bold, name(tool))
            .text(" of ")
            .fixed(Style::Bold, name(server)),
        Body::Other(_) => html.text("wants to use ").fixed(Style::Bold, name(&card.tool)),
    }
}

/// Adds what the tool would do; whether something is left out here already.
pub(super) fn add(html: Html, card: &Card) -> (Html, bool) {
    let html = html.text("\n");
    let html = match &card.body {
        Body::Command { command, description } => {
            optional(html, Style::Italic, description.as_ref())
                .content(Style::Pre(Some("bash")), command)
                .text("\n")
        }
        Body::Write { path, content } => html
            .content(Style::Code, path)
            .text(&format!(" ({})\n", lines(content)))
            .content(Style::Pre(None), content)
            .text("\n"),
        Body::Edit { path, changes } => return edit(html, path, changes),
        Body::Notebook { path, change, source } => {
            let html = html.content(Style::Code, path).text("\n").content(Style::Plain, change);
            optional(html.text("\n"), Style::Pre(None), Some(source).filter(|it| !it.is_empty()))
        }
        Body::Fetch { url, prompt } => {
            let html = html.content(Style::Code, url).text("\n");
            optional(html, Style::Italic, prompt.as_ref())
        }
        Body::Plan(plan) => html.content(Style::Plain, plan).text("\n"),
        // The questions stand with their answers.
        Body::Questions(_) if !card.pickers.is_empty() => html,
        Body::Questions(questions) => html.content(Style::Bold, &questions.join("\n")).text("\n"),
        // A picker shows it too.
        Body::Question { details, .. } if !card.pickers.is_empty() => {
            optional(html, Style::Plain, details.as_ref())
        }
        Body::Question { question, details } => {
            let html = html.content(Style::Bold, question).text("\n");
            optional(html, Style::Plain, details.as_ref())
        }
        Body::Mcp { input, .. } | Body::Other(input) => {
            html.content(Style::Pre(Some("json")), input).text("\n")
        }
    };
    (html, false)
}

fn optional(html: Html, style: Style, text: Option<&String>) -> Html {
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

fn edit(html: Html, path: &str, changes: &[Change]) -> (Html, bool) {
    let mut html = html.content(Style::Code, path).text("\n");
    let mut is_cut = false;
    for change in changes.iter().take(MOST_CHANGES) {
        if change.everywhere {
            html = html.text("Wherever it stands:\n");
        }
        let lines = text::diff(&change.old, &change.new);
        is_cut |= lines.iter().any(|line| is_gap(line.change));
        let shown = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        html = html.content(Style::Pre(Some("diff")), &shown).text("\n");
    }
    match changes.len().saturating_sub(MOST_CHANGES) {
        0 => (html, is_cut),
        more => (html.text(&format!("… {more} more changes\n")), true),
    }
}

/// Whether lines are left out that the edit would add or remove.
fn is_gap(change: text::LineChange) -> bool {
    matches!(change, text::LineChange::Gap(text::OmittedLines::Old | text::OmittedLines::New, _))
}
