//! What the commands with a slash do, and what becomes of their requests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use callgate_client::ClientError;
use callgate_wire::session::{
    ConversationCreated, ConversationEngine, ConversationList, ConversationSummary, LoadAs,
    ModeSet, SessionCommand, SessionEvent, SessionReply, capability,
};
use jiff::{Timestamp, Zoned};
use serde::de::DeserializeOwned;

use super::branches::BranchKind;
use super::{ChatAction, ChatCore, Errand, InputMode};
use crate::slash_command::{SlashCommand, commands_help};
use crate::styled_text::{StyledText, TextStyle, WrapAt};
use crate::wanted_conversation::{MissingConversation, WantedConversation};

/// How many conversations are listed.
const MOST_LISTED: u32 = 20;
/// Among how many conversations titles are looked for.
/// It is more than is listed, because most of them have other titles.
const MOST_SEARCHED: u32 = 1000;
/// How many messages of a conversation are shown when it is opened.
const MOST_LOADED: u32 = 40;

impl ChatCore {
    pub(super) fn run_slash_command(&mut self, now: Duration, command: SlashCommand, rest: &str) {
        if let Some(missing) = command.entry().needs.filter(|needed| !self.has_capability(needed)) {
            let text = format!("This runtime cannot do that: it does not offer `{missing}`.");
            return self.transcript.draw_error(&text, &self.page);
        }
        match command {
            SlashCommand::Help => self.show_note(&commands_help()),
            SlashCommand::New => {
                let title = Some(rest.to_owned()).filter(|title| !title.is_empty());
                let command = SessionCommand::NewConversation { conversation_id: None, title };
                self.send_errand(Errand::New, command);
            }
            SlashCommand::List => {
                let words = Some(rest.to_owned()).filter(|words| !words.is_empty());
                let is_found = words.is_none() || self.has_capability(capability::SEARCH);
                let limit = Some(if is_found { MOST_LISTED } else { MOST_SEARCHED });
                let search = words.filter(|_| is_found);
                let command = SessionCommand::ListConversations { limit, before: None, search };
                self.send_errand(Errand::List { words: rest.to_owned(), is_found }, command);
            }
            SlashCommand::Open => match self.listed_at(rest) {
                Ok(id) => self.open_conversation(now, id),
                Err(why) => self.transcript.draw_error(&why, &self.page),
            },
            SlashCommand::Rename => self.rename_conversation(rest),
            SlashCommand::Delete => self.delete_conversation(rest),
            SlashCommand::Clear => {
                let command = SessionCommand::ClearHistory { metadata: self.metadata() };
                self.send_errand(Errand::Clear, command);
            }
            SlashCommand::Regenerate => {
                let command = SessionCommand::Regenerate { metadata: self.metadata() };
                self.start_turn(now, command);
            }
            SlashCommand::Edit => match self.last_message.clone() {
                Some(message) => self.enter_mode(InputMode::EditLast, message),
                None => self.show_note("There is no message to change."),
            },
            SlashCommand::Model => self.model_command(rest),
            SlashCommand::Engine => self.engine_command(rest),
            SlashCommand::Mode => self.mode_command(rest),
            SlashCommand::Fork => self.branch_command(BranchKind::Fork, rest),
            SlashCommand::Rewind => self.branch_command(BranchKind::Rewind, rest),
            SlashCommand::Diff => {
                let conversation_id = self.conversation.clone();
                let command = SessionCommand::TurnDiff { conversation_id, turn: None };
                self.send_errand(Errand::Diff, command);
            }
            SlashCommand::Undo => self.undo_command(now, rest),
            SlashCommand::Compact => {
                let conversation_id = self.conversation.clone();
                self.start_turn(now, SessionCommand::Compact { conversation_id });
            }
            SlashCommand::Without => {
                let conversation_id = self.conversation.clone();
                self.start_turn(now, SessionCommand::LeaveOut { conversation_id });
            }
            SlashCommand::Cost => self.show_note(&self.status.cost_text()),
            SlashCommand::Restart => self.actions.push(ChatAction::Restart),
            SlashCommand::Quit => self.actions.push(ChatAction::Quit(0)),
        }
    }

