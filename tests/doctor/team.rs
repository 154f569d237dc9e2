//! What `callgate doctor` says of the database that the desks of a team share.

use callgate_testkit::postgres_server::{PASSWORD, shared_server};

use super::{Home, chmod, text};

#[test]
fn the_database_of_a_team_is_looked_at() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let home = Home::up();
    let look_at = |url: &str| {
        home.write("database-url", url);
        chmod(&home.path("database-url"), 0o600);
        home.set(&format!(
            "[team]\ncertificate = \"/desk.crt\"\ncertificate_key = \"/desk.key\"\n\
             database_url_file = {:?}",
            home.text_path("database-url")
        ));
        let findings = home.doctor();
        assert!(!format!("{findings:?}").contains(PASSWORD), "{findings:?}");
        findings
    };
    let is_well = |url: &str| {
        look_at(url)
            .iter()
            .any(|it| it["level"] == "ok" && text(it) == "the team's database answers")
    };
    assert!(is_well(&server.url(&database)));

    // A login that owns the tables and is not in the role of desks.
    let (role, owned) = (format!("{database}_owner"), server.make_database());
    let make = format!("CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'");
    server.query("postgres", &make);
    server.query("postgres", &format!("ALTER DATABASE {owned} OWNER TO {role}"));
    let url = server.url(&owned).replacen("admin", &role, 1);
    assert!(!is_well(&url));
    home.finds(
        "warning",
        "this desk could change and remove entries of the team's audit log",
        "the role callgate_desk",
    );

    let away = format!("postgres://admin:{PASSWORD}@127.0.0.1:1/{database}");
    assert!(!is_well(&away));
    home.finds("problem", "cannot reach the team's database", "callgate team status");
}
