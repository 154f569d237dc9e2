//! The tools of the runtime and of its front end, and files for pickers.

mod background;
mod front_tools;
mod own_tools;
mod picker;