    /// Returns true if the runtime has this capability.
    pub(super) fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|offered| offered == capability)
    }

    /// Sends a request of which only the end matters.
    pub(super) fn send_errand(&mut self, errand: Errand, command: SessionCommand) {
        self.changes += usize::from(errand.changes_conversation());
        self.actions.push(ChatAction::Errand(errand, command));
    }

    /// Returns the id of the conversation with this number in the list.
    fn listed_at(&self, number: &str) -> Result<String, String> {
        let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let found = at.and_then(|at| self.listed.get(at));
        let by_id = || self.listed.iter().find(|listed| listed.conversation_id == number);
        let found = found.or_else(by_id).map(|listed| listed.conversation_id.clone());
        found.ok_or_else(|| "Give the number of a conversation: /list shows them.".to_owned())
    }

    fn open_conversation(&mut self, now: Duration, conversation_id: String) {
        // At once, because a message that is typed while it is loaded is meant for it.
        self.conversation = Some(conversation_id.clone());
        let (limit, load_as) = (Some(MOST_LOADED), LoadAs::Events);
        let command =
            SessionCommand::LoadConversation { conversation_id, limit, before: None, load_as };
        self.start_turn(now, command);
    }

    fn rename_conversation(&mut self, title: &str) {
        match (self.conversation.clone(), title) {
            (_, "") => self.show_note("Give a title: /rename TITLE."),
            (None, _) => self.show_note("There is no conversation yet."),
            (Some(conversation_id), title) => {
                let title = title.to_owned();
                let command = SessionCommand::RenameConversation { conversation_id, title };
                self.send_errand(Errand::Rename, command);
            }
        }
    }

    fn delete_conversation(&mut self, rest: &str) {
        let id = match (rest, self.conversation.clone()) {
            ("", Some(current)) => Ok(current),
            _ => self.listed_at(rest),
        };
        match id {
            Ok(id) => {
                let listed = self.listed.iter().find(|listed| listed.conversation_id == id);
                // The current conversation need not be in the list.
                let title = listed.and_then(|listed| listed.title.clone());
                let what = title
                    .map_or_else(|| "this conversation".to_owned(), |title| format!("\"{title}\""));
                self.enter_mode(InputMode::ConfirmDelete { id }, String::new());
                self.hint =
                    format!("Delete {what} for good? y deletes it, any other key does not.");
            }
            Err(why) => self.transcript.draw_error(&why, &self.page),
        }
    }

    /// Deletes a conversation if the user has confirmed it.
    pub(super) fn confirm_delete(&mut self, id: String, is_confirmed: bool) {
        self.leave_mode();
        if is_confirmed {
            let command = SessionCommand::DeleteConversation { conversation_id: id.clone() };
            self.send_errand(Errand::Delete { id }, command);
        } else {
            self.show_note("It was not deleted.");
        }
    }

    /// Handles the end of an errand.
    pub fn errand_done(
        &mut self,
        now: Duration,
        errand: Errand,
        result: Result<Arc<SessionReply>, ClientError>,
    ) {
        let is_change = errand.changes_conversation();
        match result {
            Ok(reply) => self.errand_succeeded(now, errand, &reply),
            Err(error) => self.errand_failed(&errand, &error),
        }
        self.changes = self.changes.saturating_sub(usize::from(is_change));
        // Also after a failure: the lines that were typed meanwhile belong to the conversation that
        // is still current.
        self.run_lines(now);
    }

    fn errand_succeeded(&mut self, now: Duration, errand: Errand, reply: &SessionReply) {
        match errand {
            Errand::Status => self.status_came(now, &reply.event),
            Errand::List { words, is_found } => {
                with_data(reply, |list| self.list_came(list, &words, is_found));
            }
            Errand::New => with_data(reply, |created: ConversationCreated| {
                self.conversation = Some(created.conversation_id);
                self.last_message = None;
                self.show_note("A new conversation begins here.");
            }),
            Errand::Resume(wanted) => with_data(reply, |list| self.wanted_came(&wanted, &list)),
            Errand::Rename => self.show_note("The conversation is renamed."),
            Errand::Clear => {
                self.last_message = None;
                self.show_note("The conversation is empty now.");
            }
            Errand::Delete { id } => {
                self.show_note("The conversation is deleted.");
                self.listed.retain(|listed| listed.conversation_id != id);
                if self.conversation.as_ref() == Some(&id) {
                    // Every message names its conversation, so the next one would begin the deleted
                    // one again.
                    let command =
                        SessionCommand::NewConversation { conversation_id: None, title: None };
                    self.send_errand(Errand::New, command);
                }
            }
            Errand::Models => with_data(reply, |list| self.models_came(list)),
            Errand::SetEngine => with_data(reply, |chosen: ConversationEngine| {
                self.show_note(&format!(
                    "{} answers from now on, with {}.",
                    chosen.engine, chosen.model
                ));
                self.status.set_engine(chosen);
            }),
            Errand::SetMode => with_data(reply, |set: ModeSet| {
                self.show_note(&format!("The mode is {} from now on.", set.mode.name()));
                self.status.mode = Some(set.mode);
            }),
            Errand::Branch { kind, count } => {
                with_data(reply, |loaded| self.branch_found(kind, count, &loaded));
            }
            Errand::Fork => {
                with_data(reply, |trimmed| self.handle_branch(BranchKind::Fork, trimmed));
            }
            Errand::Rewind => {
                with_data(reply, |trimmed| self.handle_branch(BranchKind::Rewind, trimmed));
            }
            Errand::Diff => with_data(reply, |diff| self.diff_came(diff)),
            Errand::Answer { .. } => {}
        }
    }

    fn errand_failed(&mut self, errand: &Errand, error: &ClientError) {
        if let Errand::Answer { question } = errand {
            // The runtime says what has become of the question, unless the answer was not valid.
            self.answer_refused(question);
        }
        self.transcript.draw_error(&error.to_string(), &self.page);
    }

    fn status_came(&mut self, now: Duration, event: &SessionEvent) {
        let SessionEvent::Status(status) = event else { return };
        // The status is asked for at every start of the runtime. After the first one the
        // conversation is on the screen already.
        let is_first = self.conversation.is_none();
        self.status.set_runtime(status);
        if !is_first {
            return;
        }
        self.conversation.clone_from(&status.conversation_id);
        if let Some(engine) = self.status.engine_text() {
            self.show_note(&format!("{engine}. /help lists the commands."));
        }
        match &status.conversation_id {
            Some(id) if status.conversation_length > 0 => self.open_conversation(now, id.clone()),
            _ => {}
        }
    }

    /// Asks for the conversation that is to be continued, once.
    pub(super) fn look_for_wanted(&mut self) {
        let wanted = std::mem::take(&mut self.wanted);
        if wanted.is_some() && self.has_capability(capability::CONVERSATIONS) {
            let command =
                // One is enough: only whether there is any and which one is current are looked at.
                SessionCommand::ListConversations { limit: Some(1), before: None, search: None };
            self.send_errand(Errand::Resume(wanted), command);
        }
    }

    fn wanted_came(&mut self, wanted: &WantedConversation, list: &ConversationList) {
        match wanted.find_missing(list) {
            Some(MissingConversation::Last(text)) => self.show_note(&sentence_of_error(text)),
            Some(MissingConversation::Id(text)) => {
                self.transcript.draw_error(&sentence_of_error(&text), &self.page);
            }
            None => {}
        }
    }

    /// Says how this conversation is continued later, if something was said in it.
    pub fn say_how_to_continue(&mut self) {
        if let (Some(id), Some(_)) = (&self.conversation, &self.last_message) {
            let text = format!("callgate chat --resume {id} continues this conversation.");
            self.show_note(&text);
        }
    }

    /// Shows a list of conversations: those in which the words were found, or all, of which those
    /// count whose titles have the words.
    fn list_came(&mut self, mut list: ConversationList, words: &str, is_found: bool) {
        let words = words.to_lowercase();
        let has = |listed: &ConversationSummary| {
            listed.title.as_deref().unwrap_or_default().to_lowercase().contains(&words)
        };
        list.conversations.retain(|listed| is_found || has(listed));
        list.conversations.truncate(MOST_LISTED as usize);
        let mut rows = Vec::new();
        for (number, listed) in (1..).zip(&list.conversations) {
            let is_current = self.conversation.as_ref() == Some(&listed.conversation_id);
            rows.extend(self.list_row(number, listed, is_current));
        }
        self.listed = list.conversations;
        if rows.is_empty() {
            return self.show_note(match words.as_str() {
                "" => "There are no conversations yet.",
                _ if is_found => "No conversation contains that.",
                _ => "No conversation has that in its title.",
            });
        }
        self.transcript.add_rows(rows);
        self.show_note("/open NUMBER opens one.");
    }

    fn list_row(
        &self,
        number: usize,
        listed: &ConversationSummary,
        is_current: bool,
    ) -> Vec<String> {
        let sign = if is_current { "›" } else { " " };
        let title = listed.title.as_deref().unwrap_or("(no title)");
        let style = if is_current { TextStyle::BOLD } else { TextStyle::PLAIN };
        let first = StyledText::new(&format!("{sign}{number:>2} "), TextStyle::CYAN);
        let rest = StyledText::new("    ", TextStyle::PLAIN);
        let elsewhere =
            listed.folder.as_deref().filter(|folder| Path::new(folder) != self.folders.working);
        let elsewhere = elsewhere.map(|folder| format!(", {folder}")).unwrap_or_default();
        let (time, length) = (local_time(listed.updated_at), listed.length);
        let when = format!("  {time}, {length} messages{elsewhere}");
        let line = StyledText::new(title, style).and_text(&when, TextStyle::DIM);
        line.hanging_rows(&self.page, WrapAt::Words, &first, &rest)
    }
}

/// Passes on what a reply says in the end, if it is what was asked for.
fn with_data<T: DeserializeOwned>(reply: &SessionReply, then: impl FnOnce(T)) {
    if let Some(data) = reply.event.done_data() {
        then(data);
    }
}

fn sentence_of_error(words: &str) -> String {
    let (first, rest) = words.split_at(words.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}.", first.to_uppercase())
}

/// Returns a time as the user's clock shows it.
fn local_time(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    let here = time.map(|time| time.to_zoned(Zoned::now().time_zone().clone()));
    here.map(|here| here.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}
