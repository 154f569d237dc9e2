//! The history as text: JSON lines or comma-separated values.

use callgate_store::Store;
use callgate_wire::desk::{ExportFormat, ExportedPage, HistoryFilter, HistoryRow};

use super::past_calls::each_past_call;
use crate::rule_desk::WorkMonitor;

/// A part has at least so many bytes before another one begins.
const PART: usize = 512 * 1024;

const HEADER: &str = "seq,time,question,tool,summary,project,session,agent,mode,decision,by,\
    channel,took_ms,ok,words,edited\r\n";

/// Returns the part of an export before the number `before`.
pub(super) fn export(
    store: &Store,
    format: ExportFormat,
    filter: &HistoryFilter,
    before: Option<u64>,
    monitor: &WorkMonitor<'_>,
) -> Result<ExportedPage, String> {
    let is_first = before.is_none();
    let mut text = match format {
        ExportFormat::Csv if is_first => HEADER.to_owned(),
        ExportFormat::Csv | ExportFormat::Jsonl => String::new(),
    };
    let (mut last, mut next) = (0, None);
    each_past_call(store, filter, before, monitor, |call| {
        if text.len() >= PART {
            next = Some(last);
            return false;
        }
        last = call.row.seq;
        match format {
            ExportFormat::Jsonl => {
                // A row holds only strings, numbers and booleans.
                text.push_str(&serde_json::to_string(&call.row).unwrap_or_default());
                text.push('\n');
            }
            ExportFormat::Csv => add_line(&mut text, &call.row),
        }
        true
    })?;
    Ok(ExportedPage { text, next })
}

fn add_line(text: &mut String, row: &HistoryRow) {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
    let some = |text: &Option<String>| text.clone().unwrap_or_default();
    let cells = [
        row.seq.to_string(),
        time(row.at_ms),
        some(&row.question),
        row.tool.clone(),
        row.summary.clone(),
        row.project.clone(),
        row.session.clone(),
        some(&row.agent),
        some(&row.mode),
        word(serde_json::json!(row.decision)),
        some(&row.by),
        word(serde_json::json!(row.channel)),
        number(row.took_ms),
        row.ok.map_or_else(String::new, |ok| ok.to_string()),
        some(&row.words),
        row.edited.to_string(),
    ];
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

/// Quotes a cell. Text that a spreadsheet would take for a formula begins with an apostrophe, since
/// agents choose what is in it.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    if is_formula || cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{guard}{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}

/// Formats a time in UTC, as in `2026-11-16T15:04:05.123Z`.
fn time(at_ms: i64) -> String {
    let (days, ms) = (at_ms.div_euclid(86_400_000), at_ms.rem_euclid(86_400_000));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// Returns the date of a day, counted from 1970. Years begin in March, so that the leap day is the
/// last one.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (at_ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_794_787_200_123, "2026-11-16T00:00:00.123Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(time(at_ms), expected);
        }
    }

    #[test]
    fn no_cell_is_a_formula_or_breaks_its_line() {
        for (cell, expected) in [
            ("make", "make"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=HYPERLINK(1)", "\"'=HYPERLINK(1)\""),
            ("-rf", "\"'-rf\""),
            ("a\nb", "\"a\nb\""),
        ] {
            assert_eq!(quoted(cell), expected);
        }
    }
}
