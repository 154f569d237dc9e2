//! What the keys of the terminal mean.

mod looks;

use callgate_wire::approval::{AllowDemands, ApprovalRequest};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::channel::MarkState;

fn card(number: u8, tool: &str, input: &Value, more: &Value) -> Arc<Card> {
    let mut line = json!({
        "request_id": format!("550e8400-e29b-41d4-a716-4466554400{number:02}"),
        "tool_name": tool,
        "tool_input": input,
        "cwd": "/home/ada/engine",
        "session_id": "s1",
        "agent": "claude-code",
        "context": { "takes": ["always", "edit", "interrupt"] },
    });
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    let request = ApprovalRequest::decode(line.to_string().as_bytes()).unwrap();
    let asked_ms = 1_800_000_000_000;
    Arc::new(Card::new(&request, request.tool_input.get(), asked_ms, asked_ms + 300_000))
}

fn build(number: u8) -> Arc<Card> {
    let suggestions = json!([{ "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "make *" }], "behavior": "allow", "destination": "session" }]);
    let more = json!({ "permission_suggestions": suggestions });
    card(number, "Bash", &json!({ "command": "make build", "description": "Build" }), &more)
}

fn show(card: Arc<Card>) -> ChannelOrder {
    ChannelOrder::Show { card, chats: Vec::new(), within: Duration::from_mins(5) }
}

/// A terminal and a clock that the tests turn.
struct Seat {
    terminal: Terminal,
    now: Duration,
}

impl Seat {
    fn new() -> Self {
        Self { terminal: Terminal::new("ada", false), now: Duration::from_secs(5) }
    }

    fn order(&mut self, order: ChannelOrder) -> String {
        self.terminal.handle_order(self.now, order)
    }

    /// A key right now.
    fn tap(&mut self, key: char) -> (String, Option<ChannelReport>) {
        self.terminal.handle_key(self.now, TerminalKey::Char(key))
    }

    /// A key of somebody who has read what is shown.
    fn key(&mut self, key: TerminalKey) -> (String, Option<ChannelReport>) {
        self.now += PAUSE;
        self.terminal.handle_key(self.now, key)
    }

    fn paste(&mut self, text: &str) -> Vec<(String, Option<ChannelReport>)> {
        self.now += PAUSE;
        text.chars().map(|c| self.terminal.handle_key(self.now, TerminalKey::Pasted(c))).collect()
    }
}

fn pressed(seat: &mut Seat, key: char) -> Option<Press> {
    press_of(seat.key(TerminalKey::Char(key)).1)
}

fn press_of(news: Option<ChannelReport>) -> Option<Press> {
    match news? {
        ChannelReport::Pressed { press, reply_to: ReplyTo::Key, .. } => Some(press),
        other => panic!("{other:?}"),
    }
}

const NOTHING: (String, Option<ChannelReport>) = (String::new(), None);

/// A question is over.
fn over(number: u8) -> ChannelOrder {
    let mark = QuestionMark { state: MarkState::Gone, text: "The agent went away".to_owned() };
    ChannelOrder::Mark { card: build(number), copies: Vec::new(), mark }
}

fn check(card: Arc<Card>, expected: &Expect) {
    expected.assert_eq(&Seat::new().order(show(card)));
}

/// A script's question with this many answers.
fn many_choices(count: usize) -> Arc<Card> {
    let choices: Vec<String> = (1..=count).map(|number| format!("answer {number}")).collect();
    card(1, "Ask", &json!({ "question": "Which?", "choices": choices }), &json!({}))
}

/// A path in the reason of a rule, or the words of an agent, must not draw another question over
/// the one that the keys answer.
#[test]
fn no_words_draw_over_a_question() {
    let forged = "\u{1b}[2J\nclaude-code wants to run a command in /p\n  ls\na allow";
    let mut asked = Card::clone(&build(1));
    asked.row.because = Some(format!("`/etc/{forged}` is outside"));
    let mut seat = Seat::new();
    let shown = seat.order(show(Arc::new(asked)));
    let said = seat.order(ChannelOrder::Say { chats: Vec::new(), text: forged.to_owned() });
    for printed in [&shown, &said] {
        assert!(!printed.contains('\u{1b}'), "{printed}");
        assert!(!printed.contains("\n  ls\n"), "{printed}");
    }
    // What was said stands above the question, which has to be looked at again.
    assert!(said.contains("make build"), "{said}");
    assert_eq!(seat.tap('a'), NOTHING);
    assert_eq!(pressed(&mut seat, 'a'), Some(Press::Button(Action::Allow)));
}

#[test]
fn more_than_nine_answers_are_chosen_by_a_number_and_enter() {
    let mut terminal = Seat::new();
    let printed = terminal.order(show(many_choices(12)));
    assert!(printed.contains("     9 answer 9\n") && printed.contains("    12 answer 12\n"));
    assert!(printed.contains("1-12 and Enter, choose"), "{printed}");
    // The first digit alone chooses nothing.
    let (printed, news) = terminal.key(TerminalKey::Char('1'));
    assert!(printed.ends_with(": 1") && news.is_none(), "{printed}");
    assert_eq!(terminal.tap('x'), NOTHING);
    assert_eq!(terminal.tap('2'), ("2".to_owned(), None));
    let press = press_of(terminal.key(TerminalKey::Enter).1);
    assert_eq!(press, Some(Press::Button(Action::Pick { question: 0, option: 11 })));
    // What is not there is not chosen, and a digit can be taken back.
    terminal.key(TerminalKey::Char('1'));
    terminal.tap('3');
    let (printed, news) = terminal.key(TerminalKey::Enter);
    assert!(printed.contains("There is no such answer.") && news.is_none(), "{printed}");
    terminal.key(TerminalKey::Char('1'));
    terminal.tap('3');
    terminal.key(TerminalKey::Backspace);
    terminal.tap('0');
    let press = press_of(terminal.key(TerminalKey::Enter).1);
    assert_eq!(press, Some(Press::Button(Action::Pick { question: 0, option: 9 })));
    // Escape goes back to the keys.
    terminal.key(TerminalKey::Char('1'));
    terminal.key(TerminalKey::Escape);
    assert_eq!(pressed(&mut terminal, 'd'), Some(Press::Button(Action::Deny)));
}

#[test]
fn a_number_for_a_question_that_is_over_goes_nowhere() {
    let mut terminal = Seat::new();
    terminal.order(show(many_choices(12)));
    terminal.order(show(build(2)));
    terminal.key(TerminalKey::Char('1'));
    let printed = terminal.order(over(1));
    assert!(printed.contains("are not sent"), "{printed}");
    assert_eq!(terminal.key(TerminalKey::Char('1')), NOTHING, "it is not for the next question");
    terminal.key(TerminalKey::Enter);
    assert_eq!(pressed(&mut terminal, '1'), Some(Press::Button(Action::Always(0))));
}

#[test]
fn nine_answers_are_chosen_by_one_key() {
    let mut terminal = Seat::new();
    terminal.order(show(many_choices(9)));
    let press = pressed(&mut terminal, '9');
    assert_eq!(press, Some(Press::Button(Action::Pick { question: 0, option: 8 })));
}

#[test]
fn keys_answer_the_question_that_is_shown() {
    let mut terminal = Seat::new();
    assert_eq!(terminal.key(TerminalKey::Char('a')), (String::new(), None));
    terminal.order(show(build(1)));
    assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)));
    assert_eq!(pressed(&mut terminal, 'd'), Some(Press::Button(Action::Deny)));
    assert_eq!(pressed(&mut terminal, 's'), Some(Press::Button(Action::Stop)));
    assert_eq!(pressed(&mut terminal, '1'), Some(Press::Button(Action::Always(0))));
    assert_eq!(pressed(&mut terminal, '2'), None);
    assert_eq!(pressed(&mut terminal, '0'), None);
    assert_eq!(pressed(&mut terminal, 'x'), None);
    for capital in ['A', 'D', 'S', 'R', 'F', 'N'] {
        let (printed, news) = terminal.key(TerminalKey::Char(capital));
        assert!(printed.starts_with("a allow") && news.is_none(), "{capital}: {printed}");
    }
}

