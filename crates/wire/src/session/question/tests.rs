//! Tests of comparing answers with the fields of questions.

use serde_json::json;

use super::*;

fn field(kind: &Value) -> QuestionField {
    let mut field = json!({"name": "a", "title": "A", "required": true});
    field.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
    serde_json::from_value(field).unwrap()
}

fn question(fields: Vec<QuestionField>) -> AgentQuestion {
    AgentQuestion {
        question: "q".to_owned(),
        tool_id: "t".to_owned(),
        server: None,
        text: "?".to_owned(),
        url: None,
        fields,
        deadline: None,
    }
}

#[track_caller]
fn check(kind: &Value, value: &Value, expected: Result<(), &str>) {
    let question = question(vec![field(kind)]);
    let values = json!({"a": value}).as_object().unwrap().clone();
    let found = question.check_values(&values);
    assert_eq!(found.as_ref().map_err(String::as_str).copied(), expected, "{kind} {value}");
}

#[test]
fn values_fit_the_type_and_the_limits_of_their_fields() {
    let text = json!({"type": "text", "minLength": 2, "maxLength": 3});
    check(&text, &json!("äö"), Ok(()));
    check(&text, &json!("ä"), Err("A: at least 2 characters"));
    check(&text, &json!("äöüß"), Err("A: at most 3 characters"));
    check(&text, &json!(12), Err("A: this is not a text"));
    check(&json!({"type": "text"}), &json!("x".repeat(16_385)), Err("A: at most 16384 characters"));
    let number = json!({"type": "number", "minimum": 1, "maximum": 2.5});
    check(&number, &json!(2.5), Ok(()));
    check(&number, &json!(0.9), Err("A: at least 1"));
    check(&number, &json!(2.6), Err("A: at most 2.5"));
    check(&number, &json!("2"), Err("A: this is not a number"));
    let integer = json!({"type": "integer", "minimum": -3});
    check(&integer, &json!(-3), Ok(()));
    check(&integer, &json!(4.0), Ok(()));
    check(&integer, &json!(4.5), Err("A: this is not a whole number"));
    check(&integer, &json!(-4), Err("A: at least -3"));
    let boolean = json!({"type": "boolean"});
    check(&boolean, &json!(false), Ok(()));
    check(&boolean, &json!("false"), Err("A: this is not true or false"));
}

#[test]
fn only_what_is_offered_can_be_chosen_unless_own_words_are_an_answer() {
    let options = json!([{"value": "r", "title": "Red"}, {"value": "b", "title": "Blue"}]);
    let one = json!({"type": "one_of", "options": options});
    check(&one, &json!("b"), Ok(()));
    check(&one, &json!("Blue"), Err("A: this is not one of the choices"));
    let free = json!({"type": "one_of", "options": options, "freeText": true});
    check(&free, &json!("Green"), Ok(()));
    check(&free, &json!("  "), Err("A: write at most 16384 characters"));
    let several = json!({"type": "several_of", "options": options, "minItems": 1, "maxItems": 1});
    check(&several, &json!(["r"]), Ok(()));
    check(&several, &json!([]), Err("A: choose at least 1"));
    check(&several, &json!(["r", "b"]), Err("A: choose at most 1"));
    check(&several, &json!(["r", "r"]), Err("A: the same is chosen twice"));
    check(&several, &json!(["x"]), Err("A: this is not one of the choices"));
    check(&several, &json!("r"), Err("A: this is not a list"));
}

#[test]
fn formats_are_checked() {
    for (format, right, wrong) in [
        ("email", "ada@example.org", "ada"),
        ("uri", "https://example.org/a?b", "example"),
        ("date", "2026-01-31", "2026-13-01"),
        ("date-time", "2026-01-31T23:59:60.5+01:00", "2026-01-31 12:00"),
        ("date-time", "2026-01-31T12:00:00Z", "2026-01-31T12:00Z"),
        ("other", "anything", ""),
    ] {
        let kind = json!({"type": "text", "format": format});
        check(&kind, &json!(right), Ok(()));
        if !wrong.is_empty() {
            let question = question(vec![field(&kind)]);
            let values = json!({"a": wrong}).as_object().unwrap().clone();
            assert!(question.check_values(&values).is_err(), "{format} {wrong}");
        }
    }
}

#[test]
fn missing_and_unknown_fields_are_told() {
    let mut optional = field(&json!({"type": "boolean"}));
    optional.name = "b".to_owned();
    optional.required = false;
    let question = question(vec![field(&json!({"type": "text"})), optional]);
    let values = |json: Value| question.check_values(json.as_object().unwrap());
    assert_eq!(values(json!({"a": "x"})), Ok(()));
    assert_eq!(values(json!({"b": true})), Err("A: an answer is required".to_owned()));
    assert_eq!(values(json!({"a": "x", "c": 1})), Err("there is no field \"c\"".to_owned()));
}

#[test]
fn words_choose_by_number_title_or_value() {
    let options = json!([{"value": "2", "title": "Two"}, {"value": "x", "title": "Blue, dark"}]);
    let one = field(&json!({"type": "one_of", "options": options}));
    let read = |words: &str| one.read_words(words);
    // A value comes before a number.
    assert_eq!(read("2"), Ok(Some(json!("2"))));
    assert_eq!(read(" blue, DARK "), Ok(Some(json!("x"))));
    assert_eq!(read("1"), Ok(Some(json!("2"))));
    assert_eq!(read("3"), Err("this is not one of the choices".to_owned()));
    assert_eq!(read("0"), Err("this is not one of the choices".to_owned()));
    assert_eq!(read(""), Ok(None));
    let several = field(&json!({"type": "several_of", "options": options, "freeText": true}));
    let read = |words: &str| several.read_words(words);
    assert_eq!(read("two, x"), Ok(Some(json!(["2", "x"]))));
    assert_eq!(read("blue, dark"), Ok(Some(json!(["x"]))));
    assert_eq!(read("none of them"), Ok(Some(json!(["none of them"]))));
    let flag = field(&json!({"type": "boolean", "default": true}));
    assert_eq!(flag.read_words(""), Ok(Some(json!(true))));
    assert_eq!(flag.read_words("No"), Ok(Some(json!(false))));
    assert!(flag.read_words("perhaps").is_err());
    let number = field(&json!({"type": "integer", "maximum": 9}));
    assert_eq!(number.read_words("7"), Ok(Some(json!(7))));
    assert_eq!(number.read_words("10"), Err("at most 9".to_owned()));
}
