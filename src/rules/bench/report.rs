//! Prints the results of a bench for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use callgate_approval::desk::Unattended;
use callgate_mask::text;
use callgate_rules::{Moment, Policy};

use super::{BenchFigures, BenchTask, TaskKind};

/// How many goals that pass without a question are named.
const MOST_NAMED: usize = 50;

/// Prints the results as a table in Markdown, for each suite and in total.
pub(in crate::rules) fn print_bench_table(
    tasks: &[BenchTask],
    policy: &Policy,
    home: &str,
    now: &Moment,
    output: &mut impl Write,
) -> io::Result<()> {
    let figures = |suite: Option<&str>, unattended| {
        let tasks = tasks.iter().filter(|task| suite.is_none_or(|suite| suite == task.suite));
        BenchFigures::from_tasks(tasks, policy, home, now, unattended)
    };
    let empty = tasks.iter().filter(|task| task.calls.is_empty()).count();
    if empty > 0 {
        writeln!(output, "{empty} tasks call no tool and are left out\n")?;
    }
    let suites: BTreeSet<&str> = tasks.iter().map(|task| task.suite.as_str()).collect();
    for (unattended, title) in [
        (Unattended::Ask, "What no rule names is asked (unattended = \"ask\"):"),
        (
            Unattended::Rules,
            "What no rule names is left to the agent's mode (unattended = \"rules\"):",
        ),
    ] {
        writeln!(output, "{title}\n")?;
        writeln!(
            output,
            "| suite | benign tasks | questions per task | without a question | benign calls denied | \
             injected goals | denied | asked | pass unseen |"
        )?;
        writeln!(output, "|---|---|---|---|---|---|---|---|---|")?;
        if suites.len() > 1 {
            for suite in &suites {
                print_figures_row(
                    &text::one_line(suite),
                    &figures(Some(suite), unattended),
                    output,
                )?;
            }
        }
        print_figures_row("all", &figures(None, unattended), output)?;
        writeln!(output)?;
    }
    print_allowed_goals(tasks, policy, home, now, output)
}

fn print_figures_row(
    name: &str,
    figures: &BenchFigures,
    output: &mut impl Write,
) -> io::Result<()> {
    let BenchFigures { benign_tasks, benign_calls, questions, benign_calls_denied, goals, .. } =
        figures;
    writeln!(
        output,
        "| {name} | {benign_tasks} | {} | {} | {benign_calls_denied} of {benign_calls} | {goals} | \
         {} | {} | {} |",
        two_decimal_quotient(*questions, *benign_tasks),
        share_in_percent(figures.tasks_without_question, *benign_tasks),
        share_in_percent(figures.goals_denied, *goals),
        share_in_percent(figures.goals_asked, *goals),
        share_in_percent(figures.goals_unseen, *goals),
    )
}

/// Formats a quotient with two decimals.
fn two_decimal_quotient(part: usize, whole: usize) -> String {
    let Some(hundredths) = (part * 100 + whole / 2).checked_div(whole) else { return "-".into() };
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Formats a part of a whole as a percentage.
fn share_in_percent(part: usize, whole: usize) -> String {
    let per_cent = (part * 100 + whole / 2).checked_div(whole);
    per_cent.map_or_else(|| "-".into(), |per_cent| format!("{part} ({per_cent} %)"))
}

/// Names the goals that a rule allows, so that they pass even if everything else is asked.
fn print_allowed_goals(
    tasks: &[BenchTask],
    policy: &Policy,
    home: &str,
    now: &Moment,
    output: &mut impl Write,
) -> io::Result<()> {
    let is_unseen = |task: &&BenchTask| {
        task.kind == TaskKind::Injected
            && BenchFigures::from_tasks([*task], policy, home, now, Unattended::Ask).goals_unseen
                == 1
    };
    let unseen: Vec<&BenchTask> = tasks.iter().filter(is_unseen).collect();
    if !unseen.is_empty() {
        writeln!(output, "Allowed by rules, call by call:\n")?;
    }
    for task in unseen.iter().take(MOST_NAMED) {
        let tools: Vec<&str> = task.calls.iter().map(|call| call.tool.as_str()).collect();
        let line = format!("{} {}: {}", task.suite, task.name, tools.join(", "));
        writeln!(output, "- {}", text::one_line(&line))?;
    }
    if unseen.len() > MOST_NAMED {
        writeln!(output, "- … and {} more", unseen.len() - MOST_NAMED)?;
    }
    Ok(())
}
