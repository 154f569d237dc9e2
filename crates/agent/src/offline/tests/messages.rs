//! What the engine makes of one message.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::super::{argv, deed};
use super::*;

/// A line for each message: the uses of its first round, or the beginning of the answer.
fn check(messages: &[&str], expected: &Expect) {
    let mut lines = Vec::new();
    for message in messages {
        lines.push(format!("{message:?}"));
        match plan(message) {
            Plan::Do(steps) => {
                let step = |(at, step): (usize, &Vec<Deed>)| -> Vec<String> {
                    let line =
                        |deed: &Deed| format!("  {}: {} {}", at + 1, deed.tool(), deed.input());
                    step.iter().map(line).collect()
                };
                lines.extend(steps.iter().enumerate().flat_map(step));
            }
            Plan::Say(words) => {
                let first: String =
                    words.lines().next().unwrap_or_default().chars().take(90).collect();
                lines.push(format!("  “{first}”"));
            }
        }
    }
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn lists() {
    check(
        &[
            "list files",
            "list files in src",
            "List the files in the src folder, please.",
            "ls",
            "ls src tests",
            "what's in src",
            "What is in src/bin?",
            "what files are there?",
            "what's in README.md?",
            "which files are in \"my folder\"",
            "show me the files in docs",
            "show me what's in docs",
            "could you list everything in ..?",
            "look in src",
            "list_files src",
            "list src and docs",
        ],
        &expect![[r#"
            "list files"
              1: list_files {"path":"."}
            "list files in src"
              1: list_files {"path":"src"}
            "List the files in the src folder, please."
              1: list_files {"path":"src"}
            "ls"
              1: list_files {"path":"."}
            "ls src tests"
              1: list_files {"path":"src"}
              1: list_files {"path":"tests"}
            "what's in src"
              1: list_files {"path":"src"}
            "What is in src/bin?"
              1: list_files {"path":"src/bin"}
            "what files are there?"
              1: list_files {"path":"."}
            "what's in README.md?"
              1: read_file {"path":"README.md"}
            "which files are in \"my folder\""
              1: list_files {"path":"my folder"}
            "show me the files in docs"
              1: list_files {"path":"docs"}
            "show me what's in docs"
              1: list_files {"path":"docs"}
            "could you list everything in ..?"
              1: list_files {"path":".."}
            "look in src"
              1: list_files {"path":"src"}
            "list_files src"
              1: list_files {"path":"src"}
            "list src and docs"
              1: list_files {"path":"src"}
              1: list_files {"path":"docs"}"#]],
    );
}

#[test]
fn reads() {
    check(
        &[
            "read README.md",
            "Read README.md lines 10-20.",
            "read README.md from line 10 to 20",
            "read README.md from line 10",
            "show lines 10 to line 20 of src/main.rs",
            "show the first 5 lines of a.txt",
            "read line 7 of a.txt",
            "read a.txt line 0",
            "read lines 9-3 of a.txt",
            "show X",
            "cat 'my file.txt'",
            "please open the file Cargo.toml",
            "read A and B",
            "read A, B and C",
            "read A and find *.rs",
            "show main.rs in src",
            "what does notes.txt say?",
            "look at a.txt",
            "read",
            "read it",
        ],
        &expect![[r#"
            "read README.md"
              1: read_file {"path":"README.md"}
            "Read README.md lines 10-20."
              1: read_file {"path":"README.md","offset":10,"limit":11}
            "read README.md from line 10 to 20"
              1: read_file {"path":"README.md","offset":10,"limit":11}
            "read README.md from line 10"
              1: read_file {"path":"README.md","offset":10}
            "show lines 10 to line 20 of src/main.rs"
              1: read_file {"path":"src/main.rs","offset":10,"limit":11}
            "show the first 5 lines of a.txt"
              1: read_file {"path":"a.txt","offset":1,"limit":5}
            "read line 7 of a.txt"
              1: read_file {"path":"a.txt","offset":7,"limit":1}
            "read a.txt line 0"
              1: read_file {"path":"a.txt","offset":1,"limit":1}
            "read lines 9-3 of a.txt"
              1: read_file {"path":"a.txt","offset":3,"limit":7}
            "show X"
              1: read_file {"path":"X"}
            "cat 'my file.txt'"
              1: read_file {"path":"my file.txt"}
            "please open the file Cargo.toml"
              1: read_file {"path":"Cargo.toml"}
            "read A and B"
              1: read_file {"path":"A"}
              1: read_file {"path":"B"}
            "read A, B and C"
              1: read_file {"path":"A"}
              1: read_file {"path":"B"}
              1: read_file {"path":"C"}
            "read A and find *.rs"
              1: read_file {"path":"A"}
              1: search_files {"pattern":"*.rs"}
            "show main.rs in src"
              1: read_file {"path":"src/main.rs"}
            "what does notes.txt say?"
              1: read_file {"path":"notes.txt"}
            "look at a.txt"
              1: read_file {"path":"a.txt"}
            "read"
              “I understand “read” only in part. A whole command looks like this: read README.md lines 1-”
            "read it"
              “I understand “read it” only in part. A whole command looks like this: read README.md lines”"#]],
    );
}

#[test]
fn searches() {
    check(
        &[
            "search for TODO",
            "search for TODO in src",
            "Search for the word \"in time\" in the src folder.",
            "search src for fn main",
            "search for fn main() in src/main.rs",
            "grep unsafe",
            "look for secrets everywhere in this project",
            "search for todo in src ignoring case",
            "find *.rs",
            "find all *.rs files in src",
            "find files named x",
            "find the file called main.rs in crates",
            "find files containing TODO in src",
            "find uses of Leashed",
            "find unused variables in src",
            "search for files named lib.rs",
            "where is main.rs?",
            "where is Desk defined?",
            "find a?c",
            "search for",
            "find",
        ],
        &expect![[r#"
            "search for TODO"
              1: search_text {"pattern":"TODO"}
            "search for TODO in src"
              1: search_text {"pattern":"TODO","path":"src"}
            "Search for the word \"in time\" in the src folder."
              1: search_text {"pattern":"in time","path":"src"}
            "search src for fn main"
              1: search_text {"pattern":"fn main","path":"src"}
            "search for fn main() in src/main.rs"
              1: search_text {"pattern":"fn main()","path":"src/main.rs"}
            "grep unsafe"
              1: search_text {"pattern":"unsafe"}
            "look for secrets everywhere in this project"
              1: search_text {"pattern":"secrets"}
            "search for todo in src ignoring case"
              1: search_text {"pattern":"todo","path":"src","ignoreCase":true}
            "find *.rs"
              1: search_files {"pattern":"*.rs"}
            "find all *.rs files in src"
              1: search_files {"pattern":"*.rs","path":"src"}
            "find files named x"
              1: search_files {"pattern":"x"}
            "find the file called main.rs in crates"
              1: search_files {"pattern":"main.rs","path":"crates"}
            "find files containing TODO in src"
              1: search_text {"pattern":"TODO","path":"src"}
            "find uses of Leashed"
              1: search_text {"pattern":"Leashed"}
            "find unused variables in src"
              1: search_text {"pattern":"unused variables","path":"src"}
            "search for files named lib.rs"
              1: search_files {"pattern":"lib.rs"}
            "where is main.rs?"
              1: search_files {"pattern":"main.rs"}
            "where is Desk defined?"
              1: search_text {"pattern":"Desk"}
            "find a?c"
              1: search_files {"pattern":"a?c"}
            "search for"
              “I understand “search for” only in part. A whole command looks like this: search for TODO i”
            "find"
              “I understand “find” only in part. A whole command looks like this: find *.rs in src”"#]],
    );
}

#[test]
fn changes() {
    check(
        &[
            "write hello to notes.txt",
            "write \"hello, then bye\" to notes.txt",
            "write one to rule them all to the file notes.txt.",
            "save hello world as a.txt",
            "write to notes.txt: hello world",
            "write notes.txt: hello",
            "create notes.txt with hello",
            "create a file called notes.txt with the text \"a b\"",
            "create an empty file .keep",
            "write this to src/x.rs:\n```rust\nfn main() {}\n```",
            "create x.txt:\n\none\ntwo",
            "replace A with B in F",
            "replace \"a in b\" with 'c d' in notes.txt",
            "replace all foo by bar in x.rs",
            "change foo to bar in x.rs everywhere",
            "replace foo with nothing in x.rs",
            "in x.rs replace foo with bar",
            "edit x.rs: replace \"foo\" with \"bar\"",
            "edit x.rs",
            "write hello",
            "create notes.txt",
            "replace a with b",
        ],
        &expect![[r#"
            "write hello to notes.txt"
              1: write_file {"path":"notes.txt","content":"hello\n"}
            "write \"hello, then bye\" to notes.txt"
              1: write_file {"path":"notes.txt","content":"hello, then bye\n"}
            "write one to rule them all to the file notes.txt."
              1: write_file {"path":"notes.txt","content":"one to rule them all\n"}
            "save hello world as a.txt"
              1: write_file {"path":"a.txt","content":"hello world\n"}
            "write to notes.txt: hello world"
              1: write_file {"path":"notes.txt","content":"hello world\n"}
            "write notes.txt: hello"
              1: write_file {"path":"notes.txt","content":"hello\n"}
            "create notes.txt with hello"
              1: write_file {"path":"notes.txt","content":"hello\n"}
            "create a file called notes.txt with the text \"a b\""
              1: write_file {"path":"notes.txt","content":"a b\n"}
            "create an empty file .keep"
              1: write_file {"path":".keep","content":""}
            "write this to src/x.rs:\n```rust\nfn main() {}\n```"
              1: write_file {"path":"src/x.rs","content":"fn main() {}\n"}
            "create x.txt:\n\none\ntwo"
              1: write_file {"path":"x.txt","content":"one\ntwo\n"}
            "replace A with B in F"
              1: edit_file {"path":"F","oldText":"A","newText":"B"}
            "replace \"a in b\" with 'c d' in notes.txt"
              1: edit_file {"path":"notes.txt","oldText":"a in b","newText":"c d"}
            "replace all foo by bar in x.rs"
              1: edit_file {"path":"x.rs","oldText":"foo","newText":"bar","replaceAll":true}
            "change foo to bar in x.rs everywhere"
              1: edit_file {"path":"x.rs","oldText":"foo","newText":"bar","replaceAll":true}
            "replace foo with nothing in x.rs"
              1: edit_file {"path":"x.rs","oldText":"foo","newText":""}
            "in x.rs replace foo with bar"
              1: edit_file {"path":"x.rs","oldText":"foo","newText":"bar"}
            "edit x.rs: replace \"foo\" with \"bar\""
              1: edit_file {"path":"x.rs","oldText":"foo","newText":"bar"}
            "edit x.rs"
              “I understand “edit x.rs” only in part. A whole command looks like this: replace "old" with”
            "write hello"
              “I understand “write hello” only in part. A whole command looks like this: write "hello" to”
            "create notes.txt"
              “I understand “create notes.txt” only in part. A whole command looks like this: create note”
            "replace a with b"
              “I understand “replace a with b” only in part. A whole command looks like this: replace "ol”"#]],
    );
}

#[test]
fn runs() {
    check(
        &[
            "run make test",
            "run `cargo build`",
            "Run `cargo build --release` in crates/x.",
            "execute: git commit -m \"a 'b' c\"",
            "$ ls -la",
            "run sh -c 'ls | wc -l'",
            "run the command make",
            "run echo a\\ b ''",
            "run make test in src",
            "run the tests",
            "run",
            "run ''",
            "run ls | wc -l",
            "run ls > x",
            "run a && b",
            "run echo $HOME",
            "run echo \"$HOME\"",
            "run ls *.rs",
            "run ls ~",
            "run FOO=1 make",
            "run make FOO=1",
            "run echo 'open",
        ],
        &expect![[r#"
            "run make test"
              1: run_shell_command {"command":"make","args":["test"]}
            "run `cargo build`"
              1: run_shell_command {"command":"cargo","args":["build"]}
            "Run `cargo build --release` in crates/x."
              1: run_shell_command {"command":"cargo","args":["build","--release"],"cwd":"crates/x"}
            "execute: git commit -m \"a 'b' c\""
              1: run_shell_command {"command":"git","args":["commit","-m","a 'b' c"]}
            "$ ls -la"
              1: run_shell_command {"command":"ls","args":["-la"]}
            "run sh -c 'ls | wc -l'"
              1: run_shell_command {"command":"sh","args":["-c","ls | wc -l"]}
            "run the command make"
              1: run_shell_command {"command":"make","args":[]}
            "run echo a\\ b ''"
              1: run_shell_command {"command":"echo","args":["a b",""]}
            "run make test in src"
              “I cannot tell whether `in src` belongs to the command. Put the command in backquotes: run ”
            "run the tests"
              “I understand “run the tests” only in part. A whole command looks like this: run make test”
            "run"
              “I understand “run” only in part. A whole command looks like this: run make test”
            "run ''"
              “I understand “run ''” only in part. A whole command looks like this: run make test”
            "run ls | wc -l"
              “I run commands without a shell, and “run ls | wc -l” needs one: its `|` means something to”
            "run ls > x"
              “I run commands without a shell, and “run ls > x” needs one: its `>` means something to a s”
            "run a && b"
              “I run commands without a shell, and “run a && b” needs one: its `&` means something to a s”
            "run echo $HOME"
              “I run commands without a shell, and “run echo $HOME” needs one: its `$` means something to”
            "run echo \"$HOME\""
              “I run commands without a shell, and “run echo "$HOME"” needs one: its `$` means something ”
            "run ls *.rs"
              “I run commands without a shell, and “run ls *.rs” needs one: its `*` means something to a ”
            "run ls ~"
              “I run commands without a shell, and “run ls ~” needs one: its `~` means something to a she”
            "run FOO=1 make"
              “I run commands without a shell, and “run FOO=1 make” needs one: it sets a variable. Run a ”
            "run make FOO=1"
              1: run_shell_command {"command":"make","args":["FOO=1"]}
            "run echo 'open"
              “I run commands without a shell, and “run echo 'open” needs one: its ' is not closed. Run a”"#]],
    );
}

#[test]
fn several_things() {
    check(
        &[
            "list files and then read README.md",
            "list files, then read README.md and Cargo.toml, then run make",
            "First list files in src. Then search for TODO.",
            "write hello to a.txt and read it",
            "list files\nread README.md",
            "read a and list src and search for b",
            "list files then",
            "list files then frobnicate",
            "read a, b, c, d, e, f, g, h, i, j and k",
        ],
        &expect![[r#"
            "list files and then read README.md"
              1: list_files {"path":"."}
              2: read_file {"path":"README.md"}
            "list files, then read README.md and Cargo.toml, then run make"
              1: list_files {"path":"."}
              2: read_file {"path":"README.md"}
              2: read_file {"path":"Cargo.toml"}
              3: run_shell_command {"command":"make","args":[]}
            "First list files in src. Then search for TODO."
              1: list_files {"path":"src"}
              2: search_text {"pattern":"TODO"}
            "write hello to a.txt and read it"
              1: write_file {"path":"a.txt","content":"hello\n"}
              2: read_file {"path":"a.txt"}
            "list files\nread README.md"
              1: list_files {"path":"."}
              2: read_file {"path":"README.md"}
            "read a and list src and search for b"
              1: read_file {"path":"a"}
              1: list_files {"path":"src"}
              1: search_text {"pattern":"b"}
            "list files then"
              1: list_files {"path":"."}
            "list files then frobnicate"
              “I do not understand “frobnicate”. I have done nothing yet. I am no model and know only a f”
            "read a, b, c, d, e, f, g, h, i, j and k"
              “That is too much at once, so I have done nothing: ask for at most 10 things.”"#]],
    );
}

#[test]
fn other_things() {
    check(
        &[
            "system info",
            "show me the system information",
            "what system is this?",
            "what is in system?",
            "help",
            "What can you do?",
            "?",
            "",
            "Hello!",
            "thanks!",
            "what is the meaning of life",
            "explain src/main.rs",
            "delete everything",
            "„“ \u{0} 🎉",
            "\"list files\"",
        ],
        &expect![[r#"
            "system info"
              1: get_system_info {}
            "show me the system information"
              1: get_system_info {}
            "what system is this?"
              1: get_system_info {}
            "what is in system?"
              1: list_files {"path":"system"}
            "help"
              “I am callgate's offline stand-in, not a model: I understand a handful of commands and use ”
            "What can you do?"
              “I am callgate's offline stand-in, not a model: I understand a handful of commands and use ”
            "?"
              “I am callgate's offline stand-in, not a model: I understand a handful of commands and use ”
            ""
              “I am callgate's offline stand-in, not a model: I understand a handful of commands and use ”
            "Hello!"
              “Hello! Say `help` for what I understand, or try: list files”
            "thanks!"
              “You are welcome.”
            "what is the meaning of life"
              “I do not understand “what is the meaning of life”. I am no model and know only a few comma”
            "explain src/main.rs"
              “I do not understand “explain src/main.rs”. I am no model and know only a few commands, suc”
            "delete everything"
              “I do not understand “delete everything”. I am no model and know only a few commands, such ”
            "„“ \0 🎉"
              “I do not understand “„“  🎉”. I am no model and know only a few commands, such as:”
            "\"list files\""
              1: list_files {"path":"."}"#]],
    );
}

#[test]
fn a_command_line_is_shown_as_it_would_be_typed() {
    let line = r#"git commit -m "it's a \"test\"" '' a\ b"#;
    let words = argv::split(line).unwrap();
    assert_eq!(words, ["git", "commit", "-m", "it's a \"test\"", "", "a b"]);
    let shown = deed::command_line(&Deed::Run { argv: words.clone(), cwd: None }.input());
    assert_eq!(argv::split(&shown).unwrap(), words, "{shown}");
}

#[test]
fn a_long_message_is_refused_quickly() {
    for message in [
        "list ".repeat(300_000),
        "in a ".repeat(200_000),
        "search for a in b ".repeat(50_000),
        "\"a 'a `a ".repeat(80_000),
        "run \"".repeat(20_000),
        "then\n".repeat(100_000),
    ] {
        let began = std::time::Instant::now();
        ask(call(after_hello(&message), tools()));
        assert!(began.elapsed() < std::time::Duration::from_secs(20));
    }
}

/// Words of which messages are made.
fn message() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(vec![
            "list", "read", "files", "in", "src", "and", "then", "to", "with", "replace", "write",
            "run", "search", "for", "find", "lines", "10-20", "1", "of", "first", "a.txt", "`x`",
            "\"a b\"", "'", "\"", "`", "what's", "where", "is", "it", "create", "edit", ":", ",",
            ".", "..", "?", "\n", "all", "the", "system", "info", "please", "case", "ignoring",
        ])
        .prop_map(ToOwned::to_owned),
        "\\PC{0,6}",
        any::<String>(),
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn every_message_has_one_whole_answer(text in message()) {
        let first = ask(call(vec![user(&text)], tools()));
        prop_assert!(first.text.starts_with(say::WHO));
        let later = ask(call(after_hello(&text), tools()));
        prop_assert_eq!(uses(&first.uses), uses(&later.uses));
    }

    #[test]
    fn pieces_are_the_text(text in any::<String>()) {
        let pieces: Vec<&str> = in_pieces(&text).collect();
        prop_assert_eq!(pieces.concat(), text.as_str());
        prop_assert!(pieces.iter().all(|piece| piece.split_whitespace().count() <= WORDS + 1));
    }

    #[test]
    fn any_words_can_be_run_by_quoting_them(words in prop::collection::vec("[^\n\0]{0,8}", 1..4)) {
        let input = Deed::Run { argv: words.clone(), cwd: None }.input();
        prop_assert_eq!(argv::split(&deed::command_line(&input)).unwrap(), words);
    }
}
