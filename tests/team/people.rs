//! People of a team: they come in with an invitation, answer in a browser, and are revoked.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_http::{ProxyChoice, TeamService};
use callgate_store::{EntryDraft, Store, now_ms};
use callgate_team::Invitation;
use callgate_testkit::browser::Browser;
use callgate_testkit::page::show;
use callgate_testkit::page_barriers::{assert_fits, assert_no_barriers};
use callgate_testkit::process::Group;
use callgate_testkit::test_home::TestHome;
use callgate_testkit::tools::{self, repo_root};
use callgate_wire::desk::RemoteState;
use callgate_wire::ledger::{LedgerEvent, MemberRevoked};
use serde_json::{Value, json};

use super::roles::join_person;
use super::team_house::{Asker, DeskMachine, TeamHouse};

/// Returns the link that `callgate team invite` prints for a person.
pub(crate) fn invite_person(house: &TeamHouse, name: &str) -> String {
    let printed = house.desk.done(&["team", "invite", name, "--person"]);
    let link = printed.split_whitespace().find(|word| word.starts_with("https://"));
    link.unwrap_or_else(|| panic!("{printed}")).to_owned()
}

pub(crate) fn wait_until_live(page: &Browser) {
    page.wait_for("a live page", "return document.body.dataset.connection === 'live'");
}

fn is_signed_out(page: &Browser) {
    page.wait_for("it is signed out", "return document.querySelector('[data-view=sign-in]')");
}

/// Which views the page offers.
fn views(page: &Browser) -> Value {
    page.run(
        "return [...document.querySelectorAll('.nav a.item .name')].map(it => it.textContent)",
        &json!([]),
    )
}

#[test]
fn a_person_joins_once_answers_and_is_revoked() {
    let Some(page) = Browser::start(1280, 800) else { return };
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    let link = invite_person(&house, "ada");
    page.open(&link);
    wait_until_live(&page);
    page.wait_for_text(".nav", "ada");
    assert_eq!(views(&page), json!(["Inbox", "History", "Rules", "ada"]));
    let address = page.run("return location.href", &json!([]));
    assert!(!address.to_string().contains("join="), "{address}");
    // The secret is used up.
    let thief = Browser::start(800, 600).unwrap();
    thief.open(&link);
    is_signed_out(&thief);
    thief.wait_for_text(".pairing", "was used already");
    assert_no_barriers(&thief, "the sign-in");

    let hook = member.ask("make one");
    show(&page, "make one");
    page.wait_for_text(".card", "on build-7");
    assert_eq!(page.count(".make-rule"), 0);
    assert_no_barriers(&page, "a question of a machine");
    page.click("[data-press=allow]");
    assert_eq!(hook.decision()["behavior"], "allow");
    let decided = house.desk.entries().into_iter().find(|entry| entry.kind == "decided").unwrap();
    let decided: Value = serde_json::from_str(&decided.body).unwrap();
    assert_eq!(decided["by"], "ada", "by the name in the roster");

    // What is not for a person is not reached by its address either.
    for place in ["#/settings", "#/chat", "#/sessions", "#/status", "#/rules/edit"] {
        let _ = page.run("location.hash = arguments[0]", &json!([place]));
        page.wait_for(
            place,
            "return ['inbox', 'rules'].includes(document.querySelector('.view')?.dataset.view)",
        );
        assert_eq!(page.count("textarea, [data-save], [data-setting]"), 0, "{place}");
    }
    let _ = page.run("location.hash = '#/history'", &json!([]));
    page.wait_for_text(".history-row", "on build-7");
    for (place, text) in [
        ("#/history", "on build-7"),
        ("#/rules", "Every machine decides"),
        ("#/you", "Where you are signed in"),
    ] {
        let _ = page.run("location.hash = arguments[0]", &json!([place]));
        page.wait_for_text("[data-view]", text);
        assert_no_barriers(&page, place);
    }

    assert_eq!(page.complaints(), Vec::<String>::new());

    // The session outlives the desk, and ends with the member.
    house.desk.kill_desk();
    page.wait_for("it is noticed", "return document.body.dataset.connection !== 'live'");
    house.desk.up();
    wait_until_live(&page);
    house.desk.done(&["team", "revoke", "ada"]);
    is_signed_out(&page);
    page.open(&link);
    is_signed_out(&page);
}

