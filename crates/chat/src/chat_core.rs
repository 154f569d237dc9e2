//! The chat without its terminal and its runtime: keys and events go in, actions and frames come
//! out. Pure, but for the names of attached files, which are looked up in the working folder.

mod asked_questions;
mod branches;
mod changed_files;
mod commands;
mod drawing;
mod engines;
mod keys;
mod lines;
mod messages;

use std::collections::VecDeque;
use std::time::Duration;

use callgate_client::{ClientError, RequestEvent, RuntimeState};
use callgate_wire::session::{
    ConversationEvents, ConversationSummary, EngineListing, SessionCommand, SessionEvent, TurnEnd,
};

use crate::answer_prompt::AnswerPrompt;
use crate::attached_files::ChatFolders;
use crate::command_menu::CommandMenu;
use crate::input_history::InputHistory;
use crate::line_editor::LineEditor;
use crate::question_prompt::QuestionPrompt;
use crate::status_line::ChatStatus;
use crate::styled_text::ChatPage;
use crate::transcript::Transcript;
use crate::wanted_conversation::WantedConversation;
use branches::BranchKind;

/// What is said below an answer that failed or was interrupted.
const RETRY: &str = "Retry: /regenerate asks for the answer again.";

/// The exit code after Ctrl-C, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// What the chat wants to be done.
#[derive(Debug)]
pub enum ChatAction {
    /// Send a request whose events are shown, under this number.
    Turn(u64, SessionCommand),
    /// Send a request whose end alone matters.
    Errand(Errand, SessionCommand),
    /// Cancel the request with this number.
    Cancel(u64),
    /// Keep what was typed for the next session.
    Remember(String),
    /// Start the runtime again.
    Restart,
    /// Stop the program, as Ctrl-Z does.
    Suspend,
    /// End with this exit code.
    Quit(u8),
}

/// What a request without events is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Errand {
    Status,
    List {
        words: String,
        /// Whether the runtime lists those with the words. One that cannot search lists all.
        is_found: bool,
    },
    /// Looks for the conversation that is to be continued.
    Resume(WantedConversation),
    New,
    Rename,
    Delete {
        id: String,
    },
    Clear,
    Answer {
        question: String,
    },
    Models,
    SetEngine,
    SetMode,
    /// Looks for the exchange from which on something is left out.
    Branch {
        kind: BranchKind,
        count: usize,
    },
    Fork,
    Rewind,
    /// Shows what a turn changed.
    Diff,
}

impl Errand {
    /// Returns true if the next message may belong to another conversation after it.
    fn changes_conversation(&self) -> bool {
        matches!(
            self,
            Self::New | Self::Delete { .. } | Self::Branch { .. } | Self::Fork | Self::Rewind
        )
    }
}

/// What keys currently mean.
#[derive(Debug, Clone, PartialEq, Eq)]
enum InputMode {
    /// A message or a command.
    Message,
    /// A replacement for the last message.
    EditLast,
    /// The reason for a deny.
    Words { question: String },
    /// The changed arguments of a call.
    Arguments { question: String },
    /// A key that confirms the deletion of a conversation.
    ConfirmDelete { id: String },
    /// Words that something typed before contains, and the number of what was found.
    Search { found: Option<usize> },
}

/// A request whose events are shown.
#[derive(Debug)]
struct OpenTurn {
    number: u64,
    since: Duration,
    /// Whether it loads a conversation or undoes something, and does not answer a message.
    is_loading: bool,
    is_cancelled: bool,
}

