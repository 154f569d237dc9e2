//! Tests of what is kept of the standard error.

use super::*;

#[tokio::test]
async fn secrets_are_masked_by_value_and_by_look() {
    let variables = [("MY_API_KEY", "0123456789"), ("PATH", "/usr/bin:/bin")];
    let secrets = SecretVariables::new(variables.map(|(name, value)| (name.into(), value.into())));
    let text = "bad key 0123456789 and ghp_0123456789abcdefghijABCDEFGHIJ012345 in /usr/bin:/bin";
    let mut stderr = CliStderr::collect(std::io::Cursor::new(text));
    stderr.read_to_its_end().await;
    assert_eq!(
        stderr.masked_text(&secrets),
        "bad key [hidden 1: secret variable] and [hidden 2: GitHub token] in /usr/bin:/bin"
    );
}

#[tokio::test]
async fn only_the_end_is_kept() {
    let long = format!("{}the end\n", "x".repeat(100_000));
    let mut stderr = CliStderr::collect(std::io::Cursor::new(long));
    stderr.read_to_its_end().await;
    let text = stderr.masked_text(&SecretVariables::default());
    assert!(text.ends_with("the end") && text.len() < KEPT, "{}", text.len());
    let mut silent = CliStderr::collect(std::io::Cursor::new(""));
    silent.read_to_its_end().await;
    assert_eq!(silent.masked_text(&SecretVariables::default()), "nothing");
}
