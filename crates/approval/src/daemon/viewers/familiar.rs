//! What was allowed or run before in each project, so that a first time can be noticed.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use callgate_store::{EntryFilter, LedgerEntry, Store, StoreError};
use callgate_wire::approval::Decision;
use callgate_wire::ledger::LedgerKind::{self, Asked, Checked, Closed, Decided, Ran};
use callgate_wire::ledger::{AgentCall, LedgerEvent};
use callgate_wire::tool_act::ToolKind;

const KINDS: [LedgerKind; 5] = [Asked, Decided, Closed, Checked, Ran];
/// How many of the latest entries are looked at when the first viewer comes. That viewer waits for
/// them, so a long ledger is not read from its beginning.
const LOOKED_BACK: u64 = 20_000;
const BATCH: usize = 1_000;
const MOST_KNOWN: usize = 50_000;
/// How many programs of one command are looked at.
const MOST_PROGRAMS: usize = 16;

/// What was allowed or run before, as far back as the ledger was read.
#[derive(Debug, Default)]
pub(super) struct FamiliarCalls {
    /// The number of the last entry that was read.
    up_to: u64,
    /// Whether older entries were not read, or there was more than can be remembered.
    is_partial: bool,
    /// By the hash of project, tool and program: the number of the entry that made it known.
    known: HashMap<u64, u64>,
    /// The questions that are not decided yet, with the hashes of what they are about.
    open: HashMap<String, Vec<u64>>,
}

impl FamiliarCalls {
    pub(super) fn read_new_entries(&mut self, store: &Store) -> Result<(), StoreError> {
        let last = store.last_seq()?;
        let begin = last.saturating_sub(LOOKED_BACK);
        self.is_partial |= self.up_to < begin;
        self.up_to = self.up_to.max(begin);
        let filter = EntryFilter { kinds: KINDS.to_vec(), ..EntryFilter::default() };
        loop {
            let entries = store.entries_after(&filter, self.up_to, BATCH)?;
            let Some(end) = entries.last() else { break };
            self.up_to = end.seq;
            for entry in &entries {
                self.handle_entry(entry);
            }
        }
        // Entries of other kinds need not be looked at again, either.
        self.up_to = self.up_to.max(last);
        Ok(())
    }

    fn handle_entry(&mut self, entry: &LedgerEntry) {
        let question = entry.question.as_deref().unwrap_or_default();
        match entry.event() {
            // Its folders are not those of the same name here.
            LedgerEvent::Asked(asked) if asked.machine.is_some() => {}
            event @ LedgerEvent::Asked(_) => {
                self.open.insert(question.to_owned(), hashes_of_event(event));
            }
            LedgerEvent::Decided(decided) => {
                let about = self.open.remove(question).unwrap_or_default();
                if decided.decision == Some(Decision::Allow) {
                    self.learn_hashes(about, entry.seq);
                }
            }
            LedgerEvent::Closed(_) => drop(self.open.remove(question)),
            LedgerEvent::Checked(call) if call.decision != Some(Decision::Allow) => {}
            event => self.learn_hashes(hashes_of_event(event), entry.seq),
        }
    }

    fn learn_hashes(&mut self, about: Vec<u64>, seq: u64) {
        for hash in about {
            if self.known.len() < MOST_KNOWN {
                // The first entry stays, so that a question between two allows counts as known.
                self.known.entry(hash).or_insert(seq);
            } else {
                self.is_partial |= !self.known.contains_key(&hash);
            }
        }
    }

    /// Returns what is new about a call that was asked about with the entry `seq`, if anything is.
    pub(super) fn first_time(
        &self,
        seq: u64,
        project: &str,
        tool: &str,
        summary: &str,
    ) -> Option<String> {
        let is_new = |name: &&str| {
            let known = self.known.get(&hash_of(project, tool, name));
            known.is_none_or(|known| *known > seq)
        };
        let names = names_of(tool, summary);
        let new = names.iter().find(|name| is_new(name))?;
        let what = if new.is_empty() { tool } else { new };
        let first = if self.is_partial { "The first recent" } else { "The first" };
        Some(format!("{first} `{what}` in this project."))
    }
}

