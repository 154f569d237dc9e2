//! Attacks of members, and of strangers: they change nothing, reach nothing and are told.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use callgate_http::{FetchError, ProxyChoice, ServiceError, TeamService};
use callgate_store::{EntryDraft, Sha256Hash, Store};
use callgate_team::Invitation;
use callgate_testkit::process::{DEADLINE, run};
use callgate_wire::desk::{InboxRow, RemoteState};
use callgate_wire::ledger::{LedgerEvent, MemberInvited, MemberKind};
use callgate_wire::relay::{LINE_NUMBER, LINE_PATH, LINE_PROTOCOL};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

use super::hostile_lines::{HostileMember, SeededNumbers};
use super::team_house::{Person, TeamHouse};

/// How many lines a seed has at most.
const LINES: usize = 40;
/// How many seeds are played; the variable `CALLGATE_ATTACKS` sets another number.
const SEEDS: u64 = 40;
/// What the desk may have in memory while it is attacked, in KiB.
const MOST_MEMORY: u64 = 256 * 1024;

/// A connection of an attacker, and everything that has come on it.
struct HostileConnection {
    line: Box<dyn LineStream>,
    heard: Vec<u8>,
    is_over: bool,
}

trait LineStream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send {}

impl<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send> LineStream for S {}

impl HostileConnection {
    async fn open(service: &TeamService, token: &str, number: &str) -> Self {
        let line = service
            .open_line(LINE_PATH, LINE_PROTOCOL, token, (LINE_NUMBER, number))
            .await
            .unwrap();
        Self { line: Box::new(line), heard: Vec::new(), is_over: false }
    }

    /// Sends bytes, unless the desk has ended the line.
    async fn send(&mut self, bytes: &[u8]) {
        self.is_over |= self.line.write_all(bytes).await.is_err();
    }

    /// Reads until something was said, or the desk has ended the line.
    async fn read_until(&mut self, wanted: &str) {
        while !self.is_over && !String::from_utf8_lossy(&self.heard).contains(wanted) {
            let mut part = [0; 4096];
            let read = tokio::time::timeout(DEADLINE, self.line.read(&mut part)).await;
            let count = read.unwrap().unwrap_or_default();
            self.heard.extend(&part[..count]);
            self.is_over |= count == 0;
        }
    }

    /// Waits until the desk has handled everything that was sent.
    async fn settle(&mut self, mark: &str) {
        self.send(format!("{{\"kind\":\"{mark}\"}}\n").as_bytes()).await;
        self.read_until(mark).await;
    }

    fn orders(&self, kind: &str) -> Vec<Value> {
        let lines = self.heard.split(|byte| *byte == b'\n');
        let orders = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        orders.filter(|order| order["kind"] == kind).collect()
    }
}

/// Returns the token that a machine gets for its invitation.
async fn join(service: &TeamService, invitation: &Invitation) -> String {
    let body = json!({ "secret": invitation.secret.reveal() }).to_string();
    let joined = service.post_json("/team/join", body.clone()).await.unwrap();
    assert_eq!(service.post_json("/team/join", body).await.unwrap().status.as_u16(), 401, "once");
    let joined: Value = serde_json::from_str(&joined.text).unwrap();
    joined["token"].as_str().unwrap().to_owned()
}