#[test]
fn one_question_after_the_other() {
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    assert_eq!(terminal.order(show(build(2))), "(1 more waiting)\n");
    assert_eq!(terminal.order(show(build(2))), "", "it is there already");
    let mark = QuestionMark { state: MarkState::Allowed, text: "Allowed by ada".to_owned() };
    let order = ChannelOrder::Mark { card: build(1), copies: Vec::new(), mark: mark.clone() };
    let printed = terminal.order(order);
    assert!(
        printed.starts_with("✓ Allowed by ada: make build\n\nClaude Code wants to run"),
        "{printed}"
    );
    terminal.order(show(build(3)));
    let (printed, _) = terminal.key(TerminalKey::Char('n'));
    assert!(printed.contains("(1 more waiting"));
    let order = ChannelOrder::Mark { card: build(2), copies: Vec::new(), mark };
    assert_eq!(terminal.order(order), "✓ Allowed by ada: make build\n", "it was not shown");
}

#[test]
fn a_question_whose_answer_waits_for_its_agent_makes_room_for_the_next() {
    let mut seat = Seat::new();
    seat.order(show(build(1)));
    seat.order(show(card(2, "Bash", &json!({ "command": "make two" }), &json!({}))));
    let text = "Allowed by ada. box cannot be reached, and gets it when it is back.".to_owned();
    let mark = QuestionMark { state: MarkState::Waiting, text };
    let shown = seat.order(ChannelOrder::Mark { card: build(1), copies: Vec::new(), mark });
    assert!(
        shown.contains("gets it when it is back: make build\n") && shown.contains("make two"),
        "{shown}"
    );
    let (_, news) = seat.key(TerminalKey::Char('a'));
    let Some(ChannelReport::Pressed { question, .. }) = news else { panic!("{news:?}") };
    assert!(question.as_str().ends_with("02"), "{question}");
    assert_eq!(seat.order(over(1)), "· The agent went away: make build\n", "it is said later");
}

