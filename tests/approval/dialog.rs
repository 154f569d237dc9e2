//! The real Claude Code CLI at a terminal, where its own dialog and the phone ask at the same time.

use callgate_testkit::claude::Claude;
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::telegram::{Message, Toast};
use callgate_testkit::terminal::Terminal;

use crate::cli::{claude, runs};
use crate::fixture::{ADA, Stage};

/// Somebody at a terminal whose agent wants to run `touch x`, which the phone shows, too.
struct Seat {
    terminal: Terminal,
    question: Message,
    claude: Claude,
    fake: Messages,
    stage: Stage,
}

impl Seat {
    fn take() -> Self {
        let stage = Stage::new();
        let fake = Messages::start([runs("touch x")]);
        let claude = claude(&stage, &fake).at_terminal("Go");
        let terminal = Terminal::spawn(&claude.command());
        terminal.wait_for("Do you want to proceed?");
        terminal.wait_for("Escape to cancel");
        let question = stage.question("touch x");
        Self { terminal, question, claude, fake, stage }
    }

    fn has_run(&self) -> bool {
        self.claude.work().join("x").exists()
    }

    /// Chooses the answer of the dialog that begins with this.
    fn choose(&mut self, answer: &str) {
        let written = self.terminal.written();
        let starts = format!(". {answer}");
        let line = written.lines().find(|line| line.trim_end().ends_with(&starts));
        let line = line.unwrap_or_else(|| panic!("no {answer:?} in {written:?}"));
        self.terminal.press(line.split('.').next().unwrap());
        self.terminal.press("\r");
    }

    /// Somebody presses on the phone what is no longer to be pressed.
    fn press_late(&self) -> Toast {
        let data = &self.question.button("Allow").unwrap().data;
        self.stage.told(&self.stage.phone.press_data(ADA, ADA, self.question.id, data))
    }

    /// The turn is over at the terminal; the agent is sent away.
    fn leave(mut self) -> Stage {
        self.fake.assert_played();
        self.terminal.press("/exit\r");
        assert!(self.terminal.end().success());
        self.stage
    }
}

#[test]
fn an_answer_on_the_phone_closes_the_dialog() {
    if Claude::find().is_none() {
        return;
    }
    let seat = Seat::take();
    seat.fake.extend([Turn::text("All is well")]);
    assert!(!seat.has_run());
    seat.stage.press(&seat.question, "Allow");
    // Nobody has pressed a key.
    seat.terminal.wait_for("claude: All is well");
    assert!(seat.has_run());
    let result = &seat.fake.last().tool_results()[0];
    assert!(!result.is_error, "{result:?}");
    seat.stage.shows(&seat.question, "Allowed by Ada");
    let stage = seat.leave();
    stage.assert_story(
        "touch x",
        &[
            "asked",
            "pressed allow: decided",
            "decided allow by Ada",
            "delivered",
            "closed: Allowed by Ada",
            "ran, ok: true",
        ],
    );
}

#[test]
fn a_yes_at_the_terminal_closes_the_question_on_the_phone() {
    if Claude::find().is_none() {
        return;
    }
    let mut seat = Seat::take();
    seat.fake.extend([Turn::text("All is well")]);
    seat.choose("Yes");
    seat.terminal.wait_for("claude: All is well");
    assert!(seat.has_run());
    let now = seat.stage.shows(&seat.question, "Answered at the agent's own terminal");
    assert!(now.shape.buttons.is_empty());
    let told = seat.press_late();
    assert!(
        told.alert && told.text == "Too late. Answered at the agent's own terminal.",
        "{told:?}"
    );
    let stage = seat.leave();
    stage.assert_story(
        "touch x",
        &[
            "asked",
            "ran, ok: true",
            "closed: Answered at the agent's own terminal",
            "pressed allow: late",
        ],
    );
}

/// Says no at the terminal in one of the ways there are.
fn check_no(say_no: impl FnOnce(&mut Seat)) {
    if Claude::find().is_none() {
        return;
    }
    let mut seat = Seat::take();
    say_no(&mut seat);
    // The CLI sends the hook away, and the desk sees it go.
    let now = seat.stage.shows(&seat.question, "The agent went away");
    assert!(now.shape.buttons.is_empty());
    let told = seat.press_late();
    assert!(told.alert && told.text == "Too late. The agent went away.", "{told:?}");
    seat.terminal.wait_for("Interrupted");
    assert!(!seat.has_run());
    let stage = seat.leave();
    stage.assert_story("touch x", &["asked", "closed: The agent went away", "pressed allow: late"]);
}

#[test]
fn a_no_at_the_terminal_closes_the_question_on_the_phone() {
    check_no(|seat| seat.choose("No"));
}

#[test]
fn escape_at_the_terminal_closes_the_question_on_the_phone() {
    check_no(|seat| seat.terminal.press("\x1b"));
}