/// The state of the chat.
#[derive(Debug)]
pub struct ChatCore {
    page: ChatPage,
    folders: ChatFolders,
    transcript: Transcript,
    editor: LineEditor,
    /// What was in the editor before it was needed for something else.
    set_aside: LineEditor,
    history: InputHistory,
    menu: CommandMenu,
    mode: InputMode,
    /// A line above the input, until the next key.
    hint: String,
    questions: VecDeque<(u64, QuestionPrompt)>,
    /// The questions of the model and of tool servers.
    asked: VecDeque<(u64, AnswerPrompt)>,
    turns: Vec<OpenTurn>,
    last_turn: u64,
    status: ChatStatus,
    /// What the runtime is doing while it is not ready.
    runtime: &'static str,
    capabilities: Vec<String>,
    conversation: Option<String>,
    /// The conversation to continue, until the runtime was asked for it.
    wanted: WantedConversation,
    /// The conversations as they were listed last.
    listed: Vec<ConversationSummary>,
    /// The number of open errands that decide which conversation is current, and what was typed
    /// meanwhile.
    changes: usize,
    typed_meanwhile: VecDeque<String>,
    /// The engines as they were listed last.
    engines: Vec<EngineListing>,
    last_message: Option<String>,
    /// Whether messages are drawn that the user has sent.
    echoes: bool,
    /// When Ctrl-C was pressed, so that a second one quits.
    interrupted_at: Option<Duration>,
    actions: Vec<ChatAction>,
}

impl ChatCore {
    pub fn new(
        page: ChatPage,
        folders: ChatFolders,
        history: InputHistory,
        wanted: WantedConversation,
    ) -> Self {
        Self {
            page,
            transcript: Transcript::in_folder(&folders.working),
            folders,
            editor: LineEditor::default(),
            set_aside: LineEditor::default(),
            history,
            menu: CommandMenu::default(),
            mode: InputMode::Message,
            hint: String::new(),
            questions: VecDeque::new(),
            asked: VecDeque::new(),
            turns: Vec::new(),
            last_turn: 0,
            status: ChatStatus::default(),
            runtime: "starting",
            capabilities: Vec::new(),
            conversation: None,
            wanted,
            listed: Vec::new(),
            changes: 0,
            typed_meanwhile: VecDeque::new(),
            engines: Vec::new(),
            last_message: None,
            echoes: true,
            interrupted_at: None,
            actions: Vec::new(),
        }
    }

    /// Removes and returns the actions to carry out now.
    pub fn take_actions(&mut self) -> Vec<ChatAction> {
        std::mem::take(&mut self.actions)
    }

    /// Returns true while the status line shows the elapsed time.
    pub fn is_working(&self) -> bool {
        !self.turns.is_empty()
    }

    pub fn resize(&mut self, page: ChatPage) {
        self.page = page;
    }

    /// Shows something that is not part of the conversation.
    pub fn show_note(&mut self, text: &str) {
        self.transcript.draw_note(text, &self.page);
    }

    /// Notes that the last frame is on the screen.
    pub fn mark_printed(&mut self, now: Duration) {
        // In any other mode at most the beginning of a question is drawn, which nobody is asked to
        // read.
        if let (InputMode::Message, Some((_, question))) = (&self.mode, self.questions.front_mut())
        {
            question.guard.mark_printed(now);
        } else if self.is_answering()
            && let Some((_, asked)) = self.asked.front_mut()
        {
            asked.guard.mark_printed(now);
        }
    }

    pub fn handle_event(&mut self, turn: u64, event: &RequestEvent) {
        match event {
            RequestEvent::Said(reply) => self.handle_session_event(turn, &reply.event),
            RequestEvent::Failed(ClientError::Cancelled) => {
                self.transcript.draw_note("cancelled", &self.page);
            }
            RequestEvent::Failed(error) => {
                self.transcript.draw_error(&error.to_string(), &self.page);
                if !self.is_loading(turn) {
                    self.show_note(RETRY);
                }
            }
        }
        if event.is_end() {
            self.end_turn(turn);
        }
    }

    /// Returns true if the turn shows a stored conversation.
    fn is_loading(&self, turn: u64) -> bool {
        self.turns.iter().any(|open| open.number == turn && open.is_loading)
    }

