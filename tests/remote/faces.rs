//! A question of a box on a phone and at the terminal: it names its machine, and a press answers
//! it.

use callgate_testkit::process::{DEADLINE, Piped};
use callgate_testkit::telegram::{Message, Telegram};
use callgate_testkit::terminal::Terminal;
use callgate_wire::desk::RemoteState;

use super::fixture::{BOX, House};

const ADA: i64 = 7;

/// Links Ada's phone, as she does it.
fn link_phone(house: &House, phone: &Telegram) {
    let mut pair = Piped::spawn(house.on_laptop(&["pair"]));
    let code = loop {
        if let Some(code) = pair.recv_line().strip_prefix("    /pair ") {
            break code.to_owned();
        }
    };
    phone.send(ADA, ADA, &format!("/pair {code}"));
    assert!(pair.wait_exit(DEADLINE).success(), "{}", pair.stderr());
}

/// Waits for the question about a command.
fn question_on(phone: &Telegram, command: &str) -> Message {
    phone.wait_for(command, |seen| {
        let is_it = |message: &&Message| {
            message.shape.text.contains(command) && !message.shape.buttons.is_empty()
        };
        seen.chat(ADA).find(is_it).cloned()
    })
}

/// Presses a button, and returns what the phone shows then.
fn press(phone: &Telegram, question: &Message, button: &str) -> String {
    let press = phone.press(ADA, ADA, question.id, button);
    phone.wait_for("an answer to the press", |seen| seen.toast(&press).cloned()).text
}

#[test]
fn a_question_of_a_box_names_its_machine_on_the_phone_and_is_answered_there() {
    let phone = Telegram::start();
    phone.add_private(ADA, "Ada");
    let house = House::over_pipe();
    house.laptop.write_private("token", phone.token());
    house.laptop.write_settings(&format!(
        "timeout_seconds = 120\n[telegram]\ntoken_file = {:?}\napi_url = {:?}\n",
        house.laptop.text_path("token"),
        phone.url()
    ));
    house.up();
    house.wait_until_connected();
    link_phone(&house, &phone);

    let hook = house.ask("make there");
    let there = question_on(&phone, "make there");
    assert!(there.shape.text.contains(BOX), "{}", there.shape.text);
    let own = House::start_hook(house.on_laptop(&["hook"]), "make here", house.laptop.folder());
    let here = question_on(&phone, "make here");
    assert!(!here.shape.text.contains(BOX), "{}", here.shape.text);
    assert_eq!(press(&phone, &there, "Allow"), "Allowed by Ada");
    assert_eq!(hook.decision()["behavior"], "allow");
    let shown = phone.wait_for("what became of it", |seen| {
        let shape = &seen.message(ADA, there.id)?.shape;
        shape.buttons.is_empty().then(|| shape.text.clone())
    });
    assert!(shown.contains("Allowed by Ada") && shown.contains(BOX), "{shown}");
    assert_eq!(press(&phone, &here, "Deny"), "Denied by Ada");
    assert_eq!(own.decision()["behavior"], "deny");

    // The phone says as well that a press waits for the line.
    let hook = house.ask("make later");
    let later = question_on(&phone, "make later");
    house.cut();
    let told = press(&phone, &later, "Allow");
    assert!(told.contains(&format!("{BOX} cannot be reached")), "{told}");
    house.mend();
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied();
    phone.assert_nothing_refused();
}

#[test]
fn a_question_of_a_box_names_its_machine_at_the_terminal() {
    let house = House::over_pipe();
    let terminal = Terminal::spawn(&house.on_laptop(&["up"]));
    house.until("the box is connected", || {
        house.remote().is_some_and(|view| view.state == RemoteState::Connected)
    });
    let hook = house.ask("make there");
    terminal.wait_for(&format!("on {BOX}"));
    terminal.wait_for("make there");
    let mut ada = house.person("Ada");
    let row = ada.question(&house, "make there");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    terminal.wait_for("Allowed by Ada");
}
