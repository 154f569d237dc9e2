//! The audit log: entries of machines and desks, each with its chain. Pure.

use callgate_store::{ChainFault, ChainHead, LedgerEntry};
use callgate_wire::approval::Decision;
use callgate_wire::words;

use crate::error::TeamStoreError;
use crate::limits::{MOST_COPIES, check_name};

/// Separates a machine's name from the number of its chain, where it has several.
pub(crate) const SERIES_MARK: char = '#';

/// Returns the name of a machine's chain of this number. A ledger that was pruned or replaced
/// cannot continue its first chain, and begins another one.
pub fn chain_name(machine: &str, number: usize) -> String {
    if number <= 1 { machine.to_owned() } else { format!("{machine}{SERIES_MARK}{number}") }
}

/// Returns what the entry `seq` follows, if nobody knows it: the ledger of the machine begins
/// there. The chain can be verified from that entry on.
pub fn unknown_before(seq: u64) -> ChainHead {
    ChainHead { seq: seq.saturating_sub(1), hash: ChainHead::NONE.hash }
}

/// Returns true if an entry follows another one, or is the first that is known.
fn follows(entry: &LedgerEntry, last: &ChainHead) -> bool {
    // Nobody knows the entry before, so its hash is that of no entry, and only its number is
    // compared.
    let is_first = *last == unknown_before(entry.seq) && entry.seq > 1;
    is_first || entry.follows(last)
}

/// What an entry can be found by. It repeats what the entry or its question says, and is not part
/// of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditLabels {
    pub project: Option<String>,
    pub agent: Option<String>,
    /// The person or the rule that decided.
    pub who: Option<String>,
    pub decision: Option<Decision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCopy {
    pub labels: AuditLabels,
    pub entry: LedgerEntry,
}

/// Entries of one chain to be copied, the first of which follows `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerPart {
    pub chain: String,
    pub after: ChainHead,
    pub copies: Vec<AuditCopy>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The machine or the desk to whose chain it belongs.
    pub machine: String,
    pub position: AuditPosition,
    pub labels: AuditLabels,
    pub entry: LedgerEntry,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditChain {
    /// The machine, or one of its [chains](chain_name).
    pub name: String,
    pub head: ChainHead,
}

/// Where an entry is in the log. Positions are ordered as the entries were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditPosition {
    /// When it was recorded, in milliseconds since 1970 by the clock of the store. The entry itself
    /// has the time of its machine.
    pub recorded_ms: i64,
    pub(crate) chain: i64,
    pub(crate) seq: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditChainReport {
    /// Every entry follows the one before it.
    Whole {
        /// What the first entry follows: what was removed after its days, or what the machine had
        /// before it joined.
        start: ChainHead,
        entries: u64,
        head: ChainHead,
    },
    /// An entry does not follow the one before it.
    Broken {
        /// The number of the first such entry.
        seq: u64,
        why: ChainFault,
    },
}

