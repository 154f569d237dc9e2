//! The two ends of a line between the desk of a box and the desk above it.
//!
//! Both ends are pure state machines: they are given lines, the time and what happened at their own
//! desk, and return what is to be done. [`LowerLine`] is the end of the box, and lasts as long as
//! the line. [`UpperLine`] is the end of the desk above; it outlives the line, so that a question
//! and its answer survive a cut. [`LinePort`] carries the lines over any pair of byte streams.

mod carried_line;
mod held_question;
mod line_budget;
mod line_health;
mod line_port;
mod lower_line;
mod question_room;
mod streamed_lines;
mod threaded_lines;
mod upper_line;

pub use carried_line::{LineArrival, SharedLine};
pub use line_budget::LineBudget;
pub use line_health::{BEAT_EVERY, DEAD_AFTER, LineHealth, LineNeed};
pub use line_port::LinePort;
pub use lower_line::{LowerAct, LowerLine};
pub use question_room::QuestionRoom;
pub use upper_line::{UpperAct, UpperLine};
