//! What was typed before, to walk through and to search. Pure.

/// What was typed before, the newest last.
#[derive(Debug, Default)]
pub struct InputHistory {
    entries: Vec<String>,
    /// The entry that is shown; `None` while the draft is.
    shown: Option<usize>,
    /// What was typed before an entry was shown.
    draft: String,
}

impl InputHistory {
    pub fn new(entries: Vec<String>) -> Self {
        Self { entries, ..Self::default() }
    }

    /// Adds an entry. Returns false for one that is the same as the last.
    pub(crate) fn add(&mut self, entry: &str) -> bool {
        self.shown = None;
        let is_new = self.entries.last().is_none_or(|last| last != entry);
        if is_new {
            self.entries.push(entry.to_owned());
        }
        is_new
    }

    /// Returns the entry before the one that is shown. `draft` is what the editor has now.
    pub(crate) fn older(&mut self, draft: &str) -> Option<String> {
        let next = self.shown.unwrap_or(self.entries.len()).checked_sub(1)?;
        if self.shown.is_none() {
            draft.clone_into(&mut self.draft);
        }
        self.shown = Some(next);
        self.entries.get(next).cloned()
    }

    /// Returns the number of the newest entry before the number `before` that contains the words,
    /// in whatever case.
    pub(crate) fn find(&self, words: &str, before: Option<usize>) -> Option<usize> {
        let words = words.to_lowercase();
        let older = &self.entries[..before.unwrap_or(self.entries.len())];
        let has = |entry: &String| entry.to_lowercase().contains(&words);
        // Every entry contains the empty text, which nobody has searched for.
        older.iter().rposition(has).filter(|_| !words.is_empty())
    }

    pub(crate) fn entry(&self, number: usize) -> Option<&str> {
        self.entries.get(number).map(String::as_str)
    }

    /// Returns the entry after the one that is shown, and the draft after the last.
    pub(crate) fn newer(&mut self) -> Option<String> {
        let next = self.shown? + 1;
        self.shown = Some(next).filter(|next| *next < self.entries.len());
        Some(match self.shown {
            Some(next) => self.entries[next].clone(),
            None => std::mem::take(&mut self.draft),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_walked_and_the_draft_comes_back() {
        let mut history = InputHistory::new(vec!["one".into(), "two".into()]);
        assert_eq!(history.newer(), None);
        assert_eq!(history.older("dra").as_deref(), Some("two"));
        assert_eq!(history.older("two").as_deref(), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("dra"));
        assert_eq!(history.newer(), None);
        assert!(history.add("three") && !history.add("three"));
        assert_eq!(history.older("").as_deref(), Some("three"));
    }

    #[test]
    fn entries_are_found_by_their_words_from_the_newest_on() {
        let entries = ["make test", "Make it", "list files", "make test"].map(str::to_owned);
        let history = InputHistory::new(entries.to_vec());
        assert_eq!(history.find("MAKE", None), Some(3));
        assert_eq!(history.find("make", Some(3)), Some(1));
        assert_eq!(history.find("make", Some(1)), Some(0));
        assert_eq!(history.find("make", Some(0)), None);
        assert_eq!(history.find("zebra", None), None);
        assert_eq!(history.find("", None), None);
        assert_eq!(history.entry(2), Some("list files"));
    }
}
