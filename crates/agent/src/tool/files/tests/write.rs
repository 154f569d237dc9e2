//! `write_file`: whole or not at all, with modes kept and nothing left behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{Gid, Uid, XattrFlags, chown, getxattr, setxattr};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde_json::json;

use super::{Room, names, use_of};
use crate::tool::files::draft::{FileDraft, describe_losses};
use crate::tool::files::roots::FileLocation;
use crate::tool::files::target::WriteTarget;
use crate::tool::files::{AllowedFolders, CancelFlag, FileLimits, MAX_RESULT};

fn mode(room: &Room, name: &str) -> u32 {
    fs::metadata(room.path(name)).unwrap().mode() & 0o7777
}

#[test]
fn files_are_created_with_their_folders_and_replaced() {
    let room = Room::new();
    let (result, text) =
        room.done("write_file", &json!({ "path": "a/b/c.txt", "content": "x\r\ny" }));
    assert_eq!(result, json!({ "path": "a/b/c.txt", "created": true, "bytes": 4, "lines": 2 }));
    assert_eq!(text, "created a/b/c.txt (4 bytes, 2 lines)");
    assert_eq!(fs::read_to_string(room.path("a/b/c.txt")).unwrap(), "x\r\ny");
    let (_, text) = room.done("write_file", &json!({ "path": "one.txt", "content": "a" }));
    assert_eq!(text, "created one.txt (1 byte, 1 line)");
    let absolute = room.path("a/b/c.txt");
    let (result, _) = room.done("write_file", &json!({ "path": absolute, "content": "" }));
    assert_eq!(result["created"], false);
    assert_eq!(fs::read_to_string(absolute).unwrap(), "");
    assert_eq!(names(&room.path("a/b")), ["c.txt"]);
}

#[test]
fn modes_and_owners_are_kept() {
    let room = Room::new();
    for bits in [0o755, 0o600, 0o640, 0o777, 0o200] {
        room.put("file", "old");
        room.show("file");
        fs::set_permissions(room.path("file"), Permissions::from_mode(bits)).unwrap();
        room.done("write_file", &json!({ "path": "file", "content": "new" }));
        assert_eq!(mode(&room, "file"), bits, "{bits:o}");
    }
    // The bits that lend the owner's rights go, as with every write.
    room.put("file", "old");
    room.show("file");
    fs::set_permissions(room.path("file"), Permissions::from_mode(0o4755)).unwrap();
    room.done("write_file", &json!({ "path": "file", "content": "new" }));
    assert_eq!(mode(&room, "file"), 0o755);
    if geteuid().is_root() {
        let (uid, gid) = (Uid::from_raw(1234), Gid::from_raw(4321));
        chown(room.path("file"), Some(uid), Some(gid)).unwrap();
        room.done("edit_file", &json!({ "path": "file", "oldText": "new", "newText": "edited" }));
        let metadata = fs::metadata(room.path("file")).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (1234, 4321));
        assert_eq!(mode(&room, "file"), 0o755);
    }
}

#[test]
fn new_files_and_folders_get_what_the_umask_leaves() {
    let room = Room::new();
    fs::create_dir(room.path("by-hand")).unwrap();
    room.put("by-hand/file", "");
    room.done("write_file", &json!({ "path": "folder/file", "content": "" }));
    assert_eq!(mode(&room, "folder/file"), mode(&room, "by-hand/file"));
    assert_eq!(mode(&room, "folder"), mode(&room, "by-hand"));
}

#[test]
fn read_only_files_are_refused() {
    let room = Room::new();
    room.put("file", "old");
    room.show("file");
    fs::set_permissions(room.path("file"), Permissions::from_mode(0o444)).unwrap();
    room.check_failed("write_file", &json!({ "path": "file", "content": "" }), "read-only");
    let edit = json!({ "path": "file", "oldText": "old", "newText": "new" });
    room.check_failed("edit_file", &edit, "read-only");
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "old");
    assert_eq!(room.names(), ["file"]);
}

