//! Tests of the settings.

use super::*;

#[test]
fn the_wait_doubles_up_to_a_limit() {
    let back_off = RestartBackOff::default();
    let waits = [1, 2, 3, 8, 9, u32::MAX].map(|deaths| back_off.pause_after(deaths).unwrap());
    assert_eq!(waits.map(|wait| wait.as_millis()), [200, 400, 800, 25_600, 30_000, 30_000]);
    let twice = RestartBackOff { most_restarts: Some(2), ..back_off };
    assert_eq!([1, 2, 3].map(|deaths| twice.pause_after(deaths).is_some()), [true, true, false]);
}