/// Who is revoked by a command is out at once, and after an entry that nobody announces at the next
/// look of the desk.
#[test]
fn a_revocation_counts_within_its_time() {
    let Some(page) = Browser::start(800, 600) else { return };
    let house = TeamHouse::new(None);
    let token = house.invite(&["ci", "--job"]);
    let by_command = |name: &str| drop(house.desk.done(&["team", "revoke", name]));
    let by_entry = |name: &str| {
        let revoked = MemberRevoked { name: name.to_owned(), by: "the test".to_owned() };
        let revoked = EntryDraft::new(now_ms(), None, &LedgerEvent::Revoked(revoked));
        Store::open(&house.desk.database()).unwrap().append_entries(&[revoked]).unwrap();
    };
    let revoke = |name: &str, seconds| if seconds == 5 { by_command(name) } else { by_entry(name) };
    let mut job_token = token;
    for seconds in [5, 60] {
        let machine = house.member("build-7");
        let job = DeskMachine::new().with_variable("CALLGATE_INVITATION", &job_token);
        job.done(&["team", "join"]);
        page.open(&invite_person(&house, "ada"));
        wait_until_live(&page);
        let began = Instant::now();
        for name in ["build-7", "ci", "ada"] {
            revoke(name, seconds);
        }
        machine.wait_for_line(RemoteState::Failed);
        job.wait_for_line(RemoteState::Failed);
        is_signed_out(&page);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(seconds), "{took:?}");
        assert!(house.views().iter().all(|view| view.state != RemoteState::Connected));
        job_token = house.invite(&["ci", "--job"]);
    }
}

/// Behind a balancer all people and all strangers come from one address.
#[test]
fn strangers_do_not_keep_people_from_joining() {
    let house = TeamHouse::new(None);
    let link = invite_person(&house, "ada");
    let secret = link.split_once("join=").unwrap().1.to_owned();
    let machine: Invitation = house.invite(&["build-7"]).parse().unwrap();
    let authority = machine.authority.as_deref();
    let service = TeamService::new(&machine.address, authority, &ProxyChoice::default()).unwrap();
    let service = Arc::new(service);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let join = |secret: &str| {
        let (service, body) =
            (Arc::clone(&service), json!({ "secret": secret, "name": "Firefox" }).to_string());
        async move { service.post_json("/api/join", body).await.unwrap().status.as_u16() }
    };
    runtime.block_on(async {
        let strangers: Vec<_> =
            (0..20).map(|number| tokio::spawn(join(&format!("wrong-{number}")))).collect();
        for stranger in strangers {
            assert_eq!(stranger.await.unwrap(), 403);
        }
        assert_eq!(join(&secret).await, 200);
        assert_eq!(join(&secret).await, 403, "it was used");
    });
}

