//! Tests of the plans for copies and of walks along a chain.

use callgate_store::{ChainFault, ChainHead, EntryDraft, LedgerEntry};

use super::*;

fn chain(count: usize) -> Vec<AuditCopy> {
    let mut head = ChainHead::NONE;
    let copies = (0..count).map(|number| {
        let body = format!(r#"{{"number":{number}}}"#);
        let draft = EntryDraft { at_ms: 1, kind: "ran".into(), question: None, body };
        let entry = LedgerEntry::chain_draft(&head, draft);
        head = entry.head();
        AuditCopy { labels: AuditLabels::default(), entry }
    });
    copies.collect()
}

/// Wherever a ledger was cut, and whatever of it is sent again, each entry is appended once.
#[test]
fn every_overlap_appends_what_is_new() {
    let all = chain(6);
    let heads: Vec<ChainHead> =
        std::iter::once(ChainHead::NONE).chain(all.iter().map(|copy| copy.entry.head())).collect();
    for known in 0..=6 {
        for from in 0..=6 {
            for to in from..=6 {
                let plan = plan_copies(heads[known], heads[from], &all[from..to]);
                match plan {
                    Err(TeamStoreError::Gap { expected }) => {
                        assert!(from > known && expected == known as u64 + 1);
                    }
                    Ok(CopyPlan::Compare(last)) => assert!(to < known && last == heads[to]),
                    Ok(CopyPlan::Append(new)) => {
                        assert!(from <= known && to >= known);
                        assert_eq!(new, &all[known..to]);
                    }
                    Err(error) => panic!("{known} {from} {to}: {error}"),
                }
            }
        }
    }
}

#[test]
fn a_walk_ends_at_the_first_fault() {
    let all = chain(5);
    let head = all[4].entry.head();
    let walk = |entries: &[AuditCopy], head| {
        let mut walk = AuditWalk::new(ChainHead::NONE);
        let broken = entries.iter().find_map(|copy| walk.take_entry(&copy.entry));
        broken.unwrap_or_else(|| walk.finish(head))
    };
    let whole = AuditChainReport::Whole { start: ChainHead::NONE, entries: 5, head };
    assert_eq!(walk(&all, head), whole);
    let broken = |seq, why| AuditChainReport::Broken { seq, why };
    assert_eq!(walk(&all[..4], head), broken(5, ChainFault::Missing));
    assert_eq!(walk(&all[1..], head), broken(1, ChainFault::Missing));
    assert_eq!(walk(&all, all[3].entry.head()), broken(5, ChainFault::OtherMark));
    let mut changed = all.clone();
    changed[2].entry.at_ms += 1;
    assert_eq!(walk(&changed, head), broken(3, ChainFault::Changed));
}
