//! What is reported about a daemon, and about none.

use super::*;
use crate::config::{DeskFlags, load_config};

fn told(version: &str, socket: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    let config = load_config(Some(file.path()), &DeskFlags::default()).unwrap();
    let status = DeskStatus {
        version: version.to_owned(),
        pid: 7,
        uptime_seconds: 7_300,
        open: 2,
        head: 9,
        socket: socket.replace("OURS", &config.socket.value.display().to_string()),
        database: config.database.display().to_string(),
        reach: DeskReach { terminal: true, ..DeskReach::default() },
        is_relay: false,
        relays: Vec::new(),
        team: None,
        listening: None,
    };
    let mut findings = Findings::default();
    report_status(&config, &status, &mut findings);
    findings.text()
}

#[test]
fn a_daemon_of_another_version_is_told() {
    let ours = env!("CARGO_PKG_VERSION");
    let well = format!("`callgate up` {ours} runs as process 7, for 2 h; open questions: 2");
    assert!(told(ours, "OURS").starts_with(&format!("ok       daemon    {well}\n")));
    let said = told("0.0.9", "OURS");
    assert!(said.starts_with("warning  daemon    `callgate up` is of version 0.0.9"), "{said}");
    assert!(told(ours, "/other").contains("the daemon serves hooks at /other; your settings"));
}

#[test]
fn what_holds_without_a_daemon_is_told() {
    let agent = describe_when_absent(WhenAbsent::Agent);
    assert!(agent.contains("what they deny is denied"), "{agent}");
    assert!(agent.ends_with("modes that ask nobody (`gate.when_absent` is `agent`)"), "{agent}");
    let deny = describe_when_absent(WhenAbsent::Deny);
    assert!(deny.contains("whatever no rule allows is denied"), "{deny}");
}
