//! Whatever the parts and the limits, Telegram takes the message.

use callgate_testkit::odd_text::odd_text;
use callgate_testkit::telegram_html;
use proptest::prelude::*;

use super::fit::with_commas;
use super::*;

const WIDE: MessageLimits = MessageLimits { utf16: 4096, bytes: 32 * 1024 };

fn units(utf16: usize) -> MessageLimits {
    MessageLimits { utf16, ..WIDE }
}

/// The rendered message, which Telegram would take and which keeps the limits.
fn rendered(html: &Html, limits: MessageLimits) -> RenderedHtml {
    let message = html.render(limits);
    let parsed = telegram_html::check(&message.html).unwrap();
    assert!(parsed.utf16_len <= limits.utf16, "{} > {limits:?}", parsed.utf16_len);
    assert!(message.html.len() <= limits.bytes, "{} > {limits:?}", message.html.len());
    message
}

fn check(html: &Html, limits: MessageLimits, expected: &str) {
    assert_eq!(rendered(html, limits).html, expected);
}

#[test]
fn every_style_has_its_tags() {
    for (style, expected) in [
        (HtmlStyle::Plain, "x"),
        (HtmlStyle::Bold, "<b>x</b>"),
        (HtmlStyle::Italic, "<i>x</i>"),
        (HtmlStyle::Code, "<code>x</code>"),
        (HtmlStyle::Pre(None), "<pre>x</pre>"),
        (HtmlStyle::Pre(Some("c++")), "<pre><code class=\"language-c++\">x</code></pre>"),
        (HtmlStyle::Pre(Some("a\"b")), "<pre>x</pre>"),
        (HtmlStyle::Quote, "<blockquote>x</blockquote>"),
        (
            HtmlStyle::Link("https://a.b/?c&d\"<"),
            "<a href=\"https://a.b/?c&amp;d&quot;&lt;\">x</a>",
        ),
        (HtmlStyle::Link("javascript:x"), "x"),
        (HtmlStyle::Link("https://a.b/ \u{202e}"), "x"),
    ] {
        check(&Html::new().fixed(style, "x"), WIDE, expected);
    }
}

#[test]
fn text_is_escaped_and_made_visible() {
    check(
        &Html::new().text("<b>&\"").content(HtmlStyle::Code, "a\u{202e}</code>"),
        WIDE,
        "&lt;b&gt;&amp;&quot;<code>a⟨U+202E⟩&lt;/code&gt;</code>",
    );
    check(&Html::new().fixed(HtmlStyle::Bold, "").text("a"), WIDE, "a");
}

#[test]
fn content_is_cut_and_headings_are_not() {
    let html = Html::new()
        .fixed(HtmlStyle::Bold, "Bash")
        .text("\n")
        .content(HtmlStyle::Pre(None), &"x".repeat(5000))
        .text("\nfooter");
    let message = rendered(&html, MessageLimits::MESSAGE);
    // Of what is kept, a third is the end.
    let kept = 4096 - "Bash\n\nfooter".len() - "\n… 5,000 more characters\n".chars().count();
    let cut = with_commas(5000 - kept);
    assert_eq!(message.cut, 5000 - kept);
    let (head, tail) = ("x".repeat(kept - kept / 3), "x".repeat(kept / 3));
    let body = format!("<pre>{head}</pre><i>\n… {cut} more characters</i>\n<pre>{tail}</pre>");
    assert_eq!(message.html, format!("<b>Bash</b>\n{body}\nfooter"));
}

#[test]
fn the_beginning_and_the_end_of_what_is_cut_are_shown() {
    for middle in [5_000, 500_000] {
        let text = format!("begin {} end", "é".repeat(middle));
        let html = Html::new().content(HtmlStyle::Pre(None), &text);
        let message = rendered(&html, MessageLimits::MESSAGE);
        assert!(message.html.starts_with("<pre>begin é"), "{}", message.html);
        assert!(message.html.ends_with("é end</pre>"), "{}", message.html);
        let shown = message.html.matches('é').count();
        assert_eq!(message.cut, middle - shown, "and how much is missing between them");
    }
}

#[test]
fn one_character_is_told_as_one() {
    let html = Html::new().content(HtmlStyle::Plain, &"x".repeat(40));
    let notice = "… 40 more characters\n".chars().count();
    assert_eq!(rendered(&html, units(39)).cut, 40 - (39 - notice));
    let html = Html::new().content(HtmlStyle::Plain, &format!("{}👩\u{200d}💻", "x".repeat(40)));
    assert!(rendered(&html, units(64)).html.ends_with("👩\u{200d}💻"));
}

