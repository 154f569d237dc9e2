//! Programs that do not start on a box, by what the real loader and the real shell say.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};

use super::fixture::{BOX, House};

/// The version of a C library that no machine has.
const LATER: &str = "GLIBC_2.999";

fn compile(folder: &Path, source: &str, arguments: &[&str]) {
    fs::write(folder.join("source.c"), source).unwrap();
    let mut cc = Command::new("cc");
    cc.current_dir(folder).arg("source.c").args(arguments);
    let _ = run(cc, DEADLINE).success();
}

/// Makes a program that was linked with a later C library.
fn link_with_later_library(folder: &Path) {
    fs::write(folder.join("map"), format!("{LATER} {{ later; }};\n")).unwrap();
    let library = ["-shared", "-nostdlib", "-Wl,-soname,libc.so.6", "-Wl,--version-script=map"];
    compile(folder, "void later(void) {}", &[&library[..], &["-o", "libc.so.6"]].concat());
    let program = "void later(void); void _start(void) { later(); }";
    compile(folder, program, &["-nostdlib", "-nostartfiles", "-o", "callgate", "libc.so.6"]);
}

/// Makes a program for another C library, whose loader is not there.
fn link_for_other_loader(folder: &Path) {
    let loader = "-Wl,--dynamic-linker=/lib/ld-other.so.1";
    compile(folder, "int main(void) { return 0; }", &[loader, "-o", "callgate"]);
}

fn write_other_version(folder: &Path) {
    fs::write(folder.join("callgate"), "#!/bin/sh\necho callgate 0.0.1\n").unwrap();
}

fn write_failing(folder: &Path) {
    fs::write(folder.join("callgate"), "#!/bin/sh\necho out of luck >&2\nexit 3\n").unwrap();
}

/// Everything in the box's home, with the content of files.
fn home_of(house: &House) -> String {
    let mut find = Command::new("find");
    let shown = ["-printf", "%y %m %P\\n", "-type", "f", "-exec", "cksum", "{}", ";"];
    find.arg(house.machine.folder()).args(shown);
    run(find, DEADLINE).success().stdout
}

#[test]
fn a_program_that_does_not_start_there_is_explained_and_leaves_nothing() {
    let house = House::bare();
    house.write_pipe_ssh();
    let refuse = |make: fn(&Path), expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path());
        fs::set_permissions(folder.path().join("callgate"), PermissionsExt::from_mode(0o755))
            .unwrap();
        fs::write(folder.path().join("callgate-hook"), "#!/bin/sh\n").unwrap();
        let before = home_of(&house);
        let programs = folder.path().to_str().unwrap();
        let told = house.run_on_laptop(&["remote", "add", BOX, "--programs", programs]);
        assert_eq!(told.status.code(), Some(1), "{}{}", told.stdout, told.stderr);
        assert!(told.stderr.contains(expected), "{}", told.stderr);
        assert_eq!(home_of(&house), before, "{expected}");
        let list = house.run_on_laptop(&["remote", "list"]).success().stdout;
        assert!(list.starts_with("There are none"), "{list}");
    };
    let later = format!(
        "callgate does not run on {BOX}, and nothing was left there: its C library is older than the \
         one with which this program was built, and lacks {LATER}. Build it on {BOX} or on a machine \
         that is as old, and name the folder with --programs"
    );
    refuse(link_with_later_library, &later);
    refuse(link_for_other_loader, "it has another C library than glibc, or keeps it elsewhere");
    refuse(write_failing, "nothing was left there: out of luck. Build it");
    // One that ran there before stays, also as it was.
    house.machine.write(".local/share/callgate/bin/callgate", "#!/bin/sh\necho callgate 0.0.0\n");
    refuse(link_with_later_library, &later);
    refuse(write_other_version, "is callgate 0.0.1, and this is callgate ");
}
