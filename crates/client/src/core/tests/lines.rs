//! Lines that are missing, too long or meaningless.

use callgate_wire::frame::OverlongLine;

use super::super::*;
use super::{ALL, Bench};

#[test]
fn what_is_missing_is_said_again_in_its_order() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.say("c-own-1", "done", Some(1)), "", "the answer to hello");
    assert_eq!(bench.say("a", "token", Some(2)), "a token");
    assert_eq!(bench.say("a", "token", Some(2)), "", "a repetition");
    assert_eq!(bench.line(r#"oops{"type":"token","id":"a","timestamp":1,"seq":3}"#), "");
    assert_eq!(bench.say("a", "done", Some(4)), "write replay from 3");
    assert_eq!(bench.say("a", "token", Some(3)), "a token");
    assert_eq!(bench.say("a", "done", Some(4)), "a done");
    assert_eq!(bench.say("c-own-2", "done", Some(5)), "");
    assert_eq!(bench.core.deadline(), None);
    let passed = bench.core.passed_over;
    assert_eq!((passed.repeated, passed.gaps, passed.unreadable, passed.stray), (1, 1, 1, 0));
}

#[test]
fn what_does_not_come_again_ends_the_answers_under_way() {
    let lost = "write cancel of a; a: a part of the answer is lost: send the request again";
    let gap = || {
        let mut bench = Bench::ready(ALL);
        bench.send("a", None);
        bench.say("a", "token", Some(1));
        assert_eq!(bench.say("a", "token", Some(3)), "write replay from 2");
        bench
    };
    assert_eq!(gap().say("c-own-2", "error", Some(4)), lost);
    assert_eq!(gap().say("c-own-2", "done", Some(4)), lost, "it has not come");
    assert_eq!(gap().after(10), lost);
    let mut bench = gap();
    bench.after(10);
    bench.send("b", None);
    assert_eq!(bench.say("b", "token", Some(9)), "b token", "it goes on with any number");
    let mut bench = Bench::ready(r#"["hello","cancel"]"#);
    bench.send("a", None);
    bench.say("a", "token", Some(1));
    assert_eq!(bench.say("a", "token", Some(3)), lost, "there is nobody to ask");
}

#[test]
fn a_line_over_the_limit_ends_its_request_alone() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.send("b", Some("other"));
    bench.say("b", "token", Some(1));
    let long = |id: &str| OverlongLine { size: 1 << 30, id: Some(id.to_owned()) };
    let text = bench.tell(CoreInput::Line(DecodedLine::TooLong(long(r#""a""#))));
    assert!(text.starts_with("write cancel of a; a: a part"), "{text}");
    for id in [r#""nobody""#, "17", "null"] {
        assert_eq!(bench.tell(CoreInput::Line(DecodedLine::TooLong(long(id)))), "");
    }
    assert_eq!(bench.say("b", "token", Some(3)), "b token");
    assert_eq!(bench.core.passed_over.too_long, 4);
}

#[test]
fn lines_that_are_nothing_are_passed_over() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    for line in ["", "x", "[1]", "{}", "null", r#"{"type":"token"}"#, r#"{"type":"ready"}"#] {
        assert_eq!(bench.line(line), "", "{line}");
    }
    assert_eq!(bench.tell(CoreInput::Line(DecodedLine::Whole(b"\xff\xfe{}"))), "");
    assert_eq!(bench.line(r#"{"type":"error","id":null,"error":"what?","timestamp":1}"#), "");
    assert_eq!(bench.core.passed_over.unreadable, 8);
    assert_eq!(bench.say("a", "done", None), "a done");
}
