//! The session: reads the requests of a front end and sends it events.
//!
//! One task reads requests and starts what they ask for. Each conversation has a lane in which its
//! turns run one after the other, each as a task of its own. Everything that is sent passes through
//! `SessionOutput`, which keeps the order.

mod attachments;
mod calls;
mod commands;
mod conversation_numbers;
mod drive;
mod intake;
mod jobs;
mod lanes;
mod log;
mod messages;
mod modes;
mod options;
mod order;
mod output;
mod output_schema;
mod prompts;
mod questions;
mod request_budget;
mod shutdown;
mod turn_changes;
mod warming;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use callgate_wire::session::{SessionCommand, SessionEvent, SessionRequest, Unreadable};
use tokio::sync::{mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};

use crate::budget::RequestRate;
use crate::failure::RequestFailure;
use crate::history::{EngineSelection, HistoryError};
use crate::tool::ToolSource;
use crate::turn::StopReason;
use calls::front_tools::FrontTools;
use calls::session_tools::{SessionTools, ToolMap};
use commands::CurrentConversation;
use conversation_numbers::ConversationNumbers;
use intake::{IncomingLine, IncomingRequests};
use lanes::{ConversationJob, ConversationLanes, JobKind, TurnControl};
pub use log::{LogLevel, SessionLog};
use modes::ConversationModes;
pub use options::{ResumedConversation, SessionOptions};
pub use order::MOST_OPEN;
use output::SessionOutput;
pub use output::{Greeting, ROOM, write_greeting};
use prompts::ConversationPrompts;
use questions::PersonQuestions;
pub use shutdown::Shutdown;
use turn_changes::undo::UntoldUndos;

/// How long writing the last lines may take when all is done and the front end still reads.
const ALL_SAID: Duration = Duration::from_mins(10);

/// What all tasks of a session share.
struct SessionShared {
    options: SessionOptions,
    tools: SessionTools,
    front: Arc<FrontTools>,
    output: SessionOutput,
    /// Counts the requests to the engine in the last minute.
    request_rate: Mutex<RequestRate>,
    /// The length of each conversation when a turn of it ended in this process, which has reported
    /// the end. One that still has this length was left by this process.
    endings: ConversationNumbers,
    /// The stored message of each conversation that its provider has named in a refusal.
    refused: ConversationNumbers,
    modes: ConversationModes,
    prompts: ConversationPrompts,
    questions: PersonQuestions,
    undos: UntoldUndos,
    warming: Once,
}

#[derive(Debug, Clone)]
enum HaltReason {
    Cancelled,
    /// It has failed before its turn began, or the runtime is ending.
    Failed(RequestFailure),
}

struct AgentSession {
    shared: Arc<SessionShared>,
    started: Instant,
    lanes: ConversationLanes,
    /// The jobs that run, by the ids of their requests, and how to stop them.
    halts: HashMap<String, watch::Sender<Option<HaltReason>>>,
    jobs: JoinSet<()>,
    named: HashMap<Id, (String, Option<String>)>,
    current: Arc<CurrentConversation>,
    /// The requests that arrived before the current conversation was known.
    early: Option<Vec<SessionRequest>>,
}

/// Serves requests from `input` until it ends, `ending` receives a shutdown, or no one reads
/// `output`. All requests have ended by then. `greeting` was written to the same output before.
pub async fn serve_session(
    greeting: &Greeting,
    options: SessionOptions,
    input: impl Read + AsFd + Send + 'static,
    output: impl Write + AsFd + Send + 'static,
    mut ending: mpsc::Receiver<Shutdown>,
) -> io::Result<()> {
    let output = SessionOutput::start_on(output, options.log.clone())?;
    output.note_ready(greeting);
    let mut requests = IncomingRequests::start(input)?;
    let found = commands::find_resumed(options.history.clone(), options.resume.clone());
    tokio::pin!(found);
    let mut session = AgentSession::new(options, output.clone());
    let (mut is_open, mut ending_is_open) = (true, true);
    loop {
        tokio::select! {
            biased;
            // In this order: requests that keep coming delay neither the end nor the end of a job.
            () = output.wait_until_gone() => return session.end_session(Shutdown::Alone, requests).await,
            asked = ending.recv(), if ending_is_open => match asked {
                Some(ending) => return session.end_session(ending, requests).await,
                // A closed channel is always ready, and would be chosen for ever.
                None => ending_is_open = false,
            },
            last = &mut found, if session.early.is_some() => session.go_on_with(last),
            Some(ended) = session.jobs.join_next_with_id() => session.job_ended(&ended),
            incoming = next_request(&output, &mut requests), if is_open => {
                is_open = incoming.is_some();
                session.handle_line(incoming);
            }
        }
        if !is_open && session.jobs.is_empty() && session.early.is_none() {
            break;
        }
    }
    output.close(|| SessionEvent::error("the runtime has ended"), ALL_SAID).await;
    // Only now: a server may take its time to end, and nobody waits for that with the last lines.
    session.shared.tools.close().await;
    Ok(())
}

