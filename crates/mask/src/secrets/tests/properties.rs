//! What holds for any secret in any place, and for any text.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{mask_json, mask_text};
use callgate_testkit::secrets::{SAMPLES, Sample, leak_in};

/// Places in which a secret that is known alone may stand; `@` stands for it.
const PLACES: [&str; 16] = [
    "@",
    "echo @ | tee x",
    "echo \"@\" > x",
    "curl -d '@' https://example.org",
    "ssh h \"echo '@'\"",
    "X=@ cmd",
    "export X=\"@\"",
    "key: @\nnext: 1",
    "first\n\n@\nlast",
    "[section]\nvalue = @\n",
    "see (@), please",
    "x=\"a\"; y='@'; z=1",
    "https://example.org/?q=1 @",
    "{\"a\": [\"@\"]}",
    "- @\n- b",
    "it's here: @",
];

/// Places in which a secret is known by what stands before it.
const NAMED: [&str; 28] = [
    "PASSWORD=@",
    "PASSWORD=@ cmd",
    "export API_KEY=\"@\"",
    "export API_KEY='@' && run",
    "db_password: @\n",
    "db_password: \"@\"\n",
    "[x]\npassword = @\nuser = y\n",
    "tool --password @ x",
    "tool --password=@ x",
    "tool --api-key '@'",
    "mysql -uroot -p@ db",
    "curl -u user:@ https://x",
    "curl -H 'X-Api-Key: @' https://x",
    "curl -H \"Authorization: Bearer @\" https://x",
    "Authorization: token @\r\nHost: x",
    "Cookie: a=@; b=c",
    "sshpass -p @ ssh h",
    "{\"client_secret\":\"@\"}",
    "curl -d \"{\\\"password\\\": \\\"@\\\"}\" x",
    "const secret = '@';",
    "<password>@</password>",
    "machine h login u password @",
    "bash -c \"DB_PASSWORD=@ run\"",
    "$env:SECRET = \"@\"",
    "echo '@' | docker login --password-stdin",
    "docker run -e SECRET_KEY=@ img",
    "it's the key\nPASSWORD=@\n",
    "AZURE_CLIENT_SECRET=@\nNEXT=1",
];

/// Checks that nothing of the sample's random part is shown, and that the text comes back.
fn nothing_leaks(sample: &Sample, input: &str) {
    let quoted = callgate_wire::raw::json_string(input);
    let wrapped = format!("{{\"command\":{quoted},\"n\":1}}");
    for (masked, input) in [(mask_text(input), input), (mask_json(&wrapped), wrapped.as_str())] {
        let shown = masked.shown();
        let mut windows = sample.random.as_bytes().windows(8);
        let leaks = windows.any(|window| memchr::memmem::find(shown.as_bytes(), window).is_some());
        assert!(!leaks, "{input:?} is shown as {shown:?}");
        assert!(masked.hidden_count() > 0);
        assert_eq!(masked.restore(shown).as_deref(), Ok(input));
        let again = if input.len() == wrapped.len() { mask_json(shown) } else { mask_text(shown) };
        assert_eq!(again.shown(), shown);
    }
}

#[test]
fn no_sample_leaks_anywhere() {
    for sample in SAMPLES {
        let places: &[&str] = if sample.is_known_alone { &PLACES } else { &NAMED };
        for place in places {
            nothing_leaks(sample, &place.replace('@', sample.text));
        }
    }
}

#[test]
fn a_json_member_hides_every_sample_wholly() {
    for Sample { text, name, .. } in SAMPLES {
        let input = format!("{{\"a\":{{\"apiToken\":{}}}}}", callgate_wire::raw::json_string(text));
        let masked = mask_json(&input);
        assert_eq!(leak_in(masked.shown().as_bytes()).map(|sample| sample.name), None, "{name}");
        assert_eq!(masked.hidden_count(), 1);
    }
}

/// The sample in one of the places in which it is known.
fn placed(sample: &Sample, place: usize) -> String {
    let places: &[&str] = if sample.is_known_alone { &PLACES } else { &NAMED };
    places[place % places.len()].replace('@', sample.text)
}

/// Pieces of which texts that confuse a reader are made.
fn confusing() -> impl Strategy<Value = String> {
    let pieces = vec![
        "password",
        "token",
        "=",
        ":",
        " ",
        "\"",
        "'",
        "\\",
        "\\\"",
        "\n",
        "--password ",
        "-p",
        "mysql ",
        "curl -u ",
        "a:b",
        "ghp_",
        "aB3dE6gH9jK2mN5pQ8sT1vW4",
        "://",
        "@",
        "?key=",
        "&",
        "$",
        "${",
        "}",
        "{{",
        "$(",
        ")",
        "`",
        "[hidden 1: x]",
        "[hidden ",
        "]",
        "eyJ",
        ".",
        "{",
        "Cookie: ",
        "Authorization: ",
        "Bearer ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END",
        "<",
        "password>",
        ";",
        "|",
        "echo ",
        "é",
        "😀",
        "=>",
        "set ",
        "machine ",
        "AKIA",
        "123456789:",
        "f\"",
        "\r",
        "\t",
        "hunter2",
        "--from-literal=",
        "pass:",
        "💥",
        ",",
        "Q~",
        "-us1",
    ];
    let piece = prop::sample::select(pieces).prop_map(String::from);
    let any = any::<char>().prop_map(String::from);
    prop::collection::vec(prop_oneof![12 => piece, 1 => any], 0..40).prop_map(|all| all.concat())
}

