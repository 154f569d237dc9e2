//! Any text stays readable, deceives nobody, and is cut between characters.

use callgate_testkit::odd_text::odd_text;
use callgate_wire::desk::{ChangedLine, ContentChange, LineOperation};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::unicode::{is_deceptive, is_variation_selector};
use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(visible_text(text), expected, "{text:?}");
}

fn check_stays(text: &str) {
    check(text, text);
}

#[test]
fn what_deceives_is_shown() {
    check("a\u{202e}b\u{2066}c\u{200f}", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩");
    check("rm\u{200b} x\u{feff}\u{2060}\u{ad}", "rm⟨U+200B⟩ x⟨U+FEFF⟩⟨U+2060⟩⟨U+00AD⟩");
    check("\u{1b}[2K\u{9b}1m\u{7}\0\u{7f}", "⟨U+001B⟩[2K⟨U+009B⟩1m⟨U+0007⟩⟨U+0000⟩⟨U+007F⟩");
    check("\u{e0041}\u{e007f}", "⟨U+E0041⟩⟨U+E007F⟩");
    check("a\u{2028}b\u{2029}c\u{85}", "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩");
    check("\u{3164}\u{115f}\u{ffa0}\u{2800}", "⟨U+3164⟩⟨U+115F⟩⟨U+FFA0⟩⟨U+2800⟩");
    check("safe\rrm -rf ~", "safe⟨U+000D⟩rm -rf ~");
    check("one\r\ntwo\n", "one\ntwo\n");
    check("one\r\r\ntwo", "one⟨U+000D⟩\ntwo");
}

#[test]
fn variation_selectors_and_joiners_stay_only_where_they_belong() {
    check("a\u{fe0f}b\u{fe00}\u{e0100}", "a⟨U+FE0F⟩b⟨U+FE00⟩⟨U+E0100⟩");
    check("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}⟨U+FE0F⟩");
    check("1\u{fe0f}2", "1⟨U+FE0F⟩2");
    check("葛\u{e0100}", "葛⟨U+E0100⟩");
    check("a\u{200d}b \u{200c}", "a⟨U+200D⟩b ⟨U+200C⟩");
    check("😀\u{200d}x", "😀⟨U+200D⟩x");
    check("می\u{200c}\u{200c}روم", "می⟨U+200C⟩⟨U+200C⟩روم");
    check("\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}", "\u{1f3f4}⟨U+E0067⟩⟨U+E0062⟩⟨U+E007F⟩");
    check(&format!("a{}b", "\u{301}".repeat(9)), &format!("a{}⟨U+0301⟩b", "\u{301}".repeat(8)));
}

#[test]
fn honest_text_stays() {
    check_stays("plain\ttext\n");
    check_stays("Привет, 世界, שלום, مرحبا, สวัสดี, Tiếng Việt, e\u{301}");
    check_stays("می\u{200c}روم");
    check_stays("क्\u{200d}ष ශ්\u{200d}රී ന്\u{200d} ");
    check_stays(
        "👩\u{200d}💻 🏳\u{fe0f}\u{200d}🌈 👨\u{200d}👩\u{200d}👧\u{200d}👦 👍🏽 🇺🇦 ❤\u{fe0f} 1\u{fe0f}\u{20e3}",
    );
    check_stays("👩🏽\u{200d}🚀 🧔\u{200d}♂\u{fe0f}");
    check_stays(
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} Scotland \u{1f3f4}",
    );
    check_stays("ᠠ\u{180b}");
    check_stays("prix : 5\u{a0}€ 全\u{3000}角 ⟨U+202E⟩");
}

#[test]
fn one_line_shows_where_lines_end() {
    assert_eq!(one_line("a\nb\r\n\tc\u{1b}"), "a⏎b⏎ c⟨U+001B⟩");
}

#[test]
fn cuts_count_what_they_are_told_to_count() {
    for (text, most, by, expected) in [
        ("abc", 2, Measure::Bytes, "ab"),
        ("äbc", 2, Measure::Bytes, "ä"),
        ("äbc", 1, Measure::Bytes, ""),
        ("äbc", 2, Measure::Chars, "äb"),
        ("a😀b", 2, Measure::Utf16, "a"),
        ("a😀b", 3, Measure::Utf16, "a😀"),
        ("xe\u{301}", 2, Measure::Chars, "x"),
        ("🇺🇦🇺🇦", 3, Measure::Chars, "🇺🇦"),
        ("👩\u{200d}💻", 4, Measure::Utf16, ""),
        ("👩\u{200d}💻x", 5, Measure::Utf16, "👩\u{200d}💻"),
        ("a\r\nb", 2, Measure::Bytes, "a"),
        ("", 0, Measure::Bytes, ""),
    ] {
        assert_eq!(cut_to_length(text, most, by), expected, "{text:?} {most} {by:?}");
    }
    let pile = format!("a{}", "\u{301}".repeat(10_000));
    assert_eq!(measured_length(cut_to_length(&pile, 1000, Measure::Chars), Measure::Chars), 1000);
}

