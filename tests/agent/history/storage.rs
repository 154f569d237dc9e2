//! The files of the runtime: a database that is removed while it runs, and its log.

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Group};
use serde_json::{Value, json};

use crate::fixture::{Setup, words};

/// What happens to a database.
#[derive(Debug, Clone, Copy)]
enum Loss {
    Removed,
    Replaced,
}

fn lose(file: &Path, loss: Loss) {
    let away = file.with_extension("away");
    fs::rename(file, &away).unwrap();
    if matches!(loss, Loss::Replaced) {
        fs::copy(&away, file).unwrap();
    }
}

#[test]
fn a_database_that_is_gone_is_noticed_before_the_model_is_asked() {
    // A tool that has run is in the ledger, so its file is open then.
    let turns = [Turn::tool_use("list_files", json!({"path": "."})), Turn::text("hello")];
    let fake = Messages::start(turns.into_iter().cycle().take(12));
    let ledger = |setup: &Setup| setup.database();
    let history = |setup: &Setup| setup.home().join("history.db");
    let one: fn(&Setup) -> PathBuf = ledger;
    for (file, is_apart) in [(one, false), (one, true), (history, true)] {
        for loss in [Loss::Removed, Loss::Replaced] {
            let mut setup = Setup::on(&fake);
            if is_apart {
                setup = setup.config("[agent]\nhistory = \"~/history.db\"\n");
            }
            let mut agent = setup.start();
            agent.answer("1", "hello");
            let asked = fake.requests().len();
            lose(&file(&setup), loss);
            agent.say("2", "hello again");
            let error = agent.end("2");
            assert_eq!(error["type"], "error", "{loss:?}: {error}");
            let text = error["error"].as_str().unwrap();
            assert!(text.contains(".db"), "{loss:?}: {text}");
            assert_eq!(fake.requests().len(), asked, "{loss:?}: the model was asked");
        }
    }
    fake.assert_played();
}

#[test]
fn a_database_that_goes_in_the_middle_of_a_turn_ends_it() {
    let fake = Messages::start([
        Turn::text("hello"),
        Turn::tool_use("run_shell_command", json!({"command": "./tidy-up"})),
    ]);
    let setup = Setup::on(&fake).runs();
    let database = setup.database();
    let away = format!("mv '{0}' '{0}.away'", database.display());
    let setup = setup.script("tidy-up", &away);
    let mut agent = setup.start();
    agent.answer("1", "hello");
    agent.say("2", "tidy up");
    let all = agent.all("2");
    assert_eq!(all.last().unwrap()["type"], "error", "{all:#?}");
    assert!(!database.exists(), "the command has run: {all:#?}");
    assert_eq!(fake.requests().len(), 2, "the model was asked again");
}

#[test]
fn a_line_of_the_log_is_one_write() {
    let setup = Setup::new().arg("--log-level").arg("debug");
    // Each write to a socket of this kind is a message of its own.
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    ours.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut command = setup.command();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(OwnedFd::from(theirs));
    let mut agent = Group::spawn(command);
    let mut requests = agent.take_stdin();
    let status = json!({"id": "s", "kind": "get_status"});
    for request in ["this is no request".to_owned(), status.to_string()] {
        writeln!(requests, "{request}").unwrap();
        let mut line = [0; 4096];
        let length = ours.recv(&mut line).unwrap();
        let line = String::from_utf8_lossy(&line[..length]);
        assert!(line.starts_with("callgate: ") && line.ends_with('\n'), "{line:?}");
        assert_eq!(line.matches('\n').count(), 1, "{line:?}");
    }
}

/// Without a file for the ledger, what is said is answered and what is there is read, but nothing
/// is changed, because nobody could ever see that.
#[test]
fn without_a_history_a_home_may_be_read_only() {
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "a.txt"})),
        Turn::tool_use("write_file", json!({"path": "b.txt", "content": "x"})),
        Turn::text("Read, but not written."),
    ]);
    let setup = Setup::on(&fake).writes().file("a.txt", "hay").arg("--no-history");
    let command = setup.command_without_root();
    let set_mode = |mode| {
        fs::set_permissions(setup.home(), fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(0o555);
    let mut agent = setup.start_by(command);
    agent.hello();
    agent.say("1", "Copy a.txt to b.txt");
    let all = agent.all("1");
    set_mode(0o755);
    assert_eq!(words(&all), "Read, but not written.", "{all:#?}");
    let results: Vec<&Value> =
        all.iter().filter(|line| line["type"] == "tool_result").map(|line| &line["data"]).collect();
    assert_eq!(results[0]["result"]["content"], "hay", "{all:#?}");
    let refused = results[1]["result"]["error"].as_str().unwrap();
    assert!(refused.contains("cannot be recorded in the ledger"), "{refused}");
    assert!(!setup.work().join("b.txt").exists());
}
