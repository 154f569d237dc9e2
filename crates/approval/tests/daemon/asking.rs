//! Questions, answers, and askers that do not behave.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use callgate_approval::asker::{self, NoAnswer};
use callgate_approval::channel::MarkState;
use callgate_testkit::process::{DEADLINE as LIMIT, run};
use callgate_wire::approval::{
    Action, ApprovalRequest, ApprovalResponse, Decision, MAX_LINE, Press, RequestId, RequestKind,
};
use rustix::process::geteuid;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::house::{House, request};

#[test]
fn a_press_answers_the_question_and_is_shown_when_the_answer_was_read() {
    let house = House::new();
    let request = request("make");
    let id = request.request_id.clone();
    let asked = house.ask(request);
    house.shown(&id);
    house.press(&id, Action::Allow);
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Allow);
    assert_eq!(house.mark(&id).state, MarkState::Allowed);
    assert_eq!(house.kinds(&id), ["asked", "pressed", "decided", "delivered", "closed"]);
    house.assert_chain();
}

#[test]
fn rules_answer_at_once() {
    let house = House::new();
    let answer = |command| house.ask(request(command)).join().unwrap().unwrap();
    assert_eq!(answer("rule-allow").decision, Decision::Allow);
    let denied = answer("rule-deny");
    assert_eq!((denied.decision, denied.message.as_deref()), (Decision::Deny, Some("rule `no`")));
}

#[test]
fn rules_that_do_not_decide_about_one_question_hold_up_no_other() {
    let house = House::new();
    let stuck = |kind| {
        let mut request = ApprovalRequest { kind, ..request("rule-stuck") };
        request.context.as_mut().unwrap().timeout_seconds = Some(1);
        house.ask(request)
    };
    let (check, ask) = (stuck(RequestKind::Check), stuck(RequestKind::Ask));
    for _ in 0..20 {
        let answer = house.ask(request("rule-allow")).join().unwrap().unwrap();
        assert_eq!(answer.decision, Decision::Allow);
    }
    // When their own time is over, whoever asks about a call that would run is told no, and whoever
    // asks for permission that nobody decides.
    let check = check.join().unwrap().unwrap();
    assert_eq!(check.decision, Decision::Deny);
    assert!(check.message.unwrap().contains("the rules did not decide in time"));
    assert_eq!(ask.join().unwrap().unwrap().decision, Decision::Timeout);
    let told = house.warnings.lock().unwrap().join(" ");
    assert!(told.contains("the rules did not decide in time"), "{told}");
}

#[test]
fn whoever_asks_is_answered_also_when_nothing_can_be_recorded() {
    let mut house = House::new();
    house.stop();
    house.start_on_full_disk().unwrap();
    let check = |command: &str| {
        let request = ApprovalRequest { kind: RequestKind::Check, ..request(command) };
        house.ask(request).join().unwrap().unwrap().decision
    };
    let long = "x".repeat(2_000);
    // Until then rules decide.
    let mut decisions = (0..1_000).map(|_| check(&format!("rule-allow {long}")));
    let first_other = decisions.find(|decision| *decision != Decision::Allow);
    assert_eq!(first_other, Some(Decision::Timeout));
    drop(decisions);
    // Where the last one did not fit, a longer one does not either.
    assert_eq!(check(&format!("rule-deny {long}{long}")), Decision::Deny, "that needs no entry");
    // That nobody decides takes no entry.
    assert_eq!(check("make"), Decision::None);
    let asked = house.ask(request(&format!("{long}{long}"))).join().unwrap().unwrap();
    assert_eq!(asked.decision, Decision::Timeout);
}

/// Whoever reads the ledger, such as the desk above, would show it as open for hours.
#[test]
fn a_question_that_was_given_up_because_of_the_ledger_ends_there_once_that_is_possible() {
    let house = House::new();
    let (first, second, third) = (request("one"), request("two"), request("three"));
    let waiting = house.ask(first.clone());
    house.shown(&first.request_id);
    // A ledger whose file is not there any more is not written.
    let aside = house.database().with_extension("aside");
    std::fs::rename(house.database(), &aside).unwrap();
    let refused = house.ask(second.clone()).join().unwrap().unwrap();
    assert_eq!(refused.decision, Decision::Timeout);
    assert_eq!(waiting.join().unwrap().unwrap().decision, Decision::Timeout);
    std::fs::rename(aside, house.database()).unwrap();
    let _waiting = house.ask(third.clone());
    house.wait_for(&third.request_id, "asked");
    assert_eq!(house.kinds(&first.request_id), ["asked", "closed"]);
    assert!(house.kinds(&second.request_id).is_empty());
    house.assert_chain();
}

#[test]
fn an_asker_that_hangs_up_closes_its_question() {
    let house = House::new();
    let request = request("make");
    let mut stream = UnixStream::connect(house.socket()).unwrap();
    stream.write_all(&request.to_line()).unwrap();
    house.shown(&request.request_id);
    drop(stream);
    assert_eq!(house.mark(&request.request_id).state, MarkState::Gone);
}

