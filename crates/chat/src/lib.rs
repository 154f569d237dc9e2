//! The chat in a terminal without its terminal and its runtime: keys and events go in, actions and
//! frames come out. The program reads the keys, draws the frames and carries out the actions.
//!
//! Pure, but for two looks at the machine: the names of files that a message attaches, and the time
//! zone in which lists show times.

mod answer_prompt;
mod attached_files;
mod chat_core;
mod command_menu;
mod drafted_input;
mod inline_screen;
mod input_history;
mod key_decoder;
mod line_editor;
mod markdown;
mod printed_notices;
mod question_prompt;
mod result_text;
mod shown_path;
mod slash_command;
mod status_line;
mod styled_text;
mod tool_card;
mod tool_result;
mod transcript;
mod typing_guard;
mod wanted_conversation;

pub use attached_files::{ChatFolders, find_attachments};
pub use chat_core::{ChatAction, ChatCore, Errand, INTERRUPTED};
pub use inline_screen::InlineScreen;
pub use input_history::InputHistory;
pub use key_decoder::{KeyDecoder, KeyStroke};
pub use printed_notices::PrintedNotices;
pub use styled_text::ChatPage;
pub use wanted_conversation::{MissingConversation, WantedConversation};
