//! The audit log as rows of the server.

use std::collections::HashMap;

use callgate_store::{ChainHead, EntryDraft, LedgerEntry};
use callgate_wire::approval::Decision;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::database_link::ServerSession;
use super::faults::ServerFault;
use crate::audit::{
    AUDIT_COLUMNS, AuditChain, AuditChainReport, AuditCopy, AuditLabels, AuditRecord, AuditRow,
    AuditWalk, ChainMark, CopyPlan, LedgerPart, plan_copies, read_head, sql_number,
};
use crate::audit_query::{AuditFilter, FilterValue, READ_HEADS, chain_names, read_chain_query};
use crate::error::{TeamResult, TeamStoreError};

const MAKE_CHAINS: &str =
    "INSERT INTO chains (machine, start_seq, start_hash, head_seq, head_hash, recorded_ms)
     SELECT machine, seq, hash, seq, hash, 0
     FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS new (machine, seq, hash)
     ON CONFLICT (machine) DO NOTHING";
/// Always in the order of their keys, so that two desks do not wait for each other.
const LOCK_CHAINS: &str =
    "SELECT key, start_seq, head_seq, start_hash, head_hash, greatest(recorded_ms, now_ms()), machine
     FROM chains WHERE machine = ANY ($1::text[]) ORDER BY key FOR UPDATE";
const READ_CHAIN: &str = "SELECT key, start_seq, head_seq, start_hash, head_hash, recorded_ms
     FROM chains WHERE machine = $1";
const APPEND: &str = "WITH added AS (INSERT INTO audit (chain, recorded_ms, seq, at_ms, kind,
         question, project, agent, who, decision, body, hash)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[],
             $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bytea[]))
     UPDATE chains SET head_seq = moved.seq, head_hash = moved.hash, recorded_ms = moved.at
     FROM unnest($13::bigint[], $14::bigint[], $15::bytea[], $16::bigint[])
         AS moved (key, seq, hash, at)
     WHERE chains.key = moved.key";
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
    // The chain is locked, because commands on the machine of the desk write to it, too.
    let marks = lock_chains(session, &[(desk, ChainHead::NONE)]).await?;
    let mark = find_mark(&marks, desk)?;
    let entry = LedgerEntry::chain_draft(&mark.head, draft);
    let mut rows = NewRows::default();
    let copy = AuditCopy { labels, entry };
    rows.add(&mark, std::slice::from_ref(&copy));
    rows.write_and_commit(session, COMMIT_CHANGE).await
}

/// Copies parts of ledgers that are known to be chains, each another one, in one transaction. What
/// cannot be copied of one does not concern the others.
pub(super) async fn copy_ledgers(
    session: &mut ServerSession,
    parts: &[&LedgerPart],
) -> Result<Vec<TeamResult<ChainHead>>, ServerFault> {
    session.client.batch_execute("BEGIN").await?;
    let chains: Vec<_> = parts.iter().map(|part| (part.chain.as_str(), part.after)).collect();
    let marks = lock_chains(session, &chains).await?;
    let (mut results, mut rows) = (Vec::new(), NewRows::default());
    for LedgerPart { chain, after, copies } in parts {
        let mark = find_mark(&marks, chain)?;
        results.push(match plan_copies(mark.head, *after, copies) {
            Ok(CopyPlan::Append(new)) => {
                rows.add(&mark, new);
                Ok(new.last().map_or(mark.head, |copy| copy.entry.head()))
            }
            Ok(CopyPlan::Compare(sent)) => compare_entry(session, &mark, sent).await?,
            Err(why) => Err(why),
        });
    }
    rows.write_and_commit(session, COMMIT).await?;
    Ok(results)
}

