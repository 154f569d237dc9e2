//! What agents write is only ever shown.

use callgate_testkit::page;

use crate::stage::desk_with_page;

#[test]
fn nothing_that_an_agent_writes_runs_in_the_page() {
    let Some((desk, browser)) = desk_with_page() else { return };
    page::markup_is_only_text(&desk, &browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
