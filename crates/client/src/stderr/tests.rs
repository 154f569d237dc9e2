//! The last line of stderr is kept without secrets.

use super::*;

#[tokio::test]
async fn every_line_is_told_and_the_last_is_kept_without_secrets() {
    let secrets = SecretVariables::new([("MY_API_KEY".into(), "hunter2-hunter2".into())]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let stderr = StderrTarget::Lines(Arc::new(move |line| sink.lock().unwrap().push(line.len())));
    let text = format!(
        "one\n{}\n\nit is hunter2-hunter2 and ghp_0123456789abcdefghijABCDEFGHIJ012345\x1b[0m",
        "x".repeat(9000)
    );
    let mut follower = StderrFollower::start(std::io::Cursor::new(text), stderr);
    follower.read_to_its_end().await;
    assert_eq!(*told.lock().unwrap(), [3, 22, 70]);
    let words = follower.last_words(&secrets);
    let expected = "it is [hidden 1: secret variable] and [hidden 2: GitHub token][0m";
    assert_eq!(words.as_deref(), Some(expected));
}

#[tokio::test]
async fn long_words_are_cut_and_silence_is_nothing() {
    let mut follower =
        StderrFollower::start(std::io::Cursor::new("ä".repeat(2000)), StderrTarget::Discard);
    follower.read_to_its_end().await;
    assert_eq!(
        follower.last_words(&SecretVariables::default()).unwrap().chars().count(),
        LONGEST_WORDS
    );
    let mut silent = StderrFollower::start(std::io::Cursor::new(" \n\n"), StderrTarget::Discard);
    silent.read_to_its_end().await;
    assert_eq!(silent.last_words(&SecretVariables::default()), None);
}