/// Returns the end of a request without data.
fn end_of_request(done: Result<(), RequestFailure>) -> SessionEvent {
    done.map_or_else(SessionEvent::from, |()| SessionEvent::Done(None))
}

/// Waits for the next request, once there is room for its answer.
async fn next_request(
    output: &SessionOutput,
    requests: &mut IncomingRequests,
) -> Option<IncomingLine> {
    output.room_for_requests().await;
    requests.next().await
}

impl AgentSession {
    fn new(options: SessionOptions, output: SessionOutput) -> Self {
        let front = Arc::new(FrontTools::new(output.clone()));
        let own: Arc<dyn ToolSource> = Arc::<FrontTools>::clone(&front);
        // Last: of two tools with one name the first counts, and a front end replaces none.
        let sources = options.sources.iter().cloned().chain([own]).collect();
        let tools = SessionTools::new(options.tools.clone(), sources);
        let shared = Arc::new(SessionShared {
            options,
            tools,
            front,
            output,
            request_rate: Mutex::default(),
            endings: ConversationNumbers::default(),
            refused: ConversationNumbers::default(),
            modes: ConversationModes::default(),
            prompts: ConversationPrompts::default(),
            questions: PersonQuestions::default(),
            undos: UntoldUndos::default(),
            warming: Once::new(),
        });
        Self {
            shared,
            started: Instant::now(),
            lanes: ConversationLanes::default(),
            halts: HashMap::new(),
            jobs: JoinSet::new(),
            named: HashMap::new(),
            current: Arc::default(),
            early: Some(Vec::new()),
        }
    }

    /// Sets the current conversation, and serves the requests that waited for it.
    fn go_on_with(&mut self, last: Result<Option<String>, HistoryError>) {
        match last {
            Ok(last) => self.current.continue_with(last),
            Err(error) => {
                self.shared.options.log.warn(&format!("cannot continue the conversation: {error}"));
                self.current.continue_with(None);
            }
        }
        for SessionRequest { id, command } in self.early.take().unwrap_or_default() {
            self.handle_command(id, command);
        }
    }

    /// Handles an incoming line; `None` is the end of the input.
    fn handle_line(&mut self, incoming: Option<IncomingLine>) {
        let Some(incoming) = incoming else {
            // Nobody is left to answer: neither calls nor questions may wait for the front end.
            self.shared.front.end_calls();
            return self.shared.options.gate.note_unattended();
        };
        let log = &self.shared.options.log;
        match incoming {
            IncomingLine::Request(request) => {
                log.write_message("received", request.command.kind(), Some(&request.id));
                self.handle_request(*request);
            }
            IncomingLine::Unreadable(Unreadable { id, reason }) => {
                self.refuse_unreadable(id.as_deref(), &reason.to_string());
            }
            IncomingLine::TooLong { size, id } => {
                let most = callgate_wire::session::MAX_LINE;
                let text = format!(
                    "a line of {size} bytes was dropped: a line may have {most}, so send less, and \
                     attach large files by their path"
                );
                self.refuse_unreadable(id.as_deref(), &text);
            }
            IncomingLine::Broken(error) => {
                log.write_line(LogLevel::Error, &format!("cannot read standard input: {error}"));
            }
        }
    }

    fn refuse_unreadable(&self, id: Option<&str>, reason: &str) {
        self.shared.options.log.warn(reason);
        let event = RequestFailure::permanent("protocol", reason).into();
        // An open id belongs to another request, which must not be ended here.
        let is_open = id.is_some_and(|id| self.shared.output.is_open(id));
        self.shared.output.refuse(id.filter(|_| !is_open), event);
    }

    fn handle_request(&mut self, request: SessionRequest) {
        let SessionRequest { id, command } = request;
        let output = self.shared.output.clone();
        if let Err(refused) = output.open_request(&id, &command) {
            let failure = RequestFailure::permanent("protocol", refused.to_string());
            return output.refuse(Some(&id), failure.into());
        }
        if command.is_extension() && !output.is_greeted() {
            let text = format!("`{}` is an extension: send `hello` first", command.kind());
            return output.send_event(&id, RequestFailure::permanent("protocol", text).into());
        }
        match &mut self.early {
            // These requests need no conversation. All others keep their order: a `cancel` finds
            // its target.
            _ if matches!(
                command,
                SessionCommand::GetStatus
                    | SessionCommand::ToolAnswer(_)
                    | SessionCommand::Hello { .. }
                    | SessionCommand::Replay { .. }
            ) =>
            {
                self.handle_command(id, command);
            }
            Some(early) => early.push(SessionRequest { id, command }),
            None => self.handle_command(id, command),
        }
    }

