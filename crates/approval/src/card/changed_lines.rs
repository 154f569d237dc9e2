//! A change of a text, line by line.

use callgate_mask::text::{LineChange, OmittedLines, diff};
use callgate_wire::desk::{ChangedLine, LineOperation};

/// Returns the lines that differ. Only unchanged lines are left out; the numbers show where.
pub(super) fn changed_lines(old: &str, new: &str) -> Vec<ChangedLine> {
    let lines = diff(old, new);
    let is_short = |line: &callgate_mask::text::DiffLine<'_>| {
        matches!(line.change, LineChange::Gap(OmittedLines::Old | OmittedLines::New, _))
    };
    if old == new || lines.iter().any(is_short) {
        return all_lines(old, new);
    }
    let mut numbers = LineNumbers::default();
    let mut shown = Vec::with_capacity(lines.len());
    for line in lines {
        match line.change {
            LineChange::Same => shown.push(numbers.line(LineOperation::Same, line.text)),
            LineChange::Removed => shown.push(numbers.line(LineOperation::Removed, line.text)),
            LineChange::Added => shown.push(numbers.line(LineOperation::Added, line.text)),
            LineChange::Gap(_, count) => numbers.skip(count as u64),
        }
    }
    shown
}

/// Returns all lines: those of a text that does not change, or all old ones and then all new ones.
fn all_lines(old: &str, new: &str) -> Vec<ChangedLine> {
    let mut numbers = LineNumbers::default();
    if old == new {
        return old.lines().map(|line| numbers.line(LineOperation::Same, line)).collect();
    }
    let removed = old.lines().map(|line| (LineOperation::Removed, line));
    let added = new.lines().map(|line| (LineOperation::Added, line));
    removed.chain(added).map(|(operation, line)| numbers.line(operation, line)).collect()
}

/// The numbers of the last lines.
#[derive(Default)]
struct LineNumbers {
    old: u64,
    new: u64,
}

impl LineNumbers {
    fn line(&mut self, op: LineOperation, text: &str) -> ChangedLine {
        let (is_old, is_new) = (op != LineOperation::Added, op != LineOperation::Removed);
        self.old += u64::from(is_old);
        self.new += u64::from(is_new);
        ChangedLine {
            op,
            old: is_old.then_some(self.old),
            new: is_new.then_some(self.new),
            text: text.to_owned(),
        }
    }

    fn skip(&mut self, count: u64) {
        self.old += count;
        self.new += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        let lines = changed_lines(old, new).into_iter().map(|line| {
            let op = serde_json::to_value(line.op).unwrap();
            format!(
                "{}|{}|{}{}",
                number(line.old),
                number(line.new),
                op.as_str().unwrap(),
                line.text
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn lines_are_numbered_on_both_sides() {
        assert_eq!(shown("a\nb\nc", "a\nx\ny\nc"), "1|1| a\n2||-b\n|2|+x\n|3|+y\n3|4| c");
        assert_eq!(shown("", "a"), "|1|+a");
        assert_eq!(shown("a", "a"), "1|1| a");
    }

    #[test]
    fn only_unchanged_lines_are_left_out() {
        let numbers: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let old = numbers.join("\n") + "\n";
        let new = old.replace("20\n", "end\n");
        assert_eq!(shown(&old, &new), "17|17| 17\n18|18| 18\n19|19| 19\n20||-20\n|20|+end");
        let long = "line\n".repeat(2_000);
        let lines = changed_lines("", &long);
        assert_eq!(lines.len(), 2_000, "every added line is shown");
        assert_eq!(lines[1_999].new, Some(2_000));
    }
}
