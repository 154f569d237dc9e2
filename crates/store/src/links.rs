//! Who is linked to the desk, according to the chain. What is only kept beside the ledger does not
//! count.

use callgate_wire::ledger::{ChainedLinks, LedgerEvent};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::anchor::{anchor_through, head_after, read_anchor};
use crate::chain::{ChainHead, hash_entry};
use crate::error::StoreError;
use crate::ledger::{check_drafts, write_entries};
use crate::{EntryDraft, LedgerEntry, Store, ledger};

pub const KEPT_LINKS: &str = "paired/";

/// Selects the entries about links and members, as their index has them.
const LINK_ENTRIES: &str = "SELECT seq, at_ms, kind, question, body, hash FROM entries
    WHERE kind IN ('paired', 'unpaired', 'invited', 'joined', 'revoked', 'mirrored')";

impl Store {
    /// Reads the links from the chain. An entry that does not follow the one before it is ignored.
    pub fn chained_links(&self) -> Result<ChainedLinks, StoreError> {
        let failed = self.explain_failure("read the links in");
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        // Its queries need one view of the file, because somebody may prune in between.
        links_before(&view, i64::MAX).map_err(failed)
    }

    /// Appends what `decide` makes of the links and members. Nobody else writes in between.
    pub fn append_decided(
        &mut self,
        decide: impl FnOnce(&ChainedLinks) -> Vec<EntryDraft>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.check_file()?;
        let failed = self.explain_failure("write to");
        let transaction = self.begin_transaction()?;
        // Within the transaction: a member who is revoked between the look and the entries would be
        // linked all the same.
        let drafts = decide(&links_before(&transaction, i64::MAX).map_err(&failed)?);
        check_drafts(&drafts)?;
        let entries = write_entries(&transaction, &drafts).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(entries)
    }

    /// Returns true if the chain has an entry by which this link was removed.
    pub fn was_unlinked(&self, link: &str) -> Result<bool, StoreError> {
        let failed = self.explain_failure("read the links in");
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        has_removal(&view, link).map_err(failed)
    }

    /// Returns the links among the kept values that the chain does not contain. Somebody wrote them
    /// there by hand; they have no effect.
    pub fn unchained_links(&self) -> Result<Vec<String>, StoreError> {
        let standing = self.chained_links()?.standing;
        let kept = self.kept_under(KEPT_LINKS)?;
        let names = kept.iter().filter_map(|(key, _)| key.strip_prefix(KEPT_LINKS));
        Ok(names.filter(|link| !standing.contains_key(*link)).map(str::to_owned).collect())
    }
}

/// Returns the links that were valid before the entry `seq`.
pub(crate) fn links_before(connection: &Connection, seq: i64) -> rusqlite::Result<ChainedLinks> {
    let mut links = carried_over(connection)?;
    let mut query =
        connection.prepare_cached(&format!("{LINK_ENTRIES} AND seq < ? ORDER BY seq"))?;
    let mut rows = query.query([seq])?;
    while let Some(row) = rows.next()? {
        if is_chained(connection, row)? {
            let text = |column| row.get_ref(column).map(|it| it.as_str().unwrap_or_default());
            links.apply_event(&LedgerEvent::decode_body(text(2)?, text(4)?).0);
        }
    }
    Ok(links)
}

fn has_removal(connection: &Connection, link: &str) -> rusqlite::Result<bool> {
    // A body that is damaged would make the whole query fail.
    let removals = "kind = 'unpaired' AND json_valid(body) AND json_extract(body, '$.link') = ?";
    let mut query = connection.prepare_cached(&format!("{LINK_ENTRIES} AND {removals}"))?;
    let mut rows = query.query([link])?;
    while let Some(row) = rows.next()? {
        if is_chained(connection, row)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the links that the anchor before the first entry carries over.
fn carried_over(connection: &Connection) -> rusqlite::Result<ChainedLinks> {
    let first = "SELECT min(seq) FROM entries";
    let first: Option<i64> = connection.query_row(first, [], |row| row.get(0))?;
    let through = first.and_then(|first| u64::try_from(first - 1).ok()).unwrap_or_default();
    if through == 0 {
        return Ok(ChainedLinks::default());
    }
    let mut query = connection.prepare_cached(
        "SELECT seq, at_ms, kind, question, body, hash FROM entries WHERE kind = 'anchor'
         AND json_valid(body) AND json_extract(body, '$.through') = ? ORDER BY seq DESC LIMIT 1",
    )?;
    let carried = query.query_row([ledger::sql_number(through)?], |row| {
        let anchor = read_anchor(row.get_ref(4)?.as_str().unwrap_or_default());
        Ok(if is_chained(connection, row)? { anchor.and_then(|anchor| anchor.links) } else { None })
    });
    // An anchor without links may replace entries that had some.
    Ok(carried
        .optional()?
        .flatten()
        .unwrap_or(ChainedLinks { had_any: true, ..ChainedLinks::default() }))
}

/// Returns true if the entry's hash follows from its content and the previous hash.
fn is_chained(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<bool> {
    let Ok(seq) = u64::try_from(row.get::<_, i64>(0)?) else { return Ok(false) };
    let before = match seq {
        0 => return Ok(false),
        1 => Some(ChainHead::NONE.hash),
        _ => match ledger::hash_of(connection, seq - 1)? {
            Some(hash) => Some(hash),
            None => anchor_through(connection, seq - 1)?
                .as_ref()
                .and_then(head_after)
                .map(|head| head.hash),
        },
    };
    let Some(before) = before else { return Ok(false) };
    let Ok(content) = ledger::content_of_row(row, seq) else { return Ok(false) };
    Ok(ledger::bytes_of_value(row.get_ref(5)?) == Some(&hash_entry(&before, &content)))
}
