//! The hook on a machine that belongs to a team, against the same one on a machine that does not:
//! no verdict waits for the network, whether the team's desk answers or stands still.

use std::fs;
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use callgate_wire::desk::RemoteState;
use rustix::process::{Pid, Signal, kill_process};

use crate::home::{Daemon, Home, run};
use crate::hooks::call_of;
use crate::limits::LimitedFigure;
use crate::series::Series;

/// The rules of the team.
const TEAM_RULES: &str =
    "[[rule]]\nname = \"no force\"\ndecide = \"deny\"\ncommand = \"git push --force\"\n";
/// How long the line may take to be connected.
const CONNECTED_WITHIN: Duration = Duration::from_secs(30);

/// How many programs take turns.
const CONTENDERS: usize = 4;

pub(crate) fn measure(rounds: usize) -> Vec<LimitedFigure> {
    let (alone, desk, member) = (Home::new(), Home::new(), Home::new());
    let _alone = alone.daemon();
    let (team, _member) = start_team(&desk, &member);
    let calls = ["make build", "xmllint page.xml"].map(call_of);
    let allowed = r#""permissionDecision":"allow""#;
    let play = |rounds: usize| {
        let mut series = Series::<CONTENDERS>::default();
        for round in 0..=rounds {
            let mut figures = [0.0; CONTENDERS];
            for turn in 0..CONTENDERS {
                let contender = (round + turn) % CONTENDERS;
                let home = if contender.is_multiple_of(2) { &alone } else { &member };
                let (call, printed) =
                    if contender < 2 { (&calls[0], allowed) } else { (&calls[1], "") };
                figures[contender] = run(&mut home.hook(), call, printed);
            }
            // The first round warms up.
            if round > 0 {
                series.push(figures);
            }
        }
        series
    };
    let connected = play(rounds);
    let pid = Pid::from_raw(i32::try_from(team.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    // It stands still for less time than it takes to be noticed.
    let still = play(rounds.min(100));
    kill_process(pid, Signal::CONT).unwrap();
    let [rule, of_member, none, none_of_member] = connected.medians();
    println!(
        "before a tool call, alone and in a team: decided by a rule {rule:.0} and {of_member:.0} µs, \
         no rule {none:.0} and {none_of_member:.0} µs"
    );
    vec![
        LimitedFigure::at_most("a rule, in a team ÷ alone", connected.ratio(1, 0), "×", 1.15),
        LimitedFigure::at_most("no rule, in a team ÷ alone", connected.ratio(3, 2), "×", 1.15),
        LimitedFigure::at_most("a rule, team's desk stopped ÷ alone", still.ratio(1, 0), "×", 1.15),
    ]
}

/// Starts a team's desk and the desk of a member that is under the team's rules.
fn start_team(desk: &Home, member: &Home) -> (Daemon, Daemon) {
    // It may be taken between here and the desk's start, which then says so.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let team = desk.daemon_with(&[("CALLGATE_TEAM_LISTEN", &free.to_string())]);
    wait_until(|| desk.viewer().status().unwrap().listening.is_some());
    fs::write(desk.folder().join("team.toml"), TEAM_RULES).unwrap();
    let sign = ["team", "rules", "sign", "team.toml", "--team", "bench"];
    let signed = printed_by(desk.callgate(&sign).current_dir(desk.folder()));
    let key = signed.split_whitespace().last().unwrap();
    let take = ["team", "rules", "take", "team.bundle", "--key", key];
    printed_by(desk.callgate(&take).current_dir(desk.folder()));
    let invited = printed_by(&mut desk.callgate(&["team", "invite", "member"]));
    let invitation = invited.split_whitespace().find(|word| word.starts_with("callgate-inv"));
    printed_by(&mut member.callgate(&["team", "join", invitation.unwrap()]));
    let daemon = member.daemon();
    wait_until(|| {
        let line = member.viewer().status().unwrap().team;
        line.is_some_and(|line| line.state == RemoteState::Connected)
    });
    wait_until(|| {
        printed_by(&mut member.callgate(&["team", "rules", "show"])).contains("team bench")
    });
    (team, daemon)
}

/// Runs what has to succeed, and returns what it has printed.
fn printed_by(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + CONNECTED_WITHIN;
    while !is_so() {
        assert!(Instant::now() < end, "it takes too long");
        thread::sleep(Duration::from_millis(20));
    }
}