words! {
    /// What keeps a desk from changing and removing audit entries.
    pub enum AuditProtection {
        /// The login of the desk has no right to.
        Login "login",
        /// The desk gives the right up after it has connected: it works in a role without it.
        Role "role",
        /// Nothing does: the desk works with the right to.
        Nobody "nobody",
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainMark {
    pub(crate) key: i64,
    pub(crate) start: ChainHead,
    pub(crate) head: ChainHead,
    /// When the next entry is recorded: now, and not before the last one.
    pub(crate) recorded_ms: i64,
}

impl ChainMark {
    pub(crate) fn read(
        key: i64,
        [start_seq, head_seq]: [i64; 2],
        [start_hash, head_hash]: [Vec<u8>; 2],
        recorded_ms: i64,
    ) -> Result<Self, TeamStoreError> {
        let (start, head) = (read_head(start_seq, start_hash)?, read_head(head_seq, head_hash)?);
        Ok(Self { key, start, head, recorded_ms })
    }
}

/// Reads a head, unless it is something that no version of callgate writes.
pub(crate) fn read_head(seq: i64, hash: Vec<u8>) -> Result<ChainHead, TeamStoreError> {
    let damaged = TeamStoreError::Damaged { what: "a chain of the audit log" };
    let (Ok(seq), Ok(hash)) = (u64::try_from(seq), hash.try_into()) else { return Err(damaged) };
    Ok(ChainHead { seq, hash })
}

pub(crate) fn sql_number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// Returns the end of `copies`, if each of them is an entry and follows the one before it.
pub(crate) fn check_copies(
    machine: &str,
    after: ChainHead,
    copies: &[AuditCopy],
) -> Result<ChainHead, TeamStoreError> {
    check_name("the name of a machine", machine)?;
    let refuse = |why| TeamStoreError::Refused { what: "a copied entry", why };
    if copies.len() > MOST_COPIES {
        return Err(refuse("there are over 1000 at once"));
    }
    let mut last = after;
    for AuditCopy { labels, entry } in copies {
        if let Some(why) = entry.fault() {
            return Err(refuse(why));
        }
        if i64::try_from(entry.seq).is_err() || !follows(entry, &last) {
            return Err(TeamStoreError::NotAChain { seq: entry.seq });
        }
        for label in [&labels.project, &labels.agent, &labels.who].into_iter().flatten() {
            check_name("a label of a copied entry", label)?;
        }
        last = entry.head();
    }
    Ok(last)
}

impl LedgerPart {
    /// Returns the end of the part, if it is a chain.
    pub(crate) fn check(&self) -> Result<ChainHead, TeamStoreError> {
        check_copies(&self.chain, self.after, &self.copies)
    }
}

/// Divides the parts that are chains into rounds in which no chain occurs twice.
/// A part can be planned only once those of its chain before it are written.
pub(crate) fn divide_into_rounds(
    parts: &[LedgerPart],
    checked: &[Result<ChainHead, TeamStoreError>],
) -> Vec<Vec<usize>> {
    let mut left: Vec<usize> = (0..parts.len()).filter(|at| checked[*at].is_ok()).collect();
    let mut rounds = Vec::new();
    while !left.is_empty() {
        let mut chains = std::collections::HashSet::new();
        let round: Vec<usize>;
        (round, left) = left.into_iter().partition(|at| chains.insert(&parts[*at].chain));
        rounds.push(round);
    }
    rounds
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CopyPlan<'a> {
    /// These are new.
    Append(&'a [AuditCopy]),
    /// All were copied before, if the recorded entry of this number has this hash.
    Compare(ChainHead),
}

/// Decides what is to be done with `copies`, which [`check_copies`] has found to be a chain, where
/// `head` is the end of what was copied before.
pub(crate) fn plan_copies(
    head: ChainHead,
    after: ChainHead,
    copies: &[AuditCopy],
) -> Result<CopyPlan<'_>, TeamStoreError> {
    let last = copies.last().map_or(after, |copy| copy.entry.head());
    if after.seq > head.seq {
        return Err(TeamStoreError::Gap { expected: head.seq + 1 });
    }
    // A retry of what was copied before. Its last entry is enough: its hash stands for all before
    // it.
    if last.seq < head.seq {
        return Ok(CopyPlan::Compare(last));
    }
    let known = usize::try_from(head.seq - after.seq).unwrap_or(usize::MAX);
    // A retry of which only the end is new. Its known part has to end as the chain does, because
    // otherwise the ledger was rewritten.
    let at_head = known.checked_sub(1).map_or(after, |index| copies[index].entry.head());
    if at_head != head {
        return Err(TeamStoreError::Forked { seq: head.seq });
    }
    Ok(CopyPlan::Append(&copies[known..]))
}

pub(crate) struct AuditWalk {
    start: ChainHead,
    pub(crate) last: ChainHead,
    entries: u64,
}

impl AuditWalk {
    pub(crate) fn new(start: ChainHead) -> Self {
        Self { start, last: start, entries: 0 }
    }

    /// Takes the next entry. Returns what is wrong with it, if anything is.
    pub(crate) fn take_entry(&mut self, entry: &LedgerEntry) -> Option<AuditChainReport> {
        let seq = self.last.seq + 1;
        if entry.seq != seq {
            return Some(AuditChainReport::Broken { seq, why: ChainFault::Missing });
        }
        if !follows(entry, &self.last) {
            return Some(AuditChainReport::Broken { seq, why: ChainFault::Changed });
        }
        self.last = entry.head();
        self.entries += 1;
        None
    }

    /// Ends the walk after the last entry; `head` is the end of the chain as it was recorded beside
    /// it.
    pub(crate) fn finish(&self, head: ChainHead) -> AuditChainReport {
        let seq = self.last.seq;
        match head.seq.cmp(&seq) {
            // The end of each chain is kept beside the entries, so that it shows if the last of
            // them are cut off.
            std::cmp::Ordering::Greater => {
                AuditChainReport::Broken { seq: seq + 1, why: ChainFault::Missing }
            }
            std::cmp::Ordering::Equal if head == self.last => {
                AuditChainReport::Whole { start: self.start, entries: self.entries, head }
            }
            _ => AuditChainReport::Broken { seq, why: ChainFault::OtherMark },
        }
    }
}

/// The columns of an entry, in the order in which [`AuditRow`] has them.
pub(crate) const AUDIT_COLUMNS: &str = "chain, seq, recorded_ms, at_ms, kind, question, project, \
     agent, who, decision, body, hash";

stored_row! {
    AuditRow {
        chain: i64,
        seq: i64,
        recorded_ms: i64,
        at_ms: i64,
        kind: String,
        question: Option<String>,
        project: Option<String>,
        agent: Option<String>,
        who: Option<String>,
        decision: Option<String>,
        body: String,
        hash: Vec<u8>,
    }
}

impl AuditRow {
    /// Reads the entry, unless the row has something that no version of callgate writes.
    pub(crate) fn read(self, machine: String) -> Result<AuditRecord, TeamStoreError> {
        let head = read_head(self.seq, self.hash)?;
        let position =
            AuditPosition { recorded_ms: self.recorded_ms, chain: self.chain, seq: self.seq };
        // A word of a newer callgate is left out: it is a label only, and the entry itself has it,
        // too.
        let decision = self.decision.as_deref().and_then(Decision::parse);
        let Self { at_ms, kind, question, project, agent, who, body, .. } = self;
        let labels = AuditLabels { project, agent, who, decision };
        let entry = LedgerEntry { seq: head.seq, at_ms, kind, question, body, hash: head.hash };
        Ok(AuditRecord { machine, position, labels, entry })
    }
}

#[cfg(test)]
mod tests;
