//! What the terminal prints.

use super::*;

#[test]
fn questions_as_they_look() {
    check(
        build(1),
        &expect![[r"

            Claude Code wants to run a command in /home/ada/engine
            session s1 · waits 5 min, until 08:05 UTC
              make build
              # Build
            a allow   1 always: make * (for this session)   d deny   s deny and stop
            r reply
        "]],
    );
    let edit =
        json!({ "file_path": "/a.rs", "old_string": "one\ntwo\n", "new_string": "one\n2\n" });
    check(
        card(1, "Edit", &edit, &json!({})),
        &expect![[r"

            Claude Code wants to change a file in /home/ada/engine
            session s1 · waits 5 min, until 08:05 UTC
              /a.rs
               one
              -two
              +2
            a allow   d deny   s deny and stop   r reply
        "]],
    );
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn x()\n-old\n+new\n\
                 *** Add File: b.rs\n+all\n*** End Patch";
    check(
        card(1, "apply_patch", &json!({ "input": patch }), &json!({})),
        &expect![[r"

            Claude Code wants to change files in /home/ada/engine
            session s1 · waits 5 min, until 08:05 UTC
              Update a.rs
              @@ fn x()
              -old
              +new
              Add b.rs
              +all
            a allow   d deny   s deny and stop   r reply
        "]],
    );
    let long = (1..=30).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n") + "\n";
    let write = json!({ "file_path": "/a", "content": long });
    check(
        card(1, "Write", &write, &json!({ "context": null })),
        &expect![[r"

            Claude Code wants to write a file in /home/ada/engine
            session s1 · waits 5 min, until 08:05 UTC
              /a
              line 1
              line 2
              line 3
              line 4
              line 5
              line 6
              line 7
              line 8
              line 9
              line 10
              … 15 more lines: f shows them
              line 26
              line 27
              line 28
              line 29
              line 30
            f show all, to allow it   d deny   r reply
        "]],
    );
    let questions = json!({ "questions": [
        { "question": "Colour?", "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue" }] },
        { "question": "Size?", "options": [{ "label": "S" }] },
    ]});
    check(
        card(1, "AskUserQuestion", &questions, &json!({})),
        &expect![[r"

            Claude Code asks in /home/ada/engine
            session s1 · waits 5 min, until 08:05 UTC
              Colour?
                1 Red: warm
                2 Blue
              Size?
                  S
            1-9 choose   o done   d deny   s deny and stop   r answer in words
        "]],
    );
}

#[test]
fn a_question_says_whose_it_is_and_how_long_it_waits() {
    let session = "34fb81ac-7029-49d7-a308-5c29182e1dc2";
    let more = json!({ "session_id": session, "kind": "check" });
    let card = card(1, "Bash", &json!({ "command": "make" }), &more);
    let line = "session 34fb81ac · waits 5 min, until 08:05 UTC; no answer is a no\n";
    let mut terminal = Seat::new();
    let printed = terminal.order(show(card));
    assert!(printed.contains(line), "{printed}");
    let (full, _) = terminal.key(TerminalKey::Char('f'));
    assert!(full.contains(line), "{full}");
}

#[test]
fn notebooks_and_pages_are_drawn_as_what_they_are() {
    let input = json!({
        "notebook_path": "/a.ipynb", "cell_id": "c1", "cell_type": "code",
        "edit_mode": "replace", "new_source": "print(1)\nprint(2)",
    });
    check(
        card(1, "NotebookEdit", &input, &json!({})),
        &expect![[r"

        Claude Code wants to change a notebook in /home/ada/engine
        session s1 · waits 5 min, until 08:05 UTC
          /a.ipynb
          replace the code cell `c1`
          print(1)
          print(2)
        a allow   d deny   s deny and stop   r reply
    "]],
    );
    let input = json!({ "url": "https://example.org/a?b=c", "prompt": "What is it?" });
    check(
        card(1, "WebFetch", &input, &json!({})),
        &expect![[r"

        Claude Code wants to fetch a page in /home/ada/engine
        session s1 · waits 5 min, until 08:05 UTC
          https://example.org/a?b=c
          # What is it?
        a allow   d deny   s deny and stop   r reply
    "]],
    );
}

#[test]
fn a_long_line_is_cut_and_shown_whole_when_asked_for() {
    let command = "ä".repeat(300) + &"b".repeat(9_000);
    let long = card(1, "Bash", &json!({ "command": command }), &json!({}));
    let mut terminal = Seat::new();
    let printed = terminal.order(show(Arc::clone(&long)));
    let (head, tail) = ("ä".repeat(200), "b".repeat(100));
    let cut = format!("  {head}\n  … 9000 more characters: f shows them\n  {tail}\nf show all");
    assert!(printed.contains(&cut), "{printed}");
    // What is cut cannot be allowed before its end was shown, and read.
    let (printed, news) = terminal.key(TerminalKey::Char('a'));
    assert!(printed.starts_with("Not all of it is shown") && news.is_none(), "{printed}");
    let (printed, news) = terminal.key(TerminalKey::Char('f'));
    assert!(printed.contains(&command) && printed.contains("a allow") && news.is_none());
    assert_eq!(terminal.tap('a'), NOTHING);
    assert_eq!(pressed(&mut terminal, 'a'), Some(Press::Button(Action::Allow)));
    let mark = QuestionMark { state: MarkState::Allowed, text: "Allowed by ada".to_owned() };
    let printed = terminal.order(ChannelOrder::Mark { card: long, copies: Vec::new(), mark });
    assert!(printed.chars().count() < 400, "{printed}");
    let fits = card(2, "Bash", &json!({ "command": "b".repeat(300) }), &json!({}));
    assert!(!terminal.order(show(fits)).contains('…'));
}

fn note(line: &str) -> ChannelOrder {
    ChannelOrder::Note { line: line.to_owned() }
}

#[test]
fn a_quiet_line_is_no_wider_than_the_terminal() {
    let mut seat = Seat::new();
    assert_eq!(seat.order(note("auto mode ran: make")), "· auto mode ran: make\n");
    seat.terminal.set_width(16);
    assert_eq!(seat.order(note("auto mode ran: make\nrm")), "· auto mode ran…\n");
    let mut colourful = Terminal::new("ada", true);
    assert_eq!(colourful.handle_order(seat.now, note("x")), "\u{1b}[2m· x\u{1b}[0m\n");
}

#[test]
fn quiet_lines_push_no_question_off_the_screen() {
    let mut seat = Seat::new();
    seat.order(show(build(1)));
    assert_eq!(seat.order(note("one")), "");
    seat.key(TerminalKey::Char('r'));
    assert_eq!(seat.order(note("two")), "");
    let mark = QuestionMark { state: MarkState::Allowed, text: "Allowed by Ada".to_owned() };
    let marked = seat.order(ChannelOrder::Mark { card: build(1), copies: Vec::new(), mark });
    assert!(!marked.contains("ran meanwhile"), "somebody is still typing: {marked}");
    seat.key(TerminalKey::Escape);
    let printed = seat.order(note("three"));
    assert_eq!(printed, "· 2 ran meanwhile (callgate log shows them)\n· three\n");
    assert_eq!(seat.order(note("four")), "· four\n");
}

#[test]
fn a_question_says_that_something_hidden_could_run() {
    let page = TerminalPage { colours: false, width: WIDTH };
    let shown = |command: &str| {
        page.render_question(
            &card(1, "Bash", &json!({ "command": command }), &json!({})),
            &[],
            false,
            0,
        )
    };
    assert!(shown("X=[hidden 1: token]; $X").contains("Part of what is hidden could run."));
    assert!(!shown("echo [hidden 1: token]").contains("could run"));
}

/// What would run stays as it is; everything beside it wraps between words.
#[test]
fn a_narrow_terminal_breaks_between_words() {
    let command = "make all && ".repeat(6) + "make";
    let more = json!({
        "context": { "last_words": "I will build everything now, and then I will look at it." },
        "permission_suggestions": [{ "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "make *" }], "behavior": "allow", "destination": "session" }],
    });
    let mut terminal = Seat::new();
    terminal.terminal.set_width(40);
    let printed = terminal.order(show(card(1, "Bash", &json!({ "command": command }), &more)));
    assert!(printed.contains(&format!("\n  {command}\n")), "{printed}");
    let others = printed.lines().filter(|line| !line.contains(&command));
    for line in others {
        assert!(line.chars().count() <= 40, "{line:?} in {printed}");
    }
    assert!(printed.contains("\n“I will build everything now, and then\nI will look at it.”\n"));
    assert!(printed.ends_with("\nd deny   r reply\n"), "{printed}");
}

#[test]
fn a_question_in_words_breaks_between_them() {
    let mut terminal = Seat::new();
    terminal.terminal.set_width(40);
    let input = json!({ "question": "Shall one more phone, person or viewer be linked?" });
    let printed = terminal.order(show(card(1, "Ask", &input, &json!({ "agent": "script" }))));
    let expected = "\n  Shall one more phone, person or viewer\n  be linked?\n";
    assert!(printed.contains(expected), "{printed}");
}

/// The first of two people may be at this terminal, or anywhere else.
#[test]
fn the_first_of_two_allows_is_shown() {
    let mut seat = Seat::new();
    let mut card = Arc::unwrap_or_clone(build(1));
    card.require_desk(false, AllowDemands { two_people: true, ..AllowDemands::default() });
    let redraw = |card: &Card| {
        let (card, picks) = (Arc::new(card.clone()), vec![Vec::new(); card.pickers.len()]);
        ChannelOrder::Redraw { card, copies: Vec::new(), picks }
    };
    let shown = seat.order(show(Arc::new(card.clone())));
    assert!(shown.contains("Two people"), "{shown}");
    card.row.allowed_by = Some("Ben".to_owned());
    let shown = seat.order(redraw(&card));
    assert!(shown.contains("Ben allowed; one more person is needed"), "{shown}");
    assert_eq!(seat.tap('a'), NOTHING, "nobody has read it yet");
    assert_eq!(seat.order(redraw(&card)), "", "it is shown once");
    // What somebody types goes on below it.
    seat.key(TerminalKey::Char('r'));
    seat.tap('n');
    card.row.allowed_by = Some("Cleo".to_owned());
    let shown = seat.order(redraw(&card));
    assert!(shown.contains("Cleo allowed") && shown.ends_with(": n"), "{shown}");
}
