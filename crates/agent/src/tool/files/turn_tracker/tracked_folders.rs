//! What is known of the folders, and what was there before the running turns changed it.
//!
//! A file tool notes a path just before it writes. A command may change anything, so before the
//! first one of a turn all files are known: their metadata in memory, their contents in the pack.
//! A later comparison reads only files whose metadata has changed.

mod folder_look;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::Stat;

use super::pack::{ContentSpan, PackRecord, SnapshotPack};
use super::path_state::{FoundPath, PathChange, PathState, unix_nanoseconds};
use super::tracked_places::TrackedPlaces;
use super::{RecordedTurn, TurnMark};
use crate::tool::files::MAX_FILE;
use crate::tool::files::error_text::FileKind;

/// A file that was changed so shortly before it was read may change again without new metadata: the
/// system's clock for files ticks slowly. In nanoseconds.
const RACY_NS: i64 = 50_000_000;
/// How many bytes of contents are kept of one turn.
const MOST_TURN_BYTES: usize = 32 * 1024 * 1024;
const MOST_CHANGES: usize = 5_000;

pub(super) struct TrackedFolders {
    pack: SnapshotPack,
    known: HashMap<String, KnownPath>,
    turns: HashMap<String, TrackedTurn>,
    /// The number of the last look at everything.
    look: u64,
    /// How many bytes of known contents are kept, and how many may be.
    kept: u64,
    most_kept: u64,
}

struct KnownPath {
    prior: PriorPath,
    changed_ns: i64,
    inode: u64,
    /// Whether its metadata cannot be trusted.
    is_racy: bool,
    /// The look in which it was last seen.
    look: u64,
}

#[derive(Clone)]
struct PriorPath {
    state: PathState,
    span: Option<ContentSpan>,
}

/// A turn that is running, or whose process was killed.
#[derive(Default)]
struct TrackedTurn {
    conversation: String,
    message: u64,
    /// When all files were known, if a command ran.
    snapshot_ns: Option<i64>,
    before: BTreeMap<String, PriorPath>,
    unknown: Option<String>,
}

impl TrackedFolders {
    pub(super) fn new(places: &TrackedPlaces, folder: Option<&Path>) -> io::Result<Self> {
        let mut pack = SnapshotPack::create(folder)?;
        pack.append_record(&PackRecord::Folders { paths: places.names() }, None)?;
        Ok(Self::from_pack(pack, places))
    }

    fn from_pack(pack: SnapshotPack, places: &TrackedPlaces) -> Self {
        let (known, turns) = (HashMap::new(), HashMap::new());
        Self { pack, known, turns, look: 0, kept: 0, most_kept: places.limits.bytes }
    }

    /// Reads what a process that was killed knew. Returns `None` if it worked in other folders.
    pub(super) fn replay(mut pack: SnapshotPack, places: &TrackedPlaces) -> Option<Self> {
        let mut records = Vec::new();
        pack.read_records(|record, content| records.push((record, content))).ok()?;
        let mut folders = Self::from_pack(pack, places);
        let mut is_ours = false;
        for (record, content) in records {
            match record {
                PackRecord::Folders { paths } => is_ours = paths == places.names(),
                record => folders.apply_record(record, content),
            }
        }
        // Where nobody works in those folders again, the contents of files would stay for ever.
        if !is_ours && folders.pack.age_in_days() > 30 {
            folders.pack.remove();
        }
        is_ours.then_some(folders)
    }

