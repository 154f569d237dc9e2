//! With a daemon: questions go to its desk, and the front end's answers are presses there.

use callgate_agent::gate::{ChangePreview, GateQuestion, PermissionGate};
use callgate_client::viewer::Viewer;
use callgate_store::Store;
use callgate_wire::approval::{Action, Press};
use callgate_wire::desk::{CardContent, ContentChange};
use callgate_wire::ledger::LedgerKind;
use serde_json::json;

use super::bench::{Bench, DEADLINE, House, link, question, words};

const TOLD: &str = "Allowed by you";

fn make(target: &str) -> GateQuestion {
    question("run_shell_command", &json!({ "command": "make", "args": [target] }), "c1")
}

#[test]
fn the_front_ends_answer_is_a_press_at_the_daemon() {
    let bench = Bench::new("");
    let _house = House::new(&bench, false);
    let (asked, mut screen) = bench.ask(make("test"));
    let (id, title, ..) = screen.asked(&bench);
    assert_eq!(title, "make test");
    assert_eq!(bench.answer(&id, Press::Button(Action::Allow)).unwrap(), TOLD);
    assert_eq!(words(&bench.run(asked).unwrap()), format!("allowed: {TOLD}"));
    assert_eq!(screen.closed(&bench, &id), ("allow".to_owned(), TOLD.to_owned()));
    assert_eq!(bench.kinds(&id), ["asked", "pressed", "decided", "delivered", "closed"]);
    let late = bench.answer(&id, Press::Button(Action::Deny)).unwrap_err();
    assert_eq!(late, format!("Too late. {TOLD}."));
    let changed = json!({ "command": "make", "args": ["all"] }).to_string();
    let (asked, mut screen) = bench.ask(make("test"));
    let (id, ..) = screen.asked(&bench);
    let edited = serde_json::value::RawValue::from_string(changed).unwrap();
    bench.answer(&id, Press::Input(edited)).unwrap();
    let permit = words(&bench.run(asked).unwrap());
    assert!(permit.starts_with(r#"allowed {"command":"make","args":["all"]}"#), "{permit}");
    assert_eq!(bench.count(LedgerKind::Started), 1, "no other desk was opened");
}

/// The daemon's rules see names alone, and no links.
#[test]
fn the_daemon_allows_nothing_that_leads_through_a_link_to_what_is_not() {
    let rules = r#"
        [[rule]]
        name = "all"
        decide = "allow"
        class = "write"
        path = "FOLDER/root/src/**"

        [[rule]]
        name = "cat"
        decide = "allow"
        command = "cat *"
    "#;
    let bench = Bench::new(rules);
    let _house = House::new(&bench, true);
    for folder in ["root/src", "root/other", "data"] {
        std::fs::create_dir_all(bench.folder.path().join(folder)).unwrap();
    }
    link(&bench.root("other"), &bench.root("src/other"));
    link(&bench.folder.path().join("data"), &bench.root("src/ours"));
    let write = |path: &str| json!({ "path": path, "content": "" });
    let many: Vec<String> = (0..6_000).map(|n| n.to_string()).collect();
    for (tool, input) in [
        ("write_file", write("src/other/x")),
        ("write_file", write("src/ours/callgate.db")),
        ("run_shell_command", json!({ "command": "cat", "args": ["src/ours/callgate.db"] })),
        ("run_shell_command", json!({ "command": "cat", "args": many })),
    ] {
        let (asked, mut screen) = bench.ask(question(tool, &input, "c1"));
        let (id, ..) = screen.asked(&bench);
        bench.answer(&id, Press::Button(Action::Deny)).unwrap();
        assert!(words(&bench.run(asked).unwrap()).starts_with("denied: "), "{tool} {input}");
    }
    let allowed = bench.permit("write_file", &write("src/x"));
    assert!(allowed.starts_with("allowed: allowed by rule `all`"), "{allowed}");
}

#[test]
fn who_answers_at_the_daemon_closes_the_question_at_the_front_end() {
    let bench = Bench::new("");
    let house = House::new(&bench, true);
    for (action, permit, end) in [
        (Action::Allow, "allowed: Allowed by Ada", ("allow", "Allowed by Ada")),
        (Action::Deny, "denied: Denied by Ada.", ("deny", "Denied by Ada")),
        (Action::Stop, "stopped: Denied by Ada.", ("deny", "Denied by Ada, and the turn ended")),
    ] {
        let (asked, mut screen) = bench.ask(make("test"));
        let (id, ..) = screen.asked(&bench);
        house.press(&id, action);
        assert_eq!(words(&bench.run(asked).unwrap()), permit);
        let (decision, text) = screen.closed(&bench, &id);
        assert_eq!((&*decision, &*text), end);
        let late = bench.answer(&id, Press::Button(Action::Allow)).unwrap_err();
        assert_eq!(late, format!("Too late. {}.", end.1));
    }
}

#[test]
fn always_is_offered_at_the_daemon_too() {
    let bench = Bench::new("");
    let house = House::new(&bench, true);
    let (asked, mut screen) = bench.ask(make("test"));
    let (id, ..) = screen.asked(&bench);
    house.press(&id, Action::Always(0));
    let expected = "allowed: Allowed by Ada, for this session: run_shell_command(make test)";
    assert_eq!(words(&bench.run(asked).unwrap()), expected);
    let permit = words(&bench.run(bench.gate.decide_question(make("test"))));
    assert_eq!(permit, "allowed: a person has allowed this for the rest of the conversation");
}

#[test]
fn a_front_end_that_takes_no_questions_leaves_them_to_the_daemon() {
    let bench = Bench::new("");
    let mut house = House::new(&bench, false);
    let permit = words(&bench.run(bench.gate.decide_question(make("test"))));
    assert_eq!(permit, "denied: Not decided: nobody can be reached: the tool did not run");
    assert_eq!(bench.count(LedgerKind::Paired), 0);
    house.stop();
    house.start(&bench, true);
    let gate = std::sync::Arc::clone(&bench.gate);
    let asked = bench.spawn(async move { gate.decide_question(make("test")).await });
    let id = house.shown(&bench);
    house.press(&id, Action::Allow);
    assert_eq!(words(&bench.run(asked).unwrap()), "allowed: Allowed by Ada");
}

/// The front end answers the runtime's own questions, and nothing is linked or kept for that.
#[test]
fn the_runtime_needs_no_link() {
    let mut bench = Bench::new("");
    let _house = House::new(&bench, false);
    for _ in 0..2 {
        let (asked, mut screen) = bench.ask(make("test"));
        let (id, ..) = screen.asked(&bench);
        bench.answer(&id, Press::Button(Action::Allow)).unwrap();
        assert_eq!(words(&bench.run(asked).unwrap()), format!("allowed: {TOLD}"));
        bench.restart();
    }
    assert_eq!((bench.count(LedgerKind::Paired), bench.count(LedgerKind::Code)), (0, 0));
    let mut viewer = Viewer::connect(&bench.config.desk_socket.value).unwrap();
    assert!(viewer.links().unwrap().is_empty());
    let store = Store::open_read_only(&bench.config.database).unwrap();
    assert_eq!(store.kept_under("agent/").unwrap(), []);
    assert!(bench.warnings.lock().unwrap().is_empty());
}

#[test]
fn a_question_that_nobody_waits_for_is_withdrawn() {
    let bench = Bench::new("");
    let _house = House::new(&bench, false);
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    asked.abort();
    bench.run(asked).unwrap_err();
    let withdrawn = Some(("timeout".to_owned(), "It was withdrawn".to_owned()));
    assert_eq!(screen.closed_already(), withdrawn, "before anything else can be said");
    assert!(screen.is_over(&bench), "it is said once");
    assert_eq!(bench.closed(&id)["how"], "gone");
}

#[test]
fn a_daemon_that_goes_away_and_does_not_come_back_denies() {
    let bench = Bench::new("");
    let mut house = House::new(&bench, true);
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    house.stop();
    let permit = words(&bench.run(asked).unwrap());
    let expected = "denied: nobody decided, so the tool did not run: the desk went away and was \
                    not back within 1 s";
    assert!(permit.starts_with(expected), "{permit}");
    assert_eq!(screen.closed(&bench, &id).0, "timeout");
    let refused = bench.answer(&id, Press::Button(Action::Allow)).unwrap_err();
    assert!(refused.starts_with("no desk listens at"), "{refused}");
}

#[test]
fn a_daemon_that_is_started_again_goes_on_with_the_question() {
    let bench = Bench::with("", &[("CALLGATE_GRACE_SECONDS", "60")]);
    let mut house = House::new(&bench, false);
    let (asked, mut screen) = bench.ask(make("all"));
    let (id, ..) = screen.asked(&bench);
    house.stop();
    house.start(&bench, false);
    while !bench.kinds(&id).contains(&"returned".to_owned()) {
        std::thread::yield_now();
    }
    assert_eq!(bench.answer(&id, Press::Button(Action::Allow)).unwrap(), TOLD);
    assert_eq!(words(&bench.run(asked).unwrap()), format!("allowed: {TOLD}"));
    assert_eq!(screen.closed(&bench, &id), ("allow".to_owned(), TOLD.to_owned()));
}

#[test]
fn a_daemon_that_appears_later_gets_the_new_questions() {
    let bench = Bench::new("");
    let (first, mut first_screen) = bench.ask(make("one"));
    let (first_id, ..) = first_screen.asked(&bench);
    let house = House::new(&bench, true);
    let (second, mut second_screen) = bench.ask(make("two"));
    let (second_id, ..) = second_screen.asked(&bench);
    house.press(&second_id, Action::Allow);
    assert_eq!(words(&bench.run(second).unwrap()), "allowed: Allowed by Ada");
    assert!(!first.is_finished());
    bench.answer(&first_id, Press::Button(Action::Allow)).unwrap();
    let inside = "allowed: Allowed by the user in the front end";
    assert_eq!(words(&bench.run(first).unwrap()), inside);
}

#[test]
fn no_rule_of_the_daemon_allows_what_has_to_be_asked() {
    let rules = "[[rule]]\nname = \"builds\"\ndecide = \"allow\"\ncommand = \"make *\"";
    let bench = Bench::new(rules);
    let _house = House::new(&bench, false);
    let (asked, mut screen) = bench.ask(make("/etc/passwd"));
    let (id, _, _, reason) = screen.asked(&bench);
    let reason = reason.unwrap();
    assert!(reason.starts_with("the command names `/etc/passwd`, which is outside of"), "{reason}");
    let body: serde_json::Value = serde_json::from_str(&bench.entries(&id)[0].body).unwrap();
    assert_eq!((&body["ruling"], &body["because"]), (&json!("ask"), &json!(reason)));
    bench.answer(&id, Press::Button(Action::Deny)).unwrap();
    assert!(words(&bench.run(asked).unwrap()).starts_with("denied"));
}

#[test]
fn the_front_end_is_told_until_when_and_whether_always_is_on_offer() {
    let before = now_ms();
    let rules = "[[rule]]\nname = \"ask\"\ndecide = \"ask\"\ncommand = \"make asked\"";
    // With a daemon and without.
    for has_daemon in [true, false] {
        let bench = Bench::with(rules, &[("CALLGATE_TIMEOUT_SECONDS", "3000")]);
        let _house = has_daemon.then(|| House::new(&bench, false));
        // The daemon waits no longer than it does for others.
        let patience = if has_daemon { DEADLINE.as_millis() } else { 3_000_000 };
        let patience = u64::try_from(patience).unwrap();
        let asked = |target: &str| {
            let (permit, mut screen) = bench.ask(make(target));
            let asked = screen.question(&bench);
            bench.answer(&asked.question, Press::Button(Action::Deny)).unwrap();
            bench.run(permit).unwrap();
            asked
        };
        let plain = asked("test");
        let deadline = plain.deadline.unwrap();
        assert!((before + patience..=now_ms() + patience).contains(&deadline), "{deadline}");
        assert_eq!(plain.can_allow_always, Some(true));
        let card = plain.card.unwrap();
        assert_eq!(card.row.until_ms, i64::try_from(deadline).unwrap());
        assert_eq!((card.body.command().as_str(), card.offers.len()), ("make test", 1));
        // Neither where a rule asks, nor where somebody always is asked.
        let asked_by_rule = asked("asked");
        assert_eq!(asked_by_rule.can_allow_always, Some(false));
        assert_eq!(asked_by_rule.card.unwrap().offers, []);
        assert_eq!(asked("/etc/passwd").can_allow_always, Some(false));
    }
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

#[test]
fn what_would_change_is_looked_up_for_those_who_see_the_question() {
    let bench = Bench::new("");
    let _house = House::new(&bench, true);
    let input = json!({ "path": "a.txt", "content": "x" });
    let looked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let question = || {
        let looked = std::sync::Arc::clone(&looked);
        let preview: callgate_agent::gate::PreviewFn = std::sync::Arc::new(move |input| {
            looked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let lines = callgate_mask::text::diff_lines("", input.get()).collect();
            let change = Some(ContentChange { lines, ..ContentChange::default() });
            let diff = format!("@@ -0,0 +1 @@\n+{input}\n");
            Box::pin(async { Some(ChangePreview { diff, change }) })
        });
        GateQuestion { preview: Some(preview), ..question("write_file", &input, "c1") }
    };
    let (permit, mut screen) = bench.ask(question());
    let asked = screen.question(&bench);
    assert_eq!(asked.diff, Some(format!("@@ -0,0 +1 @@\n+{input}\n")));
    let body = asked.card.unwrap().body;
    assert!(matches!(&body, CardContent::Edit { path, .. } if path == "a.txt"), "{body:?}");
    assert_eq!(body.text(), format!("+{input}\n"));
    bench.answer(&asked.question, Press::Button(Action::Allow)).unwrap();
    bench.run(permit).unwrap();
    assert_eq!(looked.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn what_stands_at_the_socket_and_is_no_desk_denies() {
    let bench = Bench::new("");
    std::fs::write(&bench.config.socket.value, "").unwrap();
    let permit = words(&bench.run(bench.gate.decide_question(make("all"))));
    assert!(permit.starts_with("denied: nobody can be asked: "), "{permit}");
    let listener = {
        std::fs::remove_file(&bench.config.socket.value).unwrap();
        std::os::unix::net::UnixListener::bind(&bench.config.socket.value).unwrap()
    };
    let closing = std::thread::spawn(move || {
        for _ in 0..3 {
            drop(listener.accept().unwrap());
        }
    });
    let permit = words(&bench.run(bench.gate.decide_question(make("all"))));
    assert!(permit.starts_with("denied: nobody decided, so the tool did not run: "), "{permit}");
    closing.join().unwrap();
}
