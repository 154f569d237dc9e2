//! MCP servers that want a sign-in: the question, the browser, the tokens, and everything that must
//! not become a sign-in.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Piped, run};
use callgate_testkit::tools::{self, repo_root};
use serde_json::{Value, json};

use crate::chat_screen::Chat;
use crate::fixture::{Runtime, Setup, words};
use crate::mcp_peers::HttpServer;

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
    let end = Instant::now() + DEADLINE;
    loop {
        let (found, text) = state(agent);
        if found == wanted {
            return text;
        }
        assert!(Instant::now() < end, "{found}: {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
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

#[test]
fn other_ways_to_find_the_sign_in() {
    for ways in [&["openid"][..], &["undescribed"]] {
        let peer = Peer::start(ways);
        let fake = Messages::start([Turn::text("hi")]);
        let mut agent = peer.setup(&fake).start();
        hello(&mut agent);
        get_ready(&mut agent, "1");
    }
}

#[test]
fn a_client_id_of_the_settings_needs_no_registration() {
    let why = failure(&["no-registration"]);
    assert!(why.contains("registers nobody") && why.contains("client_id"), "{why}");
    let peer = Peer::start(&["no-registration"]);
    let fake = Messages::start([Turn::text("hi")]);
    let config = format!("{}oauth = {{ client_id = \"by-hand\" }}\n", peer.config());
    let mut agent = Setup::on(&fake).rules(ALLOWED).config(&config).start();
    hello(&mut agent);
    get_ready(&mut agent, "1");
}

#[test]
fn descriptions_that_lead_astray_are_refused() {
    for (ways, why) in [
        ("wrong-issuer", "its authorization server says that it is another"),
        ("other-resource", "its description is that of another server"),
        ("redirect", "127.0.0.1 answers with a redirect, which is not followed"),
        ("huge", "the answer of 127.0.0.1 is longer than 64 KiB"),
        ("open-endpoint", "the address for tokens does not begin with https://"),
        ("no-pkce", "its authorization server does not protect the code"),
        ("slow", "127.0.0.1 has not answered within 10 s"),
    ] {
        let text = failure(&[ways]);
        assert!(text.contains(why), "{ways}: {text}");
    }
}

#[test]
fn ends_of_a_sign_in_that_are_not_ours_are_refused() {
    let (text, _) = late_failure(&["wrong-iss"]);
    assert!(text.contains("another authorization server has answered"), "{text}");
    let (text, _) = late_failure(&["no-iss"]);
    assert!(text.contains("another authorization server has answered"), "{text}");
    let (text, _) = late_failure(&["denied"]);
    assert!(text.contains("the sign-in was refused (access_denied)"), "{text}");
}

#[test]
fn a_wrong_state_changes_nothing_and_a_used_code_is_refused() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([Turn::text("hi")]);
    let mut agent = peer.setup(&fake).start();
    hello(&mut agent);
    let asked = asked(&mut agent, "1");
    let back = sent_back(&address(&asked));
    let (place, query) = back.split_once('?').unwrap();
    let forged = query.replace("state=", "state=x");
    for wrong in [format!("{place}?{forged}"), format!("{place}?code=x"), place.to_owned()] {
        let (head, page) = get(&wrong);
        assert!(head.starts_with("HTTP/1.1 400 "), "{wrong}: {head}");
        assert!(page.contains("not the end of a sign-in that callgate has started"), "{page}");
    }
    assert!(get(&place.replace("/callback", "/favicon.ico")).0.starts_with("HTTP/1.1 404 "));
    assert_eq!(state(&mut agent).0, "needs_sign_in");
    // A connection that says nothing, as browsers open them, holds nobody up.
    let _idle = TcpStream::connect(place[7..].split('/').next().unwrap()).unwrap();
    assert!(get(&back).1.contains("You are signed in"));
    agent.end("1");
    await_state(&mut agent, "ready");
    // The code of this sign-in, replayed in another one, is worth nothing.
    let used = query.split('&').find(|part| part.starts_with("code=")).unwrap().to_owned();
    let other = Setup::on(&fake).rules(ALLOWED).config(&peer.config());
    fake.extend([Turn::text("hi")]);
    let mut agent = other.start();
    hello(&mut agent);
    let asked = self::asked(&mut agent, "1");
    let back = sent_back(&address(&asked));
    let fresh = back.split(['?', '&']).find(|part| part.starts_with("code=")).unwrap();
    let replayed = back.replace(fresh, &used);
    assert!(get(&replayed).1.contains("The sign-in has failed"));
    agent.end("1");
    let text = await_state(&mut agent, "failed");
    assert!(text.contains("has refused a token (invalid_grant)"), "{text}");
    assert!(!text.contains(&used["code=".len()..]), "{text}");
}

#[test]
fn tokens_are_neither_sent_elsewhere_nor_shown() {
    for ways in ["away", "echo", "refuses"] {
        let peer = Peer::start(&[ways]);
        let fake = Messages::start([Turn::text("hi")]);
        let mut agent = peer.setup(&fake).start();
        hello(&mut agent);
        let asked = asked(&mut agent, "1");
        sign_in(&address(&asked));
        agent.end("1");
        let text = await_state(&mut agent, "failed");
        peer.assert_tokens_stayed();
        let all = format!("{text}{}", log(agent));
        let tokens = peer.seen().into_iter().filter_map(|[_, _, token]| token);
        let tokens: Vec<String> = tokens.collect();
        assert!(!tokens.is_empty());
        for token in tokens {
            assert!(!all.contains(&token["Bearer ".len()..]), "{all}");
        }
        if ways == "refuses" {
            assert!(text.contains("it refuses this sign-in"), "{text}");
        }
    }
}

#[test]
fn a_project_that_nobody_agreed_to_gets_no_token() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([Turn::text("hi"), Turn::text("ho")]);
    let setup = peer.setup(&fake);
    let mut agent = setup.start();
    hello(&mut agent);
    get_ready(&mut agent, "1");
    drop(agent);
    // The same server, named by a project.
    let project = json!({"mcpServers": {"theirs": {"url": peer.url}}});
    let setup = setup.config("").file(".mcp.json", project.to_string());
    let before = peer.seen().len();
    let mut agent = setup.start();
    agent.hello_with(&["question", "permission", "notice"]);
    agent.say("1", "hello");
    let question = agent.until("1", "permission_request")["data"].clone();
    assert_eq!(question["toolId"], "use_mcp_servers");
    let deny = json!({"id": "p", "kind": "permission_answer", "question": question["question"],
        "decision": "deny"});
    assert_eq!(agent.ask(&deny)["type"], "done");
    agent.end("1");
    assert_eq!(peer.seen().len(), before + 1);
    let denied = run(setup.program(&["mcp", "login", "theirs"]), DEADLINE);
    assert_eq!(denied.status.code(), Some(1), "{}", denied.stderr);
    assert!(denied.stderr.contains("nobody has agreed to this folder's .mcp.json"));
    // With the person's agreement, it is the same server.
    drop(agent);
    let mut agent = setup.start();
    agent.hello_with(&["question", "permission", "notice"]);
    agent.say("2", "hello");
    let question = agent.until("2", "permission_request")["data"]["question"].clone();
    let allow =
        json!({"id": "p", "kind": "permission_answer", "question": question, "decision": "allow"});
    assert_eq!(agent.ask(&allow)["type"], "done");
    agent.end("2");
    await_state(&mut agent, "ready");
}

