//! A budget is spent once.

use super::*;

#[test]
fn a_budget_is_spent_once_and_belongs_to_its_work() {
    assert!(spend(usize::MAX) && !is_spent(), "nothing is counted outside");
    let ((), was_enough) = within(10, || {
        assert!(spend(9));
        assert!(!is_spent());
        let (_, was_enough) = within(100, || spend(1));
        assert!(!was_enough, "the inner work shares the budget");
        assert!(!spend(0));
    });
    assert!(!was_enough);
    assert!(within(10, || spend(5)).1);
    assert!(!within(10, exhaust).1);
    assert!(!within(10, cut).1);
    assert!(within(10, || ()).1);
    assert!(!is_spent());
}
