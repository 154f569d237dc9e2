//! Markdown in the page: what is shown is what was written.

use callgate_testkit::browser::Browser;
use callgate_testkit::commonmark;
use callgate_testkit::markdown_text::{missing_letter, sample_texts};
use callgate_testkit::page::{PageDesk, show};
use serde_json::{Value, json};

use crate::stage::desk_with_page;

/// Lists the blocks of the elements of a Markdown text, as the test kit does for the text itself.
const BLOCKS: &str = r"
    const NAMES = { P: 'p', PRE: 'pre', BLOCKQUOTE: 'blockquote', UL: 'ul', OL: 'ol', LI: 'li', HR: 'hr', TD: 'cell', TH: 'cell', DIV: 'html' };
    for (const level of [1, 2, 3, 4, 5, 6]) NAMES['H' + level] = 'h' + level;
    function blocksOf(root) {
      const blocks = [], path = [];
      let text = '';
      const note = (evenEmpty) => {
        const words = text.split(/\s+/).filter(Boolean).join(' ');
        if (evenEmpty || words) blocks.push(path.join(' ') + ': ' + words);
        text = '';
      };
      const walk = (node) => {
        for (const child of node.childNodes) {
          if (child.nodeType === Node.TEXT_NODE) text += child.data;
          else if (child.matches('.copy, .code-info, .address')) continue;
          else if (child.tagName === 'BR') text += ' ';
          else if (NAMES[child.tagName]) {
            note(false);
            path.push(NAMES[child.tagName]);
            walk(child);
            note(!['blockquote', 'ul', 'ol', 'li'].includes(NAMES[child.tagName]));
            path.pop();
          } else walk(child);
        }
      };
      walk(root);
      return blocks;
    }
";

/// Draws a text as an answer, whole and in pieces, and as a plan; returns the blocks of the answer,
/// whether the pieces make no difference, and the characters of the answer and of the plan.
const DRAW: &str = r"
    const { GrowingMarkdown, beginFrame, loadMarkdown, plan } = (await import('/ui/app.js')).load('parts/markdown.js');
    await loadMarkdown();
    const finished = (growing, text) => {
      do {
        beginFrame();
        growing.show(text, true);
      } while (growing.isBehind);
      return growing.node;
    };
    const shownOf = (node) => [...node.childNodes].map((child) => {
      if (child.nodeType === Node.TEXT_NODE) return child.data;
      if (child.matches('.copy')) return '';
      const before = child.tagName === 'LI' ? child.getAttribute('value') ?? '' : '';
      const mark = child.tagName === 'INPUT' && child.checked ? 'x' : '';
      return before + mark + shownOf(child);
    }).join('');
    return texts.map((text, number) => {
      const whole = finished(new GrowingMarkdown(), text);
      const growing = new GrowingMarkdown();
      let areDrawn = true;
      // Otherwise most pieces would wait for the next one: to draw them takes its time.
      performance.now = () => 0;
      for (let at = 0; at < text.length; at += 1 + (at * 7 + number) % 5) {
        beginFrame();
        growing.show(text.slice(0, at), false);
        areDrawn &&= !growing.isBehind;
      }
      delete performance.now;
      return {
        blocks: blocksOf(whole),
        grows: areDrawn && finished(growing, text).innerHTML === whole.innerHTML,
        sections: [...whole.children].map((section) => section.childElementCount),
        answer: shownOf(whole),
        plan: shownOf(plan('test-' + number, text)),
        code: [whole, plan('test-' + number, text)].map((node) => node.querySelector('pre code')?.textContent),
      };
    });
";

/// Draws texts in the page.
fn draw_texts(page: &Browser, texts: &[String]) -> Vec<Value> {
    let script = format!(
        "const texts = arguments[0], done = arguments[1]; {BLOCKS} (async () => {{ {DRAW} }})().then(done);"
    );
    let Value::Array(drawn) = page.run_async(&script, &json!([texts])) else {
        panic!("the drawings are a list")
    };
    assert_eq!(drawn.len(), texts.len());
    drawn
}

/// Checks that the letters of a text are shown in its answer and its plan, there with their marks,
/// and that the pieces of the answer make no difference.
fn check_letters(text: &str, drawn: &Value) {
    for (name, is_whole) in [("answer", false), ("plan", true)] {
        let shown = drawn[name].as_str().expect("a text");
        let missing = missing_letter(text, shown, is_whole);
        assert_eq!(missing, None, "the {name} of {text:?} does not show it: {shown:?}");
    }
    assert_eq!(drawn["grows"], true, "{text:?}");
}

