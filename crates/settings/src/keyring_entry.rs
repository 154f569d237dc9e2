//! The secrets in the desktop's keyring.

callgate_wire::words! {
    /// A secret that callgate keeps in the keyring, under this name.
    pub enum KeyringEntry {
        BotToken "telegram-token",
        /// The key of the Messages API.
        ApiKey "agent-api-key",
        /// The key of a server with Chat Completions.
        OpenAiKey "agent-openai-key",
        DatabaseUrl "team-database-url",
    }
}
