//! Whether a tool may run: the rules decide, or a person at the desk.
//!
//! A question goes to the daemon's desk if a daemon runs, else to a desk in this process if the
//! front end takes questions, else it is denied at once. The front end sees each question under the
//! id that it has at the desk, and its answer is a press there: the desk is the only judge. Whatever
//! goes wrong denies.

mod always;
mod asking;
mod board;
mod folder;
mod hidden;
mod inside;
mod link;
mod rules;
#[cfg(test)]
mod tests;
mod watch;

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use callgate_agent::Later;
use callgate_agent::files::Hidden;
use callgate_agent::gate::{Gate, Permit, Question};
use callgate_approval::asker::{self, NoAnswer};
use callgate_approval::card::Card;
use callgate_approval::desk::Ruling;
use callgate_mask::mask_json;
use callgate_wire::approval::{Action, Context, Kind, Press, Request, RequestId, Takes};
use callgate_wire::session::{PermissionAnswer, PermissionRequest};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::{self, Semaphore};

use crate::config::Config;
use always::Always;
use asking::{Answered, Asking};
use board::{At, Board, Found, Posted, Way};
use inside::Inside;
use link::Link;
use rules::{Ask, Ruled, Rules};

/// Takes warnings, in words for a person; it never waits.
pub(super) type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// The agent's name in rules, at the desk and in the ledger.
const AGENT: &str = callgate_rules::act::OWN_AGENT;
/// Who answers at the front end, as the desk and the ledger know them.
const SHELL: &str = "the shell of callgate agent";
/// How many questions are asked at once; more wait.
const MOST_ASKING: usize = 16;
/// The longest that the rules may take with one use of a tool.
const RULED_WITHIN: Duration = Duration::from_secs(10);

/// The gate of the runtime.
pub(super) struct Gatekeeper {
    config: Config,
    folder: String,
    rules: Arc<Rules>,
    always: Always,
    board: Arc<Board>,
    link: Arc<Link>,
    /// The desk in this process, once it was needed.
    inside: tokio::sync::Mutex<Option<Arc<Inside>>>,
    room: Semaphore,
    /// How long the rules may take with one use of a tool.
    ruled_within: Duration,
    /// Whether the front end may still answer.
    attended: sync::watch::Sender<bool>,
    warn: Warn,
}

impl Gatekeeper {
    /// A gate by these settings. Nothing is read, opened or started before the first question.
    pub(super) fn new(config: &Config, warn: Warn) -> Self {
        let socket = &config.desk_socket.value;
        Self {
            config: config.clone(),
            folder: config.agent.folder.to_string_lossy().into_owned(),
            rules: Arc::new(Rules::new(config, Arc::clone(&warn))),
            always: Always::default(),
            board: Arc::default(),
            link: Arc::new(Link::new(socket.clone())),
            inside: tokio::sync::Mutex::new(None),
            room: Semaphore::new(MOST_ASKING),
            ruled_within: RULED_WITHIN.min(config.timeout),
            attended: sync::watch::Sender::new(true),
            warn,
        }
    }

    /// What searches leave out, by the rules as they are when a search begins: its tool and the
    /// folder in which it begins give what says so of each file and folder, if any is left out.
    pub(super) fn hidden(&self) -> Hidden {
        let rules = Arc::clone(&self.rules);
        Arc::new(move |tool, start| rules.judge().hidden(tool, start))
    }

    async fn decide(&self, question: Question) -> Permit {
        let Question { tool, input, conversation, .. } = &question;
        let ask = match self.ruled(tool, input).await {
            Ruled::Allow { because } => return Permit::Allowed { because, input: None },
            Ruled::Deny { because } => return Permit::Denied { because, interrupt: false },
            Ruled::Ask(ask) => ask,
        };
        if ask.like.as_ref().is_some_and(|like| self.always.has(conversation, like)) {
            let because = "a person has allowed this for the rest of the conversation".to_owned();
            return Permit::Allowed { because, input: None };
        }
        match self.ask(&question, &ask).await {
            Answered::Denied { text, interrupt } => Permit::Denied { because: text, interrupt },
            Answered::Unreached(error) => nobody(&error),
            Answered::Allowed { text, input, always } => {
                if let (true, Some(like)) = (always, &ask.like) {
                    self.always.add(conversation, like);
                }
                self.allowed(tool, text, input).await
            }
        }
    }

