//! `callgate pair` as a user runs it: with a daemon, and a phone.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, Finished, Group, Piped, run};
use callgate_testkit::telegram::{BOT_NAME, Message, Telegram};
use callgate_testkit::terminal::Terminal;
use callgate_testkit::test_home::TestHome;
use qrcodegen::{QrCode, QrCodeEcc};
use rustix::process::Signal;

const ADA: i64 = 7;
const TEAM: i64 = -100;

/// A home with settings, and perhaps a daemon and a phone.
struct Home {
    base: TestHome,
    phone: Telegram,
    daemon: Option<Group>,
}

impl Home {
    /// With these settings under `[telegram]`.
    fn new(telegram: &str) -> Self {
        let phone = Telegram::start();
        phone.add_private(ADA, "Ada");
        phone.add_group(TEAM, "Team");
        let home = Self { base: TestHome::new(), phone, daemon: None };
        home.base.write_private("token", home.phone.token());
        home.set(telegram);
        home
    }

    fn set(&self, telegram: &str) {
        let socket = self.text_path("ask.sock");
        self.base.write_settings(&format!("socket = {socket:?}\n[telegram]\n{telegram}\n"));
    }

    /// With a bot, and a daemon that serves it.
    fn with_phone() -> Self {
        let mut home = Self::new("");
        home.set(&home.bot());
        home.up();
        home
    }

    fn bot(&self) -> String {
        format!("token_file = {:?}\napi_url = {:?}\n", self.text_path("token"), self.phone.url())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path(name)
    }

    fn text_path(&self, name: &str) -> String {
        self.base.text_path(name)
    }

    fn callgate(&self, arguments: &[&str]) -> Command {
        self.base.command(env!("CARGO_BIN_EXE_callgate"), arguments)
    }

    fn up(&mut self) {
        self.daemon = Some(self.base.start_desk(self.callgate(&["up", "--no-terminal"])));
    }

    fn down(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        daemon.signal(Signal::TERM);
        assert!(daemon.wait(DEADLINE).unwrap().success());
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.callgate(arguments), DEADLINE)
    }

    /// What it prints when it does what it should.
    fn does(&self, arguments: &[&str]) -> String {
        self.run(arguments).success().stdout
    }

    /// What it says when it does not.
    fn fails(&self, arguments: &[&str]) -> String {
        let Finished { status, stdout, stderr, .. } = self.run(arguments);
        assert_eq!((status.code(), stdout.as_str()), (Some(1), ""), "{stderr}");
        stderr
    }

    /// Ada says yes or no to the question on her phone that has this text.
    fn answers(&self, text: &str, button: &str) {
        let message = self.phone.wait_for(text, |seen| {
            let is_it = |message: &&Message| {
                message.shape.text.contains(text) && !message.shape.buttons.is_empty()
            };
            seen.chat(ADA).find(is_it).map(|message| message.id)
        });
        self.phone.press(ADA, ADA, message, button);
    }

    /// Takes a link back, with Ada's yes.
    fn removes(&self, who: &str, whom: &str) -> String {
        let mut remove = Piped::spawn(self.callgate(&["pair", "--remove", who]));
        self.answers(&format!("asks to unlink {whom}"), "Allow");
        assert!(remove.wait_exit(DEADLINE).success(), "{}", remove.stderr());
        assert!(
            remove.stderr().contains("Waiting for somebody to allow it ..."),
            "{}",
            remove.stderr()
        );
        remove.recv_line()
    }

    /// A `pair` that waits, and its code, once Ada has said yes.
    fn pair_after_yes(&self) -> (Piped, String) {
        let pair = Piped::spawn(self.callgate(&["pair"]));
        self.answers("asks for a code", "Allow");
        Self::code_of(pair)
    }

    /// A `pair` that waits, and its code.
    fn pair(&self) -> (Piped, String) {
        Self::code_of(Piped::spawn(self.callgate(&["pair"])))
    }

    fn code_of(mut pair: Piped) -> (Piped, String) {
        let mut code = None;
        loop {
            let line = pair.recv_line();
            if let Some(rest) = line.strip_prefix("    /pair ") {
                code = Some(rest.to_owned());
            }
            if line.starts_with("Waiting") {
                return (pair, code.unwrap());
            }
        }
    }
}