#[test]
fn pages_end_with_lines_or_words() {
    assert_eq!(split_pages("one\ntwo\nthree", 9), ["one\ntwo\n", "three"]);
    assert_eq!(split_pages("one two three", 9), ["one two ", "three"]);
    assert_eq!(split_pages("onetwothree", 4), ["onet", "woth", "ree"]);
    assert_eq!(split_pages("😀😀", 0), ["😀", "😀"]);
    assert!(split_pages("", 10).is_empty());
}

fn check_diff(old: &str, new: &str, expected: &str) {
    let change =
        ContentChange { lines: diff_lines(old, new).collect(), ..ContentChange::default() };
    assert_eq!(change.to_string().trim_end_matches('\n'), expected, "{old:?} {new:?}");
}

#[test]
fn the_last_lines_of_pieces_are_whole() {
    let check = |old: &str, new: &str, expected: &str| {
        let change = ContentChange { lines: diff_pieces(old, new), ..ContentChange::default() };
        assert_eq!(change.to_string().trim_end_matches('\n'), expected, "{old:?} {new:?}");
    };
    check("one\ntwo\nthree", "one\n2\nthree\nfour", " one\n-two\n+2\n three\n+four");
    check("three", "three\nfour", " three\n+four");
    check("", "x", "+x");
    check("x", "", "-x");
    check("x\n", "x", "-x\n+x");
}

#[test]
fn a_diff_shows_what_changed_and_a_little_around_it() {
    check_diff("a\nb\nc\n", "a\nB\nc\n", " a\n-b\n+B\n c");
    check_diff("a\n", "a\n", "");
    check_diff("", "x", "+x");
    check_diff("x\ny", "", "-x\n-y");
    check_diff("a\nb\n", "b\n", "-a\n b");
    check_diff("b\n", "a\nb\n", "+a\n b");
    check_diff("ab\n", "b\n", "-ab\n+b");
    check_diff("x\nb\n", "x\nx\nb\n", " x\n+x\n b");
    check_diff("a", "a\n", "-a\n+a");
    check_diff("a\nk\nb\n", "c\nk\nd\n", "-a\n+c\n k\n-b\n+d");
    let numbers: Vec<String> = (0..20).map(|n| format!("{n}\n")).collect();
    let old = numbers.concat();
    check_diff(
        &old,
        &old.replace("\n9\n", "\nnine\n"),
        "… 6 unchanged lines\n 6\n 7\n 8\n-9\n+nine\n 10\n 11\n 12",
    );
    check_diff(
        &old,
        &old.replace("\n2\n", "\ntwo\n").replace("\n17\n", "\n"),
        " 0\n 1\n-2\n+two\n 3\n 4\n 5\n… 8 unchanged lines\n 14\n 15\n 16\n-17\n 18\n 19",
    );
}

/// Checks that the numbers of the lines are true, and that only unchanged lines are left out.
fn check_numbers(old: &str, new: &str) {
    let texts = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    let (old_lines, mut made, mut next) = (texts(old), Vec::new(), 0);
    for line in diff_lines(old, new) {
        if let Some(at) = line.old.map(|number| usize::try_from(number).unwrap() - 1) {
            made.extend_from_slice(&old_lines[next..at]);
            assert_eq!(&line.text, &old_lines[at]);
            next = at + 1;
        }
        if let Some(number) = line.new {
            made.push(line.text);
            assert_eq!(number, made.len() as u64);
        }
    }
    made.extend_from_slice(&old_lines[next..]);
    let made = made.join("\n");
    assert_eq!(made.trim_end_matches('\n'), new.trim_end_matches('\n'));
    assert_eq!(diff_lines(old, new).next().is_none(), old == new);
}