    /// What the rules say. A look at the disk may wait, so that this is no work for our own thread,
    /// and nobody waits for it longer than for a person.
    async fn ruled(&self, tool: &'static str, input: &RawValue) -> Ruled {
        let (rules, input) = (Arc::clone(&self.rules), input.to_owned());
        let judging = tokio::task::spawn_blocking(move || rules.rule(tool, input.get()));
        let denied = |why: &dyn Display| Ruled::Deny {
            because: format!("the rules could not be asked, so the tool did not run: {why}"),
        };
        match tokio::time::timeout(self.ruled_within, judging).await {
            Ok(Ok(said)) => said,
            Ok(Err(error)) => denied(&error),
            Err(_) => denied(&"they have not decided in time; a disk may not answer"),
        }
    }

    /// A person has allowed it. Changed arguments are a new act, which a rule may deny.
    async fn allowed(
        &self,
        tool: &'static str,
        because: String,
        input: Option<Box<RawValue>>,
    ) -> Permit {
        if let Some(changed) = &input
            && let Ruled::Deny { because } = self.ruled(tool, changed).await
        {
            return Permit::Denied { because, interrupt: false };
        }
        Permit::Allowed { because, input }
    }

    /// Asks at the daemon's desk, else at our own.
    async fn ask(&self, question: &Question, ask: &Ask) -> Answered {
        let request = self.request(question, ask);
        let Ok(_room) = self.room.acquire().await else {
            return lost("the runtime is ending");
        };
        let asked = shown(question, &request, ask).await;
        let socket = &self.config.socket.value;
        let answered =
            self.ask_at(socket, At::Daemon, request.clone(), question, asked.clone()).await;
        match answered {
            Answered::Unreached(error) if question.mirror.is_some() => {
                self.ask_inside(request, question, ask, asked, &error).await
            }
            answered => answered,
        }
    }

    async fn ask_inside(
        &self,
        request: Request,
        question: &Question,
        ask: &Ask,
        asked: PermissionRequest,
        error: &NoAnswer,
    ) -> Answered {
        if !matches!(error, NoAnswer::NoDesk(_)) {
            (self.warn)(&format!("the daemon cannot be asked, so the front end is: {error}"));
        }
        let inside = match self.inside().await {
            Ok(inside) => inside,
            Err(why) => return lost(&why),
        };
        let Ask { because, is_guarded, .. } = ask.clone();
        inside.ruled(&request.request_id, Ruling::Ask { because, is_guarded });
        let at = At::Inside(Arc::downgrade(&inside));
        let mut attended = self.attended.subscribe();
        tokio::select! {
            answered = self.ask_at(inside.socket(), at, request, question, asked) => answered,
            // Nobody else sees the questions of this desk.
            _ = attended.wait_for(|attended| !attended) => lost("the front end has gone"),
        }
    }

    async fn ask_at(
        &self,
        socket: &Path,
        at: At,
        request: Request,
        question: &Question,
        asked: PermissionRequest,
    ) -> Answered {
        let (timeout, grace) = (self.config.timeout, self.config.grace);
        let settings = asker::Settings { socket: socket.to_owned(), timeout, grace };
        let link = matches!(at, At::Daemon).then(|| Arc::clone(&self.link));
        let posted = Posted {
            way: Way { at, has_offer: asked.can_allow_always == Some(true) },
            asked,
            mirror: question.mirror.clone(),
        };
        let (board, warn) = (Arc::clone(&self.board), Arc::clone(&self.warn));
        asking::ask(Asking { settings, request, board, link, warn }, posted).await
    }