#[test]
fn every_letter_of_generated_texts_is_shown() {
    let Some((_stage, page)) = desk_with_page() else { return };
    let texts = sample_texts(500);
    for (text, drawn) in texts.iter().zip(draw_texts(&page, &texts)) {
        check_letters(text, &drawn);
    }
}

#[test]
fn code_in_an_item_keeps_the_blanks_of_its_own() {
    let Some((_stage, page)) = desk_with_page() else { return };
    let text = "1. a\n   ```sh\n     x\n   ```\n".to_owned();
    assert_eq!(draw_texts(&page, &[text])[0]["code"], json!(["  x\n", "  x\n"]));
}

#[test]
fn every_example_of_the_specification_is_shown_as_it_is_written() {
    let (Some((_stage, page)), Some(cases)) = (desk_with_page(), commonmark::cases()) else {
        return;
    };
    let mut texts: Vec<String> = cases.into_iter().map(|case| case.markdown).collect();
    texts.extend(
        [
            "Remove $HOME/build and cache_old_files, flags[0] and [x].",
            "Empty __init__.py, then rm -f src/*.orig src/*.rej and src/\\*.bak \\\nand ~~old~~.",
            "- [x] done\n- [ ] open\n\n1. a\n   ```sh\n   rm\n   ```\n7. b\n",
            "| a | b |\n|:-|-:|\n| 1 | ~~2~~ |\n\n| a | b |\n|-|-|\n| 1 | 2 | 3 |\n",
            "> > a\n> - b\n\n<b>c</b> &copy; \u{202e}d",
        ]
        .map(Into::into),
    );
    // More blocks than a section of an answer has.
    let sections: Vec<String> =
        (0..50).map(|at| format!("# h{at}\n\nwords\n- of {at}\n\n")).collect();
    texts.push(sections.concat());
    for (text, drawn) in texts.iter().zip(draw_texts(&page, &texts)) {
        let expected = commonmark::blocks(text);
        // A table with a cell that belongs to no column is shown as it is written.
        if !text.contains("| 3 |") {
            assert_eq!(drawn["blocks"], json!(expected), "{text:?}");
        }
        check_letters(text, &drawn);
        // The browser looks at each section in each frame, so a long answer has few.
        let sections: Vec<usize> = serde_json::from_value(drawn["sections"].clone()).unwrap();
        let are_full = sections.iter().rev().skip(1).all(|blocks| *blocks == 16);
        assert!(are_full && sections.last().is_none_or(|blocks| *blocks <= 16), "{sections:?}");
    }
}

#[test]
fn a_plan_is_formatted_and_shown_as_it_is_written_at_one_key() {
    let Some((stage, page)) = desk_with_page() else { return };
    let plan = "# Clean up\n\nRemove **$HOME/build** and `cache_old_files`, keep flags[0], \
        and see [the list](https://a.b 'T').\n\n\
        Empty __init__.py and rm -f src/*.orig src/*.rej \\*\n";
    let asked = stage.ask_about("ExitPlanMode", &json!({ "plan": plan }));
    show(&page, "Clean up");
    page.wait_for_text(
        ".plan .markdown",
        "Remove **$HOME/build** and cache_old_files, keep flags[0], and see the list (https://a.b “T”).",
    );
    // What looks like emphasis may be a part of a name or a pattern.
    page.wait_for_text(".plan .markdown", "Empty __init__.py and rm -f src/*.orig src/*.rej \\*");
    assert_eq!(page.count(".plan strong"), 2);
    page.press_keys("s");
    page.wait_for_text(".plan pre", "Remove **$HOME/build** and `cache_old_files`");
    page.press_keys("s");
    page.wait_until_gone(".plan pre");
    page.wait_for_text(".plan h1", "Clean up");
    page.click("[data-press=deny]");
    assert_eq!(asked.decision()["behavior"], "deny");

    // In a narrow window nothing of it is beyond an edge or below a button.
    let code = "rm -rf build; ".repeat(20);
    let plan = format!("# Move the ledger to one file\n\n```sh\n{code}\n```\n");
    let asked = stage.ask_about("ExitPlanMode", &json!({ "plan": plan }));
    show(&page, "Move the ledger");
    page.resize(320, 640);
    let hidden = "const words = document.createRange();
        words.selectNodeContents(document.querySelector('.plan h1'));
        const button = document.querySelector('.plan-source').getBoundingClientRect();
        const covers = (one) => one.left < button.right && one.right > button.left
            && one.top < button.bottom && one.bottom > button.top;
        const code = document.querySelector('.plan pre');
        return [[...words.getClientRects()].some(covers), code.scrollWidth > code.clientWidth]";
    assert_eq!(page.run(hidden, &json!([])), json!([false, false]));
    page.click("[data-press=deny]");
    assert_eq!(asked.decision()["behavior"], "deny");
}
