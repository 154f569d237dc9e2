//! Which servers on this machine are used.

use callgate_testkit::chat::{Chat, Dialect};

use super::*;

const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 1 1 0 100 0 0 10 0
   2: 0A00000A:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   3: 0100007F:1F41 0100007F:2CAA 01 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
";
const TABLE_6: &str = "  sl  local_address                         remote_address
   0: 00000000000000000000000001000000:2CAA 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 1 1 0 100 0 0 10 0
   1: 00000000000000000000000000000000:04D2 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
";

#[test]
fn sockets_that_listen_on_this_machine_are_found_in_the_tables() {
    let found: Vec<_> = parse_listeners(TABLE)
        .chain(parse_listeners(TABLE_6))
        .map(|it| (it.host, it.port, it.owner))
        .collect();
    assert_eq!(
        found,
        [
            ("127.0.0.1", 11434, 1000),
            ("127.0.0.1", 8080, 998),
            ("[::1]", 11434, 1001),
            // Nothing says who listens at 127.0.0.1: a socket for IPv6 need not take IPv4 as well.
            ("[::1]", 1234, 0),
        ]
    );
}

#[test]
fn a_server_of_another_person_is_not_trusted() {
    let is_trusted = |owner| Listener { host: "127.0.0.1", port: 1, owner }.is_trusted(1000);
    assert!(is_trusted(1000) && is_trusted(0) && is_trusted(999));
    assert!(!is_trusted(1001) && !is_trusted(65534));
}

#[tokio::test]
async fn the_first_server_that_lists_models_is_found() {
    let no_list = Chat::start(Dialect::ChatCompletions, []);
    let fake = Chat::start(Dialect::ChatCompletions, []).local(["qwen", "llama"]);
    let found = find_with_model(&[1, no_list.port(), fake.port()]).await.unwrap();
    assert_eq!(found.address, format!("http://127.0.0.1:{}", fake.port()));
    assert_eq!(found.models.len(), 2);
    assert!(find_with_model(&[1, no_list.port()]).await.is_none());
    assert!(find_with_model(&[]).await.is_none());
}