fn hashes_of_event(event: LedgerEvent) -> Vec<u64> {
    let AgentCall { tool, summary, cwd, .. } = event.into_call().unwrap_or_default();
    names_of(&tool, &summary).into_iter().map(|name| hash_of(&cwd, &tool, name)).collect()
}

fn hash_of(project: &str, tool: &str, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (project, tool, name).hash(&mut hasher);
    hasher.finish()
}

/// Returns the names by which uses of a tool differ: the programs of a command, the server of a
/// page. Other tools have one use.
fn names_of<'a>(tool: &str, summary: &'a str) -> Vec<&'a str> {
    match ToolKind::for_tool("", tool) {
        ToolKind::Run(_) => {
            let parts = summary.split(['&', '|', ';', '\n']);
            let programs = parts.filter_map(|part| part.split_whitespace().next());
            programs.take(MOST_PROGRAMS).collect()
        }
        ToolKind::Fetch => {
            let address = summary.split("://").nth(1).unwrap_or(summary);
            vec![address.split(['/', '?', '#']).next().unwrap_or(address)]
        }
        _ => vec![""],
    }
}

#[cfg(test)]
mod tests {
    use callgate_store::EntryDraft;

    use super::*;

    #[test]
    fn every_program_of_a_command_counts() {
        assert_eq!(
            names_of("Bash", "cd src && cargo test | tee log; ls"),
            ["cd", "cargo", "tee", "ls"]
        );
        assert_eq!(names_of("WebFetch", "fetch https://docs.rs/serde?x"), ["docs.rs"]);
        assert_eq!(names_of("Edit", "edit a.rs"), [""]);
    }

    #[test]
    fn what_was_allowed_later_was_not_known_then() {
        let mut calls = FamiliarCalls::default();
        let entry = |seq, kind: &str, body: &str| LedgerEntry {
            seq,
            at_ms: 0,
            kind: kind.to_owned(),
            question: Some("q".to_owned()),
            body: body.to_owned(),
            hash: [0; 32],
        };
        let asked = r#"{"tool":"Bash","summary":"make all","cwd":"/p"}"#;
        calls.handle_entry(&entry(1, "asked", asked));
        let first = |calls: &FamiliarCalls, seq, project| {
            calls.first_time(seq, project, "Bash", "make clean").is_some()
        };
        assert!(first(&calls, 1, "/p"), "nobody has decided yet");
        calls.handle_entry(&entry(2, "decided", r#"{"decision":"allow"}"#));
        assert!(first(&calls, 1, "/p"), "it is still the first one");
        assert!(!first(&calls, 3, "/p"));
        assert!(first(&calls, 3, "/other"));
        calls.handle_entry(&entry(4, "asked", &asked.replace("/p", "/q")));
        calls.handle_entry(&entry(5, "decided", r#"{"decision":"deny"}"#));
        assert!(first(&calls, 6, "/q"), "it was denied");
    }

    #[test]
    fn what_lies_too_far_back_is_not_called_a_first_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("ledger.db")).unwrap();
        let draft = || EntryDraft {
            at_ms: 0,
            kind: "ran".to_owned(),
            question: None,
            body: r#"{"tool":"Bash","summary":"make all","cwd":"/p"}"#.to_owned(),
        };
        let words = |store: &Store| {
            let mut calls = FamiliarCalls::default();
            calls.read_new_entries(store).unwrap();
            calls.first_time(u64::MAX, "/p", "Bash", "cargo test").unwrap()
        };
        store.append_entries(&[draft()]).unwrap();
        assert_eq!(words(&store), "The first `cargo` in this project.");
        let many: Vec<EntryDraft> = (0..LOOKED_BACK).map(|_| draft()).collect();
        store.append_entries(&many).unwrap();
        assert_eq!(words(&store), "The first recent `cargo` in this project.");
    }
}