    fn apply_record(&mut self, record: PackRecord, content: ContentSpan) {
        let span_of = |state: &PathState| {
            matches!(state, PathState::File { size, .. } if *size == content.1).then_some(content)
        };
        match record {
            PackRecord::Folders { .. } => {}
            PackRecord::Begin { turn, conversation, message } => {
                let begun = TrackedTurn { conversation, message, ..TrackedTurn::default() };
                self.turns.insert(turn, begun);
            }
            PackRecord::Path { path, state, changed_ns, inode } => {
                let prior = PriorPath { span: span_of(&state), state };
                // Whether its metadata could be trusted is not in the record.
                let known = KnownPath { prior, changed_ns, inode, is_racy: true, look: self.look };
                self.known.insert(path, known);
            }
            PackRecord::Gone { path } => drop(self.known.remove(&path)),
            PackRecord::Snapshot { turn, at_ns } => {
                if let Some(turn) = self.turns.get_mut(&turn) {
                    turn.snapshot_ns = Some(at_ns);
                }
            }
            PackRecord::Unknown { turn, reason } => {
                if let Some(turn) = self.turns.get_mut(&turn) {
                    turn.unknown = Some(reason);
                }
            }
            PackRecord::Before { turn, path, state, span } => {
                let prior = PriorPath { span: span.or_else(|| span_of(&state)), state };
                if let Some(turn) = self.turns.get_mut(&turn) {
                    turn.before.entry(path).or_insert(prior);
                }
            }
            PackRecord::End { turn } => drop(self.turns.remove(&turn)),
        }
    }

    pub(super) fn open_turns(&self) -> Vec<String> {
        self.turns.keys().cloned().collect()
    }

    pub(super) fn has(&self, turn: &str) -> bool {
        self.turns.contains_key(turn)
    }

    pub(super) fn remove(mut self) {
        self.pack.remove();
    }

    fn begin_turn(&mut self, mark: &TurnMark) -> io::Result<()> {
        if self.turns.contains_key(&*mark.request) {
            return Ok(());
        }
        let (turn, conversation) = (mark.request.to_string(), mark.conversation.to_string());
        let begun = TrackedTurn {
            conversation: conversation.clone(),
            message: mark.message,
            ..TrackedTurn::default()
        };
        self.turns.insert(turn.clone(), begun);
        let record = PackRecord::Begin { turn, conversation, message: mark.message };
        self.pack.append_record(&record, None).map(drop)
    }

    /// Notes what is at a path that a file tool is about to write, and which folders above it are
    /// missing.
    pub(super) fn note_write(
        &mut self,
        places: &TrackedPlaces,
        mark: &TurnMark,
        path: &str,
    ) -> io::Result<()> {
        self.begin_turn(mark)?;
        let place = places.roots.locate(path).map_err(io::Error::other)?;
        let real = place.real_path()?;
        let mut missing = Vec::new();
        for above in real.ancestors().skip(1) {
            let Some(text) = above.to_str() else { break };
            match FoundPath::at(&places.roots, text, 0) {
                Ok(found) if found.state == PathState::Absent => missing.push(text.to_owned()),
                _ => break,
            }
        }
        for path in missing {
            self.note_before(mark, path, &FoundPath::ABSENT)?;
        }
        let real = real.into_os_string().into_string();
        let real = real.map_err(|_| io::Error::other("its name is not UTF-8"))?;
        let found = FoundPath::at(&places.roots, &real, MAX_FILE).map_err(io::Error::other)?;
        self.note_before(mark, real, &found)?;
        // Before the tool writes: a kill in between must not lose what was there.
        self.pack.flush()
    }

    fn note_before(&mut self, mark: &TurnMark, path: String, found: &FoundPath) -> io::Result<()> {
        let Some(turn) = self.turns.get_mut(&*mark.request) else { return Ok(()) };
        if turn.before.contains_key(&path) {
            return Ok(());
        }
        let record = PackRecord::Before {
            turn: mark.request.to_string(),
            path: path.clone(),
            state: found.state.clone(),
            span: None,
        };
        let span = self.pack.append_record(&record, found.content.as_deref())?;
        turn.before.insert(path, PriorPath { state: found.state.clone(), span });
        Ok(())
    }

