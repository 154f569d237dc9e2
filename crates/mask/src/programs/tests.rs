//! Programs are known by their names.

use super::*;

#[test]
fn programs_are_known_by_their_last_names_without_versions() {
    for program in ["sudo", "/usr/bin/sudo", "SUDO", "sudo-1.9", "sudo2"] {
        assert!(is_one_of(program, WRAPPERS), "{program}");
    }
    for program in ["", "/", "sud", "sudo nice", "xsudo", "1.9"] {
        assert!(!is_one_of(program, WRAPPERS), "{program}");
    }
}
