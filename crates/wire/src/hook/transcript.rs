//! Finds the agent's last words at the end of Claude Code's transcript: a file of JSON lines, of
//! which those of the types `assistant` and `user` are the conversation.

use memchr::{memchr, memrchr};

use crate::raw::{Json, Members};

/// How many characters of the last words are passed on.
pub const MAX_WORDS: usize = 500;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastWords {
    /// The last text of the agent.
    pub text: Option<String>,
    /// Whether the message in which the agent asks is missing: the CLI writes its transcript a
    /// little later than it starts its hooks. Also true if nothing of the conversation is there
    /// yet, at the first question of a session.
    pub is_behind: bool,
    /// Whether nothing of the conversation is there.
    pub is_empty: bool,
}

/// Finds the last words in `tail`, the end of a transcript, before the agent wanted to use `tool`
/// (any tool, if it is not named). `from_start` says that nothing was cut off before the tail;
/// `subagent` that it is the transcript of a subagent.
pub fn find_last_words(
    tail: &[u8],
    from_start: bool,
    tool: Option<&str>,
    subagent: bool,
) -> LastWords {
    let mut search = WordSearch { tool, ..WordSearch::default() };
    let mut rest = if from_start { tail } else { after_line_end(tail) };
    // Backwards, because the words are nearly always in the last lines.
    while !rest.is_empty() && !search.is_over() {
        let line_start = memrchr(b'\n', rest).map_or(0, |end| end + 1);
        let line = &rest[line_start..];
        rest = &rest[..line_start.saturating_sub(1)];
        search.look_at(line, subagent);
    }
    let is_empty = from_start && !search.has_begun;
    let is_behind = search.last_is_user && !search.asks;
    LastWords { text: search.text, is_behind: is_behind || is_empty, is_empty }
}

/// Returns the tail without its first line, which is incomplete.
fn after_line_end(tail: &[u8]) -> &[u8] {
    memchr(b'\n', tail).map_or(&[], |end| &tail[end + 1..])
}

/// What has been found so far, from the end backwards.
#[derive(Debug, Default)]
struct WordSearch<'a> {
    tool: Option<&'a str>,
    text: Option<String>,
    /// Whether any line of the conversation was seen.
    has_begun: bool,
    last_is_user: bool,
    /// The calls that have their result.
    ended: Vec<String>,
    /// Whether a call of the tool was seen that has no result yet.
    asks: bool,
}

impl WordSearch<'_> {
    /// Returns true if nothing more can be found: there are words, and it is known whether they are
    /// behind.
    fn is_over(&self) -> bool {
        self.text.is_some() && (!self.last_is_user || self.asks)
    }

    fn look_at(&mut self, line: &[u8], subagent: bool) {
        let Some(entry) = std::str::from_utf8(line).ok().and_then(|it| Members::from_text(it).ok())
        else {
            return;
        };
        let is_sidechain = entry.get("isSidechain").is_some_and(|it| it.get() == "true");
        let is_user = match entry.string("type").as_deref() {
            Some("user") => true,
            Some("assistant") => false,
            _ => return,
        };
        if is_sidechain && !subagent {
            return;
        }
        if !self.has_begun {
            self.has_begun = true;
            self.last_is_user = is_user;
        }
        let content = entry.get("message").and_then(|message| message.members().get("content"));
        let blocks = content.map(content_blocks).unwrap_or_default();
        if is_user {
            // The lines are read backwards, so a result comes before its call.
            self.ended.extend(blocks.iter().filter_map(|block| text_of(block, "tool_use_id")));
        } else {
            self.look_at_message(content, &blocks);
        }
    }

    fn look_at_message(&mut self, content: Option<Json<'_>>, blocks: &[Members<'_>]) {
        self.asks |= blocks.iter().any(|block| self.is_asked(block));
        if self.text.is_none() {
            let texts = blocks.iter().rev().filter_map(|block| text_of(block, "text"));
            let plain = content.and_then(Json::string).map(Into::into);
            let text = texts.chain(plain).find(|text| !text.trim().is_empty());
            self.text = text.map(|text| cut_last_words(&text));
        }
    }

    fn is_asked(&self, block: &Members<'_>) -> bool {
        let is_call = block.string("type").as_deref() == Some("tool_use");
        let is_named = self.tool.is_none_or(|tool| block.string("name").as_deref() == Some(tool));
        is_call && is_named && text_of(block, "id").is_some_and(|id| !self.ended.contains(&id))
    }
}

fn text_of(block: &Members<'_>, field: &str) -> Option<String> {
    block.string(field).map(Into::into)
}

fn content_blocks(content: Json<'_>) -> Vec<Members<'_>> {
    let list: Vec<&serde_json::value::RawValue> =
        serde_json::from_str(content.get()).unwrap_or_default();
    list.into_iter().map(|block| Json::from(block).members()).collect()
}

/// Returns the end of `text`, of at most [`MAX_WORDS`] characters.
pub fn cut_last_words(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth_back(MAX_WORDS - 1) {
        Some((start, _)) if start > 0 => {
            // One character less, for the `…`.
            let rest = text.char_indices().nth_back(MAX_WORDS - 2).map_or(text.len(), |it| it.0);
            format!("…{}", &text[rest..])
        }
        _ => text.to_owned(),
    }
}
