//! A home and a project of their own for the lines that are run, and a watch over what is denied.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use tempfile::TempDir;

use super::stubs::{REAL_PROGRAMS, STUBS};

/// The folder of the project, within the home.
pub(crate) const PROJECT: &str = "engine";
/// The files of the home, by their paths.
const FILES: [(&str, &str); 7] = [
    (".aws/credentials", "key = marker\n"),
    (".aws/config", "region = x\n"),
    (".config/callgate/rules.toml", "# rules\n"),
    ("engine/.claude/settings.local.json", "{}\n"),
    ("engine/README.md", "readme\n"),
    ("engine/src/main.rs", "fn main() {}\n"),
    ("notes.txt", "a\nb\n"),
];
/// What no line may open without a person.
const SECRET: &str = ".aws/credentials";
/// The folders in which no line may change a file without a person.
const GUARDED: [&str; 2] = [".config/callgate", "engine/.claude"];
/// The names in the home and in the project before a line runs.
const IN_HOME: [&str; 7] = [".aws", ".config", "bin", "engine", "keys", "log", "notes.txt"];
const IN_PROJECT: [&str; 3] = [".claude", "README.md", "src"];

/// A folder with a home, in it a project, the programs that lines find, and what they must not
/// touch.
pub(crate) struct ScratchHome {
    _folder: TempDir,
    home: PathBuf,
    watch: OwnedFd,
}

impl ScratchHome {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("hidden-").tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("the folder").join("home");
        let bin = home.join("bin");
        fs::create_dir_all(&bin).expect("a folder");
        for program in REAL_PROGRAMS.split_ascii_whitespace() {
            let found = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(program));
            if let Some(path) = found.into_iter().find(|path| path.exists()) {
                symlink(path, bin.join(program)).expect("a link");
            }
        }
        for (names, script) in STUBS {
            for name in names.split_ascii_whitespace() {
                let path = bin.join(name);
                fs::write(&path, script).expect("a program");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
            }
        }
        let mut scratch = Self { _folder: folder, home, watch: new_watch() };
        scratch.restore();
        scratch
    }

    pub(crate) fn home(&self) -> &str {
        self.home.to_str().expect("a name in UTF-8")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.join(PROJECT)
    }

    /// Returns what a line has done that it must not do, and makes everything as it was.
    pub(crate) fn take_reached(&mut self) -> Vec<String> {
        let log = fs::read(self.home.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let mut reached: Vec<String> = log.lines().filter_map(super::stubs::denied_run).collect();
        reached.extend(self.events());
        if !log.is_empty() || !reached.is_empty() || !self.is_tidy() {
            self.restore();
        }
        reached
    }

    /// Returns what was done to the watched files since the last call.
    fn events(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.watch, &mut buffer);
        let mut found = Vec::new();
        while let Ok(event) = reader.next() {
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_else(|| SECRET.into());
            if FILES.iter().any(|(path, _)| path.ends_with(&name)) {
                found.push(format!("{:?} of {name}", event.events()));
            }
        }
        found.dedup();
        found
    }

    /// Returns true if the names are those before the line.
    fn is_tidy(&self) -> bool {
        has_only(&self.home, &IN_HOME) && has_only(&self.project(), &IN_PROJECT)
    }

    fn restore(&mut self) {
        for entry in fs::read_dir(&self.home).expect("the home") {
            let path = entry.expect("an entry").path();
            if path.ends_with("bin") {
                continue;
            }
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            let removed =
                if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.or_else(gone).expect("the home can be emptied");
        }
        for (path, text) in FILES {
            let path = self.home.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        fs::write(self.home.join("log"), "").expect("the log");
        symlink(".aws", self.home.join("keys")).expect("a link");
        self.watch = new_watch();
        let opens = WatchFlags::OPEN | WatchFlags::MODIFY | WatchFlags::MOVE_SELF;
        inotify::add_watch(&self.watch, self.home.join(SECRET), opens).expect("a watch");
        inotify::add_watch(&self.watch, self.home.join(".aws"), WatchFlags::MOVE_SELF)
            .expect("a watch");
        let changes = WatchFlags::CREATE
            | WatchFlags::MODIFY
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::DELETE;
        for folder in GUARDED {
            inotify::add_watch(&self.watch, self.home.join(folder), changes).expect("a watch");
        }
    }
}

fn new_watch() -> OwnedFd {
    inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).expect("a watch")
}

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Returns true if a folder has these names and no others.
fn has_only(folder: &Path, names: &[&str]) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut count = 0;
    for entry in entries.flatten() {
        count += 1;
        if !names.iter().any(|name| entry.file_name() == *name) {
            return false;
        }
    }
    count == names.len()
}
