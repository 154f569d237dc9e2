//! What is said about settings that are wrong.

use super::*;

#[test]
fn wrong_keys_are_named_with_their_line_and_the_nearest_right_one() {
    check_wrong(
        "timout_seconds = 3",
        &["1:1: there is no key `timout_seconds`; did you mean `timeout_seconds`?"],
    );
    check_wrong(
        "\n[telegram]\n  tokn = \"x\"",
        &["3:3: there is no key `telegram.tokn`; did you mean `telegram.token`?"],
    );
    check_wrong(
        "token = \"secret\"",
        &["1:1: there is no key `token`; did you mean `telegram.token`?"],
    );
    check_wrong("telegram = 3", &["1:1: `telegram` is a table; write [telegram] on a line"]);
    check_wrong(
        "[telgram]\ntoken = 1",
        &["1:2: there is no key `telgram`; did you mean `telegram`?"],
    );
    let problems = Home::with("colour = 1").problems();
    assert!(problems[0].contains("there is no key `colour`; there are `"));
}

#[test]
fn wrong_values_are_named_with_their_line_and_what_would_be_right() {
    check_wrong("timeout_seconds = 0", &["1:19: `timeout_seconds` is 0, but must be 1 to 3600"]);
    check_wrong(
        "timeout_seconds = 3601",
        &["1:19: `timeout_seconds` is 3601, but must be 1 to 3600"],
    );
    check_wrong("timeout_seconds = -5", &["1:19: `timeout_seconds` is -5, but must be 1 to 3600"]);
    check_wrong("timeout_seconds = \"5\"", &["1:19: `timeout_seconds` must be a whole number"]);
    check_wrong("timeout_seconds = 1.5", &["1:19: `timeout_seconds` must be a whole number"]);
    check_wrong(
        "timeout_seconds = 99999999999999999999",
        &["1:19: `timeout_seconds` must be a whole number"],
    );
    check_wrong("grace_seconds = 601", &["1:17: `grace_seconds` is 601, but must be 0 to 600"]);
    check_wrong("notify_on_stop = 1", &["1:18: `notify_on_stop` must be true or false"]);
    check_wrong("socket = 1", &["1:10: `socket` must be a path in quotes"]);
    check_wrong("socket = \"a/b\"", &["1:10: `socket` must be an absolute path, or begin with ~/"]);
    check_wrong(
        "socket = \"~x/b\"",
        &["1:10: `socket` must be an absolute path, or begin with ~/"],
    );
    check_wrong(
        "telegram.allowed_chats = [1, \"2\"]",
        &["1:26: `telegram.allowed_chats` must be a list of whole numbers, such as [1, 2]"],
    );
    check_wrong(
        "telegram.allowed_chats = [0]",
        &["1:26: `telegram.allowed_chats` contains 0, which is not an id"],
    );
    check_wrong(
        "telegram.allowed_users = [-1]",
        &["1:26: `telegram.allowed_users` contains -1, which is not an id"],
    );
    check_wrong(
        "telegram.token_command = []",
        &["1:26: `telegram.token_command` must name a program"],
    );
    check_wrong(
        "timeout_seconds = 30\nphone_after_seconds = 30",
        &[
            "2:23: `phone_after_seconds` must be less than `timeout_seconds`, or the phone is never asked",
        ],
    );
}

#[test]
fn the_token_goes_unencrypted_to_this_machine_only() {
    let fine = [
        "https://a.example",
        "https://a.example:444/x",
        "http://localhost:1",
        "http://[::1]:1/",
        "http://127.0.0.2",
    ];
    for url in fine {
        let text = format!("telegram.api_url = {url:?}");
        assert_eq!(&*Home::with(&text).config().telegram.api_url, url.trim_end_matches('/'));
    }
    let open = Home::with("telegram.api_url = \"http://a.example\"").problems();
    assert!(open[0].ends_with("the token would go unencrypted to another machine"), "{open:?}");
    let wrong = [
        "http://a.example",
        "http://127.evil@a.example",
        "ftp://a",
        "a.example",
        "https://",
        "https://a/?b",
        "https://a b",
        "",
    ];
    for url in wrong {
        let problems = Home::with(&format!("telegram.api_url = {url:?}")).problems();
        assert!(problems[0].contains("1:20: `telegram.api_url` must b"), "{url}: {problems:?}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once_and_in_order() {
    let text = "socket = 1\ntimeout_seconds = 0\n\"übel\" = 1\n[telegram]\nchats = [1]\n";
    let home = Home::with(text).variable("CALLGATE_GRACE_SECONDS", "long").flag("--rules", "");
    check_wrong(
        text,
        &[
            "1:10: `socket` must be a path in quotes",
            "2:19: `timeout_seconds` is 0, but must be 1 to 3600",
            &Home::with("\"übel\" = 1").problems()[0]
                .replace("~/.config/callgate/config.toml:1", "3"),
            "5:1: there is no key `telegram.chats`; did you mean `telegram.allowed_chats`?",
        ],
    );
    let problems = home.problems();
    assert!(problems.contains(
        &"environment CALLGATE_GRACE_SECONDS: `grace_seconds` must be a whole number".to_owned()
    ));
    let text = home.load().unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1 + problems.len(), "{text}");
}

#[test]
fn a_file_that_is_no_toml_is_told_with_all_its_lines() {
    let problems = Home::with("socket = \"/a\ntimeout_seconds = = 3\n").problems();
    assert!(problems.len() >= 2, "{problems:?}");
    assert!(problems[0].starts_with("~/.config/callgate/config.toml:1:"), "{problems:?}");
    assert!(
        problems.iter().any(|p| p.starts_with("~/.config/callgate/config.toml:2:")),
        "{problems:?}"
    );
    let twice = Home::with("socket = \"/a\"\nsocket = \"/b\"").problems();
    assert!(twice[0].starts_with("~/.config/callgate/config.toml:2:1: duplicate"), "{twice:?}");
    let home = Home::new();
    fs::create_dir_all(home.path(".config/callgate")).unwrap();
    fs::write(home.path(".config/callgate/config.toml"), b"\xff\xfe").unwrap();
    assert!(home.problems()[0].ends_with("it is not UTF-8 text"));
    let large = Home::with(&"#".repeat((1 << 20) + 1));
    assert!(large.problems()[0].ends_with("it is larger than 1048576 bytes"));
}
