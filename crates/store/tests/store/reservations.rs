//! What answers under way may take is reserved, by all who share a file.

use std::cell::RefCell;
use std::thread;

use callgate_store::{
    Addition, AnswerCost, CostSum, CostTotals, ReservationRequest, Settlement, Store, StoreError,
};

use crate::place::{Place, draft};

/// An answer of a hundred tokens, and a thousandth of a dollar.
fn hundred() -> AnswerCost {
    let model = "m".to_owned();
    AnswerCost { model, input: 60, output: 40, micro_usd: Some(1000), ..AnswerCost::default() }
}

fn request<'a>(account: &'a str, holder: &'a str, most: &'a AnswerCost) -> ReservationRequest<'a> {
    ReservationRequest {
        account,
        at_ms: 1000,
        since_ms: 500,
        holder,
        abandoned: &[],
        most: Some(most),
    }
}

fn tokens(sum: &CostSum) -> u64 {
    sum.input + sum.output
}

/// Objects when this many tokens are spent or reserved.
fn at_most(limit: u64) -> impl FnOnce(&CostTotals) -> Result<(), u64> {
    move |spent| {
        let so_far = tokens(&spent.all) + tokens(&spent.reserved_all);
        if so_far >= limit { Err(so_far) } else { Ok(()) }
    }
}

fn settle(store: &mut Store, account: &str, reservation: Option<i64>, spending: &AnswerCost) {
    let (spending, at_ms) = (Some(spending), 1000);
    let settlement = Settlement { account, at_ms, reservation, spending, drafts: &[] };
    store.settle_reservation(&settlement).unwrap();
}

#[test]
fn what_is_reserved_counts_until_it_is_settled() {
    let mut place = Place::new();
    let most = hundred();
    let alive = |_: &str| true;
    let first = place.store.reserve_cost(&request("a", "p", &most), alive, at_most(100)).unwrap();
    let first = first.unwrap();
    assert!(first.is_some());
    let other = place.store.reserve_cost(&request("b", "p", &most), alive, at_most(100)).unwrap();
    assert_eq!(other, Err(100));
    let spent = place.store.cost_totals("a", 0).unwrap();
    assert_eq!((tokens(&spent.conversation), tokens(&spent.reserved_conversation)), (0, 100));
    assert_eq!(spent.reserved_all.micro_usd, 1000);
    assert_eq!(tokens(&place.store.cost_totals("b", 0).unwrap().reserved_conversation), 0);
    settle(&mut place.store, "a", first, &AnswerCost { input: 7, ..hundred() });
    let spent = place.store.cost_totals("a", 0).unwrap();
    assert_eq!((tokens(&spent.conversation), spent.reserved_all), (47, CostSum::default()));
    // To look is not to reserve.
    let look = ReservationRequest { most: None, ..request("a", "p", &most) };
    assert_eq!(place.store.reserve_cost(&look, alive, at_most(100)).unwrap(), Ok(None));
    assert_eq!(place.store.cost_totals("a", 0).unwrap().reserved_all, CostSum::default());
}

#[test]
fn a_step_settles_its_reservation() {
    let mut place = Place::new();
    let (most, spending) = (hundred(), AnswerCost { output: 1, ..hundred() });
    let reserved =
        place.store.reserve_cost(&request("a", "p", &most), |_| true, at_most(1)).unwrap();
    let reservation = reserved.unwrap();
    let step = Addition {
        conversation: "a",
        at_ms: 1000,
        spending: Some(&spending),
        reservation,
        ..Addition::default()
    };
    // What cannot be written settles nothing.
    let bad = [draft("", None, "{}")];
    place.store.add_to_conversation(&Addition { drafts: &bad, ..step }).unwrap_err();
    assert_eq!(tokens(&place.store.cost_totals("a", 0).unwrap().reserved_all), 100);
    place.store.add_to_conversation(&step).unwrap();
    let spent = place.store.cost_totals("a", 0).unwrap();
    assert_eq!((tokens(&spent.conversation), tokens(&spent.reserved_all)), (61, 0));
}

