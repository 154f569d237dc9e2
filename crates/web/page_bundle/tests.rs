//! What is left out of the files of the page, and that nothing else is.

use std::path::PathBuf;

use super::compact_script::{Gap, ScriptToken, TokenKind, script_tokens};
use super::*;

fn ui() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui")
}

/// Returns the files of `ui/` with this ending, each with its path.
fn files(ending: &str) -> Vec<(String, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![ui()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// Returns what a token is to a browser: its kind, whether it begins a line, and its text.
fn meaning(token: &ScriptToken<'_>) -> (TokenKind, bool, String) {
    let text = match token.kind {
        TokenKind::Markup => token.text.lines().map(str::trim_start).collect::<Vec<_>>().join("\n"),
        _ => token.text.to_owned(),
    };
    (token.kind, token.gap == Gap::LineEnd, text)
}

#[test]
fn no_token_of_the_page_is_changed() {
    let modules = files("js");
    assert!(modules.len() > 80, "{}", modules.len());
    for (path, source) in modules {
        let text = compact_script(&source).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(compact_script(&text).unwrap(), text, "{path}");
        assert!(!text.contains("\n\n"), "{path}");
        let (before, after) = (script_tokens(&source).unwrap(), script_tokens(&text).unwrap());
        // Nothing is before the first token, whose comment had a line of its own.
        let pairs = before.iter().zip(&after).skip(1);
        for (before, after) in pairs {
            assert_eq!(meaning(before), meaning(after), "{path}");
        }
        assert_eq!(before.len(), after.len(), "{path}");
    }
}

#[test]
fn no_module_of_the_page_can_be_cut_within_a_text() {
    for (path, source) in files("js") {
        let tokens = script_tokens(&source).unwrap();
        let is_text = |kind| !matches!(kind, TokenKind::Word | TokenKind::Mark);
        let texts: Vec<_> = tokens.iter().filter(|token| is_text(token.kind)).collect();
        // Some of each module, since each is read from its beginning.
        for token in texts.iter().step_by(texts.len() / 10 + 1) {
            let begin = token.text.as_ptr() as usize - source.as_ptr() as usize;
            let end = begin + token.text.len() - 1;
            let error = compact_script(&source[..end]).unwrap_err();
            assert!(error.starts_with("line "), "{path}: {error}");
        }
    }
}

#[test]
fn style_sheets_differ_only_in_blanks_and_comments() {
    let plain = |sheet: &str| {
        let mut comments = sheet.split("/*");
        let first = comments.next().unwrap_or("").to_owned();
        let text = comments.fold(first, |text, part| text + part.split_once("*/").unwrap().1);
        text.split_whitespace().collect::<String>()
    };
    let sheets = files("css");
    assert!(sheets.len() > 8, "{}", sheets.len());
    for (path, sheet) in sheets {
        let text = compact_style(&sheet).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(plain(&text), plain(&sheet), "{path}");
        assert_eq!(compact_style(&text).unwrap(), text, "{path}");
        assert!(!text.contains("/*") && !text.contains('\n'), "{path}");
    }
}

#[test]
fn what_is_left_out_of_a_module_changes_nothing() {
    for (source, expected) in [
        ("let a = 1; // one\n\n  let b; /* two */ let c;\n", "let a=1;\nlet b;let c;\n"),
        (
            "/**\n * Doc.\n */\nfunction  f( a, b ) {\n\treturn a;\n}\n",
            "function f(a,b){\nreturn a;\n}\n",
        ),
        // A statement may end at the end of a line, also at that of a comment.
        ("a = b\n(c)", "a=b\n(c)\n"),
        ("return /*\n*/ a", "return\na\n"),
        ("return // a\n  b", "return\nb\n"),
        // Operators that would grow together.
        ("a + +b - -c + ++d - e-- - f", "a+ +b- -c+ ++d-e-- -f\n"),
        ("1 .toFixed() + 1.5.toFixed()", "1 .toFixed()+1.5.toFixed()\n"),
        ("a in b, typeof (c), void [d]", "a in b,typeof(c),void[d]\n"),
        (
            "class A { #b = 1; get c() { return #b in this } }",
            "class A{#b=1;get c(){return #b in this}}\n",
        ),
        ("let é = `ü` ;", "let é=`ü`;\n"),
        // Strings and addresses in them.
        (r#"f( "a  // b" , 'c /* d' , "e\"  f" )"#, "f(\"a  // b\",'c /* d',\"e\\\"  f\")\n"),
        ("\"a\\\n  b\"", "\"a\\\n  b\"\n"),
        // Templates, with templates, braces and comments in their expressions.
        ("`a  // b ${ c /* d */ } \\` \\${  e }`", "`a  // b ${c} \\` \\${  e }`\n"),
        ("`${ { a: `}  ${ b }` }.a }  `", "`${{a:`}  ${b}`}.a}  `\n"),
        ("`a\n  b`", "`a\n  b`\n"),
        ("html`<p>\n    ${ a }\n  </p>  `", "html`<p>\n${a}\n</p>  `\n"),
        ("html`a\\\n  b`", "html`a\\\n  b`\n"),
        (
            "html`<pre>\n  ${ html`a\n  b` }\n  c</pre>`",
            "html`<pre>\n  ${html`a\n  b`}\n  c</pre>`\n",
        ),
        // Regular expressions and divisions.
        ("a = b / c / d ; e = / \"f/ ; g", "a=b/c/d;e=/ \"f/;g\n"),
        ("f( / [/]'\\/ /g , 1 ) / 2", "f(/ [/]'\\/ /g,1)/2\n"),
        ("if ( a ) / '/.test(b) ; ( c ) / 2 ; d[0] / 2", "if(a)/ '/.test(b);(c)/2;d[0]/2\n"),
        ("return / '/ in a", "return/ '/ in a\n"),
        ("a.return / 2 ; [...typeof / '/]", "a.return/2;[...typeof/ '/]\n"),
        ("a++ / 2 / b ; `c` / 2 ; 'd' / 2 ; `${ / `/ }`", "a++/2/b;`c`/2;'d'/2;`${/ `/}`\n"),
        ("a / / b/ ; c => / '/", "a/ / b/;c=>/ '/\n"),
        // Licences stay.
        (
            "/*! L  1 */ a /* b */\n/* @license L\n * 2 */\nc",
            "/*! L  1 */a\n/* @license L\n * 2 */\nc\n",
        ),
    ] {
        assert_eq!(compact_script(source).as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn what_does_not_end_in_a_module_is_refused_with_its_line() {
    for (source, expected) in [
        ("a\n`b ${c}\nd", "line 2: a template does not end"),
        ("`b ${c`", "line 1: a template does not end"),
        ("`b ${c", "line 1: a bracket is not closed"),
        ("a;\n/* b *", "line 2: a comment does not end"),
        ("/*! b", "line 1: a comment does not end"),
        ("'a\n'", "line 1: a string does not end"),
        ("\"a\\\"", "line 1: a string does not end"),
        ("a = /b[/]\n/", "line 1: a regular expression does not end"),
        ("{\n(\n", "line 2: a bracket is not closed"),
        ("{\n)", "line 2: a bracket closes what is not open"),
        ("a\n}", "line 2: a bracket closes what is not open"),
        ("{} / 2", "line 1: a slash after a brace may begin a regular expression or divide"),
    ] {
        assert_eq!(compact_script(source), Err(expected.to_owned()), "{source}");
    }
}

#[test]
fn what_is_left_out_of_a_style_sheet_changes_nothing() {
    for (source, expected) in [
        ("/* a */\na , b > c {\n  d: e  f;\n  /* g */\n}\n", "a,b > c{d:e f;}"),
        ("a :hover b:hover, .c .d { }", "a :hover b:hover,.c .d{}"),
        ("a { b: calc(1px + 2px) }", "a{b:calc(1px + 2px)}"),
        ("a/**/.b c/* */ d /* */e", "a/**/.b c d e"),
        ("a { b: \"/* c */  '\" ; d: '{ \\'  }' }", "a{b:\"/* c */  '\";d:'{ \\'  }'}"),
        ("a { b: URL( c;/*d  ) ; e: url( \"f;  )\" ) }", "a{b:URL( c;/*d  );e:url( \"f;  )\" )}"),
        (".a\\{  b { c: é ; }", ".a\\{ b{c:é;}"),
        ("@media (a: b) and (c) { d { --e: ; } }", "@media (a:b) and (c){d{--e:;}}"),
    ] {
        assert_eq!(compact_style(source).as_deref(), Ok(expected), "{source}");
    }
    for (source, expected) in [
        ("a\n/* b", "line 2: a comment does not end"),
        ("a\n\n{b:'c\n'}", "line 3: a string does not end"),
        ("a{b:url(c", "line 1: an address does not end"),
        ("a{\nb{c:d}", "line 1: a block does not end"),
    ] {
        assert_eq!(compact_style(source), Err(expected.to_owned()), "{source}");
    }
}

#[test]
fn a_file_that_cannot_be_packed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(ENTRY), "import { a } from \"./a.js\";\n").unwrap();
    fs::write(folder.path().join("a.js"), "export const a = `\n").unwrap();
    let error = pack_page(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "cannot pack ui/a.js: line 1: a template does not end");
}

#[test]
fn packed_files_keep_the_licences_of_others() {
    for (name, text) in pack_page(&ui()).unwrap() {
        let licences = match name {
            ENTRY => &["Copyright 2017 Google LLC", "SPDX-License-Identifier: BSD-3-Clause"][..],
            PARSER => &["@license MIT"],
            _ => &[],
        };
        assert!(licences.iter().all(|licence| text.contains(licence)), "{name}");
    }
}
