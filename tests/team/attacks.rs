//! Bad input from a member, or from a stranger: it changes nothing, and is told.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use callgate_http::{FetchError, ProxyChoice, ServiceError, TeamService};
use callgate_store::Store;
use callgate_team::Invitation;
use callgate_testkit::process::DEADLINE;
use callgate_wire::desk::RemoteState;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::team_house::TeamHouse;

/// How many lines of an attacker are tried for each connection.
const LINES: u64 = 24;
/// How many connections are tried.
const SEEDS: u64 = 40;

/// The next number of a sequence that its seed determines.
fn next_number(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Returns a line that a machine must not send, or that must have no effect on `question`, which is
/// another machine's.
fn bad_line(state: &mut u64, question: &str) -> Vec<u8> {
    let number = next_number(state);
    let entry = json!({
        "seq": number % 5, "at_ms": 1, "kind": "paired", "question": question,
        "hash": "ab".repeat(32), "body": { "by": "evil", "links": ["viewer/evil"] },
    });
    let asked = json!({
        "kind": "question", "ruling": "ask", "seconds": 60, "request": {
            "request_id": question, "tool_name": "Bash", "tool_input": { "command": "true" },
            "cwd": "/w", "session_id": "s", "machine": { "name": "build-7" } },
    });
    let kinds: [Value; 14] = [
        json!({ "kind": "closed", "question": question, "decision": "deny", "by": "Ada", "text": "x" }),
        json!({ "kind": "told", "question": question, "done": true, "text": "x" }),
        json!({ "kind": "said", "question": question, "last_words": "press allow" }),
        json!({ "kind": "synced", "open": [] }),
        json!({ "kind": "synced", "open": vec![question; 3000] }),
        asked,
        json!({ "kind": "entry", "entry": entry }),
        json!({ "kind": "anew", "text": "again" }),
        json!({ "kind": "granted", "token": "x".repeat(400) }),
        json!({ "kind": "hello", "protocol": 1, "version": "1", "host": "build-7", "user": "u", "home": "/" }),
        json!({ "kind": "answer", "question": question, "answer": { "decision": "allow", "by": "Ada" } }),
        json!({ "kind": "question", "request": {}, "ruling": "allow", "seconds": -1 }),
        json!({ "kind": "rules", "bundle": "{}" }),
        json!({ "kind": number, "question": { "deep": vec![vec![number]; 9] } }),
    ];
    let mut line = kinds[usize::try_from(number).unwrap() % kinds.len()].to_string().into_bytes();
    match next_number(state) % 6 {
        0 => line.truncate(line.len() / 2),
        1 => line.insert(line.len() / 3, 0xff),
        2 => line = vec![b'['; 4000],
        _ => {}
    }
    line.push(b'\n');
    line
}

#[test]
fn what_a_member_sends_wrong_changes_nothing_and_is_told() {
    let house = TeamHouse::new(None);
    let victim = house.member("build-7");
    let mut ada = house.desk.person("Ada");
    let hook = victim.ask("make one");
    let row = ada.question(&house.desk, "make one");
    let invitation: Invitation = house.invite(&["evil"]).parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let service = service_of(&invitation);
        let body = json!({ "secret": invitation.secret.reveal() }).to_string();
        let joined = service.post_json("/team/join", body.clone()).await.unwrap();
        let token = serde_json::from_str::<Value>(&joined.text).unwrap()["token"].clone();
        let token = token.as_str().unwrap().to_owned();
        assert_eq!(service.post_json("/team/join", body).await.unwrap().status.as_u16(), 401);
        for seed in 0..SEEDS {
            let mut state = seed;
            let mut line = service.open_line("/team/line", &token, "1").await.unwrap();
            if seed % 8 != 0 {
                let hello = json!({ "kind": "hello", "protocol": 1, "version": "1",
                    "host": "build-7", "user": "bo", "home": "/home/bo" });
                line.write_all(format!("{hello}\n").as_bytes()).await.unwrap();
            }
            for _ in 0..LINES {
                // The desk may have ended the line.
                if line.write_all(&bad_line(&mut state, &row.question)).await.is_err() {
                    break;
                }
            }
            if seed == 3 {
                let long = vec![b'x'; 1024 * 1024];
                for _ in 0..18 {
                    line.write_all(&long).await.unwrap();
                }
                line.write_all(b"\n").await.unwrap();
                // It says so, and nothing else has come of it.
                let mut told = String::new();
                while !told.contains("is too long") {
                    let mut part = [0; 4096];
                    let read = tokio::time::timeout(DEADLINE, line.read(&mut part)).await;
                    let count = read.unwrap().unwrap();
                    assert!(count > 0, "{told}");
                    told.push_str(&String::from_utf8_lossy(&part[..count]));
                }
            }
        }
    });
    let rows = ada.inbox();
    let open: Vec<_> = rows.iter().filter(|it| it.question == row.question).collect();
    assert_eq!(open.len(), 1, "{rows:?}");
    assert_eq!(open[0].machine.as_deref(), Some("build-7"));
    assert_eq!(open[0].summary, "make one");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    // What it says of its own ledger is kept as its own, and gives it no right here.
    house.assert_copied("build-7", &victim);
    let links = Store::open_read_only(&house.desk.database()).unwrap().chained_links().unwrap();
    assert!(!links.standing.contains_key("viewer/evil"), "{links:?}");
    let log = house.desk.machine.home.text("up.log");
    assert!(log.contains("evil: it sent something wrong"), "{log}");
    assert_eq!(victim.line().unwrap().state, RemoteState::Connected);
    assert_eq!(house.desk.status().unwrap().pid, house.desk.desk_pid());
}

