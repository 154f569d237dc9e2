//! Opening the file: its owner, its permissions, and the settings of SQLite.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::Store;
use crate::error::StoreError;
use crate::file_identity::FileIdentity;
use crate::schema::{self, STEPS, StoreLayout};

/// How long to wait for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(5);
/// The size of a page, in bytes. It is SQLite's default, which nothing here changes.
const PAGE: u64 = 4096;
/// How many prepared statements a connection caches: all that it uses repeatedly. Rusqlite's
/// default of 16 is too few for a turn of a conversation.
const PARSED: usize = 32;

/// The cache is small, since what is written is seldom read again. Removed text is overwritten. The
/// file's own schema is not trusted. Nothing is mapped into memory, because an I/O error on a
/// mapped page is a signal, which would end the process. What SQLite sorts stays in memory, and out
/// of files elsewhere.
const HABITS: &str = "
    PRAGMA cache_size = -512;
    PRAGMA mmap_size = 0;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
";
/// With `NORMAL`, what was committed survives the end of a process, and no answer waits for the
/// disk. Without a limit, one large transaction would leave a log of its size behind.
const WRITERS_HABITS: &str = "
    PRAGMA synchronous = NORMAL;
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 4194304;
";

impl Store {
    /// Opens the file for reading and writing, and creates it if it does not exist: its folder with
    /// mode 0700, the file and the files that SQLite puts beside it (`-wal`, `-shm`) with mode 0600
    /// from the start. Returns an error if the file is not a database, or belongs to another
    /// program, a newer callgate or another user.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, STEPS)
    }

    pub(crate) fn open_with(path: &Path, steps: &[&str]) -> Result<Self, StoreError> {
        let (connection, path) = open_database(path, steps)?;
        let file = Some(FileIdentity::for_path(&path)?);
        Ok(Self { connection, path, file })
    }

    /// Opens a store that lives in memory and ends with this value.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from(":memory:");
        let failed = |error| StoreError::sqlite(&path, "open", error);
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        take_habits(&connection).map_err(failed)?;
        schema::apply_steps(&mut connection, &path, STEPS)?;
        Ok(Self { connection, path, file: None })
    }

    /// Opens the file read-only; other processes may be writing to it. The file is never created or
    /// written to. SQLite may create its two helper files beside it, or leave them there.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let path = resolve_path(path)?;
        look_at(&path)?;
        let (connection, layout) = match read_only(&path, false) {
            // SQLite cannot create its helper files. Without a log of pending changes the file
            // alone is complete.
            Err(error) if is_unopenable(&error) && !path_beside(&path, "-wal").exists() => {
                read_only(&path, true)
            }
            opened => opened,
        }
        .map_err(|error| StoreError::sqlite(&path, "open", error))?;
        schema::check_layout(&path, &layout, STEPS)?;
        match (layout, schema::version_of_steps(STEPS)) {
            // Only whoever may write can bring the file up to date.
            (StoreLayout::Ours(found), known) if found < known => {
                Err(StoreError::Older { path, found, known })
            }
            (StoreLayout::Ours(_), _) => {
                let file = Some(FileIdentity::for_path(&path)?);
                Ok(Self { connection, path, file })
            }
            // The file of another program was refused above. An empty file may be one that is just
            // being created, so callers wait for it as for a missing one.
            (StoreLayout::Empty | StoreLayout::Other, _) => Err(StoreError::Missing(path)),
        }
    }

    /// Runs `work` without waiting for other processes. Afterwards the connection waits as usual,
    /// even if [`set_patient`](Self::set_patient) had told it not to.
    pub(crate) fn without_waiting<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.connection.busy_timeout(Duration::ZERO)?;
        let done = work(&self.connection);
        self.connection.busy_timeout(PATIENCE)?;
        done
    }

    /// Sets whether a change waits for the transactions of other processes. One that does not wait
    /// fails with [`StoreError::Busy`] instead, and changes nothing.
    pub fn set_patient(&mut self, is_patient: bool) -> Result<(), StoreError> {
        let patience = if is_patient { PATIENCE } else { Duration::ZERO };
        self.connection.busy_timeout(patience).map_err(self.explain_failure("open"))
    }

    /// Limits the file to about this many bytes for as long as it is open. Writes beyond that fail
    /// as on a full disk.
    pub fn limit_size(&self, bytes: u64) -> Result<(), StoreError> {
        let pages = i64::try_from(bytes / PAGE).unwrap_or(i64::MAX);
        self.connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .map_err(self.explain_failure("limit the size of"))
    }
}

