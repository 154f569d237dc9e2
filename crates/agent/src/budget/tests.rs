//! Budgets stop at their limit, and say what to do.

use super::*;

fn spent(conversation: u64, all: u64) -> CostTotals {
    let sum = |n| CostSum {
        input: n,
        output: n,
        cache_read: n,
        cache_write: n,
        micro_usd: n * 1000,
        unpriced: 0,
    };
    CostTotals { conversation: sum(conversation), all: sum(all), ..CostTotals::default() }
}

#[track_caller]
fn check(budget: Budget, spent: &CostTotals, expected: &str) {
    let error = budget.check_spending(spent, "claude-x", true).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn without_limits_all_may_be_spent() {
    let budget = Budget::default();
    assert_eq!(budget.check_spending(&spent(u64::MAX / 2000, u64::MAX / 2000), "m", false), Ok(()));
    assert!(!budget.is_limited());
    assert!(Budget { day_tokens: Some(1), ..budget }.is_limited());
}

#[test]
fn each_limit_is_told_with_what_was_spent_and_what_to_do() {
    let none = Budget::default();
    let spent = spent(1500, 2500);
    check(
        Budget { conversation_usd: Some(1.5), ..none },
        &spent,
        "this conversation has cost $1.50, and its budget is $1.50: raise \
         `agent.conversation_usd`, or begin another conversation",
    );
    check(
        Budget { day_usd: Some(2.0), ..none },
        &spent,
        "today's cost is $2.50, and the budget of a day is $2.00: raise `agent.day_usd`, or wait \
         until midnight",
    );
    check(
        Budget { conversation_tokens: Some(6000), ..none },
        &spent,
        "this conversation has used 6000 tokens, and its budget is 6000: raise \
         `agent.conversation_tokens`, or begin another conversation",
    );
    check(
        Budget { day_tokens: Some(1), ..none },
        &spent,
        "today 10000 tokens were used, and the budget of a day is 1: raise \
         `agent.day_tokens`, or wait until midnight",
    );
}

#[test]
fn below_its_limit_there_is_room() {
    let budget = Budget {
        conversation_usd: Some(1.501),
        day_usd: Some(2.501),
        conversation_tokens: Some(6001),
        day_tokens: Some(10_001),
        requests_per_minute: None,
    };
    assert_eq!(budget.check_spending(&spent(1500, 2500), "m", true), Ok(()));
    let nothing = Budget { day_usd: Some(0.0), ..Budget::default() };
    assert!(
        nothing.check_spending(&CostTotals::default(), "m", true).is_err(),
        "nothing may be spent"
    );
}

#[test]
fn dollars_need_a_price() {
    for budget in [
        Budget { conversation_usd: Some(9.0), ..Budget::default() },
        Budget { day_usd: Some(9.0), ..Budget::default() },
    ] {
        let error =
            budget.check_spending(&CostTotals::default(), "odd", false).unwrap_err().to_string();
        assert!(error.contains("the price of the model \"odd\" is not known"), "{error}");
        assert!(error.contains("`agent.prices`"), "{error}");
    }
    let tokens = Budget { day_tokens: Some(9), ..Budget::default() };
    assert_eq!(tokens.check_spending(&CostTotals::default(), "odd", false), Ok(()));
}

#[test]
fn requests_are_counted_over_the_last_minute() {
    let budget = Budget { requests_per_minute: Some(2), ..Budget::default() };
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut rate = RequestRate::default();
    assert_eq!(rate.count_request(&Budget::default(), start), Ok(()));
    assert_eq!(rate.count_request(&budget, at(0)), Ok(()));
    assert_eq!(rate.count_request(&budget, at(20)), Ok(()));
    let wait = |seconds| Err(OverBudget::Rate { limit: 2, wait: Duration::from_secs(seconds) });
    assert_eq!(rate.count_request(&budget, at(30)), wait(30));
    assert_eq!(rate.count_request(&budget, at(59)), wait(1));
    assert_eq!(rate.count_request(&budget, at(60)), Ok(()), "what was refused does not count");
    assert_eq!(rate.count_request(&budget, at(61)), wait(19));
    let none = Budget { requests_per_minute: Some(0), ..budget };
    assert!(rate.count_request(&none, at(500)).is_err());
    let text = rate.count_request(&none, at(500)).unwrap_err().to_string();
    assert!(text.contains("wait 61 s") && text.contains("`agent.requests_per_minute`"), "{text}");
}

#[test]
fn no_more_is_counted_than_there_is_room_for() {
    let budget = Budget { requests_per_minute: Some(u32::MAX), ..Budget::default() };
    let mut rate = RequestRate::default();
    let now = Instant::now();
    for _ in 0..MOST_PER_MINUTE {
        rate.count_request(&budget, now).unwrap();
    }
    rate.count_request(&budget, now).unwrap_err();
}

#[test]
fn what_is_reserved_for_others_is_not_there_to_be_spent() {
    let none = Budget::default();
    let CostTotals { conversation, all, .. } = spent(10, 20);
    let spent =
        CostTotals { reserved_conversation: conversation, reserved_all: all, ..spent(10, 20) };
    // 40 tokens are spent and 40 reserved in the conversation, 80 and 80 in all; a cent and two.
    for (budget, setting) in [
        (Budget { conversation_tokens: Some(80), ..none }, "conversation_tokens"),
        (Budget { day_tokens: Some(160), ..none }, "day_tokens"),
        (Budget { conversation_usd: Some(0.02), ..none }, "conversation_usd"),
        (Budget { day_usd: Some(0.04), ..none }, "day_usd"),
    ] {
        check(
            budget,
            &spent,
            &format!(
                "what is left of the budget `agent.{setting}` is reserved for answers in \
                 progress: try again when they have ended, or raise it"
            ),
        );
    }
    for budget in [
        Budget { conversation_tokens: Some(81), ..none },
        Budget { day_tokens: Some(161), ..none },
        Budget { conversation_usd: Some(0.020_001), ..none },
        Budget { day_usd: Some(0.040_001), ..none },
    ] {
        assert_eq!(budget.check_spending(&spent, "m", true), Ok(()));
    }
    // What is spent is reported before what is reserved, because it does not come back.
    let budget = Budget { conversation_tokens: Some(40), ..none };
    let over = budget.check_spending(&spent, "m", true).unwrap_err();
    assert!(matches!(over, OverBudget::ConversationTokens { spent: 40, limit: 40 }), "{over}");
}

#[test]
fn an_answer_is_no_longer_than_what_is_left() {
    let none = Budget::default();
    let check = |budget: Budget, price: Option<f64>, expected: u64| {
        let reserved = spent(25, 0).conversation;
        let totals = CostTotals {
            reserved_conversation: reserved,
            reserved_all: reserved,
            ..spent(50, 100)
        };
        assert_eq!(budget.output_left(&totals, price), expected, "{budget:?}");
    };
    check(none, Some(5.0), u64::MAX);
    // Of each kind, 50 and 25 tokens of the conversation, 100 and 25 of the day.
    check(Budget { conversation_tokens: Some(1000), ..none }, None, 700);
    check(Budget { day_tokens: Some(1000), ..none }, None, 500);
    check(Budget { day_tokens: Some(400), ..none }, None, 0);
    let both = Budget { conversation_tokens: Some(1000), day_tokens: Some(600), ..none };
    check(both, None, 100);
    // 0.075 dollars are spent or reserved, and a million tokens cost 5.
    check(Budget { conversation_usd: Some(1.0), ..none }, Some(5.0), 185_000);
    check(Budget { day_usd: Some(0.126), ..none }, Some(5.0), 200);
    check(Budget { day_usd: Some(0.1), ..none }, Some(5.0), 0);
    // What costs nothing is not limited by a price.
    check(Budget { day_usd: Some(0.1), ..none }, Some(0.0), u64::MAX);
    check(Budget { day_usd: Some(0.1), ..none }, None, u64::MAX);
}