    /// Gets to know all files before a command of the turn runs, once in a turn.
    pub(super) fn snapshot(&mut self, places: &TrackedPlaces, mark: &TurnMark) -> io::Result<()> {
        self.begin_turn(mark)?;
        let is_known = |turn: &TrackedTurn| turn.snapshot_ns.is_some() || turn.unknown.is_some();
        if self.turns.get(&*mark.request).is_some_and(is_known) {
            return Ok(());
        }
        self.start_anew_if_large(places)?;
        let looked = self.look_at_all(places)?;
        let Some(turn) = self.turns.get_mut(&*mark.request) else { return Ok(()) };
        match looked {
            Ok(()) => {
                let at_ns = now_ns();
                turn.snapshot_ns = Some(at_ns);
                let turn = mark.request.to_string();
                self.pack.append_record(&PackRecord::Snapshot { turn, at_ns }, None)?;
                self.pack.flush()
            }
            Err(reason) => self.note_unknown(mark, &reason),
        }
    }

    /// Forgets everything if most of the pack is of no use any more and only this turn runs.
    fn start_anew_if_large(&mut self, places: &TrackedPlaces) -> io::Result<()> {
        // What was noted of a turn is in the pack, and would be lost with it.
        let has_notes = self.turns.len() > 1 || self.turns.values().any(|t| !t.before.is_empty());
        if self.pack.length() <= 2 * places.limits.bytes || has_notes {
            return Ok(());
        }
        let turns = std::mem::take(&mut self.turns);
        let folder = self.pack.folder();
        self.pack.remove();
        *self = Self::new(places, folder.as_deref())?;
        for (turn, TrackedTurn { conversation, message, .. }) in turns {
            let mark =
                TurnMark { request: turn.into(), conversation: conversation.into(), message };
            self.begin_turn(&mark)?;
        }
        Ok(())
    }

    /// Notes that nothing can be known of what commands of the turn change.
    pub(super) fn note_unknown(&mut self, mark: &TurnMark, reason: &str) -> io::Result<()> {
        self.begin_turn(mark)?;
        let turn = self.turns.get_mut(&*mark.request).filter(|turn| turn.unknown.is_none());
        let Some(turn) = turn else { return Ok(()) };
        turn.unknown = Some(reason.to_owned());
        let turn = mark.request.to_string();
        self.pack.append_record(&PackRecord::Unknown { turn, reason: reason.to_owned() }, None)?;
        // Before the command runs: after a kill its changes must not be taken for none.
        self.pack.flush()
    }

    pub(super) fn finish(
        &mut self,
        places: &TrackedPlaces,
        turn: &str,
    ) -> io::Result<Option<RecordedTurn>> {
        let is_snapshot = self.turns.get(turn).is_some_and(|turn| turn.snapshot_ns.is_some());
        let looked = if is_snapshot { self.look_at_all(places)? } else { Ok(()) };
        let Some(ended) = self.turns.remove(turn) else { return Ok(None) };
        let mut unknown = ended.unknown.or(looked.err());
        let (mut changes, mut room) = (Vec::new(), MOST_TURN_BYTES);
        for (path, prior) in ended.before {
            let Ok(after) = FoundPath::at(&places.roots, &path, MAX_FILE) else { continue };
            let content = prior.span.map(|span| self.pack.content(span)).transpose()?;
            let before = FoundPath { state: prior.state, content };
            if before.is_like(&after) {
                continue;
            }
            if changes.len() == MOST_CHANGES {
                unknown = Some(format!("more than {MOST_CHANGES} files were changed"));
                break;
            }
            let mut change = PathChange { path, before, after };
            let size = |found: &FoundPath| found.content.as_ref().map_or(0, Vec::len);
            if let Some(left) = room.checked_sub(size(&change.before) + size(&change.after)) {
                room = left;
            } else {
                (change.before.content, change.after.content) = (None, None);
            }
            changes.push(change);
        }
        self.pack.append_record(&PackRecord::End { turn: turn.to_owned() }, None)?;
        self.pack.flush()?;
        let (conversation, message) = (ended.conversation, ended.message);
        let is_worth_it = unknown.is_some() || changes.iter().any(PathChange::is_shown);
        Ok(is_worth_it.then_some(RecordedTurn { conversation, message, unknown, changes }))
    }