#[test]
fn an_asker_that_hangs_up_at_once_leaves_nothing_open() {
    let house = House::new();
    for _ in 0..50 {
        let request = request("make");
        let mut stream = UnixStream::connect(house.socket()).unwrap();
        stream.write_all(&request.to_line()).unwrap();
        drop(stream);
        house.wait_for(&request.request_id, "closed");
    }
}

#[test]
fn an_asker_that_only_stops_sending_still_gets_its_answer() {
    let house = House::new();
    let request = request("make");
    let mut stream = UnixStream::connect(house.socket()).unwrap();
    stream.write_all(&request.to_line()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    house.shown(&request.request_id);
    house.press(&request.request_id, Action::Deny);
    let mut answer = [0; 1_000];
    let length = stream.read(&mut answer).unwrap();
    assert_eq!(ApprovalResponse::decode(&answer[..length]).unwrap().decision, Decision::Deny);
    // It was read: for that it need not hang up.
    assert_eq!(house.mark(&request.request_id).state, MarkState::Denied);
}

#[test]
fn an_answer_that_nobody_read_is_not_shown_as_allowed() {
    let house = House::new();
    for stops_sending in [false, true] {
        let request = request("make");
        let mut stream = UnixStream::connect(house.socket()).unwrap();
        stream.write_all(&request.to_line()).unwrap();
        if stops_sending {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        house.shown(&request.request_id);
        house.press(&request.request_id, Action::Allow);
        // The answer lies in the socket when the asker dies.
        let mut peeked = [0; 1];
        rustix::net::recv(&stream, &mut peeked, rustix::net::RecvFlags::PEEK).unwrap();
        drop(stream);
        assert_eq!(house.mark(&request.request_id).state, MarkState::Gone);
        assert!(!house.kinds(&request.request_id).contains(&"delivered".to_owned()));
    }
}

#[test]
fn what_is_no_request_closes_the_connection_and_the_daemon_lives() {
    let house = House::new();
    let too_long = vec![b'x'; MAX_LINE + 2];
    let cut = request("make").to_line();
    for bytes in [&b"no JSON\n"[..], b"{}\n", b"\xff\xfe\n", &too_long, b"{\"request_id\":\"7\"}\n"]
    {
        assert_eq!(house.raw(bytes), b"");
    }
    let mut stream = UnixStream::connect(house.socket()).unwrap();
    stream.write_all(&cut[..cut.len() - 1]).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_or_default(), 0, "a cut line was never asked");
    assert_eq!(house.ask(request("rule-allow")).join().unwrap().unwrap().decision, Decision::Allow);
}

#[test]
fn an_asker_that_never_finishes_its_line_is_let_go() {
    let house = House::new();
    // It keeps its own side open: only the daemon's deadline ends this.
    assert_eq!(house.raw(b"{\"request_id\":"), b"");
}

#[test]
fn a_question_as_large_as_a_line_may_be_is_asked() {
    let house = House::new();
    let room = MAX_LINE - request("").to_line().len();
    let request = request(&"x".repeat(room));
    assert!(request.to_line().len() <= MAX_LINE + 1);
    let id = request.request_id.clone();
    let asked = house.ask(request);
    house.shown(&id);
    house.press(&id, Action::Deny);
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Deny);
}

#[test]
fn a_second_question_of_the_same_id_does_not_harm_the_first() {
    let house = House::new();
    let first = request("make");
    let mut second = request("rm -rf /");
    second.request_id = first.request_id.clone();
    let id = first.request_id.clone();
    let asked = house.ask(first);
    house.shown(&id);
    assert_eq!(house.ask(second).join().unwrap().unwrap().decision, Decision::Timeout);
    house.press(&id, Action::Allow);
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Allow);
}

#[test]
fn an_id_that_was_answered_is_not_answered_again() {
    let house = House::new();
    let asked = request("rule-allow");
    assert_eq!(house.ask(asked.clone()).join().unwrap().unwrap().decision, Decision::Allow);
    assert_eq!(house.ask(asked).join().unwrap().unwrap().decision, Decision::Timeout);
}

#[test]
fn a_process_of_another_user_cannot_ask() {
    if !geteuid().is_root() {
        assert!(std::env::var_os("CI").is_none(), "CI runs these tests as root");
        eprintln!("skipped: only root can start a process of another user");
        return;
    }
    let house = House::new();
    let open = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777))
            .unwrap();
    };
    open(house.folder.path());
    open(&house.socket());
    let script = "import socket, sys\n\
                  s = socket.socket(socket.AF_UNIX)\n\
                  s.settimeout(60)\n\
                  s.connect(sys.argv[1])\n\
                  try:\n    s.sendall(sys.stdin.buffer.read())\n    print(s.recv(100))\n\
                  except OSError: print(b'')\n";
    let line = String::from_utf8(request("rule-allow").to_line()).unwrap();
    let script = script.replace("sys.stdin.buffer.read()", &format!("{line:?}.encode()"));
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", &script]).arg(house.socket()).uid(65534).gid(65534).current_dir("/");
    command.stdin(Stdio::null());
    assert_eq!(run(command, LIMIT).success().stdout.trim(), "b''");
}

