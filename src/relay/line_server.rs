//! The end of a line at this machine: between the desk here and the one above.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_approval::daemon::Warn;
use callgate_relay::{LinePort, LowerAct, LowerLine};
use callgate_wire::approval::RequestId;
use callgate_wire::relay::{BoxHello, PROTOCOL, RelayReport, UpperHello};
use rustix::process::geteuid;
use rustix::system::uname;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::desk_entrance::DeskEntrance;
use super::joined_desk::{DeskJoiner, JoinedDesk};
use crate::config::process_surroundings;
use crate::team::take_bundle;

/// How long the last lines may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How many reports may wait while the desk is being joined.
const QUEUE: usize = 64;

/// Serves the desk above until the line ends. Returns why, unless the other side has closed it.
pub(crate) async fn serve_line(
    entrance: DeskEntrance,
    mut port: LinePort,
    warn: Warn,
) -> Option<String> {
    let clock = Instant::now();
    let (lower, acts) = LowerLine::begin(clock.elapsed(), box_hello());
    let (reports_in, mut reports) = mpsc::channel(QUEUE);
    let mut server = LineServer {
        clock,
        lower,
        entrance,
        warn,
        reports: reports_in,
        joining: None,
        joined: None,
    };
    let mut why = server.carry_out(&mut port, acts);
    while why.is_none() {
        let alarm = server.lower.next_alarm().saturating_sub(clock.elapsed());
        let acts = tokio::select! {
            arrival = port.next() => match arrival {
                Some(arrival) => server.lower.handle_arrival(clock.elapsed(), &arrival),
                // The other side has closed the line, and would read no last words.
                None => return None,
            },
            Some(report) = reports.recv() => vec![LowerAct::Send(report)],
            joined = wait_to_join(&mut server.joining) => server.take_joined(joined).await,
            acts = next_of_desk(&mut server.joined, &mut server.lower) => acts,
            () = tokio::time::sleep(alarm) => {
                // A long line takes time to arrive, and its bytes are signs of life although it is
                // not whole.
                server.lower.note_heard(port.heard_at().saturating_duration_since(clock));
                server.lower.handle_time(clock.elapsed())
            }
        };
        why = server.carry_out(&mut port, acts);
    }
    port.close(LAST_WORDS).await;
    why
}

fn box_hello() -> BoxHello {
    let around = process_surroundings();
    let user = around.variable("USER").or_else(|| around.variable("LOGNAME"));
    let user = user.and_then(|user| user.into_string().ok());
    BoxHello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: uname().nodename().to_string_lossy().into_owned(),
        user: user.unwrap_or_else(|| geteuid().as_raw().to_string()),
        home: around.home.as_ref().map(|home| home.display().to_string()).unwrap_or_default(),
    }
}

/// The line and the desk that it serves.
struct LineServer {
    clock: Instant,
    lower: LowerLine,
    entrance: DeskEntrance,
    warn: Warn,
    /// Where tasks put what they have to report.
    reports: mpsc::Sender<RelayReport>,
    joining: Option<JoinHandle<Result<JoinedDesk, String>>>,
    joined: Option<JoinedDesk>,
}

impl LineServer {
    /// Carries out what the line wants. Returns why it ends, if it does.
    fn carry_out(&mut self, port: &mut LinePort, acts: Vec<LowerAct>) -> Option<String> {
        for act in acts {
            match act {
                LowerAct::Send(report) => {
                    // The desk above refuses a message with a text that is longer than the protocol
                    // allows, and the question in it would be lost.
                    if !port.send(report.with_bounded_texts().to_line()) {
                        return Some("the desk above does not read".to_owned());
                    }
                    self.lower.note_sent(self.clock.elapsed());
                }
                LowerAct::Join(hello) => self.join_desk(*hello),
                LowerAct::Answer { question, answer } => match &self.joined {
                    Some(desk) => desk.bring_answer(question, answer, self.reports.clone()),
                    None => (self.warn)("an answer came before a question"),
                },
                LowerAct::AskAgain(question) => {
                    let acts = self.ask_again(&question);
                    if let Some(why) = self.carry_out(port, acts) {
                        return Some(why);
                    }
                }
                LowerAct::TakeRules(bundle) => self.take_rules(bundle),
                LowerAct::Warn(text) => (self.warn)(&text),
                LowerAct::End(why) => return Some(why),
            }
        }
        None
    }

    fn ask_again(&mut self, question: &RequestId) -> Vec<LowerAct> {
        // Before the desk is joined, no question is sent.
        let Some(desk) = &self.joined else { return Vec::new() };
        let asked = desk.ask_again(&mut self.lower, question);
        asked.map_or_else(end_with, |act| act.into_iter().collect())
    }

    fn join_desk(&mut self, hello: UpperHello) {
        let joiner = DeskJoiner::new(self.entrance.clone(), hello, self.reports.clone());
        // Joining may wait for a person, and the line would count as dead if it were silent
        // meanwhile.
        self.joining = Some(tokio::spawn(joiner.join_desk()));
    }

    /// Takes the rules of the team, if the desk above is the team's.
    fn take_rules(&self, bundle: String) {
        // This is a task, because the disk and the ledger may take a while, and the line has to go
        // on.
        let (reports, warn) = (self.reports.clone(), Arc::clone(&self.warn));
        let entrance = self.entrance.clone();
        tokio::spawn(async move {
            let taken = match entrance {
                DeskEntrance::Team(entrance) => {
                    take_bundle(&entrance.config, bundle, None, "the team's desk").await
                }
                DeskEntrance::Relay(_) => Err("this line carries no rules".to_owned()),
            };
            match taken {
                Ok(told) => told.iter().for_each(|told| warn(told)),
                Err(why) => {
                    let text = format!("the team's rules stay as they are: {why}");
                    warn(&text);
                    // A line that has ended needs no report.
                    reports.send(RelayReport::Error { text }).await.ok();
                }
            }
        });
    }

    async fn take_joined(&mut self, joined: Result<JoinedDesk, String>) -> Vec<LowerAct> {
        self.joining = None;
        let synced = match joined {
            Ok(mut desk) => match desk.sync_questions(&mut self.lower).await {
                Ok(acts) => {
                    self.entrance.note_joined();
                    self.joined = Some(desk);
                    Ok(acts)
                }
                Err(why) => Err(why),
            },
            Err(why) => Err(why),
        };
        synced.unwrap_or_else(end_with)
    }
}

/// Tells the desk above why the line ends.
fn end_with(why: String) -> Vec<LowerAct> {
    vec![LowerAct::Send(RelayReport::Error { text: why.clone() }), LowerAct::End(why)]
}

async fn wait_to_join(
    joining: &mut Option<JoinHandle<Result<JoinedDesk, String>>>,
) -> Result<JoinedDesk, String> {
    match joining {
        Some(joining) => joining.await.unwrap_or_else(|error| Err(error.to_string())),
        None => std::future::pending().await,
    }
}

/// Waits for the next news of the desk here, once it is joined.
async fn next_of_desk(joined: &mut Option<JoinedDesk>, lower: &mut LowerLine) -> Vec<LowerAct> {
    match joined {
        Some(desk) => desk.next_acts(lower).await.unwrap_or_else(end_with),
        None => std::future::pending().await,
    }
}
