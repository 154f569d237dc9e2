//! `--export`: entries for other programs.

use callgate_testkit::process::Piped;
use rustix::process::Signal;
use rustix::system::uname;
use serde_json::{Value, json};

use crate::ledger::{BUILD, LIMIT, Ledger};

fn export(ledger: &Ledger, format: &str, more: &[&str]) -> String {
    let arguments: Vec<&str> = ["--export", format].iter().chain(more).copied().collect();
    let done = ledger.log(&arguments);
    assert_eq!((done.stderr.as_str(), done.status.code()), ("", Some(0)));
    done.stdout
}

fn host() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

#[test]
fn a_table_for_spreadsheets_has_a_column_for_each_thing() {
    let mut ledger = Ledger::told();
    ledger.tell(
        "ran",
        None,
        &json!({ "tool": "Bash", "summary": "=cmd|' /C calc'!A0", "cwd": "/a,b", "ok": true }),
    );
    let csv = export(&ledger, "csv", &[]);
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 12, "{csv}");
    let heading = "machine,seq,time,kind,question,decision,by,tool,summary,agent,session,cwd,mode,\
                   hash,body";
    assert_eq!(lines[0], heading);
    let decided = format!("{},5,2026-11-01T12:04:00.000Z,decided,{BUILD},deny,Ada,,,", host());
    assert!(lines[5].starts_with(&decided), "{}", lines[5]);
    assert!(lines[11].contains(",\"'=cmd|' /C calc'!A0\",,,\"/a,b\","), "{}", lines[11]);
    assert!(lines[2].contains(r#""{""tool"":""Bash"",""summary"":""make build"""#), "{}", lines[2]);
}

#[test]
fn a_collector_gets_a_record_for_each_entry() {
    let otlp = export(&Ledger::told(), "otlp", &[]);
    let records: Vec<Value> =
        otlp.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 10);
    let of_host = &records[0]["resourceLogs"][0]["resource"]["attributes"][1];
    assert_eq!(of_host, &json!({ "key": "host.name", "value": { "stringValue": host() } }));
    let record = |at: usize| &records[at]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    assert_eq!(record(1)["body"]["stringValue"], "Bash: make build");
    assert_eq!(record(1)["timeUnixNano"], "1793534460000000000");
    assert_eq!(
        (&record(1)["severityText"], &record(4)["severityText"]),
        (&json!("INFO"), &json!("WARN"))
    );
    assert_eq!(record(4)["eventName"], "callgate.decided");
    let attributes = record(4)["attributes"].as_array().unwrap();
    let by = json!({ "key": "callgate.by", "value": { "stringValue": "Ada" } });
    assert!(attributes.contains(&by), "{attributes:?}");
}

#[test]
fn syslog_has_the_entry_as_json() {
    let ledger = Ledger::told();
    let syslog = export(&ledger, "syslog", &["--kind", "decided"]);
    let line = syslog.lines().next().unwrap();
    let head = format!("<108>1 2026-11-01T12:04:00.000Z {} callgate - decided - ", host());
    let entry: Value = serde_json::from_str(line.strip_prefix(&head).unwrap()).unwrap();
    assert_eq!((&entry["seq"], &entry["body"]["by"]), (&json!(5), &json!("Ada")));
    let ndjson = export(&ledger, "ndjson", &[]);
    assert_eq!(ndjson, ledger.log(&["--json"]).stdout);
}

#[test]
fn an_export_goes_on_where_an_earlier_one_ended() {
    let mut ledger = Ledger::told();
    let rest = export(&ledger, "csv", &["--after", "8"]);
    assert_eq!(rest.lines().count(), 3, "{rest}");
    let mut log =
        Piped::spawn(ledger.command(&["--export", "ndjson", "--after", "10", "--follow"]))
            .deadline(LIMIT);
    ledger.tell("ran", None, &json!({ "tool": "Read" }));
    let entry = log.recv();
    assert_eq!(entry["seq"], 11);
    log.signal(Signal::INT);
    log.wait_exit(LIMIT);
}