#[test]
fn words_are_typed_corrected_sent_or_given_up() {
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    let (prompt, _) = terminal.key(TerminalKey::Char('r'));
    assert!(prompt.starts_with("Your words"));
    assert_eq!(terminal.key(TerminalKey::Enter).1, None, "no words are no answer");
    terminal.key(TerminalKey::Char('r'));
    for c in "nöx".chars() {
        assert_eq!(terminal.key(TerminalKey::Char(c)).0, c.to_string());
    }
    assert_eq!(terminal.key(TerminalKey::Backspace).0, "\u{8} \u{8}");
    let Some(ChannelReport::Pressed { press, .. }) = terminal.key(TerminalKey::Enter).1 else {
        panic!("no press")
    };
    assert_eq!(press, Press::Words("nö".to_owned()));
    terminal.key(TerminalKey::Char('r'));
    assert_eq!(terminal.key(TerminalKey::Escape).1, None);
    assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)));
}

#[test]
fn words_for_a_question_that_is_over_go_nowhere() {
    for end in [TerminalKey::Enter, TerminalKey::Escape] {
        let mut terminal = Seat::new();
        terminal.order(show(build(1)));
        terminal.order(show(build(2)));
        terminal.key(TerminalKey::Char('r'));
        terminal.key(TerminalKey::Char('w'));
        let printed = terminal.order(over(1));
        assert!(printed.starts_with("\n· The agent went away"), "{printed}");
        assert!(printed.contains("wants to run") && printed.ends_with(NOWHERE), "{printed}");
        for c in "a1 sd".chars() {
            assert_eq!(terminal.key(TerminalKey::Char(c)), NOTHING);
        }
        assert_eq!(terminal.key(TerminalKey::Backspace), NOTHING);
        assert!(terminal.paste("a").iter().all(|pasted| *pasted == NOTHING));
        let (printed, news) = terminal.key(end);
        assert!(printed.contains("wants to run") && !printed.contains(NOWHERE), "{printed}");
        assert_eq!(news, None, "{end:?} answers nothing");
        assert_eq!(terminal.tap('a'), NOTHING, "it has just appeared");
        assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)));
    }
}

#[test]
fn words_that_go_nowhere_do_not_hide_the_next_question() {
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    terminal.key(TerminalKey::Char('r'));
    assert!(terminal.order(over(1)).ends_with(NOWHERE));
    let printed = terminal.order(show(build(2)));
    assert!(printed.contains("wants to run") && printed.ends_with(NOWHERE), "{printed}");
    assert_eq!(terminal.key(TerminalKey::Char('a')), NOTHING);
}

