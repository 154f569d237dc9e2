//! What pruning leaves in place of the entries it removes: where the chain continues, and the links
//! that stood there.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chain::{Hash, Head};
use crate::ledger;

/// What an `anchor` entry says: entries up to here were removed, and the chain goes on from
/// this hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The number of the last entry that was removed.
    pub through: u64,
    /// Its hash, in hex.
    pub hash: String,
    /// How many entries were removed.
    pub count: u64,
    /// When the earliest of them was written, in milliseconds since 1970.
    pub from_ms: i64,
    /// When the latest of them was written.
    pub to_ms: i64,
    /// The links that they left standing; nothing in anchors that were written before links were
    /// carried over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Links>,
}

impl Anchor {
    /// Reads the body of an entry of the kind `anchor`.
    #[must_use]
    pub fn read(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }

    /// Where the chain goes on from.
    pub(crate) fn head(&self) -> Option<Head> {
        Some(Head { seq: self.through, hash: self.hash.parse::<Hash>().ok()?.0 })
    }
}

/// The anchor that says that entries up to `through` were removed.
pub(crate) fn anchor_through(
    connection: &Connection,
    through: u64,
) -> rusqlite::Result<Option<Anchor>> {
    let mut query = connection.prepare(
        "SELECT body FROM entries WHERE kind = 'anchor' AND json_valid(body)
         AND json_extract(body, '$.through') = ? ORDER BY seq DESC LIMIT 1",
    )?;
    let body: Option<String> =
        query.query_row([ledger::number(through)?], |row| row.get(0)).optional()?;
    Ok(body.as_deref().and_then(Anchor::read))
}

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

impl Links {
    /// Takes up what an entry of the kind `paired` or `unpaired` says.
    pub(crate) fn apply(&mut self, kind: &str, body: &str) {
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
