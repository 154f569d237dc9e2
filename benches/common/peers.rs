//! The programs in `benches/peers`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a peer's source.
pub(crate) fn peer(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers").join(file)
}

/// Compiles a peer that is written in C into `folder`.
pub(crate) fn compile(folder: &Path, name: &str) -> PathBuf {
    let program = folder.join(name);
    let status = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(peer(&format!("{name}.c")))
        .status()
        .expect("the benchmark needs a C compiler called `cc`: install one");
    assert!(status.success(), "cc cannot compile {name}.c");
    program
}