#[test]
fn a_question_is_answered_only_after_it_can_be_seen() {
    let allow = Some(Press::Button(Action::Allow));
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    for key in ['a', 'd', 'r', 'n', 'f', 'x'] {
        assert_eq!(terminal.tap(key), NOTHING, "{key}");
    }
    terminal.now += PAUSE.mul_f32(0.99);
    assert_eq!(terminal.tap('a'), NOTHING);
    terminal.now += HELD;
    assert_eq!(press_of(terminal.tap('a').1), allow);
    // Another question behind it takes nothing from it.
    terminal.order(show(build(2)));
    assert_eq!(press_of(terminal.tap('a').1), allow);
    // The second tap of two meets the next question.
    terminal.order(over(1));
    terminal.now += Duration::from_millis(200);
    assert_eq!(terminal.tap('a'), NOTHING);
    assert_eq!(pressed(&mut terminal, 'a'), allow);
    terminal.order(show(build(3)));
    assert!(terminal.key(TerminalKey::Char('n')).0.contains("wants to run"));
    assert_eq!(terminal.tap('a'), NOTHING, "another one was turned up");
}

#[test]
fn a_key_that_is_held_down_answers_one_question() {
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    for _ in 0..100 {
        terminal.now += Duration::from_millis(33);
        assert_eq!(terminal.tap('a'), NOTHING);
    }
    assert_eq!(press_of(terminal.tap('d').1), Some(Press::Button(Action::Deny)), "another key");
    assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)), "let go");
}

#[test]
fn a_question_that_was_printed_late_is_answered_later() {
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    let before = terminal.now + 2 * PAUSE;
    terminal.now += 4 * PAUSE;
    terminal.terminal.mark_printed(terminal.now);
    assert_eq!(
        terminal.terminal.handle_key(before, TerminalKey::Char('a')),
        NOTHING,
        "pressed before"
    );
    assert_eq!(terminal.tap('a'), NOTHING, "just printed");
    assert!(pressed(&mut terminal, 'a').is_some());
    terminal.terminal.mark_printed(terminal.now);
    assert!(press_of(terminal.tap('d').1).is_some(), "what is printed besides is no question");
}

#[test]
fn words_are_typed_without_a_pause() {
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    terminal.key(TerminalKey::Char('r'));
    let typed: String = "no way".chars().map(|c| terminal.tap(c).0).collect();
    assert_eq!(typed, "no way");
    assert_eq!(
        press_of(terminal.key(TerminalKey::Enter).1),
        Some(Press::Words("no way".to_owned()))
    );
}

#[test]
fn what_is_pasted_is_words_and_no_key() {
    let mut terminal = Seat::new();
    terminal.order(show(build(1)));
    assert!(terminal.paste("ad1rnf").iter().all(|pasted| *pasted == NOTHING));
    terminal.key(TerminalKey::Char('r'));
    terminal.paste("use a");
    assert_eq!(
        press_of(terminal.key(TerminalKey::Enter).1),
        Some(Press::Words("use a".to_owned()))
    );
}

#[test]
fn number_keys_choose_answers_one_question_at_a_time() {
    let questions = json!({ "questions": [
        { "question": "Colour?", "options": [{ "label": "Red" }, { "label": "Blue" }] },
        { "question": "Size?", "options": [{ "label": "S" }] },
    ]});
    let card = card(1, "AskUserQuestion", &questions, &json!({}));
    let mut terminal = Seat::new();
    terminal.order(show(Arc::clone(&card)));
    assert_eq!(pressed(&mut terminal, 'a'), None);
    let pick = |question, option| Some(Press::Button(Action::Pick { question, option }));
    assert_eq!(pressed(&mut terminal, '2'), pick(0, 1));
    let picks = vec![vec![1], vec![]];
    let printed = terminal.order(ChannelOrder::Redraw { card, copies: Vec::new(), picks });
    assert!(printed.contains("✓   Blue") && printed.contains("1 S"), "{printed}");
    assert_eq!(terminal.tap('1'), NOTHING, "the numbers have just got another meaning");
    assert_eq!(pressed(&mut terminal, '2'), None);
    assert_eq!(pressed(&mut terminal, '1'), pick(1, 0));
    assert_eq!(pressed(&mut terminal, 'o'), Some(Press::Button(Action::Done)));
}

