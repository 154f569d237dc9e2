//! Conversations that are found by words of what was said in them.

use callgate_wire::session;

use super::stored_message::said_text;
use super::{History, HistoryError, HistoryStore, MOST_LISTED, conversation_summary};

/// How many bytes of messages, as JSON, one search reads. Nothing else is stored meanwhile.
pub const MOST_SEARCHED: usize = 32 * 1024 * 1024;

impl History {
    /// Returns the most recently changed conversations, as
    /// [`list_conversations`](Self::list_conversations) does, of those in whose title, or in one of
    /// whose messages, all of these words occur. Of messages, it reads at most [`MOST_SEARCHED`]
    /// bytes, the newest conversations first; the others are found by their titles.
    pub async fn search_conversations(
        &self,
        words: &str,
        limit: usize,
        before_ms: Option<u64>,
    ) -> Result<Vec<session::ConversationSummary>, HistoryError> {
        let before_ms = before_ms.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
        let words = SearchWords::from_text(words);
        let search = move |stores: &mut HistoryStore| {
            let known = stores.store.recent_conversations(
                // More than `limit`, because most of them will not match.
                MOST_LISTED,
                before_ms,
                stores.listed_folder(),
            )?;
            let mut left = MOST_SEARCHED;
            let mut found = Vec::new();
            for one in known {
                // First, because a title costs no reading.
                let is_named = one.title.as_deref().is_some_and(|title| words.occur_in(title));
                if is_named || is_said(stores, &one.id, &words, &mut left)? {
                    found.push(one);
                }
                if found.len() >= limit {
                    break;
                }
            }
            Ok(found)
        };
        let found = self.run_job(search).await?;
        Ok(found.into_iter().map(conversation_summary).collect())
    }
}

/// Returns true if the words occur in one of the messages of a conversation; reads at most `left`
/// bytes of them, the last first.
fn is_said(
    stores: &HistoryStore,
    id: &str,
    words: &SearchWords,
    left: &mut usize,
) -> Result<bool, HistoryError> {
    let mut is_found = false;
    if *left == 0 {
        return Ok(false);
    }
    stores.store.each_message_before(id, u64::MAX, |_, body| {
        let body = body.unwrap_or_default();
        *left = left.saturating_sub(body.len());
        is_found = words.occur_in(&said_text(body));
        !is_found && *left > 0
    })?;
    Ok(is_found)
}

/// Words that are searched for, in small letters.
struct SearchWords(Vec<String>);

impl SearchWords {
    fn from_text(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Returns true if all of the words occur in a text, in any order.
    fn occur_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|word| text.contains(word))
    }
}