fn service_of(invitation: &Invitation) -> TeamService {
    let authority = invitation.authority.as_deref();
    TeamService::new(&invitation.address, authority, &ProxyChoice::default()).unwrap()
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Checks that the inbox has the questions of the others as they were, and beside them only what
/// members have asked in their own name.
fn check_inbox(seed: u64, rows: &[InboxRow], victims: &[InboxRow], members: &[HostileMember]) {
    for victim in victims {
        let same: Vec<_> = rows.iter().filter(|row| row.question == victim.question).collect();
        assert_eq!(same, [victim], "seed {seed}");
    }
    for row in rows.iter().filter(|row| victims.iter().all(|it| it.question != row.question)) {
        let owner = members.iter().find(|it| row.machine.as_deref() == Some(it.name));
        let owner = owner.unwrap_or_else(|| panic!("seed {seed}: whose is {row:?}?"));
        assert!(
            owner.own.contains(&row.question),
            "seed {seed}: {} never asked {row:?}",
            owner.name
        );
    }
}

/// The entries that give rights, as they have to stay.
fn entries_about_rights(house: &TeamHouse) -> Vec<String> {
    const KINDS: [&str; 6] = ["paired", "unpaired", "invited", "joined", "revoked", "saved"];
    let entries = house.desk.entries().into_iter();
    entries.filter(|entry| KINDS.contains(&&*entry.kind)).map(|entry| entry.body).collect()
}

/// Checks that nothing was pressed or decided but what Ada has answered.
fn check_decisions(house: &TeamHouse, answered: &BTreeSet<String>) {
    let entries = house.desk.entries();
    let decisions =
        entries.iter().filter(|entry| ["pressed", "decided", "delivered"].contains(&&*entry.kind));
    for entry in decisions {
        let body: Value = serde_json::from_str(&entry.body).unwrap();
        // Time decides, too: nobody has answered.
        let is_timeout = body["decision"] == "timeout";
        let is_answered = answered.contains(entry.question.as_deref().unwrap_or_default());
        assert!(is_answered || is_timeout || entry.kind == "delivered", "{entry:?}");
    }
}

/// Checks that no face shows what a terminal would act on.
fn check_faces(house: &TeamHouse) {
    let is_bad = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
    let log = house.desk.machine.home.text("up.log");
    assert!(!log.contains(is_bad), "{log:?}");
    for arguments in [
        &["status"][..],
        &["team", "list"],
        &["remote", "list"],
        &["log"],
        &["log", "--machine", "evil"],
        &["log", "--verify"],
    ] {
        let told = run(house.desk.command(arguments), DEADLINE).success();
        assert!(!told.stdout.contains(is_bad), "{arguments:?}: {:?}", told.stdout);
        assert!(!told.stderr.contains(is_bad), "{arguments:?}: {:?}", told.stderr);
    }
}

/// The memory of a process, in KiB.
fn memory_of(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A team's desk that two members attack: a machine, and a job that has more than one run.
struct AttackedHouse {
    house: TeamHouse,
    service: TeamService,
    /// The questions of the others.
    victims: Vec<InboxRow>,
    /// The attackers, each with its token.
    members: Vec<HostileMember>,
    tokens: Vec<String>,
    /// The questions that Ada has answered.
    answered: BTreeSet<String>,
}

impl AttackedHouse {
    fn play_seed(&mut self, runtime: &Runtime, ada: &mut Person, seed: u64) {
        let mut numbers = SeededNumbers(seed);
        let at = numbers.below(self.members.len());
        let run = format!("run-{}", numbers.below(3));
        let (token, mark) = (&self.tokens[at], format!("mark-{seed}"));
        let mut is_told = false;
        let connection = runtime.block_on(async {
            let mut connection = HostileConnection::open(&self.service, token, &run).await;
            if !numbers.chance(8) {
                connection.send(&HostileMember::hello(&mut numbers)).await;
            }
            for _ in 0..numbers.below(LINES) {
                let line = self.members[at].next_line(&mut numbers, seed);
                is_told |= line.is_wrong;
                self.members[at].own.extend(line.asks);
                let (first, rest) = line.bytes.split_at(numbers.below(line.bytes.len()));
                connection.send(first).await;
                connection.send(rest).await;
            }
            if numbers.chance(5) {
                // It goes away in the middle of a line.
                connection.send(b"{\"kind\":\"question\",").await;
                return None;
            }
            connection.settle(&mark).await;
            Some(connection)
        });
        let rows = ada.inbox();
        check_inbox(seed, &rows, &self.victims, &self.members);
        let Some(mut connection) = connection else { return };
        if is_told {
            assert!(connection.is_over || !connection.orders("error").is_empty(), "seed {seed}");
        }
        // Ada answers a question of this line, and it gets no other answer. It confirms it twice.
        let of_seed = format!("{seed:08x}-");
        let own = rows.iter().find(|row| row.question.starts_with(&of_seed));
        if let Some(row) = own.filter(|_| !connection.is_over) {
            self.answered.insert(row.question.clone());
            let told =
                json!({ "kind": "told", "question": row.question, "done": true, "text": "x" });
            std::thread::scope(|scope| {
                scope.spawn(|| ada.deny(row));
                runtime.block_on(async {
                    connection.read_until(&row.question).await;
                    connection.send(format!("{told}\n{told}\n").as_bytes()).await;
                    connection.settle(&format!("{mark}-answered")).await;
                });
            });
        }
        let mut heard = BTreeSet::new();
        for answer in connection.orders("answer") {
            let question = answer["question"].as_str().unwrap().to_owned();
            assert!(self.answered.contains(&question), "seed {seed}: {answer}");
            assert!(self.members[at].own.contains(&question), "seed {seed}: {answer}");
            assert!(heard.insert(question), "seed {seed}: answered twice: {answer}");
        }
    }
}

#[test]
fn hostile_members_change_nothing_of_others_and_are_told() {
    let house = TeamHouse::new(None);
    let victim = house.member("build-7");
    let mut ada = house.desk.person("Ada");
    let there = victim.ask("make one");
    let here = house.desk.ask("make desk");
    let victims =
        vec![ada.question(&house.desk, "make one"), ada.question(&house.desk, "make desk")];
    let foreign: Vec<String> = victims.iter().map(|row| row.question.clone()).collect();
    let machine: Invitation = house.invite(&["evil"]).parse().unwrap();
    let job: Invitation = house.invite(&["ci", "--job"]).parse().unwrap();
    let runtime = runtime();
    let service = service_of(&machine);
    let tokens = vec![runtime.block_on(join(&service, &machine)), job.secret.reveal().to_owned()];
    let members = ["evil", "ci"].map(|name| HostileMember::new(name, foreign.clone()));
    let rights = entries_about_rights(&house);
    let mut attacked = AttackedHouse {
        house,
        service,
        victims,
        members: members.into(),
        tokens,
        answered: BTreeSet::new(),
    };
    let seeds = std::env::var("CALLGATE_ATTACKS").ok().and_then(|it| it.parse().ok());
    for seed in 0..seeds.unwrap_or(SEEDS) {
        attacked.play_seed(&runtime, &mut ada, seed);
    }

    let AttackedHouse { house, victims, answered, .. } = attacked;
    assert_eq!(entries_about_rights(&house), rights);
    check_decisions(&house, &answered);
    check_faces(&house);
    assert!(house.desk.machine.home.text("up.log").contains("evil: it sent something wrong"));
    let store = Store::open_read_only(&house.desk.database()).unwrap();
    let copied = store.copied_machines().unwrap();
    assert!(copied.iter().all(|it| it == "build-7" || it == "evil"), "{copied:?}");
    // Of its own ledger it may tell another beginning, and nothing that does not follow.
    for both in house.copy_of("evil").windows(2) {
        assert!(both[1].follows(&both[0].head()), "{both:?}");
    }
    assert!(memory_of(house.desk.desk_pid()) < MOST_MEMORY);
    // The others go on as if nothing had happened.
    assert_eq!(house.desk.status().unwrap().pid, house.desk.desk_pid());
    assert_eq!(victim.line().unwrap().state, RemoteState::Connected);
    for (row, hook) in victims.iter().zip([there, here]) {
        assert!(ada.allow(row).0);
        assert_eq!(hook.decision()["behavior"], "allow");
    }
    house.assert_copied("build-7", &victim);
}

#[test]
fn members_that_drip_are_served_and_hold_up_nobody() {
    const DRIPPERS: usize = 12;
    let house = TeamHouse::new(None);
    let victim = house.member("build-7");
    let mut ada = house.desk.person("Ada");
    let job: Invitation = house.invite(&["ci", "--job"]).parse().unwrap();
    let (runtime, service) = (runtime(), service_of(&job));
    let seed = std::env::var("CALLGATE_ATTACKS").ok().and_then(|it| it.parse().ok()).unwrap_or(7);
    let mut numbers = SeededNumbers(seed);
    // Each has a question on its way, and half of them never end theirs.
    let question = |number: usize| {
        let question = json!({ "kind": "question", "ruling": "ask", "seconds": 300, "request": {
            "request_id": format!("{number:08x}-0000-4000-8000-000000000000"), "tool_name": "Bash",
            "tool_input": { "command": format!("make drip-{number}") }, "cwd": "/",
            "session_id": "s" } });
        let mut bytes = format!("{question}\n").into_bytes();
        bytes.truncate(bytes.len() - number % 2);
        bytes
    };
    let mut drippers: Vec<(HostileConnection, Vec<u8>)> = (0..DRIPPERS)
        .map(|number| {
            let connection = runtime.block_on(async {
                let token = job.secret.reveal();
                let run = format!("drip-{number}");
                let mut connection = HostileConnection::open(&service, token, &run).await;
                connection.send(&HostileMember::hello(&mut SeededNumbers(seed))).await;
                connection
            });
            (connection, question(number))
        })
        .collect();
    let mut others = 0;
    while drippers.iter().any(|(_, rest)| !rest.is_empty()) {
        let (connection, rest) = &mut drippers[numbers.below(DRIPPERS)];
        let part = rest.len().min(1 + numbers.below(24));
        let part: Vec<u8> = rest.drain(..part).collect();
        runtime.block_on(connection.send(&part));
        assert!(!connection.is_over, "seed {seed}");
        if numbers.chance(40) {
            let command = format!("make {others}");
            let hook =
                if others % 2 == 0 { victim.ask(&command) } else { house.desk.ask(&command) };
            let row = ada.question(&house.desk, &command);
            assert!(ada.allow(&row).0, "seed {seed}");
            assert_eq!(hook.decision()["behavior"], "allow", "seed {seed}");
            others += 1;
        }
    }
    assert!(others > 0, "seed {seed}: nobody else was served");
    let whole = |number: &usize| number.is_multiple_of(2);
    let wanted: BTreeSet<_> =
        (0..DRIPPERS).filter(whole).map(|it| format!("make drip-{it}")).collect();
    house.desk.until("whole questions are asked", || ada.inbox().len() == wanted.len());
    let rows = ada.inbox();
    assert!(rows.iter().all(|row| row.machine.as_deref() == Some("ci")), "seed {seed}: {rows:?}");
    let asked: BTreeSet<_> = rows.into_iter().map(|row| row.summary).collect();
    assert_eq!(asked, wanted, "seed {seed}");
    // Whoever goes away in the middle of a line has asked nothing.
    drop(drippers);
    house.desk.until("their lines are gone", || {
        house.views().iter().all(|view| view.host != "ci" || view.state != RemoteState::Connected)
    });
    assert!(ada.inbox().iter().all(|row| wanted.contains(&row.summary)), "seed {seed}");
    assert!(memory_of(house.desk.desk_pid()) < MOST_MEMORY);
}

#[test]
fn an_answer_that_a_member_does_not_confirm_keeps_nobody_waiting() {
    let house = TeamHouse::new(None);
    let mut ada = house.desk.person("Ada");
    let invitation: Invitation = house.invite(&["evil"]).parse().unwrap();
    let runtime = runtime();
    let service = service_of(&invitation);
    let id = "0000002a-0000-4000-8000-000000000000";
    let connection = runtime.block_on(async {
        let token = join(&service, &invitation).await;
        let mut connection = HostileConnection::open(&service, &token, "1").await;
        connection.send(&HostileMember::hello(&mut SeededNumbers(0))).await;
        let question = json!({ "kind": "question", "ruling": "ask", "seconds": 60, "request": {
            "request_id": id, "tool_name": "Bash", "tool_input": { "command": "make three" },
            "cwd": "/", "session_id": "s" } });
        connection.send(format!("{question}\n").as_bytes()).await;
        connection
    });
    let row = ada.question(&house.desk, "make three");
    let (is_done, text) = ada.deny(&row);
    assert!(is_done && text.contains("evil has not confirmed it yet"), "{text}");
    drop(connection);
}

#[test]
fn a_line_without_end_is_told_and_takes_no_memory() {
    let house = TeamHouse::new(None);
    let invitation: Invitation = house.invite(&["evil"]).parse().unwrap();
    runtime().block_on(async {
        let service = service_of(&invitation);
        let token = join(&service, &invitation).await;
        let mut connection = HostileConnection::open(&service, &token, "1").await;
        connection.send(&HostileMember::hello(&mut SeededNumbers(0))).await;
        let part = vec![b'x'; 1024 * 1024];
        for _ in 0..40 {
            connection.send(&part).await;
        }
        connection.send(b"\n").await;
        connection.read_until("is too long").await;
        assert!(!connection.is_over, "the line goes on");
    });
    assert!(memory_of(house.desk.desk_pid()) < MOST_MEMORY);
}

/// What a token, or something like one, opens.
async fn try_token(service: &TeamService, token: &str, path: &str) -> u16 {
    match service.open_line(path, LINE_PROTOCOL, token, (LINE_NUMBER, "1")).await {
        Err(ServiceError::Refused(answer)) => answer.status.as_u16(),
        Err(other) => panic!("{path}: {other}"),
        Ok(_) => 101,
    }
}

#[test]
fn a_token_opens_a_line_for_its_member_and_nothing_else() {
    let house = TeamHouse::new(None);
    let machine: Invitation = house.invite(&["old"]).parse().unwrap();
    let job: Invitation = house.invite(&["ci", "--job"]).parse().unwrap();
    let person = house.desk.done(&["team", "invite", "ada", "--person"]);
    let person =
        person.split_once("join=").unwrap().1.split_whitespace().next().unwrap().to_owned();
    let job_token = job.secret.reveal().to_owned();
    let runtime = runtime();
    let service = service_of(&machine);
    let (token, mut line) = runtime.block_on(async {
        let token = join(&service, &machine).await;
        let mut line = HostileConnection::open(&service, &token, "1").await;
        line.send(&HostileMember::hello(&mut SeededNumbers(0))).await;
        line.settle("mark").await;
        (token, line)
    });
    runtime.block_on(async {
        // A job cannot become a machine, nor can a person's invitation.
        for secret in [&job_token, &person, &token] {
            let body = json!({ "secret": secret }).to_string();
            let answer = service.post_json("/team/join", body).await.unwrap();
            assert_eq!(answer.status.as_u16(), 401, "{}", answer.text);
        }
        assert_eq!(try_token(&service, &person, "/team/line").await, 401);
        for token in [&token, &job_token] {
            for path in ["/api/desk", "/api/events", "/api/join", "/api/leave", "/team/join"] {
                let status = try_token(&service, token, path).await;
                assert!((400..500).contains(&status), "{path}: {status}");
            }
            for path in ["/api/desk", "/api/leave", "/api/join"] {
                let inbox = json!({ "kind": "inbox", "key": token, "secret": token }).to_string();
                let answer = service.post_json(path, inbox).await.unwrap();
                assert!(answer.status.is_client_error(), "{path}: {answer:?}");
            }
        }
    });
    // Who is revoked is out at once, and nothing lets them in again.
    house.desk.done(&["team", "revoke", "old"]);
    house.desk.done(&["team", "revoke", "ci"]);
    runtime.block_on(async {
        line.read_until("this is never said").await;
        assert!(line.is_over);
        for token in [&token, &job_token] {
            assert_eq!(try_token(&service, token, "/team/line").await, 401);
            let body = json!({ "secret": token }).to_string();
            let answer = service.post_json("/team/join", body).await.unwrap();
            assert_eq!(answer.status.as_u16(), 401);
        }
    });
    assert!(house.views().is_empty(), "{:?}", house.views());
}

#[test]
fn strangers_do_not_keep_out_whoever_was_invited_a_moment_ago() {
    let house = TeamHouse::new(None);
    let invitations: Vec<Invitation> =
        (0..4).map(|at| house.invite(&[&format!("m-{at}")]).parse().unwrap()).collect();
    // The desk notices none of these by itself before it looks again.
    let store = || Store::open(&house.desk.database()).unwrap();
    runtime().block_on(async {
        let service = service_of(&invitations[0]);
        for (at, invitation) in invitations.iter().enumerate() {
            // A stranger has just had the members read again.
            assert_eq!(try_token(&service, "nobody", "/team/line").await, 401);
            let (name, secret) = (format!("late-{at}"), format!("secret-{at}"));
            let invited = LedgerEvent::Invited(MemberInvited {
                name,
                member: Some(MemberKind::Machine),
                owner: None,
                secret: Sha256Hash::hash_bytes(secret.as_bytes()).to_string(),
                until_ms: None,
                by: "the test".to_owned(),
            });
            store().append_entries(&[EntryDraft::new(1, None, &invited)]).unwrap();
            let body = json!({ "secret": secret }).to_string();
            let joined = service.post_json("/team/join", body).await.unwrap();
            assert_eq!(joined.status.as_u16(), 200, "{}", joined.text);
            join(&service, invitation).await;
        }
    });
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
            match service.open_line(LINE_PATH, LINE_PROTOCOL, token, (LINE_NUMBER, "1")).await {
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
            Ok(answer) => assert_eq!(answer.status.as_u16(), 413, "{}", answer.text),
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
