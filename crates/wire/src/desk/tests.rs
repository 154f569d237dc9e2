//! What the desk protocol reads, refuses and writes.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::approval::{Press, RequestId};
use crate::fields::tests::render_with_line;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

/// Reads each line and shows what was read and how it is written, or why it was refused. `ID`
/// stands for a request id.
fn check(read: fn(&[u8]) -> String, lines: &[&str], expected: &Expect) {
    let shown: Vec<String> = lines
        .iter()
        .map(|line| read(line.replace("ID", ID).as_bytes()).replace(ID, "ID"))
        .collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

fn request(line: &[u8]) -> String {
    match DeskRequest::decode(line) {
        Ok(request) => render_with_line(&request, &request.to_line()),
        Err(unreadable) => format!("{:?}: {unreadable}", unreadable.id.as_deref()),
    }
}

fn message(line: &[u8]) -> String {
    match DeskMessage::decode(line) {
        Ok(message) => render_with_line(&message, &message.to_line()),
        Err(unreadable) => format!("{:?}: {unreadable}", unreadable.id.as_deref()),
    }
}

#[test]
fn requests() {
    check(
        request,
        &[
            r#"{"id":"1","kind":"watch","from":7}"#,
            r#"{"kind":"watch","id":"","from":null,"new":1}"#,
            r#"{"id":"2","kind":"press","request_id":"ID","action":"always1"}"#,
            r#"{"id":"2","kind":"press","request_id":"ID","words":"no, \n thanks","action":null}"#,
            "{\"id\":\"2\",\"kind\":\"press\",\"request_id\":\"ID\",\"input\":{ \"b\":1.0,\n\"a\":2}}\r\n",
            r#"{"id":"3","kind":"unlock","token":"hush"}"#,
            r#"{"id":"4","kind":"pair","code":"7KQM2XWA","name":"Ada's page"}"#,
            r#"{"id":"5","kind":"code"}"#,
            r#"{"id":"6","kind":"links"}"#,
            r#"{"id":"7","kind":"unpair","link":"chat/-100"}"#,
            r#"{"id":"8","kind":"status"}"#,
            r#"{"id":"9","kind":"gate","value":"0123456789abcdef0123456789abcdef"}"#,
            r#"{"id":"2","kind":"press","request_id":"ID","action":"allow","confirm":"prod"}"#,
            r#"{"id":"3","kind":"unlock","token":"hush","origin":"http://127.0.0.1:7420"}"#,
            r#"{"id":"4","kind":"pair","code":"A","name":"","origin":"http://127.0.0.1:7420"}"#,
            r#"{"id":"5","kind":"code","page":true}"#,
        ],
        &expect![[r#"
            DeskRequest { id: "1", command: Watch { from: Some(7) } }
              = "{\"id\":\"1\",\"kind\":\"watch\",\"from\":7}\n"
            DeskRequest { id: "", command: Watch { from: None } }
              = "{\"id\":\"\",\"kind\":\"watch\"}\n"
            DeskRequest { id: "2", command: Press { request_id: RequestId("ID"), press: Button(Always(1)), confirm: None } }
              = "{\"id\":\"2\",\"kind\":\"press\",\"request_id\":\"ID\",\"action\":\"always1\"}\n"
            DeskRequest { id: "2", command: Press { request_id: RequestId("ID"), press: Words("no, \n thanks"), confirm: None } }
              = "{\"id\":\"2\",\"kind\":\"press\",\"request_id\":\"ID\",\"words\":\"no, \\n thanks\"}\n"
            DeskRequest { id: "2", command: Press { request_id: RequestId("ID"), press: Input(RawValue({ "b":1.0,␊"a":2})), confirm: None } }
              = "{\"id\":\"2\",\"kind\":\"press\",\"request_id\":\"ID\",\"input\":{ \"b\":1.0, \"a\":2}}\n"
            DeskRequest { id: "3", command: Unlock { token: HiddenText(…), origin: None, name: None } }
              = "{\"id\":\"3\",\"kind\":\"unlock\",\"token\":\"hush\"}\n"
            DeskRequest { id: "4", command: Pair { code: HiddenText(…), name: "Ada's page", origin: None } }
              = "{\"id\":\"4\",\"kind\":\"pair\",\"code\":\"7KQM2XWA\",\"name\":\"Ada's page\"}\n"
            DeskRequest { id: "5", command: Code { page: false } }
              = "{\"id\":\"5\",\"kind\":\"code\"}\n"
            DeskRequest { id: "6", command: Links }
              = "{\"id\":\"6\",\"kind\":\"links\"}\n"
            DeskRequest { id: "7", command: Unpair { link: "chat/-100" } }
              = "{\"id\":\"7\",\"kind\":\"unpair\",\"link\":\"chat/-100\"}\n"
            DeskRequest { id: "8", command: Status }
              = "{\"id\":\"8\",\"kind\":\"status\"}\n"
            DeskRequest { id: "9", command: Gate { value: HiddenText(…) } }
              = "{\"id\":\"9\",\"kind\":\"gate\",\"value\":\"0123456789abcdef0123456789abcdef\"}\n"
            DeskRequest { id: "2", command: Press { request_id: RequestId("ID"), press: Button(Allow), confirm: Some("prod") } }
              = "{\"id\":\"2\",\"kind\":\"press\",\"request_id\":\"ID\",\"action\":\"allow\",\"confirm\":\"prod\"}\n"
            DeskRequest { id: "3", command: Unlock { token: HiddenText(…), origin: Some("http://127.0.0.1:7420"), name: None } }
              = "{\"id\":\"3\",\"kind\":\"unlock\",\"token\":\"hush\",\"origin\":\"http://127.0.0.1:7420\"}\n"
            DeskRequest { id: "4", command: Pair { code: HiddenText(…), name: "", origin: Some("http://127.0.0.1:7420") } }
              = "{\"id\":\"4\",\"kind\":\"pair\",\"code\":\"A\",\"name\":\"\",\"origin\":\"http://127.0.0.1:7420\"}\n"
            DeskRequest { id: "5", command: Code { page: true } }
              = "{\"id\":\"5\",\"kind\":\"code\",\"page\":true}\n"
        "#]],
    );
}

#[test]
fn questions() {
    check(
        request,
        &[
            r#"{"id":"1","kind":"inbox"}"#,
            r#"{"id":"2","kind":"card","question":"ID"}"#,
            r#"{"id":"3","kind":"history"}"#,
            r#"{"id":"3","kind":"history","filter":{"text":"make","decision":"deny","by":"person","new":1},"before":9,"limit":200}"#,
            r#"{"id":"4","kind":"figures","filter":{"since_ms":-1,"until_ms":null}}"#,
            r#"{"id":"5","kind":"export","format":"csv","before":7}"#,
            r#"{"id":"6","kind":"verify"}"#,
            r#"{"id":"7","kind":"sessions","since_ms":5}"#,
            r#"{"id":"8","kind":"rules"}"#,
            r#"{"id":"9","kind":"check_rules","text":"[[rule]]"}"#,
            r#"{"id":"10","kind":"explain","command":"ls","project":"/p"}"#,
            r#"{"id":"10","kind":"explain","tool":"Edit","input":{ "a":1.0},"project":"/p","agent":"codex"}"#,
            r#"{"id":"11","kind":"backtest","text":""}"#,
            r#"{"id":"12","kind":"save_rules","text":"","hash":"00"}"#,
            r#"{"id":"13","kind":"propose","question":"ID","decide":"allow","seconds":60}"#,
            r#"{"id":"13","kind":"propose","seq":7,"decide":"confirm"}"#,
            r#"{"id":"14","kind":"suggest"}"#,
            r#"{"id":"15","kind":"try"}"#,
        ],
        &expect![[r#"
            DeskRequest { id: "1", command: Inbox }
              = "{\"id\":\"1\",\"kind\":\"inbox\"}\n"
            DeskRequest { id: "2", command: Card { question: RequestId("ID") } }
              = "{\"id\":\"2\",\"kind\":\"card\",\"question\":\"ID\"}\n"
            DeskRequest { id: "3", command: History { filter: HistoryFilter { text: None, tool: None, agent: None, machine: None, project: None, session: None, decision: None, by: None, since_ms: None, until_ms: None }, before: None, limit: None } }
              = "{\"id\":\"3\",\"kind\":\"history\",\"filter\":{}}\n"
            DeskRequest { id: "3", command: History { filter: HistoryFilter { text: Some("make"), tool: None, agent: None, machine: None, project: None, session: None, decision: Some(Deny), by: Some(Person), since_ms: None, until_ms: None }, before: Some(9), limit: Some(200) } }
              = "{\"id\":\"3\",\"kind\":\"history\",\"filter\":{\"text\":\"make\",\"decision\":\"deny\",\"by\":\"person\"},\"before\":9,\"limit\":200}\n"
            DeskRequest { id: "4", command: Figures { filter: HistoryFilter { text: None, tool: None, agent: None, machine: None, project: None, session: None, decision: None, by: None, since_ms: Some(-1), until_ms: None } } }
              = "{\"id\":\"4\",\"kind\":\"figures\",\"filter\":{\"since_ms\":-1}}\n"
            DeskRequest { id: "5", command: Export { format: Csv, filter: HistoryFilter { text: None, tool: None, agent: None, machine: None, project: None, session: None, decision: None, by: None, since_ms: None, until_ms: None }, before: Some(7) } }
              = "{\"id\":\"5\",\"kind\":\"export\",\"format\":\"csv\",\"filter\":{},\"before\":7}\n"
            DeskRequest { id: "6", command: Verify }
              = "{\"id\":\"6\",\"kind\":\"verify\"}\n"
            DeskRequest { id: "7", command: Sessions { since_ms: Some(5) } }
              = "{\"id\":\"7\",\"kind\":\"sessions\",\"since_ms\":5}\n"
            DeskRequest { id: "8", command: Rules }
              = "{\"id\":\"8\",\"kind\":\"rules\"}\n"
            DeskRequest { id: "9", command: CheckRules { text: "[[rule]]" } }
              = "{\"id\":\"9\",\"kind\":\"check_rules\",\"text\":\"[[rule]]\"}\n"
            DeskRequest { id: "10", command: Explain(ExplainQuery { tool: None, command: Some("ls"), input: None, project: "/p", agent: None }) }
              = "{\"id\":\"10\",\"kind\":\"explain\",\"command\":\"ls\",\"project\":\"/p\"}\n"
            DeskRequest { id: "10", command: Explain(ExplainQuery { tool: Some("Edit"), command: None, input: Some(RawValue({ "a":1.0})), project: "/p", agent: Some("codex") }) }
              = "{\"id\":\"10\",\"kind\":\"explain\",\"tool\":\"Edit\",\"input\":{ \"a\":1.0},\"project\":\"/p\",\"agent\":\"codex\"}\n"
            DeskRequest { id: "11", command: Backtest { text: "" } }
              = "{\"id\":\"11\",\"kind\":\"backtest\",\"text\":\"\"}\n"
            DeskRequest { id: "12", command: SaveRules { text: "", hash: "00" } }
              = "{\"id\":\"12\",\"kind\":\"save_rules\",\"text\":\"\",\"hash\":\"00\"}\n"
            DeskRequest { id: "13", command: Propose { of: Question(RequestId("ID")), decide: Allow, seconds: Some(60) } }
              = "{\"id\":\"13\",\"kind\":\"propose\",\"question\":\"ID\",\"decide\":\"allow\",\"seconds\":60}\n"
            DeskRequest { id: "13", command: Propose { of: Entry(7), decide: Confirm, seconds: None } }
              = "{\"id\":\"13\",\"kind\":\"propose\",\"seq\":7,\"decide\":\"confirm\"}\n"
            DeskRequest { id: "14", command: Suggest }
              = "{\"id\":\"14\",\"kind\":\"suggest\"}\n"
            DeskRequest { id: "15", command: Try }
              = "{\"id\":\"15\",\"kind\":\"try\"}\n"
        "#]],
    );
}

#[test]
fn unreadable_questions() {
    check(
        request,
        &[
            r#"{"id":"1","kind":"card"}"#,
            r#"{"id":"1","kind":"card","question":"7"}"#,
            r#"{"id":"1","kind":"history","limit":0}"#,
            r#"{"id":"1","kind":"history","limit":201}"#,
            r#"{"id":"1","kind":"history","before":-1}"#,
            r#"{"id":"1","kind":"history","filter":[]}"#,
            r#"{"id":"1","kind":"history","filter":{"decision":"maybe"}}"#,
            r#"{"id":"1","kind":"export"}"#,
            r#"{"id":"1","kind":"export","format":"xml"}"#,
            r#"{"id":"1","kind":"check_rules"}"#,
            r#"{"id":"1","kind":"explain","project":"/p"}"#,
            r#"{"id":"1","kind":"explain","command":"ls"}"#,
            r#"{"id":"1","kind":"explain","input":{},"project":"/p"}"#,
            r#"{"id":"1","kind":"explain","command":"ls","input":{},"project":"/p"}"#,
            r#"{"id":"1","kind":"save_rules","text":""}"#,
            r#"{"id":"1","kind":"propose","decide":"allow"}"#,
            r#"{"id":"1","kind":"propose","seq":7,"question":"ID","decide":"allow"}"#,
            r#"{"id":"1","kind":"propose","seq":7,"decide":"maybe"}"#,
            r#"{"id":"1","kind":"unlock","token":"a","origin":"http://example.org with spaces"}"#,
            r#"{"id":"1","kind":"code","page":1}"#,
            r#"{"id":"1","kind":"press","request_id":"ID","action":"allow","confirm":7}"#,
        ],
        &expect![[r#"
            Some("1"): `question` must be a UUID of version 4
            Some("1"): `question` must be a UUID of version 4
            Some("1"): `limit` must be a whole number from 1 to 200
            Some("1"): `limit` must be a whole number from 1 to 200
            Some("1"): `before` must be a whole number
            Some("1"): `filter` must be an object with text, tool, agent, machine, project, session, decision, by, since_ms and until_ms, each with a valid value
            Some("1"): `filter` must be an object with text, tool, agent, machine, project, session, decision, by, since_ms and until_ms, each with a valid value
            Some("1"): `format` must be jsonl or csv
            Some("1"): `format` must be jsonl or csv
            Some("1"): `text` must be a string
            Some("1"): `command` must be given alone, or an input with its tool instead
            Some("1"): `project` must be a string
            Some("1"): `command` must be given alone, or an input with its tool instead
            Some("1"): `command` must be given alone, or an input with its tool instead
            Some("1"): `hash` must be a string
            Some("1"): `question` must be given alone, or seq instead
            Some("1"): `question` must be given alone, or seq instead
            Some("1"): `decide` must be allow, deny, ask or confirm
            Some("1"): `origin` must be a web origin of at most 128 bytes
            Some("1"): `page` must be true or false
            Some("1"): `confirm` must be a string of at most 256 bytes
        "#]],
    );
}

#[test]
fn unreadable_requests() {
    let long_id = format!(r#"{{"id":"{}","kind":"status"}}"#, "x".repeat(LONGEST_ID + 1));
    let long_token =
        format!(r#"{{"id":"1","kind":"unlock","token":"{}"}}"#, "x".repeat(LONGEST_SECRET + 1));
    let long_name = format!(
        r#"{{"id":"1","kind":"pair","code":"A","name":"{}"}}"#,
        "x".repeat(LONGEST_NAME + 1)
    );
    check(
        request,
        &[
            "",
            "no JSON",
            r#"["1","status"]"#,
            r#"{"id":"1","kind":"status"} {}"#,
            r#"{"kind":"status"}"#,
            r#"{"id":7,"kind":"status"}"#,
            &long_id,
            r#"{"id":"1"}"#,
            r#"{"id":"1","kind":"fly"}"#,
            r#"{"id":"1","kind":"watch","from":-1}"#,
            r#"{"id":"1","kind":"watch","from":"7"}"#,
            r#"{"id":"1","kind":"press","action":"allow"}"#,
            r#"{"id":"1","kind":"press","request_id":"7","action":"allow"}"#,
            r#"{"id":"1","kind":"press","request_id":"ID"}"#,
            r#"{"id":"1","kind":"press","request_id":"ID","action":"fly"}"#,
            r#"{"id":"1","kind":"press","request_id":"ID","action":"allow","words":"no"}"#,
            r#"{"id":"1","kind":"press","request_id":"ID","words":"no","input":{}}"#,
            r#"{"id":"1","kind":"press","request_id":"ID","words":7}"#,
            r#"{"id":"1","kind":"press","request_id":"ID","input":[]}"#,
            r#"{"id":"1","kind":"unlock"}"#,
            &long_token,
            r#"{"id":"1","kind":"pair","code":"7KQM2XWA"}"#,
            r#"{"id":"1","kind":"pair","name":"Ada"}"#,
            &long_name,
            r#"{"id":"1","kind":"unpair"}"#,
            r#"{"id":"1","kind":"gate","value":"1"}"#,
        ],
        &expect![[r#"
            None: the line is not one JSON object (read 0 bytes of it)
            None: the line is not one JSON object (read 0 bytes of it)
            None: the line is not one JSON object (read 0 bytes of it)
            None: the line is not one JSON object (read 27 bytes of it)
            None: the message has no id that is a string
            None: the message has no id that is a string
            None: `id` must be at most 128 bytes long
            Some("1"): the message does not say of which kind it is
            Some("1"): unknown kind of message "fly"
            Some("1"): `from` must be a whole number
            Some("1"): `from` must be a whole number
            Some("1"): `request_id` must be a UUID of version 4
            Some("1"): `request_id` must be a UUID of version 4
            Some("1"): `action` must be given alone, or words or input instead
            Some("1"): `action` must be one of the buttons
            Some("1"): `action` must be given alone, or words or input instead
            Some("1"): `action` must be given alone, or words or input instead
            Some("1"): `words` must be a string
            Some("1"): `input` must be an object
            Some("1"): `token` must be a string of at most 128 bytes
            Some("1"): `token` must be a string of at most 128 bytes
            Some("1"): `name` must be a string of at most 256 bytes
            Some("1"): `code` must be a string of at most 128 bytes
            Some("1"): `name` must be a string of at most 256 bytes
            Some("1"): `link` must be a link, such as chat/123456789
            Some("1"): `value` must be a string of 32 to 128 bytes
        "#]],
    );
}

#[test]
fn messages() {
    check(
        message,
        &[
            r#"{"kind":"entry","entry":{"seq":7,"at_ms":1500,"kind":"asked","question":"ID","hash":"00ff","body":{ "b":1.0,"a":{} },"time":"new"}}"#,
            r#"{"kind":"entry","entry":{"seq":8,"at_ms":-1,"kind":"started","hash":"","body":{}}}"#,
            r#"{"id":"1","kind":"watching","head":7}"#,
            r#"{"id":"2","kind":"told","done":true,"text":"Allowed by Ada"}"#,
            r#"{"id":"3","kind":"code","code":"7KQM2XWA","seconds":600}"#,
            r#"{"id":"4","kind":"paired","token":"hush"}"#,
            r#"{"id":"5","kind":"links","links":[{"link":"chat/7","name":"Ada"}]}"#,
            r#"{"id":"6","kind":"status","status":{"version":"0.1.0","pid":4,"uptime_seconds":5,"open":0,"head":9,"socket":"/s","database":"/d","reach":{"terminal":true,"viewers":{"connected":1,"paired":0}}}}"#,
            r#"{"id":null,"kind":"error","text":"no"}"#,
            r#"{"id":"7","kind":"error","text":"no"}"#,
            r#"{"id":"8","kind":"waiting","text":"a yes","seconds":300}"#,
            r#"{"kind":"locked","text":"unlinked"}"#,
            r#"{"id":"9","kind":"progress","done":3,"total":7}"#,
            r#"{"id":"10","kind":"inbox","head":7,"open":0,"rows":[]}"#,
            r#"{"id":"11","kind":"history","rows":[],"next":null}"#,
            r#"{"id":"12","kind":"exported","text":"a","next":4}"#,
            r#"{"id":"13","kind":"problems","problems":[{"line":1,"level":"error","text":"no"}]}"#,
            r#"{"id":"14","kind":"proposed","toml":"[[rule]]","name":"ls"}"#,
        ],
        &expect![[r#"
            Entry(WatchedEntry { seq: 7, at_ms: 1500, kind: "asked", question: Some("ID"), hash: "00ff", body: RawValue({ "b":1.0,"a":{} }) })
              = "{\"kind\":\"entry\",\"entry\":{\"seq\":7,\"at_ms\":1500,\"kind\":\"asked\",\"question\":\"ID\",\"hash\":\"00ff\",\"body\":{ \"b\":1.0,\"a\":{} }}}\n"
            Entry(WatchedEntry { seq: 8, at_ms: -1, kind: "started", question: None, hash: "", body: RawValue({}) })
              = "{\"kind\":\"entry\",\"entry\":{\"seq\":8,\"at_ms\":-1,\"kind\":\"started\",\"question\":null,\"hash\":\"\",\"body\":{}}}\n"
            Answer { id: "1", answer: Watching { head: 7 } }
              = "{\"id\":\"1\",\"kind\":\"watching\",\"head\":7}\n"
            Answer { id: "2", answer: Told { done: true, text: "Allowed by Ada" } }
              = "{\"id\":\"2\",\"kind\":\"told\",\"done\":true,\"text\":\"Allowed by Ada\"}\n"
            Answer { id: "3", answer: Code { code: HiddenText(…), seconds: 600 } }
              = "{\"id\":\"3\",\"kind\":\"code\",\"code\":\"7KQM2XWA\",\"seconds\":600}\n"
            Answer { id: "4", answer: Paired { token: HiddenText(…) } }
              = "{\"id\":\"4\",\"kind\":\"paired\",\"token\":\"hush\"}\n"
            Answer { id: "5", answer: Links { links: [NamedLink { link: "chat/7", name: "Ada", person: None }] } }
              = "{\"id\":\"5\",\"kind\":\"links\",\"links\":[{\"link\":\"chat/7\",\"name\":\"Ada\"}]}\n"
            Answer { id: "6", answer: Status { status: DeskStatus { version: "0.1.0", pid: 4, uptime_seconds: 5, open: 0, head: 9, socket: "/s", database: "/d", reach: DeskReach { terminal: true, telegram: None, viewers: ViewerCount { connected: 1, paired: 0 } }, is_relay: false, relays: [], team: None, listening: None } } }
              = "{\"id\":\"6\",\"kind\":\"status\",\"status\":{\"version\":\"0.1.0\",\"pid\":4,\"uptime_seconds\":5,\"open\":0,\"head\":9,\"socket\":\"/s\",\"database\":\"/d\",\"reach\":{\"terminal\":true,\"telegram\":null,\"viewers\":{\"connected\":1,\"paired\":0}},\"is_relay\":false,\"relays\":[]}}\n"
            Error { id: None, text: "no" }
              = "{\"id\":null,\"kind\":\"error\",\"text\":\"no\"}\n"
            Error { id: Some("7"), text: "no" }
              = "{\"id\":\"7\",\"kind\":\"error\",\"text\":\"no\"}\n"
            Waiting { id: "8", text: "a yes", seconds: 300 }
              = "{\"id\":\"8\",\"kind\":\"waiting\",\"text\":\"a yes\",\"seconds\":300}\n"
            Locked { text: "unlinked" }
              = "{\"kind\":\"locked\",\"text\":\"unlinked\"}\n"
            Progress { id: "9", done: 3, total: 7 }
              = "{\"id\":\"9\",\"kind\":\"progress\",\"done\":3,\"total\":7}\n"
            Answer { id: "10", answer: Inbox(DeskInbox { head: 7, open: 0, rows: [] }) }
              = "{\"id\":\"10\",\"kind\":\"inbox\",\"head\":7,\"open\":0,\"rows\":[]}\n"
            Answer { id: "11", answer: History(DeskHistory { rows: [], next: None }) }
              = "{\"id\":\"11\",\"kind\":\"history\",\"rows\":[],\"next\":null}\n"
            Answer { id: "12", answer: Exported(ExportedPage { text: "a", next: Some(4) }) }
              = "{\"id\":\"12\",\"kind\":\"exported\",\"text\":\"a\",\"next\":4}\n"
            Answer { id: "13", answer: Problems { problems: [RuleProblem { line: 1, level: Error, text: "no" }] } }
              = "{\"id\":\"13\",\"kind\":\"problems\",\"problems\":[{\"line\":1,\"level\":\"error\",\"text\":\"no\"}]}\n"
            Answer { id: "14", answer: Proposed(ProposedRule { toml: "[[rule]]", name: "ls" }) }
              = "{\"id\":\"14\",\"kind\":\"proposed\",\"toml\":\"[[rule]]\",\"name\":\"ls\"}\n"
        "#]],
    );
}

#[test]
fn unreadable_messages() {
    check(
        message,
        &[
            "{",
            r#"{"id":"1"}"#,
            r#"{"id":"1","kind":"fly"}"#,
            r#"{"kind":"told","done":true,"text":""}"#,
            r#"{"kind":"entry","entry":{"seq":7}}"#,
            r#"{"kind":"entry","entry":[7,0,"asked",null,"",{}]}"#,
            r#"{"id":"1","kind":"told","done":1,"text":""}"#,
            r#"{"id":"1","kind":"error"}"#,
            r#"{"id":"1","kind":"links"}"#,
            r#"{"id":"1","kind":"links","links":[["chat/7","Ada"]]}"#,
            r#"{"id":"1","kind":"status","status":{}}"#,
            r#"{"id":"1","kind":"progress","done":3}"#,
            r#"{"id":"1","kind":"inbox","head":7}"#,
            r#"{"id":"1","kind":"card","card":{}}"#,
            r#"{"id":"1","kind":"sessions","sessions":{}}"#,
        ],
        &expect![[r#"
            None: the line is not one JSON object (read 1 bytes of it)
            Some("1"): the message does not say of which kind it is
            Some("1"): unknown kind of message "fly"
            None: the message has no id that is a string
            None: `entry` must be an object with seq, at_ms, kind, hash and body
            None: `entry` must be an object with seq, at_ms, kind, hash and body
            Some("1"): `done` must be true or false
            Some("1"): `text` must be a string
            Some("1"): `links` must be an array of objects with link and name
            Some("1"): `links` must be an array of objects with link and name
            Some("1"): `status` must be an object with version, pid and the state of the desk
            Some("1"): `total` must be a whole number
            Some("1"): `kind` must be accompanied by all fields of this kind, each with a valid value
            Some("1"): `card` must be accompanied by all fields of this kind, each with a valid value
            Some("1"): `sessions` must be accompanied by all fields of this kind, each with a valid value
        "#]],
    );
}

proptest! {
    #[test]
    fn any_request_is_one_line_and_comes_back(words: String, name: String, link: String) {
        let request_id = RequestId::parse(ID).expect("a UUID");
        let name = name.chars().take(LONGEST_NAME / 4).collect();
        let link = link.chars().take(LONGEST_SECRET / 4).collect();
        for command in [
            DeskCommand::Press { request_id, press: Press::Words(words), confirm: None },
            DeskCommand::Pair { code: HiddenText::new("A"), name, origin: None },
            DeskCommand::Unpair { link },
        ] {
            let request = DeskRequest { id: "1".to_owned(), command };
            let line = request.to_line();
            prop_assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
            let back = DeskRequest::decode(&line).expect("our own line");
            prop_assert_eq!(format!("{back:?}"), format!("{request:?}"));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = (DeskRequest::decode(&bytes), DeskMessage::decode(&bytes));
    }
}
