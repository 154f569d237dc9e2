//! The history as viewers see it: pages, search, figures, exports, sessions, and the proof.

use callgate_client::viewer::Viewer;
use callgate_store::{EntryDraft, Store, now_ms};
use callgate_wire::approval::{Action, ApprovalRequest};
use callgate_wire::desk::{
    AnswerChannel, DeskAnswer, DeskCommand, DeskHistory, ExportFormat, HistoryDecider,
    HistoryDecision, HistoryFilter, HistoryRow, SessionView, VerifiedLedger,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::house::{DEADLINE, House, button, database, next_of, request, told};

const HOUR_MS: i64 = 3_600_000;

/// A ledger that is written by hand.
struct Writer {
    store: Store,
    at_ms: i64,
}

impl Writer {
    fn new(folder: &TempDir) -> Self {
        let path = database(folder.path());
        Self { store: Store::open(&path).unwrap(), at_ms: now_ms() - 2 * HOUR_MS }
    }

    fn add(&mut self, kind: &str, question: Option<&str>, body: &Value) {
        self.at_ms += 1000;
        let (kind, question) = (kind.to_owned(), question.map(str::to_owned));
        let draft = EntryDraft { at_ms: self.at_ms, kind, question, body: body.to_string() };
        self.store.append_entries(&[draft]).unwrap();
    }

    fn asked(&mut self, id: &str, command: &str, project: &str) {
        let body = json!({
            "tool": "Bash", "summary": command, "cwd": project, "session": "s1",
            "agent": "claude-code", "ruling": "ask", "mode": "default",
            "request": {
                "tool_name": "Bash", "tool_input": { "command": command }, "cwd": project,
                "context": { "last_words": format!("About {command}.") },
            },
        });
        self.add("asked", Some(id), &body);
    }

    fn decided(&mut self, id: &str, decision: &str) {
        self.add("pressed", Some(id), &json!({ "channel": "telegram", "outcome": "decided" }));
        self.add("decided", Some(id), &json!({ "decision": decision, "by": "Ada" }));
        self.add("closed", Some(id), &json!({ "how": "answered" }));
    }

    fn checked(&mut self, command: &str, decision: &str) {
        let body = json!({
            "tool": "Bash", "summary": command, "cwd": "/p", "session": "s2", "agent": "codex",
            "decision": decision, "by": "rule `builds`", "mode": "bypassPermissions",
        });
        self.add("checked", None, &body);
    }
}

fn ask(viewer: &mut Viewer, command: DeskCommand) -> DeskAnswer {
    viewer.ask(command, DEADLINE).unwrap()
}

fn page(viewer: &mut Viewer, filter: &HistoryFilter, before: Option<u64>) -> DeskHistory {
    let command = DeskCommand::History { filter: filter.clone(), before, limit: Some(3) };
    match ask(viewer, command) {
        DeskAnswer::History(history) => history,
        other => panic!("no history: {other:?}"),
    }
}

/// All rows, page by page.
fn rows(viewer: &mut Viewer, filter: &HistoryFilter) -> Vec<HistoryRow> {
    let (mut rows, mut before) = (Vec::new(), None);
    loop {
        let page = page(viewer, filter, before);
        assert!(page.rows.len() <= 3 && (page.rows.len() == 3 || page.next.is_none()));
        rows.extend(page.rows);
        before = page.next;
        if before.is_none() {
            return rows;
        }
    }
}

fn summaries(viewer: &mut Viewer, filter: &HistoryFilter) -> Vec<String> {
    rows(viewer, filter).into_iter().map(|row| row.summary).collect()
}

fn written() -> House {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(&folder);
    for number in 0..10 {
        let id = format!("q{number}");
        writer.asked(&id, &format!("make {number}"), "/home/ada/engine");
        // Each is decided after the next one was asked, so that every page cuts one in two.
        if number > 0 {
            let before = format!("q{}", number - 1);
            writer.decided(&before, if number % 2 == 0 { "deny" } else { "allow" });
        }
    }
    writer.checked("cargo build", "allow");
    writer.checked("rm -rf /", "deny");
    let ran = json!({ "tool": "Read", "summary": "Größe.txt", "cwd": "/p", "ok": true });
    writer.add("ran", None, &ran);
    drop(writer);
    House::over(folder, None)
}

/// Each page begins anywhere: here between the end of a question and the report of its run.
#[test]
fn a_page_that_begins_before_a_run_knows_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(&folder);
    for number in 0..4 {
        let id = format!("q{number}");
        writer.asked(&id, &format!("make {number}"), "/p");
        writer.decided(&id, "allow");
    }
    for number in 0..4 {
        let ran = json!({ "tool": "Bash", "summary": "make", "cwd": "/p", "ok": false });
        writer.add("ran", Some(&format!("q{number}")), &ran);
    }
    drop(writer);
    let house = House::over(folder, None);
    let all = rows(&mut house.viewer(), &HistoryFilter::default());
    let ends: Vec<_> = all.iter().map(|row| (row.decision, row.ok)).collect();
    assert_eq!(ends, [(HistoryDecision::Allow, Some(false)); 4]);
}

