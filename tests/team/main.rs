//! A team and its members, as people and agents run the program.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod attacks;
mod failover;
mod guide;
mod guide_steps;
mod hostile_lines;
mod jobs;
mod lines;
mod one_machine;
mod passwords;
mod people;
mod promises;
mod restored;
mod revoked_press;
mod roles;
mod rules;
mod shared_desks;
mod shared_log;
mod team_house;
mod ways;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use callgate_testkit::process::{DEADLINE, Finished, Piped, run};
use callgate_testkit::test_home::TestHome;
use rustix::process::Signal;
use serde_json::json;

/// A machine with a user.
struct Machine {
    home: TestHome,
}

impl Machine {
    /// Returns a machine on which the user has these rules.
    fn with_rules(rules: &str) -> Self {
        let home = TestHome::new();
        home.make_private_folder("run");
        home.write(".config/callgate/rules.toml", rules);
        Self { home }
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = self.home.command(program, arguments);
        command.current_dir(self.home.folder()).env("XDG_RUNTIME_DIR", self.home.path("run"));
        command.env("CALLGATE_LEGACY_SOCKET", self.home.path("legacy.sock"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.command(env!("CARGO_BIN_EXE_callgate"), arguments), DEADLINE)
    }

    /// Runs what has to fail, and returns what it said.
    fn refused(&self, arguments: &[&str]) -> String {
        let told = self.run(arguments);
        assert_eq!(told.status.code(), Some(1), "{}", told.stdout);
        assert_eq!(told.stdout, "");
        told.stderr
    }

    fn explain(&self, command: &str) -> String {
        self.run(&["rules", "explain", command]).success().stdout
    }

    /// Returns what the hook prints before an agent runs a command in a mode that asks nobody.
    fn hook(&self, program: &str, arguments: &[&str], command: &str) -> String {
        let call = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.home.folder(),
            "transcript_path": "/t", "permission_mode": "bypassPermissions", "tool_use_id": "t",
            "tool_name": "Bash", "tool_input": { "command": command },
        });
        let mut hook = Piped::spawn(self.command(program, arguments));
        hook.send_bytes(call.to_string());
        hook.close_stdin();
        hook.recv_line_or_end().unwrap_or_default()
    }

    /// Starts the desk and waits until it serves.
    fn up(&self) -> Piped {
        let mut up = Piped::spawn(self.command(env!("CARGO_BIN_EXE_callgate"), &["up"]));
        while !up.recv_line().contains("The page is at") {}
        up
    }

    fn data(&self, name: &str) -> PathBuf {
        self.home.path(".local/share/callgate").join(name)
    }
}

/// A web server on loopback with one text. Its thread ends with the tests' process.
struct TextServer {
    text: Arc<Mutex<String>>,
    address: String,
}

impl TextServer {
    fn start(text: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/team.bundle", listener.local_addr().unwrap());
        let text = Arc::new(Mutex::new(text));
        let served = Arc::clone(&text);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // The request has one line and few headers.
                let _ = stream.read(&mut [0; 4096]).unwrap();
                let text = served.lock().unwrap().clone();
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ";
                write!(stream, "{head}{}\r\n\r\n{text}", text.len()).ok();
            }
        });
        Self { text, address }
    }

    fn replace(&self, text: String) {
        *self.text.lock().unwrap() = text;
    }
}

fn end_desk(mut up: Piped) {
    up.signal(Signal::TERM);
    assert!(up.wait_exit(DEADLINE).success(), "{}", up.stderr());
}
