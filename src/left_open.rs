//! What is said about the questions that a desk leaves open when it ends.

use std::fmt::Write as _;
use std::time::Duration;

use callgate_mask::text::counted_noun;

/// How many of the questions are named; the others are counted.
const MOST_NAMED: usize = 10;

/// Names the questions that a desk leaves open, and says what becomes of them. Hooks look for
/// another desk for the time of `grace`.
pub(crate) fn left_open(questions: &[String], grace: Duration) -> String {
    if questions.is_empty() {
        return String::new();
    }
    let (verb, agents) =
        if questions.len() == 1 { ("is", "Its agent waits") } else { ("are", "Their agents wait") };
    let mut text = format!(
        "{} {verb} still open. {agents} {} s for another `callgate up`:\n",
        counted_noun(questions.len(), "question"),
        grace.as_secs()
    );
    for question in questions.iter().take(MOST_NAMED) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {question}");
    }
    let more = questions.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn open_questions_are_named_and_the_rest_is_counted() {
        let questions = |count: usize| -> Vec<String> {
            (1..=count).map(|number| format!("Codex in /p: make {number}")).collect()
        };
        let said = |count: usize| left_open(&questions(count), Duration::from_secs(15));
        assert_eq!(said(0), "");
        expect![[r"
            1 question is still open. Its agent waits 15 s for another `callgate up`:
              Codex in /p: make 1
        "]]
        .assert_eq(&said(1));
        assert!(said(12).ends_with("  Codex in /p: make 10\n  and 2 more\n"), "{}", said(12));
    }
}
