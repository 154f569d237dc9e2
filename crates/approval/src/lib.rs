//! The approval line: the desk, the hook, and the channels by which a person answers.

pub mod asker;
pub mod hook;