#[test]
fn a_phone_is_linked_listed_and_taken_back() {
    let home = Home::with_phone();
    let mut pair = Piped::spawn(home.callgate(&["pair"]));
    let mut lines: Vec<String> = (0..4).map(|_| pair.recv_line()).collect();
    let code = lines[1].split_off("    /pair ".len());
    assert_eq!(code.len(), 8, "{lines:?}");
    assert!(lines[0].starts_with(&format!("Send this to @{BOT_NAME} on Telegram, ")), "{lines:?}");
    assert_eq!(lines[2], format!("    https://t.me/{BOT_NAME}?start={code}"));
    assert!(lines[3].starts_with("Waiting for it ... It can be used once, within 10 minutes"));
    // As the link does it.
    home.phone.send(ADA, ADA, &format!("/start {code}"));
    assert_eq!(pair.recv_line(), "Linked: Ada");
    assert!(pair.wait_exit(DEADLINE).success());
    assert_eq!(home.does(&["pair", "--list"]), "chat/7  Ada\n");

    let (mut pair, code) = home.pair_after_yes();
    home.phone.send(TEAM, ADA, &format!("/pair {code}"));
    assert_eq!(pair.recv_line(), "Linked: Ada");
    assert_eq!(home.does(&["pair", "--list"]), "chat/-100  Ada\nchat/7     Ada\nuser/7     Ada\n");
    let several = home.fails(&["pair", "--remove", "Ada"]);
    assert_eq!(
        several,
        "callgate: Ada names several links: take one of chat/-100, chat/7, user/7\n"
    );
    let removed = home.removes("-100", "“Ada” (Telegram chat -100)");
    assert_eq!(removed, "Ada (chat/-100): The link is gone.");
    home.removes("user/7", "“Ada” (Telegram user 7, in groups)");
    home.removes("ada", "“Ada” (Telegram chat 7)");
    let nobody = "Nobody is linked. To link your phone: callgate pair\n";
    assert_eq!(home.does(&["pair", "--list"]), nobody);
    let gone = home.fails(&["pair", "--remove", "Ada"]);
    assert_eq!(gone, "callgate: nobody is linked as Ada: see `callgate pair --list`\n");
    home.phone.assert_nothing_refused();
}

/// In a terminal the link can be read by a phone's camera, too.
#[test]
fn a_terminal_shows_the_link_as_a_qr_code() {
    let home = Home::with_phone();
    let mut command = home.callgate(&["pair"]);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let small = Terminal::spawn_sized(&command, 80, 21);
    small.wait_for("Waiting for it");
    let needs = "A QR code does not fit: it needs a window of 33 columns and 22 rows.\r\n";
    assert!(small.written().starts_with(needs), "{}", small.written());
    assert!(!small.written().contains('█'), "{}", small.written());
    drop(small);
    let terminal = Terminal::spawn_sized(&command, 80, 24);
    terminal.wait_for("also in a group.\r\n");
    let shown = terminal.written();
    assert!(shown.lines().count() < 24, "the cursor has a row of its own:\n{shown}");
    let (_, rest) = shown.split_once("/pair ").unwrap();
    let code = rest.split_whitespace().next().unwrap();
    let link = format!("https://t.me/{BOT_NAME}?start={code}");
    let expected = QrCode::encode_text(&link, QrCodeEcc::Low).unwrap();
    let lines = shown.lines().filter_map(|line| line.strip_prefix("\u{1b}[38;5;16;48;5;231m"));
    let lines: Vec<Vec<char>> =
        lines.map(|line| line.split('\u{1b}').next().unwrap().chars().collect()).collect();
    // Two light modules are around it.
    for y in 0..expected.size() {
        for x in 0..expected.size() {
            let at = |position: i32| usize::try_from(position + 2).unwrap();
            let half = if at(y) % 2 == 0 { '▀' } else { '▄' };
            let is_dark = ['█', half].contains(&lines[at(y) / 2][at(x)]);
            assert_eq!(is_dark, expected.get_module(x, y), "{x} {y}\n{shown}");
        }
    }
    home.phone.send(ADA, ADA, &format!("/start {code}"));
    terminal.wait_for("Linked: Ada");
    assert!(terminal.end().success());
}

