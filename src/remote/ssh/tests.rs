//! What failures of ssh mean, and which names are none.

use super::*;

#[test]
fn an_option_is_no_machine() {
    for wrong in ["", "-oProxyCommand=true", "a b", "a\nb", "it's", "a/b", &"x".repeat(201)] {
        assert!(wrong.parse::<RemoteHost>().is_err(), "{wrong:?}");
    }
    for right in ["box", "me@build.example", "10.0.0.7", "[::1]"] {
        assert_eq!(right.parse::<RemoteHost>().unwrap().as_str(), right);
    }
}

#[test]
fn failures_say_what_to_do() {
    let host: RemoteHost = "box".parse().unwrap();
    for (code, said, expected) in [
        (
            255,
            "ssh: Could not resolve hostname box: Name or service not known",
            "ssh does not know box",
        ),
        (255, "me@box: Permission denied (publickey).", "`ssh-copy-id box`"),
        (255, "Host key verification failed.", "run `ssh box` once"),
        (1, "cat: write error: No space left on device", "no space left on box"),
        (127, "sh: 1: callgate: not found", "run `callgate remote add box`"),
        (
            255,
            "ssh: connect to host box port 22: Connection refused",
            "ssh cannot reach box: ssh: connect",
        ),
        (1, "callgate: cannot start: why", "box: callgate: cannot start: why"),
    ] {
        let text = host.explain_failure(Some(code), said);
        assert!(text.contains(expected), "{said}: {text}");
    }
    assert!(explain_start(&io::ErrorKind::NotFound.into()).contains("install OpenSSH"));
}
