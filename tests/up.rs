//! The start of `callgate up`: where it serves, what it refuses, what it prints, and as a service.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::proc;
use callgate_testkit::process::{DEADLINE, Finished, Group, Piped, run};
use callgate_testkit::script::write_program;
use callgate_testkit::terminal::Terminal;
use callgate_testkit::test_home::TestHome;
use callgate_testkit::until::until_or;
use rustix::process::Signal;

const CALLGATE: &str = env!("CARGO_BIN_EXE_callgate");

/// A home in which nothing is configured, and a folder of the login.
struct Home {
    home: TestHome,
}

impl Home {
    fn new() -> Self {
        let home = TestHome::new();
        home.make_private_folder("run");
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(CALLGATE, arguments);
        command.env("XDG_RUNTIME_DIR", self.path("run"));
        // The real one is for the real desk on this machine.
        command.env("CALLGATE_LEGACY_SOCKET", self.path("legacy.sock"));
        command.env("PATH", self.path("bin"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.command(arguments), DEADLINE)
    }

    /// Starts the desk and returns it with the lines of its banner, but for the one about the page,
    /// whose port depends on who else is here.
    fn up(&self, lines: usize) -> (Piped, Vec<String>) {
        let mut up = Piped::spawn(self.command(&["up"]));
        let mut said: Vec<String> = (0..=lines).map(|_| up.recv_line()).collect();
        let page = said.remove(2);
        assert!(page.starts_with("The page is at http://127.0.0.1:"), "{page}");
        (up, said)
    }

    /// Every file and folder here, but for what the ledger's library keeps beside it.
    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.home.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                let is_ledgers = path.to_string_lossy().contains("callgate.db-");
                found.extend((!is_ledgers).then_some(path));
            }
        }
        found.sort();
        found
    }
}

