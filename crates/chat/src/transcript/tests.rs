//! Events as rows.

use callgate_wire::session::{ToolProgress, ToolStream};
use expect_test::expect;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::styled_text::tests::page;

fn call(id: &str) -> SessionEvent {
    SessionEvent::ToolUse(ToolUse::new(
        id.to_owned(),
        "read_file".to_owned(),
        to_raw_value(&json!({"path": id})).unwrap(),
    ))
}

fn result(id: &str) -> SessionEvent {
    SessionEvent::ToolResult(ToolResult {
        tool_id: id.to_owned(),
        tool_name: "read_file".to_owned(),
        result: to_raw_value(&json!({"totalLines": 2})).unwrap(),
        is_error: Some(false),
    })
}

#[test]
fn results_are_shown_in_full_one_after_the_other() {
    let page = page(40);
    let mut transcript = Transcript::default();
    let output = |id: &str, lines: usize| {
        let text: Vec<String> = (0..lines).map(|number| format!("{id}{number}")).collect();
        let text = text.join("\n");
        SessionEvent::ToolResult(ToolResult {
            tool_id: id.to_owned(),
            tool_name: "run_shell_command".to_owned(),
            result: to_raw_value(&json!({"exitCode": 0, "stdout": text})).unwrap(),
            is_error: Some(false),
        })
    };
    for (id, lines) in [("a", 20), ("b", 2), ("c", 9)] {
        transcript.draw_event(&call(id), &page);
        transcript.draw_event(&output(id, lines), &page);
    }
    let brief = transcript.take_rows().join("\n");
    assert!(brief.contains("… 12 more lines · Ctrl-O shows all"), "{brief}");
    assert!(!brief.contains("a0") && !brief.contains("c0") && brief.contains("b0"), "{brief}");
    // The last one first; what was shown as a whole is not shown again.
    for id in ["c", "a"] {
        assert!(transcript.show_in_full(&page));
        let full = transcript.take_rows().join("\n");
        assert!(full.contains(&format!("✓ Read a file · {id}\n  {id}0\n  {id}1\n")), "{full}");
    }
    assert!(!transcript.show_in_full(&page));
    // A result that is only counted has a text, too.
    transcript.draw_event(&call("d"), &page);
    let result = to_raw_value(&json!({"content": "the text", "totalLines": 1})).unwrap();
    let (tool_id, tool_name) = ("d".to_owned(), "read_file".to_owned());
    let result = ToolResult { tool_id, tool_name, result, is_error: Some(false) };
    transcript.draw_event(&SessionEvent::ToolResult(result), &page);
    assert!(transcript.take_rows().join("\n").ends_with("  1 line"));
    assert!(transcript.show_in_full(&page));
    assert!(transcript.take_rows().join("\n").ends_with("  the text"));
}

fn input(id: &str, text: &str) -> SessionEvent {
    let (tool_id, tool_name, text) = (id.to_owned(), "read_file".to_owned(), text.to_owned());
    SessionEvent::ToolInput(ToolInput { tool_id, tool_name, deed: None, text })
}

#[test]
fn a_call_takes_the_place_of_its_draft_and_a_retry_drops_it() {
    let page = page(40);
    let mut transcript = Transcript::default();
    let token = SessionEvent::Token("I look.".to_owned());
    for event in [token, input("a", "{\"path\": \"a"), input("b", "{\"pa"), input("a", "\"}")] {
        transcript.draw_event(&event, &page);
    }
    assert_eq!(transcript.live_rows(&page), ["", "○ Read a file · a", "○ Read a file"]);
    transcript.draw_event(&call("a"), &page);
    assert_eq!(transcript.live_rows(&page), ["", "● Read a file · a", "○ Read a file"]);
    transcript.draw_event(&SessionEvent::notice("retry", "again"), &page);
    assert_eq!(transcript.live_rows(&page), ["", "● Read a file · a", "· again"]);
    transcript.draw_event(&result("a"), &page);
    transcript.draw_event(&input("c", "{}"), &page);
    transcript.end_answer(&page);
    let rows = transcript.take_rows().join("\n");
    assert!(
        rows.ends_with("✓ Read a file · a\n  2 lines\n\n✗ Read a file (not finished)"),
        "{rows}"
    );
}

