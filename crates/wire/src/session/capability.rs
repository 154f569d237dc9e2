//! The names of what a runtime can do and a front end can accept.

macro_rules! capabilities {
    ($($(#[$about:meta])+ $name:ident $word:literal,)*) => {
        $($(#[$about])+ pub const $name: &str = $word;)*

        /// The capabilities of this version of the protocol, as
        /// [`RuntimeReady`](super::RuntimeReady) announces them.
        pub const ALL: [&str; [$($word),*].len()] = [$($name),*];
    };
}

capabilities! {
    /// The answer is sent in pieces.
    STREAMING "streaming",
    /// The model has tools.
    TOOLS "tools",
    /// Messages may have attachments.
    ATTACHMENTS "attachments",
    /// Attachments may be inline.
    INLINE_ATTACHMENTS "inline_attachments",
    /// `status` names the engine.
    ENGINE "engine",
    /// `hello` is understood, which enables the extensions.
    HELLO "hello",
    /// `cancel` is understood.
    CANCEL "cancel",
    /// `permission_answer` is understood. In `hello`: the front end accepts `permission_request`
    /// and `permission_resolved`.
    PERMISSION "permission",
    /// Conversations can be created, listed, loaded, renamed and deleted.
    CONVERSATIONS "conversations",
    /// `load_conversation` can send the conversation as events.
    LOAD_EVENTS "load_events",
    /// `regenerate` and `edit_last` are understood.
    EDIT "edit",
    /// In `hello`: the front end accepts `thinking`.
    THINKING "thinking",
    /// In `hello`: the front end accepts `tool_progress`.
    TOOL_PROGRESS "tool_progress",
    /// In `hello`: the front end accepts `notice`.
    NOTICE "notice",
    /// `replay` is understood.
    REPLAY "replay",
    /// `set_engine` is understood.
    SET_ENGINE "set_engine",
    /// `list_models` is understood.
    LIST_MODELS "list_models",
    /// `set_mode` is understood.
    MODES "modes",
    /// A message may steer a running turn.
    STEER "steer",
    /// `fork_conversation` is understood.
    FORK "fork",
    /// `rewind` is understood.
    REWIND "rewind",
    /// In `hello`: the front end accepts `usage`.
    USAGE "usage",
    /// In `hello`: the front end accepts `tool_input`.
    TOOL_INPUT "tool_input",
    /// `find_files` and `read_file` are understood.
    FILES "files",
    /// `tools` in `hello` and `tool_answer` are understood.
    FRONT_TOOLS "front_tools",
    /// `outputSchema` in `user_message` is understood.
    OUTPUT_SCHEMA "output_schema",
    /// `compact` is understood.
    COMPACT "compact",
    /// `leave_out` is understood.
    LEAVE_OUT "leave_out",
    /// `question_answer` is understood. In `hello`: the front end accepts `question` and
    /// `question_resolved`.
    QUESTION "question",
    /// `turn_diff` and `undo_turn` are understood. In `hello`: the front end accepts
    /// `turn_changes`.
    TURN_DIFF "turn_diff",
    /// `search` in `list_conversations` is understood.
    SEARCH "search",
}
