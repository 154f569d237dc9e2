//! Tables of the versions before keep what they have.

use std::fmt::Write as _;

use callgate_store::{ChainHead, EntryDraft, LedgerEntry};
use callgate_team_store::{
    AnswerReceipt, AuditChainReport, AuditFilter, DocumentKind, PostgresTeamStore,
    TeamQuestionState, TeamStore,
};
use callgate_testkit::postgres_server::shared_server;

use super::fixture::settings;
use super::team::{answer, ask, edit, id, ledger};

/// Statements that fill tables of a version with an answered question, an open one and a member,
/// and from version 2 on with the log of a desk.
fn fill(version: usize) -> String {
    let now = "now_ms()";
    let (question, open, answered) = (id(1), id(2), answer(1, 1, "ada"));
    let (edited, body) = (edit("ada", 0, 1, None).id, answered.body.clone());
    let answer = answered.id;
    let mut sql = format!(
        "INSERT INTO questions (id, machine, project, agent, act, asked_ms, deadline_ms, state,
             closed_ms, answer_id, answered_by, decision, answer, changed)
         VALUES ('{question}', 'laptop', 'shop', 'claude', '{{}}', {now}, {now} + 600000,
             'answered', {now}, '{answer}', 'ada', 'allow', '{body}', 1);
         INSERT INTO questions (id, machine, project, agent, act, asked_ms, deadline_ms, changed)
         VALUES ('{open}', 'laptop', 'shop', 'claude', '{{}}', {now}, {now} + 600000, 2);
         INSERT INTO documents (kind, name, version, body, edit_id, edited_by, edited_ms, changed)
         VALUES ('member', 'ada', 1, '{{}}', '{edited}', 'owner', {now}, 3);"
    );
    if version < 2 {
        return sql;
    }
    let hex = |hash: &[u8]| {
        let digits: String =
            hash.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        format!("decode('{digits}', 'hex')")
    };
    let mut head = ChainHead::NONE;
    for (kind, at_ms) in [("team_asked", 1), ("team_answered", 2)] {
        let question = Some(question.to_string());
        let draft = EntryDraft { at_ms, kind: kind.to_owned(), question, body: "{}".to_owned() };
        let LedgerEntry { seq, hash, .. } = {
            let entry = LedgerEntry::chain_draft(&head, draft);
            head = entry.head();
            entry
        };
        let hash = hex(&hash);
        write!(
            sql,
            "INSERT INTO audit (chain, seq, recorded_ms, at_ms, kind, question, body, hash)
             VALUES (1, {seq}, {now}, {at_ms}, '{kind}', '{}', '{{}}', {hash});",
            id(1)
        )
        .unwrap();
    }
    let (start, end) = (hex(&ChainHead::NONE.hash), hex(&head.hash));
    write!(
        sql,
        "INSERT INTO chains (machine, start_seq, start_hash, head_seq, head_hash, recorded_ms)
         VALUES ('desk', 0, {start}, 2, {end}, {now});"
    )
    .unwrap();
    sql
}

/// Checks that everything is there, and that it goes on.
fn check_kept(store: &mut dyn TeamStore, version: usize) {
    let found = store.find_question(&id(1)).unwrap().unwrap();
    assert_eq!(found.state, TeamQuestionState::Answered(answer(1, 1, "ada")));
    let again = store.answer_question(&answer(1, 1, "ada")).unwrap();
    assert!(matches!(again, AnswerReceipt::Repeated(_)), "{again:?}");
    assert_eq!(store.open_questions().unwrap().len(), 1);
    let member = store.find_document(DocumentKind::Member, "ada").unwrap().unwrap();
    assert_eq!((member.version, member.body.as_deref(), member.changed), (1, Some("{}"), 3));
    assert_eq!(store.last_change().unwrap(), 3);
    let before = if version < 2 { 0 } else { 2 };
    let all = AuditFilter { most: 100, ..AuditFilter::default() };
    assert_eq!(store.search_audit(&all).unwrap().len(), before);
    store.answer_question(&answer(2, 2, "ada")).unwrap();
    store.ask_question(&ask(3)).unwrap();
    store.copy_entries("laptop", ChainHead::NONE, &ledger(ChainHead::NONE, 5)).unwrap();
    store.tend_audit().unwrap();
    let Some(AuditChainReport::Whole { entries, .. }) = store.verify_chain("desk").unwrap() else {
        panic!("version {version}")
    };
    assert_eq!(entries, before as u64 + 2);
}

#[test]
fn a_server_with_older_tables_keeps_what_it_has() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let steps =
        [include_str!("../../src/postgres/v1.sql"), include_str!("../../src/postgres/v2.sql")];
    for version in 1..=2 {
        let database = server.make_database();
        let mut sql = "CREATE SCHEMA callgate_team;
            CREATE TABLE callgate_team.layout (version int PRIMARY KEY, usable_from int NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT clock_timestamp());"
            .to_owned();
        for (step, number) in steps.iter().zip(1..=version) {
            write!(sql, "{step} INSERT INTO callgate_team.layout VALUES ({number}, {number});")
                .unwrap();
        }
        server.query(&database, &sql);
        let rows = fill(version);
        server.query(&database, &format!("SET search_path = callgate_team; {rows}"));
        let mut store = PostgresTeamStore::open(&settings(&server.url(&database), "desk")).unwrap();
        check_kept(&mut store, version);
        let newest = "SELECT max(version) FROM callgate_team.layout";
        assert_eq!(server.query(&database, newest), "3");
    }
}
