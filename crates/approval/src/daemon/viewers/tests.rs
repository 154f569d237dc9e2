//! Viewers that do not read.
