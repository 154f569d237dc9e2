//! What each kind of question looks like.

mod any_card;
mod buttons;
mod in_full;
mod tool_acts;

use callgate_testkit::telegram_html;
use callgate_wire::approval::{Action, AllowDemands, ApprovalRequest, Callback};
use callgate_wire::desk::{
    CardContent, ChangedLine, CommandSegment, ContentChange, LineOperation, SegmentStyle,
};
use callgate_wire::tool_act::{ToolKind, ToolShell};
use expect_test::{Expect, expect};

use super::*;
use crate::card::BlockedCall;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

fn card(body: CardContent) -> Card {
    let request = json!({
        "request_id": ID,
        "tool_name": "Tool",
        "tool_input": {},
        "cwd": "/home/ada/engine",
        "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2",
        "agent": "claude-code",
        "context": { "takes": ["edit"] },
    });
    let request = ApprovalRequest::decode(request.to_string().as_bytes()).unwrap();
    let mut card = Card::new(&request, "{}", 1_800_000_000_000, 1_800_000_300_000);
    let kind = match &body {
        CardContent::Command { .. } => ToolKind::Run(ToolShell::Usual),
        CardContent::Write { .. } => ToolKind::Write,
        CardContent::Edit { .. } => ToolKind::Edit,
        CardContent::Patch { .. } => ToolKind::Patch,
        CardContent::Notebook { .. } => ToolKind::Notebook,
        CardContent::Fetch { .. } => ToolKind::Fetch,
        _ => ToolKind::Other,
    };
    card.row.deed = kind.deed("Tool");
    card.body = body;
    card
}

/// Changes a card.
fn with(mut card: Card, change: impl FnOnce(&mut Card)) -> Card {
    change(&mut card);
    card
}

fn command(command: &str) -> CardContent {
    let segments =
        CommandSegment { text: command.into(), style: SegmentStyle::Word, breaks: false };
    CardContent::Command { segments: vec![segments], description: None }
}

/// A change of one line, or of none.
fn change(old: &str, new: &str, everywhere: bool) -> ContentChange {
    let line = |op, text: &str| ChangedLine { op, old: None, new: None, text: text.to_owned() };
    let removed = old.lines().map(|text| line(LineOperation::Removed, text));
    let added = new.lines().map(|text| line(LineOperation::Added, text));
    ContentChange { everywhere, place: None, lines: removed.chain(added).collect() }
}

fn offer(meaning: &str, lasts: &str) -> CardOffer {
    let action = Action::Always(0).to_string();
    CardOffer { action, meaning: meaning.into(), lasts: lasts.into(), changes_mode: false }
}

/// The unseen link that names the question.
fn link() -> String {
    format!("<a href=\"https://callgate.invalid/question/{ID}\">\u{200b}</a>")
}

/// The text and the rows of buttons; the link is checked and left out.
#[track_caller]
fn check(card: &Card, expected: &Expect) {
    let look = QuestionLook::of_open(card, &[]);
    let html = look.html.strip_prefix(&link()).expect("the link is at the beginning");
    telegram_html::check(&look.html).unwrap();
    let rows = look.buttons.unwrap()["inline_keyboard"].clone();
    let rows: Vec<String> = rows.as_array().unwrap().iter().map(row).collect();
    expected.assert_eq(&format!("{html}\n{}\n", rows.join("\n")));
}

fn row(row: &Value) -> String {
    let label = |button: &Value| {
        let data = button["callback_data"].as_str().unwrap();
        let callback = Callback::parse(data).unwrap();
        assert_eq!(callback.request_id.as_str(), ID);
        format!("[{} = {}]", button["text"].as_str().unwrap(), callback.action)
    };
    row.as_array().unwrap().iter().map(label).collect::<Vec<_>>().join(" ")
}

/// Fails unless Telegram would take this text, and a reply to it would find the question.
fn check_html(html: &str) {
    let parsed = telegram_html::check(html).unwrap_or_else(|why| panic!("{why}\n{html}"));
    assert!(parsed.utf16_len <= 4096, "{}", parsed.utf16_len);
    assert!(!parsed.text.trim_matches(['\u{200b}', ' ', '\n']).is_empty());
    assert!(html.starts_with(&link()), "{html}");
    assert!(!parsed.text.contains(ID), "nobody has to read the id: {html}");
    // Of more, Telegram drops the last ones.
    let marked = html.matches("</").count() - html.matches("</code></pre>").count();
    assert!(marked <= 100, "{marked} places are marked");
}

