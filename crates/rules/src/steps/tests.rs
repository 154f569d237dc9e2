//! A budget is spent once.

use super::*;

#[test]
fn a_budget_is_spent_once_and_belongs_to_its_work() {
    assert!(spend_budget(usize::MAX) && !is_spent(), "nothing is counted outside");
    let ((), was_enough) = run_with_budget(10, || {
        assert!(spend_budget(9));
        assert!(!is_spent());
        let (_, was_enough) = run_with_budget(100, || spend_budget(1));
        assert!(!was_enough, "the inner work shares the budget");
        assert!(!spend_budget(0));
    });
    assert!(!was_enough);
    assert!(run_with_budget(10, || spend_budget(5)).1);
    assert!(!run_with_budget(10, exhaust_budget).1);
    assert!(!run_with_budget(10, note_omission).1);
    assert!(run_with_budget(10, || ()).1);
    assert!(!is_spent());
}
