//! The page for the people of a team: how they come in over TLS, and what they may do there.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use callgate_store::{EntryDraft, Sha256Hash, Store};
use callgate_web::{
    AccountProvider, BegunSignIn, DeskFuture, LinePlace, MachineDesk, PageJoined, PageLimits,
    ProviderAnswer, SignInTicket, TeamHost, TeamHostOptions, TeamPageOptions, TeamPeople,
    TlsAuthority, WantedPage, machine_routes, team_page_routes,
};
use callgate_wire::HiddenText;
use callgate_wire::ledger::{
    AnswerChannel, LedgerEvent, MemberInvited, MemberJoined, MemberKind, ViewerPaired,
};
use callgate_wire::relay::MachineJoined;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::browser::{Response, connect, request};
use crate::house::House;

const ADA: &str = "a000000000000000000000000000000000000000000000000000000000000000";
const BEN: &str = "b000000000000000000000000000000000000000000000000000000000000000";
const JSON: &str = "Content-Type: application/json";

/// People whose invitations are single words.
#[derive(Debug, Default)]
struct Invited(Mutex<BTreeMap<&'static str, &'static str>>);

impl TeamPeople for Invited {
    fn join_person<'a>(
        &'a self,
        secret: &'a HiddenText,
        page: WantedPage,
    ) -> DeskFuture<'a, Result<PageJoined, String>> {
        assert!(page.origin.starts_with("https://desk.test:"), "{page:?}");
        let joined = match self.0.lock().unwrap().remove(secret.reveal()) {
            Some("") => PageJoined::TooMany,
            Some(token) => PageJoined::Linked(HiddenText::new(token)),
            None => PageJoined::Unknown,
        };
        Box::pin(async { Ok(joined) })
    }

    fn link_person<'a>(
        &'a self,
        name: &'a str,
        _page: WantedPage,
    ) -> DeskFuture<'a, Result<PageJoined, String>> {
        let is_ada = name == "ada@example.org";
        let joined =
            if is_ada { PageJoined::Linked(HiddenText::new(ADA)) } else { PageJoined::Unknown };
        Box::pin(async { Ok(joined) })
    }

    fn has_link<'a>(&'a self, link: &'a str) -> DeskFuture<'a, bool> {
        let is_known = [ADA, BEN].iter().any(|key| link.contains(&hex(key)));
        Box::pin(async move { is_known })
    }

    fn page_left(&self) {}
}

/// A provider whose accounts are named by the codes that it gives.
#[derive(Default)]
struct Accounts(Mutex<u32>);

impl AccountProvider for Accounts {
    fn begin_sign_in<'a>(
        &'a self,
        redirect: &'a str,
    ) -> DeskFuture<'a, Result<BegunSignIn, String>> {
        *self.0.lock().unwrap() += 1;
        let state = hex(&format!("state-{}", self.0.lock().unwrap()));
        Box::pin(async move {
            let address = format!("https://id.example.org/?redirect={redirect}&state={state}");
            let (verifier, nonce) = (hex(redirect), hex(&state));
            Ok(BegunSignIn { address, ticket: SignInTicket { state, verifier, nonce } })
        })
    }

    fn finish_sign_in<'a>(
        &'a self,
        ticket: &'a SignInTicket,
        redirect: &'a str,
        answer: &'a ProviderAnswer,
    ) -> DeskFuture<'a, Result<String, String>> {
        Box::pin(async move {
            assert_eq!((&ticket.verifier, &ticket.nonce), (&hex(redirect), &hex(&ticket.state)));
            if answer.code == "bad" { Err("it is bad".to_owned()) } else { Ok(answer.code.clone()) }
        })
    }

    fn report_failure(&self, why: &str) {
        assert_eq!(why, "it is bad");
    }
}

