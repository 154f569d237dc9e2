//! Full rooms, and who has to go.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_full_room_is_cleared_from_its_oldest_seat() {
    let room = Room::new(2);
    let begun = Instant::now();
    let (mut first, mut second) = (room.enter().await, room.enter().await);
    assert_eq!(begun.elapsed(), Duration::ZERO, "there was room");
    let third = room.enter().await;
    assert!(begun.elapsed() >= STAY, "nobody has to go at once");
    first.wait_until_cleared().await;
    tokio::select! {
        biased;
        () = second.wait_until_cleared() => panic!("the second one may stay"),
        () = std::future::ready(()) => {}
    }
    // A seat that was left is taken without waiting.
    let begun = Instant::now();
    drop(third);
    let _fourth = room.enter().await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_gets_a_seat() {
    let room = Room::new(1);
    let waiting: Vec<_> = (0..50)
        .map(|_| {
            let room = Arc::clone(&room);
            tokio::spawn(async move { drop(room.enter().await) })
        })
        .collect();
    for one in waiting {
        one.await.unwrap();
    }
}