/// Returns the end of a chain, unless its entry of this number is another one than was `sent`.
async fn compare_entry(
    session: &mut ServerSession,
    mark: &ChainMark,
    sent: ChainHead,
) -> Result<TeamResult<ChainHead>, ServerFault> {
    let statement = session.prepare(HASH_OF).await?;
    let values: [&(dyn ToSql + Sync); 2] = [&mark.key, &sql_number(sent.seq)];
    let row = session.client.query_opt(&statement, &values).await?;
    Ok(match row.map(|row| row.get::<_, Vec<u8>>(0)) {
        Some(hash) if hash != sent.hash => Err(TeamStoreError::Forked { seq: sent.seq }),
        // It may have been removed since.
        _ => Ok(mark.head),
    })
}

/// Locks chains until the end of the transaction. A chain that does not exist yet is created, with
/// the head that is passed with its name.
async fn lock_chains(
    session: &mut ServerSession,
    chains: &[(&str, ChainHead)],
) -> Result<HashMap<String, ChainMark>, ServerFault> {
    let names: Vec<&str> = chains.iter().map(|(name, _)| *name).collect();
    let lock = session.prepare(LOCK_CHAINS).await?;
    let mut found = session.client.query(&lock, &[&names]).await?;
    // Nearly always all of them exist, so the insert is not even tried first.
    if found.len() < chains.len() {
        let seqs: Vec<i64> = chains.iter().map(|(_, start)| sql_number(start.seq)).collect();
        let hashes: Vec<&[u8]> = chains.iter().map(|(_, start)| start.hash.as_slice()).collect();
        let make = session.prepare(MAKE_CHAINS).await?;
        session.client.execute(&make, &[&names, &seqs, &hashes]).await?;
        // Another desk may have made some of them at the same time, so all are read and locked
        // again.
        found = session.client.query(&lock, &[&names]).await?;
    }
    let read = |row: &Row| Ok((row.get(6), read_mark(row)?));
    Ok(found.iter().map(read).collect::<TeamResult<_>>()?)
}

fn find_mark(marks: &HashMap<String, ChainMark>, chain: &str) -> TeamResult<ChainMark> {
    marks.get(chain).copied().ok_or(TeamStoreError::Damaged { what: "a chain of the audit log" })
}

/// Entries to be appended to chains, column by column.
#[derive(Default)]
struct NewRows<'a> {
    chains: Vec<i64>,
    recorded: Vec<i64>,
    copies: Vec<&'a AuditCopy>,
    /// The chains that become longer, each with its new end and the time of its last entry.
    moved: Vec<(i64, ChainHead, i64)>,
}

impl<'a> NewRows<'a> {
    fn add(&mut self, mark: &ChainMark, copies: &'a [AuditCopy]) {
        let Some(last) = copies.last() else { return };
        self.chains.extend(copies.iter().map(|_| mark.key));
        self.recorded.extend(copies.iter().map(|_| mark.recorded_ms));
        self.copies.extend(copies);
        self.moved.push((mark.key, last.entry.head(), mark.recorded_ms));
    }

    /// Appends them, and commits.
    async fn write_and_commit(
        &self,
        session: &mut ServerSession,
        commit: &str,
    ) -> Result<(), ServerFault> {
        // The transaction has locks, and may have made a chain, so it is committed all the same.
        if self.copies.is_empty() {
            session.client.batch_execute(commit).await?;
            return Ok(());
        }
        let entries = || self.copies.iter().map(|copy| &copy.entry);
        let labels = || self.copies.iter().map(|copy| &copy.labels);
        let seqs: Vec<i64> = entries().map(|entry| sql_number(entry.seq)).collect();
        let times: Vec<i64> = entries().map(|entry| entry.at_ms).collect();
        let kinds: Vec<&str> = entries().map(|entry| entry.kind.as_str()).collect();
        let questions: Vec<_> = entries().map(|entry| entry.question.as_deref()).collect();
        let projects: Vec<_> = labels().map(|labels| labels.project.as_deref()).collect();
        let agents: Vec<_> = labels().map(|labels| labels.agent.as_deref()).collect();
        let people: Vec<_> = labels().map(|labels| labels.who.as_deref()).collect();
        let decisions: Vec<_> =
            labels().map(|labels| labels.decision.map(Decision::name)).collect();
        let bodies: Vec<&str> = entries().map(|entry| entry.body.as_str()).collect();
        let hashes: Vec<&[u8]> = entries().map(|entry| entry.hash.as_slice()).collect();
        let keys: Vec<i64> = self.moved.iter().map(|(key, ..)| *key).collect();
        let ends: Vec<i64> = self.moved.iter().map(|(_, head, _)| sql_number(head.seq)).collect();
        let end_hashes: Vec<&[u8]> =
            self.moved.iter().map(|(_, head, _)| head.hash.as_slice()).collect();
        let moved_at: Vec<i64> = self.moved.iter().map(|(.., at)| *at).collect();
        let values: [&(dyn ToSql + Sync); 16] = [
            &self.chains,
            &self.recorded,
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
            &keys,
            &ends,
            &end_hashes,
            &moved_at,
        ];
        let append = session.prepare(APPEND).await?;
        // Both are sent at once. If the first fails, the server takes the second as a rollback.
        let appended = session.client.execute(&append, &values);
        tokio::try_join!(appended, session.client.batch_execute(commit))?;
        Ok(())
    }
}

