//! Attacks on the page: by what agents write, and by other sites in the same browser.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use callgate_testkit::browser::Browser;
use callgate_testkit::page;
use serde_json::{Value, json};

use crate::fixture::{Hook, Stage, bash, permission};
use crate::stage::{desk_with_page, desk_with_rules, wait_until_live};

const MARKUP: &str = "<img src=x onerror='window.taken=1'>";

#[test]
fn nothing_that_an_agent_writes_runs_in_the_page() {
    let Some((desk, browser)) = desk_with_page() else { return };
    page::markup_is_only_text(&desk, &browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn nothing_in_a_rule_runs_in_the_page() {
    let rules = format!(
        "[[rule]]\nname = \"named {MARKUP}\"\ndecide = \"ask\"\npath = \"**/{MARKUP}\"\n\
         reason = \"because {MARKUP}\"\n\n\
         [[rule]]\nname = \"all {MARKUP}\"\ndecide = \"ask\"\ncommand = \"make\"\n\
         reason = \"of all {MARKUP}\"\n"
    );
    let Some((desk, browser)) = desk_with_rules(&rules) else { return };
    let hook = desk.hook(&bash("make all"));
    page::show(&browser, "make all");
    browser.wait_for_text(".why:not(.narrow-only)", &format!("of all {MARKUP}"));
    browser.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    for (place, text) in
        [("#/rules", "because"), ("#/rules/edit", "named"), ("#/history", "make all")]
    {
        let _ = browser.run("location.hash = arguments[0]", &json!([place]));
        browser.wait_for(
            place,
            &format!(
                "const view = document.querySelector('[data-view]');
                return view.innerText.includes({text:?})
                    || view.querySelector('textarea')?.value.includes({text:?})"
            ),
        );
    }
    let _ = browser.run("location.hash = '#/rules'", &json!([]));
    browser.wait_for_text("[data-rule]", MARKUP);
    browser.fill("[data-explain]", "make all");
    browser.wait_for_text("[data-verdict]", MARKUP);
    assert_eq!(browser.run("return window.taken === undefined", &json!([])), true);
    assert_eq!(browser.count("img[src=x]"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Characters that turn text around, are not seen or move a terminal's cursor.
const ODD: &str = "\u{202e}gnp\u{200b}\u{1b}[2J\u{2066}";

#[test]
fn no_character_of_an_agent_changes_how_the_page_reads() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let plan = format!(
        "# Read {ODD}\n\n<details><summary>a</summary>b</details>\n\n<!-- c -->\n\n`{ODD}`\n"
    );
    let mut asked = [
        ("Bash", json!({ "command": format!("echo \"אבג {ODD}\" && rm -rf /tmp/{ODD}ملف") })),
        ("Write", json!({ "file_path": format!("/home/ada/engine/{ODD}.rs"), "content": ODD })),
        ("ExitPlanMode", json!({ "plan": plan })),
        ("mcp__git__read", json!({ "of": ODD, "number": 12_345_678_901_234_567_890_u64 })),
    ]
    .map(|(tool, input)| permission(tool, &input));
    for input in &mut asked {
        input["cwd"] = json!(format!("/home/ada/{ODD}{MARKUP}"));
        input["session_id"] = json!(format!("{MARKUP}{ODD}"));
    }
    let hooks: Vec<Hook> = asked.iter().map(|input| desk.hook(input)).collect();
    browser.wait_for("all", "return document.querySelectorAll('.question-row').length === 4");
    let listed =
        "return [...document.querySelectorAll('.question-row')].map(row => row.dataset.question)";
    let ids = browser.run(listed, &json!([]));
    let places =
        ids.as_array().unwrap().iter().map(|id| format!("#/inbox/{}", id.as_str().unwrap()));
    for place in places.chain(["#/sessions", "#/history"].map(str::to_owned)) {
        let _ = browser.run("location.hash = arguments[0]", &json!([place]));
        let id = place.trim_start_matches("#/inbox/");
        browser.wait_for(
            &place,
            &format!(
                "return document.querySelector('.card[data-question=\"{id}\"] .answer-bar .button')
                    ?? [...document.querySelectorAll('[data-session], .history-row')].at(0)"
            ),
        );
        let _ = browser
            .run("document.querySelector('.card .whole')?.setAttribute('open', '')", &json!([]));
        // A tooltip is read, too.
        let odd = browser.run(
            "const seen = document.body.innerText
                + [...document.querySelectorAll('[title]')].map(node => node.title).join('');
            return [...'\\u202e\\u200b\\u001b\\u2066'].filter(one => seen.includes(one)).length",
            &json!([]),
        );
        assert_eq!(odd, 0, "{place}: {}", browser.text("body"));
        assert_eq!(browser.count("img[src=x], .plan details, .plan summary"), 0, "{place}");
    }
    assert_eq!(browser.run("return window.taken === undefined", &json!([])), true);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    drop(hooks);
}

/// Serves an empty page of another site, for as long as the test runs. Returns its port.
fn other_site() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let body = "<!doctype html><title>Another site</title><body></body>";
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n{body}",
                body.len()
            );
            // Each on its own, because a browser opens connections that it does not use.
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(head.as_bytes()));
            });
        }
    });
    port
}

