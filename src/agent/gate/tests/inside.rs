//! Without a daemon: the desk in this process, at which the front end answers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use callgate_agent::gate::GateQuestion;
use callgate_approval::daemon::lock_path;
use callgate_client::viewer::Viewer;
use callgate_link::file::FileLock;
use callgate_wire::approval::{Action, Press};
use callgate_wire::ledger::LedgerKind;
use serde_json::json;
use serde_json::value::RawValue;

use super::super::inside::private_folder::PrivateFolder;
use super::bench::{Bench, question, words};

fn make(target: &str) -> GateQuestion {
    question("run_shell_command", &json!({ "command": "make", "args": [target] }), "c1")
}

#[test]
fn the_front_end_allows_and_denies_and_the_ledger_has_it() {
    let bench = Bench::new("");
    let (asked, mut screen) = bench.ask(make("test"));
    let (id, title, input, reason) = screen.asked(&bench);
    assert_eq!((&*title, reason), ("make test", None));
    assert_eq!(input, r#"{"command":"make","args":["test"]}"#);
    assert!(!asked.is_finished(), "nothing runs before somebody decides");
    let told = bench.answer(&id, Press::Button(Action::Allow)).unwrap();
    assert_eq!(told, "Allowed by the user in the front end");
    assert_eq!(words(&bench.run(asked).unwrap()), format!("allowed: {told}"));
    assert_eq!(screen.closed(&bench, &id), ("allow".to_owned(), told));
    assert!(screen.is_over(&bench));
    assert_eq!(bench.kinds(&id), ["asked", "pressed", "decided", "delivered", "closed"]);
    let body: serde_json::Value = serde_json::from_str(&bench.entries(&id)[0].body).unwrap();
    assert_eq!((&body["agent"], &body["session"]), (&json!("callgate"), &json!("c1")));

    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    let told = bench.answer(&id, Press::Button(Action::Deny)).unwrap();
    assert_eq!(told, "Denied by the user in the front end");
    let permit = words(&bench.run(asked).unwrap());
    assert_eq!(permit, "denied: Denied by the user in the front end.");
    assert_eq!(screen.closed(&bench, &id), ("deny".to_owned(), told));
    assert_eq!(bench.kinds(&id), ["asked", "pressed", "decided", "delivered", "closed"]);
    assert_eq!(bench.count(LedgerKind::Started), 1, "it is the same desk");
}

#[test]
fn what_a_rule_wants_decided_at_the_desk_is_not_asked_at_the_front_end() {
    for rule in ["decide = 'confirm'", "decide = 'ask'\ntwo_people = true"] {
        let bench = Bench::new(&format!("[[rule]]\nname = 'all'\n{rule}\ncommand = 'make'\n"));
        let (asked, _screen) = bench.ask(make("all"));
        assert_eq!(
            words(&bench.run(asked).unwrap()),
            "denied: nobody can be asked, so the tool did not run: a rule wants it decided at the \
             desk: start `callgate up`"
        );
        assert!(!bench.config.database.exists(), "no desk was opened");
    }
}

#[test]
fn words_deny_and_reach_the_model() {
    let bench = Bench::new("");
    for (said, expected) in [
        ("Only the tests.", "denied: Only the tests."),
        (" ", "denied: Denied by the user in the front end."),
    ] {
        let (asked, mut screen) = bench.ask(make("all"));
        let (id, ..) = screen.asked(&bench);
        bench.answer(&id, Press::Words(said.to_owned())).unwrap();
        assert_eq!(words(&bench.run(asked).unwrap()), expected);
    }
}

#[test]
fn changed_arguments_are_run_unless_a_rule_denies_them() {
    let rules = "
        rule = [
            { name = 'no', decide = 'deny', command = 'git push' },
            { name = 'careful', decide = 'confirm', command = 'git fetch' },
        ]";
    let bench = Bench::new(rules);
    let edited = |command: &str, args: &[&str]| {
        let input = json!({ "command": command, "args": args }).to_string();
        Press::Input(RawValue::from_string(input).unwrap())
    };
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    bench.answer(&id, edited("make", &["test"])).unwrap();
    let permit = words(&bench.run(asked).unwrap());
    let expected = r#"allowed {"command":"make","args":["test"]}: Allowed by the user in the front end, with changes"#;
    assert_eq!(permit, expected);
    // An edit does not replace the word that a rule wants, either.
    for (what, why) in
        [("push", "denied by rule `no`"), ("fetch", "to be confirmed by rule `careful`")]
    {
        let (asked, mut screen) = bench.ask(make("all"));
        let (id, ..) = screen.asked(&bench);
        bench.answer(&id, edited("git", &[what])).unwrap();
        let permit = words(&bench.run(asked).unwrap());
        assert!(permit.starts_with(&format!("denied: {why}")), "{permit}");
    }
}

#[test]
fn what_the_tool_cannot_do_is_denied_before_and_after_a_person_is_asked() {
    let bench = Bench::new("");
    let picky = |target: &str| {
        let cannot = |input: &RawValue| input.get().contains("far").then(|| "too far".to_owned());
        GateQuestion { refusal: Some(Arc::new(cannot)), ..make(target) }
    };
    let (asked, mut screen) = bench.ask(picky("far"));
    assert_eq!(words(&bench.run(asked).unwrap()), "denied: too far");
    assert!(screen.is_over(&bench), "nobody was asked");
    let (asked, mut screen) = bench.ask(picky("near"));
    let (id, ..) = screen.asked(&bench);
    let changed = json!({ "command": "make", "args": ["far"] }).to_string();
    bench.answer(&id, Press::Input(RawValue::from_string(changed).unwrap())).unwrap();
    assert_eq!(words(&bench.run(asked).unwrap()), "denied: too far");
}

#[test]
fn secrets_are_hidden_and_come_back_in_what_is_run() {
    let bench = Bench::new("");
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let input =
        json!({ "command": "curl", "args": ["-H", format!("Authorization: Bearer {token}")] });
    let (asked, mut screen) = bench.ask(question("run_shell_command", &input, "c1"));
    let (id, title, input, _) = screen.asked(&bench);
    assert!(!title.contains(token) && !input.contains(token), "{title} {input}");
    let changed = input.replace("curl", "wget");
    let edited = Press::Input(RawValue::from_string(changed).unwrap());
    bench.answer(&id, edited).unwrap();
    let permit = words(&bench.run(asked).unwrap());
    assert!(permit.contains("wget") && permit.contains(token), "{permit}");
}

#[test]
fn a_question_that_nobody_waits_for_is_withdrawn() {
    let bench = Bench::new("");
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    asked.abort();
    bench.run(asked).unwrap_err();
    let withdrawn = Some(("timeout".to_owned(), "It was withdrawn".to_owned()));
    assert_eq!(screen.closed_already(), withdrawn, "before anything else can be said");
    assert!(screen.is_over(&bench), "it is said once");
    assert_eq!(bench.closed(&id)["text"], "The agent went away");
    assert_eq!(bench.kinds(&id), ["asked", "closed"], "nobody decided");
    let late = bench.answer(&id, Press::Button(Action::Allow)).unwrap_err();
    assert_eq!(late, "Too late. It was withdrawn.");
}

#[test]
fn an_answer_that_comes_too_late_is_told_so() {
    let bench = Bench::new("");
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    bench.answer(&id, Press::Button(Action::Deny)).unwrap();
    bench.run(asked).unwrap();
    let late = bench.answer(&id, Press::Button(Action::Allow)).unwrap_err();
    assert_eq!(late, "Too late. Denied by the user in the front end.");
    assert_eq!(bench.kinds(&id).last().unwrap(), "pressed", "it is in the ledger all the same");
}

#[test]
fn nobody_answers_in_time() {
    let bench = Bench::with("", &[("CALLGATE_TIMEOUT_SECONDS", "1")]);
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    let permit = words(&bench.run(asked).unwrap());
    assert_eq!(permit, "denied: Not decided: nobody answered in time: the tool did not run");
    let text = "Not decided: nobody answered in time".to_owned();
    assert_eq!(screen.closed(&bench, &id), ("timeout".to_owned(), text));
}

#[test]
fn always_holds_for_the_very_same_thing_in_the_same_conversation() {
    let bench = Bench::new("");
    let decide = |question: GateQuestion, press: Press| {
        let (asked, mut screen) = bench.ask(question);
        let (id, ..) = screen.asked(&bench);
        bench.answer(&id, press).unwrap();
        words(&bench.run(asked).unwrap())
    };
    let is_asked = |question: GateQuestion| {
        decide(question, Press::Button(Action::Deny)).starts_with("denied")
    };
    let always = decide(make("test"), Press::Button(Action::Always(0)));
    let expected = "allowed: Allowed by the user in the front end, for this session: \
                    run_shell_command(make test)";
    assert_eq!(always, expected);
    let (asked, mut screen) = bench.ask(make("test"));
    let again = "allowed: a person has allowed this for the rest of the conversation";
    assert_eq!(words(&bench.run(asked).unwrap()), again);
    assert!(screen.is_over(&bench), "nobody is asked again");
    assert!(is_asked(make("clean")), "other arguments");
    let elsewhere = GateQuestion { conversation: "c2".to_owned(), ..make("test") };
    assert!(is_asked(elsewhere), "another conversation");

    let write = |path: &str, content: &str| {
        question("write_file", &json!({ "path": path, "content": content }), "c1")
    };
    decide(write("a.txt", "one"), Press::Button(Action::Always(0)));
    let (asked, _screen) = bench.ask(write("./a.txt", "two"));
    assert_eq!(words(&bench.run(asked).unwrap()), again, "the same file");
    assert!(is_asked(write("b.txt", "one")), "another file");
}

#[test]
fn always_never_passes_over_a_rule_or_a_reason_to_ask() {
    let rules = "[[rule]]\nname = \"hm\"\ndecide = \"ask\"\ncommand = \"make release\"";
    let bench = Bench::new(rules);
    let always = |question: GateQuestion, why: &str| {
        let (asked, mut screen) = bench.ask(question);
        let (id, _, _, reason) = screen.asked(&bench);
        assert!(reason.as_ref().is_some_and(|reason| reason.contains(why)), "{reason:?}");
        let told = bench.answer(&id, Press::Button(Action::Always(0))).unwrap();
        assert_eq!(told, "Allowed by the user in the front end", "this time only");
        assert!(words(&bench.run(asked).unwrap()).starts_with("allowed"));
    };
    let ledger = bench.config.database.display().to_string();
    for _ in 0..2 {
        always(make("release"), "asked by rule `hm`");
        always(make("/etc/passwd"), "the command names `/etc/passwd`, which is outside of");
        let touching = question("write_file", &json!({ "path": ledger, "content": "" }), "c1");
        always(touching, "no rule can allow this");
    }
}

#[test]
fn many_questions_wait_for_their_turn() {
    let bench = Bench::new("");
    // Which of them are asked first is anybody's guess, so each is waited for by itself.
    thread::scope(|threads| {
        for at in 0..20 {
            let (bench, (asked, mut screen)) = (&bench, bench.ask(make(&format!("t{at}"))));
            threads.spawn(move || {
                let (id, ..) = screen.asked(bench);
                bench.answer(&id, Press::Button(Action::Allow)).unwrap();
                assert!(words(&bench.run(asked).unwrap()).starts_with("allowed"));
            });
        }
    });
}

/// The folder of the desk in this process.
fn folder(bench: &Bench) -> PathBuf {
    let inside = bench.gate.inside.try_lock().unwrap();
    inside.as_ref().unwrap().socket().parent().unwrap().to_owned()
}

#[test]
fn its_sockets_are_private_and_go_with_it() {
    let bench = Bench::new("");
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    let folder = folder(&bench);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("ask.sock"))), (0o700, 0o600));
    bench.answer(&id, Press::Button(Action::Deny)).unwrap();
    bench.run(asked).unwrap();
    let (_open, mut screen) = bench.ask(make("all"));
    screen.asked(&bench);
    let Bench { gate, runtime, .. } = bench;
    drop(gate);
    // The runtime ends as the program's does: it waits for no thread.
    runtime.shutdown_background();
    assert!(!folder.exists());
}

