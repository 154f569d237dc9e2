//! What is coloured in lines of code.

use super::*;
use crate::styled_text::ChatPage;
use crate::styled_text::WrapAt;
use crate::styled_text::tests::page;

/// Colours lines, and returns them with a letter for each style.
fn coloured(language: &str, lines: &[&str]) -> String {
    let page = ChatPage { colours: true, ..page(200) };
    let mut highlighter = CodeHighlighter::for_language(language).unwrap();
    let rows: Vec<String> = lines
        .iter()
        .flat_map(|line| highlighter.colour_line(line).rows(&page, WrapAt::Columns))
        .collect();
    let mut text = rows.join("\n");
    let styles = [("2", "c"), ("32", "q"), ("33", "n"), ("35", "k"), ("36", "v")];
    for (code, letter) in styles {
        text = text.replace(&format!("\u{1b}[{code}m"), &format!("<{letter} "));
    }
    text.replace("\u{1b}[0m", ">")
}

fn check(language: &str, line: &str, expected: &str) {
    assert_eq!(coloured(language, &[line]), expected);
}

#[test]
fn words_texts_numbers_and_comments_are_told_apart() {
    check(
        "rust",
        "let a: &'a str = \"x \\\" y\"; // why 1",
        "<k let> a: &'a str = <q \"x \\\" y\">; <c // why 1>",
    );
    check(
        "rs",
        "if c == '\\n' || c == 'x' { 0x1f_u8 }",
        "<k if> c == <q '\\n'> || c == <q 'x'> { <n 0x1f_u8> }",
    );
    check(
        "python",
        "def f(x): return 'a' + x1  # note",
        "<k def> f(x): <k return> <q 'a'> + x1  <c # note>",
    );
    check(
        "bash",
        "for f in \"$@\"; do echo $HOME a#b; done # x",
        "<k for> f <k in> <q \"$@\">; <k do> echo <v $HOME> a#b; <k done> <c # x>",
    );
    check("json", "{\"a\": [1, true, \"b\"]}", "{<v \"a\">: [<n 1>, <k true>, <q \"b\">]}");
    check("toml", "port = 8080 # the port", "<v port> = <n 8080> <c # the port>");
    check("yaml", "name: \"x\"", "<v name>: <q \"x\">");
    check("SQL", "Select a FROM t -- all", "<k Select> a <k FROM> t <c -- all>");
    check("ts,ignore", "const s = `a`;", "<k const> s = <q `a`>;");
}

#[test]
fn comments_and_texts_go_on_in_the_next_line() {
    assert_eq!(
        coloured("c", &["int a; /* one", "two */ int b;"]),
        "<k int> a; <c /* one>\n<c two */> <k int> b;"
    );
    assert_eq!(
        coloured("python", &["x = \"\"\"one", "# two", "\"\"\" + y"]),
        "x = <q \"\"\"one>\n<q # two>\n<q \"\"\"> + y"
    );
    // A text that is not closed ends with its line.
    assert_eq!(coloured("go", &["a := \"b", "c"]), "a := <q \"b>\nc");
}

#[test]
fn an_unknown_language_has_no_colours() {
    for info in ["", "text", "brainfuck", "   "] {
        assert!(CodeHighlighter::for_language(info).is_none(), "{info}");
    }
}

proptest::proptest! {
    #[test]
    fn nothing_is_lost(line in ".{0,60}", language in 0..LANGUAGES.len()) {
        let mut highlighter = CodeHighlighter::for_language(LANGUAGES[language].names[0]).unwrap();
        let plain = StyledText::new(&line, TextStyle::PLAIN).rows(&page(400), WrapAt::Columns);
        proptest::prop_assert_eq!(highlighter.colour_line(&line).rows(&page(400), WrapAt::Columns), plain);
    }
}
