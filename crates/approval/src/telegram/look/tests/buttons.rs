//! Answers and offers as buttons.

use super::*;

#[test]
fn questions_with_answers_have_those_for_buttons() {
    let choice = |label: &str, description: Option<&str>| CardChoice {
        label: label.into(),
        description: description.map(Into::into),
        action: String::new(),
    };
    let colour = CardPicker {
        question: "Which colour?".into(),
        choices: vec![choice("Red", Some("warm")), choice("Blue", None)],
        many: false,
    };
    let sizes = CardPicker {
        question: "Which sizes?".into(),
        choices: vec![choice("S", None), choice("L", None)],
        many: true,
    };
    let question = "Which colour?\nWhich sizes?".into();
    let body = CardContent::Ask { question, detail: None };
    let offers = vec![offer("anything", "for good")];
    check(
        &with(card(body), |card| {
            (card.pickers, card.offers) = (vec![colour, sizes], offers);
        }),
        &expect![[r"
            <b>Claude Code</b> asks
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>


            <b>1. Which colour?</b>
            • Red — warm
            • Blue

            <b>2. Which sizes?</b> (several)
            • S
            • L

            ⏳ Waits 5 min, until 08:05 UTC

            [1: Red = pick0.0]
            [1: Blue = pick0.1]
            [2: S = pick1.0]
            [2: L = pick1.1]
            [✅ Done = done]
            [❌ Deny = deny]
            [✍️ Reply = reply]
        "]],
    );
    let detail = Some("To the first machine.".into());
    let body = CardContent::Ask { question: "Deploy?".into(), detail };
    check(
        &with(card(body), |card| card.row.agent = "A script".into()),
        &expect![[r"
            <b>A script</b> asks
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            <b>Deploy?</b>
            To the first machine.

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
        "]],
    );
}

#[test]
fn more_answers_than_telegram_takes_have_no_buttons() {
    let choices = (0..32).map(|at: u8| CardChoice {
        label: at.to_string(),
        description: None,
        action: Action::Pick { question: 0, option: at }.to_string(),
    });
    let picker = CardPicker { question: "?".into(), choices: choices.collect(), many: false };
    let body = CardContent::Ask { question: "?\n?\n?".into(), detail: None };
    let card = with(card(body), |card| card.pickers = vec![picker; 3]);
    let rows = keyboard::build_buttons(&card, &[], LookCut::Nothing);
    assert_eq!(rows["inline_keyboard"].as_array().unwrap().len(), 2);
}

#[test]
fn one_offer_is_read_on_its_button() {
    let offers = vec![offer("make build *", "for this session")];
    check(
        &with(card(command("make build")), |card| card.offers = offers),
        &expect![[r#"
            <b>Claude Code</b> wants to run a command
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            <pre><code class="language-bash">make build</code></pre>

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
            [♾ Always: make build * · for this session = always]
        "#]],
    );
}

#[test]
fn several_offers_and_long_ones_are_spelled_out_in_the_text() {
    let long = "work in /home/ada/a/rather/long/path/to/somewhere; accept all edits";
    let offers = vec![offer("make build *", "for this session"), offer(long, "for good")];
    check(
        &with(card(command("make build")), |card| card.offers.clone_from(&offers)),
        &expect![[r#"
            <b>Claude Code</b> wants to run a command
            📁 <code>/home/ada/engine</code> · session <code>34fb81ac</code>

            <pre><code class="language-bash">make build</code></pre>

            Always:
            1. <code>make build *</code> — for this session
            2. <code>work in /home/ada/a/rather/long/path/to/somewhere; accept all edits</code> — for good

            ⏳ Waits 5 min, until 08:05 UTC

            [✅ Allow = allow] [❌ Deny = deny]
            [✍️ Reply = reply]
            [♾ Always 1: make build * = always]
            [♾ Always 2: work in /home/ada/a/rather/long/pat… = always1]
        "#]],
    );
    let alone = with(card(command("make build")), |card| card.offers = offers[1..].to_vec());
    let look = QuestionLook::of_open(&alone, &[]);
    assert!(look.html.contains("accept all edits</code> — for good"), "{}", look.html);
}
