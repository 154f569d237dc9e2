//! What stays in the settings files, whatever is or is not done to them.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use callgate_testkit::script::copy_program;

use crate::{CALLGATE, HOOK, Home, MINE, mode, read, set_mode};

#[test]
fn everything_else_stays_and_comes_back_to_the_byte() {
    let home = Home::with(MINE);
    set_mode(&home.settings(), 0o640);
    let before = home.files();
    let said = home.does(&["install"]);
    assert!(said.contains("settings.json.before-callgate"), "{said}");
    let text = read(&home.settings());
    assert!(
        text.starts_with(&MINE[..60]) && text.ends_with("\"env\": {\"Ü\": \"1\"}\n}\n\n"),
        "{text}"
    );
    assert_eq!((mode(&home.settings()), mode(&home.backup())), (0o640, 0o640));
    assert_eq!(read(&home.backup()), MINE);
    let installed = home.files();
    home.does(&["install"]);
    assert_eq!(home.files(), installed);
    let said = home.does(&["uninstall"]);
    assert!(said.contains("as it was before"), "{said}");
    assert_eq!(home.files(), before, "the backup is gone too");
}

#[test]
fn what_was_changed_since_stays_when_ours_goes() {
    let home = Home::with(MINE);
    home.does(&["install"]);
    let edit = |text: &str| text.replace("opus", "sonnet");
    fs::write(home.settings(), edit(&read(&home.settings()))).unwrap();
    let said = home.does(&["uninstall"]);
    assert!(said.contains("removed from"), "{said}");
    assert_eq!(read(&home.settings()), edit(MINE));
    assert_eq!(read(&home.backup()), MINE, "the copy stays where it may be of use");
}

#[test]
fn a_link_stays_a_link_and_its_target_is_changed() {
    let home = Home::new();
    fs::create_dir(home.path("dotfiles")).unwrap();
    fs::create_dir(home.path(".claude")).unwrap();
    let target = home.path("dotfiles/claude.json");
    fs::write(&target, MINE).unwrap();
    set_mode(&target, 0o604);
    symlink("../dotfiles/claude.json", home.settings()).unwrap();
    home.does(&["install"]);
    assert!(home.settings().is_symlink());
    assert!(read(&target).contains(HOOK));
    assert_eq!(mode(&target), 0o604);
    assert_eq!(fs::read_dir(home.path("dotfiles")).unwrap().count(), 1, "nothing is left there");
    home.does(&["uninstall"]);
    assert_eq!(read(&target), MINE);
    fs::remove_file(&target).unwrap();
    home.refuses(&["install"], "is a link to a file that is not there");
}

#[test]
fn what_cannot_be_read_is_left_untouched() {
    for (text, why) in [
        ("{\"hooks\": {} // mine\n}", "is not JSON"),
        ("{\"hooks\": []}", "`hooks` is not an object (line 1, column 11)"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not a list"),
        ("[]", "it is not a JSON object"),
    ] {
        let home = Home::with(text);
        home.refuses(&["install"], why);
        home.refuses(&["install"], "settings.json was left as it is: ");
        home.refuses(&["uninstall"], why);
    }
    let home = Home::with("");
    fs::write(home.settings(), b"{\"a\": \"\xff\"}").unwrap();
    home.refuses(&["install"], "is not UTF-8 text");
    fs::remove_file(home.settings()).unwrap();
    fs::create_dir(home.settings()).unwrap();
    home.refuses(&["install"], "is not a file");
}

#[test]
fn a_read_only_file_or_folder_is_left_untouched() {
    let mut home = Home::with(MINE);
    set_mode(&home.settings(), 0o444);
    home.refuses(&["install"], "is read-only; to let callgate change it: chmod u+w ");
    set_mode(&home.settings(), 0o644);
    // Nothing is read-only for root.
    let program = home.path("callgate");
    copy_program(CALLGATE.as_ref(), &program);
    home.program = program;
    for folder in ["", ".claude", "work"] {
        set_mode(&home.path(folder), 0o755);
        std::os::unix::fs::chown(home.path(folder), Some(65534), Some(65534)).ok();
    }
    std::os::unix::fs::chown(home.settings(), Some(65534), Some(65534)).ok();
    home.user = (fs::metadata(home.settings()).unwrap().uid() == 65534).then_some(65534);
    set_mode(&home.path(".claude"), 0o555);
    home.refuses(&["install"], "Permission denied");
    set_mode(&home.path(".claude"), 0o755);
    home.does(&["install"]);
    set_mode(&home.path(".claude"), 0o555);
    home.refuses(&["uninstall"], "nothing was changed");
    set_mode(&home.path(".claude"), 0o755);
}
#[test]
fn a_byte_order_mark_before_the_settings_stays_there() {
    let marked = format!("\u{feff}{MINE}");
    let home = Home::with(&marked);
    home.does(&["install"]);
    let installed = read(&home.settings());
    assert!(installed.starts_with("\u{feff}{") && installed.contains("PreToolUse"), "{installed}");
    assert_eq!(read(&home.backup()), marked);
    assert!(home.does(&["install"]).contains("is up to date"));
    home.does(&["uninstall"]);
    assert_eq!(read(&home.settings()), marked);
}
