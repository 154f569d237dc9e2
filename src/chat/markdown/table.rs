//! Tables, with columns as wide as their cells where the page has room for them.

use super::inline::spans;
use crate::chat::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};

/// The separator between two columns.
const BETWEEN: &str = " │ ";
/// The narrowest column into which a cell is cut. A table that needs narrower ones is drawn as it
/// was written.
const NARROWEST_COLUMN: usize = 4;

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
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let mut rows = vec![row(&head, &widths, page)];
    rows.push(StyledText::new(&rule.join("─┼─"), TextStyle::DIM).row(page));
    rows.extend(body.iter().map(|cells| row(cells, &widths, page)));
    Some(rows)
}

fn cells(line: &str, page: &ChatPage) -> Vec<StyledText> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    // An escaped bar is part of its cell.
    let line = line.replace("\\|", "\u{1}");
    line.split('|')
        .map(|cell| spans(cell.trim().replace('\u{1}', "|").trim(), page.colours))
        .collect()
}

/// Returns the width of each column; `None` if they do not fit onto the page.
fn widths(head: &[StyledText], body: &[Vec<StyledText>], page: usize) -> Option<Vec<usize>> {
    let width = |column: usize| {
        let of = |cells: &[StyledText]| cells.get(column).map_or(0, StyledText::columns);
        body.iter().map(|cells| of(cells)).max().unwrap_or(0).max(of(head))
    };
    let mut widths: Vec<usize> = (0..head.len()).map(width).collect();
    let room = page.checked_sub(3 * head.len().saturating_sub(1))?;
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max()?;
        if *widest <= NARROWEST_COLUMN {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

fn row(cells: &[StyledText], widths: &[usize], page: &ChatPage) -> String {
    let mut row = StyledText::default();
    for (column, width) in widths.iter().enumerate() {
        if column > 0 {
            row.push(BETWEEN, TextStyle::DIM);
        }
        let cell = cells.get(column).cloned().unwrap_or_default().cut(*width);
        let blanks = width.saturating_sub(cell.columns());
        row.append(cell);
        if column + 1 < widths.len() {
            row.push(&" ".repeat(blanks), TextStyle::PLAIN);
        }
    }
    row.row(page)
}
