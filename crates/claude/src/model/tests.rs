//! Tests of the model.

use super::*;

#[test]
fn without_a_runtime_the_way_out_is_told() {
    let error = Model::new().stream("hello").expect_err("no runtime");
    assert!(matches!(error, ClaudeError::NoRuntime));
    assert!(error.to_string().ends_with("or use callgate_claude::blocking"));
}