#[test]
fn a_thousand_hooks_at_once_are_all_answered_rightly() {
    let house = House::new();
    let asked: Vec<_> = (0..1_000)
        .map(|number| {
            let command = if number % 2 == 0 { "rule-allow" } else { "rule-deny" };
            (number, house.ask(request(&format!("{command} {number}"))))
        })
        .collect();
    for (number, asked) in asked {
        let decision = asked.join().unwrap().unwrap().decision;
        let expected = if number % 2 == 0 { Decision::Allow } else { Decision::Deny };
        assert_eq!(decision, expected, "{number}");
    }
    house.assert_chain();
}

#[test]
fn reports_get_no_answer_and_settle_questions() {
    let house = House::new();
    let asked = request("make");
    let id = asked.request_id.clone();
    let waiting = house.ask(asked);
    house.shown(&id);
    let mut report = request("make");
    report.kind = callgate_wire::approval::RequestKind::Settle;
    report.context.as_mut().unwrap().event = Some("PostToolUse".to_owned());
    asker::tell_desk(&house.settings(), &report).unwrap();
    assert_eq!(house.mark(&id).state, MarkState::Settled);
    assert_eq!(waiting.join().unwrap().unwrap().decision, Decision::Timeout);
}

/// A question that waits while others are too long somewhere.
struct Bystander<'a> {
    house: &'a House,
    id: RequestId,
    asked: std::thread::JoinHandle<Result<ApprovalResponse, NoAnswer>>,
}

impl<'a> Bystander<'a> {
    fn ask(house: &'a House) -> Self {
        let request = request("make");
        let id = request.request_id.clone();
        let asked = house.ask(request);
        house.shown(&id);
        Self { house, id, asked }
    }

    /// Checks that it was not touched.
    fn assert_answered(self) {
        self.house.press(&self.id, Action::Allow);
        assert_eq!(self.asked.join().unwrap().unwrap().decision, Decision::Allow);
        let told = self.house.warnings.lock().unwrap().join(" ");
        assert!(!told.contains("fall back to their agents"), "{told}");
    }
}

#[test]
fn a_name_or_path_that_is_too_long_is_refused_and_touches_no_other_question() {
    let house = House::new();
    let bystander = Bystander::ask(&house);
    for field in ["tool_name", "cwd", "session_id", "agent"] {
        let mut line: Value = serde_json::from_slice(&request("make").to_line()).unwrap();
        line[field] = json!("x".repeat(8_500_000));
        assert_eq!(house.raw(format!("{line}\n").as_bytes()), b"", "{field}");
    }
    bystander.assert_answered();
}

#[test]
fn no_text_of_a_question_makes_its_entry_too_long() {
    let house = House::new();
    let bystander = Bystander::ask(&house);
    let quotes = "\"".repeat(4_900_000);
    let with_suggestion = {
        let mut line: Value = serde_json::from_slice(&request("make").to_line()).unwrap();
        line["permission_suggestions"] = json!([{ "x": quotes, "y": "half \\ud800" }]);
        ApprovalRequest::decode(line.to_string().as_bytes()).unwrap()
    };
    let with_words = {
        let mut line: Value = serde_json::from_slice(&request("make").to_line()).unwrap();
        line["context"]["last_words"] = json!(quotes);
        line["context"]["edit_lines"] = json!(vec![1; 1_000_000]);
        ApprovalRequest::decode(line.to_string().as_bytes()).unwrap()
    };
    // All of it is kept for viewers.
    let kept = "make all; ".repeat(105_000);
    for long in [request(&kept), with_suggestion, with_words] {
        let id = long.request_id.clone();
        let asked = house.ask(long);
        house.shown(&id);
        house.press(&id, Action::Deny);
        assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Deny);
    }
    bystander.assert_answered();
    house.assert_chain();
}

#[test]
fn an_answer_that_is_too_long_to_be_recorded_is_refused_alone() {
    let house = House::new();
    let bystander = Bystander::ask(&house);
    let request = request("make all");
    let id = request.request_id.clone();
    let asked = house.ask(request);
    house.shown(&id);
    let edited = json!({ "command": "x".repeat(17 << 20) }).to_string();
    house.press_with(&id, Press::Input(RawValue::from_string(edited).unwrap()));
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Timeout);
    house.wait_for(&id, "closed");
    let kinds = house.kinds(&id);
    assert_eq!(kinds, ["asked", "decided", "delivered", "closed"], "{kinds:?}");
    bystander.assert_answered();
    let told = house.warnings.lock().unwrap().join(" ");
    assert!(told.contains("too long for the ledger"), "{told}");
    house.assert_chain();
}
