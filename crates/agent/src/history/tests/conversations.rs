//! Which conversations there are, what they are called, and their pages.

use super::*;

fn ids(listed: &[session::ConversationSummary]) -> Vec<&str> {
    listed.iter().map(|one| one.conversation_id.as_str()).collect()
}

async fn title(history: &History, id: &str) -> Option<String> {
    let listed = history.list_conversations(100, None).await.unwrap();
    listed.into_iter().find(|one| one.conversation_id == id).unwrap().title
}

#[tokio::test]
async fn they_are_listed_when_they_are_written_to_the_last_one_first() {
    let house = House::new();
    let history = &house.history;
    assert_eq!(history.last().await.unwrap(), None);
    let made = history.create_conversation(None, Some("Named")).await.unwrap();
    drop(history.hold("looked at").await.unwrap());
    assert_eq!(history.list_conversations(10, None).await.unwrap(), []);
    keep(history, "a", "u hi | a ok").await;
    keep(history, &made, "u hi").await;
    keep(history, "a", "u on").await;
    keep(history, "b", "u hi").await;
    let listed = history.list_conversations(10, None).await.unwrap();
    assert_eq!(ids(&listed), ["b", "a", &made]);
    assert_eq!((listed[1].length, listed[2].title.as_deref()), (3, Some("Named")));
    assert!(
        listed[1].created_at > 1_700_000_000_000 && listed[1].updated_at > listed[1].created_at
    );
    let rest = history.list_conversations(10, Some(listed[1].updated_at)).await.unwrap();
    assert_eq!(ids(&rest), [&made]);
    assert_eq!(ids(&history.list_conversations(1, None).await.unwrap()), ["b"]);
    assert_eq!(history.last().await.unwrap().as_deref(), Some("b"));
    assert_eq!(house.another().last().await.unwrap().as_deref(), Some("b"));
    assert_eq!((history.length("a").await.unwrap(), history.length("none").await.unwrap()), (3, 0));
}

#[tokio::test]
async fn they_are_found_by_words_of_their_titles_and_messages() {
    let house = House::new();
    let history = &house.history;
    keep(history, "a", "u Where is the LEDGER kept? | a In one file, with an (Änderung)").await;
    keep(history, "b", "u [png] | a ?ledger | u !ledger | a done").await;
    keep(history, "c", "u hi | a ok").await;
    history.rename_conversation("c", "A file of the Ledger").await.unwrap();
    let found = async |words: &str, limit: usize| {
        let found = history.search_conversations(words, limit, None).await.unwrap();
        found.into_iter().map(|one| one.conversation_id).collect::<Vec<_>>().concat()
    };
    for (words, expected) in [
        ("ledger", "ca"),
        ("  kept   where ", "a"),
        ("änderung", "a"),
        // Words of two messages.
        ("where file", ""),
        // What tools were called with, and what they returned.
        ("tool_use", ""),
        ("text", ""),
        ("done", "b"),
        ("", "cba"),
        ("%", ""),
    ] {
        assert_eq!(found(words, 10).await, expected, "{words:?}");
    }
    assert_eq!(found("ledger", 1).await, "c");
    let listed = history.list_conversations(10, None).await.unwrap();
    let older = history.search_conversations("ledger", 10, Some(listed[0].updated_at)).await;
    assert_eq!(ids(&older.unwrap()), ["a"]);
}

