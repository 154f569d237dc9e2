//! Tables, with columns as wide as their cells where the page has room for them, and with cells of
//! several lines where it has not.

use super::inline::spans;
use crate::chat::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};

/// The separator between two columns.
const BETWEEN: &str = " │ ";
/// The narrowest column. A table that needs narrower ones is drawn as it was written.
const NARROWEST_COLUMN: usize = 4;

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TableColumn {
    width: usize,
    align: CellAlign,
}

/// Where the text of a cell stands in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellAlign {
    Left,
    Centre,
    Right,
}

/// Draws the lines of a table. Lines that are not a table are drawn as they are.
pub(super) fn rows(lines: &[String], page: &ChatPage) -> Vec<String> {
    drawn(lines, page).unwrap_or_else(|| {
        let line = |line: &String| spans(line.trim(), page.colours).rows(page, WrapAt::Words);
        lines.iter().flat_map(line).collect()
    })
}

fn drawn(lines: &[String], page: &ChatPage) -> Option<Vec<String>> {
    let [head, separator, body @ ..] = lines else { return None };
    if !separator.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ')) {
        return None;
    }
    let head: Vec<StyledText> =
        cells(head, page).into_iter().map(|cell| cell.in_style(TextStyle::BOLD)).collect();
    let body: Vec<Vec<StyledText>> = body.iter().map(|line| cells(line, page)).collect();
    let widths = widths(&head, &body, page.width)?;
    let aligns = texts(separator).into_iter().map(|text| align(&text));
    let aligns = aligns.chain(std::iter::repeat(CellAlign::Left));
    let columns: Vec<TableColumn> =
        widths.into_iter().zip(aligns).map(|(width, align)| TableColumn { width, align }).collect();
    let rule: Vec<String> = columns.iter().map(|column| "─".repeat(column.width)).collect();
    let rule = StyledText::new(&rule.join("─┼─"), TextStyle::DIM).row(page);
    let body: Vec<Vec<String>> = body.iter().map(|cells| row(cells, &columns, page)).collect();
    // Rows of several lines need something between them.
    let is_tall = body.iter().any(|lines| lines.len() > 1);
    let mut rows = row(&head, &columns, page);
    rows.push(rule.clone());
    for (number, lines) in body.into_iter().enumerate() {
        if number > 0 && is_tall {
            rows.push(rule.clone());
        }
        rows.extend(lines);
    }
    Some(rows)
}

/// Returns the texts of the cells of a line.
fn texts(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    // An escaped bar is part of its cell.
    let line = line.replace("\\|", "\u{1}");
    line.split('|').map(|cell| cell.trim().replace('\u{1}', "|").trim().to_owned()).collect()
}

fn cells(line: &str, page: &ChatPage) -> Vec<StyledText> {
    texts(line).iter().map(|cell| spans(cell, page.colours)).collect()
}

/// Reads how a column is aligned from its cell in the line below the head.
fn align(separator: &str) -> CellAlign {
    match (separator.starts_with(':'), separator.ends_with(':')) {
        (true, true) => CellAlign::Centre,
        (false, true) => CellAlign::Right,
        _ => CellAlign::Left,
    }
}

/// Returns the width of each column; `None` if they do not fit onto the page. The widest columns
/// become narrower first, and no word is split as long as another column can be narrower.
fn widths(head: &[StyledText], body: &[Vec<StyledText>], page: usize) -> Option<Vec<usize>> {
    let widest = |column: usize, width: fn(&StyledText) -> usize| {
        let of = |cells: &[StyledText]| cells.get(column).map_or(0, width);
        body.iter().map(|cells| of(cells)).max().unwrap_or(0).max(of(head))
    };
    let words: Vec<usize> =
        (0..head.len()).map(|column| widest(column, StyledText::longest_word)).collect();
    let mut widths: Vec<usize> =
        (0..head.len()).map(|column| widest(column, StyledText::columns)).collect();
    let room = page.checked_sub(3 * head.len().saturating_sub(1))?;
    while widths.iter().sum::<usize>() > room {
        let widest_over = |least: &dyn Fn(usize) -> usize| {
            let over = (0..widths.len()).filter(|column| widths[*column] > least(*column));
            over.max_by_key(|column| widths[*column])
        };
        let of_words = widest_over(&|column| words[column]);
        let narrower = of_words.or_else(|| widest_over(&|_| NARROWEST_COLUMN))?;
        widths[narrower] -= 1;
    }
    Some(widths)
}

/// Draws a row of the table, in as many lines as its tallest cell needs.
fn row(cells: &[StyledText], columns: &[TableColumn], page: &ChatPage) -> Vec<String> {
    let wrapped: Vec<Vec<StyledText>> = (columns.iter().enumerate())
        .map(|(number, column)| {
            cells.get(number).cloned().unwrap_or_default().wrapped(column.width)
        })
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let mut line = StyledText::default();
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                line.push(BETWEEN, TextStyle::DIM);
            }
            let cell = wrapped[number].get(at).cloned().unwrap_or_default();
            let blanks = column.width.saturating_sub(cell.columns());
            let (before, after) = match column.align {
                CellAlign::Left => (0, blanks),
                CellAlign::Centre => (blanks / 2, blanks - blanks / 2),
                CellAlign::Right => (blanks, 0),
            };
            line.push(&" ".repeat(before), TextStyle::PLAIN);
            line.append(cell);
            if number + 1 < columns.len() {
                line.push(&" ".repeat(after), TextStyle::PLAIN);
            }
        }
        line.row(page)
    };
    (0..height).map(line).collect()
}
