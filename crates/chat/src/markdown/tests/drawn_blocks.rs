//! Reads the rows of a drawing as blocks: which marks they are behind, what they are, and their
//! text.
//!
//! Colours tell marks from text that looks like them; only the levels of headings have none. The
//! rows do not tell HTML, code without fences and paragraphs apart.

use callgate_testkit::commonmark;

use super::{drawn, page};
use crate::styled_text::ChatPage;

const BOLD: &str = "1";
const DIM: &str = "2";
const MARK: &str = "36";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Text,
    Code,
    Rule,
    Heading(usize),
}

/// A quote or an item that a row is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenBlock {
    Quote,
    Item { list: &'static str, columns: usize },
}

#[derive(Debug)]
struct DrawnRow {
    /// The elements that it is in.
    path: String,
    begins_item: bool,
    kind: RowKind,
    words: String,
}

/// Compares the blocks of a drawing with those of the text, in order. Returns the first difference.
pub(super) fn compare(markdown: &str) -> Result<(), String> {
    let rows = read_rows(markdown);
    let mut rest = rows.iter().filter(|row| !row.words.is_empty() || row.kind == RowKind::Rule);
    for block in commonmark::blocks(markdown) {
        let (path, words) = block.split_once(": ").ok_or("a block has a text")?;
        let (path, kind) = split_path(path);
        // An empty block has no row of its own, but for a rule.
        let mut found = String::new();
        while found != words || (kind == "hr" && found.is_empty()) {
            let differs = |row: Option<&DrawnRow>| Err(format!("{block:?} is drawn as {row:?}"));
            let Some(row) = rest.next() else { return differs(None) };
            let is_right =
                row.path == path && fits(row.kind, kind) && (found.is_empty() || !row.begins_item);
            found =
                if found.is_empty() { row.words.clone() } else { format!("{found} {}", row.words) };
            if !is_right || !words.starts_with(&*found) {
                return differs(Some(row));
            }
            if kind == "hr" {
                break;
            }
        }
    }
    rest.next().map_or(Ok(()), |row| Err(format!("nothing is drawn as {row:?}")))
}

/// Splits the elements of a block into those that it is in and what it is.
fn split_path(path: &str) -> (&str, &str) {
    let (outer, last) = path.rsplit_once(' ').unwrap_or(("", path));
    if last == "li" { (path, "p") } else { (outer, last) }
}

fn fits(row: RowKind, kind: &str) -> bool {
    match row {
        RowKind::Text => matches!(kind, "p" | "html" | "pre"),
        RowKind::Code => kind == "pre",
        RowKind::Rule => kind == "hr",
        RowKind::Heading(level) => kind == format!("h{level}"),
    }
}

fn read_rows(markdown: &str) -> Vec<DrawnRow> {
    let wide = page(2000);
    let mut plain = drawn(markdown, &wide);
    // An empty heading has no row where there are colours.
    plain.retain(|row| !row.ends_with("# ") && !row.trim().is_empty());
    let mut coloured = drawn(markdown, &ChatPage { colours: true, ..wide });
    coloured.retain(|row| !row.trim().is_empty());
    assert_eq!(plain.len(), coloured.len(), "{plain:?} {coloured:?}");
    let mut open: Vec<OpenBlock> = Vec::new();
    // In which elements code has begun that has not ended.
    let mut code: Option<String> = None;
    let mut rows: Vec<DrawnRow> = Vec::new();
    for (row, plain) in coloured.iter().zip(plain) {
        let cells = read_cells(row);
        let (at, begins_item) = read_marks(&cells, &mut open);
        let content = &cells[at..];
        let path = path_of(&open);
        let is_dim = content.iter().all(|(c, style)| *c == ' ' || style.contains(&DIM));
        let text: String = content.iter().map(|(c, _)| *c).collect();
        let bare = text.trim();
        let is_fence = is_dim && (bare.starts_with("```") || bare.starts_with("~~~"));
        code = code.filter(|known| *known == path);
        let kind = match (is_fence, &code) {
            (true, _) => {
                code = code.is_none().then(|| path.clone());
                RowKind::Code
            }
            (false, Some(_)) => RowKind::Code,
            _ if is_dim && bare.starts_with('─') => RowKind::Rule,
            _ => {
                let plain: String = plain.chars().skip(at).collect();
                let is_bold = content.iter().all(|(c, style)| *c == ' ' || style.contains(&BOLD));
                match (heading_level(&text, &plain), rows.last()) {
                    (Some(level), _) => RowKind::Heading(level),
                    // Only the first line of a heading has its mark.
                    (None, Some(DrawnRow { kind: kind @ RowKind::Heading(_), .. })) if is_bold => {
                        *kind
                    }
                    _ => RowKind::Text,
                }
            }
        };
        // Outside of code, what is dim are addresses.
        let is_code = kind == RowKind::Code && !is_fence;
        let shown: String = (content.iter())
            .filter(|(_, style)| is_code || !style.contains(&DIM))
            .map(|(c, _)| *c)
            .collect();
        // A line feed that was written as a character by its name is shown.
        let shown = shown.replace('⏎', " ");
        let words: Vec<&str> = shown.split_whitespace().collect();
        rows.push(DrawnRow { path, begins_item, kind, words: words.join(" ") });
    }
    rows
}