    /// The desk in this process, which is opened when it is first needed.
    async fn inside(&self) -> Result<Arc<Inside>, String> {
        let mut inside = self.inside.lock().await;
        if let Some(open) = inside.as_ref().filter(|open| !open.has_ended()) {
            return Ok(Arc::clone(open));
        }
        let (config, board, warn) =
            (self.config.clone(), Arc::clone(&self.board), Arc::clone(&self.warn));
        let handle = Handle::current();
        let opening =
            tokio::task::spawn_blocking(move || Inside::start(&config, &board, &warn, &handle));
        let opened = Arc::new(opening.await.map_err(|error| error.to_string())??);
        *inside = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn request(&self, question: &Question, ask: &Ask) -> Request {
        let Question { tool, input, conversation, .. } = question;
        let suggestion = ask.like.as_ref().and_then(always::Like::suggestion);
        Request {
            request_id: asker::fresh_id(),
            tool_name: (*tool).to_owned(),
            tool_input: input.clone(),
            cwd: self.folder.clone(),
            session_id: conversation.clone(),
            permission_suggestions: suggestion.into_iter().collect(),
            kind: Kind::Ask,
            agent: Some(AGENT.to_owned()),
            context: Some(Context {
                event: Some("PermissionRequest".to_owned()),
                timeout_seconds: Some(self.config.timeout.as_secs()),
                takes: Some(vec![Takes::Always, Takes::Edit, Takes::Interrupt]),
                must_ask: ask.because.clone(),
                ..Context::default()
            }),
        }
    }

    async fn press(&self, answer: PermissionAnswer) -> Result<String, String> {
        const NONE: &str = "there is no such question: answer one that you were shown";
        let id = RequestId::parse(&answer.question).map_err(|_| NONE.to_owned())?;
        let way = match self.board.find(&id).ok_or(NONE)? {
            Found::At(way) => way,
            // The desk may not have noticed yet, and would take the answer.
            Found::Withdrawn => return Err("Too late. It was withdrawn.".to_owned()),
        };
        let press = offered(answer.press, way.has_offer);
        let (counted, text) = match way.at {
            At::Inside(inside) => {
                let inside = inside.upgrade().ok_or("the desk of this question has ended")?;
                inside.press(id, press).await
            }
            At::Daemon => {
                let link = Arc::clone(&self.link);
                let pressed = tokio::task::spawn_blocking(move || link.press(id, press)).await;
                let pressed = pressed.map_err(|error| error.to_string())?;
                pressed.map_err(|error| error.to_string())?
            }
        };
        if counted { Ok(text) } else { Err(text) }
    }
}

impl Gate for Gatekeeper {
    /// Reads the rules, and whatever else a verdict needs.
    fn warm(&self) {
        self.rules.rule("list_files", "{}");
    }

    fn may(&self, question: Question) -> Later<'_, Permit> {
        Box::pin(self.decide(question))
    }

    fn answer(&self, answer: PermissionAnswer) -> Later<'_, Result<String, String>> {
        Box::pin(self.press(answer))
    }

    fn unattended(&self) {
        self.attended.send_replace(false);
    }
}

/// What the front end is shown of a question: masked, as at the desk. It is told until when it can
/// be answered when the desk has said it.
async fn shown(question: &Question, request: &Request, ask: &Ask) -> PermissionRequest {
    let masked = mask_json(request.tool_input.get()).into_shown();
    let title = Card::new(request, &masked, 0, 0).summary();
    let input = RawValue::from_string(masked).unwrap_or_else(|_| RawValue::NULL.to_owned());
    // Whoever is not shown the question needs no look at the file.
    let diff = match (&question.mirror, &question.preview) {
        (Some(_), Some(preview)) => preview(&question.input).await,
        _ => None,
    };
    PermissionRequest {
        question: request.request_id.to_string(),
        tool_id: question.tool_id.clone(),
        tool_name: question.tool.to_owned(),
        title,
        input,
        reason: ask.because.clone(),
        can_allow_always: Some(!request.permission_suggestions.is_empty()),
        deadline: None,
        diff,
    }
}

fn nobody(error: &NoAnswer) -> Permit {
    let why = match error {
        NoAnswer::NoDesk(_) => String::new(),
        error => format!(" ({error})"),
    };
    let because = format!(
        "nobody can be asked: start `callgate up`, or use a front end that takes questions; \
         the tool did not run{why}"
    );
    Permit::Denied { because, interrupt: false }
}

fn lost(why: &str) -> Answered {
    let text = format!("nobody can be asked, so the tool did not run: {why}");
    Answered::Denied { text, interrupt: false }
}

/// Returns the press that the desk is given. It has an "always" only where it offered one.
fn offered(press: Press, has_offer: bool) -> Press {
    match press {
        Press::Button(Action::Always(_)) if !has_offer => Press::Button(Action::Allow),
        Press::Words(words) if words.trim().is_empty() => Press::Button(Action::Deny),
        press => press,
    }
}
