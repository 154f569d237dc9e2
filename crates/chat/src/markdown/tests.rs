//! What Markdown looks like, and that pieces make no difference.

use callgate_testkit::commonmark::{self, CommonmarkCase};
use callgate_testkit::markdown_text::{markdown_text, missing_letter};
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::styled_text::tests::page;

mod drawn_blocks;

fn drawn(text: &str, page: &ChatPage) -> Vec<String> {
    let mut stream = MarkdownStream::default();
    let mut rows = stream.push(text, page);
    rows.extend(stream.finish(page));
    rows
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&(drawn(text, &page(40)).join("\n") + "\n"));
}

#[test]
fn tasks_of_a_numbered_list_keep_their_numbers() {
    check(
        "3. [x] done\n4. [ ] open\n",
        &expect![[r"
            3. ☑ done
            4. ☐ open
        "]],
    );
}

#[test]
fn an_answer_of_every_kind_of_block() {
    check(
        "\n\n# The *ledger*\n\nIt keeps **every** decision, and `verify` walks over all of them in order.\n\n\n- one\n- two with a text that is too long for one row of it\n  - nested\n1. first\n2) second\n- [ ] open\n- [x] done\n\n> quoted words that are also too long for one row\n\n---\n```rust\nfn main() {\n    let a = \"**not bold**\";\n\n}\n```\nafter",
        &expect![[r#"
            # The ledger

            It keeps every decision, and `verify`
            walks over all of them in order.

            • one
            • two with a text that is too long for
              one row of it
              • nested
            1. first
            2) second
            ☐ open
            ☑ done

            │ quoted words that are also too long
            │ for one row

            ────────────────────────────────────────
            ```rust
            fn main() {
                let a = "**not bold**";

            }
            ```
            after
        "#]],
    );
}

#[test]
fn code_in_an_item_keeps_the_blanks_of_its_own() {
    check(
        "1. a\n   ```sh\n     x\n   ```\n",
        &expect![[r"
            1. a
               ```sh
                 x
               ```
        "]],
    );
}

#[test]
fn cells_that_are_too_long_have_several_lines() {
    check(
        "| key | default | meaning |\n|:--|--:|:-:|\n\
         | `timeout_seconds` | 300 | how long a question stays open |\n\
         | `grace` | 15 | retries |\n",
        &expect![[r"
            key               │ default │  meaning
            ──────────────────┼─────────┼───────────
            `timeout_seconds` │     300 │ how long a
                              │         │  question
                              │         │ stays open
            ──────────────────┼─────────┼───────────
            `grace`           │      15 │  retries
        "]],
    );
    // No word is split while another column can be narrower.
    check(
        "| a | b |\n|--|--|\n| aaaaaaaaaaaaaaaaaaaaaaaa | one two three four five six |\n",
        &expect![[r"
            a                        │ b
            ─────────────────────────┼──────────────
            aaaaaaaaaaaaaaaaaaaaaaaa │ one two three
                                     │ four five six
        "]],
    );
}

#[test]
fn tables_have_columns_where_there_is_room() {
    check(
        "| name | what it **does** |\n|---|:-:|\n| desk | decides |\n| a\\|b | `x` |\n\nafter\n",
        &expect![[r"
            name │ what it does
            ─────┼─────────────
            desk │   decides
            a|b  │     `x`

            after
        "]],
    );
    // A cell that belongs to no column is shown all the same.
    check(
        "> | a | b |\n> |--|--|\n> | 1 | 2 | 3 |\n",
        &expect![[r"
            │ | a | b |
            │ |--|--|
            │ | 1 | 2 | 3 |
        "]],
    );
    check(
        "| a column | another column with a long text |\n|--|--|\n| x | and a very long cell indeed |\n",
        &expect![[r"
            a column │ another column with a long
                     │ text
            ─────────┼──────────────────────────────
            x        │ and a very long cell indeed
        "]],
    );
    check(
        "| no table\nat all\n",
        &expect![[r"
        | no table
        at all
    "]],
    );
}

#[test]
fn marks_inside_a_line() {
    let colours = ChatPage { colours: true, ..page(80) };
    let check = |text: &str, expected: &str| {
        let shown = drawn(text, &colours).join("\n").replace('\u{1b}', "");
        assert_eq!(shown, expected, "{text}");
    };
    check("a **b** c", "a [1mb[0m c");
    check("*a* _b_ __c__ ~~d~~", "[3ma[0m [3mb[0m [1mc[0m [9md[0m");
    check("***a***", "[1;3ma[0m");
    check("**a *b* c**", "[1ma [0m[1;3mb[0m[1m c[0m");
    check("snake_case_name and 2*3*4", "snake_case_name and 2[3m3[0m4");
    check("2 * 3 * 4 and **open", "2 * 3 * 4 and **open");
    check("``a ` b`` and `c", "[36ma ` b[0m and `c");
    check(
        "[docs](https://a.b) ![p](x.png)",
        "[4mdocs[0m[2m (https://a.b)[0m [4mp[0m[2m (x.png)[0m",
    );
    check("\\*not\\* and \\\\", "*not* and \\");
    check("[ ] and ] (x)", "[ ] and ] (x)");
    check(
        "```diff\n+a\n-b\n@@ c\n d\n```",
        "[2m```diff[0m\n[32m+a[0m\n[31m-b[0m\n[36m@@ c[0m\n d\n[2m```[0m",
    );
}

#[test]
fn a_long_line_is_split_wherever_it_is_cut() {
    let text = "word ".repeat(5000) + "end\n";
    let page = page(100);
    let whole = drawn(&text, &page);
    assert!(whole.len() > 200);
    let mut stream = MarkdownStream::default();
    let mut rows = Vec::new();
    for piece in text.as_bytes().chunks(7) {
        rows.extend(stream.push(std::str::from_utf8(piece).unwrap(), &page));
        assert!(stream.source.len() <= LONGEST_LINE);
    }
    rows.extend(stream.finish(&page));
    assert_eq!(rows, whole);
}

#[test]
fn links_are_found_wherever_they_are_defined() {
    let text = "[a]: https://a.b 'T'\n\n- one [a]\n- two\n\nand [a][]\n\n[c] later\n\n[c]: <x>\n";
    check(
        text,
        &expect![[r"
            • one a (https://a.b “T”)
            • two

            and a (https://a.b “T”)

            c (x) later
        "]],
    );
}

#[test]
fn a_number_behind_blanks_is_shown() {
    check(
        "| a | b |\n[x]: y\n  1. one\n  2. two\n",
        &expect![[r"
            | a | b |
            [x]: y
            1. one
            2. two
        "]],
    );
}

#[test]
fn no_line_of_a_long_paragraph_is_taken_for_a_definition() {
    let text = "word ".repeat(70) + "\n[bar]: /baz\nend\n";
    assert!(drawn(&text, &page(80)).contains(&"[bar]: /baz".to_owned()));
}

/// The examples in which a link is defined after the next block has begun. The words of such a link
/// are on the screen by then, as they are written.
const DEFINED_LATER: [usize; 1] = [218];

#[test]
fn the_examples_of_the_specification_have_the_blocks_of_the_page() {
    let Some(cases) = commonmark::cases() else { return };
    assert_eq!(cases.len(), 652);
    let mut differing = Vec::new();
    for CommonmarkCase { number, markdown, html } in cases {
        // The parser is right, so its list of blocks is. The page is held against the same one.
        let squeezed =
            |html: &str| html.replace(['\n', ' '], "").replace("/>", ">").replace("&quot;", "\"");
        assert_eq!(squeezed(&commonmark::html(&markdown)), squeezed(&html), "example {number}");
        if let Err(wrong) = drawn_blocks::compare(&markdown) {
            assert!(DEFINED_LATER.contains(&number), "example {number}: {markdown:?}: {wrong}");
            differing.push(number);
        }
    }
    assert_eq!(differing, DEFINED_LATER);
}

proptest! {
    #[test]
    fn the_same_rows_come_out_however_it_is_cut(
        text in markdown_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        width in 8..80_usize,
        colours in any::<bool>(),
    ) {
        let page = ChatPage { colours, ..page(width) };
        let mut cuts: Vec<usize> =
            cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.sort_unstable();
        let mut stream = MarkdownStream::default();
        let (mut rows, mut from) = (Vec::new(), 0);
        for cut in cuts.into_iter().chain([text.len()]) {
            rows.extend(stream.push(&text[from..cut], &page));
            // What is drawn for now changes nothing.
            let _ = stream.open_rows(&page);
            from = cut;
        }
        rows.extend(stream.finish(&page));
        prop_assert_eq!(rows, drawn(&text, &page));
    }

    #[test]
    fn every_letter_is_shown(text in markdown_text(), width in 8..80_usize, colours in any::<bool>()) {
        let rows = drawn(&text, &ChatPage { colours, ..page(width) }).join("\n");
        prop_assert_eq!(missing_letter(&text, &rows, false), None, "{}", rows);
    }

    #[test]
    fn no_control_character_comes_out(text in markdown_text(), width in 8..80_usize) {
        for row in drawn(&text, &page(width)) {
            prop_assert!(!row.contains(char::is_control), "{row:?}");
            prop_assert!(crate::styled_text::column_width(&row) <= width, "{row:?}");
        }
    }
}
