//! MCP servers that want a sign-in: the question, the browser, the tokens, and everything that must
//! not become a sign-in.

mod faces;
mod refusals;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Piped, run};
use callgate_testkit::tools::{self, repo_root};
use callgate_testkit::until::until;
use serde_json::{Value, json};

use crate::chat::chat_screen::Chat;
use crate::fixture::{Runtime, Setup, words};
use crate::mcp::mcp_peers::HttpServer;

const ALLOWED: &str = "[[rule]]\nname = \"mcp\"\ndecide = \"allow\"\ntool = \"mcp__*\"\n";

/// The server and its authorization server.
struct Peer {
    piped: Piped,
    issuer: String,
    url: String,
}

impl Peer {
    /// Starts both, to misbehave in these ways.
    fn start(ways: &[&str]) -> Self {
        let script = repo_root().join("tests/data/oauth_mcp_server.py");
        let mut command = Command::new("/usr/bin/python3");
        command.arg(script).args(ways);
        let mut piped = Piped::spawn(command);
        let started = piped.recv();
        let text = |name: &str| started[name].as_str().unwrap().to_owned();
        Self { issuer: text("issuer"), url: text("url"), piped }
    }

    fn config(&self) -> String {
        format!("[agent]\nlog_level = \"warn\"\n[agent.mcp_servers.far]\nurl = {:?}\n", self.url)
    }

    fn setup(&self, fake: &Messages) -> Setup {
        Setup::on(fake).rules(ALLOWED).config(&self.config())
    }

    /// What was sent: to whom, where, and with which token.
    fn seen(&self) -> Vec<[Option<String>; 3]> {
        serde_json::from_str(&get(&format!("{}/seen", self.issuer)).1).unwrap()
    }

    /// Fails if a token of the server was sent elsewhere.
    fn assert_tokens_stayed(&self) {
        for [who, path, token] in self.seen() {
            let is_server = who.as_deref() == Some("Tools");
            assert!(is_server || token.is_none(), "{path:?}: {token:?}");
            assert_ne!(path.as_deref(), Some("/elsewhere"));
        }
    }
}