/// Returns the characters of a row with the numbers of their styles.
fn read_cells(row: &str) -> Vec<(char, Vec<&str>)> {
    let mut parts = row.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let mut cells: Vec<(char, Vec<&str>)> = first.chars().map(|c| (c, Vec::new())).collect();
    for part in parts {
        let (codes, text) = part.trim_start_matches('[').split_once('m').expect("a style");
        cells.extend(text.chars().map(|c| (c, codes.split(';').collect())));
    }
    cells
}

/// Reads the marks of a row. Returns where its content begins, and whether an item begins in it.
fn read_marks(cells: &[(char, Vec<&str>)], open: &mut Vec<OpenBlock>) -> (usize, bool) {
    let is_bar =
        |at: usize| cells.get(at).is_some_and(|(c, style)| *c == '│' && style.contains(&DIM));
    let mut at = 0;
    let goes_on = |block: &OpenBlock| {
        let columns = match block {
            OpenBlock::Quote if is_bar(at) => 2,
            OpenBlock::Item { columns, .. }
                if cells.len() >= at + columns
                    && cells[at..at + columns].iter().all(|(c, _)| *c == ' ') =>
            {
                *columns
            }
            _ => return false,
        };
        at += columns;
        true
    };
    let kept = open.iter().map(goes_on).take_while(|goes_on| *goes_on).count();
    open.truncate(kept);
    let mut begins_item = false;
    loop {
        let mark: String = (cells[at.min(cells.len())..].iter())
            .take_while(|(c, style)| *style == [MARK] && *c != ' ')
            .map(|(c, _)| *c)
            .collect();
        let number = mark.strip_suffix(['.', ')']);
        let is_number = number.is_some_and(|number| number.parse::<u64>().is_ok());
        let columns = mark.chars().count() + 1;
        if is_bar(at) {
            open.push(OpenBlock::Quote);
            at += 2;
        } else if is_number || ["•", "☐", "☑"].contains(&&*mark) {
            let list = if is_number { "ol" } else { "ul" };
            open.push(OpenBlock::Item { list, columns });
            begins_item = true;
            at += columns;
        } else {
            return (at.min(cells.len()), begins_item);
        }
    }
}

fn path_of(open: &[OpenBlock]) -> String {
    let elements: Vec<String> = (open.iter())
        .map(|block| match block {
            OpenBlock::Quote => "blockquote".to_owned(),
            OpenBlock::Item { list, .. } => format!("{list} li"),
        })
        .collect();
    elements.join(" ")
}

/// Returns the level of a heading, of which `plain` is the row without colours: it has a mark then.
fn heading_level(text: &str, plain: &str) -> Option<usize> {
    let level = plain.chars().take_while(|c| *c == '#').count();
    let has_mark = level > 0 && plain[level..].starts_with(' ');
    (has_mark && !text.starts_with(&plain[..=level])).then_some(level)
}