/// The press that an attacker wants.
fn press(question: &str) -> String {
    json!({ "id": "1", "kind": "press", "request_id": question, "action": "allow" }).to_string()
}

/// Tries to answer a question from the site that the browser shows, with every kind of request that
/// a page can send to another one.
fn attack(browser: &Browser, page: &str, question: &str, key: &str) {
    let arguments = json!([page, press(question), key]);
    let fetched = browser.run_async(
        "const [page, body, key, done] = arguments;
        const send = (options) => fetch(page + 'api/desk', { method: 'POST', body, ...options })
            .then(answer => `answered ${answer.type}`, () => 'refused');
        const json = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
        Promise.all([
            send({ headers: json }),
            send({ headers: { 'Content-Type': 'text/plain' } }),
            send({ mode: 'no-cors', credentials: 'include' }),
            fetch(page + 'api/events', { headers: { Authorization: `Bearer ${key}` } })
                .then(() => 'answered', () => 'refused'),
            fetch(page + 'ui/app.js').then(() => 'answered', () => 'refused'),
        ]).then(done);",
        &arguments,
    );
    assert_eq!(fetched, json!(["refused", "refused", "refused", "refused", "refused"]));
    let framed = browser.run_async(
        "const [page, body, key, done] = arguments;
        const image = new Image();
        const frame = document.createElement('iframe');
        let left = 2;
        const settle = () => --left || done(frame.contentWindow.length);
        image.onload = image.onerror = settle;
        frame.onload = settle;
        image.src = `${page}api/desk?${new URLSearchParams(JSON.parse(body))}`;
        frame.src = page;
        document.body.append(image, frame);",
        &arguments,
    );
    assert_eq!(framed, 0);
    let told = browser.complaints().join("\n");
    assert!(told.contains("frame-ancestors"), "the page can be framed: {told}");
    let _ = browser.run(
        "const [page, body] = arguments;
        const form = document.createElement('form');
        Object.assign(form, { method: 'post', enctype: 'text/plain', action: page + 'api/desk' });
        const field = document.createElement('input');
        const at = body.indexOf(',');
        Object.assign(field, { name: body.slice(0, at) + ',\"x\":\"', value: '\"' + body.slice(at) });
        form.append(field);
        document.body.append(form);
        form.submit();",
        &arguments,
    );
    browser.wait_for_text("body", "error");
}

#[test]
fn another_site_in_the_same_browser_decides_nothing() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let hook = desk.hook(&bash("make trouble"));
    page::show(&browser, "make trouble");
    let address = browser.run("return location.origin + '/'", &json!([]));
    let address = address.as_str().unwrap().to_owned();
    let key = browser.run("return localStorage.getItem('callgate.key')", &json!([]));
    let key = key.as_str().unwrap().to_owned();
    let question = desk.id_of("make trouble");
    let port = other_site();
    for site in [format!("http://127.0.0.1:{port}/"), format!("http://attacker.example:{port}/")] {
        browser.open(&site);
        let stored = browser.run("return localStorage.length", &json!([]));
        assert_eq!(stored, 0, "the key is in the storage of another port");
        attack(&browser, &address, &question, &key);
    }
    other_names(&browser, &address, &question, &key);
    // Nothing of all that has decided anything.
    browser.open(&address);
    wait_until_live(&browser);
    page::show(&browser, "make trouble");
    assert_eq!(pressed(&desk), Vec::<Value>::new());
    browser.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
}

/// Opens the host by other names and methods than those of the page.
fn other_names(browser: &Browser, address: &str, question: &str, key: &str) {
    let port = address.trim_end_matches('/').rsplit(':').next().unwrap();
    // A name that now leads to this machine: the browser takes it for the attacker's own site.
    browser.open(&format!("http://rebound.example:{port}/"));
    browser.wait_for_text("body", "127.0.0.1 and localhost only");
    // A link that a person follows is a GET.
    browser.open(&format!("{address}api/desk?request_id={question}&action=allow&key={key}"));
    browser.wait_for_text("body", "error");
    // The key counts at the origin alone at which the page was paired.
    browser.open(&format!("http://localhost:{port}/"));
    browser.wait_for("it asks for a code", "return document.querySelector('[data-view=pair]')");
    let _ = browser.run("localStorage.setItem('callgate.key', arguments[0])", &json!([key]));
    browser.reload();
    browser.wait_for("it asks again", "return document.querySelector('[data-view=pair]')");
    let kept = browser.run("return localStorage.getItem('callgate.key')", &json!([]));
    assert_eq!(kept, Value::Null, "a key that is not accepted is forgotten");
}

/// The presses in the ledger.
fn pressed(desk: &Stage) -> Vec<Value> {
    let entries = desk.entries().into_iter().filter(|entry| entry.kind == "pressed");
    entries.map(|entry| serde_json::from_str(&entry.body).unwrap()).collect()
}

#[test]
fn no_file_holds_what_opens_the_page() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let key = browser.run("return localStorage.getItem('callgate.key')", &json!([]));
    let key = key.as_str().unwrap().to_owned();
    assert_eq!(key.len(), 64);
    assert_eq!(browser.run("return document.cookie + location.hash", &json!([])), "");
    let mut folders = vec![desk.home.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains(&key), "{} holds the key", path.display());
            }
        }
    }
}
