//! Decides whether a tool may run: by the rules, or by a person at the desk.
//!
//! A question goes to the daemon's desk if a daemon runs, else to a desk in this process if the
//! front end takes questions, else it is denied at once. The front end sees each question under the
//! id that it has at the desk, and its answer is a press there: the desk is the only judge. Any
//! failure denies.

mod always;
mod asking;
mod board;
mod inside;
mod rules;
mod shown_request;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use callgate_agent::BoxFuture;
use callgate_agent::gate::{GateQuestion, PermissionGate, ToolPermit};
use callgate_agent::tool::files::HiddenFiles;
use callgate_approval::asker::{self, NoAnswer};
use callgate_approval::daemon::Warn;
use callgate_approval::desk::Ruling;
use callgate_approval::edit_lines::note_edit_lines;
use callgate_client::viewer::Viewer;
use callgate_wire::approval::{
    Action, AnswerExtra, ApprovalRequest, Press, RequestContext, RequestId, RequestKind,
};
use callgate_wire::desk::DeskCommand;
use callgate_wire::session::{PermissionAnswer, PermissionRequest};
use callgate_wire::tool_act::ToolKind;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::{self, Semaphore};

use crate::config::Config;
use always::AllowedActs;
use asking::{AskOutcome, QuestionToAsk};
use board::{Board, FoundQuestion, PostedQuestion, PressRoute};
use inside::InsideDesk;
use rules::{RuntimeRules, ToolRuling};
use shown_request::shown_request;

/// The agent's name in rules, at the desk and in the ledger.
const AGENT: &str = callgate_rules::act::OWN_AGENT;
/// Who answers at the front end, as the desk and the ledger know them.
const FRONT_END: &str = "the user in the front end";
/// How many questions are asked at once; more wait.
const MOST_ASKING: usize = 16;
/// Why something that a rule wants to be decided at the desk is not asked at the front end.
const NEEDS_DESK: &str = "a rule wants it decided at the desk: start `callgate up`";
/// Why something is denied in the mode `auto`.
const NOBODY_ASKED: &str = "no rule allows this, and nobody is asked in the mode `auto`. Do without \
    it, or tell the user what you would need";
/// The longest that the rules may take for one use of a tool.
/// There is a limit, because they look at the disk, which may not respond.
const RULED_WITHIN: Duration = Duration::from_secs(10);

/// The gate of the runtime.
pub(super) struct Gatekeeper {
    config: Config,
    folder: String,
    rules: Arc<RuntimeRules>,
    always: AllowedActs,
    board: Arc<Board>,
    /// The desk in this process, once it was needed.
    inside: tokio::sync::Mutex<Option<Arc<InsideDesk>>>,
    room: Semaphore,
    /// How long the rules may take for one use of a tool.
    ruled_within: Duration,
    /// Whether the front end may still answer.
    attended: sync::watch::Sender<bool>,
    warn: Warn,
}

impl Gatekeeper {
    /// Makes a gate. Nothing is read, opened or started before the first question.
    pub(super) fn new(config: &Config, warn: Warn) -> Self {
        Self {
            config: config.clone(),
            folder: config.agent.folder().to_string_lossy().into_owned(),
            rules: Arc::new(RuntimeRules::new(config, Arc::clone(&warn))),
            always: AllowedActs::default(),
            board: Arc::default(),
            inside: tokio::sync::Mutex::new(None),
            room: Semaphore::new(MOST_ASKING),
            ruled_within: RULED_WITHIN.min(config.timeout_seconds),
            attended: sync::watch::Sender::new(true),
            warn,
        }
    }

    /// Returns what searches leave out. For a tool and the folder in which its search begins, it
    /// returns the test for each file and folder, by the rules of that moment.
    pub(super) fn hidden_files(&self) -> HiddenFiles {
        let rules = Arc::clone(&self.rules);
        Arc::new(move |tool, start| rules.search_judge().hidden_test(tool, start))
    }

