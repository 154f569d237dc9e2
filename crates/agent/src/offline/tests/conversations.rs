//! Whole turns, with made-up results of the tools.

use expect_test::{Expect, expect};

use super::*;

/// A conversation in which the tools give what the test says.
struct Talk {
    messages: Vec<Message>,
    said: String,
}

impl Talk {
    fn begin(text: &str) -> Self {
        Self { messages: after_hello(text), said: String::new() }
    }

    /// Lets the engine answer, and gives its uses these results.
    fn round(&mut self, results: &[(&str, bool)]) -> &mut Self {
        let answered = ask(call(self.messages.clone(), tools()));
        self.said += &answered.text;
        assert_eq!(answered.uses.len(), results.len(), "{}", self.said);
        self.said.extend(uses(&answered.uses).iter().map(|line| format!("<{line}>\n")));
        let mut content = vec![Block::text(answered.text)];
        content.retain(|block| !matches!(block, Block::Text { text } if text.is_empty()));
        content.extend(answered.uses.iter().cloned());
        self.messages.push(Message::assistant(content));
        let results = answered.uses.iter().zip(results).map(|(used, (content, is_error))| {
            let Block::ToolUse { id, .. } = used else { panic!("{used:?}") };
            Block::ToolResult {
                tool_use_id: id.clone(),
                content: (*content).to_owned(),
                is_error: *is_error,
            }
        });
        self.messages.push(Message::user(results.collect()));
        self
    }

    /// Lets the engine say the last word.
    fn end(&mut self, expected: &Expect) {
        let answered = ask(call(self.messages.clone(), tools()));
        assert_eq!(answered.stop, Stop::EndTurn);
        expected.assert_eq(&format!("{}{}\n", self.said, answered.text));
    }
}

