//! Agents on other machines, whose questions are answered here: over a pipe, and over a real sshd.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod container;
mod cut;
mod faces;
mod fixture;
mod guide_steps;
mod hostile;
#[path = "../team/hostile_lines.rs"]
mod hostile_lines;
mod machine_rules;
mod older_box;
mod over_ssh;
mod own_desk;
mod standing_still;