#[test]
fn a_plain_front_end_reads_the_question_and_answers_with_a_message() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([Turn::text("hi")]);
    let mut agent = peer.setup(&fake).start();
    agent.say("1", "hello");
    let mut text = String::new();
    while !text.contains("Your next message is the answer") || !text.contains("hi") {
        text += agent.until("1", "token")["token"].as_str().unwrap();
    }
    let at = text.find(&peer.issuer).unwrap();
    let address: String = text[at..].chars().take_while(|c| !c.is_whitespace()).collect();
    agent.say("2", "yes");
    assert_eq!(agent.end("2")["type"], "done");
    assert_eq!(agent.end("1")["type"], "done");
    assert!(sign_in(&address).contains("You are signed in"));
    fake.extend([whoami(), Turn::text("done")]);
    agent.say("3", "who am I?");
    agent.end("3");
    assert_eq!(fake.last().tool_results()[0].text, "whoami: read");
}

#[test]
fn the_chat_shows_the_whole_address() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([Turn::text("hi there")]);
    let setup = peer.setup(&fake);
    let mut chat = Chat::start(&setup, 100);
    chat.say("hello");
    chat.see("The MCP server `far` wants you to sign in at 127.0.0.1");
    chat.see("hi there");
    chat.see("It asks you to visit");
    let screen: String = chat.text().split_whitespace().collect();
    let begin = screen.find(&peer.issuer).unwrap();
    assert!(screen[begin..].contains("&resource=http%3A%2F%2F127.0.0.1"), "{screen}");
    assert!(screen[begin..].contains("&scope=read"), "{screen}");
    chat.press_until("decline\r", "nobody has signed in to it");
    chat.quit();
}

