//! A long chain, walked in parts by several threads.
//!
//! A part begins with the hash that the entry before it carries. That this hash is right is found
//! out by whoever walks the part before. So the parts together prove what one walk proves, as long
//! as the entries in them stay: every part has a view of its own, and pruning in between looks like
//! a gap. Therefore a fault here says nothing but that somebody has to look again in one view.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rusqlite::Connection;

use super::{Progress, Verified, Walk, is_damage, last_readable};
use crate::chain::Head;
use crate::{FileIdentity, Store, ledger};

/// A part is not shorter than this: a thread and a connection cost something too.
const SHORTEST: u64 = 20_000;
/// More threads wait for the disk.
const MOST_THREADS: u64 = 8;

/// Walks the chain in parts. Returns nothing when it is short, or when not everything is as it
/// should be.
pub(super) fn walk(
    store: &Store,
    view: &Connection,
    noted: Option<Head>,
    progress: Progress<'_>,
) -> rusqlite::Result<Option<Verified>> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    walk_by(threads.min(MOST_THREADS), SHORTEST, store, view, noted, progress)
}

/// Walks the chain by so many threads, if each has at least `shortest` entries.
fn walk_by(
    threads: u64,
    shortest: u64,
    store: &Store,
    view: &Connection,
    noted: Option<Head>,
    progress: Progress<'_>,
) -> rusqlite::Result<Option<Verified>> {
    let Ok(mut whole) = Walk::begin(view, noted)? else { return Ok(None) };
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
                    let more = walked - told.swap(walked, Ordering::Relaxed);
                    progress(done.fetch_add(more, Ordering::Relaxed) + more, entries);
                })
            })
        };
        let walks: Vec<_> = (0..parts).map(spawn).collect();
        // One that has panicked has found nothing.
        walks.into_iter().map(|walk| walk.join().ok().flatten()).collect::<Option<Vec<Walk>>>()
    });
    let Some(walks) = walks else { return Ok(None) };
    whole.entries = walks.iter().map(|walk| walk.entries).sum();
    whole.found |= walks.iter().any(|walk| walk.found);
    whole.last = last;
    let is_same = walks.last().is_some_and(|walk| walk.last == last);
    let is_whole = is_same && whole.end(ledger::marked(view)?).is_ok();
    Ok(is_whole.then(|| whole.whole()))
}

/// Walks from the entry after `before` to the entry `upto`; nothing when anything is wrong there.
fn walk_part(
    file: &FileIdentity,
    first: Option<Head>,
    before: u64,
    upto: u64,
    noted: Option<Head>,
    progress: &dyn Fn(u64),
) -> Option<Walk> {
    let own = Store::open_read_only(file.path()).ok().filter(|own| own.file() == Some(file))?;
    let view = own.connection.unchecked_transaction().ok()?;
    let last = match first {
        Some(first) => first,
        None => carried_by(&view, before).ok()??,
    };
    let mut walk = Walk::from(last, noted);
    let steps = walk.go(&view, upto, progress).ok()?;
    (steps.is_ok() && walk.last.seq == upto).then_some(walk)
}

/// The hash that an entry carries, whether it is right or not; none where none can be read.
pub(super) fn carried_by(connection: &Connection, seq: u64) -> rusqlite::Result<Option<Head>> {
    ledger::hash_of(connection, seq)
        .map(|hash| hash.map(|hash| Head { seq, hash }))
        .or_else(|error| if is_damage(&error) { Ok(None) } else { Err(error) })
}

#[cfg(test)]
mod tests;
