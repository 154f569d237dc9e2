//! Texts that look like Markdown, and which of their letters have to be shown.

use std::ops::Range;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::commonmark;

/// What comes before the first word of a line.
const LINE_MARKS: [char; 9] = [' ', '\t', '>', '-', '*', '+', '.', ')', '1'];

/// The characters of which marks of emphasis consist.
const EMPHASIS: [char; 3] = ['*', '_', '~'];

/// Returns texts in which what means something in Markdown is common.
pub fn markdown_text() -> impl Strategy<Value = String> {
    let mark = prop::sample::select(vec![
        "\n",
        "\n\n",
        "```\n",
        "```rust\n",
        "| a | b |\n",
        "|---|---|\n",
        "# ",
        "- ",
        "> ",
        "1. ",
        "  ",
        "---\n",
        "- [x] ",
        "[x]: y\n",
        "[x]",
        "[x](y)",
        "![x](<y> 'z')",
        "<https://a.b>",
        "&copy;",
        "\\&",
        "<b>",
        "**",
        "~~",
        "`",
        "*",
        "_",
        "\r\n",
        "\u{1b}[2J",
    ]);
    let part = prop_oneof![
        11 => mark.prop_map(String::from),
        1 => "[a-z ]{1,12}",
        1 => any::<String>(),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// Returns this many of these texts, the same ones each time.
///
/// # Panics
///
/// Panics if none can be made, which cannot happen.
pub fn sample_texts(count: usize) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let texts = markdown_text();
    (0..count).map(|_| texts.new_tree(&mut runner).expect("a text").current()).collect()
}

/// Returns a letter or digit of a text that is shown less often than it has to be. `is_whole` tells
/// whether all of them have to be shown, and the marks of emphasis, too; else, the addresses,
/// titles and definitions of links, the names of characters, the words after the marks of code, and
/// the marks of tasks need not.
pub fn missing_letter(markdown: &str, shown: &str, is_whole: bool) -> Option<char> {
    let hidden = if is_whole { block_marks(markdown) } else { hidden_parts(markdown) };
    let is_hidden = |at: usize| hidden.iter().any(|part| part.contains(&at));
    let counts = |letter: char| letter.is_alphanumeric() || is_whole && EMPHASIS.contains(&letter);
    let letters: String = markdown
        .char_indices()
        .filter(|(at, letter)| counts(*letter) && !is_hidden(*at))
        .map(|(_, letter)| letter)
        .collect();
    let count = |text: &str, letter: char| text.chars().filter(|c| *c == letter).count();
    letters.chars().find(|letter| count(shown, *letter) < count(&letters, *letter))
}

/// Returns the marks of items, rules and code that a text has in characters of emphasis.
fn block_marks(markdown: &str) -> Vec<Range<usize>> {
    // A plan has no definitions, which would hide what follows them.
    let text = markdown.replace("]:", "].");
    let mut marks = Vec::new();
    // Where the content of the open code block ends.
    let mut code_end = None;
    for (event, range) in Parser::new_ext(&text, commonmark::options()).into_offset_iter() {
        let written = text[range.clone()].trim_start_matches([' ', '\t']);
        let start = range.end - written.len();
        match &event {
            Event::Rule => marks.push(range),
            Event::Start(Tag::Item) => {
                marks.push(start..start + usize::from(written.starts_with('*')));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let length = written.len() - written.trim_start_matches('~').len();
                let info = written.find(['\n', '\r']).unwrap_or(written.len());
                marks.push(start..start + length);
                code_end = Some(start + info);
            }
            Event::Text(_) => code_end = code_end.map(|_| range.end),
            Event::End(TagEnd::CodeBlock) => {
                marks.extend(code_end.take().map(|end| end..range.end));
            }
            _ => {}
        }
    }
    marks
}

/// Returns the parts of a text that need not be shown.
fn hidden_parts(markdown: &str) -> Vec<Range<usize>> {
    let parser = Parser::new_ext(markdown, commonmark::options());
    let definitions = parser.reference_definitions().iter();
    let mut hidden: Vec<Range<usize>> =
        definitions.map(|(_, definition)| definition.span.clone()).collect();
    let mut blocks = Vec::new();
    // Where the words of each open link end.
    let mut links: Vec<usize> = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        let written = &markdown[range.clone()];
        match &event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => links.push(range.start + 1),
            Event::End(TagEnd::Link | TagEnd::Image) => {
                let words_end = links.pop().unwrap_or(range.start);
                hidden.push(words_end..range.end);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let info = written.find(['\n', '\r']).unwrap_or(written.len());
                hidden.push(range.start..range.start + info);
            }
            Event::Text(text) if written.starts_with('&') && written != &**text => {
                hidden.push(range.clone());
            }
            Event::TaskListMarker(_) => hidden.push(range.clone()),
            _ => {}
        }
        if let (Some(end), false) = (links.last_mut(), matches!(event, Event::Start(_))) {
            *end = (*end).max(range.end);
        }
        if matches!(
            event,
            Event::Start(
                Tag::Paragraph
                    | Tag::Heading { .. }
                    | Tag::CodeBlock(_)
                    | Tag::HtmlBlock
                    | Tag::Table(_)
            ) | Event::Text(_)
        ) {
            blocks.push(range);
        }
    }
    // Of two definitions of the same name, the parser forgets the second.
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let start = at + line.find('[').unwrap_or(0);
        at += line.len();
        let is_definition = line.trim_start_matches(LINE_MARKS).starts_with('[');
        if is_definition && line.contains("]:") && !blocks.iter().any(|one| one.contains(&start)) {
            hidden.push(start..at);
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_no_words_of_its_own_may_be_hidden() {
        let hidden = |markdown: &str| {
            let parts = hidden_parts(markdown);
            let letters = markdown.char_indices();
            let letters = letters.filter(|(at, _)| parts.iter().any(|part| part.contains(at)));
            letters.map(|(_, letter)| letter).collect::<String>()
        };
        assert_eq!(hidden("a [b *c*](d 'e') <https://f> `[g](h)` g"), "](d 'e')>");
        assert_eq!(hidden("![a](b) [c][d] [](e)\n\n[d]: f 'g'\n"), "](b)][d]](e)[d]: f 'g'\n");
        assert_eq!(hidden("- [x] a &copy; &b\n"), "[x]&copy;");
        assert_eq!(hidden("```rust a\n&copy;\n```\n"), "```rust a");
        assert_eq!(hidden("> [a]: b\n\n[A]: c\n\nd\n[e]: f\n"), "[a]: b\n[A]: c\n");
        assert_eq!(missing_letter("a &b; ab", "aa bb", true), None);
        assert_eq!(missing_letter("a [b](c)", "ab", true), Some('c'));
        assert_eq!(missing_letter("a [b](c)", "ab", false), None);
        assert_eq!(missing_letter("aa", "a", false), Some('a'));
        assert_eq!(missing_letter("*a* __b__", "*a* b", true), Some('_'));
        assert_eq!(missing_letter("*a*", "a", false), None);
        let marks = "* a\n\n***\n\n~~~~sh *\n*x*\n~~~~\n\n> * b\n>   ~~~\n>   ~~~\n\n[c]: d\n* e\n";
        assert_eq!(missing_letter(marks, "a sh * *x* b [c]: d e", true), None);
        assert_eq!(missing_letter(marks, "a sh * x b [c]: d e", true), Some('*'));
    }
}
