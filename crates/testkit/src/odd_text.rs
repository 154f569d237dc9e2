//! Text that is hard to show, to cut and to escape.

use proptest::prelude::*;

/// Returns texts in which characters that need care are common: invisible, combining, joined and
/// special ones.
pub fn odd_text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        "\u{202e}",
        "\u{200d}",
        "\u{200c}",
        "\u{fe0f}",
        "👩",
        "💻",
        "🇺",
        "🇦",
        "e\u{301}",
        "ک",
        "ی",
        "\u{e0067}",
        "\r",
        "\n",
        "\t",
        "\u{1b}[0m",
        "<",
        ">",
        "&",
        "\"",
        "a b",
        "क्",
        "😀",
        "\u{1f3f4}",
        "word ",
        "1",
        "\u{20e3}",
        "\u{301}",
        "한",
        "\u{0}",
    ]);
    let any = any::<char>().prop_map(String::from);
    prop::collection::vec(prop_oneof![3 => special.prop_map(String::from), 1 => any], 0..60)
        .prop_map(|pieces| pieces.concat())
}
