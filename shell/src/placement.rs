//! Where the window was and how large, from one start to the next.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

/// The place and the size of the window, in pixels of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WindowPlacement {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: u32,
    pub(crate) height: u32,
    #[serde(default)]
    pub(crate) maximized: bool,
}

/// A monitor or another area of the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScreenArea {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// How much of the window must be on a monitor, in pixels each way, for people to get hold of it.
const GRASPABLE: i64 = 80;
/// The least width and height that make sense.
const LEAST: u32 = 200;

impl WindowPlacement {
    /// Reads the stored placement; `None` if it is missing or makes no sense.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        let kept: Self = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        (kept.width >= LEAST && kept.height >= LEAST).then_some(kept)
    }

    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        // A kill in between leaves the file before.
        let new = file.with_extension("new");
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(new, file)
    }

    /// Returns true if enough of the window is on one of the monitors.
    pub(crate) fn is_on(&self, monitors: &[ScreenArea]) -> bool {
        // A monitor may have gone since the window was last seen, and part of the window may be off
        // the screen.
        let overlap = |at: i32, length: u32, of: i32, whole: u32| {
            let end = (i64::from(at) + i64::from(length)).min(i64::from(of) + i64::from(whole));
            end - i64::from(at).max(i64::from(of))
        };
        monitors.iter().any(|area| {
            overlap(self.x, self.width, area.x, area.width) >= GRASPABLE
                && overlap(self.y, self.height, area.y, area.height) >= GRASPABLE
        })
    }
}

/// The window's place while it is hidden, and from one start to the next.
#[derive(Debug)]
pub(crate) struct KeptPlacement {
    file: PathBuf,
    now: Mutex<Option<WindowPlacement>>,
}

impl KeptPlacement {
    pub(crate) fn new(file: PathBuf) -> Self {
        let kept = WindowPlacement::read(&file);
        Self { file, now: Mutex::new(kept) }
    }

    /// Returns where the window was when it was last seen.
    pub(crate) fn current(&self) -> Option<WindowPlacement> {
        self.now.lock().ok().and_then(|now| *now)
    }

    pub(crate) fn keep(&self, seen: WindowPlacement) -> io::Result<()> {
        let Ok(mut now) = self.now.lock() else { return Ok(()) };
        let placement = match *now {
            // Once it is not maximized any more, it is as it was before.
            Some(before) if seen.maximized => WindowPlacement { maximized: true, ..before },
            _ => seen,
        };
        *now = Some(placement);
        placement.write(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: ScreenArea = ScreenArea { x: 0, y: 0, width: 1280, height: 800 };

    fn at(x: i32, y: i32) -> WindowPlacement {
        WindowPlacement { x, y, width: 600, height: 400, maximized: false }
    }

    #[test]
    fn a_window_must_be_within_reach() {
        for (x, y) in [(0, 0), (-500, 0), (1200, 700)] {
            assert!(at(x, y).is_on(&[SCREEN]), "{x}, {y}");
        }
        for (x, y) in [(-590, 0), (1270, 0), (0, 790), (0, -390), (i32::MAX, i32::MIN)] {
            assert!(!at(x, y).is_on(&[SCREEN]), "{x}, {y}");
        }
        assert!(!at(0, 0).is_on(&[]));
    }

    #[test]
    fn what_was_kept_is_read_and_nonsense_is_not() {
        let folder = std::env::temp_dir().join(format!("callgate-shell-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("window.json");
        assert_eq!(WindowPlacement::read(&file), None);
        at(7, -9).write(&file).unwrap();
        assert_eq!(WindowPlacement::read(&file), Some(at(7, -9)));
        for nonsense in ["", "{}", r#"{"x":0,"y":0,"width":0,"height":0}"#, r#"{"x":"a"}"#] {
            fs::write(&file, nonsense).unwrap();
            assert_eq!(WindowPlacement::read(&file), None, "{nonsense}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
