//! Sockets whose files are deleted or replaced.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// Opens a door that writes down what it tells.
fn open(path: &Path) -> (Door, Arc<Mutex<Vec<String>>>) {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let hears = Arc::clone(&told);
    let warn = move |what: &str| hears.lock().unwrap().push(what.to_owned());
    (Door::open(path, Arc::new(warn)).unwrap(), told)
}

#[tokio::test(start_paused = true)]
async fn a_deleted_socket_is_made_anew_with_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("callgate/ask.sock");
    make_folder(&path).unwrap();
    let (mut door, told) = open(&path);
    for round in 1..=3 {
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        tokio::select! {
            accepted = door.accept() => panic!("{accepted:?}"),
            () = tokio::time::sleep(2 * LOOK_EVERY) => {}
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let mode = fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let _dialled = std::os::unix::net::UnixStream::connect(&path).unwrap();
        door.accept().await.unwrap();
        assert_eq!(told.lock().unwrap().len(), round, "it is told once each time");
    }
}

#[tokio::test(start_paused = true)]
async fn what_took_its_place_is_left_alone_and_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ask.sock");
    let (mut door, told) = open(&path);
    fs::remove_file(&path).unwrap();
    fs::write(&path, "precious").unwrap();
    tokio::select! {
        accepted = door.accept() => panic!("{accepted:?}"),
        () = tokio::time::sleep(10 * LOOK_EVERY) => {}
    }
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    let said = told.lock().unwrap().clone();
    assert!(said.len() == 1 && said[0].contains("is not a socket"), "{said:?}");
}
