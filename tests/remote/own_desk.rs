//! A box with a desk of its own: the relay is its upper channel, as any other linked viewer.

use std::process::Stdio;

use callgate_client::viewer::Viewer;
use callgate_testkit::process::Group;
use callgate_wire::desk::RemoteState;

use super::fixture::House;

#[test]
fn the_first_link_is_made_at_once_and_the_next_needs_a_yes_there() {
    let house = House::over_pipe();
    let mut up = house.on_box(&["up", "--no-terminal"]);
    up.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _desk = Group::spawn(up);
    let pid = house.until("the box's desk serves", || {
        Some(Viewer::connect(&house.box_desk_socket()).ok()?.status().ok()?.pid)
    });
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
