//! The files of a patch in the format of Codex.

use super::Act;
use crate::place::{BaseFolders, resolve};
use crate::steps;

/// Line beginnings that name a file.
const MARKS: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
/// The other lines that begin with stars.
const FRAMES: [&str; 3] = ["*** Begin Patch", "*** End Patch", "*** End of File"];

/// Reads the files of a patch that is applied in `cwd` into the act.
pub(super) fn fill(act: &mut Act, patch: &str, cwd: &str) {
    let mut is_odd = false;
    let mut named = Vec::new();
    // Programs differ in what ends a line.
    let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    for line in patch.split(ends).map(str::trim_start) {
        if steps::is_spent() {
            break;
        }
        if let Some(path) = MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
            act.refuse_overlong(path.trim());
            named.push(resolve(path.trim(), BaseFolders { cwd, home: &act.home }));
        } else {
            is_odd |= line.starts_with("***") && !FRAMES.contains(&line.trim_end());
        }
    }
    if is_odd {
        act.doubt("its patch has a line that is nearly a header");
    }
    if named.is_empty() {
        act.doubt("its patch names no file");
    }
    if is_odd || named.is_empty() {
        act.strings.push(patch.to_owned());
    }
    act.paths = named;
}
