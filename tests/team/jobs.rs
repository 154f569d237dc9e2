//! CI jobs: one token for many runs, which can ask and do nothing else.

use std::process::Stdio;

use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_wire::desk::RemoteState;

use super::team_house::{Asker, DeskMachine, TeamHouse};

pub(crate) fn ask(job: &DeskMachine, question: &str) -> Group {
    let mut ask = job.command(&["ask", question]);
    ask.stdout(Stdio::null()).stderr(Stdio::piped());
    Group::spawn(ask)
}

#[test]
fn jobs_with_one_token_ask_and_leave_no_ledger() {
    let house = TeamHouse::new(None);
    let token = house.invite(&["ci", "--job"]);
    let mut ada = house.desk.person("Ada");
    let jobs: Vec<DeskMachine> =
        (0..2).map(|_| DeskMachine::new().with_variable("CALLGATE_INVITATION", &token)).collect();
    for job in &jobs {
        let told = job.done(&["team", "join"]);
        assert!(told.starts_with("Connected to https://127.0.0.1:"), "{told}");
        // A job that is started again does no harm.
        job.done(&["team", "join"]);
    }
    for (number, job) in jobs.iter().enumerate() {
        let question = format!("Deploy {number}?");
        let mut asker = ask(job, &question);
        let row = house.desk.until("the question", || {
            ada.inbox().into_iter().find(|row| row.summary.contains(&question))
        });
        assert_eq!(row.machine.as_deref(), Some("ci"));
        assert!(ada.allow(&row).0);
        assert!(asker.wait(DEADLINE).unwrap().success());
    }
    assert!(house.copy_of("ci").is_empty());
    let listed = house.desk.done(&["team", "list"]);
    assert!(listed.starts_with("ci: job, token good until it is revoked, connected"), "{listed}");
    // One job ends, and the other stays connected.
    jobs[0].done(&["team", "leave"]);
    assert!(jobs[0].status().is_none(), "its desk has ended with it");
    assert_eq!(jobs[1].line().unwrap().state, RemoteState::Connected);
    // The hook of an agent asks in the same way.
    let hook: Asker = jobs[1].ask("make release");
    let row = ada.question(&house.desk, "make release");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.desk.done(&["team", "revoke", "ci"]);
    jobs[1].wait_for_line(RemoteState::Failed);
    let late = DeskMachine::new().with_variable("CALLGATE_INVITATION", &token);
    let told = run(late.command(&["team", "join"]), DEADLINE);
    assert!(told.stderr.contains("does not know this machine any more"), "{}", told.stderr);
}
