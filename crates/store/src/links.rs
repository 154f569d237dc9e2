//! Who is linked to the desk, as the chain has it. What is only written beside the ledger does not
//! count.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chain::{Anchor, Content, Head, link};
use crate::error::StoreError;
use crate::verify::anchor_through;
use crate::{Store, ledger};

/// What stands before every link in the table of kept values.
pub const KEPT_LINKS: &str = "paired/";

/// The links that the chain has: entries of the kinds `paired` and `unpaired`, and what an anchor
/// carries over from entries that were pruned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// The links that stand, each with the name under which it was made: `chat/ID`, `user/ID` or
    /// `viewer/HASH`.
    pub standing: BTreeMap<String, String>,
    /// Whether there has ever been one.
    pub had_any: bool,
}

impl Store {
    /// Reads the links from the chain. An entry whose hash does not follow from the one before
    /// it has no place in the chain and is passed over.
    pub fn links(&self) -> Result<Links, StoreError> {
        let failed = self.failed("read the links in");
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        links_before(&view, i64::MAX).map_err(failed)
    }

    /// Returns the links in the table of kept values that the chain does not have. Somebody wrote
    /// them there by hand; they count for nothing.
    pub fn unchained_links(&self) -> Result<Vec<String>, StoreError> {
        let standing = self.links()?.standing;
        let kept = self.kept_under(KEPT_LINKS)?;
        let names = kept.iter().filter_map(|(key, _)| key.strip_prefix(KEPT_LINKS));
        Ok(names.filter(|link| !standing.contains_key(*link)).map(str::to_owned).collect())
    }
}

/// The links as they stood before the entry `seq`.
pub(crate) fn links_before(connection: &Connection, seq: i64) -> rusqlite::Result<Links> {
    let mut links = carried_over(connection)?;
    let mut query = connection.prepare_cached(
        "SELECT seq, at_ms, kind, question, body, hash FROM entries
         WHERE kind IN ('paired', 'unpaired') AND seq < ? ORDER BY seq",
    )?;
    let mut rows = query.query([seq])?;
    while let Some(row) = rows.next()? {
        if is_chained(connection, row)? {
            let body = row.get_ref(4)?.as_str().unwrap_or_default();
            links.apply(row.get_ref(2)?.as_str().unwrap_or_default(), body);
        }
    }
    Ok(links)
}

/// What the anchor before the first entry says about the links of the entries it stands for.
fn carried_over(connection: &Connection) -> rusqlite::Result<Links> {
    let first = "SELECT min(seq) FROM entries";
    let first: Option<i64> = connection.query_row(first, [], |row| row.get(0))?;
    let through = first.and_then(|first| u64::try_from(first - 1).ok()).unwrap_or_default();
    if through == 0 {
        return Ok(Links::default());
    }
    let mut query = connection.prepare_cached(
        "SELECT seq, at_ms, kind, question, body, hash FROM entries WHERE kind = 'anchor'
         AND json_valid(body) AND json_extract(body, '$.through') = ? ORDER BY seq DESC LIMIT 1",
    )?;
    let carried = query.query_row([ledger::number(through)?], |row| {
        let anchor = Anchor::read(row.get_ref(4)?.as_str().unwrap_or_default());
        Ok(if is_chained(connection, row)? { anchor.and_then(|anchor| anchor.links) } else { None })
    });
    // What was removed without a word about links may have had some.
    Ok(carried.optional()?.flatten().unwrap_or(Links { had_any: true, ..Links::default() }))
}

impl Links {
    fn apply(&mut self, kind: &str, body: &str) {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        match kind {
            "paired" => {
                let name = body["by"].as_str().unwrap_or_default();
                for link in made(&body) {
                    self.standing.insert(link, name.to_owned());
                }
                self.had_any = true;
            }
            "unpaired" => {
                if let Some(link) = body["link"].as_str() {
                    self.standing.remove(link);
                }
            }
            _ => {}
        }
    }
}

/// The links that a `paired` entry has made.
fn made(body: &Value) -> Vec<String> {
    if let Some(links) = body["links"].as_array() {
        return links.iter().filter_map(|link| link.as_str().map(str::to_owned)).collect();
    }
    // Before entries named their links, those of phones followed from where they were made.
    match (body["chat"].as_i64(), body["user"].as_i64()) {
        (Some(chat), Some(user)) if chat == user => vec![format!("chat/{chat}")],
        (Some(chat), Some(user)) => vec![format!("chat/{chat}"), format!("user/{user}")],
        _ => Vec::new(),
    }
}

/// Whether the entry's hash follows from its content and the hash before it.
fn is_chained(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<bool> {
    let (Some(seq), Some(hash)) = (number(row)?, hash(row)?) else { return Ok(false) };
    let before = match seq {
        0 => return Ok(false),
        1 => Some(Head::NONE.hash),
        _ => match entry_hash(connection, seq - 1)? {
            Some(hash) => Some(hash),
            None => anchor_through(connection, seq - 1)?
                .as_ref()
                .and_then(Anchor::head)
                .map(|head| head.hash),
        },
    };
    Ok(before.is_some_and(|before| follows(&before, row) == Some(hash)))
}

fn entry_hash(connection: &Connection, seq: u64) -> rusqlite::Result<Option<[u8; 32]>> {
    let mut query = connection.prepare_cached("SELECT hash FROM entries WHERE seq = ?")?;
    query.query_row([ledger::number(seq)?], |row| row.get(0)).optional()
}

fn number(row: &Row<'_>) -> rusqlite::Result<Option<u64>> {
    Ok(u64::try_from(row.get::<_, i64>(0)?).ok())
}

fn hash(row: &Row<'_>) -> rusqlite::Result<Option<[u8; 32]>> {
    Ok(bytes(row.get_ref(5)?).and_then(|bytes| bytes.try_into().ok()))
}

/// The hash that the entry should have behind `before`.
fn follows(before: &[u8; 32], row: &Row<'_>) -> Option<[u8; 32]> {
    let part = |index: usize| row.get_ref(index).ok().and_then(bytes);
    let content = Content {
        seq: number(row).ok()??,
        at_ms: row.get(1).ok()?,
        kind: part(2).unwrap_or_default(),
        question: part(3),
        body: part(4).unwrap_or_default(),
    };
    Some(link(before, &content))
}

fn bytes(value: ValueRef<'_>) -> Option<&[u8]> {
    value.as_bytes_or_null().ok().flatten()
}
