//! What the store of a team costs: `cargo bench -p callgate-team-store`.
//!
//! It prints a table. The server runs with fsync and its own defaults.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]
#![allow(dead_code, reason = "the tests use more of what they share with this")]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

#[path = "../tests/store/team.rs"]
mod team;

use std::thread;
use std::time::{Duration, Instant};

use callgate_store::{ChainHead, EntryDraft, LedgerEntry};
use callgate_team_store::{
    AuditCopy, AuditFilter, AuditLabels, PostgresSettings, PostgresTeamStore, TeamChange,
    TeamQuestionState, TeamStore,
};
use callgate_testkit::postgres_server::PostgresServer;
use callgate_wire::HiddenText;
use callgate_wire::approval::Decision;
use team::{answer, ask, id};

const QUESTIONS: u64 = 1000;
const ROUND_TRIPS: u64 = 300;
const DESKS: u64 = 4;
const ENTRIES: usize = 100_000;
/// The length of an entry's body.
const BODY: usize = 250;

/// Opens a connection to a store.
type Open<'a> = &'a dyn Fn() -> Box<dyn TeamStore>;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("nothing measured: run `cargo bench -p callgate-team-store`");
        return;
    }
    let server = PostgresServer::create().expect("PostgreSQL 15");
    // As an administrator would run it: with fsync, and Debian's settings.
    server.start_with(&[]);
    let url = HiddenText::new(server.url(&server.make_database()));
    let patience = Duration::from_mins(1);
    let settings = PostgresSettings { url, desk: "desk".into(), patience };
    println!("| measure | PostgreSQL |\n|---|---|");
    for (what, figure) in measure(&|| Box::new(PostgresTeamStore::open(&settings).unwrap())) {
        println!("| {what} | {figure:.2} |");
    }
}

fn measure(open: Open<'_>) -> Vec<(&'static str, f64)> {
    let mut figures = vec![
        ("questions asked and answered a second, one desk", rate_of_questions(open, 1)),
        ("questions asked and answered a second, four desks", rate_of_questions(open, DESKS)),
    ];
    let [half, most] = round_trips(open);
    figures.push(("asked, seen, answered and seen, p50, ms", half));
    figures.push(("asked, seen, answered and seen, p99, ms", most));
    figures.extend(audit(open));
    figures
}

fn rate_of_questions(open: Open<'_>, desks: u64) -> f64 {
    let stores: Vec<_> = (0..desks).map(|_| open()).collect();
    let start = Instant::now();
    thread::scope(|scope| {
        for (desk, mut store) in (desks * 1_000_000..).step_by(10_000).zip(stores) {
            scope.spawn(move || {
                for number in desk..desk + QUESTIONS / desks {
                    store.ask_question(&ask(number)).unwrap();
                    store.answer_question(&answer(number, number, "ada")).unwrap();
                }
            });
        }
    });
    QUESTIONS as f64 / start.elapsed().as_secs_f64()
}

/// One desk asks, another sees the question and answers it, and the first sees the answer.
fn round_trips(open: Open<'_>) -> [f64; 2] {
    let (mut asking, mut waiting, mut answering, mut watching) = (open(), open(), open(), open());
    let first = asking.changes_after(0).unwrap().len() as u64;
    let mut last = 0;
    while let Some(change) = asking.changes_after(last).unwrap().last() {
        last = change.number();
    }
    assert!(first > 0);
    let answerer = thread::spawn(move || {
        let (mut after, mut answered) = (last, 0);
        while answered < ROUND_TRIPS {
            for change in watching.wait_for_changes(after, Duration::from_mins(1)).unwrap() {
                after = change.number();
                let TeamChange::Question(question) = change else { continue };
                if question.state == TeamQuestionState::Open {
                    answered += 1;
                    let mut answer = answer(0, 9_000_000 + answered, "ada");
                    answer.question = question.id;
                    answering.answer_question(&answer).unwrap();
                }
            }
        }
    });
    let mut after = last;
    let mut times = Vec::new();
    for number in 0..ROUND_TRIPS {
        let start = Instant::now();
        asking.ask_question(&ask(50_000_000 + number)).unwrap();
        let wanted = id(50_000_000 + number);
        'answered: loop {
            for change in waiting.wait_for_changes(after, Duration::from_mins(1)).unwrap() {
                after = change.number();
                if matches!(&change, TeamChange::Question(question) if question.id == wanted
                    && question.state != TeamQuestionState::Open)
                {
                    break 'answered;
                }
            }
        }
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    answerer.join().unwrap();
    times.sort_by(f64::total_cmp);
    [times[times.len() / 2], times[times.len() * 99 / 100]]
}

fn audit(open: Open<'_>) -> Vec<(&'static str, f64)> {
    let mut store = open();
    let mut head = ChainHead::NONE;
    let entries = (0..ENTRIES).map(|number| {
        let body = format!(r#"{{"tool":"Bash","summary":"{}"}}"#, "x".repeat(BODY - 30));
        let question = (number % 10 == 0).then(|| format!("question {number}"));
        let draft = EntryDraft { at_ms: 1, kind: "checked".into(), question, body };
        let entry = LedgerEntry::chain_draft(&head, draft);
        head = entry.head();
        let labels = AuditLabels {
            project: Some(format!("project {}", number % 100)),
            agent: Some("claude".into()),
            who: Some("a rule".into()),
            decision: (number % 10 == 0).then_some(Decision::Allow),
        };
        AuditCopy { labels, entry }
    });
    let entries: Vec<AuditCopy> = entries.collect();
    let before = store.read_status().unwrap().bytes;
    let start = Instant::now();
    let mut after = ChainHead::NONE;
    for part in entries.chunks(500) {
        after = store.copy_entries("laptop", after, part).unwrap();
    }
    let rate = ENTRIES as f64 / start.elapsed().as_secs_f64();
    let bytes = (store.read_status().unwrap().bytes - before) as f64 / ENTRIES as f64;
    let filter = AuditFilter {
        project: Some("project 30".into()),
        decision: Some(Decision::Allow),
        within: Some(Duration::from_hours(24 * 7)),
        most: 50,
        ..AuditFilter::default()
    };
    let mut times: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            assert_eq!(store.search_audit(&filter).unwrap().len(), 50);
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let start = Instant::now();
    store.verify_chain("laptop").unwrap().unwrap();
    let walk = ENTRIES as f64 / start.elapsed().as_secs_f64();
    vec![
        ("audit entries copied a second, 500 at once", rate),
        ("bytes of an audit entry with a body of 250 bytes, with indexes", bytes),
        ("\"who allowed what in X last week\", 50 of 100,000 entries, ms", times[10]),
        ("audit entries verified a second", walk),
    ]
}