#[test]
fn pages_have_neither_gaps_nor_doubles() {
    let house = written();
    let all = rows(&mut house.viewer(), &HistoryFilter::default());
    let summaries: Vec<&str> = all.iter().map(|row| row.summary.as_str()).collect();
    let mut expected = vec!["Größe.txt", "rm -rf /", "cargo build"];
    let made: Vec<String> = (0..10).rev().map(|number| format!("make {number}")).collect();
    expected.extend(made.iter().map(String::as_str));
    assert_eq!(summaries, expected);
    assert!(all.windows(2).all(|pair| pair[0].seq > pair[1].seq));
    // Whatever page a question is on, what became of it is known.
    let decisions: Vec<HistoryDecision> = all[3..].iter().map(|row| row.decision).collect();
    let (allow, deny) = (HistoryDecision::Allow, HistoryDecision::Deny);
    let pairs = [allow, deny, allow, deny, allow, deny, allow, deny, allow];
    assert_eq!(decisions[1..], pairs);
    assert_eq!(decisions[0], HistoryDecision::Open);
    let row = &all[4];
    assert_eq!((row.by.as_deref(), row.channel), (Some("Ada"), Some(AnswerChannel::Telegram)));
    assert_eq!((row.took_ms, row.agent.as_deref()), (Some(6000), Some("Claude Code")));
    let rule = &all[1];
    assert_eq!((rule.decision, rule.channel), (deny, Some(AnswerChannel::Rule)));
    assert_eq!((all[0].decision, all[0].ok), (HistoryDecision::Ran, Some(true)));
}

#[test]
fn filters_select_and_search_finds_every_word() {
    let house = written();
    let mut viewer = house.viewer();
    let mut found = |filter: HistoryFilter| summaries(&mut viewer, &filter);
    let of = |text: &str| HistoryFilter { text: Some(text.to_owned()), ..HistoryFilter::default() };
    assert_eq!(found(of("MAKE 7")), ["make 7"]);
    assert_eq!(found(of("größe")), ["Größe.txt"]);
    assert_eq!(found(of("ada deny nothing")), [""; 0]);
    assert_eq!(found(of("builds cargo")), ["cargo build"]);
    let by_rule = HistoryFilter { by: Some(HistoryDecider::Rule), ..HistoryFilter::default() };
    assert_eq!(found(by_rule), ["rm -rf /", "cargo build"]);
    let open = HistoryFilter { decision: Some(HistoryDecision::Open), ..HistoryFilter::default() };
    assert_eq!(found(open), ["make 9"]);
    let named = |project: &str, agent: &str| HistoryFilter {
        project: Some(project.to_owned()),
        agent: Some(agent.to_owned()),
        ..HistoryFilter::default()
    };
    assert_eq!(found(named("engine", "claude code")).len(), 10);
    assert_eq!(found(named("ada/engine", "claude-code")).len(), 10);
    assert_eq!(found(named("gine", "claude-code")), [""; 0]);
    assert_eq!(found(named("/p", "codex")).len(), 2);
    let tool = HistoryFilter { tool: Some("Read".to_owned()), ..HistoryFilter::default() };
    assert_eq!(found(tool), ["Größe.txt"]);
    let session = HistoryFilter { session: Some("s2".to_owned()), ..HistoryFilter::default() };
    assert_eq!(found(session).len(), 2);
    let all = rows(&mut house.viewer(), &HistoryFilter::default());
    let time = HistoryFilter {
        since_ms: Some(all[5].at_ms),
        until_ms: Some(all[3].at_ms),
        ..HistoryFilter::default()
    };
    assert_eq!(found(time), ["make 8", "make 7"]);
}

