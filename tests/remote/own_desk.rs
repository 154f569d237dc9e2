//! A box with a desk of its own: the relay is its upper channel, as any other linked viewer.

use std::process::Stdio;

use callgate_client::viewer::Viewer;
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_wire::desk::RemoteState;

use super::fixture::{BOX, House, installed_hook};

/// Starts the desk that the box has of its own.
fn start_own_desk(house: &House) -> (Group, u32) {
    let mut up = house.on_box(&["up", "--no-terminal"]);
    up.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let desk = Group::spawn(up);
    let pid = house.until("the box's desk serves", || {
        Some(Viewer::connect(&house.box_desk_socket()).ok()?.status().ok()?.pid)
    });
    (desk, pid)
}

const SETTINGS: &str = ".claude/settings.json";

/// Returns true if a call that the rules of the box deny is denied when its agent starts what its
/// settings say.
fn is_gated(house: &House) -> bool {
    let rules = "[[rule]]\nname = \"no removing\"\ndecide = \"deny\"\ncommand = \"rm *\"\n";
    house.machine.write(".config/callgate/rules.toml", rules);
    let hook = house.as_box_user(installed_hook(&house.machine));
    let hook = House::start_hook(hook, "rm -rf build", house.machine.folder());
    hook.decision()["behavior"] == "deny"
}

#[test]
fn a_box_that_was_gated_before_is_gated_afterwards() {
    let house = House::over_pipe();
    house.machine.write(SETTINGS, "{\"theme\": \"dark\"}\n");
    assert!(run(house.on_box(&["install"]), DEADLINE).status.success());
    let before = house.machine.text(SETTINGS);
    let (_desk, pid) = start_own_desk(&house);
    house.up();
    let said = house.run_on_laptop(&["remote", "add", BOX]).success().stdout;
    assert!(said.contains("keeps its hooks, which start "), "{said}");
    assert_eq!(house.machine.text(SETTINGS), before, "{said}");
    assert!(is_gated(&house));
    let said = house.run_on_laptop(&["remote", "remove", BOX]).success().stdout;
    assert!(said.contains("keeps its hooks, which start "), "{said}");
    assert_eq!(house.machine.text(SETTINGS), before, "{said}");
    assert!(is_gated(&house));
    let own = Viewer::connect(&house.box_desk_socket()).unwrap().status().unwrap();
    assert_eq!(own.pid, pid, "its desk stays");
}

#[test]
fn hooks_whose_program_is_gone_are_taken_over() {
    let house = House::over_pipe();
    house.machine.write(SETTINGS, "{\"theme\": \"dark\"}\n");
    assert!(run(house.on_box(&["install"]), DEADLINE).status.success());
    let hook = env!("CARGO_BIN_EXE_callgate-hook");
    let gone = house.machine.text(SETTINGS).replace(hook, "/gone/callgate-hook");
    house.machine.write(SETTINGS, &gone);
    drop(house.run_on_laptop(&["remote", "add", BOX]).success());
    let settings = house.machine.text(SETTINGS);
    assert!(settings.contains("/bin/callgate-hook") && !settings.contains("/gone/"), "{settings}");
    drop(house.run_on_laptop(&["remote", "remove", BOX]).success());
    assert_eq!(house.machine.text(SETTINGS), "{\"theme\": \"dark\"}\n");
}

#[test]
fn somebody_at_the_desk_of_the_box_answers_beside_the_one_above() {
    let house = House::over_pipe();
    let (_desk, _) = start_own_desk(&house);
    let mut bo = house.person_on_box("Bo");
    house.up();
    // Somebody there has to allow the link of the desk above.
    let link = house.until("the link is asked about", || bo.inbox().pop());
    assert!(bo.allow(&link).0);
    house.wait_until_connected();
    let mut ada = house.person("Ada");
    let hook = house.ask("make");
    let above = ada.question(&house, "make");
    let row = bo.question(&house, "make");
    assert!(bo.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.until("it is withdrawn above", || ada.inbox().is_empty());
    let decided = house.box_entries().into_iter().rfind(|entry| entry.kind == "decided");
    let decided = decided.unwrap().body;
    assert!(decided.contains("\"Bo\""), "{decided}");
    let (is_done, said) = ada.deny(&above);
    assert!(!is_done, "{said}");
}

#[test]
fn the_first_link_is_made_at_once_and_the_next_needs_a_yes_there() {
    let house = House::over_pipe();
    let (_desk, pid) = start_own_desk(&house);
    house.up();
    house.wait_until_connected();
    let status = Viewer::connect(&house.box_desk_socket()).unwrap().status().unwrap();
    assert_eq!((status.pid, status.is_relay, status.relays.len()), (pid, false, 1), "{status:?}");
    let mut ada = house.person("Ada");
    let hook = house.ask("make");
    let row = ada.question(&house, "make");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");

    // A cut changes nothing: the key is in the memory of the laptop's desk.
    house.cut();
    house.mend();
    house.wait_until_connected();
    // It is nowhere else, so another process has to be let in by somebody there.
    house.kill_desk();
    house.up();
    let view = house.wait_for_state(RemoteState::Waiting);
    assert!(view.text.is_some(), "{view:?}");
    let still = Viewer::connect(&house.box_desk_socket()).unwrap().status().unwrap();
    assert_eq!((still.pid, still.relays.len()), (pid, 0), "{still:?}");
}
