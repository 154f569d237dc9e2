//! Programs that a test writes and starts at once.
//!
//! A process that has a file open for writing keeps every process from starting it, and so does
//! each child that was forked in that moment and has not started its own program yet. So a file
//! that is to be started is written by another process.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program in the language of its first line.
pub fn write_program(path: &Path, text: &str) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("the folder can be made");
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "cat >\"$1.new\" && chmod 755 \"$1.new\" && mv \"$1.new\" \"$1\"", "sh"]);
    let child = command.arg(path).stdin(Stdio::piped()).spawn();
    let mut child = child.expect("a shell can be started");
    let mut stdin = child.stdin.take().expect("a pipe was asked for");
    stdin.write_all(text.as_bytes()).expect("the shell reads it");
    drop(stdin);
    assert!(child.wait().expect("own child can be waited for").success(), "{}", path.display());
}

pub fn copy_program(from: &Path, to: &Path) {
    let status = Command::new("/bin/cp").arg(from).arg(to).status();
    assert!(status.expect("cp can be started").success(), "{}", to.display());
}