    fn handle_command(&mut self, id: String, command: SessionCommand) {
        let output = self.shared.output.clone();
        match command {
            SessionCommand::GetStatus => self.answer_status(id),
            SessionCommand::Hello { capabilities, tools } => {
                let offered = self.shared.front.offer(tools);
                // A `hello` that is refused changes nothing.
                if offered.is_ok() {
                    output.note_capabilities(&capabilities);
                }
                output.send_event(&id, end_of_request(offered));
            }
            SessionCommand::ToolAnswer(answer) => {
                output.send_event(&id, end_of_request(self.shared.front.answer(answer)));
            }
            SessionCommand::Cancel { target } => self.cancel(&id, &target),
            SessionCommand::Replay { from_seq } => {
                output.send_event(&id, commands::answer_replay(&output, from_seq));
            }
            SessionCommand::UserMessage(said) => self.handle_message(id, said),
            SessionCommand::EditLast(said) => {
                self.queue(&id, said.conversation_id(), JobKind::Edit(said));
            }
            ref command @ SessionCommand::Regenerate { .. } => {
                self.queue(&id, command.conversation_id(), JobKind::Regenerate);
            }
            ref command @ SessionCommand::ClearHistory { .. } => {
                self.queue(&id, command.conversation_id(), JobKind::Clear);
            }
            SessionCommand::Rewind { conversation_id, length } => {
                self.queue(&id, conversation_id, JobKind::Rewind(length));
            }
            SessionCommand::Compact { conversation_id } => {
                self.queue(&id, conversation_id, JobKind::Compact);
            }
            SessionCommand::LeaveOut { conversation_id } => {
                self.queue(&id, conversation_id, JobKind::LeaveOut);
            }
            SessionCommand::UndoTurn { conversation_id, turn, partial } => {
                self.queue(&id, conversation_id, JobKind::UndoTurn { turn, partial });
            }
            SessionCommand::DeleteConversation { conversation_id } => {
                self.queue(&id, Some(conversation_id), JobKind::Delete);
            }
            ref command @ SessionCommand::SetEngine { ref engine, ref model, .. } => {
                let chosen = EngineSelection { engine: engine.clone(), model: model.clone() };
                self.queue(&id, command.conversation_id(), JobKind::SetEngine(chosen));
            }
            command => self.at_once(id, command),
        }
    }

    fn queue(&mut self, id: &str, conversation: Option<String>, work: JobKind) {
        let job = ConversationJob { id: id.to_owned(), work };
        // Resolved now: when the job begins, another conversation may be the current one.
        let lane = conversation.unwrap_or_else(|| self.current.name());
        if let Some(job) = self.lanes.add_job(&lane, job) {
            return self.start(lane, job);
        }
        self.shared.output.place_request(id, &lane, true);
        let text = "waiting until the message before it is answered";
        self.shared.output.send_event(id, SessionEvent::notice("queued", text));
    }

    fn start(&mut self, lane: String, job: ConversationJob) {
        let (halts, halt) = watch::channel(None);
        self.halts.insert(job.id.clone(), halts);
        let (shared, current) = (Arc::clone(&self.shared), Arc::clone(&self.current));
        let (id, conversation) = (job.id.clone(), lane.clone());
        self.shared.output.place_request(&id, &lane, false);
        let control = TurnControl { halt, waiting: self.lanes.waiting(&lane) };
        let task = self.jobs.spawn(async move {
            jobs::run_job(&shared, &current, &conversation, job, control).await;
        });
        self.named.insert(task.id(), (id, Some(lane)));
    }

    /// Runs a command that waits only for the history.
    fn at_once(&mut self, id: String, command: SessionCommand) {
        let (shared, current) = (Arc::clone(&self.shared), Arc::clone(&self.current));
        let name = id.clone();
        let task = self.jobs.spawn(async move {
            let event = commands::carry_out_request(&shared, &current, &id, command).await;
            shared.output.send_event(&id, event.unwrap_or_else(SessionEvent::from));
        });
        self.named.insert(task.id(), (name, None));
    }

    /// Handles the end of a task: its request gets an end if it has none, and the next job begins.
    fn job_ended(&mut self, ended: &Result<(Id, ()), JoinError>) {
        let task = match ended {
            Ok((task, ())) => *task,
            Err(error) => error.id(),
        };
        let Some((id, lane)) = self.named.remove(&task) else { return };
        self.halts.remove(&id);
        // A request without an end means that its task has panicked.
        if self.shared.output.is_open(&id) {
            let text = "the request ended because of a bug in callgate: please report it";
            self.shared.output.send_event(&id, RequestFailure::permanent("internal", text).into());
        }
        let next = lane.and_then(|lane| self.lanes.end_job(&lane).map(|job| (lane, job)));
        if let Some((lane, job)) = next {
            self.start(lane, job);
        }
    }

    fn cancel(&mut self, id: &str, target: &str) {
        let output = &self.shared.output;
        // It waits for its turn, so no task reports its end.
        if self.lanes.remove(target) {
            output.send_event(target, StopReason::Cancelled.done_for_free());
        } else if let Some(halt) = self.halts.get(target) {
            halt.send_replace(Some(HaltReason::Cancelled));
        } else if !output.is_open(target) {
            let text = "no open request has this id: it has ended, or never began";
            return output.send_event(id, RequestFailure::permanent("not_found", text).into());
        }
        output.send_event(id, SessionEvent::Done(None));
    }
}