#[test]
fn words_that_come_later_are_printed_alone() {
    let mut terminal = Seat::new();
    let card = build(1);
    let shown = terminal.order(show(Arc::clone(&card)));
    assert!(!shown.contains("I will build"), "{shown}");
    let with_words = |words: &str| {
        let mut card = Card::clone(&card);
        card.shown.last_words = Some(words.to_owned());
        Arc::new(card)
    };
    let redraw = |card| ChannelOrder::Redraw { card, copies: Vec::new(), picks: Vec::new() };
    let printed = terminal.order(redraw(with_words("I will build it.")));
    assert_eq!(printed, "“I will build it.”\n");
    assert_eq!(terminal.order(redraw(with_words("I will build it."))), "");
    // Nothing is printed between the words that somebody types.
    terminal.key(TerminalKey::Char('r'));
    assert_eq!(terminal.order(redraw(with_words("Something else."))), "");
}

fn blocked(number: u8) -> Arc<Card> {
    let reason = "it pushes to a shared branch.";
    let context = json!({ "event": "PermissionDenied", "mode": "auto", "reason": reason });
    let more = json!({ "context": context });
    card(number, "Bash", &json!({ "command": "git push" }), &more)
}

#[test]
fn a_blocked_call_is_answered_with_yes_or_no() {
    let mut seat = Seat::new();
    seat.order(show(blocked(1)));
    check(
        blocked(1),
        &expect![[r"

            Claude Code in /home/ada/engine: auto mode blocked a command
            session s1 · waits 5 min, until 08:05 UTC
            because it pushes to a shared branch
              git push
            Let it try again?   a yes   d no
        "]],
    );
    for key in ['r', 's', '1'] {
        assert_eq!(pressed(&mut seat, key), None, "{key}");
    }
    assert_eq!(pressed(&mut seat, 'a'), Some(Press::Button(Action::Allow)));
    assert_eq!(pressed(&mut seat, 'd'), Some(Press::Button(Action::Deny)));
}

#[test]
fn what_has_to_be_confirmed_is_allowed_with_a_typed_word() {
    let mut seat = Seat::new();
    let mut card = Arc::unwrap_or_clone(build(1));
    card.require_desk(true, AllowDemands::default());
    let shown = seat.order(show(Arc::new(card)));
    assert!(shown.contains("a confirm: type a word, then allow   d deny"), "{shown}");
    assert!(!shown.contains("always"), "{shown}");
    let (asked, news) = seat.key(TerminalKey::Char('a'));
    assert_eq!(asked, "To allow it, type the last word of the command (Esc goes back): ");
    assert_eq!(news, None);
    assert!(seat.paste("make").iter().all(|pasted| *pasted == NOTHING), "a paste is no typing");
    for c in "build".chars() {
        assert_eq!(seat.tap(c), (c.to_string(), None));
    }
    let Some(ChannelReport::Pressed { press, confirm, .. }) = seat.key(TerminalKey::Enter).1 else {
        panic!("nothing was pressed");
    };
    assert_eq!((press, confirm.as_deref()), (Press::Button(Action::Allow), Some("build")));
    // Without a word nothing is pressed, and a deny needs none.
    seat.key(TerminalKey::Char('a'));
    assert_eq!(seat.key(TerminalKey::Enter).1, None);
    assert_eq!(pressed(&mut seat, 'd'), Some(Press::Button(Action::Deny)));
}

#[test]
fn a_screen_that_was_away_shows_the_question_again_with_what_was_typed() {
    let mut terminal = Seat::new();
    assert_eq!(terminal.terminal.redraw(terminal.now), "");
    assert_eq!(terminal.terminal.open_questions().count(), 0);
    let shown = terminal.order(show(build(1)));
    terminal.order(show(card(2, "Bash", &json!({ "command": "make test" }), &json!({}))));
    let open: Vec<String> = terminal.terminal.open_questions().collect();
    let lines =
        ["make build", "make test"].map(|line| format!("Claude Code in /home/ada/engine: {line}"));
    assert_eq!(open, lines);
    terminal.key(TerminalKey::Char('r'));
    terminal.tap('n');
    let again = terminal.terminal.redraw(terminal.now);
    let more = "(1 more waiting; n shows the next)\n";
    let typed = "Your words to the agent (Enter sends, Esc goes back): n";
    assert_eq!(again, format!("{shown}{more}{typed}"));
    // A key that was meant for the shell answers nothing.
    terminal.key(TerminalKey::Escape);
    terminal.terminal.redraw(terminal.now);
    assert_eq!(terminal.tap('a'), NOTHING);
    assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)));
}
