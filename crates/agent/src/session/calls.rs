//! The calls of tools: which tools there are, who asks for a call, how it is permitted, run and
//! recorded.

pub(super) mod call_record;
pub(super) mod engine_call;
pub(super) mod engine_tools;
pub(super) mod front_tools;
pub(super) mod session_tools;
pub(super) mod tool_call;
