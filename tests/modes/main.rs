//! What each real agent does in each of its modes with callgate in its settings. The tables of
//! docs/guide/modes.md are generated here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod blocked;
mod broken;
mod gate;
mod memory;
mod settings;
mod table;
mod unreadable;

use callgate_testkit::messages::ToolCheck;
use callgate_testkit::trial::{AgentProgram, TrialMode};

use gate::{Desk, Gate, Played};
use table::{Table, compare};

/// One command for each thing that rules can say, with the file that it makes.
const COMMANDS: [(&str, &str); 6] = [
    ("touch allowed", "allowed"),
    ("touch denied", "denied"),
    ("touch asked", "asked"),
    ("touch .gemini/settings.json", ".gemini/settings.json"),
    ("touch unnamed", "unnamed"),
    // The variable is not set, which callgate cannot know.
    ("touch $UNSET unclear", "unclear"),
];

/// A way to start an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// How its user would start it.
    shown: &'static str,
    mode: TrialMode<'static>,
    /// Whether the vendor's own check of commands can be reached, and lets all of them pass.
    is_checked: bool,
}

const fn claude(shown: &'static str, mode: &'static str, is_attended: bool) -> Start {
    let agent = AgentProgram::Claude;
    let mode = TrialMode { agent, mode, is_attended, is_escalated: false };
    Start { shown, mode, is_checked: false }
}

/// Claude Code in plan mode, whose vendor lets commands pass.
const fn checked_plan(shown: &'static str, is_attended: bool) -> Start {
    Start { is_checked: true, ..claude(shown, PLAN, is_attended) }
}

const fn codex(
    shown: &'static str,
    mode: &'static str,
    is_attended: bool,
    is_escalated: bool,
) -> Start {
    let agent = AgentProgram::Codex;
    let mode = TrialMode { agent, mode, is_attended, is_escalated };
    Start { shown, mode, is_checked: false }
}

/// The mode in which Claude Code has commands checked at its vendor's whatever a hook says.
const PLAN: &str = "plan";

const CLAUDE: Start = claude("`claude`", "", true);
const CLAUDE_DEFAULT: Start = claude("`claude`, default mode", "default", true);
const CLAUDE_BYPASS: Start = claude("`claude`, bypassPermissions mode", "bypassPermissions", true);
const PRINT: Start = claude("`claude -p`", "", false);
const PRINT_AUTO: Start = claude("`claude -p`, auto mode", "auto", false);
const PRINT_DONT_ASK: Start = claude("`claude -p`, dontAsk mode", "dontAsk", false);
const PRINT_BYPASS: Start =
    claude("`claude -p`, bypassPermissions mode", "bypassPermissions", false);
const CODEX: Start = codex("`codex`", "", true, false);
const CODEX_ESCALATED: Start = codex("`codex`, out of its sandbox", "", true, true);
const EXEC: Start = codex("`codex exec`", "", false, false);

/// Every mode.
const ALL: [Start; 20] = [
    CLAUDE,
    CLAUDE_DEFAULT,
    claude("`claude`, acceptEdits mode", "acceptEdits", true),
    claude("`claude`, auto mode", "auto", true),
    claude("`claude`, dontAsk mode", "dontAsk", true),
    CLAUDE_BYPASS,
    checked_plan("`claude`, plan mode", true),
    claude("`claude`, plan mode, check out of reach", PLAN, true),
    PRINT,
    claude("`claude -p`, acceptEdits mode", "acceptEdits", false),
    PRINT_AUTO,
    PRINT_DONT_ASK,
    PRINT_BYPASS,
    checked_plan("`claude -p`, plan mode", false),
    claude("`claude -p`, plan mode, check out of reach", PLAN, false),
    CODEX,
    CODEX_ESCALATED,
    codex("`codex`, approval policy never", "never", true, false),
    EXEC,
    codex("`codex exec`, without a sandbox", "bypass", false, false),
];

/// Modes in which the agent asks nobody.
const UNATTENDED: [Start; 5] = [CLAUDE, PRINT_AUTO, PRINT_DONT_ASK, CLAUDE_BYPASS, EXEC];

