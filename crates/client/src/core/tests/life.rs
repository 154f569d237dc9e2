//! The life of the process: its end, its restarts, and the end of the client.

use super::super::*;
use super::{ALL, Bench, message};
use crate::RestartBackOff;

#[test]
fn the_end_of_the_process_ends_every_request_at_once() {
    let died = "the runtime has ended (signal: 9 (SIGKILL))";
    let again = "it is being restarted: send the request again";
    let ends =
        format!("a: {died}; {again}; b: {died}; {again}; end; died: {died}; restarting in 200ms");
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.ask("b", message(None));
    assert_eq!(bench.tell(CoreInput::PipeClosed), "");
    assert_eq!(bench.exit(9), ends);
    // In the other order, what is still in the pipe counts.
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.ask("b", message(None));
    assert_eq!(bench.exit(9), "");
    assert_eq!(bench.say("a", "token", None), "a token");
    assert_eq!(bench.tell(CoreInput::PipeClosed), ends);
    assert_eq!(bench.after(1), "starting; start");
    assert_eq!(bench.core.epoch, 2);
}

#[test]
fn a_pipe_that_somebody_else_holds_is_not_waited_for() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.exit(0), "");
    let text = bench.after(1);
    assert!(text.starts_with("a: the runtime has ended (exit status: 0)"), "{text}");
}

#[test]
fn a_process_without_its_pipes_is_ended_before_another_starts() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.tell(CoreInput::PipeClosed), "");
    let reason = "the runtime has closed its pipes";
    let failed = format!("a: {reason}; it is being restarted: send the request again");
    assert_eq!(bench.after(1), format!("{failed}; end"));
    assert_eq!(bench.say("a", "token", None), "");
    assert_eq!(bench.ask("b", message(None)), "", "it waits for the next process");
    assert_eq!(bench.exit(15), format!("died: {reason}; restarting in 200ms"));
    assert_eq!(bench.after(1), "starting; start");
    // One that cannot be ended is left behind.
    let mut bench = Bench::ready(ALL);
    bench.tell(CoreInput::PipeClosed);
    assert_eq!(bench.after(1), "end");
    assert_eq!(bench.after(20), format!("died: {reason}; restarting in 200ms"));
}

#[test]
fn a_runtime_that_is_never_ready_is_ended() {
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    bench.tell(CoreInput::Started);
    bench.ask("a", message(None));
    let reason = "the runtime did not become ready within 20s";
    let failed = format!("a: {reason}; it is being restarted: send the request again");
    assert_eq!(bench.after(20), format!("{failed}; end"));
    assert_eq!(bench.exit(15), format!("died: {reason}; restarting in 200ms"));
}

#[test]
fn a_runtime_of_another_version_is_ended() {
    let begin = |version: &str| {
        let mut bench = Bench::new();
        bench.tell(CoreInput::Begin);
        bench.tell(CoreInput::Started);
        let told = bench.line(&format!(r#"{{"type":"ready","version":{version},"timestamp":1}}"#));
        (bench, told)
    };
    for fitting in [r#""1.0.0""#, r#""1.7.2""#, r#""1""#, "null"] {
        assert_eq!(begin(fitting).1, "ready", "{fitting}");
    }
    let (mut bench, told) = begin(r#""2.0.0""#);
    assert_eq!(told, "end");
    let reason = "the runtime speaks version 2.0.0 of the session protocol, but this program speaks \
                  1.0.0: install both from one release";
    assert_eq!(bench.exit(15), format!("died: {reason}; restarting in 200ms"));
}

#[test]
fn deaths_in_a_row_are_waited_for_longer() {
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    let mut waits = Vec::new();
    for _ in 0..9 {
        let text = bench.tell(CoreInput::NotStarted { reason: "no such file".to_owned() });
        waits.push(text.rsplit_once("in ").unwrap().1.to_owned());
        assert_eq!(bench.after(30), "starting; start");
    }
    assert_eq!(waits.join(" "), "200ms 400ms 800ms 1.6s 3.2s 6.4s 12.8s 25.6s 30s");
    bench.tell(CoreInput::Started);
    bench.after(10);
    bench.line(r#"{"type":"ready","timestamp":1}"#);
    bench.after(50);
    bench.tell(CoreInput::PipeClosed);
    let text = bench.exit(9);
    assert!(text.ends_with("restarting in 200ms"), "it has lived: {text}");
}

#[test]
fn a_runtime_may_be_given_up_and_started_by_hand() {
    let mut bench = Bench::new();
    bench.core.settings.back_off =
        RestartBackOff { most_restarts: Some(1), ..RestartBackOff::default() };
    bench.tell(CoreInput::Begin);
    bench.tell(CoreInput::NotStarted { reason: "no".to_owned() });
    bench.after(1);
    let reason = "the runtime runtime cannot be started: no";
    let text = bench.tell(CoreInput::NotStarted { reason: "no".to_owned() });
    assert_eq!(text, format!("died: {reason}; given up"));
    let failed = "the runtime has died 2 times in a row and is not restarted";
    assert_eq!(bench.ask("a", message(None)), format!("a: {failed}: {reason}"));
    assert_eq!(bench.core.deadline(), None);
    assert_eq!(bench.tell(CoreInput::Restart), "starting; start");
}

#[test]
fn a_restart_on_request_is_not_waited_for() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    let reason = "the runtime was ended on request";
    let failed = format!("a: {reason}; it is being restarted: send the request again");
    assert_eq!(bench.tell(CoreInput::Restart), format!("{failed}; end"));
    assert_eq!(bench.exit(0), format!("died: {reason}; starting; start"));
}

#[test]
fn leaving_ends_everything() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.tell(CoreInput::Leave), "a: the session is closed; end");
    assert_eq!(bench.ask("b", message(None)), "b: the session is closed");
    assert_eq!(bench.exit(0), "ended; over");
    assert_eq!(bench.ask("c", message(None)), "c: the session is closed");
    assert_eq!(bench.core.deadline(), None);
    // While it is being started, and while there is none.
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    assert_eq!(bench.tell(CoreInput::Leave), "");
    assert_eq!(bench.tell(CoreInput::Started), "end");
    assert_eq!(bench.exit(0), "ended; over");
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    bench.tell(CoreInput::NotStarted { reason: "no".to_owned() });
    assert_eq!(bench.tell(CoreInput::Leave), "ended; over");
    for input in [CoreInput::Leave, CoreInput::Restart, CoreInput::Tick, CoreInput::Started] {
        assert_eq!(bench.tell(input), "");
    }
}
