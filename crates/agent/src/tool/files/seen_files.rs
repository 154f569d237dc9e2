//! What the model has read in each conversation, so that it does not overwrite what it has not
//! seen.
//!
//! It is kept in memory: after a restart the model has to read a file again before it replaces it.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Mutex;

use callgate_link::sync::lock;
use rustix::fs::Stat;

use super::beneath::{open_child_file, read_whole_file};
use super::roots::FileLocation;
use super::target::WriteTarget;

/// How many files are remembered; the oldest is forgotten first.
const MOST: usize = 4_096;

/// The files that were read, each with what it contained.
#[derive(Debug, Default)]
pub(super) struct SeenFiles {
    /// Its key is random, so that nobody can make another content with the same hash.
    hasher: RandomState,
    all: Mutex<VecDeque<KnownContent>>,
}

#[derive(Debug)]
struct KnownContent {
    conversation: String,
    path: PathBuf,
    mark: ContentMark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentMark {
    /// The length and the hash of its content.
    Whole(usize, u64),
    /// The size and the modification time of a file that is too large to be read as a whole.
    Stamp(i64, i64, i64),
}

impl ContentMark {
    /// Returns the mark of a file that is too large to be read as a whole.
    pub(super) fn from_stat(stat: &Stat) -> Self {
        Self::Stamp(stat.st_size, stat.st_mtime, stat.st_mtime_nsec.cast_signed())
    }
}

/// What has to be known of a file before it is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacement {
    /// All of it is replaced: the model has to have read it.
    Whole,
    /// A text in it is replaced, which the model has given.
    Part,
}

impl SeenFiles {
    pub(super) fn mark(&self, content: &[u8]) -> ContentMark {
        ContentMark::Whole(content.len(), self.hasher.hash_one(content))
    }

    /// Notes that the model knows this content of a file.
    pub(super) fn note_seen(
        &self,
        conversation: &str,
        place: &FileLocation<'_>,
        mark: ContentMark,
    ) {
        // A path that cannot be resolved any more is one that was not read.
        let Ok(path) = place.real_path() else { return };
        let mut all = lock(&self.all);
        all.retain(|seen| seen.conversation != conversation || seen.path != path);
        all.push_back(KnownContent { conversation: conversation.to_owned(), path, mark });
        if all.len() > MOST {
            all.pop_front();
        }
    }

    pub(super) fn has(&self, conversation: &str, place: &FileLocation<'_>) -> bool {
        self.known_mark(conversation, place).is_some()
    }

    /// Returns an error if a file may not be replaced: the model has not read it, or it has changed
    /// since.
    pub(super) fn check_replaceable(
        &self,
        conversation: &str,
        place: &FileLocation<'_>,
        target: &WriteTarget,
        replacement: Replacement,
    ) -> Result<(), String> {
        // There is nothing to lose in a file that is new or empty.
        let Some(stat) = target.old.as_ref().filter(|old| old.st_size > 0) else { return Ok(()) };
        let known = self.known_mark(conversation, place);
        // The model cannot be told to read a file that cannot be read.
        let Ok((file, _)) = open_child_file(target.folder.as_fd(), &target.name) else {
            return Ok(());
        };
        match known {
            None if replacement == Replacement::Part => Ok(()),
            None => Err("it exists, and you have not read it in this conversation: read it with \
                         read_file first, or change it with edit_file"
                .to_owned()),
            Some(mark) if self.is_still(mark, file, stat)? => Ok(()),
            Some(_) => Err("it has changed since you read it: read it again, and make sure that \
                            nothing is lost"
                .to_owned()),
        }
    }

    fn is_still(&self, mark: ContentMark, file: File, stat: &Stat) -> Result<bool, String> {
        let ContentMark::Whole(length, _) = mark else {
            return Ok(mark == ContentMark::from_stat(stat));
        };
        // A longer file is another one, and is not read further.
        let content = read_whole_file(file, length as u64)?;
        Ok(content.is_some_and(|content| self.mark(&content) == mark))
    }

    fn known_mark(&self, conversation: &str, place: &FileLocation<'_>) -> Option<ContentMark> {
        let path = place.real_path().ok()?;
        let all = lock(&self.all);
        let seen = all.iter().find(|seen| seen.conversation == conversation && seen.path == path);
        seen.map(|seen| seen.mark)
    }
}
