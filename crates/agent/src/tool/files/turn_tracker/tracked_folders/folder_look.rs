//! A look at all files, to find those that have changed.

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use rustix::fs::{AtFlags, statat};

use super::super::pack::PackRecord;
use super::super::path_state::FoundPath;
use super::super::tracked_places::TrackedPlaces;
use super::{KnownPath, TrackedFolders, now_ns};
use crate::tool::files::CancelFlag;
use crate::tool::files::error_text::FileKind;
use crate::tool::files::roots::FileLocation;
use crate::tool::files::search::hidden::HiddenFilter;
use crate::tool::files::search::walk::{FolderStep, FolderWalk, WalkEntry};

/// The longest path, in bytes.
const LONGEST_PATH: usize = 4_095;

impl TrackedFolders {
    /// Looks at all files. The inner error says why some could not be looked at.
    pub(super) fn look_at_all(&mut self, places: &TrackedPlaces) -> io::Result<Result<(), String>> {
        self.look += 1;
        let inodes: HashSet<u64> = self.known.values().map(|known| known.inode).collect();
        let mut look = FolderLook {
            folders: self,
            places,
            inodes,
            began_ns: now_ns(),
            until: Instant::now() + places.limits.time,
            count: 0,
            ended: None,
            failed: None,
        };
        let mut unwalked = None;
        for (run_command, root) in places.roots.outermost() {
            unwalked = unwalked.or(look.walk(&run_command, &root).err());
        }
        let FolderLook { ended, failed, began_ns, inodes, .. } = look;
        if let Some(error) = failed {
            return Err(error);
        }
        // After an early end as well: paths that were not reached are looked at by their names.
        self.look_at_missing(places, &inodes, began_ns)?;
        self.pack.flush()?;
        Ok(ended.or(unwalked).map_or(Ok(()), Err))
    }

    /// Looks at the known paths that were not found: they are gone, or ignored by now.
    fn look_at_missing(
        &mut self,
        places: &TrackedPlaces,
        inodes: &HashSet<u64>,
        began_ns: i64,
    ) -> io::Result<()> {
        let is_missing =
            |(path, known): (&String, &KnownPath)| (known.look != self.look).then(|| path.clone());
        let missing: Vec<String> = self.known.iter().filter_map(is_missing).collect();
        for path in missing {
            let place = places.roots.locate(&path).map_err(io::Error::other)?;
            let stat = place.unlinked_parent().and_then(|(folder, name)| {
                let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                Ok((
                    FoundPath::from_stat(folder.as_fd(), name, &stat, places.limits.one_file),
                    stat,
                ))
            });
            if let Ok((found, stat)) = stat {
                self.note_found(path, found, &stat, inodes, began_ns)?;
            } else if let Some(gone) = self.known.remove(&path) {
                self.kept = self.kept.saturating_sub(gone.prior.length());
                self.note_changed(&path, &gone.prior, None)?;
                self.pack.append_record(&PackRecord::Gone { path }, None)?;
            }
        }
        Ok(())
    }
}

struct FolderLook<'a> {
    folders: &'a mut TrackedFolders,
    places: &'a TrackedPlaces,
    /// The inodes that were known before.
    inodes: HashSet<u64>,
    began_ns: i64,
    until: Instant,
    count: u64,
    ended: Option<String>,
    failed: Option<io::Error>,
}

impl FolderLook<'_> {
    fn walk(&mut self, start: &Path, root: &FileLocation<'_>) -> Result<(), String> {
        let stop = CancelFlag::default();
        let mut filter = HiddenFilter::new(&self.places.hidden, "search_files", start.to_owned());
        let walk = FolderWalk::new(root, false, &stop)?;
        let gaps = walk.visit_all(&mut |entry| match self.visit(start, entry, &mut filter) {
            Ok(next) => next,
            Err(error) => {
                self.failed = Some(error);
                FolderStep::Enough
            }
        })?;
        gaps.ended.map_or(Ok(()), |reason| Err(unknown_changes(reason)))
    }

    fn visit(
        &mut self,
        start: &Path,
        entry: &WalkEntry<'_>,
        filter: &mut HiddenFilter,
    ) -> io::Result<FolderStep> {
        let limits = &self.places.limits;
        // What rules and people cannot name is not tracked.
        let Ok(rest) = str::from_utf8(entry.bytes) else { return Ok(FolderStep::Past) };
        let path = start.join(rest);
        let is_tracked = matches!(entry.kind, FileKind::File | FileKind::Link | FileKind::Folder);
        if !is_tracked || self.places.is_private(&path) {
            return Ok(FolderStep::Past);
        }
        let Ok(path) = path.into_os_string().into_string() else { return Ok(FolderStep::Past) };
        let metadata = statat(entry.folder, entry.name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(metadata), true) = (metadata, path.len() <= LONGEST_PATH) else {
            return Ok(FolderStep::Past);
        };
        self.count += 1;
        if self.count > limits.files {
            self.ended =
                Some(unknown_changes(&format!("there are more than {} files", limits.files)));
            return Ok(FolderStep::Enough);
        }
        if Instant::now() > self.until {
            let seconds = limits.time.as_secs();
            self.ended =
                Some(unknown_changes(&format!("looking at all files takes over {seconds} s")));
            return Ok(FolderStep::Enough);
        }
        let look = self.folders.look;
        match self.folders.known.get_mut(&path) {
            Some(known) if known.is_same(&metadata) => {
                known.look = look;
                return Ok(FolderStep::On);
            }
            None if filter.hides(entry) => return Ok(FolderStep::Past),
            _ => {}
        }
        let found = FoundPath::from_stat(entry.folder, entry.name, &metadata, limits.one_file);
        self.folders.note_found(path, found, &metadata, &self.inodes, self.began_ns)?;
        Ok(FolderStep::On)
    }
}

fn unknown_changes(reason: &str) -> String {
    format!("what commands have changed is not known: {reason}")
}