/// Gets a page as a browser does, without following a redirect. Returns the head and the body.
fn get(url: &str) -> (String, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Signs in at an address, and returns the address to which the browser is sent.
fn sent_back(address: &str) -> String {
    let (head, _) = get(address);
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    let place = lines.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    place.unwrap_or_else(|| panic!("{head}")).1.to_owned()
}

/// Signs in at an address, as a person with a browser does. Returns the page that is shown.
fn sign_in(address: &str) -> String {
    get(&sent_back(address)).1
}

fn whoami() -> Turn {
    Turn::tool_use("mcp__far__whoami", json!({}))
}

fn hello(agent: &mut Runtime) {
    agent.hello_with(&["question", "notice"]);
}

/// The state of the server and the words for it.
fn state(agent: &mut Runtime) -> (String, String) {
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    let server = &status["data"]["servers"][0];
    let text = |name: &str| server[name].as_str().unwrap().to_owned();
    (text("state"), text("text"))
}

fn await_state(agent: &mut Runtime, wanted: &str) -> String {
    until(wanted, || {
        let (found, text) = state(agent);
        (found == wanted).then_some(text)
    })
}

fn reply(agent: &mut Runtime, question: &Value, outcome: &str) {
    let answer =
        json!({"id": "a", "kind": "question_answer", "question": question, "outcome": outcome});
    assert_eq!(agent.ask(&answer)["type"], "done");
}

/// Sends a message, and returns what the server asks the person.
fn asked(agent: &mut Runtime, id: &str) -> Value {
    agent.say(id, "hello");
    agent.until(id, "question")["data"].clone()
}

fn address(asked: &Value) -> String {
    asked["url"].as_str().unwrap().to_owned()
}

/// The log of a runtime that has ended.
fn log(mut agent: Runtime) -> String {
    agent.piped.close_stdin();
    agent.rest();
    agent.piped.wait_exit(DEADLINE);
    agent.piped.stderr()
}

/// Signs in and answers, so that the server is ready.
fn get_ready(agent: &mut Runtime, id: &str) {
    let asked = asked(agent, id);
    sign_in(&address(&asked));
    agent.end(id);
    await_state(agent, "ready");
}

/// What fails with the server, told by its state. Nothing is asked, and the message is answered.
fn failure(ways: &[&str]) -> String {
    let peer = Peer::start(ways);
    let fake = Messages::start([Turn::text("hi")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    assert_eq!(agent.answer("1", "hello"), "hi");
    let text = await_state(&mut agent, "failed");
    assert!(text.ends_with("callgate mcp login far"), "{text}");
    peer.assert_tokens_stayed();
    text
}

/// What fails after the browser was sent back.
fn late_failure(ways: &[&str]) -> (String, Peer) {
    let peer = Peer::start(ways);
    let fake = Messages::start([Turn::text("hi")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    let asked = asked(&mut agent, "1");
    let page = sign_in(&address(&asked));
    assert!(page.contains("The sign-in has failed"), "{page}");
    agent.end("1");
    let text = await_state(&mut agent, "failed");
    peer.assert_tokens_stayed();
    (text, peer)
}

#[test]
fn a_person_signs_in_while_the_message_is_answered() {
    let peer = Peer::start(&["iss"]);
    let fake = Messages::start([Turn::text("hi"), whoami(), Turn::text("done")]);
    let setup = peer.setup(&fake);
    let mut agent = setup.start();
    hello(&mut agent);
    // The answer does not wait for the person, and the turn does.
    agent.say("1", "hello");
    let (mut said, mut asked) = (String::new(), Value::Null);
    while said != "hi" || asked.is_null() {
        let event = agent.next_of("1");
        assert_ne!(event["type"], "done", "{event}");
        said += event["token"].as_str().unwrap_or_default();
        if event["type"] == "question" {
            asked = event["data"].clone();
        }
    }
    assert_eq!((&asked["server"], &asked["fields"]), (&json!("far"), &json!([])));
    let text = asked["text"].as_str().unwrap();
    assert!(text.starts_with("The MCP server `far` wants you to sign in at 127.0.0.1"), "{text}");
    let address = address(&asked);
    assert!(address.starts_with(&format!("{}/authorize?response_type=code", peer.issuer)));
    let (found, text) = state(&mut agent);
    assert_eq!(found, "needs_sign_in");
    assert_eq!(text, "wants you to sign in; to do so in a terminal: callgate mcp login far");
    reply(&mut agent, &asked["question"], "answered");
    assert_eq!(agent.end("1")["type"], "done");
    // The browser comes after the turn.
    let back = sent_back(&address);
    assert!(get(&back).1.contains("You are signed in"));
    await_state(&mut agent, "ready");
    // The address is served once.
    let host = back.strip_prefix("http://").unwrap().split('/').next().unwrap();
    assert!(TcpStream::connect(host).is_err());
    agent.say("2", "who am I?");
    assert_eq!(agent.end("2")["type"], "done");
    assert_eq!(fake.last().tool_results()[0].text, "whoami: read");
    peer.assert_tokens_stayed();
    // Only its owner can read the file with the tokens, and nothing else has them.
    let folder = setup.home().join(".local/share/callgate/sign-ins");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let token = kept["sign_in"]["access_token"].as_str().unwrap();
    assert!(token.starts_with("at-"));
    assert_eq!(kept["issuer"], json!(peer.issuer));
    let database = fs::read(setup.database()).unwrap();
    assert!(!database.windows(token.len()).any(|part| part == token.as_bytes()));
    let log = log(agent);
    assert!(!log.contains("at-") && !log.contains("rt-"), "{log}");
    // Another runtime asks nobody.
    fake.extend([whoami(), Turn::text("done")]);
    let mut agent = setup.start();
    hello(&mut agent);
    agent.say("3", "again");
    let all = agent.all("3");
    assert!(all.iter().all(|event| event["type"] != "question"), "{all:#?}");
    assert_eq!(fake.last().tool_results()[0].text, "whoami: read");
}

#[test]
fn a_sign_in_without_an_answer_withdraws_the_question() {
    let peer = Peer::start(&["unnamed"]);
    let fake = Messages::start([Turn::text("hi")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    let asked = asked(&mut agent, "1");
    assert!(address(&asked).contains("&scope=read"), "{asked}");
    assert!(sign_in(&address(&asked)).contains("You are signed in"));
    let all = agent.all("1");
    let resolved = all.iter().find(|event| event["type"] == "question_resolved").unwrap();
    assert_eq!(resolved["data"]["question"], asked["question"]);
    await_state(&mut agent, "ready");
}

#[test]
fn who_declines_is_not_asked_again_and_the_listener_ends() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([Turn::text("hi"), Turn::text("ho")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    let asked = asked(&mut agent, "1");
    let back = sent_back(&address(&asked));
    reply(&mut agent, &asked["question"], "declined");
    assert_eq!(agent.end("1")["type"], "done");
    let text = await_state(&mut agent, "failed");
    assert!(text.contains("nobody has signed in to it"), "{text}");
    let host = back.strip_prefix("http://").unwrap().split('/').next().unwrap();
    assert!(TcpStream::connect(host).is_err());
    agent.say("2", "again");
    let all = agent.all("2");
    assert_eq!(words(&all), "ho");
    assert!(all.iter().all(|event| event["type"] != "question"), "{all:#?}");
}

#[test]
fn the_next_message_and_a_cancellation_withdraw_the_question() {
    let peer = Peer::start(&[]);
    let fake = Messages::start(["one", "two", "three"].map(Turn::text));
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    let first = asked(&mut agent, "1");
    let back = sent_back(&address(&first));
    agent.say("2", "something else");
    let end = agent.end("1");
    assert_eq!(end["type"], "done", "{end}");
    let second = agent.until("2", "question")["data"].clone();
    assert_ne!(second["question"], first["question"]);
    let host = back.strip_prefix("http://").unwrap().split('/').next().unwrap();
    assert!(TcpStream::connect(host).is_err());
    let cancel = json!({"id": "c", "kind": "cancel", "target": "2"});
    assert_eq!(agent.ask(&cancel)["type"], "done");
    agent.end("2");
    get_ready(&mut agent, "3");
}

#[test]
fn where_nobody_is_asked_the_state_says_how_to_sign_in() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([Turn::text("hi"), Turn::text("ho")]);
    let setup = peer.setup(&fake);
    // A front end without questions, and no desk.
    let mut agent = setup.start();
    agent.hello_with(&["notice"]);
    assert_eq!(agent.answer("1", "hello"), "hi");
    let text = await_state(&mut agent, "failed");
    assert!(text.ends_with("to do so in a terminal: callgate mcp login far"), "{text}");
    drop(agent);
    let mut agent = setup.start();
    hello(&mut agent);
    let auto = json!({"id": "m", "kind": "set_mode", "mode": "auto"});
    assert_eq!(agent.ask(&auto)["type"], "done");
    agent.say("1", "hello");
    let all = agent.all("1");
    let is_told = |event: &Value| {
        event["data"]["text"].as_str().is_some_and(|text| text.ends_with("callgate mcp login far"))
    };
    assert!(all.iter().any(is_told), "{all:#?}");
    assert_eq!(await_state(&mut agent, "failed"), text);
}

#[test]
fn a_call_signs_in_for_more_and_after_the_sign_in_has_ended() {
    let peer = Peer::start(&[]);
    let admin = || Turn::tool_use("mcp__far__admin", json!({}));
    let fake = Messages::start([Turn::text("hi"), admin(), Turn::text("done")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    get_ready(&mut agent, "1");
    agent.say("2", "be admin");
    let asked = agent.until("2", "question")["data"].clone();
    let more = address(&asked);
    assert!(more.contains("&scope=read+admin"), "{more}");
    sign_in(&more);
    assert_eq!(agent.end("2")["type"], "done");
    assert_eq!(fake.last().tool_results()[0].text, "admin: read admin");
    // What has expired is renewed, and nobody is asked.
    get(&format!("{}/expire", peer.issuer));
    fake.extend([whoami(), Turn::text("done")]);
    agent.say("3", "who am I?");
    let all = agent.all("3");
    assert!(all.iter().all(|event| event["type"] != "question"), "{all:#?}");
    assert_eq!(fake.last().tool_results()[0].text, "whoami: read admin");
    peer.assert_tokens_stayed();
}

#[test]
fn a_call_whose_sign_in_cannot_be_renewed_asks_and_may_be_declined() {
    let peer = Peer::start(&["no-refresh"]);
    let fake = Messages::start([Turn::text("hi"), whoami(), Turn::text("no")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    get_ready(&mut agent, "1");
    get(&format!("{}/expire", peer.issuer));
    agent.say("2", "who am I?");
    let asked = agent.until("2", "question")["data"].clone();
    reply(&mut agent, &asked["question"], "declined");
    agent.end("2");
    let told = fake.last().tool_results().remove(0);
    assert!(told.is_error && told.text.contains("nobody has signed in to it"), "{told:?}");
    fake.extend([whoami(), Turn::text("done")]);
    agent.say("3", "now");
    let asked = agent.until("3", "question")["data"].clone();
    sign_in(&address(&asked));
    agent.end("3");
    assert_eq!(fake.last().tool_results()[0].text, "whoami: read");
    let log = log(agent);
    assert!(log.contains("is not renewed") && !log.contains("rt-"), "{log}");
}

#[test]
fn a_token_is_renewed_before_it_expires() {
    let peer = Peer::start(&["short"]);
    let fake = Messages::start([Turn::text("hi"), whoami(), Turn::text("done")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    get_ready(&mut agent, "1");
    agent.say("2", "who am I?");
    agent.end("2");
    assert_eq!(fake.last().tool_results()[0].text, "whoami: read");
    let renewals = peer.seen().into_iter().filter(|[_, path, _]| path.as_deref() == Some("/token"));
    assert!(renewals.count() > 2);
}