#[test]
fn the_first_answer_says_who_speaks() {
    let first = ask(call(vec![user("list files")], tools()));
    assert_eq!(first.text, format!("{}\n\n", say::WHO));
    assert_eq!(uses(&first.uses), [r#"list_files {"path":"."}"#]);
    assert!(!say::WHO.contains('\n') && say::WHO.contains("not a model"));
    assert!(say::WHO.contains("ANTHROPIC_API_KEY"));
    let later = ask(call(after_hello("list files"), tools()));
    assert_eq!(later.text, "");
}

#[test]
fn help_says_it_once() {
    for messages in [vec![user("help")], after_hello("help")] {
        let help = ask(call(messages, tools())).text;
        assert!(help.starts_with(say::WHO), "{help}");
        assert_eq!(help.matches("not a model").count(), 1, "{help}");
        assert!(help.contains("- search for TODO in src\n"), "{help}");
    }
    let words = ask(call(vec![user("hello")], tools())).text;
    assert!(words.starts_with(say::WHO) && words.contains("Hello!"), "{words}");
}

#[test]
fn a_file_is_read() {
    Talk::begin("read a.txt").round(&[("one\ntwo ``` three\n", false)]).end(&expect![[r#"
        <read_file {"path":"a.txt"}>
        `a.txt` says:

        ````
        one
        two ``` three
        ````
    "#]]);
}

#[test]
fn two_files_are_read_at_once_and_one_is_not_there() {
    Talk::begin("read a.txt and b.txt, then run make")
        .round(&[("one", false), ("cannot read b.txt: there is no such file", true)])
        .end(&expect![[r#"
            <read_file {"path":"a.txt"}>
            <read_file {"path":"b.txt"}>
            `a.txt` says:

            ```
            one
            ```

            I cannot read b.txt: there is no such file

            I stopped there. Not done: run `make`.
        "#]]);
}

#[test]
fn steps_follow_each_other() {
    Talk::begin("write hello to a.txt, then read it, then run `cat a.txt`")
        .round(&[("created a.txt (6 bytes, 1 lines)", false)])
        .round(&[("hello\n", false)])
        .round(&[("exit code 0\nstdout:\nhello\n", false)])
        .end(&expect![[r#"
            <write_file {"path":"a.txt","content":"hello\n"}>
            Done: created a.txt (6 bytes, 1 lines).

            <read_file {"path":"a.txt"}>
            `a.txt` says:

            ```
            hello
            ```

            <run_shell_command {"command":"cat","args":["a.txt"]}>
            `cat a.txt` ended with exit code 0.

            ```
            stdout:
            hello
            ```
        "#]]);
}

#[test]
fn a_refusal_is_told_and_ends_it() {
    Talk::begin("run make clean then list files")
        .round(&[("denied by Ada on the terminal: not now", true)])
        .end(&expect![[r#"
            <run_shell_command {"command":"make","args":["clean"]}>
            I could not run `make clean`: denied by Ada on the terminal: not now

            I stopped there. Not done: list `.`.
        "#]]);
}

#[test]
fn a_bad_exit_code_is_told() {
    Talk::begin("run make test")
        .round(&[("exit code 2\nstderr:\nmake: *** no rule\n", false)])
        .end(&expect![[r#"
            <run_shell_command {"command":"make","args":["test"]}>
            `make test` ended with exit code 2, by which most programs mean that something went wrong.

            ```
            stderr:
            make: *** no rule
            ```
        "#]]);
}

#[test]
fn searches_edits_and_the_machine() {
    Talk::begin(
        "search for TODO in src and find *.rs then replace a with b in x.rs then system info",
    )
    .round(&[("src/x.rs:3:// TODO", false), ("nothing fits *.rs", false)])
    .round(&[("edited x.rs in 1 place\n-a\n+b", false)])
    .round(&[("os: X", false)])
    .end(&expect![[r#"
        <search_text {"pattern":"TODO","path":"src"}>
        <search_files {"pattern":"*.rs"}>
        Searching for `TODO` gave:

        ```
        src/x.rs:3:// TODO
        ```

        Looking for files named `*.rs` gave:

        ```
        nothing fits *.rs
        ```

        <edit_file {"path":"x.rs","oldText":"a","newText":"b"}>
        Done: edited x.rs in 1 place.

        ```
        -a
        +b
        ```

        <get_system_info {}>
        This is the machine:

        ```
        os: X
        ```
    "#]]);
}

#[test]
fn long_results_are_cut_and_said_so() {
    let lines: Vec<String> = (0..200).map(|line| format!("line {line}\n")).collect();
    let mut talk = Talk::begin("read a.txt");
    talk.round(&[(&lines.concat(), false)]);
    let text = ask(call(talk.messages.clone(), tools())).text;
    assert!(text.contains("\nline 59\n") && !text.contains("line 60\n"), "{text}");
    assert!(text.ends_with("(140 more lines are not shown here.)"), "{text}");
    let mut talk = Talk::begin("read a.txt");
    talk.round(&[(&"ä".repeat(100_000), false)]);
    let text = ask(call(talk.messages.clone(), tools())).text;
    assert!(text.len() < 5000 && text.contains("not shown here"), "{}", text.len());
}

#[test]
fn calls_have_ids_of_their_own() {
    let mut talk = Talk::begin("list a and list b then list c then list d");
    talk.round(&[("", false), ("", false)]).round(&[("", false)]);
    let collect = |talk: &Talk| -> Vec<String> {
        let blocks = talk.messages.iter().flat_map(|message| &message.content);
        blocks
            .filter_map(|block| match block {
                Block::ToolUse { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect()
    };
    assert_eq!(collect(&talk), ["offline_3_0", "offline_3_1", "offline_5_0"]);
    // What came before was put into a summary: the numbers go on all the same.
    talk.messages.drain(..3);
    talk.messages.push(user("list e"));
    talk.round(&[("", false)]);
    assert_eq!(collect(&talk).last().unwrap(), "offline_6_0");
}

#[test]
fn a_new_message_does_not_wait_for_old_results() {
    let mut talk = Talk::begin("read a then read b");
    talk.round(&[("[stopped]", true)]);
    // A turn that was stopped, and the next message in the same breath.
    let last = talk.messages.last_mut().unwrap();
    last.content.push(Block::text("list files"));
    let answered = ask(call(talk.messages.clone(), tools()));
    assert_eq!(
        (answered.text.as_str(), uses(&answered.uses)),
        ("", vec![r#"list_files {"path":"."}"#.to_owned()])
    );
}

#[test]
fn what_is_attached_comes_before_what_is_said() {
    let attached = Block::text("The attached file \"x\":\n\nlist files");
    let message = Message::user(vec![attached.clone(), Block::text("system info")]);
    let answered = ask(call(vec![message], tools()));
    assert_eq!(uses(&answered.uses), ["get_system_info {}"]);
    let alone = ask(call(vec![Message::user(vec![attached])], tools()));
    assert!(alone.uses.is_empty(), "what is attached is no command");
}

#[test]
fn a_tool_that_is_not_there_is_said() {
    let answered = ask(call(after_hello("list files"), Arc::new([])));
    assert_eq!(answered.text, "I cannot do that: the tool list_files is not available here.");
}

#[test]
fn conversations_without_words_are_answered() {
    for messages in [
        Vec::new(),
        vec![Message::user(Vec::new())],
        vec![Message::assistant(Vec::new())],
        vec![user("list files"), Message::assistant(Vec::new()), Message::user(Vec::new())],
        vec![Message::user(vec![Block::ToolResult {
            tool_use_id: "x".into(),
            content: "y".into(),
            is_error: false,
        }])],
    ] {
        ask(call(messages, tools()));
    }
}
