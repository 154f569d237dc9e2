//! Passwords of the database that are not ASCII: the server and the desk prepare them alike.

use std::fmt::Write as _;

use callgate_testkit::postgres_server::shared_server;

use super::team_house::DeskMachine;

/// Returns a password as a URL has it.
fn quoted(password: &str) -> String {
    password.bytes().fold(String::new(), |mut url, byte| {
        write!(url, "%{byte:02X}").unwrap();
        url
    })
}

/// The server hashes each, so that it decides what is the same password.
#[test]
fn a_desk_logs_in_with_any_password_that_the_server_takes() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let role = format!("{database}_desk");
    server.query("postgres", &format!("CREATE ROLE {role} LOGIN"));
    server.query("postgres", &format!("ALTER DATABASE {database} OWNER TO {role}"));
    let status = |password: &str| {
        let url = format!(
            "postgres://{role}:{}@127.0.0.1:{}/{database}?sslmode=disable",
            quoted(password),
            server.port
        );
        let desk = DeskMachine::new().with_variable("CALLGATE_TEAM_DATABASE_URL", &url);
        desk.machine.home.write_settings(
            "[team]\ncertificate = \"/desk.crt\"\ncertificate_key = \"/desk.key\"\n",
        );
        let told = desk.command(&["team", "status"]).output().unwrap();
        let text = String::from_utf8(told.stdout).unwrap();
        let line = text.lines().find(|line| line.starts_with("database "));
        line.unwrap_or_else(|| panic!("{text}")).trim_start_matches("database").trim().to_owned()
    };
    // As it is, with spaces and what is left out, from right to left; then what the server uses as
    // it is, since it may not be in a password: both directions, what Unicode 3.2 did not have
    // (here and where another preparation would change it), control characters, and nothing.
    for (set, typed) in [
        ("pass-7431", "pass-7431"),
        ("pa\tss", "pa\tss"),
        ("naïve-ß-пароль-密码", "naïve-ß-пароль-密码"),
        ("nai\u{308}ve", "naïve"),
        ("ﬁⅨ①\u{212b}", "fiIX1\u{c5}"),
        ("a\u{a0}b\u{ad}c\u{200b}d", "a bc d"),
        ("a bc d", "a\u{a0}b\u{ad}c\u{200b}d"),
        ("שלום", "שלום"),
        ("ﬁש", "ﬁש"),
        ("ﬁ1\u{627}1", "ﬁ1\u{627}1"),
        ("ﬁ😀", "ﬁ😀"),
        ("\u{1f100}-0", "\u{1f100}-0"),
        ("é\u{7}", "é\u{7}"),
        ("ﬁ\u{85}", "ﬁ\u{85}"),
        ("\u{ad}", "\u{ad}"),
    ] {
        server.query("postgres", &format!("ALTER ROLE {role} PASSWORD '{set}'"));
        assert_eq!(status(typed), "answers", "{set:?} typed as {typed:?}");
    }
    // What would have to be normalised is refused with the reason.
    let told = status("nai\u{308}ve");
    assert!(told.contains("give the login another one"), "{told}");
    // And they are different passwords where the server says so.
    server.query("postgres", &format!("ALTER ROLE {role} PASSWORD 'naïve'"));
    for wrong in ["naive", "NAÏVE", "naïv", "ﬁ😀"] {
        assert!(status(wrong).contains("does not answer"), "{wrong}");
    }
}