#[test]
fn hard_links_are_not_written_through() {
    let room = Room::new();
    fs::hard_link(room.outside().join("canary.txt"), room.path("hard")).unwrap();
    room.show("hard");
    let (result, text) = room.done("write_file", &json!({ "path": "hard", "content": "changed" }));
    let note = "the file had 1 other name(s) (hard links), which still have the old content";
    assert_eq!(result["note"], note);
    assert!(text.ends_with(&format!("\n[{note}]")), "{text}");
    let edit = json!({ "path": "hard", "oldText": "changed", "newText": "again" });
    let (result, _) = room.done("edit_file", &edit);
    assert_eq!(result.get("note"), None, "it has no other name any more");
    assert_eq!(fs::read_to_string(room.path("hard")).unwrap(), "again");
    room.assert_canary();
    room.put("inside", "one");
    fs::hard_link(room.path("inside"), room.path("other")).unwrap();
    let edit = json!({ "path": "inside", "oldText": "one", "newText": "two" });
    let (result, text) = room.done("edit_file", &edit);
    assert!(result["note"] == note && text.ends_with("old content]"), "{text}");
    assert_eq!(fs::read_to_string(room.path("other")).unwrap(), "one");
}

/// Returns an access list: its owner may read and write, user 1234 may read, nobody else anything.
fn access_list() -> Vec<u8> {
    const ANYBODY: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, ANYBODY), (2, 4, 1234), (4, 0, ANYBODY), (16, 4, ANYBODY), (32, 0, ANYBODY)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

fn attribute(room: &Room, path: &str, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    let count = getxattr(room.path(path), name, &mut value[..]).ok()?;
    value.truncate(count);
    Some(value)
}

#[test]
fn extended_attributes_and_access_lists_are_kept() {
    let room = Room::new();
    room.put("file", "one");
    room.show("file");
    let list = access_list();
    let file = room.path("file");
    for (name, value) in
        [("user.origin", b"ada".as_slice()), ("system.posix_acl_access", list.as_slice())]
    {
        match setxattr(&file, name, value, XattrFlags::empty()) {
            // There is nothing to keep where the file system has none.
            Err(Errno::NOTSUP) => return,
            set => set.unwrap(),
        }
    }
    let edit = json!({ "path": "file", "oldText": "one", "newText": "two" });
    assert_eq!(room.done("edit_file", &edit).0.get("note"), None);
    let write = json!({ "path": "file", "content": "three" });
    assert_eq!(room.done("write_file", &write).0.get("note"), None);
    assert_eq!(fs::read_to_string(&file).unwrap(), "three");
    assert_eq!(attribute(&room, "file", "user.origin").unwrap(), b"ada");
    assert_eq!(attribute(&room, "file", "system.posix_acl_access").unwrap(), list);
    assert_eq!(mode(&room, "file") & 0o777, 0o640);
}

/// What a folder gives its new files is not for one that was there before.
#[test]
fn a_file_does_not_get_the_access_list_of_its_folder() {
    let room = Room::new();
    room.put("folder/file", "one");
    room.show("folder/file");
    fs::set_permissions(room.path("folder/file"), Permissions::from_mode(0o660)).unwrap();
    let set = setxattr(
        room.path("folder"),
        "system.posix_acl_default",
        &access_list(),
        XattrFlags::empty(),
    );
    match set {
        Err(Errno::NOTSUP) => return,
        set => set.unwrap(),
    }
    room.done("write_file", &json!({ "path": "folder/file", "content": "two" }));
    assert_eq!(attribute(&room, "folder/file", "system.posix_acl_access"), None);
    assert_eq!(mode(&room, "folder/file") & 0o777, 0o660);
    room.done("write_file", &json!({ "path": "folder/new", "content": "two" }));
    assert_eq!(attribute(&room, "folder/new", "system.posix_acl_access").unwrap(), access_list());
}

#[test]
fn what_cannot_be_kept_is_said() {
    let lost = ["user.a", "user.b"].map(str::to_owned);
    assert_eq!(describe_losses(0, &[]), None);
    assert_eq!(
        describe_losses(0, &lost).unwrap(),
        "extended attributes were not kept: user.a, user.b"
    );
    assert_eq!(
        describe_losses(2, &lost[..1]).unwrap(),
        "the file had 2 other name(s) (hard links), which still have the old content; extended \
         attributes were not kept: user.a"
    );
}

#[test]
fn what_is_too_large_is_refused() {
    let room = Room::with(FileLimits { max_file: 10, max_result: MAX_RESULT });
    room.done("write_file", &json!({ "path": "file", "content": "1234567890" }));
    let input = json!({ "path": "file", "content": "12345678901" });
    room.check_failed("write_file", &input, "11 bytes, and 10 are allowed");
    let edit = json!({ "path": "file", "oldText": "1", "newText": "11" });
    room.check_failed("edit_file", &edit, "11 bytes, and 10 are allowed");
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "1234567890");
}

