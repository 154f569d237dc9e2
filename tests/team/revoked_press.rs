//! Two desks that share a database, one of which is cut off from it while somebody is revoked at
//! the other.

use callgate_testkit::browser::Browser;
use callgate_testkit::network_proxy::{NetworkProxy, NetworkState};
use callgate_testkit::page::show;
use callgate_testkit::postgres_server::{PASSWORD, shared_server};

use super::people::{invite_person, wait_until_live};
use super::shared_desks::{TeamCertificates, database_settings};

#[test]
fn whoever_was_revoked_behind_a_cut_has_answered_nothing() {
    let Some(page) = Browser::start(1280, 800) else { return };
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let network = NetworkProxy::start(server.port);
    let balancer = NetworkProxy::start(0);
    let certificates = TeamCertificates::make();
    let one = certificates.start_desk(&balancer, &database_settings(server, &database, 1));
    let way = network.address;
    let far = format!(
        "desk_name = \"desk-2\"\n\
         database_url = \"postgres://admin:{PASSWORD}@{way}/{database}?sslmode=disable\"\n"
    );
    let two = certificates.start_desk(&balancer, &far);
    balancer.forward_to(one.port);
    let member = one.member("build-7");
    let mut cleo = two.desk.person("Cleo");
    // Ben's page is at the other desk.
    balancer.forward_to(two.port);
    page.open(&invite_person(&two, "ben"));
    wait_until_live(&page);
    let mut hook = member.ask("make one");
    let first = cleo.question(&two.desk, "make one");
    show(&page, "make one");
    network.set(NetworkState::Cut);
    one.desk.done(&["team", "revoke", "ben"]);
    page.click("[data-press=allow]");
    let has = |kind: &str| two.desk.entries().iter().any(|entry| entry.kind == kind);
    two.desk.until("he has pressed", || has("decided"));
    network.set(NetworkState::Open);
    two.desk.until("the press is not counted", || has("closed"));
    let state = "SELECT state || coalesce(answered_by, '') FROM callgate_team.questions";
    assert_eq!(server.query(&database, state), "open");
    let log = two.desk.machine.home.text("up.log");
    assert!(log.contains("ben may not answer this any more"), "{log}");
    assert!(hook.still_waits());
    // Those who share his desk are asked again, also by a desk that was started anew.
    let again = cleo.question(&two.desk, "make one");
    assert_ne!(again.question, first.question);
    two.desk.kill_desk();
    two.desk.up();
    let mut cleo = cleo.again(&two.desk);
    let again = cleo.question(&two.desk, "make one");
    assert!(cleo.deny(&again).0);
    assert_eq!(hook.decision()["behavior"], "deny");
    assert_eq!(server.query(&database, state), "answeredCleo");
}