/// Returns the status of the answer to a page that shows an answer and a ticket, with its key or
/// why it gets none.
fn finish_sign_in(team: &TeamHouse, answer: &str, ticket: &str) -> (u16, Option<String>) {
    let body = json!({ "answer": answer, "ticket": ticket, "name": "Firefox" }).to_string();
    let mut joined = team.send("POST /api/signed-in", None, &body);
    let told = if joined.status == 200 { &joined.json()["token"] } else { &joined.json()["error"] };
    (joined.status, told.as_str().map(str::to_owned))
}

#[test]
fn an_account_of_the_company_signs_in_where_it_was_begun() {
    let team = TeamHouse::new();
    let begin = || {
        let begun = team.send("POST /api/sign-in", None, "{}").json();
        let state = begun["address"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        (state, begun["ticket"].as_str().unwrap().to_owned())
    };
    let come_back = |query: &str| {
        let answer = team.send(&format!("GET /sign-in?{query}"), None, "");
        assert_eq!(answer.status, 303);
        answer.headers["location"].clone()
    };
    let (state, ticket) = begin();
    let answer = format!("code=ada%40example.org&state={state}");
    assert_eq!(
        come_back(&answer),
        format!("/#answer=code=ada%2540example.org%26state={state}"),
        "the answer as it came"
    );
    for broken in [&format!("error=access_denied&state={state}"), "code=ada%40example.org"] {
        assert_eq!(come_back(broken), "/#sign-in=refused");
    }
    assert_eq!(finish_sign_in(&team, &answer, &ticket), (200, Some(ADA.to_owned())));
    // Somebody else's link signs nobody in: their tab has no ticket for it.
    let (_, of_another) = begin();
    for ticket in ["", "another", &of_another] {
        let (status, why) = finish_sign_in(&team, &answer, ticket);
        assert_eq!(
            (status, why.as_deref()),
            (403, Some("The sign-in was not finished. Try again."))
        );
    }
    let check = |code: &str, expected: &str| {
        let (status, why) = finish_sign_in(&team, &format!("code={code}&state={state}"), &ticket);
        assert!(status == 403 && why.as_ref().unwrap().starts_with(expected), "{why:?}");
    };
    check("eve%40example.org", "This account belongs to nobody in the team.");
    check("bad", "The sign-in failed.");
    let body = json!({ "answer": answer, "ticket": ticket, "name": "" }).to_string();
    assert_eq!(team.send("POST /api/signed-in", None, &body).status, 400);
    for _ in 0..30 {
        assert_eq!(finish_sign_in(&team, &answer, "").0, 403);
    }
    let right = finish_sign_in(&team, &answer, &ticket);
    assert_eq!(right, (200, Some(ADA.to_owned())), "wrong ones keep nobody out");
}

/// A desk with a team, and its page over TLS.
struct TeamHouse {
    house: House,
    host: TeamHost,
    client: Arc<ClientConfig>,
    owner: String,
}

fn hex(text: &str) -> String {
    Sha256Hash::hash_bytes(text.as_bytes()).to_string()
}

/// A desk that knows no machine.
struct NoMachines;

impl MachineDesk for NoMachines {
    fn find_ailment(&self) -> Option<&'static str> {
        None
    }

    fn join_machine<'a>(
        &'a self,
        _secret: &'a str,
    ) -> DeskFuture<'a, Result<Option<MachineJoined>, String>> {
        Box::pin(async { Ok(None) })
    }

    fn admit_line<'a>(
        &'a self,
        _token: &'a str,
        _number: &'a str,
    ) -> DeskFuture<'a, Option<Result<LinePlace, &'static str>>> {
        Box::pin(async { None })
    }
}

impl TeamHouse {
    fn new() -> Self {
        Self::with_limits(PageLimits::default())
    }