fn target<'a>(roots: &'a AllowedFolders, path: &str) -> (FileLocation<'a>, WriteTarget) {
    let place = roots.locate(path).unwrap();
    let target = WriteTarget::find(&place, true).unwrap();
    (place, target)
}

#[test]
fn after_an_error_nothing_is_left_behind() {
    let room = Room::new();
    let roots = AllowedFolders::open(&room.path(""), &[room.path("")]).unwrap();
    {
        let (_, target) = target(&roots, "a/b/file");
        let mut draft = FileDraft::new(&target).unwrap();
        draft.write(b"half", &CancelFlag::default()).unwrap();
        assert_eq!(names(&room.path("a/b")).len(), 1);
    }
    assert!(room.names().is_empty(), "{:?}", room.names());
    {
        // A folder takes the name in the last moment.
        let (_, target) = target(&roots, "file");
        let draft = FileDraft::new(&target).unwrap();
        fs::create_dir_all(room.path("file/inner")).unwrap();
        let error = draft.publish(&target).unwrap_err();
        assert!(error.contains("folder"), "{error}");
    }
    assert_eq!(room.names(), ["file"]);
    {
        // Nobody waits any more.
        let stop = CancelFlag::default();
        stop.0.store(true, Ordering::Relaxed);
        let (_, target) = target(&roots, "new");
        assert!(FileDraft::new(&target).unwrap().write(b"x", &stop).is_err());
    }
    assert_eq!(room.names(), ["file"]);
    // Folders in which somebody else has put something stay.
    {
        let (_, _target) = target(&roots, "made/file");
        room.put("made/other", "");
    }
    assert_eq!(names(&room.path("made")), ["other"]);
}

/// A file larger than the process may write: the system refuses in the middle.
#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    const HERE: &str = "CALLGATE_TEST_FULL_DISK";
    if std::env::var_os(HERE).is_some() {
        let room = Room::new();
        room.put("file", "old");
        room.show("file");
        let input = json!({ "path": "file", "content": "x".repeat(100_000) });
        room.check_failed("write_file", &input, "larger than the system permits");
        let input = json!({ "path": "a/new", "content": "x".repeat(100_000) });
        room.check_failed("write_file", &input, "larger than the system permits");
        let edit = json!({ "path": "file", "oldText": "old", "newText": "x".repeat(100_000) });
        room.check_failed("edit_file", &edit, "larger than the system permits");
        assert_eq!(room.names(), ["file"]);
        assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "old");
        return;
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::a_full_disk_leaves_the_old_file_and_nothing_else");
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; ulimit -f 16; exec "$0" --exact "$1""#])
        .arg(std::env::current_exe().unwrap())
        .arg(name)
        .env(HERE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn readers_see_the_old_file_or_the_new_one() {
    let room = Room::new();
    let (old, new) = ("old\n".repeat(20_000), "new!\n".repeat(20_000));
    let path = room.put("file", &old);
    room.show("file");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let text = fs::read_to_string(&path).unwrap();
                assert!(text == old || text == new, "{} bytes", text.len());
                reads += 1;
            }
            reads
        });
        for content in [&new, &old].into_iter().cycle().take(40) {
            room.done("write_file", &json!({ "path": "file", "content": content }));
        }
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(room.names(), ["file"]);
}

#[test]
fn a_write_that_nobody_waits_for_is_whole_or_does_not_take_place() {
    let room = Room::new();
    room.put("file", "old");
    room.show("file");
    let new = "new".repeat(700_000);
    let tool = room.tools.iter().find(|tool| tool.spec().name == "write_file").unwrap();
    for turn in 0..10 {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut run = tool.run_call(use_of(&json!({ "path": "file", "content": new })));
        runtime.block_on(async {
            let poll =
                std::future::poll_fn(|cx| std::task::Poll::Ready(run.as_mut().poll(cx).is_ready()));
            poll.await;
            for _ in 0..turn * 50 {
                tokio::task::yield_now().await;
            }
        });
        drop(run);
        drop(runtime);
        let text = fs::read_to_string(room.path("file")).unwrap();
        assert!(text == "old" || text == new);
        assert_eq!(room.names(), ["file"]);
    }
}
