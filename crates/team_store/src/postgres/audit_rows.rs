//! The audit log as rows of the server.

use callgate_store::{ChainHead, EntryDraft, LedgerEntry};
use callgate_wire::approval::Decision;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::database_link::ServerSession;
use super::faults::ServerFault;
use crate::audit::{
    AUDIT_COLUMNS, AuditChainReport, AuditCopy, AuditFilter, AuditLabels, AuditRecord, AuditRow,
    AuditWalk, ChainMark, CopyPlan, FilterValue, plan_copies, read_head, sql_number,
};
use crate::error::TeamStoreError;

const MAKE_CHAIN: &str =
    "INSERT INTO chains (machine, start_seq, start_hash, head_seq, head_hash, recorded_ms)
     VALUES ($1, $2, $3, $2, $3, 0) ON CONFLICT (machine) DO NOTHING";
const LOCK_CHAIN: &str =
    "SELECT key, start_seq, head_seq, start_hash, head_hash, greatest(recorded_ms, now_ms())
     FROM chains WHERE machine = $1 FOR UPDATE";
const READ_CHAIN: &str = "SELECT key, start_seq, head_seq, start_hash, head_hash, recorded_ms
     FROM chains WHERE machine = $1";
const APPEND: &str =
    "WITH added AS (INSERT INTO audit (chain, seq, recorded_ms, at_ms, kind, question, project,
         agent, who, decision, body, hash)
         SELECT $1, seq, $2, at_ms, kind, question, project, agent, who, decision, body, hash
         FROM unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::text[], $10::text[], $11::text[], $12::bytea[])
         AS new (seq, at_ms, kind, question, project, agent, who, decision, body, hash))
     UPDATE chains SET head_seq = $13, head_hash = $14, recorded_ms = $2 WHERE key = $1";
const HASH_OF: &str = "SELECT hash FROM audit WHERE chain = $1 AND seq = $2";
const COMMIT: &str = "COMMIT";
/// Tells those who wait that something has changed. The hint leaves with the commit.
const COMMIT_CHANGE: &str = "NOTIFY callgate_team; COMMIT";
/// How many entries are read at once for verification.
const PART: i64 = 5000;

/// Appends an entry to the chain of a desk, and commits.
pub(super) async fn append_and_commit(
    session: &mut ServerSession,
    desk: &str,
    (labels, draft): (AuditLabels, EntryDraft),
) -> Result<(), ServerFault> {
    let mark = open_chain(session, desk, ChainHead::NONE).await?;
    let entry = LedgerEntry::chain_draft(&mark.head, draft);
    write_and_commit(session, &mark, &[AuditCopy { labels, entry }], COMMIT_CHANGE).await?;
    Ok(())
}

/// Copies entries that are known to be a chain.
pub(super) async fn copy_entries(
    session: &mut ServerSession,
    machine: &str,
    after: ChainHead,
    copies: &[AuditCopy],
) -> Result<ChainHead, ServerFault> {
    session.client.batch_execute("BEGIN").await?;
    let mark = open_chain(session, machine, after).await?;
    match plan_copies(mark.head, after, copies)? {
        CopyPlan::Append(new) => write_and_commit(session, &mark, new, COMMIT).await,
        CopyPlan::Compare(sent) => {
            let statement = session.prepare(HASH_OF).await?;
            let values: [&(dyn ToSql + Sync); 2] = [&mark.key, &sql_number(sent.seq)];
            let row = session.client.query_opt(&statement, &values).await?;
            session.client.batch_execute("ROLLBACK").await?;
            match row.map(|row| row.get::<_, Vec<u8>>(0)) {
                Some(hash) if hash != sent.hash => {
                    Err(TeamStoreError::Forked { seq: sent.seq }.into())
                }
                // It may have been removed since.
                _ => Ok(mark.head),
            }
        }
    }
}

/// Locks the chain of a machine until the end of the transaction. If it has none, one is made that
/// begins after `start`.
async fn open_chain(
    session: &mut ServerSession,
    machine: &str,
    start: ChainHead,
) -> Result<ChainMark, ServerFault> {
    let lock = session.prepare(LOCK_CHAIN).await?;
    if let Some(row) = session.client.query_opt(&lock, &[&machine]).await? {
        return Ok(read_mark(&row)?);
    }
    let make = session.prepare(MAKE_CHAIN).await?;
    let values: [&(dyn ToSql + Sync); 3] =
        [&machine, &sql_number(start.seq), &start.hash.as_slice()];
    session.client.execute(&make, &values).await?;
    Ok(read_mark(&session.client.query_one(&lock, &[&machine]).await?)?)
}