#[tokio::test]
async fn a_search_reads_only_so_much() {
    let house = House::new();
    house
        .write_rows("old", &[r#"{"role":"user","content":[{"type":"text","text":"the ledger"}]}"#]);
    let large = "x".repeat(MOST_SEARCHED);
    let large = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{large}"}}]}}"#);
    let found = async || house.history.search_conversations("ledger", 10, None).await.unwrap();
    assert_eq!(ids(&found().await), ["old"]);
    house.write_rows("new", &[&large]);
    assert_eq!(ids(&found().await), Vec::<&str>::new());
    house.history.rename_conversation("old", "The ledger").await.unwrap();
    assert_eq!(ids(&found().await), ["old"]);
}

#[tokio::test]
async fn titles_are_given_or_the_first_words_without_secrets() {
    let house = House::new();
    let history = &house.history;
    let long = format!("fix\n the\tbug with ghp_{} {}", "a1B2c3D4e5F6".repeat(3), "so ".repeat(99));
    let picture = read("u [png]").remove(0);
    let mut held = history.hold("a").await.unwrap();
    let say = |messages| HistoryStep { messages, begins_turn: true, ..HistoryStep::default() };
    held.commit(say(vec![picture])).await.unwrap();
    assert_eq!(title(history, "a").await, None);
    held.commit(say(vec![ChatMessage::user(vec![Block::text(long)])])).await.unwrap();
    held.commit(turn("u later")).await.unwrap();
    let found = title(history, "a").await.unwrap();
    assert!(found.starts_with("fix the bug with [hidden 1: "), "{found}");
    assert!(found.ends_with('…') && found.chars().count() == LONGEST_OPENING, "{found}");
    assert!(!found.contains("a1B2"), "{found}");
    history.rename_conversation("a", "Mine").await.unwrap();
    assert_eq!(title(history, "a").await.as_deref(), Some("Mine"));
    held.clear().await.unwrap();
    assert_eq!(title(history, "a").await.as_deref(), Some("Mine"), "what is given stays");
    let error = history.rename_conversation("none", "x").await.unwrap_err();
    assert!(error.to_string().contains("list_conversations"), "{error}");
}

#[tokio::test]
async fn of_a_long_text_no_half_of_a_secret_becomes_a_title() {
    let house = House::new();
    let key = "sk-ant-api03-".to_owned() + &"a1B2c3D4e5F6".repeat(8);
    for (id, text, expected) in [
        ("a", "x".repeat(20_000), None),
        ("b", format!("{}{key}", "\n".repeat(16 * 1024 - 40)), None),
        ("c", format!("hi {}{key}", " ".repeat(16 * 1024 - 40)), Some("hi")),
    ] {
        let step =
            HistoryStep { messages: vec![ChatMessage::user(vec![Block::text(text)])], ..turn("") };
        house.history.hold(id).await.unwrap().commit(step).await.unwrap();
        assert_eq!(title(&house.history, id).await.as_deref(), expected, "{id}");
    }
}

#[tokio::test]
async fn a_cleared_conversation_is_empty_and_gets_a_new_title() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u hi | a ok")).await.unwrap();
    held.clear().await.unwrap();
    assert_eq!((held.messages().len(), held.length()), (0, 0));
    held.commit(turn("u new | a ok")).await.unwrap();
    drop(held);
    assert_eq!(found(&house.history, "a").await, "u new | a ok");
    assert_eq!(title(&house.history, "a").await.as_deref(), Some("new"));
}

#[tokio::test]
async fn ids_and_titles_are_checked() {
    let house = House::new();
    let history = &house.history;
    for id in ["", "a\nb", &"x".repeat(129)] {
        assert!(matches!(history.hold(id).await, Err(HistoryError::BadId)), "{id:?}");
        assert!(matches!(
            history.create_conversation(Some(id), None).await,
            Err(HistoryError::BadId)
        ));
        assert!(matches!(history.delete_conversation(id).await, Err(HistoryError::BadId)));
    }
    for wrong in ["", " ", &"x".repeat(257)] {
        let error = history.create_conversation(Some("a"), Some(wrong)).await.unwrap_err();
        assert!(matches!(error, HistoryError::BadTitle), "{wrong:?}");
    }
    let (id, title) = ("ä".repeat(64), "𝄞".repeat(256));
    assert_eq!(history.create_conversation(Some(&id), Some(&title)).await.unwrap(), id);
    keep(history, &id, "u hi").await;
    let error = history.create_conversation(Some(&id), None).await.unwrap_err();
    assert!(matches!(error, HistoryError::Exists(_)), "{error}");
    let (one, other) = (
        history.create_conversation(None, None).await,
        history.create_conversation(None, None).await,
    );
    assert_ne!(one.unwrap(), other.unwrap());
}

#[tokio::test]
async fn one_that_is_in_use_is_not_deleted() {
    let house = House::new();
    keep(&house.history, "a", "u hi | a ok").await;
    let other = house.another();
    let held = other.hold("a").await.unwrap();
    let error = house.history.delete_conversation("a").await.unwrap_err();
    assert!(error.to_string().contains("is in use"), "{error}");
    drop(held);
    house.history.delete_conversation("a").await.unwrap();
    assert_eq!(found(&other, "a").await, "");
    assert!(matches!(house.history.delete_conversation("a").await, Err(HistoryError::Unknown(_))));
    assert!(matches!(house.history.read_page("a", 1, None).await, Err(HistoryError::Unknown(_))));
}

#[tokio::test]
async fn a_page_ends_where_it_is_told() {
    let house = House::new();
    let history = &house.history;
    keep(history, "a", "u 0 | a 1 | u 2 | a 3 | u 4").await;
    let page = history.read_page("a", 2, None).await.unwrap();
    assert_eq!((show(&page.messages).as_str(), page.first, page.length), ("a 3 | u 4", 3, 5));
    let page = history.read_page("a", 2, Some(3)).await.unwrap();
    assert_eq!((show(&page.messages).as_str(), page.first), ("a 1 | u 2", 1));
    let page = history.read_page("a", 9, Some(1)).await.unwrap();
    assert_eq!((show(&page.messages).as_str(), page.first), ("u 0", 0));
    let page = history.read_page("a", 9, Some(0)).await.unwrap();
    assert_eq!((page.messages.len(), page.first), (0, 0));
    let page = history.read_page("a", 0, Some(99)).await.unwrap();
    assert_eq!((page.messages.len(), page.first), (0, 5));
    history.create_conversation(Some("new"), Some("New")).await.unwrap();
    let page = history.read_page("new", 9, None).await.unwrap();
    assert_eq!((page.length, page.title.as_deref()), (0, Some("New")));
}

#[tokio::test]
async fn a_page_has_only_so_many_bytes_and_at_least_one_message() {
    let house = House::new();
    let half = "x".repeat(LARGEST_PAGE / 2 - 1000);
    let whole = "y".repeat(LARGEST_PAGE + 1000);
    keep(&house.history, "a", &format!("u {whole} | a {half} | u {half}")).await;
    let page = house.history.read_page("a", 9, None).await.unwrap();
    assert_eq!((page.messages.len(), page.first), (2, 1));
    let page = house.history.read_page("a", 9, Some(1)).await.unwrap();
    assert_eq!((page.messages.len(), page.first), (1, 0));
}
