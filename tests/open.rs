//! The page of `callgate up`, and the links that open it.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use callgate_testkit::process::{DEADLINE, Finished, run};
use callgate_testkit::script::write_program;
use callgate_testkit::terminal::Terminal;
use callgate_testkit::test_home::TestHome;
use callgate_testkit::until::until_or;

const CALLGATE: &str = env!("CARGO_BIN_EXE_callgate");

struct Home {
    home: TestHome,
}

impl Home {
    fn new() -> Self {
        let home = TestHome::new();
        // It stands in for the desktop's: it notes what it is to open.
        let opener = format!("#!/bin/sh\necho \"$@\" >> '{}'\n", home.text_path("opened"));
        write_program(&home.path("bin/xdg-open"), &opener);
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    fn callgate(&self, arguments: &[&str], has_display: bool) -> Command {
        let mut command = self.home.command(CALLGATE, arguments);
        command.env("CALLGATE_SOCKET", self.path("ask.sock"));
        command.env("CALLGATE_DESK_SOCKET", self.path("desk.sock"));
        command.env("CALLGATE_PAGE_PORT", "0").env("PATH", self.path("bin"));
        if has_display {
            command.env("DISPLAY", ":99");
        }
        command
    }

    fn up(&self, has_display: bool) -> Terminal {
        let terminal = Terminal::spawn(&self.callgate(&["up"], has_display));
        terminal.wait_for("\u{1b}[?2004h");
        terminal
    }

    fn run(&self, arguments: &[&str], has_display: bool) -> Finished {
        run(self.callgate(arguments, has_display), DEADLINE)
    }

    /// The address that other programs find.
    fn address(&self) -> String {
        let file = self.path("desk.sock.page");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::read_to_string(file).unwrap().trim_end().to_owned()
    }

    /// The address that the browser was to open.
    fn opened(&self) -> String {
        self.home.text("opened")
    }

    fn until(&self, what: &str, is_so: impl FnMut() -> bool) {
        until_or(|| format!("{what}: {:?}", self.opened()), is_so);
    }
}

/// Returns the code of the last link in a text.
fn code_in(text: &str) -> String {
    let (_, rest) = text.rsplit_once("#code=").unwrap();
    rest.chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// Pairs as the page does, and returns the status.
fn pair(address: &str, code: &str) -> u16 {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let port = host.rsplit_once(':').unwrap().1.parse().unwrap();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let body = format!(r#"{{"code":"{code}","name":"A page"}}"#);
    let head = format!(
        "POST /api/pair HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_fresh_desk_opens_the_page_once_and_shows_a_code_in_its_terminal_only() {
    let home = Home::new();
    let mut desk = home.up(true);
    desk.wait_for("Your browser opens it");
    let address = home.address();
    home.until("the browser is started", || home.opened().ends_with('\n'));
    assert_eq!(home.opened(), format!("{address}\n"), "a command line is readable");
    let shown = desk.written();
    assert!(shown.contains(&format!("The page is at {address}: the key o ")), "{shown}");
    assert_eq!(pair(&address, &code_in(&shown)), 200);
    assert_eq!(pair(&address, &code_in(&shown)), 403, "a code can be used once");
    desk.press("\u{3}");
    assert!(desk.end().success());
    assert!(!home.path("desk.sock.page").exists(), "the address goes with the page");

    let mut again = home.up(true);
    again.press("\u{3}");
    assert!(again.end().success());
    assert_eq!(home.opened().lines().count(), 1, "it opens by itself once");
}

#[test]
fn the_key_o_prints_a_new_link() {
    let home = Home::new();
    let mut desk = home.up(false);
    assert!(!desk.written().contains("#code="), "{}", desk.written());
    desk.press("o");
    desk.wait_for("#code=");
    let line = format!(" one browser:\r\n  {}#code=", home.address());
    assert!(desk.written().contains(&line), "a link has a line of its own: {}", desk.written());
    let first = code_in(&desk.written());
    assert_eq!(pair(&home.address(), &first), 200);
    // A held key prints no second link within a second.
    desk.press_until("o", |written| code_in(written) != first);
    assert_eq!(pair(&home.address(), &code_in(&desk.written())), 200);
    assert_eq!(home.opened(), "", "without a screen there is no browser");
    desk.press("\u{3}");
    assert!(desk.end().success());
}

#[test]
fn the_command_open_prints_a_link_and_needs_a_yes() {
    let home = Home::new();
    let none = home.run(&["open"], true);
    assert_eq!(none.status.code(), Some(1));
    assert!(none.stderr.contains("start one with `callgate up`"), "{}", none.stderr);

    let mut desk = home.up(false);
    // Nobody was ever linked, so the first one needs no yes.
    let first = home.run(&["open", "--no-browser"], true).success().stdout;
    assert!(first.contains(&format!("{}#code=", home.address())), "{first}");
    assert_eq!(home.opened(), "");
    assert_eq!(pair(&home.address(), &code_in(&first)), 200);

    let second = home.callgate(&["open"], true);
    let waits = thread::spawn(move || run(second, DEADLINE));
    desk.wait_for("asks for a code");
    desk.press_until("a", |_| waits.is_finished());
    let second = waits.join().unwrap().success().stdout;
    let code = code_in(&second);
    assert!(second.contains(&format!("the code is {code}\n")), "{second}");
    home.until("the browser is started", || home.opened().ends_with('\n'));
    assert_eq!(home.opened(), format!("{}\n", home.address()));
    assert_eq!(pair(&home.address(), &code), 200);
    desk.press("\u{3}");
    assert!(desk.end().success());
}

#[test]
fn the_page_can_be_turned_off() {
    let home = Home::new();
    let mut command = home.callgate(&["up", "--page-enabled", "false"], true);
    command.env("CALLGATE_PAGE_PORT", "").env("PATH", std::env::var_os("PATH").unwrap());
    let mut desk = Terminal::spawn_sized(&command, 80, 24);
    desk.wait_for("\u{1b}[?2004h");
    assert!(!desk.written().contains("The page"), "{}", desk.written());
    let shown = desk.written();
    let banner = shown.split('\u{1b}').next().unwrap();
    assert!(banner.contains("\nNext: `") && banner.contains("\r\n  "), "{banner}");
    for line in banner.lines().filter(|line| line.contains(' ') && !line.contains('/')) {
        assert!(line.chars().count() <= 80, "{line:?} was not broken between words");
    }
    let open = home.run(&["open"], true);
    assert!(open.stderr.contains("`callgate up` serves no page"), "{}", open.stderr);
    assert!(!home.path("desk.sock.page").exists() && home.opened().is_empty());
    desk.press("\u{3}");
    assert!(desk.end().success());
}