    fn with_limits(limits: PageLimits) -> Self {
        let mut house = House::new();
        let owner = house.page();
        let authority = TlsAuthority::generate().unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate().to_vec().into()).unwrap();
        let client = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        // The page has to know its port before it listens.
        let listen: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let free = std::net::TcpListener::bind(listen).unwrap().local_addr().unwrap();
        let host = format!("desk.test:{}", free.port());
        house.stop_desk();
        write_team(&house, &format!("https://{host}"));
        house.start_desk();
        let people = Invited(Mutex::new(BTreeMap::from([
            ("for-ada", ADA),
            ("for-ben", BEN),
            ("one-more", ""),
        ])));
        let routes = team_page_routes(TeamPageOptions {
            desk_socket: house.desk_socket(),
            hosts: vec![host],
            limits,
            people: Arc::new(people),
            accounts: Some(Arc::new(Accounts::default())),
        });
        let options = TeamHostOptions {
            listen: free,
            identity: Box::new(move || authority.issue(vec!["desk.test".to_owned()])),
            limits,
            routes: routes.merge(machine_routes(Arc::new(NoMachines), limits)),
        };
        let host = house.run(async { TeamHost::start(options).unwrap() });
        Self { house, host, client: Arc::new(client), owner }
    }

    fn origin(&self) -> String {
        format!("https://desk.test:{}", self.host.address().port())
    }

    fn connect(&self) -> StreamOwned<ClientConnection, TcpStream> {
        let name = ServerName::try_from("desk.test").unwrap();
        let connection = ClientConnection::new(Arc::clone(&self.client), name).unwrap();
        StreamOwned::new(connection, connect(self.host.address().port()))
    }

    /// Sends a request over TLS.
    fn send(&self, line: &str, key: Option<&str>, body: &str) -> Response {
        let host = format!("Host: desk.test:{}", self.host.address().port());
        let key = key.map(|key| format!("Authorization: Bearer {key}"));
        let mut headers = vec![host.as_str()];
        headers.extend(key.as_deref());
        headers.extend(line.starts_with("POST").then_some(JSON));
        let mut stream = self.connect();
        stream.write_all(&request(line, &headers, body)).unwrap();
        stream.flush().unwrap();
        Response::read(stream)
    }

    fn ask(&self, key: &str, body: &Value) -> (u16, Value) {
        let mut answer = self.send("POST /api/desk", Some(key), &body.to_string());
        (answer.status, answer.json())
    }
}

/// Writes the members of a team and the links of their pages, as `callgate team` and joining do.
fn write_team(house: &House, origin: &str) {
    let mut entries = Vec::new();
    for (name, key) in [("ada", ADA), ("ben", BEN)] {
        let (name, secret) = (name.to_owned(), hex(name));
        let events = [
            LedgerEvent::Invited(MemberInvited {
                name: name.clone(),
                member: Some(MemberKind::Person),
                owner: None,
                secret: secret.clone(),
                until_ms: None,
                by: "the test".to_owned(),
            }),
            LedgerEvent::Joined(MemberJoined { name: name.clone(), secret, token: None }),
            LedgerEvent::ViewerPaired(ViewerPaired {
                channel: Some(AnswerChannel::Viewer),
                by: format!("Firefox of {name}"),
                links: Some(vec![format!("viewer/{}@{origin}", hex(key))]),
                person: Some(name),
            }),
        ];
        entries.extend(events.map(|event| EntryDraft::new(1, None, &event)));
    }
    let database = house.folder.path().join("callgate.db");
    Store::open(&database).unwrap().append_entries(&entries).unwrap();
}

#[test]
fn an_invitation_makes_one_session() {
    let team = TeamHouse::new();
    let body = json!({ "secret": "for-ada", "name": "Firefox" }).to_string();
    let mut joined = team.send("POST /api/join", None, &body);
    assert_eq!((joined.status, joined.json()["token"].as_str()), (200, Some(ADA)));
    assert_eq!(team.send("POST /api/join", None, &body).status, 403, "it was used");
    for body in ["{}", r#"{"secret":"x","name":""}"#, "no JSON"] {
        assert_eq!(team.send("POST /api/join", None, body).status, 400, "{body}");
    }
    let one_more = json!({ "secret": "one-more", "name": "Firefox" }).to_string();
    let mut refused = team.send("POST /api/join", None, &one_more);
    assert_eq!(refused.status, 403);
    assert!(refused.json()["error"].as_str().unwrap().contains("too many browsers"));
}