fn ends(mut up: Piped) {
    up.signal(Signal::TERM);
    up.recv_end();
    assert!(up.wait_exit(DEADLINE).success(), "{}", up.stderr());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Asks as a client of the first contract does, and returns the line of the answer.
fn ask_plainly(socket: &Path) -> String {
    let question = concat!(
        r#"{"request_id":"6f1c9f0e-0d8e-4a3c-9f5e-0a8d2b7c1e11","tool_name":"Bash","#,
        r#""tool_input":{"command":"make"},"cwd":"/","session_id":"s","#,
        r#""permission_suggestions":[]}"#,
        "\n"
    );
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(question.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\n") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).unwrap();
        assert_ne!(count, 0, "no answer");
        answer.extend_from_slice(&bytes[..count]);
    }
    String::from_utf8(answer).unwrap()
}

#[test]
fn every_command_finds_the_desk_in_the_users_own_folder() {
    let home = Home::new();
    let (up, said) = home.up(3);
    let socket = home.path("run/callgate/ask.sock");
    assert_eq!(said[0], format!("callgate is up: agents ask at {}", socket.display()));
    assert_eq!((mode(&home.path("run/callgate")), mode(&socket)), (0o700, 0o600));
    // Nobody can be reached, which only the desk can have said.
    let asked = home.run(&["ask", "Deploy?"]);
    assert_eq!(asked.status.code(), Some(69), "{}", asked.stderr);
    assert!(asked.stderr.contains("nobody can be reached"), "{}", asked.stderr);
    assert!(ask_plainly(&home.path("legacy.sock")).contains(r#""decision":"timeout""#));
    let doctor = home.run(&["doctor"]).stdout;
    for line in [
        "run/callgate/ask.sock, the socket for hooks\n",
        "run/callgate/desk.sock, the socket for viewers\n",
        "legacy.sock, the socket for old clients\n",
    ] {
        assert!(doctor.contains(line), "{line}: {doctor}");
    }
    assert!(home.run(&["pair", "--list"]).success().stdout.starts_with("Nobody is linked."));
    let installed = home.run(&["install", "--agent", "claude"]).success().stdout;
    assert!(installed.contains(&format!("--socket {}", socket.display())), "{installed}");
    ends(up);
    assert!(!socket.exists() && !home.path("legacy.sock").exists());
}

/// Starts the desk without any setting, with a `/tmp` of its own: the home's folder `tmp`. The
/// program may be in the real one, so it is opened before that is out of sight.
const WITH_OWN_TMP: &str = r#"
    exec 9<"$1" && mount --bind "$2" /mnt && mount --bind /mnt/tmp /tmp &&
    cd /mnt && exec env -i HOME=/mnt XDG_RUNTIME_DIR=/mnt/run PATH=/bin /proc/self/fd/9 up
"#;

fn with_own_mounts(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command
}

#[test]
fn clients_of_the_first_contract_need_no_setting() {
    let probe = tempfile::tempdir().unwrap();
    let mut command = with_own_mounts("mount --bind \"$1\" /mnt");
    if !command.arg(probe.path()).status().is_ok_and(|status| status.success()) {
        eprintln!("this system gives no mount namespace, and the real path may be in use");
        return;
    }
    let home = Home::new();
    fs::create_dir(home.path("tmp")).unwrap();
    let legacy = home.path("tmp/vibe-reachout.sock");
    let start = || {
        let mut command = with_own_mounts(WITH_OWN_TMP);
        command.arg(CALLGATE).arg(home.home.folder()).stdin(Stdio::null());
        let mut up = Piped::spawn(command);
        assert_eq!(up.recv_line(), "callgate is up: agents ask at /mnt/run/callgate/ask.sock");
        up
    };
    let mut up = start();
    assert!(ask_plainly(&legacy).contains(r#""decision":"timeout""#));
    assert_eq!(mode(&legacy), 0o600);
    up.signal(Signal::TERM);
    assert!(up.wait_exit(DEADLINE).success(), "{}", up.stderr());
    assert!(!legacy.exists(), "it is removed with its desk");
    // Whatever else is there is left alone.
    fs::write(&legacy, "precious").unwrap();
    let mut up = start();
    up.signal(Signal::TERM);
    assert!(up.wait_exit(DEADLINE).success(), "{}", up.stderr());
    assert_eq!(fs::read_to_string(&legacy).unwrap(), "precious");
}

#[test]
fn a_second_desk_creates_nothing_and_says_which_process_is_the_first() {
    let home = Home::new();
    let (up, _) = home.up(3);
    let before = home.files();
    for arguments in [
        &["up"][..],
        &["up", "--database", "other/other.db", "--rules", "other/rules.toml"],
        &["up", "--socket", "other/ask.sock", "--database", "other/other.db"],
    ] {
        let second = home.run(arguments);
        assert_eq!(second.status.code(), Some(1), "{arguments:?}");
        let who = format!("another callgate (process {}) is already serving", up.pid());
        assert!(second.stderr.contains(&who), "{arguments:?}: {}", second.stderr);
        assert_eq!((home.files(), second.stdout), (before.clone(), String::new()), "{arguments:?}");
    }
    ends(up);
}

#[test]
fn a_folder_that_others_can_enter_is_refused() {
    let home = Home::new();
    fs::create_dir(home.path("run/callgate")).unwrap();
    fs::set_permissions(home.path("run/callgate"), PermissionsExt::from_mode(0o755)).unwrap();
    let before = home.files();
    let refused = home.run(&["up"]);
    assert_eq!(refused.status.code(), Some(1));
    let advice = format!("chmod 700 {}", home.path("run/callgate").display());
    assert!(refused.stderr.contains(&advice), "{}", refused.stderr);
    assert_eq!(home.files(), before);
}

#[test]
fn what_to_do_next_works_from_where_the_user_stands_and_ends_when_it_is_done() {
    let home = Home::new();
    // What an agent leaves behind once it has run.
    fs::create_dir(home.home.folder().join(".claude")).unwrap();
    let (up, said) = home.up(3);
    assert!(said[1].starts_with("Nobody can answer yet: "), "{said:?}");
    // It is not on the PATH.
    let install = format!("Next: `{CALLGATE} install` lets your agents ask here; ");
    let pair = format!("`{CALLGATE} pair` says how to set up a phone");
    assert!(said[2].starts_with(&install) && said[2].contains(&pair), "{said:?}");
    for advised in [format!("{CALLGATE} install"), format!("{CALLGATE} pair")] {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &advised]).env_clear().current_dir("/");
        command.env("HOME", home.home.folder()).env("XDG_RUNTIME_DIR", home.path("run"));
        let done = run(command, DEADLINE);
        let text = format!("{}{}", done.stdout, done.stderr);
        assert!(text.contains("changed ") || text.contains("@BotFather"), "{advised}: {text}");
    }
    ends(up);
    let (up, said) = home.up(4);
    assert!(said[2].starts_with("Claude Code starts in auto mode"), "{said:?}");
    assert_eq!(said[3], format!("Next: {pair}, or run `{CALLGATE} up` in a terminal."));
    ends(up);
}

/// A stand-in for `systemctl` that notes what it is asked, and says `status` of the service.
fn stand_in(home: &Home, status: i32) {
    let script = format!(
        "#!/bin/sh\necho \"$*\" >>\"$HOME/calls\"\n[ \"$2\" != is-active ] || exit {status}\n"
    );
    fs::create_dir_all(home.path("bin")).unwrap();
    write_program(&home.path("bin/systemctl"), &script);
    fs::remove_file(home.path("calls")).ok();
}

fn calls(home: &Home) -> Vec<String> {
    let calls = fs::read_to_string(home.path("calls")).unwrap_or_default();
    let unique = |call: &str| call.replace("--user ", "").replace(" callgate.service", "");
    calls.lines().map(unique).collect()
}

#[test]
fn the_service_is_set_up_and_removed() {
    let home = Home::new();
    let unit = home.path(".config/systemd/user/callgate.service");
    let none = home.run(&["up", "--service"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(none.stderr.contains("there is no `systemctl` here"), "{}", none.stderr);
    assert!(!unit.exists());

    // A desk that somebody runs by hand is in its way.
    let (up, _) = home.up(3);
    stand_in(&home, 3);
    let busy = home.run(&["up", "--service"]);
    let process = format!("runs already, as process {0}: stop it first with `kill {0}`", up.pid());
    assert!(busy.stderr.contains(&process) && !unit.exists(), "{}", busy.stderr);

    // With the service active, the desk that runs is its own.
    stand_in(&home, 0);
    let done = home.run(&["up", "--service", "--timeout-seconds", "60", "--rules", "my rules"]);
    let said = done.success().stdout;
    assert!(said.contains("callgate runs as a service, now and at every login: "), "{said}");
    assert!(said.contains("\nNobody can answer yet: "), "{said}");
    assert!(said.contains(&format!("\nNext: `{CALLGATE} pair` ")), "{said}");
    assert!(said.contains("what CALLGATE_LEGACY_SOCKET says into the settings file"), "{said}");
    assert!(said.ends_with(&format!("`{CALLGATE} up --service --remove`\n")), "{said}");
    assert_eq!(calls(&home), ["is-active", "daemon-reload", "enable", "restart"]);
    let text = fs::read_to_string(&unit).unwrap();
    let rules = home.path("my rules");
    let start = format!(
        "\nExecStart=\"{CALLGATE}\" \"up\" \"--no-terminal\" \"--timeout-seconds=60\" \
         \"--rules={}\"\n",
        rules.display()
    );
    assert!(text.contains(&start), "{text}");
    verify(&home, &unit);

    stand_in(&home, 0);
    let said = home.run(&["up", "--service", "--remove"]).success().stdout;
    assert!(said.contains("was stopped") && !unit.exists(), "{said}");
    assert_eq!(calls(&home), ["disable --now", "daemon-reload"]);
    let again = home.run(&["up", "--service", "--remove"]).success().stdout;
    assert!(again.starts_with("callgate has no service"), "{again}");
    ends(up);

    // One that somebody else has written stays.
    fs::write(&unit, "[Service]\nExecStart=/bin/true\n").unwrap();
    for arguments in [&["up", "--service"][..], &["up", "--service", "--remove"]] {
        let refused = home.run(arguments);
        assert_eq!(refused.status.code(), Some(1), "{}", refused.stdout);
        assert!(refused.stderr.contains("was not written by callgate"), "{}", refused.stderr);
    }
    assert!(fs::read_to_string(&unit).unwrap().contains("/bin/true"));
}

/// Has systemd itself read the unit.
#[allow(clippy::print_stderr, reason = "who runs the tests is told what was left out")]
fn verify(home: &Home, unit: &Path) {
    let analyze = Path::new("/usr/bin/systemd-analyze");
    if !analyze.exists() {
        assert!(std::env::var_os("CI").is_none(), "scripts/test installs systemd-analyze");
        eprintln!("skipped: there is no systemd-analyze");
        return;
    }
    let mut command = Command::new(analyze);
    command.args(["--user", "verify"]).arg(unit).env_clear();
    command.env("HOME", home.home.folder()).env("XDG_RUNTIME_DIR", home.path("run"));
    let verified = run(command, DEADLINE);
    assert!(verified.status.success(), "{}", verified.stderr);
    assert!(!verified.stderr.contains("callgate.service"), "{}", verified.stderr);
}

#[test]
fn a_service_that_does_not_answer_is_told() {
    let home = Home::new();
    stand_in(&home, 3);
    let failed = home.run(&["up", "--service"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(failed.stderr.contains("but it does not answer: see `journalctl"), "{}", failed.stderr);
}

/// Waits until something is so.
fn until(what: &str, terminal: &Terminal, is_so: impl FnMut() -> bool) {
    until_or(|| format!("{what}\n{:?}", terminal.written()), is_so);
}

/// The first letter of a process's state in /proc: T when it is stopped.
fn state(pid: u32) -> Option<char> {
    proc::read(pid).map(|process| process.state)
}

/// Ctrl-Z gives the terminal back to the shell, `bg` lets the desk serve without it, and `fg`
/// takes it again and shows what waits. Ctrl-C names what is left open.
#[test]
fn the_shell_has_the_terminal_while_the_desk_is_stopped() {
    let home = Home::new();
    let mut shell = Command::new("/bin/sh");
    shell.arg("-i").current_dir(home.home.folder()).env("PATH", std::env::var_os("PATH").unwrap());
    shell.env("HOME", home.home.folder()).env("XDG_RUNTIME_DIR", home.path("run"));
    shell.env("CALLGATE_LEGACY_SOCKET", "").env("PS1", "ready> ").env("ENV", "/dev/null");
    let mut terminal = Terminal::spawn(&shell);
    let socket = home.path("run/callgate/ask.sock");
    let taken = |terminal: &Terminal| terminal.written().matches("\u{1b}[?2004h").count();
    let given = |terminal: &Terminal| terminal.written().matches("\u{1b}[?2004l").count();
    terminal.wait_for("ready> ");
    terminal.press(&format!("'{CALLGATE}' up --legacy-socket ''\r"));
    until("the desk has the terminal", &terminal, || taken(&terminal) == 1);
    let stream = UnixStream::connect(&socket).unwrap();
    let desk = rustix::net::sockopt::socket_peercred(&stream).unwrap().pid;
    let desk = u32::try_from(desk.as_raw_nonzero().get()).unwrap();
    drop(stream);

    terminal.press("\u{1a}");
    until("it is stopped", &terminal, || state(desk) == Some('T'));
    until("the shell has the terminal", &terminal, || given(&terminal) == 1);
    terminal.wait_for("Stopped");
    terminal.press("stty -a; echo modes-$((1 + 1))\r");
    terminal.wait_for("modes-2");
    let shown = terminal.written();
    assert!(shown.contains(" icanon") && !shown.contains("-icanon"), "{shown}");
    assert!(shown.contains(" echo ") && !shown.contains("-echo "), "{shown}");

    // In the background it serves on, and leaves keys to the shell.
    terminal.press("bg\r");
    until("it runs", &terminal, || state(desk).is_some_and(|state| state != 'T'));
    terminal.press("echo typed-$((2 + 1))\r");
    terminal.wait_for("typed-3");
    let mut ask = home.command(&["ask", "Deploy?", "--timeout", "60"]);
    ask.stdout(Stdio::null()).stderr(Stdio::null());
    let mut asking = Group::spawn(ask);
    terminal.wait_for("Deploy?");
    assert_ne!(state(desk), Some('T'));

    terminal.press("fg\r");
    until("the desk has the terminal again", &terminal, || taken(&terminal) >= 2);
    until("the question is there again", &terminal, || {
        terminal.written().matches("  Deploy?\r\n").count() == 2
    });
    terminal.press_until("a", |written| written.contains("Allowed by"));
    assert!(asking.wait(DEADLINE).unwrap().success());
    let mut ask = home.command(&["ask", "Publish?", "--timeout", "60"]);
    ask.stdout(Stdio::null()).stderr(Stdio::null());
    let _asking = Group::spawn(ask);
    terminal.wait_for("  Publish?\r\n");
    terminal.press("\u{3}");
    until("the shell has the terminal", &terminal, || given(&terminal) >= 2);
    terminal.wait_for("1 question is still open. Its agent waits 15 s for another `callgate up`:");
    terminal.wait_for(&format!(" in {}: Publish?\r\n", home.home.folder().display()));
    until("the desk has ended", &terminal, || state(desk).is_none());
    terminal.press("exit 0\r");
    assert!(terminal.end().success());
}

/// Where nobody could continue it, Ctrl-Z does nothing, as for every program.
#[test]
fn a_desk_without_a_shell_is_not_stopped() {
    let home = Home::new();
    let mut terminal = Terminal::spawn(&home.command(&["up"]));
    terminal.wait_for("\u{1b}[?2004h");
    terminal.press("\u{1a}");
    // A terminal drops what is printed in the moment of Ctrl-Z, so it is asked again.
    let mut asked = Vec::new();
    let end = Instant::now() + DEADLINE;
    while !terminal.written().contains("Deploy?") {
        assert!(Instant::now() < end, "{}", terminal.written());
        let mut ask = home.command(&["ask", "Deploy?"]);
        ask.stdout(Stdio::null()).stderr(Stdio::null());
        asked.push(Group::spawn(ask));
        thread::sleep(Duration::from_millis(500));
    }
    drop(asked);
    terminal.press("\u{3}");
    assert!(terminal.end().success());
}
