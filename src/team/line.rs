//! The line of a member's machine to the team's desk: an outgoing HTTPS connection that is made
//! again when it is cut.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callgate_approval::daemon::{Daemon, DeskHandle, RemoteBoard, Warn};
use callgate_approval::viewer_token::new_viewer_token;
use callgate_http::{ServiceError, TeamService};
use callgate_link::random::random_bytes;
use callgate_relay::{LineBudget, LinePort};
use callgate_store::{Sha256Hash, now_ms};
use callgate_team::Invitation;
use callgate_wire::HiddenText;
use callgate_wire::desk::{RemoteState, TeamLineView};
use callgate_wire::relay::{LINE_NUMBER, LINE_PATH, LINE_PROTOCOL, MAX_LINE};
use tokio::sync::watch;

use super::membership::MembershipFile;
use super::source::find_proxy;
use crate::config::Config;
use crate::relay::{DeskEntrance, TeamEntrance, serve_line};

/// How long after a cut the first attempt is made; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Keeps the line of this machine while its desk runs. Without a team there is nothing but a look
/// whether there is one, when somebody wants that.
pub(crate) struct TeamLineKeeper {
    config: Arc<Config>,
    desk: DeskHandle,
    board: Arc<RemoteBoard>,
    warn: Warn,
}

impl TeamLineKeeper {
    pub(crate) fn new(config: &Config, daemon: &Daemon, warn: Warn) -> Self {
        let config = Arc::new(config.clone());
        Self { config, desk: daemon.desk(), board: daemon.remote_board(), warn }
    }

    /// Begins and ends the line as this machine joins and leaves a team, for ever.
    pub(crate) async fn keep_line(self) {
        let file = MembershipFile::beside(&self.config.database);
        let mut wishes = self.board.wishes();
        let (mut current, mut last_fault) = (None, None);
        // The line ends when this is dropped.
        let mut line = None;
        loop {
            let (found, fault) = match file.read() {
                Ok(found) => (found, None),
                // A file that cannot be read does not say that the machine has left.
                Err(why) => (current.clone(), Some(why)),
            };
            if let Some(why) = fault.as_ref().filter(|_| fault != last_fault) {
                (self.warn)(&format!("the line to the team's desk stays as it is: {why}"));
            }
            last_fault = fault;
            if found != current {
                // The line before ends first, because the desk knows one key of a line at a time.
                drop(line.take());
                if let Some(membership) = &found {
                    line = self.begin_line(membership).await;
                } else {
                    self.desk.set_team_line(None).await;
                    self.board.set_team(None);
                }
                current = found;
            }
            // The board outlives this loop, so the wait cannot fail.
            wishes.changed().await.ok();
        }
    }

    async fn begin_line(&self, membership: &Invitation) -> Option<watch::Sender<()>> {
        let begun = match new_viewer_token() {
            Ok(key) => {
                // The desk has to know the key before the line comes with it.
                self.desk.set_team_line(Some(&key)).await;
                self.start_line(membership, key)
            }
            Err(error) => Err(error),
        };
        begun.map_err(|error| (self.warn)(&format!("no line to the team's desk: {error}"))).ok()
    }

    fn start_line(
        &self,
        membership: &Invitation,
        key: HiddenText,
    ) -> io::Result<watch::Sender<()>> {
        let (session_in, mut ended) = watch::channel(());
        let standing =
            LineStanding { board: Arc::clone(&self.board), membership: membership.clone() };
        standing.set_state(RemoteState::Connecting, None);
        let joined = standing.clone();
        let entrance = TeamEntrance {
            desk_socket: self.config.desk_socket.value.clone(),
            key,
            config: Arc::clone(&self.config),
            joined: Arc::new(move || joined.set_state(RemoteState::Connected, None)),
        };
        // The number stays the same over cuts, so that a run of a job finds its own questions
        // again.
        let number = Sha256Hash(random_bytes()?).to_string();
        let line = TeamLine { standing, entrance, number, warn: Arc::clone(&self.warn) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // Its own thread: what it waits for holds up no verdict.
        thread::Builder::new().name("team line".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = line.keep_connected() => {}
                    _ = ended.changed() => {}
                }
            });
        })?;
        Ok(session_in)
    }
}

#[derive(Clone)]
struct LineStanding {
    board: Arc<RemoteBoard>,
    membership: Invitation,
}

impl LineStanding {
    fn set_state(&self, state: RemoteState, text: Option<String>) {
        let Invitation { name, address, .. } = self.membership.clone();
        let since_ms = now_ms();
        self.board.set_team(Some(TeamLineView { address, name, state, since_ms, text }));
    }
}

struct TeamLine {
    standing: LineStanding,
    entrance: TeamEntrance,
    /// The number by which the team's desk recognises this line after a cut.
    number: String,
    warn: Warn,
}

impl TeamLine {
    async fn keep_connected(&self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let begun = Instant::now();
            let why = match self.connect().await {
                Ok(port) => {
                    let entrance = DeskEntrance::Team(self.entrance.clone());
                    let why = serve_line(entrance, port, Arc::clone(&self.warn)).await;
                    why.unwrap_or_else(|| "the team's desk has ended the line".to_owned())
                }
                Err(why) => why,
            };
            // Two machines with one token take the line from each other, and must not do so for
            // ever without a pause.
            if begun.elapsed() >= LONGEST_PAUSE {
                pause = FIRST_PAUSE;
            }
            self.standing.set_state(RemoteState::Failed, Some(why));
            // Many machines lose their line at once, and do not come back at once.
            let [part] = random_bytes().unwrap_or([255]);
            tokio::time::sleep(pause / 2 + pause / 2 * u32::from(part) / 255).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn connect(&self) -> Result<LinePort, String> {
        let membership = &self.standing.membership;
        let service = open_service(&self.entrance.config, membership)?;
        let (token, number) = (membership.secret.reveal(), (LINE_NUMBER, &*self.number));
        let opened = service.open_line(LINE_PATH, LINE_PROTOCOL, token, number).await;
        let stream = opened.map_err(|error| match error {
            ServiceError::Refused(answer) if answer.status.as_u16() == 401 => {
                "the team's desk does not know this machine any more: it was revoked, or its time \
                 is over. To forget the team: callgate team leave"
                    .to_owned()
            }
            error => error.to_string(),
        })?;
        // One line of either end fits.
        Ok(LinePort::over_stream(stream, LineBudget::new(2 * MAX_LINE)))
    }
}

/// Returns the team's desk as a service.
pub(crate) fn open_service(
    config: &Config,
    membership: &Invitation,
) -> Result<TeamService, String> {
    let Invitation { address, authority, .. } = membership;
    let service = TeamService::new(address, authority.as_deref(), &find_proxy(config));
    service.map_err(|error| error.to_string())
}
