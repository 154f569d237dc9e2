//! Tables, with columns as wide as their cells where the page has room for them, and with cells of
//! several lines where it has not.

use pulldown_cmark::Alignment;

use super::QUOTE_MARKS;
use crate::styled_text::{StyledText, TextStyle};

/// The separator between two columns.
const BETWEEN: &str = " │ ";
/// The narrowest column. A table that needs narrower ones is drawn as it was written.
const NARROWEST_COLUMN: usize = 4;

#[derive(Debug, Clone, Copy)]
struct TableColumn {
    width: usize,
    align: Alignment,
}

/// Draws a table that is at most `room` columns wide, or returns `None` if it does not fit.
pub(super) fn draw_table(
    head: Vec<StyledText>,
    aligns: &[Alignment],
    body: &[Vec<StyledText>],
    room: usize,
) -> Option<Vec<StyledText>> {
    let head: Vec<StyledText> =
        head.into_iter().map(|cell| cell.in_style(TextStyle::BOLD)).collect();
    let widths = column_widths(&head, body, room)?;
    let columns = widths.into_iter().zip(aligns);
    let columns: Vec<TableColumn> =
        columns.map(|(width, align)| TableColumn { width, align: *align }).collect();
    let rule: Vec<String> = columns.iter().map(|column| "─".repeat(column.width)).collect();
    let rule = StyledText::new(&rule.join("─┼─"), TextStyle::DIM);
    let body: Vec<Vec<StyledText>> = body.iter().map(|cells| draw_row(cells, &columns)).collect();
    // Rows of several lines need something between them.
    let is_tall = body.iter().any(|lines| lines.len() > 1);
    let mut drawn = draw_row(&head, &columns);
    drawn.push(rule.clone());
    for (number, lines) in body.into_iter().enumerate() {
        if number > 0 && is_tall {
            drawn.push(rule.clone());
        }
        drawn.extend(lines);
    }
    Some(drawn)
}

/// Returns true if a row has more cells than the first one: the parser leaves those out.
pub(super) fn loses_cells(written: &str) -> bool {
    let mut counts = written.lines().map(cell_count);
    let first = counts.next().unwrap_or(0);
    counts.any(|count| count > first)
}

fn cell_count(line: &str) -> usize {
    let line = line.trim_start_matches(QUOTE_MARKS).trim_end();
    // An escaped bar is part of its cell.
    let line = line.replace("\\|", "");
    let line = line.strip_prefix('|').unwrap_or(&line);
    line.strip_suffix('|').unwrap_or(line).split('|').count()
}

/// Returns the width of each column; `None` if they do not fit onto the page. The widest columns
/// become narrower first, and no word is split as long as another column can be narrower.
fn column_widths(head: &[StyledText], body: &[Vec<StyledText>], page: usize) -> Option<Vec<usize>> {
    let widest = |column: usize, width: fn(&StyledText) -> usize| {
        let of = |cells: &[StyledText]| cells.get(column).map_or(0, width);
        body.iter().map(|cells| of(cells)).max().unwrap_or(0).max(of(head))
    };
    let words: Vec<usize> =
        (0..head.len()).map(|column| widest(column, StyledText::longest_word)).collect();
    let mut widths: Vec<usize> =
        (0..head.len()).map(|column| widest(column, StyledText::columns)).collect();
    // The separator between two columns takes three.
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
fn draw_row(cells: &[StyledText], columns: &[TableColumn]) -> Vec<StyledText> {
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
            let is_last = number + 1 == columns.len();
            let (before, after) = match column.align {
                _ if is_last && cell.columns() == 0 => (0, 0),
                Alignment::Left | Alignment::None => (0, blanks),
                Alignment::Center => (blanks / 2, blanks - blanks / 2),
                Alignment::Right => (blanks, 0),
            };
            line.push(&" ".repeat(before), TextStyle::PLAIN);
            line.append(cell);
            if !is_last {
                line.push(&" ".repeat(after), TextStyle::PLAIN);
            }
        }
        line
    };
    (0..height).map(line).collect()
}