pub(super) async fn read_chain_heads(
    session: &mut ServerSession,
    machine: Option<&str>,
) -> Result<Vec<AuditChain>, ServerFault> {
    let statement = session.prepare(READ_HEADS).await?;
    let [name, first, end] = chain_names(machine);
    let rows = session.client.query(&statement, &[&name, &first, &end]).await?;
    let read =
        |row: &Row| Ok(AuditChain { name: row.get(0), head: read_head(row.get(1), row.get(2))? });
    Ok(rows.iter().map(read).collect::<Result<_, TeamStoreError>>()?)
}

pub(super) async fn read_chain_entries(
    session: &mut ServerSession,
    chain: &str,
    after: u64,
) -> Result<Vec<AuditRecord>, ServerFault> {
    let values: [&(dyn ToSql + Sync); 2] = [&chain, &sql_number(after)];
    let rows = session.client.query(&read_chain_query(), &values).await?;
    Ok(rows.iter().map(|row| read_entry(row, chain.to_owned())).collect::<Result<_, _>>()?)
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

/// Walks the next part of a chain, in one view of the log. Returns the report when the walk is
/// over, or if there is no such chain.
pub(super) async fn verify_part(
    session: &mut ServerSession,
    machine: &str,
    walk: &mut Option<AuditWalk>,
) -> Result<Option<Option<AuditChainReport>>, ServerFault> {
    session.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let Some(row) = session.client.query_opt(READ_CHAIN, &[&machine]).await? else {
        session.client.batch_execute("ROLLBACK").await?;
        return Ok(Some(None));
    };
    let mark = read_mark(&row)?;
    // What was removed since the last part cannot be walked any more.
    let stays = walk.take().filter(|walk| walk.last.seq >= mark.start.seq);
    let walk = walk.insert(stays.unwrap_or_else(|| AuditWalk::new(mark.start)));
    let query = format!(
        "SELECT {AUDIT_COLUMNS} FROM audit WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT {PART}"
    );
    let values: [&(dyn ToSql + Sync); 2] = [&mark.key, &sql_number(walk.last.seq)];
    let rows = session.client.query(&query, &values).await?;
    // Before the entries are hashed: the server ends a session that does nothing in a transaction
    // for 2 s.
    session.client.batch_execute("ROLLBACK").await?;
    for row in &rows {
        if let Some(broken) = walk.take_entry(&read_entry(row, String::new())?.entry) {
            return Ok(Some(Some(broken)));
        }
    }
    Ok(rows.is_empty().then(|| Some(walk.finish(mark.head))))
}

fn read_mark(row: &Row) -> Result<ChainMark, TeamStoreError> {
    let hashes = [row.get(3), row.get(4)];
    ChainMark::read(row.get(0), [row.get(1), row.get(2)], hashes, row.get(5))
}

fn read_entry(row: &Row, machine: String) -> Result<AuditRecord, TeamStoreError> {
    AuditRow::from_postgres(row).read(machine)
}