#[test]
fn an_export_has_every_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(&folder);
    let long = "x".repeat(350);
    for number in 0..1500 {
        writer.checked(&format!("={number}, \"{long}\""), "allow");
    }
    drop(writer);
    let house = House::over(folder, None);
    let mut viewer = house.viewer();
    for format in [ExportFormat::Jsonl, ExportFormat::Csv] {
        let (mut text, mut before, mut parts) = (String::new(), None, 0);
        loop {
            let filter = HistoryFilter::default();
            let answer = ask(&mut viewer, DeskCommand::Export { format, filter, before });
            let DeskAnswer::Exported(part) = answer else { panic!("{answer:?}") };
            (text, before, parts) = (text + &part.text, part.next, parts + 1);
            if before.is_none() {
                break;
            }
        }
        assert!(parts > 1, "it comes in parts");
        let lines: Vec<&str> = text.lines().collect();
        if format == ExportFormat::Csv {
            assert_eq!(lines.len(), 1501);
            assert!(lines[0].starts_with("seq,time,question,tool,summary"));
            assert!(lines[1].contains(",\"'=1499, \"\"xxx"), "{}", lines[1]);
            assert!(lines[1500].contains("\"'=0, "));
        } else {
            let seqs: Vec<u64> = (lines.iter())
                .map(|line| serde_json::from_str::<HistoryRow>(line).unwrap().seq)
                .collect();
            assert_eq!(seqs.len(), 1500);
            assert!(seqs.windows(2).all(|pair| pair[0] == pair[1] + 1));
        }
    }
}

#[test]
fn figures_count_who_decided_and_how_long_it_took() {
    let house = written();
    let command = DeskCommand::Figures { filter: HistoryFilter::default() };
    let answer = ask(&mut house.viewer(), command);
    let DeskAnswer::Figures(figures) = answer else { panic!("{answer:?}") };
    let shares = &figures.shares;
    assert_eq!((shares.allowed, shares.denied), (5, 4));
    assert_eq!((shares.by_rule, shares.timeout), (2, 0));
    let asked: u64 = figures.hours.iter().map(|hour| hour.asked).sum();
    assert_eq!(asked, 10);
    assert!(figures.hours.iter().all(|hour| hour.at_ms % HOUR_MS == 0));
    let times = &figures.answer_ms;
    assert_eq!((times.p50, times.p90), (Some(6000), Some(6000)));
    let counts: Vec<u64> = times.buckets.iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [0, 1, 8, 0, 0, 0, 0, 0, 0, 0]);
    let projects: Vec<(&str, u64)> =
        figures.by_project.iter().map(|project| (project.name.as_str(), project.count)).collect();
    assert_eq!(projects, [("/home/ada/engine", 10), ("/p", 3)]);
    assert_eq!(figures.by_agent[0].name, "Claude Code");
    assert_eq!((figures.by_tool[0].allowed, figures.by_tool[0].denied), (6, 5));
}

#[test]
fn sessions_show_what_agents_wait_for_and_warn_about_modes() {
    let house = written();
    let answer = ask(&mut house.viewer(), DeskCommand::Sessions { since_ms: None });
    let DeskAnswer::Sessions { sessions } = answer else { panic!("{answer:?}") };
    let names: Vec<&str> = sessions.iter().map(|session| session.session.as_str()).collect();
    assert_eq!(names, ["s2", "s1"], "the one heard of last comes first");
    let SessionView { waiting, allowed_today, denied_today, by_rule_today, .. } = sessions[1];
    assert_eq!((waiting, allowed_today, denied_today, by_rule_today), (1, 5, 4, 0));
    assert_eq!(sessions[1].last_words.as_deref(), Some("About make 9."));
    assert_eq!(sessions[1].warning, None);
    assert_eq!(sessions[0].by_rule_today, 2);
    let warning = sessions[0].warning.as_deref().unwrap();
    assert!(warning.starts_with("In bypassPermissions mode this agent asks nobody."), "{warning}");
    let later = DeskCommand::Sessions { since_ms: Some(now_ms()) };
    let answer = ask(&mut house.viewer(), later);
    let DeskAnswer::Sessions { sessions } = answer else { panic!("{answer:?}") };
    assert_eq!((sessions[1].allowed_today, sessions[1].waiting), (0, 1), "today has just begun");
}