    async fn decide(&self, question: GateQuestion) -> ToolPermit {
        let GateQuestion { input, conversation, .. } = &question;
        let ask = self.judge_question(&question, input).await;
        match ask.ruling {
            Ruling::Allow { because } => return ToolPermit::Allowed { because, input: None },
            Ruling::Deny { because } => return ToolPermit::Denied { because, interrupt: false },
            Ruling::Ask { .. } | Ruling::AtDesk { .. } => {}
        }
        if let Some(because) = ask.fault {
            return ToolPermit::Futile { because };
        }
        // This comes after the rules, which it never overrides.
        if ask.like.as_ref().is_some_and(|like| self.always.is_allowed(conversation, like)) {
            let because = "a person has allowed this for the rest of the conversation".to_owned();
            return ToolPermit::Allowed { because, input: None };
        }
        if !question.may_ask {
            return ToolPermit::Denied { because: NOBODY_ASKED.to_owned(), interrupt: false };
        }
        match self.ask_person(&question, &ask).await {
            AskOutcome::Denied { text, interrupt } => {
                ToolPermit::Denied { because: text, interrupt }
            }
            AskOutcome::Unreached(error) => no_answer_permit(&error),
            AskOutcome::Allowed { text, input, always } => {
                if let (true, Some(like)) = (always, &ask.like) {
                    self.always.allow_act(conversation, like);
                }
                self.permit_by_person(&question, text, input).await
            }
        }
    }

    /// Asks the tool whether it can do anything with this input, then the rules, and then, if a
    /// person would be asked, the tool whether that is worth it: for at most `ruled_within`, and on
    /// another thread because a look at the disk may block.
    async fn judge_question(&self, question: &GateQuestion, input: &RawValue) -> ToolRuling {
        let (rules, tool) = (Arc::clone(&self.rules), question.tool.clone());
        let (refusal, fault) = (question.refusal.clone(), question.fault.clone());
        let (input, is_question) = (input.to_owned(), asks_a_person(question));
        let judging = tokio::task::spawn_blocking(move || {
            if let Some(because) = refusal.and_then(|refusal| refusal(&input)) {
                return ToolRuling::denied(because);
            }
            let ruling = rules.judge_call(&tool, input.get()).for_person_if(is_question);
            let may_read = |path: &str| rules.lets_read(path);
            let fault = fault.filter(|_| ruling.has_to_ask());
            let fault = fault.and_then(|fault| fault(&input, &may_read));
            ToolRuling { fault, ..ruling }
        });
        let denied = |why: &dyn Display| {
            ToolRuling::denied(format!(
                "the rules could not be asked, so the tool did not run: {why}"
            ))
        };
        match tokio::time::timeout(self.ruled_within, judging).await {
            Ok(Ok(said)) => said,
            Ok(Err(error)) => denied(&error),
            Err(_) => denied(&"they have not decided in time; perhaps a disk does not respond"),
        }
    }

    /// Allows what a person has allowed. Changed arguments are a new act, which a rule may deny, or
    /// want to be decided in another way.
    async fn permit_by_person(
        &self,
        question: &GateQuestion,
        because: String,
        input: Option<Box<RawValue>>,
    ) -> ToolPermit {
        // The answer to a question is no act.
        if let Some(changed) = &input
            && !asks_a_person(question)
            && let Ruling::Deny { because } | Ruling::AtDesk { because, .. } =
                self.judge_question(question, changed).await.ruling
        {
            return ToolPermit::Denied { because, interrupt: false };
        }
        ToolPermit::Allowed { because, input }
    }

