//! Where the name is enough, and which folders are build folders.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn make(path: &Path, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn the_name_is_enough_where_the_path_leads_here() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let own = at("a b/callgate");
    make(&own, 0o755);
    make(&at("other/callgate"), 0o755);
    make(&at("data/callgate"), 0o644);
    fs::create_dir(at("links")).unwrap();
    symlink(&own, at("links/callgate")).unwrap();
    let check = |folders: &[&str], expected: &str| {
        let path = env::join_paths(folders.iter().map(|name| at(name))).unwrap();
        assert_eq!(name_or_path(&own, &path), expected, "{folders:?}");
    };
    let path = format!("'{}'", own.display());
    check(&["none", "data", "a b", "other"], "callgate");
    check(&["links"], "callgate");
    check(&["other", "a b"], &path);
    check(&["none"], &path);
    check(&[], &path);
}

#[test]
fn a_build_folder_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(folder.path()).unwrap();
    let check = |program: &str, expected: Option<&str>| {
        make(&base.join(program), 0o755);
        let expected = expected.map(|name| base.join(name));
        assert_eq!(build_folder(&base.join(program)), expected, "{program}");
    };
    make(&base.join("elsewhere/.rustc_info.json"), 0o644);
    check("target/debug/callgate", Some("target"));
    check("target/release/callgate", Some("target"));
    check("target/x86_64-unknown-linux-musl/release/callgate", Some("target"));
    check("elsewhere/release/callgate", Some("elsewhere"));
    check("bin/callgate", None);
    check("debug/callgate", None);
    assert_eq!(build_folder(&base.join("target/debug/absent")), None);
}
