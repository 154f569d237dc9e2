//! A long answer that streams into the chat: how long the page keeps its frames waiting.

use callgate_testkit::browser::Browser;
use callgate_testkit::messages::{Messages, Turn};
use serde_json::json;

use crate::composer_key;
use crate::desk::PageHome;
use crate::limits::LimitedFigure;
use crate::series::median;
use crate::views::{FRAMES, LONGEST_FRAME, number, take_longest};

/// How many tokens the answer has, and how many characters one of them.
const TOKENS: usize = 20_000;
const TOKEN: usize = 4;
/// A part of the answer: prose, a list, a table and code.
const TEXT: &str = "## What the ledger keeps\n\nIt keeps **every** question, every *answer* and \
every decision in one file, each entry chained to the one before, so that `callgate log --verify` \
notices whether one was changed or removed since it was written.\n\n- what was asked, and by whom\n\
- who answered, where, and at what time of the day it was\n\n| entry | meaning |\n|---|---|\n| asked \
| a question |\n| decided | its answer |\n\n```rust\nfn main() {\n    println!(\"{}\", 6 * 7);\n}\n\
```\n\n";

/// Sends a message, and returns the seconds until its answer is whole and drawn.
const SEND: &str = "
    const [words, last, done] = arguments;
    const field = document.querySelector('[data-message]');
    field.value = words;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    document.querySelector('[data-send]').click();
    const begin = performance.now();
    const look = () => {
      const turn = [...document.querySelectorAll('[data-turn]')].at(-1);
      const isHere = turn?.textContent.includes(words) && turn.dataset.over === 'true';
      if (isHere && turn.querySelector('.reply-text')?.textContent.includes(last))
        done((performance.now() - begin) / 1000);
      else setTimeout(look, 20);
    };
    look();
";

pub(crate) fn measure(rounds: usize) -> Vec<LimitedFigure> {
    let answer = |round: usize| {
        let text: String = TEXT.chars().cycle().take(TOKENS * TOKEN).collect();
        Turn::text(format!("{text}\n\nThis was answer {round}.")).pieces(TOKEN)
    };
    let model = Messages::start((0..rounds).map(answer));
    let home = PageHome::with_model(&model.url());
    let browser = crate::desk::browser();
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": FRAMES }));
    home.pair(&browser);
    begin(&browser);
    let (mut frames, mut seconds) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // Each in a conversation of its own.
        browser.click("[data-new]");
        browser.wait_until_gone("[data-turn]");
        take_longest(&browser);
        let last = format!("This was answer {round}.");
        let taken = browser.run_async(SEND, &json!([format!("Question {round}"), last]));
        seconds.push(number(&taken));
        frames.push(take_longest(&browser));
    }
    model.assert_played();
    println!("an answer of {TOKENS} tokens was drawn within {:.1} s", median(seconds));
    let what = "longest frame, chat while 20,000 tokens stream";
    let frame = LimitedFigure::at_most(what, median(frames), "ms", LONGEST_FRAME);
    vec![frame, composer_key::measure(&browser)]
}

/// Opens the chat, which begins in the home folder.
fn begin(browser: &Browser) {
    let _ = browser.run("location.hash = '#/chat'", &json!([]));
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
}
