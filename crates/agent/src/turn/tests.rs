//! Turns.
