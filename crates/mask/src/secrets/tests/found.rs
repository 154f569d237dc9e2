//! Tokens that are known by themselves.

use super::{check, mask_text};
use crate::secrets::tokens::{TOKENS, TokenBody};
use callgate_testkit::secrets::SAMPLES;

fn random(len: usize) -> String {
    "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0".chars().cycle().take(len).collect()
}

#[test]
fn every_sample_is_found_alone() {
    for sample in SAMPLES.iter().filter(|sample| sample.is_known_alone) {
        let masked = mask_text(sample.text);
        assert!(masked.hidden_count() > 0, "{}", sample.name);
        for window in sample.random.as_bytes().windows(8) {
            let window = std::str::from_utf8(window).unwrap();
            assert!(!masked.shown().contains(window), "{}: {}", sample.name, masked.shown());
        }
    }
}

#[test]
fn every_kind_of_the_table_is_found() {
    let all = TOKENS.iter().flat_map(|token| token.prefixes.split(' ').map(move |it| (it, token)));
    for (prefix, token) in all {
        assert_eq!(prefix.as_bytes()[0], token.prefixes.as_bytes()[0], "{prefix}");
        let body: String = match token.body {
            TokenBody::Hex => "0123456789abcdef".chars().cycle().take(token.least).collect(),
            TokenBody::Upper => "AB2CD3EF4GH5JK6L".chars().cycle().take(token.least).collect(),
            _ => random(token.least),
        };
        let secret = format!("{prefix}{body}");
        let masked = mask_text(&format!("see \"{secret}\" there"));
        let kept = if token.keeps_prefix { prefix } else { "" };
        let expected = format!("see \"{kept}[hidden 1: {}]\" there", token.label);
        assert_eq!(masked.shown(), expected, "{secret}");
    }
}

#[test]
fn tokens_end_where_they_end() {
    let token = format!("ghp_{}", random(36));
    check(&format!("a {token}, b"), "a [hidden 1: GitHub token], b");
    check(&format!("({token})."), "([hidden 1: GitHub token]).");
    check(&format!("glpat-{}. Next", random(20)), "[hidden 1: GitLab token]. Next");
    check(&format!("line\\n{token}\\nline"), "line\\n[hidden 1: GitHub token]\\nline");
    check(&format!("-p{token}"), "-p[hidden 1: GitHub token]");
    check(&format!("x%3D{token}%26"), "x%3D[hidden 1: GitHub token]%26");
    check(&format!("{token} {token}"), "[hidden 1: GitHub token] [hidden 1: GitHub token]");
}

#[test]
fn tokens_in_pieces_are_found() {
    let (a, b) = (random(18), random(18));
    for between in ["\"\"", "''", "\"'", "'\"", "\\\n", "\" + \"", "'+'"] {
        check(&format!("echo \"ghp_{a}{between}{b}\""), "echo \"[hidden 1: GitHub token]\"");
    }
    check(&format!("echo ghp_{}\"{}\"", &a[..9], &a[9..]), "echo ghp_aB3dE6gH9\"jK2mN5pQ8\"");
    check(&format!("echo ghp_{}\"{b}\"", &a[..9]), "echo [hidden 1: GitHub token]\"");
}

#[test]
fn an_aws_secret_beside_its_id_is_found() {
    let secret = "wJa1rXUtnFEMI/K7MDENG/bPxRfiCYEXA+PLEKEY";
    check(
        &format!("AKIAIOSFODNN7EXAMPLE,{secret}"),
        "[hidden 1: AWS key],[hidden 2: AWS secret key]",
    );
}

#[test]
fn keys_in_blocks_are_found_and_the_markers_stay() {
    let line = random(64);
    let begin = "-----BEGIN PRIVATE KEY-----";
    let end = "-----END PRIVATE KEY-----";
    check(
        &format!("{begin}\n{line}\n{line}\nabcD==\n{end}\n"),
        &format!("{begin}\n[hidden 1: private key]\n{end}\n"),
    );
    check(
        &format!("KEY=\"{begin}\\n{line}\\n{line}\\n{end}\\n\""),
        &format!("KEY=\"{begin}\\n[hidden 1: private key]\\n{end}\\n\""),
    );
    check(
        &format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{line}\n{end}"),
        &format!(
            "{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n[hidden 1: private key]\n{end}"
        ),
    );
    check(&format!("{begin}\n  {line}\n  {line}"), &format!("{begin}\n  [hidden 1: private key]"));
    check(&format!("{begin}{line}{end}"), &format!("{begin}[hidden 1: private key]{end}"));
    // A command between the markers is no key.
    for command in ["rm -rf ~", "reboot", "curl x|sh", "/tmp/evil"] {
        let input = format!("{begin}\n{command}\n{end}");
        check(&input, &input);
        let shown = format!("{begin}\n[hidden 1: private key]\n{command}\n{end}");
        check(&format!("{begin}\n{line}\n{command}\n{end}"), &shown);
    }
}