    /// Asks at the daemon's desk, else at our own.
    async fn ask_person(&self, question: &GateQuestion, ask: &ToolRuling) -> AskOutcome {
        let mut request = self.build_request(question, ask);
        // It looks into the file that is edited, and a disk may not answer.
        let noted = tokio::task::spawn_blocking(move || {
            note_edit_lines(&mut request);
            request
        });
        let Ok(request) = noted.await else { return lost_outcome("the runtime is ending") };
        // The number of questions has a limit, because each keeps a thread or two waiting.
        let Ok(_room) = self.room.acquire().await else {
            return lost_outcome("the runtime is ending");
        };
        let asked = shown_request(question, &request, ask).await;
        match self.ask_daemon(request.clone(), question, asked.clone()).await {
            // Our own desk is not asked, because it knows one person, the user of the front end,
            // and could not tell two apart.
            AskOutcome::Unreached(_) if matches!(ask.ruling, Ruling::AtDesk { .. }) => {
                lost_outcome(NEEDS_DESK)
            }
            AskOutcome::Unreached(error) if question.mirror.is_some() => {
                self.ask_inside(request, question, ask, asked, &error).await
            }
            answered => answered,
        }
    }

    async fn ask_daemon(
        &self,
        request: ApprovalRequest,
        question: &GateQuestion,
        asked: PermissionRequest,
    ) -> AskOutcome {
        let desk_socket = &self.config.desk_socket.value;
        let mirror = question.mirror.clone();
        let posted = PostedQuestion { route: daemon_route(desk_socket), asked, mirror };
        self.ask_at(&self.config.socket.value, Some(desk_socket), request, posted).await
    }

    async fn ask_inside(
        &self,
        request: ApprovalRequest,
        question: &GateQuestion,
        ask: &ToolRuling,
        asked: PermissionRequest,
        error: &NoAnswer,
    ) -> AskOutcome {
        if !matches!(error, NoAnswer::NoDesk(_)) {
            (self.warn)(&format!("the daemon cannot be asked, so the front end is: {error}"));
        }
        let inside = match self.inside_desk().await {
            Ok(inside) => inside,
            Err(why) => return lost_outcome(&why),
        };
        inside.note_ruling(&request.request_id, ask.ruling.clone());
        let (route, mirror) = (inside.route(), question.mirror.clone());
        let posted = PostedQuestion { route, asked, mirror };
        let mut attended = self.attended.subscribe();
        tokio::select! {
            answered = self.ask_at(inside.socket(), None, request, posted) => answered,
            // Nobody else sees the questions of this desk.
            _ = attended.wait_for(|attended| !attended) => lost_outcome("the front end has gone"),
        }
    }

    /// Asks at the desk that serves this socket. `watched` is the socket at which another process's
    /// desk reports what becomes of the question; the desk in this process notifies the board
    /// itself.
    async fn ask_at(
        &self,
        socket: &Path,
        watched: Option<&Path>,
        request: ApprovalRequest,
        posted: PostedQuestion,
    ) -> AskOutcome {
        let (timeout, grace) = (self.config.timeout_seconds, self.config.grace_seconds);
        let settings = asker::AskerSettings { socket: socket.to_owned(), timeout, grace };
        let (board, warn) = (Arc::clone(&self.board), Arc::clone(&self.warn));
        let watched = watched.map(Path::to_owned);
        asking::ask_question(QuestionToAsk { settings, request, board, watched, warn }, posted)
            .await
    }

