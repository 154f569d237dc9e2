//! What callgate decides by itself, what it hides, and how it shows text. Pure: no I/O, no clock.

pub mod mask;
pub mod text;
