//! The shell starts every time.

use serde_json::json;

use crate::stage::{Stage, StageOptions};
use crate::test_desktop::TestDesktop;

#[test]
fn twenty_starts_in_a_row() {
    let Some(mut desktop) = TestDesktop::start() else { return };
    for start in 1..=20 {
        let Some(stage) = Stage::start_on(desktop, &StageOptions::default()) else { return };
        let info = stage.invoke("shell_info", &json!({})).unwrap();
        assert_eq!(info["version"], env!("CARGO_PKG_VERSION"), "start {start}");
        desktop = stage.end();
    }
    let log = desktop.log();
    assert!(!log.contains("panicked"), "{log}");
}
