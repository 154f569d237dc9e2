//! What pruning leaves in place of the entries it removes: where the chain continues, and the links
//! that stood there.

use callgate_wire::ledger::{EntriesPruned, LedgerEvent, LedgerKind};
use rusqlite::{Connection, OptionalExtension};

use crate::chain::{ChainHead, Sha256Hash};
use crate::ledger;

pub(crate) fn read_anchor(body: &str) -> Option<EntriesPruned> {
    match LedgerEvent::decode_body(LedgerKind::Anchor.name(), body).0 {
        LedgerEvent::Anchor(anchor) => Some(anchor),
        _ => None,
    }
}

pub(crate) fn head_after(anchor: &EntriesPruned) -> Option<ChainHead> {
    Some(ChainHead { seq: anchor.through, hash: anchor.hash.parse::<Sha256Hash>().ok()?.0 })
}

pub(crate) fn anchor_through(
    connection: &Connection,
    through: u64,
) -> rusqlite::Result<Option<EntriesPruned>> {
    // Only valid JSON is examined, because one damaged body would make the whole query fail.
    let mut query = connection.prepare(
        "SELECT body FROM entries WHERE kind = 'anchor' AND json_valid(body)
         AND json_extract(body, '$.through') = ? ORDER BY seq DESC LIMIT 1",
    )?;
    let body: Option<String> =
        query.query_row([ledger::sql_number(through)?], |row| row.get(0)).optional()?;
    Ok(body.as_deref().and_then(read_anchor))
}