    /// Returns the desk in this process, which is opened when it is first needed.
    async fn inside_desk(&self) -> Result<Arc<InsideDesk>, String> {
        // It is locked while it is opened, so that two questions do not open two desks.
        let mut inside = self.inside.lock().await;
        if let Some(open) = inside.as_ref().filter(|open| !open.has_ended()) {
            return Ok(Arc::clone(open));
        }
        let (config, board, warn) =
            (self.config.clone(), Arc::clone(&self.board), Arc::clone(&self.warn));
        let handle = Handle::current();
        let opening =
            tokio::task::spawn_blocking(move || InsideDesk::start(&config, &board, &warn, &handle));
        let opened = Arc::new(opening.await.map_err(|error| error.to_string())??);
        *inside = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn build_request(&self, question: &GateQuestion, ask: &ToolRuling) -> ApprovalRequest {
        let GateQuestion { tool, input, conversation, .. } = question;
        let suggestion = ask.like.as_ref().and_then(always::RepeatableAct::suggestion);
        ApprovalRequest {
            request_id: asker::fresh_id(),
            tool_name: tool.to_string(),
            tool_input: input.clone(),
            cwd: self.folder.clone(),
            session_id: conversation.clone(),
            permission_suggestions: suggestion.into_iter().collect(),
            kind: RequestKind::Ask,
            agent: Some(AGENT.to_owned()),
            context: Some(RequestContext {
                event: Some("PermissionRequest".to_owned()),
                timeout_seconds: Some(self.config.timeout_seconds.as_secs()),
                takes: Some(vec![AnswerExtra::Always, AnswerExtra::Edit, AnswerExtra::Interrupt]),
                // The daemon does not know the folders of this runtime, and might allow it.
                must_ask: ask.ruling.because().map(str::to_owned),
                ..RequestContext::default()
            }),
            machine: None,
        }
    }

    async fn handle_answer(&self, answer: PermissionAnswer) -> Result<String, String> {
        const NONE: &str = "there is no such question: answer one that you were shown";
        let id = RequestId::parse(&answer.question).ok_or(NONE)?;
        let (counted, text) = match self.board.find(&id).ok_or(NONE)? {
            FoundQuestion::Answerable { route, has_offer } => {
                route(id, offered_press(answer.press, has_offer)).await?
            }
            // The desk may not have noticed yet, and would take the answer.
            FoundQuestion::Withdrawn => return Err("Too late. It was withdrawn.".to_owned()),
        };
        if counted { Ok(text) } else { Err(text) }
    }
}

impl PermissionGate for Gatekeeper {
    /// Reads the rules, and whatever else a verdict needs.
    fn warm(&self) {
        self.rules.judge_call("list_files", "{}");
    }

    fn decide_question(&self, question: GateQuestion) -> BoxFuture<'_, ToolPermit> {
        Box::pin(self.decide(question))
    }

    fn answer(&self, answer: PermissionAnswer) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(self.handle_answer(answer))
    }

    fn note_unattended(&self) {
        self.attended.send_replace(false);
    }
}

/// Returns true if a call asks a person something, so that only a person's answer settles it.
fn asks_a_person(question: &GateQuestion) -> bool {
    ToolKind::for_tool(AGENT, &question.tool).asks_a_person()
}

/// Returns the route by which answers reach the daemon's desk. The desk recognises the process that
/// asked a question and lets it answer its own questions, so no key to the desk is kept here.
fn daemon_route(desk_socket: &Path) -> PressRoute {
    let desk_socket = desk_socket.to_owned();
    Arc::new(move |request_id, press| {
        let desk_socket = desk_socket.clone();
        Box::pin(async move {
            let press = move || {
                Viewer::connect(&desk_socket)?.ask_for_reply(DeskCommand::Press {
                    request_id,
                    press,
                    confirm: None,
                })
            };
            let pressed = tokio::task::spawn_blocking(press).await;
            let pressed = pressed.map_err(|error| error.to_string())?;
            pressed.map_err(|error| error.to_string())
        })
    })
}

fn no_answer_permit(error: &NoAnswer) -> ToolPermit {
    let why = match error {
        NoAnswer::NoDesk(_) => String::new(),
        error => format!(" ({error})"),
    };
    let because = format!(
        "nobody can be asked: start `callgate up`, or use a front end that takes questions; \
         the tool did not run{why}"
    );
    ToolPermit::Denied { because, interrupt: false }
}

fn lost_outcome(why: &str) -> AskOutcome {
    let text = format!("nobody can be asked, so the tool did not run: {why}");
    AskOutcome::Denied { text, interrupt: false }
}

/// Returns the press to send to the desk. It keeps an "always" only if the desk offered one.
fn offered_press(press: Press, has_offer: bool) -> Press {
    match press {
        Press::Button(Action::Always(_)) if !has_offer => Press::Button(Action::Allow),
        Press::Words(words) if words.trim().is_empty() => Press::Button(Action::Deny),
        press => press,
    }
}
