//! Signing in from a plain front end, the chat and the command line, and to a real server.

use super::*;

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

/// Signs in with `callgate mcp login`.
fn log_in(setup: &Setup, peer: &Peer) {
    let mut login = Piped::spawn(setup.program(&["mcp", "login", "far"]));
    let address = loop {
        let line = login.recv_line_or_end().unwrap();
        if line.trim().starts_with(&peer.issuer) {
            break line.trim().to_owned();
        }
    };
    assert!(sign_in(&address).contains("You are signed in"));
    assert!(login.wait_exit(DEADLINE).success(), "{}", login.stderr());
}

/// Stands for the program that reaches the keyring. It fails while there is a file `broken`.
const SECRET_TOOL: &str = "\
cd \"${0%/*}\"
if [ -e broken ]; then echo 'secret-tool: Cannot autolaunch D-Bus' >&2; exit 1; fi
case $1 in store) cat > kept ;; lookup) cat kept ;; clear) rm -f kept ;; esac";

#[test]
fn signing_out_removes_the_tokens_that_an_earlier_sign_in_left_in_the_keyring() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([]);
    let setup = peer.setup(&fake).script("bin/secret-tool", SECRET_TOOL);
    let bin = setup.work().join("bin");
    let setup = setup.env("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    let list = || run(setup.program(&["mcp", "list"]), DEADLINE).stdout;
    log_in(&setup, &peer);
    assert!(list().contains("kept in the keyring"), "{}", list());
    fs::write(bin.join("broken"), "").unwrap();
    log_in(&setup, &peer);
    assert!(list().contains("kept in a private file"), "{}", list());
    fs::remove_file(bin.join("broken")).unwrap();
    assert!(bin.join("kept").exists(), "nobody could remove it");
    let out = run(setup.program(&["mcp", "logout", "far"]), DEADLINE);
    assert!(out.stdout.starts_with("You are signed out of `far`."), "{}", out.stdout);
    assert!(!bin.join("kept").exists());
}

#[test]
fn commands_list_servers_and_sign_in_and_out() {
    let peer = Peer::start(&[]);
    let fake = Messages::start([]);
    let setup = peer.setup(&fake);
    let list = || run(setup.program(&["mcp", "list"]), DEADLINE).stdout;
    let wanted = format!("far: {}, wants you to sign in: callgate mcp login far\n", peer.url);
    assert_eq!(list(), wanted);
    log_in(&setup, &peer);
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
