//! Without an answer the hook falls back, whatever the reason, and never waits for ever.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::process::Piped;
use callgate_wire::approval::MAX_LINE;
use rustix::process::geteuid;

use crate::fixture::{Asked, Stage, bash, write};

/// Nobody's user id on Debian.
const NOBODY: u32 = 65534;
/// Far below any limit of the hook's own.
const AT_ONCE: Duration = Duration::from_secs(10);

/// The hook falls back at once when its desk does this.
fn check(act: impl FnOnce(&mut Asked), reason: &str) {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(bash());
    act(&mut desk.accept());
    hook.end().fell_back(reason);
    desk.assert_not_dialled();
}

#[test]
fn there_is_no_desk() {
    let start = Instant::now();
    let stage = Stage::new();
    stage.hook(bash()).end().fell_back("no desk listens at");
    // Nobody listens at a socket that was left behind.
    drop(stage.desk());
    stage.hook(bash()).end().fell_back("start one with `callgate up`");
    fs::remove_file(&stage.socket).unwrap();
    fs::write(&stage.socket, "a file").unwrap();
    stage.hook(bash()).end().fell_back("no desk listens at");
    assert!(start.elapsed() < AT_ONCE);
    assert_eq!(fs::read(&stage.socket).unwrap(), b"a file");
}

#[test]
fn the_settings_are_wrong() {
    let stage = Stage::new();
    let _desk = stage.desk();
    let config = write(&stage, "config.toml", "timeout_seconds = 0\n");
    let mut command = stage.command(&["hook", "--config", config.to_str().unwrap()]);
    command.env_remove("CALLGATE_TIMEOUT_SECONDS");
    stage.start(command, bash()).end().fell_back("timeout_seconds");
}

#[test]
fn the_answer_is_garbage() {
    check(|asked| asked.send("s3cret\n"), "cannot be used");
    check(|asked| asked.send([0xff, b'\n']), "cannot be used");
    check(|asked| asked.send("[1]\n"), "cannot be used");
    check(|asked| asked.answer(r#""decision":"maybe""#), "`decision` must be");
    check(|asked| asked.answer(r#""decision":"allow","updated_input":[]"#), "`updated_input`");
    check(
        |asked| asked.answer(r#""decision":"allow","updated_permissions":{}"#),
        "must be an array",
    );
    check(|asked| asked.send("{\"decision\":\"allow\"}\n"), "`request_id` must be");
}

#[test]
fn the_answer_is_for_another_question() {
    let other = r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","decision":"allow"}"#;
    check(|asked| asked.send(format!("{other}\n")), "answered another question");
}

#[test]
fn the_answer_is_cut() {
    let cut = |asked: &mut Asked| {
        let whole = format!(r#"{{"request_id":"{}","decision":"allow"}}"#, asked.id());
        asked.send(whole);
        asked.stream.shutdown(std::net::Shutdown::Both).unwrap();
    };
    check(cut, "was cut off");
}

#[test]
fn the_answer_is_too_long() {
    let too_long = |end: &'static str| {
        move |asked: &mut Asked| {
            use std::io::Write;
            // The hook closes as soon as it knows, perhaps before all of it is written.
            let text = format!("{}{end}", "x".repeat(MAX_LINE + 1));
            asked.stream.write_all(text.as_bytes()).ok();
            asked.stream.write_all(&[b'x'; 1024]).ok();
        }
    };
    check(too_long("\n"), "more than 10485760 bytes");
    check(too_long("xx"), "more than 10485760 bytes");
}

#[test]
fn the_longest_answer_is_read() {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(bash());
    let mut asked = desk.accept();
    let start = format!(r#"{{"request_id":"{}","decision":"deny","message":""#, asked.id());
    let message = "x".repeat(MAX_LINE - start.len() - 2);
    asked.send(format!("{start}{message}\"}}\r\n"));
    let ended = hook.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains(&message));
}

#[test]
fn the_question_is_too_long() {
    let stage = Stage::new();
    let desk = stage.desk();
    let mut input = crate::fixture::event("PermissionRequest");
    input["tool_input"]["command"] = "x".repeat(MAX_LINE).into();
    let hook = stage.hook(input.to_string());
    assert_eq!(desk.accept().line, "");
    hook.end().fell_back("ask in fewer words");
}

#[test]
fn the_desk_never_answers() {
    let stage = Stage::new().patience(1, 1);
    let desk = stage.desk();
    let start = Instant::now();
    let hook = stage.hook(bash());
    let mut asked = desk.accept();
    hook.end().fell_back("no answer within 1 s");
    asked.assert_closed();
    assert!(start.elapsed() >= Duration::from_secs(1) && start.elapsed() < AT_ONCE);
}

#[test]
fn the_desk_never_accepts_and_never_reads() {
    let stage = Stage::new().patience(1, 1);
    let _desk = stage.desk();
    let mut input = crate::fixture::event("PermissionRequest");
    input["tool_input"]["command"] = "x".repeat(MAX_LINE / 2).into();
    stage.hook(input.to_string()).end().fell_back("no answer within 1 s");
}

#[test]
fn the_answer_trickles() {
    let stage = Stage::new().patience(1, 1);
    let desk = stage.desk();
    let hook = stage.hook(bash());
    let mut asked = desk.accept();
    let trickle = thread::spawn(move || {
        use std::io::Write;
        while asked.stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    hook.end().fell_back("no answer within 1 s");
    trickle.join().unwrap();
    // One that comes in pieces within its time is an answer.
    let hook = stage.hook(bash());
    let mut asked = desk.accept();
    let answer = format!("\r\n{{\"request_id\":\"{}\",\n", asked.id());
    let answer = answer.replace(",\n", ",\"decision\":\"allow\"}\r\n");
    for piece in answer.as_bytes().chunks(7) {
        asked.send(piece);
        thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(hook.end().code, Some(0));
}

#[test]
fn the_desk_closes_again_and_again() {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(bash());
    let lines: Vec<String> = (0..3).map(|_| desk.accept().line).collect();
    assert!(lines.iter().all(|line| *line == lines[0]));
    hook.end().fell_back("closed the connection without an answer");
    desk.assert_not_dialled();
}

#[test]
fn the_socket_is_another_users() {
    let is_root = geteuid().is_root();
    assert!(is_root || std::env::var_os("CI").is_none(), "CI runs these tests as root");
    if !is_root {
        eprintln!("skipped: only root can start a process of another user");
        return;
    }
    let stage = Stage::new();
    fs::set_permissions(stage.folder.path(), Permissions::from_mode(0o777)).unwrap();
    let script = "import socket, sys, time\n\
                  s = socket.socket(socket.AF_UNIX)\n\
                  s.bind(sys.argv[1])\n\
                  s.listen()\n\
                  print('{}', flush=True)\n\
                  print(s.accept()[0].recv(9), flush=True)\n\
                  time.sleep(60)\n";
    let mut stranger = Command::new("/usr/bin/python3");
    stranger.args(["-c", script, stage.socket.to_str().unwrap()]);
    stranger.uid(NOBODY).gid(NOBODY).current_dir("/").stdin(Stdio::null());
    let mut stranger = Piped::spawn(stranger);
    stranger.recv();
    let reason = format!("runs as user {NOBODY}, not as user 0: not trusted");
    stage.hook(bash()).end().fell_back(&reason);
    assert_eq!(stranger.recv_line(), "b''", "a stranger was asked");
}
