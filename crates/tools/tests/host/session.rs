//! A session's life: its files, its end, and its neighbours.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};

use callgate_tools::{Host, HostError, NoArguments, Tool, blocking};
use serde_json::{Value, json};

use crate::fixture::{Caller, Stage, hello, names, text};

#[test]
fn its_files_have_the_contracts_names_and_are_the_owners_alone() {
    let stage = Stage::new([hello()]);
    let names = names(stage.folder.path());
    let id =
        names[0].strip_prefix("claudecode_ipc_").and_then(|n| n.strip_suffix(".sock")).unwrap();
    assert_eq!(id.len(), 32);
    assert_eq!(
        names,
        [format!("claudecode_ipc_{id}.sock"), format!("claudecode_ipc_schema_{id}.json")]
    );
    for path in [stage.session.socket_path(), stage.session.schema_path()] {
        assert_eq!(fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(fs::symlink_metadata(stage.session.socket_path()).unwrap().file_type().is_socket());
    let schema: Value =
        serde_json::from_slice(&fs::read(stage.session.schema_path()).unwrap()).unwrap();
    assert_eq!(schema[0]["name"], "hello");
    assert_eq!(schema[0]["description"], "Greets.");
    assert_eq!(schema[0]["input_schema"]["type"], "object");
}

#[test]
fn a_wide_open_umask_does_not_open_its_files() {
    let before = rustix::process::umask(rustix::fs::Mode::empty());
    let stage = Stage::new([hello()]);
    rustix::process::umask(before);
    for path in [stage.session.socket_path(), stage.session.schema_path()] {
        assert_eq!(fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn stopping_removes_its_files_and_waits_for_nobody() {
    let waits = Tool::blocking("waits", "Waits for its end.", |_: NoArguments, call| {
        while !call.is_cancelled() {
            std::thread::yield_now();
        }
    });
    let Stage { session, folder } = Stage::new([waits]);
    let mut idle = Caller::new(&session);
    let mut busy = Caller::new(&session);
    busy.send_call("waits", &json!({}));
    session.stop();
    assert_eq!(names(folder.path()), Vec::<String>::new());
    idle.assert_closed();
    busy.assert_closed();
}

#[test]
fn a_panic_removes_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new([hello()]).unwrap().folder(folder.path());
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let session = blocking::start(&host).unwrap();
        assert!(session.socket_path().exists());
        panic!("on purpose");
    }));
    assert!(panic.is_err());
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_task_that_is_cancelled_removes_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new([hello()]).unwrap().folder(folder.path());
    let (started, is_started) = tokio::sync::oneshot::channel();
    let task = tokio::spawn(async move {
        let session = host.start().unwrap();
        started.send(session.socket_path().to_owned()).unwrap();
        std::future::pending::<()>().await;
    });
    assert!(is_started.await.unwrap().exists());
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn sessions_of_one_host_do_not_touch_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new([hello()]).unwrap().folder(folder.path());
    let sessions: Vec<_> = (0..8).map(|_| blocking::start(&host).unwrap()).collect();
    assert_eq!(names(folder.path()).len(), 16);
    let mut callers: Vec<Caller> = sessions.iter().map(|session| Caller::new(session)).collect();
    for (session, caller) in sessions.into_iter().zip(&mut callers).rev() {
        assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
        session.stop();
        caller.assert_closed();
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn sessions_started_at_once_do_not_sweep_each_other_away() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new([hello()]).unwrap().folder(folder.path());
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let host = host.clone();
            std::thread::spawn(move || {
                for _ in 0..20 {
                    let session = blocking::start(&host).unwrap();
                    let mut caller = Caller::new(&session);
                    assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
                    assert!(session.schema_path().exists());
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_folder_that_cannot_be_used_is_told_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let start = |folder: &std::path::Path| {
        blocking::start(&Host::new([hello()]).unwrap().folder(folder)).unwrap_err().to_string()
    };
    let missing = start(&folder.path().join("missing"));
    assert!(missing.contains("cannot create the socket"), "{missing}");
    let long = start(&folder.path().join("x".repeat(90)));
    assert!(
        long.contains("but a socket's path can have 107 at most: use a shorter folder"),
        "{long}"
    );
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn without_a_runtime_the_way_out_is_told() {
    let host = Host::new([hello()]).unwrap();
    let error = host.start().unwrap_err();
    assert!(matches!(error, HostError::NoRuntime));
    assert!(error.to_string().contains("use blocking::start"));
}
