//! A daemon that ends and comes back: nothing that was pressed is lost.

use callgate_approval::channel::MarkState;
use callgate_wire::approval::{Action, Decision};

use crate::house::{House, request};

#[test]
fn a_hook_that_waits_finds_the_next_daemon() {
    let mut house = House::new();
    let request = request("make");
    let id = request.request_id.clone();
    let asked = house.ask(request);
    house.shown(&id);
    house.stop();
    house.start().unwrap();
    house.shown(&id);
    house.press(&id, Action::Allow);
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Allow);
    assert_eq!(house.mark(&id).state, MarkState::Allowed);
    assert_eq!(house.kinds(&id).iter().filter(|kind| *kind == "asked").count(), 1);
    house.assert_chain();
}

#[test]
fn what_was_decided_before_the_hook_is_back_reaches_it() {
    let mut house = House::new();
    let request = request("make");
    let id = request.request_id.clone();
    // It has asked, and dies with the daemon; another asker comes back for it later.
    let stream = std::os::unix::net::UnixStream::connect(house.socket()).unwrap();
    std::io::Write::write_all(&mut &stream, &request.to_line()).unwrap();
    house.shown(&id);
    house.stop();
    drop(stream);
    house.start().unwrap();
    house.press(&id, Action::Allow);
    assert_eq!(house.mark(&id).state, MarkState::Waiting);
    assert_eq!(house.ask(request).join().unwrap().unwrap().decision, Decision::Allow);
    assert_eq!(house.mark(&id).state, MarkState::Allowed);
    house.assert_chain();
}
