//! Replays the inputs of the fuzz targets, so that no bug found by fuzzing returns unnoticed.

#[path = "../fuzz/checks/mod.rs"]
pub mod checks;

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The committed inputs are read by people too.
const MOST_FILES: usize = 40;
const LARGEST_FILE: usize = 4096;

/// Panics when something does not hold for these bytes.
type Check = fn(&[u8]);

/// The fuzz targets.
const TARGETS: [(&str, Check); 11] = [
    ("approval_line", checks::approval_line),
    ("hook_input", checks::hook_input),
    ("json_cut", checks::json_cut),
    ("judged", checks::judged),
    ("lines", checks::lines),
    ("mcp_answer", checks::mcp_answer),
    ("prefixed", checks::prefixed),
    ("session_line", checks::session_line),
    ("shell_command", checks::shell_command),
    ("stream_json", checks::stream_json),
    ("tools_response", checks::tools_response),
];

#[test]
fn committed_inputs_pass_their_checks() {
    for (target, check) in TARGETS {
        replay(target, check);
    }
}

#[test]
fn every_target_is_replayed() {
    let targets = entries("targets").expect("fuzz/targets is there");
    let names: Vec<_> = targets.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    assert_eq!(names, TARGETS.map(|(name, _)| name));
}

fn replay(target: &str, check: Check) {
    let inputs = entries(&format!("corpus/{target}")).unwrap_or_default();
    assert!(!inputs.is_empty(), "fuzz/corpus/{target} is empty");
    assert!(inputs.len() <= MOST_FILES, "fuzz/corpus/{target} has {} files", inputs.len());
    for path in inputs {
        let name = path.display();
        let input = fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(input.len() <= LARGEST_FILE, "{name} has {} bytes", input.len());
        // A check that panics says what is wrong, but not with which file.
        assert!(catch_unwind(|| check(&input)).is_ok(), "{name} fails the check, see above");
    }
}

fn entries(folder: &str) -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder);
    let entries = fs::read_dir(folder)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
