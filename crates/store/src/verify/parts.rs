//! Walks a long chain in parts, on several threads.
//!
//! A part begins with the hash that the entry before it carries. Whether that hash is right is
//! checked by the walk of the part before. So the parts together prove what one walk proves, as
//! long as no entries are removed meanwhile: each part has a view of its own, and pruning in
//! between looks like a gap. A fault found here therefore only means that the chain has to be
//! walked again in one view.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rusqlite::Connection;

use super::{ChainReport, ChainWalk, VerifyProgress, is_damage, last_readable};
use crate::chain::ChainHead;
use crate::{FileIdentity, Store, ledger};

/// The shortest part, in entries: a thread and a connection cost something too.
const SHORTEST: u64 = 20_000;
/// With more threads than this, the disk is the limit.
const MOST_THREADS: u64 = 8;

/// Walks the chain in parts. Returns `None` if the chain is short, or if anything is wrong with it.
pub(super) fn walk_in_parts(
    store: &Store,
    view: &Connection,
    noted: Option<ChainHead>,
    progress: VerifyProgress<'_>,
) -> rusqlite::Result<Option<ChainReport>> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    walk_by(threads.min(MOST_THREADS), SHORTEST, store, view, noted, progress)
}

/// Walks the chain on this many threads, if each gets at least `shortest` entries.
fn walk_by(
    threads: u64,
    shortest: u64,
    store: &Store,
    view: &Connection,
    noted: Option<ChainHead>,
    progress: VerifyProgress<'_>,
) -> rusqlite::Result<Option<ChainReport>> {
    let Ok(mut whole) = ChainWalk::from_first_entry(view, noted)? else { return Ok(None) };
    let Some(last) = last_readable(view)? else { return Ok(None) };
    let (before, entries) = (whole.last.seq, last.seq.saturating_sub(whole.last.seq));
    let parts = threads.min(entries / shortest);
    let Some(file) = store.file().filter(|_| parts > 1) else { return Ok(None) };
    let done = AtomicU64::new(0);
    let end = |part: u64| before + entries * part / parts;
    let walks = thread::scope(|scope| {
        let spawn = |part: u64| {
            let first = if part == 0 { Some(whole.last) } else { None };
            let (done, end) = (&done, &end);
            scope.spawn(move || {
                let told = AtomicU64::new(0);
                walk_part(file, first, end(part), end(part + 1), noted, &|walked| {
                    // Relaxed, because these numbers are only shown.
                    let more = walked - told.swap(walked, Ordering::Relaxed);
                    progress(done.fetch_add(more, Ordering::Relaxed) + more, entries);
                })
            })
        };
        let walks: Vec<_> = (0..parts).map(spawn).collect();
        // A thread that panicked has no result.
        walks.into_iter().map(|walk| walk.join().ok().flatten()).collect::<Option<Vec<ChainWalk>>>()
    });
    let Some(walks) = walks else { return Ok(None) };
    whole.entries = walks.iter().map(|walk| walk.entries).sum();
    whole.found |= walks.iter().any(|walk| walk.found);
    whole.last = last;
    // Each part has read the file at another moment. If the end is not the one of this view,
    // somebody has rewritten entries in between.
    let is_same = walks.last().is_some_and(|walk| walk.last == last);
    let is_whole = is_same && whole.check_end(ledger::read_marked_head(view)?).is_ok();
    Ok(is_whole.then(|| whole.into_report()))
}

/// Walks from the entry after `before` to the entry `upto`. Returns `None` if anything is wrong
/// there.
fn walk_part(
    file: &FileIdentity,
    first: Option<ChainHead>,
    before: u64,
    upto: u64,
    noted: Option<ChainHead>,
    progress: &dyn Fn(u64),
) -> Option<ChainWalk> {
    // Another file may have taken its place meanwhile.
    let own = Store::open_read_only(file.path()).ok().filter(|own| own.file() == Some(file))?;
    let view = own.connection.unchecked_transaction().ok()?;
    let last = match first {
        Some(first) => first,
        None => carried_by(&view, before).ok()??,
    };
    let mut walk = ChainWalk::from_head(last, noted);
    let steps = walk.advance_to(&view, upto, progress).ok()?;
    (steps.is_ok() && walk.last.seq == upto).then_some(walk)
}

/// Returns the head at an entry, with the hash it carries, right or wrong; `None` if that cannot be
/// read.
pub(super) fn carried_by(connection: &Connection, seq: u64) -> rusqlite::Result<Option<ChainHead>> {
    ledger::hash_of(connection, seq)
        .map(|hash| hash.map(|hash| ChainHead { seq, hash }))
        .or_else(|error| if is_damage(&error) { Ok(None) } else { Err(error) })
}

#[cfg(test)]
mod tests;
