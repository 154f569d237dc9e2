//! A walk through all views of the page with many open questions and a long ledger: the size of the
//! document, the longest frame, and the time of what people wait for.

use std::thread;
use std::time::Duration;

use callgate_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::desk::{self, PageHome, SETTLED, STARTER, wait_until_live};
use crate::limits::LimitedFigure;
use crate::open_questions::OpenQuestions;
use crate::series::median;

/// How many questions are open, and how many come while the inbox is shown.
const OPEN: usize = 1_000;
const MORE: usize = 20;

/// What the browser may load before it shows anything, in kilobytes.
const MOST_LOADED: f64 = 120.0;
/// How many nodes the document may have.
const MOST_NODES: f64 = 2_000.0;
/// The longest time between two frames, in milliseconds.
pub(crate) const LONGEST_FRAME: f64 = 100.0;
/// How long a backtest of the whole ledger may take, in seconds.
const LONGEST_BACKTEST: f64 = 2.0;
/// How long a search through the whole ledger may take, in seconds.
const LONGEST_SEARCH: f64 = 1.0;
/// The bound of a daemon with this many open questions, with two pages, in megabytes.
const MOST_MEMORY: f64 = 44.0;

/// Notes the longest time between two frames, from the beginning of the page on.
pub(crate) const FRAMES: &str = "
    window.benchFrames = { longest: 0 };
    let last = 0;
    const frame = (now) => {
      if (last) benchFrames.longest = Math.max(benchFrames.longest, now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
";

/// Scrolls a part of the page by most of its height in each frame, at most so many times and not
/// beyond so many rows. Returns the largest number of nodes that the document had.
const SCROLL: &str = "
    const [css, frames, rows, done] = arguments;
    const size = () => {
      const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
      let nodes = 1;
      while (walker.nextNode()) nodes += 1;
      return nodes;
    };
    let [nodes, at] = [0, 0];
    const step = () => {
      const box = document.querySelector(css);
      const known = Number(document.querySelector('[aria-setsize]')?.getAttribute('aria-setsize'));
      nodes = Math.max(nodes, size());
      at += 1;
      if (!box || at > frames || known >= rows) return done(nodes);
      box.scrollTop += box.clientHeight * 0.9;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
";

/// Types into the search, and returns the seconds until the only result is shown.
const SEARCH: &str = "
    const [text, done] = arguments;
    const field = document.getElementById('search');
    const begin = performance.now();
    const look = () => {
      const rows = document.querySelectorAll('#decisions > li');
      if (rows.length === 1 && rows[0].textContent.includes(text)) {
        done((performance.now() - begin) / 1000);
      } else requestAnimationFrame(look);
    };
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    look();
";

/// Sends a request as the page does. Returns the seconds, the reports of progress and the answer.
const REQUEST: &str = "
    const [body, done] = arguments;
    const key = localStorage.getItem('callgate.key');
    const begin = performance.now();
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
    fetch('/api/desk', { method: 'POST', headers, body: JSON.stringify(body) })
      .then((answer) => answer.text())
      .then((text) => {
        const lines = text.trim().split('\\n').map((line) => JSON.parse(line));
        const seconds = (performance.now() - begin) / 1000;
        done({ seconds, progress: lines.length - 1, answer: lines.at(-1) });
      });
";

/// Returns the compressed kilobytes of the page and everything that it loads.
const LOADED: &str = "
    const files = [...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource')];
    const own = files.filter((file) => !new URL(file.name).pathname.startsWith('/api/'));
    return own.reduce((sum, file) => sum + file.encodedBodySize, 0) / 1000;
";

/// A view: its name, what it shows when it is there, and the part that is scrolled.
struct View {
    name: &'static str,
    content: &'static str,
    scrolled: &'static str,
}

const VIEWS: [View; 4] = [
    View { name: "inbox", content: ".question-row", scrolled: "#list-scroll" },
    View { name: "history", content: "#decisions > li", scrolled: "#history-scroll" },
    View { name: "rules", content: "textarea", scrolled: "#rules-scroll" },
    View { name: "sessions", content: ".session-grid > *", scrolled: ".scroll" },
];

/// The figures of one walk.
struct Walk {
    /// The longest frame of each view.
    frames: [f64; VIEWS.len()],
    /// The most nodes of the document in each view.
    nodes: [f64; VIEWS.len()],
    search: f64,
}

pub(crate) fn measure(home: &PageHome, browser: &Browser, walks: usize) -> Vec<LimitedFigure> {
    let loaded = number(&browser.run(LOADED, &json!([])));
    let backtests = (0..walks).map(|_| backtest(browser)).collect();
    let other = desk::browser();
    home.pair_another(browser, &other);
    let _open = OpenQuestions::ask(&home.home.socket(), OPEN);
    home.home.wait_for_open(OPEN as u64);
    thread::sleep(SETTLED);
    let memory = home.memory();
    // It would take processor time from the page that is measured.
    drop(other);
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": FRAMES }));
    let walks: Vec<Walk> = (0..walks).map(|number| walk(home, browser, number)).collect();
    let most_nodes = most_nodes(&walks);
    let mut lines = vec![
        LimitedFigure::at_most("first load, compressed", loaded, "KB", MOST_LOADED),
        LimitedFigure::at_most("nodes of the document", most_nodes, "nodes", MOST_NODES),
    ];
    for (at, view) in VIEWS.iter().enumerate() {
        let longest = median(walks.iter().map(|walk| walk.frames[at]).collect());
        let what = format!("longest frame, {}", view.name);
        lines.push(LimitedFigure::at_most(&what, longest, "ms", LONGEST_FRAME));
    }
    let search = median(walks.iter().map(|walk| walk.search).collect());
    lines.extend([
        LimitedFigure::at_most("search", search, "s", LONGEST_SEARCH),
        LimitedFigure::at_most("backtest", median(backtests), "s", LONGEST_BACKTEST),
        LimitedFigure::at_most(
            "daemon with 1,000 open questions and two pages",
            memory,
            "MB",
            MOST_MEMORY,
        ),
    ]);
    lines
}

/// Prints how many nodes the document had in each view, and returns the most.
fn most_nodes(walks: &[Walk]) -> f64 {
    let most_in = |at: usize| walks.iter().map(|walk| walk.nodes[at]).fold(0.0, f64::max);
    let counts = std::array::from_fn::<_, { VIEWS.len() }, _>(most_in);
    let words: Vec<String> =
        VIEWS.iter().zip(counts).map(|(view, count)| format!("{} {count}", view.name)).collect();
    println!("nodes of the document: {}", words.join(", "));
    counts.into_iter().fold(0.0, f64::max)
}

/// Applies the starter rules to the whole ledger, and returns the seconds.
fn backtest(browser: &Browser) -> f64 {
    let request = json!({ "id": "bench", "kind": "backtest", "text": STARTER });
    let answered = browser.run_async(REQUEST, &json!([request]));
    assert_eq!(answered["answer"]["kind"], "backtested", "{answered}");
    assert!(number(&answered["progress"]) > 0.0, "a backtest reports its progress: {answered}");
    number(&answered["seconds"])
}

/// Loads the page and walks through its views.
fn walk(home: &PageHome, browser: &Browser, number_of_walk: usize) -> Walk {
    go(browser, "inbox");
    browser.reload();
    wait_until_live(browser);
    let mut walk = Walk { frames: [0.0; VIEWS.len()], nodes: [0.0; VIEWS.len()], search: 0.0 };
    for (at, view) in VIEWS.iter().enumerate() {
        let View { name, content, scrolled } = view;
        go(browser, name);
        browser.wait_for(name, &format!("return document.querySelector('{content}')"));
        let more = (at == 0).then(|| OpenQuestions::ask(&home.home.socket(), MORE));
        let nodes = browser.run_async(SCROLL, &json!([scrolled, 400, 3_000]));
        walk.nodes[at] = number(&nodes);
        match *name {
            "inbox" => browser.press_keys(&"j".repeat(20)),
            "history" => {
                let text = format!("file-{}4.json", 150 + number_of_walk);
                walk.search = number(&browser.run_async(SEARCH, &json!([text])));
            }
            _ => {}
        }
        drop(more);
        thread::sleep(Duration::from_millis(300));
        walk.frames[at] = take_longest(browser);
    }
    walk
}

/// Returns the longest time between two frames since the last call, in milliseconds.
pub(crate) fn take_longest(browser: &Browser) -> f64 {
    let take = "const { longest } = benchFrames; benchFrames.longest = 0; return longest";
    number(&browser.run(take, &json!([])))
}

/// Goes to a view.
fn go(browser: &Browser, view: &str) {
    let _ = browser.run(&format!("location.hash = '#/{view}'"), &json!([]));
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}
