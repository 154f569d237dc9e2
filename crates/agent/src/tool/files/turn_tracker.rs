//! What turns change in the allowed folders: noted before it happens, compared when the turn ends,
//! shown as a diff and put back on request. See `docs/decisions/0029-turn-changes.md`.

mod pack;
mod path_state;
mod restoring;
mod shown_changes;
mod tracked_folders;
mod tracked_places;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_store::StoredChange;
use callgate_wire::desk::PatchedFile;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{AllowedFolders, HiddenFiles};
use pack::SnapshotPack;
pub(crate) use path_state::PathChange;
use path_state::{FoundPath, PathState};
pub(crate) use restoring::UndoPlan;
use tracked_folders::TrackedFolders;
use tracked_places::TrackedPlaces;

#[cfg(test)]
mod tests;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// The most files and folders. If there are more, nothing is known of what commands change.
    pub files: u64,
    /// How many bytes of contents are kept. Of the other files only changes are noticed.
    pub bytes: u64,
    /// The size, in bytes, of the largest file whose content is kept.
    pub one_file: u64,
    pub time: Duration,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self {
            files: 20_000,
            bytes: 128 * 1024 * 1024,
            one_file: 4 * 1024 * 1024,
            time: Duration::from_secs(5),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct TrackerSettings {
    /// The folder for what has to survive a kill; `None` keeps it in memory.
    pub folder: Option<PathBuf>,
    /// Files of our own. They are never tracked, nor is what begins with their paths.
    pub private: Vec<PathBuf>,
    /// The limits of a snapshot; `None` if none are taken.
    pub snapshots: Option<SnapshotLimits>,
}

/// Keeps track of what turns change. Clones share the same state.
#[derive(Clone)]
pub struct TurnTracker(Arc<TrackerShared>);

struct TrackerShared {
    places: TrackedPlaces,
    folder: Option<PathBuf>,
    takes_snapshots: bool,
    /// What is known, once something was noted.
    folders: Mutex<Option<TrackedFolders>>,
}

#[derive(Debug, Clone)]
pub(crate) struct TurnMark {
    pub(crate) request: Arc<str>,
    pub(crate) conversation: Arc<str>,
    /// The number of the message with which it begins.
    pub(crate) message: u64,
}

pub(crate) struct RecordedTurn {
    pub(crate) conversation: String,
    pub(crate) message: u64,
    /// What is not known of it, and why.
    pub(crate) unknown: Option<String>,
    pub(crate) changes: Vec<PathChange>,
}

/// What the turns of processes that were killed changed. Until this is
/// [stored](RecoveredTurns::remove_left), it can be recovered again.
#[derive(Default)]
pub(crate) struct RecoveredTurns {
    pub(crate) turns: Vec<RecordedTurn>,
    left: Vec<TrackedFolders>,
}

impl RecoveredTurns {
    pub(crate) fn remove_left(self) {
        self.left.into_iter().for_each(TrackedFolders::remove);
    }
}

impl TurnTracker {
    /// Creates a tracker for these folders, which skips what is `hidden`. Nothing is read yet.
    pub fn new(roots: AllowedFolders, hidden: HiddenFiles, settings: TrackerSettings) -> Self {
        let limits = settings.snapshots.unwrap_or_default();
        let places = TrackedPlaces { roots, hidden, limits, private: settings.private };
        Self(Arc::new(TrackerShared {
            places,
            folder: settings.folder,
            takes_snapshots: settings.snapshots.is_some(),
            folders: Mutex::default(),
        }))
    }

    pub(crate) fn is_unused(&self) -> bool {
        lock(&self.0.folders).is_none()
    }

    /// Notes what is at a path that a file tool of the turn is about to write.
    pub(crate) async fn note_write(&self, mark: TurnMark, path: String) -> Result<(), String> {
        self.with_folders(move |shared, folders| folders.note_write(&shared.places, &mark, &path))
            .await
    }

    /// Gets to know all files before something of the turn runs that may change any of them.
    pub(crate) async fn snapshot(&self, mark: TurnMark) -> Result<(), String> {
        self.with_folders(move |shared, folders| {
            if shared.takes_snapshots {
                return folders.snapshot(&shared.places, &mark);
            }
            folders
                .note_unknown(&mark, "what commands have changed is not known: snapshots are off")
        })
        .await
    }

    /// Ends a turn. Returns what it changed, or `None` if it has noted and changed nothing.
    pub(crate) async fn finish(&self, mark: &TurnMark) -> Result<Option<RecordedTurn>, String> {
        let has = |folders: &Option<TrackedFolders>| {
            folders.as_ref().is_some_and(|folders| folders.has(&mark.request))
        };
        // Without a thread, because most turns change nothing.
        if !has(&lock(&self.0.folders)) {
            return Ok(None);
        }
        let turn = Arc::clone(&mark.request);
        self.with_folders(move |shared, folders| folders.finish(&shared.places, &turn)).await
    }

    /// Returns what the turns of processes that were killed in the same folders changed.
    pub(crate) async fn recover(&self) -> RecoveredTurns {
        let shared = Arc::clone(&self.0);
        let recovered = spawn_blocking(move || {
            let mut recovered = RecoveredTurns::default();
            for pack in shared.folder.as_deref().map(SnapshotPack::left_behind).unwrap_or_default()
            {
                let Some(mut left) = TrackedFolders::replay(pack, &shared.places) else { continue };
                for turn in left.open_turns() {
                    // What cannot be read any more is lost.
                    let finished = left.finish(&shared.places, &turn).ok().flatten();
                    recovered.turns.extend(finished);
                }
                // Kept until its turns are stored: this process may be killed as well.
                recovered.left.push(left);
            }
            recovered
        });
        recovered.await.unwrap_or_default()
    }

    /// Returns changes as people see them, with secrets masked.
    pub(crate) async fn shown_changes(&self, changes: Vec<PathChange>) -> Vec<PatchedFile> {
        let shared = Arc::clone(&self.0);
        let shown = move || shown_changes::patched_files(&shared.places.roots, &changes);
        spawn_blocking(shown).await.unwrap_or_default()
    }

    pub(crate) async fn plan(&self, changes: Vec<PathChange>) -> UndoPlan {
        let shared = Arc::clone(&self.0);
        let plan = move || restoring::plan_undo(&shared.places.roots, changes);
        spawn_blocking(plan).await.unwrap_or_default()
    }

    pub(crate) async fn restore(&self, changes: Vec<PathChange>) -> Result<(), String> {
        let shared = Arc::clone(&self.0);
        let restore = move || restoring::undo_changes(&shared.places.roots, &changes);
        spawn_blocking(restore).await.map_err(|error| error.to_string())?
    }

    /// Does blocking work on what is known, which is created if nothing is known yet.
    async fn with_folders<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TrackerShared, &mut TrackedFolders) -> io::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let shared = Arc::clone(&self.0);
        let done = spawn_blocking(move || {
            let mut folders = lock(&shared.folders);
            let folders = match &mut *folders {
                Some(folders) => folders,
                // Made when it is first needed: a runtime that changes nothing needs no pack.
                none => none.insert(TrackedFolders::new(&shared.places, shared.folder.as_deref())?),
            };
            work(&shared, folders)
        });
        let done = done.await.map_err(|error| error.to_string())?;
        done.map_err(|error| error.to_string())
    }
}

/// What was at a path before and after, as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredStates {
    before: PathState,
    after: PathState,
}

impl PathChange {
    pub(crate) fn into_stored(self) -> StoredChange {
        let Self { path, before, after } = self;
        let states = StoredStates { before: before.state, after: after.state };
        let states = serde_json::to_string(&states).unwrap_or_default();
        StoredChange { path, states, before: before.content, after: after.content }
    }

    pub(crate) fn from_stored(stored: StoredChange) -> Option<Self> {
        let StoredChange { path, states, before, after } = stored;
        let states: StoredStates = serde_json::from_str(&states).ok()?;
        let found = |state, content| FoundPath { state, content };
        let (before, after) = (found(states.before, before), found(states.after, after));
        Some(Self { path, before, after })
    }
}
