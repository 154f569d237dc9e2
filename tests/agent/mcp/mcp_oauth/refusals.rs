//! What is found out about a sign-in, what of it is refused, and where tokens never go.

use super::*;

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
