//! Files for the pickers of a front end.

use callgate_testkit::messages::Messages;
use serde_json::json;

use crate::fixture::Setup;

#[test]
fn a_front_end_finds_and_reads_files_as_the_tools_do() {
    let hide = "[[rule]]\nname = \"hide\"\ndecide = \"deny\"\npath = \"**/secret/**\"\n";
    let fake = Messages::start([]);
    let setup = Setup::on(&fake).rules(hide).file("src/ledger.rs", "one\ntwo\n");
    let mut agent = setup.file("secret/ledger.key", "key").start();
    let find = json!({"id": "f", "kind": "find_files", "query": "ledger"});
    assert_eq!(agent.ask(&find)["type"], "error", "it is an extension");
    agent.hello();
    let found = agent.ask(&find);
    let files = found["data"]["files"].as_array().unwrap();
    assert_eq!(files.len(), 1, "{found}");
    assert_eq!((&files[0]["name"], &files[0]["kind"]), (&json!("src/ledger.rs"), &json!("file")));
    assert_eq!(found["data"]["kind"], "find_files");
    let mut read =
        |path: &str| agent.ask(&json!({"id": "r", "kind": "read_file", "path": path, "offset": 2}));
    let text = read("src/ledger.rs");
    assert_eq!(
        (&text["data"]["content"], &text["data"]["totalLines"]),
        (&json!("two\n"), &json!(2))
    );
    for path in ["secret/ledger.key", "/etc/hostname", "missing"] {
        assert_eq!(read(path)["data"]["kind"], "file", "{path}");
    }
    assert!(fake.requests().is_empty());
}
