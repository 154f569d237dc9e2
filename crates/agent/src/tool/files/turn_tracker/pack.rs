//! The file in which a running process keeps what it knows of the folders: records, each with the
//! content of a file if it has one. It is only appended to, so that after a kill another process
//! reads in it what the turns that were running had to begin with.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use callgate_link::file::{open_own, try_lock};
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::path_state::PathState;

const SUFFIX: &str = ".pack";
/// The longest record, in bytes. The length that a damaged pack names may be anything.
const LONGEST_RECORD: u32 = 1024 * 1024;
/// The bytes before a record: its length and that of its content.
const LENGTHS: usize = 12;
/// How much is collected before it is written.
const BUFFER: usize = 256 * 1024;

/// Where a content is in the pack: its first byte and its length.
pub(super) type ContentSpan = (u64, u64);

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum PackRecord {
    /// The allowed folders. It comes first.
    Folders { paths: Vec<String> },
    /// A turn begins to change something.
    Begin { turn: String, conversation: String, message: u64 },
    /// What is at a path now. Its content follows.
    Path { path: String, state: PathState, changed_ns: i64, inode: u64 },
    /// Nothing is at a path any more.
    Gone { path: String },
    /// All paths are known, at this time, and the turn is about to run a command.
    Snapshot { turn: String, at_ns: i64 },
    /// Nothing is known of what commands of the turn change, and why.
    Unknown { turn: String, reason: String },
    /// What was at a path before the turn changed it; its content follows or is at `span`.
    Before { turn: String, path: String, state: PathState, span: Option<ContentSpan> },
    /// The turn is over, and what it changed is stored elsewhere.
    End { turn: String },
}

pub(super) struct SnapshotPack {
    file: BufWriter<File>,
    path: Option<PathBuf>,
    length: u64,
}

impl SnapshotPack {
    /// Creates a pack in `folder`, or in memory if there is no folder or it cannot be written.
    pub(super) fn create(folder: Option<&Path>) -> io::Result<Self> {
        let on_disk = |folder: &Path| -> io::Result<(File, Option<PathBuf>)> {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let path = folder.join(format!("{}{SUFFIX}", Uuid::new_v4().simple()));
            let file = open_own(OpenOptions::new().read(true).write(true).create_new(true), &path)?;
            // The lock shows other processes that this one lives.
            file.lock()?;
            Ok((file, Some(path)))
        };
        let (file, path) = match folder.map(on_disk) {
            Some(Ok(made)) => made,
            // In memory it serves as well, as long as this process lives.
            _ => (File::from(memfd_create("callgate-snapshot", MemfdFlags::CLOEXEC)?), None),
        };
        Ok(Self { file: BufWriter::with_capacity(BUFFER, file), path, length: 0 })
    }

    /// Opens the packs in `folder` whose processes have died.
    pub(super) fn left_behind(folder: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let open = |path: PathBuf| -> io::Result<Option<Self>> {
            let file = open_own(OpenOptions::new().read(true).append(true), &path)?;
            let length = file.metadata()?.len();
            // An empty one may just have been created.
            let is_left = length > 0 && try_lock(&file)?;
            let file = BufWriter::with_capacity(BUFFER, file);
            Ok(is_left.then_some(Self { file, path: Some(path), length }))
        };
        let is_pack = |path: &PathBuf| path.to_string_lossy().ends_with(SUFFIX);
        let paths = entries.flatten().map(|entry| entry.path()).filter(is_pack);
        paths.filter_map(|path| open(path).ok().flatten()).collect()
    }

    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.path.as_deref()?.parent().map(Path::to_owned)
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn age_in_days(&self) -> u64 {
        let modified = self.file.get_ref().metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        age.map_or(0, |age| age.as_secs() / (24 * 60 * 60))
    }

    /// Appends a record with a content, and returns where the content is.
    pub(super) fn append_record(
        &mut self,
        record: &PackRecord,
        content: Option<&[u8]>,
    ) -> io::Result<Option<ContentSpan>> {
        let json = serde_json::to_vec(record)?;
        let size = u32::try_from(json.len()).map_err(io::Error::other)?;
        let bytes = content.unwrap_or_default();
        self.file.write_all(&size.to_le_bytes())?;
        self.file.write_all(&(bytes.len() as u64).to_le_bytes())?;
        self.file.write_all(&json)?;
        self.file.write_all(bytes)?;
        let at = self.length + LENGTHS as u64 + u64::from(size);
        self.length = at + bytes.len() as u64;
        Ok(content.map(|_| (at, bytes.len() as u64)))
    }

    /// Hands everything to the system, so that it survives this process.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    pub(super) fn content(&mut self, (at, length): ContentSpan) -> io::Result<Vec<u8>> {
        self.file.flush()?;
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        // Without moving the position, at which the next record is appended.
        self.file.get_ref().read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// Calls `each` with every whole record, and where its content is.
    pub(super) fn read_records(
        &mut self,
        mut each: impl FnMut(PackRecord, ContentSpan),
    ) -> io::Result<()> {
        self.file.flush()?;
        let mut file = self.file.get_ref().try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        let (mut reader, mut at) = (BufReader::new(file), 0);
        let mut lengths = [0; LENGTHS];
        while at + LENGTHS as u64 <= self.length {
            reader.read_exact(&mut lengths)?;
            let [a, b, c, d, rest @ ..] = lengths;
            let size = u32::from_le_bytes([a, b, c, d]);
            let content = u64::from_le_bytes(rest);
            let begin = at + LENGTHS as u64 + u64::from(size);
            // The last record of a process that was killed may be cut.
            let Some(end) = begin.checked_add(content).filter(|end| *end <= self.length) else {
                break;
            };
            if size > LONGEST_RECORD {
                break;
            }
            let mut json = vec![0; size as usize];
            reader.read_exact(&mut json)?;
            let Ok(record) = serde_json::from_slice(&json) else { break };
            each(record, (begin, content));
            reader.seek_relative(i64::try_from(content).map_err(io::Error::other)?)?;
            at = end;
        }
        Ok(())
    }

    pub(super) fn remove(&mut self) {
        if let Some(path) = self.path.take() {
            // An error means that somebody else has removed it.
            fs::remove_file(path).ok();
        }
    }
}
