//! Processes at both ends of a line that stand still without ending.

use std::fs;
use std::thread;

use callgate_client::viewer::Viewer;
use callgate_testkit::proc;
use callgate_testkit::until::until;
use callgate_wire::desk::RemoteState;
use rustix::process::{Pid, Signal, kill_process};

use super::fixture::{Hook, House, Person};
use super::over_ssh::Sshd;

/// A process that was stopped. It goes on when this is dropped.
struct Stopped(Pid);

impl Stopped {
    fn stop(process: Pid) -> Self {
        kill_process(process, Signal::STOP).unwrap();
        Self(process)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // The desk may have ended it.
        kill_process(self.0, Signal::CONT).ok();
    }
}

/// Returns the relay on the box.
fn relay_of(house: &House) -> Pid {
    let program = house.machine.path(".local/share/callgate/bin/callgate");
    let line = format!("{} relay", program.display());
    house.until("a relay runs", || {
        let relay = proc::all().into_iter().find(|it| proc::command_line(it.pid) == line)?;
        Pid::from_raw(i32::try_from(relay.pid).unwrap())
    })
}

/// A box behind a real sshd, whose agent has asked.
fn begin_over_ssh() -> (House, Sshd, Hook) {
    let house = House::over_pipe();
    let sshd = Sshd::start(&house);
    house.up();
    house.wait_until_connected();
    let hook = house.ask("make");
    (house, sshd, hook)
}

/// Waits until the desk of the laptop says that the box is away, and has it find the box again.
fn see_it_away(house: &House, hook: Hook, stop: impl FnOnce() -> Stopped) -> Stopped {
    let mut ada = house.person("Ada");
    let row = ada.question(house, "make");
    // The next attempt has to wait, so that the reason can be seen.
    house.laptop.write("held", "");
    let stopped = stop();
    let view = house.wait_for_state(RemoteState::Failed);
    assert_eq!(view.text.as_deref(), Some("it is silent"));
    let list = house.run_on_laptop(&["remote", "list"]).success().stdout;
    assert!(list.contains("not connected for") && list.contains("it is silent"), "{list}");
    assert_eq!(ada.inbox(), std::slice::from_ref(&row), "the question stays");
    fs::remove_file(house.laptop.path("held")).unwrap();
    house.wait_until_connected();
    answer(ada, house, hook);
    stopped
}

fn answer(mut ada: Person, house: &House, mut hook: Hook) {
    assert!(hook.still_waits());
    let row = ada.question(house, "make");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}

fn stop_the_relay() {
    let (house, _sshd, hook) = begin_over_ssh();
    let old = see_it_away(&house, hook, || Stopped::stop(relay_of(&house)));
    let pid = old.0.as_raw_nonzero().get().unsigned_abs();
    assert!(proc::is_running(pid), "it stands still");
    drop(old);
    until("the old relay has ended", || !proc::is_running(pid));
    assert_eq!(house.remote().unwrap().state, RemoteState::Connected);
}

fn stop_ssh() {
    let (house, _sshd, hook) = begin_over_ssh();
    drop(see_it_away(&house, hook, || Stopped::stop(house.ssh_pid())));
}

fn stop_the_desk() {
    let house = House::over_pipe();
    house.up();
    house.wait_until_connected();
    let hook = house.ask("make");
    let mut ada = house.person("Ada");
    ada.question(&house, "make");
    let count_relays =
        || Some(Viewer::connect(&house.box_desk_socket()).ok()?.status().ok()?.relays.len());
    assert_eq!(count_relays(), Some(1));
    house.signal_desk(Signal::STOP);
    until("the relay has ended", || count_relays() == Some(0));
    house.signal_desk(Signal::CONT);
    house.until("the box is connected again", || count_relays() == Some(1));
    answer(ada, &house, hook);
}

/// When exactly is held by the tests of `line_health`, with a clock of their own.
#[test]
fn whoever_stands_still_is_noticed_at_the_other_end_and_loses_no_question() {
    // Each waits for a heartbeat that does not come.
    thread::scope(|scope| {
        let all = [stop_the_relay, stop_ssh, stop_the_desk].map(|stop| scope.spawn(stop));
        for stop in all {
            stop.join().unwrap();
        }
    });
}
