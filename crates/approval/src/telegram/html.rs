//! Messages in Telegram's HTML that are valid after any cut.
//!
//! A message is a sequence of parts. Headings and footers are fixed; content may be cut, and then
//! says how much of it is missing. Text is escaped and made [`visible_text`] here, so nothing that
//! a program wrote can become a tag or change the reading order.

mod fit;

use std::borrow::Cow;

use callgate_mask::text::{Measure, cut_to_length, measured_length, visible_text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageLimits {
    /// UTF-16 units of the text that is left when the tags and entities are parsed.
    pub(crate) utf16: usize,
    /// Bytes of the whole HTML.
    pub(crate) bytes: usize,
}

impl MessageLimits {
    /// What Telegram accepts as one message. The limit in bytes is our own.
    pub(crate) const MESSAGE: Self = Self { utf16: 4096, bytes: 32 * 1024 };
}

/// The text of an invisible link: a zero-width space.
pub(crate) const UNSEEN: char = '\u{200b}';

/// The most that is kept of a part: several times what any message can show.
const KEPT: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HtmlStyle<'a> {
    Plain,
    Bold,
    Italic,
    /// Code within a line.
    Code,
    /// A block of code, in this language if it is known.
    Pre(Option<&'a str>),
    /// A link to this address. Only `http`, `https`, `tg` and `mailto` become links.
    Link(&'a str),
    Quote,
}

#[must_use]
#[derive(Debug, Clone, Default)]
pub(crate) struct Html {
    parts: Vec<HtmlPart>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RenderedHtml {
    pub(crate) html: String,
    /// How many characters of the content are left out.
    pub(crate) cut: usize,
}

/// A piece of text between an opening and a closing tag.
#[derive(Debug, Clone)]
struct HtmlPart {
    open: Cow<'static, str>,
    close: &'static str,
    is_block: bool,
    may_be_cut: bool,
    text: String,
    /// How many characters were left out already when the part was added.
    more: usize,
}

impl Html {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds plain text that is never cut.
    pub(crate) fn text(self, text: &str) -> Self {
        self.fixed(HtmlStyle::Plain, text)
    }

    /// Adds text that is never cut: a heading, a name, a footer. Keep it short.
    pub(crate) fn fixed(self, style: HtmlStyle, text: &str) -> Self {
        self.push(style, text, false)
    }

    /// Adds content, which is cut if there is not enough room.
    pub(crate) fn content(self, style: HtmlStyle, text: &str) -> Self {
        self.push(style, text, true)
    }

    /// Adds an invisible link: nobody sees it, but whoever gets the message back can read its
    /// address.
    pub(crate) fn unseen_link(mut self, address: &str) -> Self {
        let ((open, close), text) = (link_tags(address), UNSEEN.to_string());
        let (is_block, may_be_cut, more) = (false, false, 0);
        self.parts.push(HtmlPart { open, close, is_block, may_be_cut, text, more });
        self
    }

    fn push(mut self, style: HtmlStyle, text: &str, may_be_cut: bool) -> Self {
        let (kept, more) = cut_middle(text);
        let (open, close) = tags_of_style(style);
        self.parts.push(HtmlPart {
            open,
            close,
            is_block: matches!(style, HtmlStyle::Pre(_) | HtmlStyle::Quote),
            may_be_cut,
            text: visible_text(&kept).into_owned(),
            more,
        });
        self
    }

    /// Renders the message within `limits`. Content shares the room fairly: a short part stays
    /// whole, and the long ones get equal room. If not even the fixed parts fit, they are cut too,
    /// from the end.
    pub(crate) fn render(&self, limits: MessageLimits) -> RenderedHtml {
        // Text that is not kept cannot be shown, whatever the limit. The beginning gets up to two
        // thirds of the units, of up to three bytes each, and half of what is kept is the
        // beginning.
        let utf16 = limits.utf16.min(KEPT / 4);
        fit::render_parts(&self.parts, MessageLimits { utf16, ..limits })
    }
}

/// Returns the beginning and the end that are kept of a part, and how many characters between them
/// are not.
fn cut_middle(text: &str) -> (Cow<'_, str>, usize) {
    if text.len() <= KEPT {
        return (Cow::Borrowed(text), 0);
    }
    let head = cut_to_length(text, KEPT / 2, Measure::Bytes);
    let tail = &text[text.ceil_char_boundary(text.len() - KEPT / 2)..];
    let between = &text[head.len()..text.len() - tail.len()];
    (Cow::Owned(format!("{head}{tail}")), measured_length(between, Measure::Chars))
}

fn tags_of_style(style: HtmlStyle) -> (Cow<'static, str>, &'static str) {
    let (open, close) = match style {
        HtmlStyle::Plain => ("", ""),
        HtmlStyle::Bold => ("<b>", "</b>"),
        HtmlStyle::Italic => ("<i>", "</i>"),
        HtmlStyle::Code => ("<code>", "</code>"),
        HtmlStyle::Quote => ("<blockquote>", "</blockquote>"),
        HtmlStyle::Pre(language) => return pre_tags(language),
        HtmlStyle::Link(address) => return link_tags(address),
    };
    (Cow::Borrowed(open), close)
}

fn pre_tags(language: Option<&str>) -> (Cow<'static, str>, &'static str) {
    let is_name = |name: &&str| {
        let all =
            |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'_' | b'#' | b'.');
        (1..=32).contains(&name.len()) && name.bytes().all(all)
    };
    match language.filter(is_name) {
        Some(name) => (format!("<pre><code class=\"language-{name}\">").into(), "</code></pre>"),
        None => ("<pre>".into(), "</pre>"),
    }
}

fn link_tags(address: &str) -> (Cow<'static, str>, &'static str) {
    /// The longest address of a link; Telegram would not accept longer ones.
    const LONGEST_ADDRESS: usize = 2048;
    let is_known = ["http://", "https://", "tg://", "mailto:"].iter().any(|scheme| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    // Anything but visible ASCII is percent-encoded in an address; anything else hides something.
    let is_clean = address.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_known || !is_clean || address.len() > LONGEST_ADDRESS {
        return ("".into(), "");
    }
    let mut open = String::from("<a href=\"");
    push_escaped(address, &mut open);
    open.push_str("\">");
    (open.into(), "</a>")
}

/// Adds `text` to `out` with `&`, `<`, `>` and `"` as entities.
fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match html_entity(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
    }
}

fn html_entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}

fn escaped_len(c: char) -> usize {
    html_entity(c).map_or(c.len_utf8(), str::len)
}

#[cfg(test)]
mod tests;