#[test]
fn what_the_dead_have_reserved_is_spent() {
    let mut place = Place::new();
    let most = hundred();
    for (account, holder) in [("a", "dead"), ("b", "dead"), ("c", "alive"), ("d", "me")] {
        let made =
            place.store.reserve_cost(&request(account, holder, &most), |_| true, at_most(1000));
        made.unwrap().unwrap();
    }
    let asked = RefCell::new(Vec::new());
    let is_alive = |holder: &str| {
        asked.borrow_mut().push(holder.to_owned());
        holder == "alive"
    };
    let look = ReservationRequest { most: None, ..request("d", "me", &most) };
    place.store.reserve_cost(&look, is_alive, at_most(1000)).unwrap().unwrap();
    assert_eq!(*asked.borrow(), ["alive", "dead"]);
    let spent = place.store.cost_totals("a", 1000).unwrap();
    assert_eq!((tokens(&spent.conversation), tokens(&spent.all)), (100, 200));
    assert_eq!(tokens(&spent.reserved_all), 200, "those of the living and our own stay");
    // On the day on which it was reserved.
    assert_eq!(tokens(&place.store.cost_totals("a", 1001).unwrap().all), 0);
    // A reservation of our own that was given up is spent as well, and no other.
    let mine =
        place.store.reserve_cost(&request("e", "me", &most), |_| true, at_most(1000)).unwrap();
    let abandoned = [mine.unwrap().unwrap()];
    let look = ReservationRequest { abandoned: &abandoned, ..look };
    place.store.reserve_cost(&look, |_| true, at_most(1000)).unwrap().unwrap();
    let spent = place.store.cost_totals("e", 0).unwrap();
    assert_eq!((tokens(&spent.conversation), tokens(&spent.reserved_all)), (100, 200));
}

/// The costs of a conversation that is kept elsewhere are counted apart from one of the same id.
#[test]
fn conversations_in_other_files_have_accounts_of_their_own() {
    let mut place = Place::new();
    settle(&mut place.store, "/other.db\na", None, &hundred());
    settle(&mut place.store, "a", None, &hundred());
    settle(&mut place.store, "a", None, &hundred());
    assert_eq!(tokens(&place.store.cost_totals("/other.db\na", 0).unwrap().conversation), 100);
    let spent = place.store.cost_totals("a", 0).unwrap();
    assert_eq!((tokens(&spent.conversation), tokens(&spent.all)), (200, 300));
    // What was spent before the first message was kept counts when there is one.
    let step = Addition { conversation: "a", spending: Some(&hundred()), ..Addition::default() };
    place.store.add_to_conversation(&step).unwrap();
    assert_eq!(tokens(&place.store.cost_totals("a", 0).unwrap().conversation), 300);
    settle(&mut place.store, "a", None, &hundred());
    assert_eq!(tokens(&place.store.cost_totals("a", 0).unwrap().conversation), 400);
    assert!(place.store.delete_conversation("a").unwrap());
    assert_eq!(tokens(&place.store.cost_totals("a", 0).unwrap().conversation), 0);
    assert_eq!(tokens(&place.store.cost_totals("a", 0).unwrap().all), 500);
    let long = "x".repeat(9000);
    let refused =
        place.store.settle_reservation(&Settlement { account: &long, ..Settlement::default() });
    assert!(matches!(refused, Err(StoreError::TooLong { .. })));
}

/// Whoever comes at the same time sees what the others have reserved, whichever is first.
#[test]
fn all_who_reserve_at_once_stay_within_the_limit() {
    let place = Place::new();
    let path = place.path();
    let allowed: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let path = &path;
                scope.spawn(move || {
                    let mut store = Store::open(path).unwrap();
                    let (holder, most) = (worker.to_string(), hundred());
                    let reserve = |number: usize| {
                        let account = format!("{worker}-{number}");
                        let wanted = request(&account, &holder, &most);
                        store.reserve_cost(&wanted, |_| true, at_most(300)).unwrap()
                    };
                    (0..6).flat_map(reserve).count()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(allowed, 3);
    assert_eq!(tokens(&place.store.cost_totals("0-0", 0).unwrap().reserved_all), 300);
}