fn retry(cause: &str, seconds: &str) -> SessionEvent {
    SessionEvent::notice("retry", format!("{cause} (trying again in {seconds} s)"))
}

#[test]
fn retries_are_one_row_which_the_next_event_makes_final() {
    let page = page(60);
    let mut transcript = Transcript::default();
    for seconds in ["0.5", "1.0", "30.0"] {
        transcript.draw_event(&retry("no route", seconds), &page);
        transcript.draw_event(&SessionEvent::notice("working", "waiting for the model"), &page);
        let row = format!("· no route (trying again in {seconds} s)");
        assert_eq!(transcript.live_rows(&page), [row]);
        assert!(transcript.take_rows().is_empty());
    }
    transcript.draw_event(&SessionEvent::Token("So.".to_owned()), &page);
    assert_eq!(transcript.live_rows(&page), ["", "So."]);
    transcript.end_answer(&page);
    let rows = transcript.take_rows();
    assert_eq!(rows, ["· no route (trying again in 30.0 s)", "", "So."]);
    // An answer that ends while it waits leaves the last one, too.
    transcript.draw_event(&retry("no route", "0.5"), &page);
    transcript.end_answer(&page);
    assert_eq!(transcript.take_rows(), ["", "· no route (trying again in 0.5 s)"]);
    assert!(transcript.live_rows(&page).is_empty());
}

#[test]
fn where_rows_stay_a_retry_is_printed_once_for_each_cause() {
    let page = page(60);
    let mut transcript = Transcript::default();
    transcript.print_lines();
    let causes = [("no route", "0.5"), ("no route", "1.0"), ("overloaded", "2.0")];
    for (cause, seconds) in causes {
        transcript.draw_event(&retry(cause, seconds), &page);
    }
    let rows = transcript.take_rows().concat();
    assert_eq!(rows, "· no route (trying again in 0.5 s)· overloaded (trying again in 2.0 s)");
    transcript.draw_event(&SessionEvent::Token("So.".to_owned()), &page);
    transcript.draw_event(&retry("overloaded", "0.5"), &page);
    let rows = transcript.take_rows().concat();
    assert_eq!(rows, "So.· overloaded (trying again in 0.5 s)");
}

#[test]
fn parts_are_separated_and_what_is_open_is_live() {
    let page = page(40);
    let mut transcript = Transcript::default();
    transcript.user_message("look\nat it", &["notes.txt".to_owned()], &page);
    let token = |text: &str| SessionEvent::Token(text.to_owned());
    let thinking = |text: &str| SessionEvent::Thinking(text.to_owned());
    let before = [
        thinking("I sho"),
        thinking("uld look."),
        token("\n\nI "),
        token("look.\nAt"),
        token(" once."),
    ];
    for event in &before {
        transcript.draw_event(event, &page);
    }
    assert_eq!(transcript.live_rows(&page), ["I look.", "At once."]);
    for event in [call("a"), call("b"), result("a")] {
        transcript.draw_event(&event, &page);
    }
    let progress =
        ToolProgress { tool_id: "b".into(), stream: ToolStream::Stdout, text: "x\n".into() };
    transcript.draw_event(&SessionEvent::ToolProgress(progress), &page);
    assert_eq!(transcript.live_rows(&page), ["● Read a file · b", "  x"]);
    for event in [result("b"), token("Done."), SessionEvent::notice("retry", "trying again")] {
        transcript.draw_event(&event, &page);
    }
    transcript.draw_event(&call("lost"), &page);
    transcript.end_answer(&page);
    expect![[r"

        › look
          at it
          + notes.txt

        · thought, 3 words
        I look.
        At once.

        ✓ Read a file · a
          2 lines
        ✓ Read a file · b
          2 lines

        Done.

        · trying again

        ✗ Read a file · lost (no result)
    "]]
    .assert_eq(&(transcript.take_rows().join("\n") + "\n"));
    assert_eq!(transcript.live_rows(&page), Vec::<String>::new());
}
