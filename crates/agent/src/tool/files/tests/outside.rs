//! Nothing leads out of the allowed folders, and nothing but a regular file is opened.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;

use super::{CANARY, Room, nothing, run};
use crate::tool::files::beneath::open_child_file;
use crate::tool::files::{AllowedFolders, FileLimits, build_file_tools};

/// Returns what each tool does with a path.
fn every_tool(path: &str) -> [(&'static str, serde_json::Value); 6] {
    [
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "changed" })),
        ("edit_file", json!({ "path": path, "oldText": "canary", "newText": "crow" })),
        ("list_files", json!({ "path": path })),
        ("search_files", json!({ "path": path, "pattern": "*" })),
        ("search_text", json!({ "path": path, "pattern": "a" })),
    ]
}

/// No tool gets to `path`, and `why` says so before anybody is asked, and again when it is run.
fn check_outside(room: &Room, path: &str, reason: &str) {
    for (tool, input) in every_tool(path) {
        let refusal = room.refusal(tool, &input).unwrap_or_default();
        assert!(refusal.contains(reason), "somebody would be asked about {tool} {path}: {refusal}");
    }
    check(room, path, reason);
}

/// No tool gets to `path`, and `why` says so.
fn check(room: &Room, path: &str, reason: &str) {
    for (tool, input) in every_tool(path) {
        let text = room.failed(tool, &input);
        assert!(text.contains(reason), "{tool} {path}: {text}");
        assert!(!text.contains(CANARY), "{tool} {path}: {text}");
    }
    room.assert_canary();
}

#[test]
fn paths_do_not_lead_out() {
    let room = Room::new();
    room.put("sub/file", "text");
    fs::create_dir(room.dir.path().join("root-evil")).unwrap();
    fs::write(room.dir.path().join("root-evil/canary.txt"), CANARY).unwrap();
    let inside = room.path("").display().to_string();
    let inside = inside.trim_end_matches('/');
    for path in [
        "../outside/canary.txt",
        "..",
        "sub/../../outside/canary.txt",
        "./.././outside//canary.txt",
        "../../../../../../../../etc/passwd",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        "../root-evil/canary.txt",
        &format!("{inside}-evil/canary.txt"),
        &format!("{inside}/../outside/canary.txt"),
        &format!("{inside}/sub/../../root-evil/canary.txt"),
        "missing/../../outside/canary.txt",
    ] {
        check_outside(&room, path, "outside the allowed folders");
    }
    check(&room, "~", "`~` is not expanded");
    check(&room, "~/canary.txt", "`~` is not expanded");
    check(&room, "sub\0/../file", "NUL");
    // What only looks as if it led out does not.
    for path in ["sub/../sub/file", "missing/../sub/file", &format!("{inside}//sub/./file")] {
        assert_eq!(room.refusal("read_file", &json!({ "path": path })), None, "{path}");
        assert_eq!(room.done("read_file", &json!({ "path": path })).1, "text");
    }
    room.put("~/home", "named so");
    assert_eq!(room.done("read_file", &json!({ "path": "./~/home" })).1, "named so");
    room.put("...", "three dots");
    assert_eq!(room.done("read_file", &json!({ "path": "..." })).1, "three dots");
}

#[test]
fn links_do_not_lead_out() {
    let room = Room::new();
    room.put("sub/file", "text");
    room.link("file", room.outside().join("canary.txt"));
    room.link("folder", room.outside());
    room.link("climbs", "../outside");
    room.link("sub/climbs", "../../outside/canary.txt");
    room.link("chain", "chain2");
    room.link("chain2", "sub/../climbs/canary.txt");
    room.link("top", "/");
    room.link("parent", "..");
    for path in [
        "file",
        "folder",
        "folder/canary.txt",
        "climbs/canary.txt",
        "sub/climbs",
        "chain",
        "top",
        "top/etc/passwd",
        "parent",
        "parent/outside/canary.txt",
    ] {
        check_outside(&room, path, "a link leads out of the allowed folders");
    }
    room.check_failed("write_file", &json!({ "path": "folder/new", "content": "" }), "leads out");
    room.check_failed("write_file", &json!({ "path": "climbs/a/b", "content": "" }), "leads out");
    room.assert_canary();
}

