//! What pruning leaves in place of the entries it removes: where the chain continues, and the links
//! that stood there.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chain::{ChainHead, Sha256Hash};
use crate::ledger;

/// The content of an `anchor` entry: entries up to a number were removed, and the chain continues
/// from a hash.
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
    /// The links that were valid at that point; `None` in anchors written before links were carried
    /// over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<ChainedLinks>,
}

impl Anchor {
    /// Reads the body of an entry of the kind `anchor`.
    #[must_use]
    pub fn read(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }

    /// Returns the head from which the chain continues.
    pub(crate) fn head(&self) -> Option<ChainHead> {
        Some(ChainHead { seq: self.through, hash: self.hash.parse::<Sha256Hash>().ok()?.0 })
    }
}

/// Returns the anchor for the removal of all entries up to `through`.
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

/// The links recorded in the chain: by entries of the kinds `paired` and `unpaired`, and by the
/// anchor of entries that were pruned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainedLinks {
    /// The valid links (`chat/ID`, `user/ID` or `viewer/HASH`), each with the name under which it
    /// was made.
    pub standing: BTreeMap<String, String>,
    /// Whether there has ever been a link.
    pub had_any: bool,
}

impl ChainedLinks {
    /// Applies an entry of the kind `paired` or `unpaired`.
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

/// Returns the links that a `paired` entry made.
fn made(body: &Value) -> Vec<String> {
    if let Some(links) = body["links"].as_array() {
        return links.iter().filter_map(|link| link.as_str().map(str::to_owned)).collect();
    }
    // Early entries do not name their links; those of phones follow from the chat and the user.
    match (body["chat"].as_i64(), body["user"].as_i64()) {
        (Some(chat), Some(user)) if chat == user => vec![format!("chat/{chat}")],
        (Some(chat), Some(user)) => vec![format!("chat/{chat}"), format!("user/{user}")],
        _ => Vec::new(),
    }
}