/// Behind a balancer all people and all strangers come from one address.
#[test]
fn wrong_secrets_and_keys_keep_nobody_out() {
    let team = TeamHouse::new();
    let join = |secret: &str| {
        let body = json!({ "secret": secret, "name": "Firefox" }).to_string();
        team.send("POST /api/join", None, &body).status
    };
    let links = json!({ "id": "1", "kind": "links" });
    for number in 0..15 {
        assert_eq!(join(&format!("wrong-{number}")), 403);
        assert_eq!(team.ask(&format!("{number:064}"), &links).0, 401);
    }
    assert_eq!(join("for-ben"), 200);
    // Nobody has shown these keys before.
    assert_eq!(team.ask(BEN, &links).0, 200);
    assert_eq!(team.ask(ADA, &links).0, 200);
}

#[test]
fn one_person_does_not_take_the_event_streams_of_all() {
    let team = TeamHouse::new();
    let open = |key: &str| team.send("GET /api/events", Some(key), "");
    let open: Vec<Response> = (0..11).map(|_| open(ADA)).chain([open(BEN)]).collect();
    let statuses: Vec<u16> = open.iter().map(|stream| stream.status).collect();
    let mut expected = [200; 12];
    expected[10] = 503;
    assert_eq!(statuses, expected);
}

#[test]
fn every_route_asks_for_the_key_of_a_person() {
    let team = TeamHouse::new();
    for (line, anybody, person) in [
        ("GET /", 200, 200),
        ("GET /ui/app.js", 200, 200),
        ("GET /api/team", 200, 200),
        ("POST /api/desk", 401, 400),
        ("GET /api/events", 401, 200),
        ("GET /sign-in", 303, 303),
        ("POST /api/leave", 401, 200),
        // These are for the owner, on the desk's own machine.
        ("POST /api/pair", 404, 404),
        ("POST /api/chat", 404, 404),
        ("POST /api/chat/start", 404, 404),
        ("POST /api/chat/restart", 404, 404),
        ("GET /api/chat/events", 404, 404),
    ] {
        assert_eq!(team.send(line, None, "{}").status, anybody, "{line}");
        // The key of the owner's page is one of another origin.
        assert_eq!(team.send(line, Some(&team.owner), "{}").status, anybody, "{line}");
        assert_eq!(team.send(line, Some(BEN), "{}").status, person, "{line}");
    }
    assert_eq!(team.send("GET /api/events", Some(BEN), "").status, 401, "he has left");
    assert_eq!(team.house.post(ADA, &json!({ "id": "1", "kind": "links" })).status, 401);
}

#[test]
fn whoever_is_silent_in_the_handshake_is_disconnected() {
    let limits = PageLimits { head_within: Duration::from_millis(300), ..PageLimits::default() };
    let team = TeamHouse::with_limits(limits);
    let mut silent = connect(team.host.address().port());
    let mut begun = connect(team.host.address().port());
    // The head of a record that announces more than ever comes.
    begun.write_all(&[22, 3, 1, 2, 0]).unwrap();
    for stream in [&mut silent, &mut begun] {
        let mut rest = Vec::new();
        // The read has a deadline.
        stream.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty(), "{rest:?}");
    }
    assert_eq!(team.send("GET /api/team", None, "").status, 200);
}