#[test]
fn commands_list_servers_and_sign_in_and_out() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([]);
    let setup = peer.setup(&fake);
    let list = || run(setup.program(&["mcp", "list"]), DEADLINE).stdout;
    let wanted = format!("far: {}, wants you to sign in: callgate mcp login far\n", peer.url);
    assert_eq!(list(), wanted);
    let mut login = Piped::spawn(setup.program(&["mcp", "login", "far"]));
    let address = loop {
        let line = login.recv_line_or_end().unwrap();
        if line.trim().starts_with(&peer.issuer) {
            break line.trim().to_owned();
        }
    };
    assert!(sign_in(&address).contains("You are signed in"));
    assert!(login.wait_exit(DEADLINE).success(), "{}", login.stderr());
    let signed_in =
        format!("far: {}, signed in by {}, kept in a private file\n", peer.url, peer.issuer);
    assert_eq!(list(), signed_in);
    let json = run(setup.program(&["mcp", "list", "--json"]), DEADLINE).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["name"], &json["state"]), (&json!("far"), &json!("signed_in")));
    fake.extend([whoami(), Turn::text("done")]);
    let mut agent = setup.start();
    agent.say("1", "who am I?");
    agent.end("1");
    assert_eq!(fake.last().tool_results()[0].text, "whoami: read");
    let out = run(setup.program(&["mcp", "logout", "far"]), DEADLINE);
    assert!(out.stdout.starts_with("You are signed out of `far`."), "{}", out.stdout);
    assert_eq!(list(), wanted);
    let again = run(setup.program(&["mcp", "logout", "far"]), DEADLINE);
    assert_eq!(again.stdout, "You were not signed in to `far`.\n");
    let unknown = run(setup.program(&["mcp", "login", "near"]), DEADLINE);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(unknown.stderr.contains("there is no MCP server `near`"), "{}", unknown.stderr);
    drop(peer.piped);
}

/// A real server with a real authorization server, which were written without us.
#[test]
fn a_person_signs_in_to_fastmcp() {
    let Some(python) = tools::fastmcp() else { return };
    let server = HttpServer::run(
        &python,
        "import sys\n\
         from fastmcp import FastMCP\n\
         from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider\n\
         from mcp.server.auth.settings import ClientRegistrationOptions\n\
         port = int(sys.argv[1])\n\
         options = ClientRegistrationOptions(enabled=True, valid_scopes=['read'])\n\
         auth = InMemoryOAuthProvider(base_url=f'http://127.0.0.1:{port}', \
         client_registration_options=options, required_scopes=['read'])\n\
         server = FastMCP('private', auth=auth)\n\
         @server.tool\n\
         def greet(name: str) -> str:\n    \
         return f'Hello {name}'\n\
         server.run(transport='http', host='127.0.0.1', port=port, show_banner=False)\n",
    );
    let fake = Messages::start([
        Turn::text("hi"),
        Turn::tool_use("mcp__far__greet", json!({"name": "Ada"})),
        Turn::text("done"),
    ]);
    let config =
        format!("[agent.mcp_servers.far]\nurl = \"http://127.0.0.1:{}/mcp\"\n", server.port);
    let mut agent = Setup::on(&fake).rules(ALLOWED).config(&config).start();
    hello(&mut agent);
    get_ready(&mut agent, "1");
    agent.say("2", "greet");
    agent.end("2");
    assert_eq!(fake.last().tool_results()[0].text, "Hello Ada");
}