#[test]
fn a_diff_of_large_texts_shows_its_changes_where_they_are() {
    let line = |at: usize| format!("line {at}\n");
    let old: String = (1..=20_000).map(line).collect();
    let changed = |at: usize| at.is_multiple_of(1_000);
    let new: String =
        (1..=20_000).map(|at| if changed(at) { "new\n".into() } else { line(at) }).collect();
    let lines: Vec<ChangedLine> = diff_lines(&old, &new).collect();
    assert_eq!(lines.len(), 20 * (2 + 6) - 3, "two changed lines each, and three around them");
    let added = lines.iter().filter(|line| line.op == LineOperation::Added);
    assert!(added.map(|line| line.new).eq((1..=20).map(|at| Some(at * 1_000))));
    // Texts that have no line in common, and texts of a few lines again and again.
    let other: Vec<String> = (1..=20_000).map(|at| format!("other {at}\n")).collect();
    assert_eq!(diff_lines(&old, &other.concat()).count(), 40_000);
    let few = |seed: u64| -> String {
        let mut at = seed;
        let mut next = || {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ["a\n", "b\n", "c\n"][(at >> 33) as usize % 3]
        };
        (0..20_000).map(|_| next()).collect()
    };
    let (old, new) = (few(1), few(2));
    let kept = |op| diff_lines(&old, &new).filter(move |line| line.op != op).count();
    assert!(kept(LineOperation::Added) > 0 && kept(LineOperation::Removed) > 0);
    for (old, new) in
        [(&old, &new), (&(1..3_000).map(line).collect(), &(1_000..4_000).map(line).collect())]
    {
        check_numbers(old, new);
    }
    let (old, new) = ("old\n".repeat(500_000), "new\n".repeat(600_000));
    assert_eq!(diff_lines(&old, &new).last().unwrap().new, Some(600_000));
}

fn measure() -> impl Strategy<Value = Measure> {
    prop::sample::select(vec![Measure::Bytes, Measure::Chars, Measure::Utf16])
}

const FLAG: char = '\u{1f3f4}';

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

proptest! {
    #[test]
    fn visible_text_deceives_nobody(text in odd_text()) {
        let shown = visible_text(&text);
        let is_bad = |c: char| is_deceptive(c) && !is_tag(c);
        prop_assert!(!shown.contains(is_bad), "{:?}", shown);
        prop_assert!(shown.matches(is_tag).count() <= 6 * shown.matches(FLAG).count());
        let mut hidden = 0;
        for c in shown.chars() {
            let joins = is_variation_selector(c) || matches!(c, '\u{200c}' | '\u{200d}');
            hidden = if joins { hidden + 1 } else { 0 };
            prop_assert!(hidden < 3, "{:?}", shown);
        }
        prop_assert_eq!(visible_text(&shown), shown.as_ref());
        let line = one_line(&text);
        prop_assert!(!line.contains(['\n', '\t', '\r']));
    }

    #[test]
    fn a_cut_is_the_longest_that_splits_nothing(text in odd_text(), most in 0_usize..80, by in measure()) {
        let kept = cut_to_length(&text, most, by);
        prop_assert!(text.starts_with(kept));
        prop_assert!(measured_length(kept, by) <= most);
        let ends: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
        prop_assert!(ends.contains(&kept.len()));
        let next = ends.iter().find(|end| **end > kept.len());
        prop_assert!(next.is_none_or(|next| measured_length(&text[..*next], by) > most));
    }

    #[test]
    fn pages_lose_nothing(text in odd_text(), most in 0_usize..80) {
        let pages = split_pages(&text, most);
        prop_assert_eq!(pages.concat(), text.as_str());
        for page in pages {
            prop_assert!(!page.is_empty() && measured_length(page, Measure::Utf16) <= most.max(2));
        }
    }

    #[test]
    fn a_diff_makes_the_new_text_of_the_old_one(
        old in "([ab]\n){0,24}[ab]?", new in "([ab]\n){0,24}[ab]?",
    ) {
        check_numbers(&old, &new);
    }
}

#[test]
fn lines_are_broken_between_words_and_links_stay_whole() {
    let check = |text: &str, width: usize, indent: usize, expected: &str| {
        assert_eq!(wrap_text(text, width, indent), expected, "{text:?}");
    };
    check("", 5, 2, "");
    check("one two three", 80, 2, "one two three");
    check("one two three", 8, 2, "one two\n  three");
    check("  one two\nthree  four", 6, 0, "  one\n  two\nthree \nfour");
    check("at http://127.0.0.1:7420/ it is", 10, 0, "at\nhttp://127.0.0.1:7420/\nit is");
    check("run `a b c` now", 9, 0, "run\n`a b c`\nnow");
    check("run `a b c`, or `d`", 12, 0, "run `a b c`,\nor `d`");
    check("run `a b", 5, 0, "run\n`a b");
    check("漢字 漢字", 6, 0, "漢字\n漢字");
    check("漢字 漢字", 9, 0, "漢字 漢字");
}
