//! Programs are known by their names.

use callgate_mask::words;

use super::*;

#[test]
fn names_are_found_as_programs_are_called() {
    let names = ProgramNames::new(&[words!("tmux screen"), words!("python R")]);
    for program in ["tmux", "/usr/bin/tmux", "Screen", "python3.12", "r", "python-3"] {
        assert!(names.has(program), "{program}");
    }
    for program in ["", "tm", "tmuxx", "python3x", "/"] {
        assert!(!names.has(program), "{program}");
    }
}
