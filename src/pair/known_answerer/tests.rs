//! How a link is found by its id or its name.

use super::*;

#[test]
fn a_link_is_found_by_its_id_or_its_name() {
    let hash = "2f0c6d5e9b8a47f3".repeat(4);
    let one = |link: &str, name: &str| KnownAnswerer {
        link: link.to_owned(),
        by: AnswererReason::Code(name.to_owned()),
    };
    let origin = SettingOrigin::Environment("X".to_owned());
    let given = |link: &str| KnownAnswerer {
        link: link.to_owned(),
        by: AnswererReason::Setting { key: "k", origin: origin.clone() },
    };
    let known = [
        one("chat/7", "Ada"),
        one("chat/-100", "Bob"),
        one("user/8", "Bob"),
        one(&format!("viewer/{hash}"), "The page"),
        given("chat/7"),
        given("chat/42"),
    ];
    let check = |who: &str, expected: &str| {
        let found =
            KnownAnswerer::find(&known, who).map_or_else(|why| why, KnownAnswerer::short_link);
        assert_eq!(found, expected, "{who}");
    };
    check("Ada", "chat/7");
    check("ada", "chat/7");
    check("7", "chat/7");
    check("chat/7", "chat/7");
    check("-100", "chat/-100");
    check("8", "user/8");
    check("Bob", "Bob names several links: take one of chat/-100, user/8");
    check("the page", "viewer/2f0c6d5e9b8a");
    check("viewer/2f0c6d5e9b8a", "viewer/2f0c6d5e9b8a");
    check("2f0c6d5e9b8a", "viewer/2f0c6d5e9b8a");
    check(&hash, "viewer/2f0c6d5e9b8a");
    check("2f0c", "nobody is linked as 2f0c: see `callgate pair --list`");
    check("42", "42 may answer by `k` (environment X): remove it there");
    check("", "nobody is linked as : see `callgate pair --list`");
}