/// Appends entries to a locked chain, commits, and returns its new end.
async fn write_and_commit(
    session: &mut ServerSession,
    mark: &ChainMark,
    copies: &[AuditCopy],
    commit: &str,
) -> Result<ChainHead, ServerFault> {
    let Some(last) = copies.last() else {
        session.client.batch_execute(commit).await?;
        return Ok(mark.head);
    };
    let head = last.entry.head();
    let entries = || copies.iter().map(|copy| &copy.entry);
    let labels = || copies.iter().map(|copy| &copy.labels);
    let seqs: Vec<i64> = entries().map(|entry| sql_number(entry.seq)).collect();
    let times: Vec<i64> = entries().map(|entry| entry.at_ms).collect();
    let kinds: Vec<&str> = entries().map(|entry| entry.kind.as_str()).collect();
    let questions: Vec<Option<&str>> = entries().map(|entry| entry.question.as_deref()).collect();
    let projects: Vec<Option<&str>> = labels().map(|labels| labels.project.as_deref()).collect();
    let agents: Vec<Option<&str>> = labels().map(|labels| labels.agent.as_deref()).collect();
    let people: Vec<Option<&str>> = labels().map(|labels| labels.who.as_deref()).collect();
    let decisions: Vec<Option<&str>> =
        labels().map(|labels| labels.decision.map(Decision::name)).collect();
    let bodies: Vec<&str> = entries().map(|entry| entry.body.as_str()).collect();
    let hashes: Vec<&[u8]> = entries().map(|entry| entry.hash.as_slice()).collect();
    let append = session.prepare(APPEND).await?;
    let values: [&(dyn ToSql + Sync); 14] = [
        &mark.key,
        &mark.recorded_ms,
        &seqs,
        &times,
        &kinds,
        &questions,
        &projects,
        &agents,
        &people,
        &decisions,
        &bodies,
        &hashes,
        &sql_number(head.seq),
        &head.hash.as_slice(),
    ];
    // Both are sent at once. If the first fails, the server takes the second as a rollback.
    let appended = session.client.execute(&append, &values);
    tokio::try_join!(appended, session.client.batch_execute(commit))?;
    Ok(head)
}

pub(super) async fn read_chain_heads(
    session: &mut ServerSession,
) -> Result<Vec<(String, ChainHead)>, ServerFault> {
    let query = "SELECT machine, head_seq, head_hash FROM chains ORDER BY machine";
    let rows = session.client.query(query, &[]).await?;
    let read = |row: &Row| Ok((row.get(0), read_head(row.get(1), row.get(2))?));
    Ok(rows.iter().map(read).collect::<Result<_, TeamStoreError>>()?)
}

pub(super) async fn search(
    session: &mut ServerSession,
    filter: &AuditFilter,
) -> Result<Vec<AuditRecord>, ServerFault> {
    let (query, values) = filter.build_query("now_ms()");
    let values: Vec<&(dyn ToSql + Sync)> = values
        .iter()
        .map(|value| match value {
            FilterValue::Text(text) => text as &(dyn ToSql + Sync),
            FilterValue::Number(number) => number,
        })
        .collect();
    let rows = session.client.query(&query, &values).await?;
    Ok(rows.iter().map(|row| read_entry(row, row.get(12))).collect::<Result<_, _>>()?)
}

pub(super) async fn verify(
    session: &mut ServerSession,
    machine: &str,
) -> Result<Option<AuditChainReport>, ServerFault> {
    // One view of the log, however long it takes and whoever writes meanwhile.
    session.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let report = walk(session, machine).await?;
    session.client.batch_execute("ROLLBACK").await?;
    Ok(report)
}

async fn walk(
    session: &mut ServerSession,
    machine: &str,
) -> Result<Option<AuditChainReport>, ServerFault> {
    let Some(row) = session.client.query_opt(READ_CHAIN, &[&machine]).await? else {
        return Ok(None);
    };
    let mark = read_mark(&row)?;
    let mut walk = AuditWalk::new(mark.start);
    let query = format!(
        "SELECT {AUDIT_COLUMNS} FROM audit WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT {PART}"
    );
    let statement = session.client.prepare(&query).await?;
    loop {
        let values: [&(dyn ToSql + Sync); 2] = [&mark.key, &sql_number(walk.last.seq)];
        let rows = session.client.query(&statement, &values).await?;
        for row in &rows {
            if let Some(broken) = walk.take_entry(&read_entry(row, String::new())?.entry) {
                return Ok(Some(broken));
            }
        }
        if rows.is_empty() {
            return Ok(Some(walk.finish(mark.head)));
        }
    }
}

fn read_mark(row: &Row) -> Result<ChainMark, TeamStoreError> {
    let hashes = [row.get(3), row.get(4)];
    ChainMark::read(row.get(0), [row.get(1), row.get(2)], hashes, row.get(5))
}

fn read_entry(row: &Row, machine: String) -> Result<AuditRecord, TeamStoreError> {
    let row = AuditRow {
        chain: row.get(0),
        seq: row.get(1),
        recorded_ms: row.get(2),
        at_ms: row.get(3),
        kind: row.get(4),
        question: row.get(5),
        project: row.get(6),
        agent: row.get(7),
        who: row.get(8),
        decision: row.get(9),
        body: row.get(10),
        hash: row.get(11),
    };
    row.read(machine)
}