#[test]
fn a_person_signs_out_and_removes_what_is_their_own() {
    let Some(page) = Browser::start(390, 844) else { return };
    let house = TeamHouse::new(None);
    page.open(&invite_person(&house, "ada"));
    wait_until_live(&page);
    let _ = page.run("location.hash = '#/you'", &json!([]));
    page.wait_for("the links", "return document.querySelectorAll('[data-link]').length === 1");
    page.click("[data-link-phone]");
    page.wait_for_text("[data-pair-code]", "/pair ");
    page.resize(320, 640);
    assert_fits(&page, "the code for a phone");
    page.resize(390, 844);
    page.click("[data-sign-out]");
    is_signed_out(&page);
    page.wait_for_text(".pairing", "You have signed out.");
    let standing = callgate_store::Store::open_read_only(&house.desk.database()).unwrap();
    assert!(standing.chained_links().unwrap().standing.is_empty());
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// A machine of a team with a rule that demands two people, and a command that its agent asks
/// about.
fn machine_of_ben(house: &TeamHouse) -> (DeskMachine, Asker) {
    let member = house.new_member();
    let rules = "[[rule]]\nname = \"production\"\ndecide = \"ask\"\n\
        command = \"terraform apply *\"\ntwo_people = true\n";
    member.machine.home.write(".config/callgate/rules.toml", rules);
    house.let_join(&member, "build-7");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    let shop = member.machine.home.path("shop");
    std::fs::create_dir(&shop).unwrap();
    let hook =
        member.ask_in(&shop, "terraform apply -auto-approve", "Apply the plan to production");
    (member, hook)
}

/// Writes pictures of the team's page, one of them for the guide, to the folder that
/// `CALLGATE_PICTURES` names, if it names one.
#[test]
fn picture_of_the_team() {
    let Some(folder) = std::env::var_os("CALLGATE_PICTURES") else { return };
    let Some(page) = Browser::start(1280, 800) else { return };
    let house = TeamHouse::new(None);
    let mut ada = join_person(&house, "ada");
    page.open(&invite_person(&house, "cleo"));
    wait_until_live(&page);
    page.click("[aria-label='No notifications']");
    let (member, _hook) = machine_of_ben(&house);
    let row = ada.question(&house.desk, "terraform apply -auto-approve");
    let first = "ada allowed; one more person is needed";
    assert_eq!(ada.allow(&row), (false, format!("{first}.")));
    let mut script = member.command(&["ask", "Deploy the shop to production?"]);
    script.current_dir(member.machine.home.path("shop"));
    script.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _script = Group::spawn(script);
    page.wait_for_text(".list-scroll", "Deploy the shop");
    show(&page, first);
    // Its home is a folder of the test.
    let home = member.machine.home.text_path("");
    let _ = page.run(
        "const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(arguments[0], '/home/ben/');",
        &json!([home]),
    );
    let folder = repo_root().join(folder);
    let take = |name: &str| {
        let picture = STANDARD.decode(page.picture()).unwrap();
        std::fs::write(folder.join(name), picture).unwrap();
    };
    take("team.png");
    let _ = page.run("location.hash = '#/you'", &json!([]));
    page.wait_for("the links", "return document.querySelector('[data-link]')");
    take("team-you.png");
    page.click("[data-sign-out]");
    is_signed_out(&page);
    take("team-sign-in.png");
}

/// A provider of a company's accounts.
pub(crate) struct CompanyProvider {
    pub(crate) issuer: String,
    _process: Group,
}

impl CompanyProvider {
    /// Starts one to which the desk at this address is known.
    pub(crate) fn start(address: &str) -> Option<Self> {
        let (node, module) = tools::oidc_provider()?;
        let mut command = Command::new(node);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/team/oidc_provider.mjs"));
        command.arg(module).arg(format!("https://{address}/sign-in"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Group::spawn(command);
        let mut issuer = String::new();
        let mut output = BufReader::new(process.take_stdout());
        #[allow(clippy::disallowed_methods, reason = "a line of our own script")]
        output.read_line(&mut issuer).unwrap();
        // What it prints later is nobody's business, and must not stop it.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Some(Self { issuer: issuer.trim().to_owned(), _process: process })
    }

    /// Returns the settings of a desk, for its `[team]`. The client's secret is in a file of this
    /// home.
    pub(crate) fn settings(&self, home: &TestHome) -> String {
        home.write_private("client-secret", "s3cret+/=\n");
        format!(
            "oidc_issuer = {:?}\noidc_client_id = \"callgate\"\noidc_client_secret_file = {:?}\n",
            self.issuer,
            home.text_path("client-secret"),
        )
    }
}

/// Starts a provider, and the desk again with its settings.
fn start_provider(house: &TeamHouse) -> Option<CompanyProvider> {
    let provider = CompanyProvider::start(&format!("127.0.0.1:{}", house.port))?;
    let home = &house.desk.machine.home;
    let settings = provider.settings(home);
    home.write_settings(&format!("timeout_seconds = 120\n[page]\nport = 0\n[team]\n{settings}"));
    house.desk.kill_desk();
    house.desk.up();
    Some(provider)
}

/// Signs in at the provider with an account, up to its question whether callgate may know the
/// address.
pub(crate) fn begin_sign_in(page: &Browser, address: &str, account: &str) {
    page.open(&format!("https://{address}/"));
    page.click("[data-sign-in]");
    page.fill("[name=login]", account);
    page.fill("[name=password]", "any");
    page.click("button[type=submit]");
    page.wait_for(
        "its consent",
        "return document.querySelector('input[name=prompt][value=consent]')",
    );
}

fn sign_in(page: &Browser, house: &TeamHouse, account: &str) {
    begin_sign_in(page, &format!("127.0.0.1:{}", house.port), account);
    page.click("button[type=submit]");
}

#[test]
fn a_person_signs_in_with_an_account_of_the_company() {
    let Some(page) = Browser::start(1280, 800) else { return };
    let house = TeamHouse::new(None);
    let Some(_provider) = start_provider(&house) else { return };
    invite_person(&house, "Ada@example.org");
    sign_in(&page, &house, "ada@example.org");
    wait_until_live(&page);
    page.wait_for_text(".nav", "Ada@example.org");
    let address = page.run("return location.href", &json!([]));
    assert!(!address.to_string().contains("join="), "{address}");

    let stranger = Browser::start(800, 600).unwrap();
    sign_in(&stranger, &house, "eve@example.org");
    stranger.wait_for_text(".pairing", "belongs to nobody in the team");
    is_signed_out(&stranger);
    // Somebody could have written any address into their account.
    invite_person(&house, "unproved@example.org");
    let other = Browser::start(800, 600).unwrap();
    sign_in(&other, &house, "unproved@example.org");
    other.wait_for_text(".pairing", "The sign-in failed");
    house.desk.until("the owner is told why", || {
        let log = house.desk.machine.home.text("up.log");
        log.contains("does not say that the e-mail address belongs to the account")
    });
}