#[test]
fn links_that_stay_inside_are_followed() {
    let room = Room::new();
    room.put("sub/deep/file", "text");
    room.link("relative", "sub/deep");
    room.link("absolute", room.path("sub/deep"));
    room.link("sub/up", "../sub/deep/../deep/file");
    room.link("file", room.path("sub/up"));
    for path in ["relative/file", "absolute/file", "sub/up", "file"] {
        assert_eq!(room.refusal("read_file", &json!({ "path": path })), None, "{path}");
        assert_eq!(room.done("read_file", &json!({ "path": path })).1, "text", "{path}");
        let found = room.done("search_text", &json!({ "path": path, "pattern": "ex" })).0;
        assert_eq!(found["matches"][0]["path"], path);
    }
    assert_eq!(room.done("list_files", &json!({ "path": "absolute" })).0["files"], json!(["file"]));
    room.done("write_file", &json!({ "path": "file", "content": "new" }));
    assert!(fs::symlink_metadata(room.path("file")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(room.path("sub/deep/file")).unwrap(), "new");
    room.done("edit_file", &json!({ "path": "sub/up", "oldText": "new", "newText": "newer" }));
    assert_eq!(fs::read_to_string(room.path("sub/deep/file")).unwrap(), "newer");
    room.done("write_file", &json!({ "path": "absolute/more/new", "content": "x" }));
    assert_eq!(fs::read_to_string(room.path("sub/deep/more/new")).unwrap(), "x");
}

#[test]
fn loops_and_dangling_links_are_told() {
    let room = Room::new();
    room.link("me", "me");
    room.link("a", "b/x");
    room.link("b", "a/y");
    room.link("absolute", room.path("absolute"));
    for path in ["me", "a", "b", "absolute", "me/file"] {
        check(&room, path, "form a loop");
    }
    room.link("dangling", "missing/file");
    room.check_failed("read_file", &json!({ "path": "dangling" }), "does not exist");
    room.link("dangling-out", room.outside().join("new"));
    room.check_failed("write_file", &json!({ "path": "dangling-out", "content": "" }), "leads out");
    room.assert_canary();
    room.done("write_file", &json!({ "path": "dangling", "content": "made" }));
    assert_eq!(fs::read_to_string(room.path("missing/file")).unwrap(), "made");
    for n in 0..60 {
        room.link(&format!("n{n}"), format!("n{}", n + 1));
    }
    room.put("n60", "far");
    for (tool, input) in every_tool("n0") {
        room.check_failed(tool, &input, "loop");
    }
    assert_eq!(room.done("read_file", &json!({ "path": "n30" })).1, "far");
}

#[test]
fn links_of_processes_are_not_followed() {
    let room = Room::new();
    let held = fs::File::open(room.outside()).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&held);
    room.link("root", "/proc/self/root");
    room.link("fd", format!("/proc/self/fd/{fd}"));
    room.link("cwd", "/proc/self/cwd");
    for path in ["root", "root/etc/passwd", "fd", "fd/canary.txt", "cwd"] {
        check(&room, path, "leads out");
    }
    // Where all of the system is allowed, they are refused for what they are.
    let all = build_file_tools(
        AllowedFolders::open(Path::new("/"), &["/".into()]).unwrap(),
        FileLimits::default(),
        nothing(),
    );
    for path in [&format!("/proc/self/fd/{fd}/canary.txt"), "/proc/self/root/etc/passwd"] {
        for tool in ["read_file", "list_files"] {
            let outcome = run(&all, tool, &json!({ "path": path }));
            assert!(outcome.is_error && outcome.text.contains("link of a process"), "{path}");
        }
    }
    let outcome = run(&all, "search_files", &json!({ "pattern": "*/self/status" }));
    assert!(!outcome.is_error && outcome.text.contains("mounted"), "{}", outcome.text);
}

