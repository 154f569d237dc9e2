//! The approval line: the desk, the hook, and the channels by which a person answers.
