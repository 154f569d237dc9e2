//! The end of a line at a box or a member, in front of the desk that runs there.

mod desk_entrance;
mod desk_place;
mod joined_desk;
mod line_server;

pub(crate) use desk_entrance::{DeskEntrance, TeamEntrance};
pub(crate) use desk_place::{LONGEST_KEY, READY, RelayDeskPlace};
pub(crate) use line_server::serve_line;