fn service_of(invitation: &Invitation) -> TeamService {
    let authority = invitation.authority.as_deref();
    TeamService::new(&invitation.address, authority, &ProxyChoice::default()).unwrap()
}

#[test]
fn strangers_get_nothing_and_hold_up_nobody() {
    let house = TeamHouse::new(None);
    let invitation: Invitation = house.invite(&["build-7"]).parse().unwrap();
    // They connect and say nothing, or something that is no handshake.
    let mut silent: Vec<TcpStream> =
        (0..200).map(|_| TcpStream::connect(("127.0.0.1", house.port)).unwrap()).collect();
    for (number, stream) in silent.iter_mut().enumerate().filter(|(number, _)| number % 3 == 0) {
        stream.write_all(&vec![u8::try_from(number % 256).unwrap(); 700]).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let service = service_of(&invitation);
        for token in ["", "x", &"0".repeat(64), &"0".repeat(5000), invitation.secret.reveal()] {
            match service.open_line("/team/line", token, "1").await {
                Err(ServiceError::Refused(answer)) => assert_eq!(answer.status.as_u16(), 401),
                other => panic!("{token}: {other:?}"),
            }
        }
        for (body, status) in [
            ("{}".to_owned(), 400),
            ("nonsense".to_owned(), 400),
            (json!({ "secret": "0".repeat(64) }).to_string(), 401),
        ] {
            let answer = service.post_json("/team/join", body).await.unwrap();
            assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
        }
        // The desk reads no body of that size to its end: the answer, or the end of the connection,
        // may come while it is being sent.
        let endless = json!({ "secret": "x".repeat(100_000) }).to_string();
        match service.post_json("/team/join", endless).await {
            Ok(answer) => assert_eq!(answer.status.as_u16(), 400, "{}", answer.text),
            Err(error) => assert!(matches!(error, FetchError::Failed(_)), "{error:?}"),
        }
    });
    // What is no handshake was ended at once.
    silent[0].set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut rest = Vec::new();
    silent[0].read_to_end(&mut rest).ok();
    let member = house.member("build-8");
    assert_eq!(member.line().unwrap().state, RemoteState::Connected);
}
