//! What the user wants through the tray, the shortcut, a notification or a second start.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DesktopWish {
    Show,
    /// The window, with the runtime in this folder.
    OpenFolder(String),
    /// Show the window, or hide it if it is in front.
    Toggle {
        /// Whether it is in front; `None` if the window is to be asked.
        is_in_front: Option<bool>,
    },
    /// The question with this id, in the window.
    OpenQuestion(String),
    /// No to the question with this id, as by a press in the page.
    DenyQuestion(String),
    /// The conversation with this id, in the window.
    OpenConversation(String),
    OpenHistory,
    /// The view of the runtime's state.
    Status,
    /// A new process of the runtime.
    Restart,
    /// The end of the shell and of everything that it started.
    Quit,
}
