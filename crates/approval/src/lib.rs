//! The approval line: the desk, the hook, and the channels by which a person answers.

pub mod absence_mark;
pub mod answer_roles;
pub mod asker;
pub mod card;
pub mod channel;
pub mod daemon;
pub mod desk;
pub mod edit_lines;
pub mod hook;
mod plain;
pub mod relay_source;
pub mod rule_desk;
pub mod settings_desk;
pub mod telegram;
pub mod terminal;
pub mod viewer_token;
