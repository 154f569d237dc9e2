//! A settings file on the disk: read once, replaced in one step, or left untouched.

use callgate_link::text_file::read_text_file;
use callgate_mask::text::{BYTE_ORDER_MARK, without_mark};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use super::made_folders;

/// The largest settings file that is changed.
const LARGEST: u64 = 16 << 20;
/// The suffix of the backup's name.
const BACKUP: &str = ".before-callgate";

/// The path of a settings file, which may be a link, and may be absent.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    /// Whether a file and folders that are made can be read by all users.
    is_for_everybody: bool,
    /// Whether a file that is made is a program.
    is_program: bool,
    /// The folder below which folders that were made for the file go with it.
    base: Option<PathBuf>,
}

/// The state of a file when it was read.
#[derive(Debug)]
pub(crate) struct SeenFile {
    /// The text, without the byte order mark that may precede it.
    pub(crate) text: String,
    has_mark: bool,
    /// The file itself, if `path` is a link.
    target: PathBuf,
    mode: u32,
    owner: (u32, u32),
}

/// Whether to keep the file that was seen as the backup, in place of an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BackupChoice {
    Write,
    Leave,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsFileError {
    #[error("cannot read {}: {error}", path.display())]
    Unread { path: PathBuf, error: io::Error },
    #[error("{} is a link to a file that is not there; make the file or remove the link", .0.display())]
    Dangling(PathBuf),
    #[error("{} is not a file", .0.display())]
    NotFile(PathBuf),
    #[error("{0} is read-only; to let callgate change it: chmod u+w {0}", path.display())]
    ReadOnly { path: PathBuf },
    #[error("cannot write {}: {error}; nothing was changed", path.display())]
    Unwritten { path: PathBuf, error: io::Error },
    #[error("{} was changed by somebody else at the same time; run the command again", .0.display())]
    Changed(PathBuf),
}

impl SeenFile {
    /// Returns true if somebody else may read the file.
    pub(crate) fn is_open_to_others(&self) -> bool {
        self.mode & 0o077 != 0
    }
}

