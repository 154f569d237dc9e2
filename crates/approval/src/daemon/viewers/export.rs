//! The history as text: JSON lines or comma-separated values.

use callgate_mask::text::csv_cell;
use callgate_store::Store;
use callgate_wire::desk::{ExportFormat, ExportedPage, HistoryFilter, HistoryRow};
use jiff::Timestamp;

use super::past_calls::each_past_call;
use crate::rule_desk::WorkMonitor;

/// The least size of a part, in bytes, before another one begins.
const PART: usize = 512 * 1024;

const HEADER: &str = "seq,time,question,tool,summary,project,session,agent,mode,decision,by,\
    channel,took_ms,ok,words,edited\r\n";

/// Returns the part of an export before the number `before`.
pub(super) fn export_page(
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
        // This row begins the next part, for which the viewer names the last row of this one.
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
        format_time(row.at_ms),
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
    let cells: Vec<_> = cells.iter().map(|cell| csv_cell(cell)).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

/// Formats a time in UTC, as in `2026-11-16T15:04:05.123Z`.
fn format_time(at_ms: i64) -> String {
    let time = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    format!("{time:.3}")
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
            assert_eq!(format_time(at_ms), expected);
        }
    }
}
