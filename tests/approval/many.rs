//! Ten thousand questions at once.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use callgate_approval::asker::fresh_id;
use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_wire::approval::{Action, ApprovalResponse, Decision, Press, RequestId};
use callgate_wire::desk::DeskCommand;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::fixture::Stage;

const QUESTIONS: usize = 10_000;

#[test]
fn ten_thousand_questions_are_open_and_each_can_be_answered() {
    let stage = Stage::without_phone();
    let count = raise_limit();
    let desk = stage.path(".local/share/callgate/desk.sock");
    let mut viewer = Viewer::connect(&desk).unwrap();
    let (code, _) = viewer.code().unwrap();
    viewer
        .ask(DeskCommand::Pair { code, name: "Ada's page".to_owned(), origin: None }, PATIENCE)
        .unwrap();
    let asked: Vec<_> = (0..count).map(|number| ask(&stage, number)).collect();
    stage.until("all are open", || (viewer.status().unwrap().open == count as u64).then_some(()));
    for (id, mut stream) in asked.into_iter().step_by(count / 5) {
        let press = Press::Button(Action::Deny);
        viewer.send(DeskCommand::Press { request_id: id.clone(), press, confirm: None }).unwrap();
        let mut answer = [0; 1_000];
        let length = stream.read(&mut answer).unwrap();
        let answer = ApprovalResponse::decode(&answer[..length]).unwrap();
        assert_eq!((answer.request_id, answer.decision), (id, Decision::Deny));
    }
    stage.until("the others have gone", || (viewer.status().unwrap().open == 0).then_some(()));
}

/// This process holds one end of each connection: as many as the system lets it, with some left for
/// the other tests.
fn raise_limit() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let most = limit.maximum.map_or(QUESTIONS, |most| usize::try_from(most).unwrap());
    let count = QUESTIONS.min(most - 500);
    if count < QUESTIONS {
        eprintln!("only {count} questions: the system allows {most} descriptors");
    }
    count
}

fn ask(stage: &Stage, number: usize) -> (RequestId, UnixStream) {
    let id = fresh_id();
    let line = json!({
        "request_id": id.as_str(),
        "tool_name": "Bash",
        "tool_input": { "command": format!("make part-{number}") },
        "cwd": "/home/ada/engine",
        "session_id": "s1",
    });
    let mut stream =
        stage.until("the daemon accepts", || UnixStream::connect(stage.path("ask.sock")).ok());
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    (id, stream)
}