    fn handle_session_event(&mut self, turn: u64, event: &SessionEvent) {
        let is_loading = self.is_loading(turn);
        // A message that steers an answer was shown when it was sent.
        if matches!(event, SessionEvent::UserMessage(_)) && !is_loading {
            return;
        }
        self.transcript.draw_event(event, &self.page);
        match event {
            SessionEvent::UserMessage(said) => self.last_message = Some(said.message.clone()),
            SessionEvent::PermissionRequest(request) => {
                self.questions.push_back((turn, QuestionPrompt::new(request.clone())));
            }
            SessionEvent::PermissionResolved(resolved) => self.remove_question(&resolved.question),
            SessionEvent::Question(asked) => {
                self.asked.push_back((turn, AnswerPrompt::new(asked.clone())));
            }
            SessionEvent::QuestionResolved(resolved) => self.remove_question(&resolved.question),
            SessionEvent::Usage(report) => self.status.report = *report,
            SessionEvent::TurnChanges(changes) => self.files_changed(changes),
            SessionEvent::Done(_) => self.handle_done(event),
            SessionEvent::Error { .. } if !is_loading => self.show_note(RETRY),
            _ => {}
        }
    }

    fn handle_done(&mut self, event: &SessionEvent) {
        self.transcript.end_answer(&self.page);
        if event.done_data::<ConversationEvents>().is_some_and(|loaded| loaded.is_unfinished) {
            self.show_note("The last message has no whole answer.");
            self.show_note(RETRY);
        }
        if let Some(undone) = event.done_data() {
            self.files_put_back(&undone);
        }
        let Some(end) = event.done_data::<TurnEnd>() else { return };
        self.status.add_turn(&end);
        let note = match end.stop_reason.as_str() {
            "end_turn" | "steered" | "answered" => return,
            "cancelled" => "cancelled",
            "max_tokens" => "the answer reached its maximum length",
            "max_turn_requests" => "the answer reached the limit of rounds (agent.max_rounds)",
            "refusal" => "the model refused to answer",
            other => &format!("the answer ended: {other}"),
        };
        self.transcript.draw_note(note, &self.page);
    }

    fn end_turn(&mut self, turn: u64) {
        self.turns.retain(|open| open.number != turn);
        // No answer would reach a question of a request that has ended.
        self.turn_resolved(turn);
        if self.turns.is_empty() {
            self.transcript.end_answer(&self.page);
        }
    }

    /// Handles a new state of the runtime.
    pub fn runtime_state(&mut self, state: &RuntimeState) {
        match state {
            RuntimeState::Starting => self.runtime = "starting",
            RuntimeState::Ready(ready) => {
                self.runtime = "";
                // A runtime that was started again may be another version.
                self.capabilities.clone_from(&ready.capabilities);
                self.actions.push(ChatAction::Errand(Errand::Status, SessionCommand::GetStatus));
                self.look_for_wanted();
            }
            RuntimeState::Died { reason, last_words, .. } => {
                self.runtime = "restarting";
                let words = last_words.as_ref().map(|words| format!(": {words}"));
                let text = format!("The runtime is gone ({reason}){}", words.unwrap_or_default());
                self.transcript.draw_error(&text, &self.page);
            }
            RuntimeState::Restarting { .. } => {
                self.show_note("It is being restarted; the conversation goes on.");
            }
            RuntimeState::GivenUp => {
                self.runtime = "gone";
                self.show_note("It died too often and is not restarted: /restart tries once more.");
            }
            RuntimeState::Ended => self.runtime = "ended",
        }
    }

    fn start_turn(&mut self, now: Duration, command: SessionCommand) {
        self.last_turn += 1;
        let number = self.last_turn;
        let is_loading = matches!(
            command,
            SessionCommand::LoadConversation { .. } | SessionCommand::UndoTurn { .. }
        );
        self.turns.push(OpenTurn { number, since: now, is_loading, is_cancelled: false });
        self.actions.push(ChatAction::Turn(number, command));
    }

    /// Goes back to typing messages.
    fn leave_mode(&mut self) {
        self.mode = InputMode::Message;
        self.editor = std::mem::take(&mut self.set_aside);
    }

    /// Lets the user type something other than a message.
    fn enter_mode(&mut self, mode: InputMode, text: String) {
        // From another mode nothing is set aside: the message is there already.
        if self.mode == InputMode::Message {
            self.set_aside = std::mem::replace(&mut self.editor, LineEditor::with_text(text));
        }
        self.mode = mode;
    }
}

#[cfg(test)]
mod tests;
