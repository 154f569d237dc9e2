//! The audit log as rows of SQLite.

use callgate_store::{ChainHead, EntryDraft, LedgerEntry};
use callgate_wire::approval::Decision;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::{NOW, select, select_one};
use crate::audit::{
    AUDIT_COLUMNS, AuditChain, AuditChainReport, AuditCopy, AuditLabels, AuditRecord, AuditRow,
    AuditWalk, ChainMark, CopyPlan, plan_copies, read_head, sql_number,
};
use crate::audit_query::{AuditFilter, FilterValue, READ_HEADS, chain_names, read_chain_query};
use crate::error::{TeamResult, TeamStoreError};

/// Appends an entry to the chain of a desk.
pub(super) fn append_own(
    connection: &Connection,
    desk: &str,
    (labels, draft): (AuditLabels, EntryDraft),
) -> TeamResult<()> {
    let mark = open_chain(connection, desk, ChainHead::NONE)?;
    let entry = LedgerEntry::chain_draft(&mark.head, draft);
    write_entries(connection, &mark, &[AuditCopy { labels, entry }]).map(drop)
}

/// Copies entries that are known to be a chain.
pub(super) fn copy_entries(
    connection: &Connection,
    machine: &str,
    after: ChainHead,
    copies: &[AuditCopy],
) -> TeamResult<ChainHead> {
    let mark = open_chain(connection, machine, after)?;
    match plan_copies(mark.head, after, copies)? {
        CopyPlan::Append(new) => write_entries(connection, &mark, new),
        CopyPlan::Compare(sent) => {
            let query = "SELECT hash FROM audit WHERE chain = ? AND seq = ?";
            let values = [mark.key, sql_number(sent.seq)];
            let hash: Option<Vec<u8>> = select_one(connection, query, values, |row| row.get(0))?;
            match hash {
                Some(hash) if hash != sent.hash => Err(TeamStoreError::Forked { seq: sent.seq }),
                // It may have been removed since.
                _ => Ok(mark.head),
            }
        }
    }
}

/// Returns the chain of a machine. If it has none, one is made that begins after `start`.
fn open_chain(connection: &Connection, machine: &str, start: ChainHead) -> TeamResult<ChainMark> {
    let make =
        "INSERT INTO chains (machine, start_seq, start_hash, head_seq, head_hash, recorded_ms)
         VALUES (?1, ?2, ?3, ?2, ?3, 0) ON CONFLICT (machine) DO NOTHING";
    let values = params![machine, sql_number(start.seq), start.hash];
    connection.prepare_cached(make)?.execute(values)?;
    find_chain(connection, machine)?.ok_or(TeamStoreError::Damaged { what: "a chain" })
}

fn find_chain(connection: &Connection, machine: &str) -> TeamResult<Option<ChainMark>> {
    let query = format!(
        "SELECT key, start_seq, head_seq, start_hash, head_hash, max(recorded_ms, {NOW})
         FROM chains WHERE machine = ?"
    );
    let row = select_one(connection, &query, [machine], |row| {
        let hashes = [row.get(3)?, row.get(4)?];
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?], hashes, row.get(5)?))
    })?;
    row.map(|(key, numbers, hashes, now)| ChainMark::read(key, numbers, hashes, now)).transpose()
}

/// Appends entries to a chain, and returns its new end.
fn write_entries(
    connection: &Connection,
    mark: &ChainMark,
    copies: &[AuditCopy],
) -> TeamResult<ChainHead> {
    let Some(last) = copies.last() else { return Ok(mark.head) };
    let insert =
        format!("INSERT INTO audit ({AUDIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    let mut insert = connection.prepare_cached(&insert)?;
    for AuditCopy { labels, entry } in copies {
        let AuditLabels { project, agent, who, decision } = labels;
        let LedgerEntry { seq, at_ms, kind, question, body, hash } = entry;
        let decision = decision.map(Decision::name);
        let (seq, at) = (sql_number(*seq), mark.recorded_ms);
        insert.execute(params![
            mark.key, seq, at, at_ms, kind, question, project, agent, who, decision, body, hash
        ])?;
    }
    let head = last.entry.head();
    let update = "UPDATE chains SET head_seq = ?, head_hash = ?, recorded_ms = ? WHERE key = ?";
    let values = params![sql_number(head.seq), head.hash, mark.recorded_ms, mark.key];
    connection.prepare_cached(update)?.execute(values)?;
    Ok(head)
}

pub(super) fn read_chain_heads(
    connection: &Connection,
    machine: Option<&str>,
) -> TeamResult<Vec<AuditChain>> {
    let values = chain_names(machine);
    let rows = select(connection, READ_HEADS, params_from_iter(values), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let read = |(name, seq, hash)| Ok(AuditChain { name, head: read_head(seq, hash)? });
    rows.into_iter().map(read).collect()
}

pub(super) fn read_chain_entries(
    connection: &Connection,
    chain: &str,
    after: u64,
) -> TeamResult<Vec<AuditRecord>> {
    let query = read_chain_query();
    let rows =
        select(connection, &query, params![chain, sql_number(after)], AuditRow::from_sqlite)?;
    rows.into_iter().map(|row| row.read(chain.to_owned())).collect()
}

pub(super) fn search(
    connection: &Connection,
    filter: &AuditFilter,
) -> TeamResult<Vec<AuditRecord>> {
    let (query, values) = filter.build_query(NOW);
    let values = params_from_iter(values.into_iter().map(|value| match value {
        FilterValue::Text(text) => Value::Text(text),
        FilterValue::Number(number) => Value::Integer(number),
    }));
    let rows =
        select(connection, &query, values, |row| Ok((AuditRow::from_sqlite(row)?, row.get(12)?)))?;
    rows.into_iter().map(|(row, machine)| row.read(machine)).collect()
}

pub(super) fn verify(
    connection: &Connection,
    machine: &str,
) -> TeamResult<Option<AuditChainReport>> {
    let Some(mark) = find_chain(connection, machine)? else { return Ok(None) };
    let query =
        format!("SELECT {AUDIT_COLUMNS} FROM audit WHERE chain = ? AND seq > ? ORDER BY seq");
    let mut query = connection.prepare_cached(&query)?;
    let mut rows = query.query([mark.key, sql_number(mark.start.seq)])?;
    let mut walk = AuditWalk::new(mark.start);
    while let Some(row) = rows.next()? {
        let record = AuditRow::from_sqlite(row)?.read(String::new())?;
        if let Some(broken) = walk.take_entry(&record.entry) {
            return Ok(Some(broken));
        }
    }
    Ok(Some(walk.finish(mark.head)))
}

/// Removes what is older than its days. Each chain begins after what was removed of it then.
pub(super) fn remove_old(connection: &Connection, kept_days: u32) -> TeamResult<()> {
    let limit = format!("({NOW} / 86400000 - {kept_days}) * 86400000");
    connection.execute_batch(&format!(
        "UPDATE chains SET start_seq = gone.seq, start_hash = gone.hash FROM (
             SELECT chain, max(seq) AS seq, hash FROM audit WHERE recorded_ms < {limit}
             GROUP BY chain) gone WHERE chains.key = gone.chain AND chains.start_seq < gone.seq;
         DELETE FROM audit WHERE recorded_ms < {limit};
         DELETE FROM questions WHERE state <> 'open' AND closed_ms < {limit}
             AND changed < (SELECT max(changed) FROM questions);"
    ))?;
    Ok(())
}