proptest! {
    #[test]
    fn any_text_comes_back(input in confusing()) {
        let masked = mask_text(&input);
        prop_assert_eq!(masked.restore(masked.shown()).unwrap(), input.as_str());
        if masked.hidden_count() == 0 {
            prop_assert_eq!(masked.shown(), input.as_str());
        }
    }

    #[test]
    fn any_json_stays_json(input in confusing(), key in confusing()) {
        let (key, value) = (callgate_wire::raw::json_string(&key), callgate_wire::raw::json_string(&input));
        let input = format!("{{{key}: [{value}, {{\"token\" : {value}}}]}}");
        let masked = mask_json(&input);
        prop_assert!(serde_json::from_str::<serde_json::Value>(masked.shown()).is_ok());
        prop_assert_eq!(masked.restore(masked.shown()).unwrap(), input.as_str());
        if masked.hidden_count() == 0 {
            prop_assert_eq!(masked.shown(), input.as_str());
        }
    }

    #[test]
    fn what_is_not_json_does_no_harm(input in confusing()) {
        let masked = mask_json(&input);
        prop_assert_eq!(masked.restore(masked.shown()).unwrap(), input.as_str());
    }

    #[test]
    fn samples_among_anything_do_not_leak(
        before in "[a-z \n]{0,20}", at in 0..SAMPLES.len(), after in "[ \n][a-z \n]{0,20}",
    ) {
        let sample = &SAMPLES[at];
        if sample.is_known_alone {
            nothing_leaks(sample, &format!("{before}\n{}{after}", sample.text));
        }
    }
}

proptest! {
    // Each case searches for every sample.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn many_secrets_in_one_text_do_not_leak(
        lines in prop::collection::vec((0..SAMPLES.len(), 0..PLACES.len() * NAMED.len()), 1..6),
    ) {
        let lines: Vec<String> = lines.iter().map(|(sample, place)| placed(&SAMPLES[*sample], *place)).collect();
        let input = lines.join("\n");
        let masked = mask_text(&input);
        let leak = leak_in(masked.shown().as_bytes()).map(|sample| sample.name);
        prop_assert_eq!(leak, None, "{}\n is shown as\n{}", input, masked.shown());
        prop_assert_eq!(masked.restore(masked.shown()).unwrap(), input.as_str());
        let again = mask_text(masked.shown());
        prop_assert_eq!(again.shown(), masked.shown());
    }
}

#[test]
fn time_is_proportional_to_the_text() {
    const SIZE: usize = 1 << 15;
    for shape in [
        "a",
        "=",
        ":",
        "\"",
        "'",
        "\\",
        "password=",
        "password={{",
        "password=\"",
        "password='\"",
        "password=\\\"",
        "auth=",
        "?key=",
        "?token=$",
        "sk-",
        "sk-a",
        "ghp_",
        "ghp_a\"\"",
        "eyJ",
        "eyJ.",
        "eyJabcdefghijk.",
        "://",
        "http://a:",
        "@tcp(",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\n",
        "Private-Lines:",
        "Cookie: a=b;",
        "Cookie: ",
        "a=b; ",
        "Authorization: ",
        "Bearer ",
        "Bearer",
        "--password ",
        "--password '",
        "-p",
        "mysql -p'",
        "curl -u a:",
        "echo a | sudo -S ",
        "[hidden ",
        "[hidden 1: ",
        "<password>",
        "123456789:",
        "12345678:",
        ".aaaaaa.",
        "AKIAIOSFODNN7EXAMPLE",
        "Q~",
        "-us",
        "${",
        "password=${",
        " ",
        "\n",
        "token: ",
        "password: \n",
        "set ",
        "machine password ",
        "1//0",
        "xoxb-",
        "é",
        "password=$a:",
        "password=`",
        "token=https://",
        "DEK-Info:",
        "pass:\"",
        "[",
        "{\"a\":",
        "chpasswd <<:\n",
        "-S <<<",
        "login('a',",
        "password(\"",
        "$6$",
        "kind: Secret\n",
        "kind: Secret\ndata:\n  a: b1\n",
        "${!x} a ",
        "declare -n ",
        "name: a_token\nvalue: ",
        "value=",
        "---- BEGIN ",
        "oracle:thin:a/",
        "password=x1 $(",
        "password=x1 `",
        "password=x1 <a>",
        "password=x1 (a) sudo -u ",
    ] {
        let input = shape.repeat(SIZE / shape.len());
        let start = Instant::now();
        let masked = mask_text(&input);
        let quoted = mask_json(&callgate_wire::raw::json_string(&input));
        let taken = start.elapsed();
        // It takes some hundredths of a second without optimisation; were any of it quadratic, it
        // would take minutes.
        assert!(taken < Duration::from_secs(10), "{shape:?} took {taken:?}");
        assert!(masked.restore(masked.shown()).is_ok() && quoted.hidden_count() <= 1001);
    }
}
