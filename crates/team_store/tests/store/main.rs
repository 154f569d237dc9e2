//! The team's store on a real PostgreSQL: what its calls promise, and what a server can do: die, be
//! cut off, refuse, and be replaced by its standby.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]
#![allow(clippy::doc_markdown, reason = "SQLite and PostgreSQL are names, not code")]

mod fixture;
mod killed;
mod migrations;
mod network;
mod organisation;
mod readers;
mod refused;
mod replaced;
mod rights;
mod suite;
mod team;

use fixture::Fixture;

macro_rules! promises {
    ($($name:ident,)*) => {
        $(#[test]
        fn $name() {
            let Some(fixture) = Fixture::new() else { return };
            suite::$name(&fixture);
        })*
    };
}

promises! {
    a_question_is_recorded_once,
    a_question_is_answered_at_most_once,
    of_four_desks_one_answers_each_question,
    only_its_machine_withdraws_a_question,
    a_question_whose_time_is_over_is_not_answered,
    a_new_desk_finds_what_is_open,
    an_answer_is_on_its_way_until_its_outcome_is_known,
    an_answer_of_which_nothing_is_heard_is_lost,
    the_first_of_two_allows_is_noted_once,
    the_words_of_an_agent_follow_its_question,
    whoever_has_left_answers_nothing,
    whoever_has_lost_their_role_answers_nothing,
    what_cannot_be_read_is_left_out,
    what_cannot_be_read_keeps_nothing_from_expiring,
    a_document_is_changed_by_compare_and_set,
    a_watcher_sees_every_change_in_order,
    a_watcher_that_comes_late_reads_what_it_missed,
    a_ledger_is_copied_once_and_verified,
    a_ledger_that_begins_anew_has_another_chain,
    parts_of_many_ledgers_are_copied_together,
    a_forged_ledger_is_refused,
    a_changed_entry_is_found,
    who_allowed_what_is_found,
    a_page_follows_the_one_before,
    old_entries_are_removed_and_the_chain_stays_whole,
    clocks_of_machines_do_not_matter,
    what_yesterday_took_is_told,
    odd_input_is_refused_or_kept_as_it_is,
    every_change_is_in_the_chain_of_its_desk,
}