/// Opens a file for reading and writing as [`Store::open`] does, and returns it with its resolved
/// path. `steps` are the migrations from an empty file.
fn open_database(path: &Path, steps: &[&str]) -> Result<(Connection, PathBuf), StoreError> {
    create_file(path)?;
    let path = resolve_path(path)?;
    look_at(&path)?;
    // After the look at whose it is: another user's file is left alone.
    close_to_others(&path)?;
    let failed = |error| StoreError::sqlite(&path, "open", error);
    // A connection has one thread at a time, so SQLite needs no mutex of its own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
    // Before the first statement, because a process that is creating the file may hold its lock.
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    let layout = schema::read_layout(&connection).map_err(failed)?;
    // Before anything is set: a switch to WAL would write to the file of another program.
    schema::check_layout(&path, &layout, steps)?;
    // SQLite opens a file that may not be written as read-only, without an error.
    if connection.is_readonly(MAIN_DB).map_err(failed)? {
        return Err(StoreError::ReadOnly(path));
    }
    if layout == StoreLayout::Empty {
        // Once there are tables it has no effect, and it costs a transaction.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    }
    use_wal(&connection, &path)?;
    take_habits(&connection).map_err(failed)?;
    connection.execute_batch(WRITERS_HABITS).map_err(failed)?;
    schema::apply_steps(&mut connection, &path, steps)?;
    Ok((connection, path))
}

fn read_only(path: &Path, alone: bool) -> rusqlite::Result<(Connection, StoreLayout)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if alone {
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable_address(path), flags)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    connection.busy_timeout(PATIENCE)?;
    take_habits(&connection)?;
    let layout = schema::read_layout(&connection)?;
    Ok((connection, layout))
}

fn take_habits(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(HABITS)?;
    // Otherwise SQLite prepares many statements again for each new value, to find a better plan;
    // our plans are the same for all values.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(PARSED);
    Ok(())
}

fn is_unopenable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn immutable_address(path: &Path) -> String {
    let escaped = path.as_os_str().as_bytes().iter().map(|byte| match byte {
        b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        // In a URI, `?` and `#` would end the path, and `%` would begin an escape.
        byte => format!("%{byte:02x}"),
    });
    format!("file:{}?immutable=1", escaped.collect::<String>())
}

/// Creates the folder and an empty file, unless they exist. The file is created without opening it:
/// closing it again would drop the locks that this process may already hold on it.
fn create_file(path: &Path) -> Result<(), StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let make = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        make.map_err(|error| StoreError::io("cannot create the folder", folder, error))?;
    }
    match mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(StoreError::io("cannot create", path, error)),
    }
}

fn resolve_path(path: &Path) -> Result<PathBuf, StoreError> {
    path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::Missing(path.to_owned()),
        _ => StoreError::io("cannot look at", path, error),
    })
}

/// Checks that the path is a regular file of our own user.
fn look_at(path: &Path) -> Result<(), StoreError> {
    let metadata =
        fs::metadata(path).map_err(|error| StoreError::io("cannot look at", path, error))?;
    let (theirs, ours) = (metadata.uid(), geteuid().as_raw());
    if !metadata.is_file() {
        return Err(StoreError::NotAFile(path.to_owned()));
    }
    if theirs != ours {
        return Err(StoreError::Foreign { path: path.to_owned(), theirs, ours });
    }
    Ok(())
}

/// Removes the permissions of other users, which a copy or a `chmod` may have given. The files that
/// SQLite puts beside this one get the same mode.
fn close_to_others(path: &Path) -> Result<(), StoreError> {
    for path in [path.to_owned(), path_beside(path, "-wal"), path_beside(path, "-shm")] {
        // A link is skipped, because changing its mode would change the file to which it leads.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_file() && metadata.mode() & 0o077 != 0 {
            fs::set_permissions(&path, Permissions::from_mode(metadata.mode() & 0o700))
                .map_err(|error| StoreError::io("cannot close to others", &path, error))?;
        }
    }
    Ok(())
}

fn path_beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Switches to WAL mode. If several processes open a new file at once, SQLite lets one do it and
/// refuses the others without waiting.
fn use_wal(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mode =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode.map(|mode: String| mode == "wal") {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(StoreError::NoWal(path.to_owned())),
            Err(error) => match StoreError::sqlite(path, "open", error) {
                StoreError::Busy(_) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(5));
                }
                error => return Err(error),
            },
        }
    }
}