#[test]
fn a_command() {
    let CardContent::Command { segments, .. } = command("make build && echo \"<done>\"") else {
        unreachable!()
    };
    let body = CardContent::Command { segments, description: Some("Build the project".into()) };
    let last_words = Some("The sources are in place.".into());
    let because = Some("asked by rule 3".into());
    check(
        &with(card(body), |card| {
            (card.can_stop, card.last_words, card.row.because) = (true, last_words, because);
        }),
        &expect![[r#"
            <b>Claude Code</b> wants to run a command
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>
            <blockquote>The sources are in place.</blockquote>

            <i>Build the project</i>
            <pre><code class="language-bash">make build &amp;&amp; echo &quot;&lt;done&gt;&quot;</code></pre>

            <i>asked by rule 3</i>

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [⏹ Deny and stop = stop] [✍️ Reply = reply]
        "#]],
    );
}

#[test]
fn a_file_and_an_edit() {
    check(
        &card(CardContent::Write {
            path: "src/main.rs".into(),
            content: "fn main() {\n}\n".into(),
            lines: 2,
        }),
        &expect![[r"
            <b>Claude Code</b> wants to write a file
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            <code>src/main.rs</code> (2 lines)
            <pre>fn main() {
            }
            </pre>

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
        "]],
    );
    let changes = vec![change("b", "B", false), change("x", "y", true)];
    check(
        &card(CardContent::Edit { path: "notes.md".into(), changes }),
        &expect![[r#"
            <b>Claude Code</b> wants to change a file
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            <code>notes.md</code>
            <pre><code class="language-diff">-b
            +B</code></pre>
            <pre><code class="language-diff">Every occurrence:
            -x
            +y</code></pre>

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
        "#]],
    );
}

#[test]
fn a_plan_a_tool_of_a_server_and_anything_else() {
    check(
        &card(CardContent::Plan { markdown: "1. Read\n2. Write".into() }),
        &expect![[r"
            <b>Claude Code</b> has a plan
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            1. Read
            2. Write

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
        "]],
    );
    let (server, tool) = ("github".into(), "close_issue".into());
    check(
        &card(CardContent::Mcp { server, tool, input: "{\n  \"number\": 7\n}".into() }),
        &expect![[r#"
            <b>Claude Code</b> wants to use close_issue of github
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            <pre><code class="language-json">{
              &quot;number&quot;: 7
            }</code></pre>

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
        "#]],
    );
    check(
        &with(card(CardContent::Other { input: "{}".into() }), |card| card.row.session.clear()),
        &expect![[r#"
            <b>Claude Code</b> wants to use Tool
            📁 <code>/home/ada/engine</code>

            <pre><code class="language-json">{}</code></pre>

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
        "#]],
    );
}

#[test]
fn a_notebook_and_a_page() {
    let body = CardContent::Notebook {
        path: "/a.ipynb".into(),
        what: "replace the code cell `c1`".into(),
        content: "print(1)".into(),
    };
    check(
        &card(body),
        &expect![[r"
        <b>Claude Code</b> wants to change a notebook
        📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

        <code>/a.ipynb</code>
        replace the code cell `c1`
        <pre>print(1)</pre>

        ⏳ Waits 5 min, until 08:05 UTC

        [✅ Allow = allow] [❌ Deny = deny]
        [✍️ Reply = reply]
    "]],
    );
    let body =
        CardContent::Fetch { url: "https://example.org/?a&b".into(), what: Some("What?".into()) };
    check(
        &card(body),
        &expect![[r"
        <b>Claude Code</b> wants to fetch a page
        📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

        <code>https://example.org/?a&amp;b</code>
        <i>What?</i>

        ⏳ Waits 5 min, until 08:05 UTC

        [✅ Allow = allow] [❌ Deny = deny]
        [✍️ Reply = reply]
    "]],
    );
}

#[test]
fn what_is_left_out_can_be_asked_for() {
    let more = |card: &Card| {
        QuestionLook::of_open(card, &[]).buttons.unwrap().to_string().contains(":more")
    };
    assert!(!more(&card(command("ls"))));
    assert!(more(&card(command(&"long ".repeat(1_000)))));
    let words = Some("words ".repeat(200));
    assert!(more(&with(card(command("ls")), |card| card.last_words = words)));
    let new = "line\n".repeat(1_000);
    let changes = vec![change("x", &new, false)];
    assert!(more(&card(CardContent::Edit { path: "f".into(), changes })));
}

#[test]
fn what_became_of_it_stands_first_and_the_buttons_go() {
    let check = |state, expected: &str, last| {
        let mark = QuestionMark { state, text: "Done by <Ada>".into() };
        let offers = vec![offer("a", "b"), offer("c", "d")];
        let look =
            QuestionLook::of_marked(&with(card(command("ls")), |card| card.offers = offers), &mark);
        assert!(look.html.starts_with(&format!("{}{expected}", link())), "{}", look.html);
        assert!(!look.html.contains("Waits") && !look.html.contains("Always"), "{}", look.html);
        assert_eq!((look.buttons, look.last), (None, last));
    };
    check(MarkState::Waiting, "⏳ <b>Done by &lt;Ada&gt;</b>\n", false);
    check(MarkState::Allowed, "✅ <b>", true);
    check(MarkState::Denied, "❌ <b>", true);
    check(MarkState::Settled, "☑️ <b>", true);
    check(MarkState::Expired, "⌛ <b>", true);
    check(MarkState::Gone, "🚫 <b>", true);
}

#[test]
fn many_changes_are_counted_and_the_id_stays() {
    let changes = vec![change("x", "y", true); 5_000];
    let card = card(CardContent::Edit { path: "f".into(), changes });
    let look = QuestionLook::of_open(&card, &[]);
    check_html(&look.html);
    assert!(look.html.contains("… 4984 more changes"), "{}", look.html);
    assert!(look.buttons.unwrap().to_string().contains(":more"));
}

#[test]
fn long_folders_keep_their_end() {
    let project = format!("/{}/engine", "x".repeat(1_000));
    let card = with(card(command("ls")), |card| card.row.project = project);
    let html = QuestionLook::of_open(&card, &[]).html;
    assert!(html.contains("<code>…xxx") && html.contains("xxx/engine</code>"), "{html}");
}

#[test]
fn a_call_that_was_blocked() {
    let reason = Some("it pushes to a <shared> branch".into());
    let blocked = Some(BlockedCall { by: "auto mode".into(), reason });
    check(
        &with(card(command("git push")), |card| {
            (card.blocked, card.row.tool) = (blocked, "Bash".into());
        }),
        &expect![[r#"
        <b>Claude Code</b> was stopped: <b>auto mode</b> blocked <b>Bash</b>
        📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

        <pre><code class="language-bash">git push</code></pre>

        Because <i>it pushes to a &lt;shared&gt; branch</i>.

        Let it try again?

        ⏳ Waits 5 min, until 08:05 UTC

        [✅ Yes, try again = allow] [❌ No = deny]
    "#]],
    );
}

#[test]
fn a_question_whose_silence_is_a_no_says_so() {
    let card = with(card(command("make")), |card| card.no_answer_denies = true);
    let look = QuestionLook::of_open(&card, &[]);
    assert!(look.html.contains("until 08:05 UTC; no answer is a no"), "{}", look.html);
}

#[test]
fn a_question_says_that_something_hidden_could_run() {
    let mut card = card(command("X=[hidden 1: token]; $X"));
    let (text, _) = super::render_question(&card, &[], None);
    assert!(!text.contains("could run"), "{text}");
    card.hides_what_runs = true;
    let (text, _) = super::render_question(&card, &[], None);
    assert!(text.contains("⚠️ <b>Part of what is hidden could run.</b>"), "{text}");
}

#[test]
fn a_word_is_asked_for_in_a_reply() {
    let mut card = card(command("git push origin main"));
    card.row.summary = card.body.command();
    card.require_desk(true, AllowDemands::default());
    let asked = ask_words(&card, 7, None, ReplyPurpose::Confirm);
    let text = asked["text"].as_str().unwrap().replace(&link(), "");
    assert_eq!(
        text,
        "✍️ reply to this message with the last word of the command to allow:\n\
         <code>git push origin main</code>"
    );
    let field = &asked["reply_markup"]["input_field_placeholder"];
    assert_eq!(field, "the last word of the command");
}
