//! What a tool would do, as part of a message.

use crate::telegram::html::{Html, HtmlStyle};
use callgate_mask::text::{self, Measure};
use callgate_wire::desk::{CardContent, ContentChange};

use super::short_name;
use crate::card::Card;

/// How many headings and changes of files are shown, each as a block of its own. Telegram formats
/// no more than a hundred places in a message.
const MOST_BLOCKS: usize = 17;
/// The longest text of what an agent wants, in UTF-16 units.
const LONGEST_WISH: usize = 160;

/// Adds what the agent wants, after its name.
pub(super) fn add_wish(html: Html, card: &Card) -> Html {
    match &card.blocked {
        Some(blocked) => html
            .text("was stopped: ")
            .fixed(HtmlStyle::Bold, short_name(&blocked.by))
            .text(" blocked ")
            .fixed(HtmlStyle::Bold, short_name(&card.row.tool)),
        None => html.fixed(
            HtmlStyle::Plain,
            text::cut_to_length(&card.intent_text(), LONGEST_WISH, Measure::Utf16),
        ),
    }
}

/// Adds what the tool would do. Returns true if something is left out.
pub(super) fn add_content(html: Html, card: &Card) -> (Html, bool) {
    let html = html.text("\n");
    let html = match &card.body {
        CardContent::Command { description, .. } => {
            add_optional(html, HtmlStyle::Italic, description.as_ref())
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
            return add_changes(html, change_blocks(path, changes));
        }
        CardContent::Patch { files } => {
            return add_changes(
                html,
                files.iter().flat_map(|file| change_blocks(&file.heading(), &file.changes)),
            );
        }
        CardContent::Notebook { path, what, content } => {
            let html =
                html.content(HtmlStyle::Code, path).text("\n").content(HtmlStyle::Plain, what);
            let content = Some(content).filter(|it| !it.is_empty());
            add_optional(html.text("\n"), HtmlStyle::Pre(None), content)
        }
        CardContent::Read { path: place, what } | CardContent::Fetch { url: place, what } => {
            let html = html.content(HtmlStyle::Code, place).text("\n");
            add_optional(html, HtmlStyle::Italic, what.as_ref())
        }
        CardContent::Plan { markdown } => html.content(HtmlStyle::Plain, markdown).text("\n"),
        CardContent::Todo { .. } => html.content(HtmlStyle::Plain, &card.body.text()).text("\n"),
        CardContent::Ask { question, detail } => {
            // Pickers show the questions, with their answers.
            let question = Some(question).filter(|_| card.pickers.is_empty());
            let html = add_optional(html, HtmlStyle::Bold, question);
            add_optional(html, HtmlStyle::Plain, detail.as_ref())
        }
        CardContent::Mcp { input, .. } | CardContent::Other { input } => {
            html.content(HtmlStyle::Pre(Some("json")), input).text("\n")
        }
    };
    (html, false)
}

fn add_optional(html: Html, style: HtmlStyle, text: Option<&String>) -> Html {
    match text {
        Some(text) => html.content(style, text).text("\n"),
        None => html,
    }
}

fn change_blocks(heading: &str, changes: &[ContentChange]) -> Vec<(HtmlStyle<'static>, String)> {
    let changes = changes.iter().map(|change| {
        (HtmlStyle::Pre(Some("diff")), change.to_string().trim_end_matches('\n').to_owned())
    });
    std::iter::once((HtmlStyle::Code, heading.to_owned())).chain(changes).collect()
}

/// Adds the changes of files. Returns true if something is left out.
fn add_changes(
    mut html: Html,
    blocks: impl IntoIterator<Item = (HtmlStyle<'static>, String)>,
) -> (Html, bool) {
    let mut blocks = blocks.into_iter();
    for (style, text) in blocks.by_ref().take(MOST_BLOCKS) {
        html = html.content(style, &text).text("\n");
    }
    match blocks.count() {
        0 => (html, false),
        more => (html.text(&format!("… {more} more changes\n")), true),
    }
}