#[test]
fn devices_fifos_sockets_and_folders_are_refused_at_once() {
    let room = Room::new();
    mkfifoat(CWD, room.path("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = UnixListener::bind(room.path("socket")).unwrap();
    fs::create_dir(room.path("folder")).unwrap();
    room.link("zero", "/dev/zero");
    let file_tools = ["read_file", "write_file", "edit_file", "search_text"];
    let check = |path: &str, reason: &str, except: &str| {
        for (tool, input) in every_tool(path) {
            if file_tools.contains(&tool) && tool != except {
                room.check_failed(tool, &input, reason);
            }
        }
    };
    check("fifo", "FIFO", "");
    check("socket", "socket", "");
    check("folder", "folder", "search_text");
    check("zero", "leads out", "");
    check("folder/", "not the name of a file", "search_text");
    check("fifo/x", "not a folder", "");
    // The same where a name was taken for a file before it was opened.
    let folder = fs::File::open(room.path("")).unwrap();
    for (name, reason) in
        [("fifo", "FIFO"), ("folder", "folder"), ("zero", "loop"), ("socket", "not a regular")]
    {
        let error = open_child_file(folder.as_fd(), OsStr::new(name)).unwrap_err();
        assert!(error.contains(reason), "{name}: {error}");
    }
    // Inside of a search they are passed by.
    mkfifoat(CWD, room.path(".gitignore"), Mode::from_raw_mode(0o600)).unwrap();
    fs::create_dir(room.path(".ignore")).unwrap();
    room.put("file", "text");
    let found = room.done("search_text", &json!({ "pattern": "text" })).0;
    assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    // A device that is inside is one all the same.
    let dev = build_file_tools(
        AllowedFolders::open(Path::new("/dev"), &["/dev".into()]).unwrap(),
        FileLimits::default(),
        nothing(),
    );
    for tool in ["read_file", "write_file", "edit_file", "search_text"] {
        let input = every_tool("zero").into_iter().find(|(name, _)| *name == tool).unwrap().1;
        let outcome = run(&dev, tool, &input);
        assert!(outcome.is_error && outcome.text.contains("device"), "{tool}: {}", outcome.text);
    }
}

#[test]
fn a_root_that_is_replaced_stays_the_folder_it_was() {
    let room = Room::new();
    room.put("file", "text");
    fs::rename(room.path(""), room.dir.path().join("moved")).unwrap();
    symlink(room.outside(), room.dir.path().join("root")).unwrap();
    assert_eq!(room.done("read_file", &json!({ "path": "file" })).1, "text");
    let absolute = room.dir.path().join("root/canary.txt");
    room.check_failed("read_file", &json!({ "path": absolute }), "does not exist");
    room.done("write_file", &json!({ "path": "new", "content": "x" }));
    assert_eq!(fs::read_to_string(room.dir.path().join("moved/new")).unwrap(), "x");
    room.assert_canary();
    fs::remove_dir_all(room.dir.path().join("moved")).unwrap();
    room.check_failed("list_files", &json!({}), "folder was removed");
    room.check_failed("write_file", &json!({ "path": "x", "content": "" }), "folder was removed");
}

#[test]
fn several_roots_and_links_between_them() {
    let room = Room::new();
    let other = room.dir.path().join("other");
    fs::create_dir_all(other.join("inner")).unwrap();
    fs::write(other.join("inner/file"), "other").unwrap();
    room.put("sub/x", "x");
    let link = room.dir.path().join("by-link");
    symlink(&other, &link).unwrap();
    let roots = [room.path(""), link.clone()];
    let both = build_file_tools(
        AllowedFolders::open(&room.path("sub"), &roots).unwrap(),
        FileLimits::default(),
        nothing(),
    );
    let read = |path: &Path| run(&both, "read_file", &json!({ "path": path })).text;
    assert_eq!(read(&link.join("inner/file")), "other");
    assert_eq!(read(&other.join("inner/file")), "other");
    assert_eq!(read(Path::new("x")), "x");
    assert_eq!(read(Path::new("../sub/x")), "x");
    room.link("sub/over", other.join("inner"));
    assert_eq!(read(Path::new("over/file")), "other");
    assert!(read(&room.outside().join("canary.txt")).contains("outside the allowed folders"));
}

#[test]
fn deep_paths_and_long_names() {
    let room = Room::new();
    let deep = "d/".repeat(200) + "file";
    room.done("write_file", &json!({ "path": deep, "content": "deep" }));
    assert_eq!(room.done("read_file", &json!({ "path": deep })).1, "deep");
    let too_deep = "d/".repeat(3000) + "file";
    let too_long = "n".repeat(256);
    for path in [&too_deep, &too_long] {
        room.check_failed("read_file", &json!({ "path": path }), "too long");
        room.check_failed("write_file", &json!({ "path": path, "content": "" }), "too long");
    }
    let longest = "n".repeat(255);
    room.done("write_file", &json!({ "path": longest, "content": "long" }));
    assert_eq!(room.done("read_file", &json!({ "path": longest })).1, "long");
    assert_eq!(room.names(), ["d", &longest]);
}