/// One of each kind.
const SOME: [Start; 7] = [CLAUDE, CLAUDE_DEFAULT, PRINT, PRINT_AUTO, PRINT_BYPASS, CODEX, EXEC];

/// The columns of most tables, in the order of [`COMMANDS`].
const COLUMNS: &[&str] =
    &["an allow rule", "a deny rule", "an ask rule", "guarded", "no rule", "not understood"];

const TABLES: [Table; 6] = [
    Table {
        name: "yes",
        columns: COLUMNS,
        starts: &ALL,
        row: |start| row(start, Desk::Answers, ""),
    },
    Table {
        name: "nobody",
        columns: COLUMNS,
        starts: &SOME,
        row: |start| row(start, Desk::Nobody, ""),
    },
    Table {
        name: "unattended ask",
        columns: COLUMNS,
        starts: &UNATTENDED,
        row: |start| row(start, Desk::Answers, "gate.unattended = \"ask\""),
    },
    Table {
        name: "absent agent",
        columns: COLUMNS,
        starts: &SOME,
        row: |start| row(start, Desk::Absent, ""),
    },
    Table {
        name: "absent deny",
        columns: COLUMNS,
        starts: &SOME,
        row: |start| row(start, Desk::Absent, "gate.when_absent = \"deny\""),
    },
    Table {
        name: "broken",
        columns: &["killed", "half an answer", "out of time"],
        starts: &[CLAUDE_DEFAULT, PRINT, PRINT_AUTO, CODEX, EXEC],
        row: broken::row,
    },
];

/// Runs one row of a table. Returns `None` where the agent is absent.
fn row(start: Start, desk: Desk, settings: &str) -> Option<Vec<&'static str>> {
    let commands = COMMANDS.map(|(command, _)| command);
    let check = start.is_checked.then_some(ToolCheck::Passed);
    let played = Gate::checked(start.mode, &commands, desk, settings, check)?.play(&commands);
    let about = format!("{}, {desk:?}, {settings}", start.shown);
    let numbers = 0..COMMANDS.len();
    Some(numbers.map(|at| cell(&played, desk, start, at, COMMANDS[at], &about)).collect())
}

/// Says in few words what became of a command, by its place among those of the model and the file
/// that it makes.
fn cell(
    played: &Played,
    desk: Desk,
    start: Start,
    at: usize,
    (command, file): (&str, &str),
    about: &str,
) -> &'static str {
    let about = format!("{about}, {command}: {:?}", played.outcome.results);
    let has_run = played.outcome.made(file);
    let told = played.outcome.results.get(at).unwrap_or_else(|| panic!("nothing told: {about}"));
    let has_dialog = played.dialogs.iter().any(|it| it == command);
    let questions = played.questions.iter().filter(|(_, asked)| asked == command);
    let questions: Vec<&str> = questions.map(|(event, _)| event.as_str()).collect();
    // Nobody is asked twice.
    assert!(questions.len() <= 1, "{questions:?}: {about}");
    let is_answered = desk == Desk::Answers && !questions.is_empty();
    // Every question was answered with yes, which in plan mode is not enough.
    assert!(has_run || start.mode.mode == PLAN || !(is_answered || has_dialog), "{about}");
    match (has_run, is_answered, has_dialog) {
        (false, true, _) => "desk, and agent refuses",
        // It was asked before the agent's own question, and not at the same time.
        (true, true, true) if questions[0] == "PreToolUse" => "desk, then dialog",
        (true, true, true) => "desk and dialog",
        (true, true, false) => "desk",
        (true, false, true) => "dialog",
        (true, false, false) => "runs",
        (false, ..) if told.contains("not on my watch") => "denied",
        (false, ..) if told.contains("A person has to allow this") => "denied, nobody there",
        (false, ..) if told.contains("No rule allows this") => "denied, no rule",
        (false, ..) => "agent refuses",
    }
}

/// All tables are as the agents do it.
#[test]
fn the_guide_tells_what_agents_do_in_each_mode() {
    compare(&TABLES);
}