#[test]
fn parts_share_the_room_fairly() {
    let html = Html::new()
        .content(HtmlStyle::Code, "short")
        .content(HtmlStyle::Pre(None), &"a".repeat(1000))
        .content(HtmlStyle::Pre(None), &"b".repeat(3000));
    let html = rendered(&html, units(605)).html;
    let count = |c| html.matches(c).count() - "more characters".matches(c).count() * 2;
    assert!(html.starts_with("<code>short</code>"));
    assert_eq!(count('b'), 300 - "\n… 3,000 more characters\n".chars().count());
    assert!((273..=280).contains(&count('a')), "{}", count('a'));
}

#[test]
fn entities_count_as_one_unit_but_as_their_bytes() {
    let html = Html::new().content(HtmlStyle::Plain, &"<".repeat(100));
    check(&html, WIDE, &"&lt;".repeat(100));
    let message = rendered(&html, MessageLimits { utf16: 4096, bytes: 200 });
    let (head, tail) = message.html.split_once(" more characters</i>\n").unwrap();
    assert!(head.starts_with("&lt;&lt;") && tail.starts_with("&lt;&lt;"), "{}", message.html);
}

#[test]
fn a_part_that_is_cut_for_its_bytes_still_keeps_the_units_of_all() {
    // Each is short in units and long in bytes, so its notice makes it longer in units.
    let html = Html::new()
        .content(HtmlStyle::Plain, &"&".repeat(30))
        .content(HtmlStyle::Bold, &"\"".repeat(28))
        .content(HtmlStyle::Pre(Some("rust")), &"<".repeat(26));
    for utf16 in 60..100 {
        for bytes in (200..420).step_by(5) {
            rendered(&html, MessageLimits { utf16, bytes });
        }
    }
}

#[test]
fn a_huge_part_is_not_kept_whole_but_counted_whole() {
    let html = Html::new().content(HtmlStyle::Pre(None), &"ä".repeat(5_000_000));
    assert!(html.parts[0].text.len() <= KEPT);
    let message = rendered(&html, WIDE);
    let shown = message.html.matches('ä').count();
    assert_eq!(message.cut, 5_000_000 - shown);
    assert!(message.html.contains(&format!("… {} more", with_commas(message.cut))));
    assert!(shown > 4000);
}

#[test]
fn fixed_parts_that_do_not_fit_are_cut_from_the_end() {
    let html =
        Html::new().fixed(HtmlStyle::Bold, "heading").content(HtmlStyle::Code, "x").text("footer");
    check(&html, units(9), "<b>heading</b>fo");
    check(&html, units(3), "<b>hea</b>");
    check(&html, units(0), "");
    assert_eq!(html.render(units(3)).cut, 11);
}

#[test]
fn numbers_have_commas() {
    for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(with_commas(number), expected);
    }
}

fn style() -> impl Strategy<Value = HtmlStyle<'static>> {
    prop::sample::select(vec![
        HtmlStyle::Plain,
        HtmlStyle::Bold,
        HtmlStyle::Italic,
        HtmlStyle::Code,
        HtmlStyle::Pre(None),
        HtmlStyle::Pre(Some("rust")),
        HtmlStyle::Pre(Some("<")),
        HtmlStyle::Quote,
        HtmlStyle::Link("https://a.b/?x=\"&y"),
        HtmlStyle::Link("x:<>"),
    ])
}

proptest! {
    #[test]
    fn any_message_is_taken_and_keeps_its_limits(
        parts in prop::collection::vec((style(), odd_text(), any::<bool>()), 0..6),
        utf16 in 0_usize..200,
        bytes in 0_usize..600,
    ) {
        let mut html = Html::new();
        let mut fixed = String::new();
        for (style, text, may_be_cut) in &parts {
            html = html.push(*style, text, *may_be_cut);
            if !may_be_cut {
                fixed += &visible_text(text);
            }
        }
        let all: usize = html.parts.iter().map(|part| measured_length(&part.text, Measure::Chars)).sum();
        for limits in [MessageLimits { utf16, bytes }, units(utf16), WIDE] {
            let message = rendered(&html, limits);
            let parsed = telegram_html::check(&message.html).unwrap();
            let turns = parsed.text.contains('\u{202e}');
            prop_assert!(!turns);
            prop_assert!(message.cut <= all);
            let fits = measured_length(&fixed, Measure::Utf16) <= limits.utf16 && limits.bytes == WIDE.bytes;
            if message.cut == 0 {
                let whole: String = html.parts.iter().map(|part| part.text.as_str()).collect();
                prop_assert_eq!(parsed.text, whole);
            } else if fits {
                let fixed = html.parts.iter().filter(|part| !part.may_be_cut);
                prop_assert!(fixed.into_iter().all(|part| parsed.text.contains(&part.text)));
            }
        }
    }
}
