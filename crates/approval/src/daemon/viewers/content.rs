//! What a tool would do, in the form that viewers show: commands in pieces, edits line by line.

use callgate_mask::text::{LineChange, OmittedLines, diff};
use callgate_wire::desk::{
    CardContent, ChangedLine, CommandSegment, ContentChange, LineOperation, SegmentStyle,
};

use crate::card::{CardBody, FileChange};
use crate::rule_desk::RuleDesk;

/// Returns the content of a card.
pub(super) fn content_of(body: &CardBody, rules: Option<&dyn RuleDesk>) -> CardContent {
    match body {
        CardBody::Command { command, description } => CardContent::Command {
            segments: segments_of(command, rules),
            description: description.clone(),
        },
        CardBody::Write { path, content } => CardContent::Write {
            path: path.clone(),
            lines: content.lines().count() as u64,
            content: content.clone(),
        },
        CardBody::Edit { path, changes } => CardContent::Edit {
            path: path.clone(),
            changes: changes.iter().map(change_of).collect(),
        },
        CardBody::Notebook { path, change, source } => CardContent::Notebook {
            path: path.clone(),
            what: change.clone(),
            content: source.clone(),
        },
        CardBody::Fetch { url, prompt } => {
            CardContent::Fetch { url: url.clone(), what: prompt.clone() }
        }
        CardBody::Plan(plan) => CardContent::Plan { markdown: plan.clone() },
        CardBody::Questions(all) => CardContent::Ask { question: all.join("\n"), detail: None },
        CardBody::Question { question, details } => {
            CardContent::Ask { question: question.clone(), detail: details.clone() }
        }
        CardBody::Mcp { server, tool, input } => {
            CardContent::Mcp { server: server.clone(), tool: tool.clone(), input: input.clone() }
        }
        CardBody::Other(input) => CardContent::Other { input: input.clone() },
    }
}

/// Splits a command into pieces. Pieces that do not add up to exactly the command are not shown.
fn segments_of(command: &str, rules: Option<&dyn RuleDesk>) -> Vec<CommandSegment> {
    let segments = rules.map(|rules| rules.segments(command)).unwrap_or_default();
    let joined: String = segments.iter().map(|segment| segment.text.as_str()).collect();
    if joined == command {
        return segments;
    }
    vec![CommandSegment { text: command.to_owned(), style: SegmentStyle::Unclear, breaks: false }]
}

fn change_of(change: &FileChange) -> ContentChange {
    ContentChange { everywhere: change.everywhere, lines: lines_of(&change.old, &change.new) }
}

/// Returns the lines that differ. Only unchanged lines are left out; the numbers show where.
fn lines_of(old: &str, new: &str) -> Vec<ChangedLine> {
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
        let lines = lines_of(old, new).into_iter().map(|line| {
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
        let lines = lines_of("", &long);
        assert_eq!(lines.len(), 2_000, "every added line is shown");
        assert_eq!(lines[1_999].new, Some(2_000));
    }
}