    /// Takes note of what is at a path, which may have changed.
    fn note_found(
        &mut self,
        path: String,
        mut found: FoundPath,
        stat: &Stat,
        inodes: &HashSet<u64>,
        began_ns: i64,
    ) -> io::Result<()> {
        let changed_ns = unix_nanoseconds(stat.st_ctime, stat.st_ctime_nsec);
        let (inode, look) = (stat.st_ino, self.look);
        let is_racy = changed_ns >= began_ns - RACY_NS;
        let absent = PriorPath { state: PathState::Absent, span: None };
        let known = self.known.get(&path);
        let prior = known.map_or(&absent, |known| &known.prior).clone();
        let is_new = known.is_none();
        let content = prior.span.map(|span| self.pack.content(span)).transpose()?;
        let before = FoundPath { state: prior.state.clone(), content };
        if before.is_like(&found) {
            let prior = PriorPath { state: found.state, span: prior.span };
            self.known.insert(path, KnownPath { prior, changed_ns, inode, is_racy, look });
            return Ok(());
        }
        // A file that is new here but was not touched has only ceased to be ignored, unless it is
        // one that was moved with its folder.
        let since = (is_new && !inodes.contains(&inode)).then_some(changed_ns);
        self.note_changed(&path, &prior, since)?;
        let state = found.state.clone();
        self.kept = self.kept.saturating_sub(prior.length());
        let room = self.most_kept.saturating_sub(self.kept);
        found.content = found.content.filter(|content| content.len() as u64 <= room);
        let record = PackRecord::Path { path: path.clone(), state, changed_ns, inode };
        let span = self.pack.append_record(&record, found.content.as_deref())?;
        let prior = PriorPath { state: found.state, span };
        self.kept += prior.length();
        self.known.insert(path, KnownPath { prior, changed_ns, inode, is_racy, look });
        Ok(())
    }

    /// Notes for each running turn what was at a path, if the path changed `since` its snapshot.
    fn note_changed(
        &mut self,
        path: &str,
        prior: &PriorPath,
        since: Option<i64>,
    ) -> io::Result<()> {
        for (name, turn) in &mut self.turns {
            let Some(snapshot_ns) = turn.snapshot_ns else { continue };
            let is_older = since.is_some_and(|since| since < snapshot_ns - RACY_NS);
            if is_older || turn.before.contains_key(path) {
                continue;
            }
            turn.before.insert(path.to_owned(), prior.clone());
            let record = PackRecord::Before {
                turn: name.clone(),
                path: path.to_owned(),
                state: prior.state.clone(),
                span: prior.span,
            };
            self.pack.append_record(&record, None)?;
        }
        Ok(())
    }
}

impl PriorPath {
    /// Returns how many bytes of its content are kept.
    fn length(&self) -> u64 {
        self.span.map_or(0, |(_, length)| length)
    }
}

impl Drop for TrackedFolders {
    fn drop(&mut self) {
        // With open turns it stays for the process that recovers them.
        if self.turns.is_empty() {
            self.pack.remove();
        }
    }
}

impl KnownPath {
    /// Returns true if a path with this metadata is surely unchanged.
    fn is_same(&self, stat: &Stat) -> bool {
        let size = match &self.prior.state {
            PathState::File { size, .. } => u64::try_from(stat.st_size) == Ok(*size),
            PathState::Folder { mode } => {
                return stat.st_mode & 0o7777 == *mode
                    && FileKind::from_stat(stat) == FileKind::Folder;
            }
            _ => true,
        };
        let changed_ns = unix_nanoseconds(stat.st_ctime, stat.st_ctime_nsec);
        !self.is_racy && size && (self.inode, self.changed_ns) == (stat.st_ino, changed_ns)
    }
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
}
