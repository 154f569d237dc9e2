//! The browser that tests drive: what it sees, clicks and types.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use callgate_testkit::browser::Browser;
use serde_json::json;

const PAGE: &str = "<!doctype html><title>t</title><body>\
    <button id=b onclick=\"this.textContent = 'pressed'; console.warn('careful')\">press</button>\
    <input id=i><p id=p></p>\
    <script>document.onkeydown = event => p.textContent += event.key</script>";

#[test]
fn a_test_sees_clicks_and_types_as_a_person_does() {
    let Some(browser) = Browser::start(360, 640) else { return };
    browser.open(&serve(PAGE));
    assert_eq!(browser.run("return innerWidth", &json!([])), 360);
    assert_eq!(browser.text("#b"), "press");
    browser.click("#b");
    browser.wait_for_text("#b", "pressed");
    assert!(browser.complaints().iter().any(|line| line.contains("careful")));
    browser.press_keys("jk");
    browser.wait_for_text("#p", "jk");
    browser.fill("#i", "words");
    assert_eq!(browser.run("return i.value + arguments[0]", &json!(["!"])), "words!");
    browser.prefer_dark(true);
    assert_eq!(
        browser.run("return matchMedia('(prefers-color-scheme: dark)').matches", &json!([])),
        true
    );
    assert!(browser.picture().len() > 1000);
    assert_eq!(browser.count("button"), 1);
}

/// Serves one page to everybody, and returns its address.
fn serve(page: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let length = page.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all((head + page).as_bytes());
        }
    });
    address
}
