//! `callgate relay`: the end of a line at a box, on standard input and output.

mod box_desk;
mod joined_desk;

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use callgate_relay::{LinePort, LowerAct, LowerLine};
use callgate_wire::approval::RequestId;
use callgate_wire::relay::{BoxHello, PROTOCOL, RelayReport, UpperHello};
use rustix::process::geteuid;
use rustix::system::uname;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::config::{Config, DeskFlags, Surroundings};
use crate::failure::{Failure, write_error_line};
use joined_desk::{DeskJoiner, JoinedDesk};

pub(crate) use box_desk::RelayDeskPlace;

/// How long the last lines may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How many reports may wait while the desk is being joined.
const QUEUE: usize = 64;

/// Serve a desk above over standard input and output
///
/// `callgate remote add` on another machine has this started here over ssh. The desk of this machine
/// decides by its rules, and people at the desk above answer what is left. If no desk runs here, one
/// is started, which outlives the line.
#[derive(Debug, clap::Args)]
pub(crate) struct RelayArgs {
    /// Run the desk that a relay has started, with the key on standard input
    #[arg(long, hide = true, conflicts_with = "stop")]
    desk: bool,
    /// Stop the desk that a relay has started, if there is one
    #[arg(long, hide = true)]
    stop: bool,
}

impl RelayArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = Config::load(file, &DeskFlags::default())?;
        if self.desk {
            return box_desk::run_box_desk(&config);
        }
        let place = RelayDeskPlace::new(&config, file);
        if self.stop {
            place.stop_own_desk()?;
            return Ok(ExitCode::SUCCESS);
        }
        let failed = |error: io::Error| Failure::Failed(format!("cannot start: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let port = LinePort::open(io::stdin(), io::stdout()).map_err(failed)?;
        let why = runtime.block_on(serve_line(place, port));
        // A desk that is just being started needs no more attention.
        runtime.shutdown_background();
        match why {
            Some(why) => Err(Failure::Failed(why)),
            None => Ok(ExitCode::SUCCESS),
        }
    }
}

/// Serves the desk above until the line ends. Returns why, unless the other side has closed it.
async fn serve_line(place: RelayDeskPlace, mut port: LinePort) -> Option<String> {
    let clock = Instant::now();
    let (lower, acts) = LowerLine::begin(clock.elapsed(), box_hello());
    let (reports_in, mut reports) = mpsc::channel(QUEUE);
    let mut server =
        LineServer { clock, lower, place, reports: reports_in, joining: None, joined: None };
    let mut why = server.carry_out(&port, acts);
    while why.is_none() {
        let alarm = server.lower.next_alarm().saturating_sub(clock.elapsed());
        let acts = tokio::select! {
            arrival = port.next() => match arrival {
                Some(arrival) => server.lower.handle_arrival(clock.elapsed(), &arrival),
                None => return None,
            },
            Some(report) = reports.recv() => vec![LowerAct::Send(report)],
            joined = wait_to_join(&mut server.joining) => server.take_joined(joined).await,
            acts = next_of_desk(&mut server.joined, &mut server.lower) => acts,
            () = tokio::time::sleep(alarm) => {
                if port.take_activity() {
                    server.lower.note_heard(clock.elapsed());
                }
                server.lower.handle_time(clock.elapsed())
            }
        };
        why = server.carry_out(&port, acts);
    }
    port.close(LAST_WORDS);
    why
}

fn box_hello() -> BoxHello {
    let around = Surroundings::of_process();
    let user = around.variable("USER").or_else(|| around.variable("LOGNAME"));
    let user = user.and_then(|user| user.into_string().ok());
    BoxHello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: uname().nodename().to_string_lossy().into_owned(),
        user: user.unwrap_or_else(|| geteuid().as_raw().to_string()),
        home: around.home().map(|home| home.display().to_string()).unwrap_or_default(),
    }
}

/// The line and the desk that it serves.
struct LineServer {
    clock: Instant,
    lower: LowerLine,
    place: RelayDeskPlace,
    /// Where tasks put what they have to report.
    reports: mpsc::Sender<RelayReport>,
    joining: Option<JoinHandle<Result<JoinedDesk, String>>>,
    joined: Option<JoinedDesk>,
}

impl LineServer {
    /// Carries out what the line wants. Returns why it ends, if it does.
    fn carry_out(&mut self, port: &LinePort, acts: Vec<LowerAct>) -> Option<String> {
        for act in acts {
            match act {
                LowerAct::Send(report) => {
                    if !port.send(report.to_line()) {
                        return Some("the desk above does not read".to_owned());
                    }
                    self.lower.note_sent(self.clock.elapsed());
                }
                LowerAct::Join(hello) => self.join_desk(*hello),
                LowerAct::Answer { question, answer } => match &self.joined {
                    Some(desk) => desk.bring_answer(question, answer, self.reports.clone()),
                    None => write_error_line("an answer came before a question"),
                },
                LowerAct::Warn(text) => write_error_line(&text),
                LowerAct::End(why) => return Some(why),
            }
        }
        None
    }

    fn join_desk(&mut self, hello: UpperHello) {
        let joiner = DeskJoiner::new(self.place.clone(), hello, self.reports.clone());
        self.joining = Some(tokio::spawn(joiner.join_desk()));
    }

    async fn take_joined(&mut self, joined: Result<JoinedDesk, String>) -> Vec<LowerAct> {
        self.joining = None;
        let synced = match joined {
            Ok(mut desk) => match desk.sync_questions(&mut self.lower).await {
                Ok(acts) => {
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

/// Returns the id in an entry, if it belongs to a question.
fn question_id(question: Option<&str>) -> Option<RequestId> {
    question.and_then(RequestId::parse)
}
