//! How soon a new question is seen: from before the hook is started until the browser has drawn it.

use std::io::Write;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use callgate_testkit::browser::Browser;
use serde_json::json;

use crate::desk::PageHome;
use crate::home::INPUT;
use crate::limits::LimitedFigure;
use crate::series::Series;

/// The most milliseconds until a question is in the list, at the median.
const MOST: f64 = 50.0;
/// The pause between two questions: it is no multiple of a frame's time.
const PAUSE: Duration = Duration::from_millis(307);
const ESCAPE: &str = "\u{e00c}";

/// Notes when the row and the card of each question were drawn. A message that is posted after a
/// change of the document arrives once the frame with the change has been drawn.
const WATCH: &str = r#"
    const seen = window.benchSeen = { row: {}, card: {} };
    const places = { row: ".question-row .what", card: ".card[data-question] .card-inner" };
    const look = () => {
      for (const [kind, css] of Object.entries(places)) {
        for (const place of document.querySelectorAll(css)) {
          const name = /arrival-\d+/.exec(place.textContent)?.[0];
          const { top, bottom } = place.getBoundingClientRect();
          if (!name || name in seen[kind] || bottom <= 0 || top >= innerHeight) continue;
          seen[kind][name] = 0;
          const channel = new MessageChannel();
          channel.port1.onmessage = () => { seen[kind][name] = Date.now(); };
          channel.port2.postMessage(null);
        }
      }
    };
    new MutationObserver(look).observe(document.body,
      { subtree: true, childList: true, characterData: true });
"#;

/// A hook that waits for an answer. Dropping it withdraws its question.
struct WaitingAgent(Child);

impl WaitingAgent {
    fn ask(home: &PageHome, command: &str) -> Self {
        let mut hook = home.home.hook();
        hook.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = hook.spawn().unwrap();
        let input = INPUT.replace("make build", command);
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Self(child)
    }
}

impl Drop for WaitingAgent {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

pub(crate) fn measure(home: &PageHome, browser: &Browser, rounds: usize) -> LimitedFigure {
    browser.wait_for("an empty inbox", "return document.querySelector('[data-try]')");
    let _ = browser.run(WATCH, &json!([]));
    let mut series = Series::<2>::default();
    for round in 0..=rounds {
        let name = format!("arrival-{round}");
        let begin = now_ms();
        let agent = WaitingAgent::ask(home, &format!("deploy {name}"));
        browser.wait_for("the question", &format!("return benchSeen.card['{name}']"));
        let at = |kind: &str| {
            let at = browser.run(&format!("return benchSeen.{kind}['{name}']"), &json!([]));
            at.as_f64().expect("it was drawn") - begin
        };
        // The first round warms up.
        if round > 0 {
            series.push([at("row"), at("card")]);
        }
        drop(agent);
        browser
            .wait_for("the end", "return !document.querySelector('.question-row:not(.is-over)')");
        // The next question is shown by itself if none is chosen.
        browser.press_keys(ESCAPE);
        thread::sleep(PAUSE);
    }
    let [row, card] = series.medians();
    println!("a new question is in the list after {row:.0} ms, and can be read after {card:.0} ms");
    LimitedFigure::at_most("a new question is seen after", row, "ms", MOST)
}

fn now_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1e3
}