impl SettingsFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, is_for_everybody: false, is_program: false, base: None }
    }

    /// Creates a file that, once it is made, all users can read.
    pub(crate) fn for_everybody(path: PathBuf) -> Self {
        Self { is_for_everybody: true, ..Self::new(path) }
    }

    /// Sets the folder below which folders that are made for the file go with it.
    pub(crate) fn with_base_folder(self, base: Option<&Path>) -> Self {
        Self { base: base.map(Path::to_owned), ..self }
    }

    /// Marks the file executable when it is created.
    pub(crate) fn make_program(&mut self) {
        self.is_program = true;
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the backup. It is beside the link if the file is one.
    pub(crate) fn backup_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(BACKUP);
        name.into()
    }

    /// Reads the file as it is now; `None` if it is absent.
    pub(crate) fn read(&self) -> Result<Option<SeenFile>, SettingsFileError> {
        let unread = |error| SettingsFileError::Unread { path: self.path.clone(), error };
        // Links are followed, because people keep their settings in a repository and have links to
        // the files there.
        let target = match fs::canonicalize(&self.path) {
            Ok(target) => target,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(unread(error)),
            Err(_) if self.path.is_symlink() => {
                return Err(SettingsFileError::Dangling(self.path.clone()));
            }
            Err(_) => return Ok(None),
        };
        let found = fs::metadata(&target).map_err(unread)?;
        if !found.is_file() {
            return Err(SettingsFileError::NotFile(self.path.clone()));
        }
        let whole = self.read_text(&target)?;
        let text = without_mark(&whole).to_owned();
        let (has_mark, owner) = (text != whole, (found.uid(), found.gid()));
        Ok(Some(SeenFile { text, has_mark, target, mode: found.mode() & 0o7777, owner }))
    }

    fn read_text(&self, target: &Path) -> Result<String, SettingsFileError> {
        let unread = |error| SettingsFileError::Unread { path: self.path.clone(), error };
        read_text_file(target, LARGEST).map_err(unread)
    }

    /// Replaces the file that was seen, or creates it. The backup is written once only the last
    /// step can still fail.
    pub(crate) fn write(
        &self,
        seen: Option<&SeenFile>,
        text: &str,
        backup: BackupChoice,
    ) -> Result<(), SettingsFileError> {
        let unwritten = |error| SettingsFileError::Unwritten { path: self.path.clone(), error };
        // A link stays a link, and the file that it leads to is replaced.
        let target = seen.map_or(&self.path, |seen| &seen.target);
        // The rename would succeed all the same, although the owner wants the file to stay as it
        // is.
        if seen.is_some_and(|seen| seen.mode & 0o200 == 0) {
            return Err(SettingsFileError::ReadOnly { path: self.path.clone() });
        }
        let folder = target.parent().unwrap_or(Path::new("/"));
        self.make_folders(folder).map_err(unwritten)?;
        let new = NewFile::create(target, seen, text).map_err(unwritten)?;
        if self.is_for_everybody && seen.is_none() {
            new.set_mode(0o644).map_err(unwritten)?;
        }
        if self.is_program && seen.is_none() {
            new.set_mode(0o700).map_err(unwritten)?;
        }
        if let (BackupChoice::Write, Some(seen)) = (backup, seen) {
            self.back_up(seen)?;
        }
        self.check_unchanged(seen)?;
        new.move_to(target).map_err(unwritten)
    }

    /// Makes the folder and those above it that are absent.
    fn make_folders(&self, folder: &Path) -> io::Result<()> {
        let absent: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // The umask of the process does not count.
        let open = |path: &&Path| fs::set_permissions(path, PermissionsExt::from_mode(0o755));
        match absent.last() {
            _ if self.is_for_everybody => absent.iter().try_for_each(open),
            Some(topmost) if self.base.as_deref().is_some_and(|base| topmost.starts_with(base)) => {
                made_folders::mark_made_folder(topmost)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn remove(&self, seen: &SeenFile) -> Result<(), SettingsFileError> {
        let unwritten = |error| SettingsFileError::Unwritten { path: self.path.clone(), error };
        self.check_unchanged(Some(seen))?;
        fs::remove_file(&seen.target).map_err(unwritten)
    }

    /// Removes the folders that were made for the file, unless there is something else in them.
    pub(crate) fn remove_made_folders(&self) {
        if let Some(base) = self.base.as_deref().filter(|base| self.path.starts_with(base)) {
            made_folders::remove_empty_folders(&self.path, base);
        }
    }

    fn back_up(&self, seen: &SeenFile) -> Result<(), SettingsFileError> {
        let path = self.backup_path();
        let unwritten = |error| SettingsFileError::Unwritten { path: path.clone(), error };
        let new = NewFile::create(&path, Some(seen), &seen.text).map_err(unwritten)?;
        new.move_to(&path).map_err(unwritten)
    }

    /// Returns the text of the backup, if there is one that can be read.
    pub(crate) fn read_backup(&self) -> Option<String> {
        self.read_text(&self.backup_path()).ok().map(|text| without_mark(&text).to_owned())
    }

    pub(crate) fn remove_backup(&self) {
        // A backup that stays does no harm.
        fs::remove_file(self.backup_path()).ok();
    }

    fn check_unchanged(&self, seen: Option<&SeenFile>) -> Result<(), SettingsFileError> {
        let now = self.read()?;
        let is_same = match (seen, &now) {
            (None, None) => true,
            (Some(seen), Some(now)) => seen.text == now.text && seen.target == now.target,
            _ => false,
        };
        if is_same { Ok(()) } else { Err(SettingsFileError::Changed(self.path.clone())) }
    }
}

/// The new file under a temporary name; removed when dropped, unless it was put in its place.
struct NewFile {
    path: PathBuf,
    is_put: bool,
}

impl NewFile {
    /// Writes `text` beside `target`, with the mode and the owner of the file that was seen.
    fn create(target: &Path, seen: Option<&SeenFile>, text: &str) -> io::Result<Self> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.callgate-{}", std::process::id()));
        // A file of this name was left by a process that had our id and is dead.
        fs::remove_file(&path).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        // Nobody else may read it before it has the mode of the file that it replaces.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let new = Self { path, is_put: false };
        if seen.is_some_and(|seen| seen.has_mark) {
            file.write_all(BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]).as_bytes())?;
        }
        file.write_all(text.as_bytes())?;
        if let Some(seen) = seen {
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != seen.owner {
                fchown(&file, Some(seen.owner.0), Some(seen.owner.1))?;
            }
            // After the owner, because a change of the owner takes set-user-ID bits away.
            file.set_permissions(PermissionsExt::from_mode(seen.mode))?;
        }
        // Otherwise a crash of the machine could leave an empty file under the name.
        file.sync_all()?;
        Ok(new)
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        fs::set_permissions(&self.path, PermissionsExt::from_mode(mode))
    }

    fn move_to(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.is_put = true;
        // The name is durable once the folder is synced, too.
        target.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_put {
            // If it stays, the next attempt removes it.
            fs::remove_file(&self.path).ok();
        }
    }
}

#[cfg(test)]
mod tests;
