//! Tests of the command line.

use expect_test::{Expect, expect};

use super::*;

fn check(arguments: &str, expected: &Expect) {
    let options = BridgeOptions::parse(arguments.split_whitespace().map(OsString::from));
    expected.assert_eq(&match options {
        Ok(options) => format!("{options:?}"),
        Err(sentence) => sentence,
    });
}

#[test]
fn the_help_lists_every_option_under_its_heading() {
    let (_, options) = HELP.split_once("\nOptions:\n").unwrap();
    for flag in ["--connections <N>", "--heartbeat-ms <N>", "--host-checks", "--help", "--version"]
    {
        assert!(options.contains(flag), "{flag}");
    }
}

#[test]
fn arguments_are_read_or_refused_with_a_reason() {
    check(
        "s f",
        &expect![[
            r#"BridgeOptions { socket: "s", schema: "f", connections: 1, heartbeat: 10s, host_checks: false }"#
        ]],
    );
    check(
        "--connections 8 s --heartbeat-ms 50 --host-checks f",
        &expect![[
            r#"BridgeOptions { socket: "s", schema: "f", connections: 8, heartbeat: 50ms, host_checks: true }"#
        ]],
    );
    let usage = expect![
        "a socket and a schema file are needed; \
         usage: bridge SOCKET SCHEMA [--connections N] [--heartbeat-ms N] [--host-checks]"
    ];
    check("s", &usage);
    check("s f g", &usage);
    check("", &usage);
    let connections = expect![
        "--connections takes a whole number from 1 to 64; \
         usage: bridge SOCKET SCHEMA [--connections N] [--heartbeat-ms N] [--host-checks]"
    ];
    check("s f --connections 0", &connections);
    check("s f --connections 65", &connections);
    check("s f --connections", &connections);
    check("s f --connections many", &connections);
    check(
        "s f --fast",
        &expect![
            "unknown option --fast; \
             usage: bridge SOCKET SCHEMA [--connections N] [--heartbeat-ms N] [--host-checks]"
        ],
    );
}