#[test]
fn calls_of_other_machines_are_known_by_their_machine() {
    let folder = tempfile::tempdir().unwrap();
    // A repository here, at the path of a folder there.
    let project = folder.path().join("engine").to_str().unwrap().to_owned();
    std::fs::create_dir_all(folder.path().join("engine/.git")).unwrap();
    std::fs::write(folder.path().join("engine/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let mut writer = Writer::new(&folder);
    writer.asked("q1", "make here", &project);
    writer.decided("q1", "allow");
    let asked = json!({
        "tool": "Bash", "summary": "make there", "cwd": project, "session": "s1",
        "agent": "claude-code", "ruling": "ask", "mode": "bypassPermissions", "machine": "build-7",
        "request": { "tool_name": "Bash", "tool_input": { "command": "make there" }, "cwd": project },
    });
    writer.add("asked", Some("q2"), &asked);
    writer.decided("q2", "allow");
    drop(writer);
    let house = House::over(folder, None);
    let mut viewer = house.viewer();
    let command = DeskCommand::Figures { filter: HistoryFilter::default() };
    let DeskAnswer::Figures(figures) = ask(&mut viewer, command) else { panic!("no figures") };
    let machines: Vec<_> = figures.by_machine.iter().map(|it| (&*it.name, it.count)).collect();
    assert_eq!(machines, [("build-7", 1)]);
    for (machine, expected) in [("build-7", "make there"), ("", "make here")] {
        let filter =
            HistoryFilter { machine: Some(machine.to_owned()), ..HistoryFilter::default() };
        let found = rows(&mut viewer, &filter);
        let found: Vec<&str> = found.iter().map(|row| row.summary.as_str()).collect();
        assert_eq!(found, [expected]);
    }
    let answer = ask(&mut viewer, DeskCommand::Sessions { since_ms: None });
    let DeskAnswer::Sessions { sessions } = answer else { panic!("{answer:?}") };
    let told: Vec<_> = sessions
        .iter()
        .map(|it| (it.machine.as_deref(), it.branch.as_deref(), it.warning.is_some()))
        .collect();
    assert_eq!(told, [(Some("build-7"), None, false), (None, Some("main"), false)]);
}

#[test]
fn what_happens_now_is_in_the_history_at_once() {
    let house = House::new();
    let (mut ada, _) = house.paired("Ada's page");
    ada.watch(None).unwrap();
    // As `callgate ask` does.
    let asked = ApprovalRequest { agent: Some("script".to_owned()), ..request("make") };
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let row = rows(&mut ada, &HistoryFilter::default()).remove(0);
    assert_eq!((row.decision, row.channel), (HistoryDecision::Open, None));
    let sessions = ask(&mut ada, DeskCommand::Sessions { since_ms: None });
    let DeskAnswer::Sessions { sessions } = sessions else { panic!("{sessions:?}") };
    assert_eq!(sessions, [], "a run of a script is no session");
    assert!(told(&mut ada, button(&id, Action::Allow)).0);
    answer.join().unwrap().unwrap();
    let row = rows(&mut ada, &HistoryFilter::default()).remove(0);
    assert_eq!((row.decision, row.by.as_deref()), (HistoryDecision::Allow, Some("Ada's page")));
    assert_eq!(row.channel, Some(AnswerChannel::Viewer));
    assert!(row.took_ms.is_some());
}

#[test]
fn the_ledger_is_verified_for_a_viewer() {
    let house = written();
    let verify = |house: &House| -> VerifiedLedger {
        match ask(&mut house.viewer(), DeskCommand::Verify) {
            DeskAnswer::Verified(verified) => verified,
            other => panic!("not verified: {other:?}"),
        }
    };
    let whole = verify(&house);
    assert!(whole.whole && whole.head.is_some(), "{whole:?}");
    assert_eq!(whole.entries, house.entries().len() as u64);
    let database = rusqlite::Connection::open(house.database()).unwrap();
    let changed = database.execute("UPDATE entries SET body = '{}' WHERE seq = 5", []).unwrap();
    assert_eq!(changed, 1);
    let broken = verify(&house);
    assert!(!broken.whole && broken.head.is_none(), "{broken:?}");
    assert_eq!(broken.entries, 4);
    assert!(broken.text.contains("broken at entry 5"), "{}", broken.text);
}
