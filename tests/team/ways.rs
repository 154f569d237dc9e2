//! The way to the team's desk: through a proxy, over cuts, and to no other desk.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::{fs, io, thread};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_wire::desk::RemoteState;

use super::team_house::{DeskMachine, TeamHouse};

/// A proxy on loopback that knows one host. Its threads end with the tests' process.
struct ConnectProxy {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl ConnectProxy {
    fn start(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (asked, open) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
        let proxy = Self { address, asked: Arc::clone(&asked), open: Arc::clone(&open) };
        thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    client.read_exact(&mut byte).unwrap();
                    head.extend(byte);
                }
                asked.lock().unwrap().push(String::from_utf8(head).unwrap());
                let Ok(desk) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                let mut answer = client.try_clone().unwrap();
                answer.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                open.lock().unwrap().push(client.try_clone().unwrap());
                for (mut from, mut to) in
                    [(client.try_clone().unwrap(), desk.try_clone().unwrap()), (desk, client)]
                {
                    thread::spawn(move || {
                        io::copy(&mut from, &mut to).ok();
                        to.shutdown(Shutdown::Both).ok();
                    });
                }
            }
        });
        proxy
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}

#[test]
fn a_line_goes_through_the_proxy_and_survives_a_cut() {
    let house = TeamHouse::new(Some("desk.team.test"));
    let proxy = ConnectProxy::start(house.port);
    let member = DeskMachine::new().with_variable("HTTPS_PROXY", &proxy.address);
    house.let_join(&member, "build-7");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    let asked = proxy.asked.lock().unwrap().concat();
    let wanted = format!("CONNECT desk.team.test:{} HTTP/1.1", house.port);
    assert!(asked.contains(&wanted), "{asked}");
    let mut ada = house.desk.person("Ada");
    let hook = member.ask("make one");
    let row = ada.question(&house.desk, "make one");
    proxy.cut();
    assert!(ada.allow(&row).0, "it is delivered on the next line");
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied("build-7", &member);
    // Without the proxy nobody knows the host, and NO_PROXY exempts it.
    let invitation = house.invite(&["build-8"]);
    let other = DeskMachine::new()
        .with_variable("HTTPS_PROXY", &proxy.address)
        .with_variable("NO_PROXY", "team.test");
    let told = other.refused(&["team", "join", &invitation]);
    assert!(told.contains("cannot be reached"), "{told}");
}

#[test]
fn the_proxy_of_the_settings_gets_its_password_for_the_invitation_and_the_line() {
    let house = TeamHouse::new(Some("desk.team.test"));
    let proxy = ConnectProxy::start(house.port);
    // That of the settings counts, and not that of the login.
    let member = DeskMachine::new().with_variable("HTTPS_PROXY", "http://127.0.0.1:9");
    let home = &member.machine.home;
    let place = proxy.address.strip_prefix("http://").unwrap();
    home.write_settings(&format!(
        "timeout_seconds = 120\n[page]\nport = 0\n[agent]\nproxy = \"http://ada:s3cret@{place}\"\n"
    ));
    home.set_mode(".config/callgate/config.toml", 0o600);
    let has_password = |head: &str| {
        let head = head.to_lowercase();
        let password = STANDARD.encode("ada:s3cret").to_lowercase();
        head.contains(&format!("proxy-authorization: basic {password}\r\n"))
    };
    house.let_join(&member, "build-7");
    let joined = proxy.asked.lock().unwrap().clone();
    assert!(!joined.is_empty() && joined.iter().all(|head| has_password(head)), "{joined:?}");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    let asked = proxy.asked.lock().unwrap().clone();
    assert!(asked.len() > joined.len(), "the line goes there, too: {asked:?}");
    assert!(asked.iter().all(|head| has_password(head)), "{asked:?}");
    // Nobody is told the password.
    proxy.cut();
    let told = member.done(&["status"]) + &home.text("up.log");
    assert!(!told.contains("s3cret"), "{told}");
}

#[test]
fn another_desk_at_the_same_address_gets_no_token() {
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    house.desk.kill_desk();
    // Whoever takes the address has not the authority of the invitation.
    for file in ["team-authority.key", "team-authority.der"] {
        fs::remove_file(house.desk.machine.data(file)).unwrap();
    }
    house.desk.up();
    member.until("the certificate is refused", || {
        let text = member.line()?.text?;
        text.contains("certificate is not the one that is expected").then_some(())
    });
    assert!(house.views().is_empty());
}
