//! Where members and items are found.

use super::*;

#[test]
fn members_and_items_are_found_where_they_stand() {
    let text = " {\"a\" : [1, \"]\\\"\" ,{}], \"b\\u0063\":true,\"\\ud800\":-1e5 } ";
    let root = check_syntax(text).unwrap();
    assert_eq!(&text[root.clone()], text.trim());
    let found = object_members(text, &root);
    let names: Vec<&str> = found.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["a", "bc", "\\ud800"]);
    let values: Vec<&str> = found.iter().map(|m| &text[m.value.clone()]).collect();
    assert_eq!(values, ["[1, \"]\\\"\" ,{}]", "true", "-1e5"]);
    assert_eq!(&text[found[0].whole.clone()], "\"a\" : [1, \"]\\\"\" ,{}]");
    let list: Vec<&str> =
        array_items(text, &found[0].value).into_iter().map(|item| &text[item]).collect();
    assert_eq!(list, ["1", "\"]\\\"\"", "{}"]);
}

#[test]
fn empty_and_other_values_have_no_children() {
    for text in ["{}", "[ ]", "{\n}", "3", "\"{1}\"", "null"] {
        let root = check_syntax(text).unwrap();
        assert!(
            object_members(text, &root).is_empty() && array_items(text, &root).is_empty(),
            "{text}"
        );
    }
}

#[test]
fn comments_trailing_commas_and_cut_text_are_no_json() {
    for text in ["", "{", "{} {}", "{\"a\":1,}", "{/* no */}", "// no\n{}", "\u{feff}{}"] {
        check_syntax(text).unwrap_err();
    }
}

#[test]
fn no_depth_is_too_much() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let root = check_syntax(&deep).unwrap();
    assert_eq!(object_members(&deep, &root)[0].value.len(), 400_001);
}