#[test]
fn a_question_of_another_runtime_is_left_alone() {
    let mut bench = Bench::new("");
    let (_first, mut screen) = bench.ask(make("one"));
    screen.asked(&bench);
    bench.restart();
    let (_second, mut screen) = bench.ask(make("two"));
    screen.asked(&bench);
    let socket = folder(&bench).join("desk.sock");
    let look = move || Viewer::connect(&socket).unwrap().status().unwrap().open;
    let open = bench.run(async { tokio::task::spawn_blocking(look).await.unwrap() });
    assert_eq!(open, 1, "its own");
}

#[test]
fn folders_of_killed_processes_are_removed_and_no_others() {
    let within = tempfile::tempdir().unwrap();
    let old = SystemTime::now() - Duration::from_hours(1);
    let leave = |name: &str, changed: SystemTime| {
        let folder = within.path().join(name);
        fs::create_dir(&folder).unwrap();
        let lock = fs::File::create(lock_path(&folder.join("ask.sock"))).unwrap();
        lock.set_modified(changed).unwrap();
        folder
    };
    let killed = leave("callgate-agent-1", old);
    let young = leave("callgate-agent-2", SystemTime::now());
    let alive = leave("callgate-agent-3", old);
    let other = leave("somebody-else", old);
    let _held = FileLock::try_lock(&lock_path(&alive.join("ask.sock"))).unwrap().unwrap();
    let made = PrivateFolder::within(within.path()).unwrap();
    assert!(!killed.exists());
    assert!(young.exists() && alive.exists() && other.exists() && made.path().exists());
}

#[test]
fn without_a_ledger_nothing_is_allowed() {
    let bench = Bench::new("");
    fs::write(bench.folder.path().join("data"), "no folder").unwrap();
    let (asked, mut screen) = bench.ask(make("all"));
    let permit = words(&bench.run(asked).unwrap());
    let expected = "denied: nobody can be asked, so the tool did not run: cannot open a desk: ";
    assert!(permit.starts_with(expected), "{permit}");
    assert!(screen.is_over(&bench));
}
