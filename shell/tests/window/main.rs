//! The real window: the shell under Xvfb with a window manager and a session bus of its own, driven
//! through `WebKitWebDriver`. The runtime is the real `callgate agent`, or a script that
//! misbehaves.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod assistant;
mod bus_services;
mod chat;
mod endings;
mod inbox;
mod manners;
mod runtimes;
mod security;
mod settings;
mod stage;
mod starts;
mod test_desktop;