#[test]
fn a_body_that_drips_ends_in_time() {
    let limits = PageLimits { body_within: Duration::from_millis(300), ..PageLimits::default() };
    let team = TeamHouse::with_limits(limits);
    let began = Instant::now();
    let mut stream = team.connect();
    let host = format!("Host: desk.test:{}", team.host.address().port());
    let head =
        format!("POST /team/join HTTP/1.1\r\n{host}\r\n{JSON}\r\nContent-Length: 4000\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.flush().unwrap();
    stream.sock.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    // It is answered although it never stops.
    let mut status = [0; 12];
    loop {
        assert!(began.elapsed() < Duration::from_secs(10), "it is read for ever");
        stream.write_all(b" ").and_then(|()| stream.flush()).unwrap();
        match stream.read_exact(&mut status) {
            Ok(()) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }
    assert_eq!(&status, b"HTTP/1.1 408");
    let long = format!(r#"{{"secret":"{}"}}"#, "s".repeat(5000));
    for (body, status) in [("{}", 400), ("secret", 400), (&*long, 413)] {
        assert_eq!(team.send("POST /team/join", None, body).status, status, "{body}");
    }
    assert_eq!(team.send("GET /api/team", None, "").status, 200);
}

/// Every request that the protocol documents.
fn documented_requests() -> Vec<Value> {
    let text = include_str!("../../../../docs/protocol/desk.md");
    let blocks = text.split("```json desk-request\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_person_answers_and_reads_and_changes_nothing_of_the_owner() {
    let team = TeamHouse::new();
    let mut refused = BTreeMap::new();
    for request in documented_requests() {
        let kind = request["kind"].as_str().unwrap().to_owned();
        let (status, answer) = team.ask(ADA, &request);
        assert!(matches!(status, 200 | 403), "{request}: {answer}");
        *refused.entry(kind).or_insert(true) &= status == 403;
    }
    let allowed: Vec<&str> =
        refused.iter().filter(|(_, refused)| !**refused).map(|(kind, _)| &**kind).collect();
    assert_eq!(
        allowed,
        [
            "card", "code", "export", "figures", "history", "inbox", "links", "press", "rules",
            "verify"
        ]
    );
    assert!(refused["unpair"], "the link of somebody else");
    let page_code = json!({ "id": "1", "kind": "code", "page": true });
    assert_eq!(team.ask(ADA, &page_code).0, 403);

    let own = format!("viewer/{}@{}", hex(ADA), team.origin());
    let (_, answer) = team.ask(ADA, &json!({ "id": "1", "kind": "links" }));
    let expected = json!([{ "link": own, "name": "Firefox of ada", "person": "ada" }]);
    assert_eq!(answer["links"], expected, "nobody else's");
    let (status, _) = team.ask(BEN, &json!({ "id": "1", "kind": "unpair", "link": own }));
    assert_eq!(status, 403);
    let (status, answer) = team.ask(ADA, &json!({ "id": "1", "kind": "unpair", "link": own }));
    assert_eq!((status, &answer["done"]), (200, &json!(true)));
    assert_eq!(team.ask(ADA, &json!({ "id": "1", "kind": "links" })).0, 401);
}

#[test]
fn a_person_sees_calls_and_not_who_is_linked_or_invited() {
    let team = TeamHouse::new();
    let mut stream = team.send("GET /api/events", Some(ADA), "");
    let (name, _, data) = stream.event().unwrap();
    assert_eq!((name.as_str(), &data["person"]), ("watching", &json!("ada")));
    // Links and codes are the owner's business.
    team.house.code();
    let asked = team.house.ask("make test");
    let (_, _, entry) = stream.event().unwrap();
    assert_eq!(entry["kind"], "asked");
    let press = json!({ "id": "1", "kind": "press", "request_id": crate::house::ASKED,
        "action": "deny" });
    assert_eq!(team.ask(ADA, &press).1["done"], true);
    asked.join().unwrap().unwrap();
    let database = team.house.folder.path().join("callgate.db");
    assert!(Store::open_read_only(&database).unwrap().verify().is_ok());
}
