//! Whether a tool may run: the rules decide, or a person at the desk.