#[test]
fn a_second_phone_is_linked_only_with_a_yes() {
    let home = Home::with_phone();
    let (mut pair, code) = home.pair();
    home.phone.send(ADA, ADA, &format!("/pair {code}"));
    assert_eq!(pair.recv_line(), "Linked: Ada");
    let mut pair = Piped::spawn(home.callgate(&["pair"]));
    home.answers("asks for a code", "Deny");
    assert_eq!(pair.wait_exit(DEADLINE).code(), Some(1));
    let error = pair.stderr();
    assert!(error.contains("Somebody who is linked has to allow this"), "{error}");
    assert!(error.contains("Ada did not allow it."), "{error}");
    assert_eq!(home.does(&["pair", "--list"]), "chat/7  Ada\n");
}

#[test]
fn who_may_answer_by_the_settings_is_listed_and_stays() {
    let mut home = Home::new("");
    home.set(&format!("{}allowed_chats = [42]\n", home.bot()));
    home.up();
    let list = home.does(&["pair", "--list"]);
    let file = home.path(".config/callgate/config.toml");
    let place = format!("`telegram.allowed_chats` ({}:5:1", file.display());
    assert!(list.starts_with(&format!("chat/42  by {place}")), "{list}");
    let error = home.fails(&["pair", "--remove", "42"]);
    assert!(error.starts_with(&format!("callgate: 42 may answer by {place}")), "{error}");
}

#[test]
fn without_a_daemon_it_says_what_to_start() {
    let home = Home::new("");
    for arguments in [&["pair"][..], &["pair", "--list"], &["pair", "--remove", "Ada"]] {
        let error = home.fails(arguments);
        let socket = home.path(".local/share/callgate/desk.sock");
        let expected =
            format!("no desk listens at {}: start one with `callgate up`", socket.display());
        assert_eq!(error, format!("callgate: {expected}\n"));
    }
}

#[test]
fn without_a_bot_it_says_what_to_put_where() {
    let mut home = Home::new("");
    home.up();
    let error = home.fails(&["pair"]);
    for part in ["there is no Telegram bot yet", "send /newbot to @BotFather"] {
        assert!(error.contains(part), "{error}");
    }
    // What it says to run sets the token, which no command line shows.
    let (_, advised) = error.split_once("2. Run `").unwrap();
    let advised = advised.split_once('`').unwrap().0;
    assert!(advised.ends_with("callgate config set telegram.token --stdin"), "{error}");
    let file = home.path(".config/callgate/config.toml");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let mut shell = Command::new("/bin/sh");
    let script = format!("printf '%s\\n' \"$TOKEN\" | {advised}");
    shell.args(["-c", &script]).env_clear().env("TOKEN", home.phone.token());
    shell.env("HOME", home.base.folder());
    assert!(run(shell, DEADLINE).status.success());
    let settings = fs::read_to_string(file).unwrap();
    assert!(settings.contains(home.phone.token()), "{settings}");
    home.set(&home.bot());
    let error = home.fails(&["pair"]);
    assert!(error.contains("was started before the bot was in the settings"), "{error}");
}

#[test]
fn a_bot_that_does_not_work_is_told() {
    let mut home = Home::new("");
    fs::write(home.path("token"), "1:wrong").unwrap();
    home.set(&home.bot());
    home.up();
    let error = home.fails(&["pair"]);
    assert!(error.starts_with("callgate: Telegram does not work: "), "{error}");
    assert!(error.contains("the token is wrong or was revoked") && !error.contains("1:wrong"));
}

#[test]
fn a_newer_code_and_the_end_of_the_daemon_end_the_waiting() {
    let mut home = Home::with_phone();
    let (mut first, _) = home.pair();
    let (mut second, _) = home.pair();
    assert_eq!(first.wait_exit(DEADLINE).code(), Some(1));
    let error = first.stderr();
    assert!(error.contains("a newer code has been made, so this one is void"), "{error}");
    home.down();
    assert_eq!(second.wait_exit(DEADLINE).code(), Some(1));
    let error = second.stderr();
    assert!(error.contains("`callgate up` has ended, and the code with it"), "{error}");
}
