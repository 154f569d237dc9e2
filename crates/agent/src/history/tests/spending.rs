//! What is spent and reserved is in the ledger's file, wherever conversations are.

use callgate_wire::session::TokenUsage;

use super::*;

fn tokens(input: u64) -> PricedUsage {
    PricedUsage {
        usage: TokenUsage { input, ..TokenUsage::default() },
        usd: None,
        model: "m".to_owned(),
    }
}

/// Reserves so many tokens, as long as not more than `limit` are spent or reserved by all.
async fn reserve(
    ledger: &History,
    account: &str,
    most: u64,
    limit: u64,
) -> Result<Option<Reservation>, u64> {
    let check = move |spent: &CostTotals| {
        let so_far = spent.all.input + spent.reserved_all.input;
        if so_far >= limit { Err(so_far) } else { Ok(()) }
    };
    ledger.reserve_cost(account.to_owned(), 0, Some(tokens(most)), check).await.unwrap()
}

/// Returns what was spent, and what is reserved.
async fn sums(ledger: &History, conversation: &str) -> (u64, u64, u64) {
    let spent = ledger.spent(conversation, 0).await.unwrap();
    (spent.conversation.input, spent.all.input, spent.reserved_all.input)
}

#[tokio::test]
async fn a_step_settles_what_was_reserved_for_it() {
    let house = House::new();
    let reservation = reserve(&house.history, "a", 100, 1).await.unwrap();
    assert_eq!(sums(&house.another(), "a").await, (0, 0, 100));
    assert_eq!(reserve(&house.another(), "b", 100, 100).await.unwrap_err(), 100);
    let step = HistoryStep { spent: Some(tokens(7)), reservation, ..turn("u hi | a ok") };
    house.history.hold("a").await.unwrap().commit(step).await.unwrap();
    assert_eq!(sums(&house.another(), "a").await, (7, 7, 0));
    reserve(&house.another(), "b", 100, 100).await.unwrap();
}

#[tokio::test]
async fn without_a_history_the_ledger_has_what_was_spent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let start = || History::start(HistoryLocation::Ledger(path.clone()));
    let history = start();
    let account = history.account(&history, "a");
    let reservation = reserve(&history, &account, 100, 1).await.unwrap();
    assert_eq!(sums(&start(), "a").await, (0, 0, 100), "others see what is reserved");
    let step = HistoryStep { spent: Some(tokens(7)), reservation, ..turn("u hi | a ok") };
    history.hold("a").await.unwrap().commit(step).await.unwrap();
    history.settle_cost(account, None, Some(tokens(1)), Vec::new()).await.unwrap();
    assert_eq!(sums(&history, "a").await, (8, 8, 0));
    drop(history);
    // Another process has another conversation of that name, on the same day.
    assert_eq!(sums(&start(), "a").await, (0, 8, 0));
    assert_eq!(sums(&open(&path), "a").await, (0, 8, 0));
}

#[tokio::test]
async fn a_history_in_another_file_is_counted_under_its_name() {
    let house = House::new();
    let other = house.folder.path().join("other.db");
    let account = open(&other).account(&house.history, "a");
    assert!(account.ends_with("other.db\na"), "{account}");
    std::os::unix::fs::symlink(&other, house.folder.path().join("link.db")).unwrap();
    let link = open(&house.folder.path().join("link.db"));
    assert_eq!(link.account(&house.history, "a"), account, "a file has one name");
    let reservation = reserve(&house.history, &account, 100, 1).await.unwrap();
    house.history.settle_cost(account, reservation, Some(tokens(7)), Vec::new()).await.unwrap();
    assert_eq!(sums(&house.history, "a").await, (0, 7, 0));
    assert_eq!(house.history.account(&house.history, "a"), "a");
}

#[tokio::test]
async fn a_reservation_that_is_given_up_counts_as_spent() {
    let house = House::new();
    drop(reserve(&house.history, "a", 100, 1).await.unwrap());
    assert_eq!(sums(&house.history, "a").await, (0, 0, 100));
    // The next who asks finds out.
    assert_eq!(reserve(&house.history, "a", 1, 100).await.unwrap_err(), 100);
    assert_eq!(sums(&house.history, "a").await, (100, 100, 0));
    // So does another process, after the end of the one that had it.
    let other = house.another();
    std::mem::forget(reserve(&other, "b", 50, 1000).await.unwrap());
    assert_eq!(reserve(&house.history, "a", 1, 150).await.unwrap_err(), 150);
    assert_eq!(sums(&house.history, "b").await, (0, 100, 50), "it lives");
    drop(other);
    assert_eq!(reserve(&house.history, "a", 1, 150).await.unwrap_err(), 150);
    assert_eq!(sums(&house.history, "b").await, (50, 150, 0), "it has died");
}

/// Nobody leaves files behind but who is killed.
#[tokio::test]
async fn the_file_of_a_process_goes_with_it() {
    let house = House::new();
    let locks = house.folder.path().join("locks");
    let holders = || {
        let names = std::fs::read_dir(&locks).into_iter().flatten().map(|entry| entry.unwrap());
        names.filter(|entry| entry.path().extension().is_some_and(|ext| ext == "holder")).count()
    };
    assert_eq!(holders(), 0, "who reserves nothing needs none");
    let reservation = reserve(&house.history, "a", 1, 1).await.unwrap();
    assert_eq!(holders(), 1);
    house.history.settle_cost("a".to_owned(), reservation, None, Vec::new()).await.unwrap();
    let House { folder: _folder, history } = house;
    drop(history);
    assert_eq!(holders(), 0);
}
