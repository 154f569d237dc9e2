//! Tests of the scan for an id.

use super::*;

fn check(json: &str, expected: Option<&str>) {
    for cut in 0..=json.len() {
        let mut scan = IdScan::default();
        scan.push(&json.as_bytes()[..cut]);
        scan.push(&json.as_bytes()[cut..]);
        assert_eq!(scan.finish().as_deref(), expected, "{json} cut at {cut}");
    }
}

#[test]
fn the_top_level_id_is_found_wherever_it_stands() {
    check(r#"{"id":1}"#, Some("1"));
    check(r#" { "id" : "a\"}b" , "x": 2 }"#, Some(r#""a\"}b""#));
    check(r#"{"params":{"id":5,"a":["id",{"id":6}]},"id":-7}"#, Some("-7"));
    check(r#"{"a":"\"id\":3","b":{"c":"}"},"id":4}"#, Some("4"));
    check(r#"{"a":true,"id":12345678901234567890123}"#, Some("12345678901234567890123"));
    check(r#"{"id":1,"id":2}"#, Some("1"));
    check(r#"{"a":1,"id":2,"#, Some("2"));
}

#[test]
fn what_is_no_id_is_not_taken_for_one() {
    check("", None);
    check(r#"{"id":null}"#, None);
    check(r#"{"id":true}"#, None);
    check(r#"{"id":{"a":1}}"#, None);
    check(r#"{"id":["x"],"b":1}"#, None);
    check(r#"{"idx":1,"xid":2,"a":"id"}"#, None);
    check(r#"["id",1]"#, None);
    check(r#"[{"id":1}]"#, None);
    check(r#""id""#, None);
    check(r#"{"id":01}"#, None);
    check(r#"{"id":"cut"#, None);
    check(r#"{"id":12"#, None);
    check(r#"{"a":[1,] "id" 5}"#, None);
    check(r#""id"{5}"#, None);
}

#[test]
fn an_endless_id_is_not_kept() {
    let longest = format!(r#"{{"id":"{}"}}"#, "x".repeat(LONGEST_ID - 2));
    check(&longest, Some(&longest[6..longest.len() - 1]));
    check(&format!(r#"{{"id":"{}"}}"#, "x".repeat(LONGEST_ID - 1)), None);
    let mut scan = IdScan::default();
    scan.push(format!(r#"{{"id":"{}"#, "x".repeat(10_000)).as_bytes());
    assert!(scan.token.len() <= LONGEST_ID + 1, "{}", scan.token.len());
}
