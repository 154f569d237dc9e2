//! Files read by part and as a whole.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn a_file_read_by_part_is_what_it_is_as_a_whole(lines in prop::collection::vec(prop::sample::select(
        [
            "[[rule]]", "[[rule]]\nname = 'a'\ndecide = 'ask'\ntool = 'Bash'",
            "[[rule]]\nname = 'b'\ndecide = 'allow'\ncommand = ['make *',", "[[rule]]\r",
            "[[test]]\ndecide = 'ask'\ntool = 'Bash'", "[[test]]\r\ncommand = 'make'\ndecide = 'ask'\r", "[[ rule ]]",
            "[[rule]] # x", "[rule]", "[test.arguments]", "[rule.arguments]", "tool = 'Read'", "name = \"\"\"", "\"\"\"", "reason = \'\'\'",
            "\'\'\'", "class = [", "[[rule]],", "]", "'run',", "# [[rule]]", "path = '**'", "x = 1", "ä", "",
        ].to_vec()
    ), 0..12)) {
        let text = lines.join("\n");
        if let Some(by_part) = read_by_part("rules.toml", &text, Trust::User) {
            let whole = read_whole("rules.toml", &text, Trust::User);
            prop_assert_eq!(format!("{by_part:?}"), format!("{whole:?}"));
        }
    }
}

#[test]
fn the_starter_rules_are_read_by_part() {
    let text = include_str!("../../starter.toml");
    assert!(read_by_part("rules.toml", text, Trust::User).is_some());
}

#[test]
fn a_character_that_stands_for_another_is_refused() {
    for c in '\u{fdd0}'..='\u{fdd6}' {
        let text = format!("[[rule]]\nname = 'a'\ndecide = 'allow'\ncommand = 'make {c}'\n");
        assert!(parse_rule_file("rules.toml", &text, Trust::User).has_errors());
    }
}
