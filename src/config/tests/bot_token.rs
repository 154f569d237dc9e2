//! The bot's token: where it is kept, and that it is never shown.

use callgate_wire::HiddenText;

use super::*;
use crate::secrets::read_secret;

/// The token that no message may show.
const TOKEN: &str = "123456:very-SECRET_token";

fn token(home: &Home) -> Result<String, String> {
    let config = home.config();
    let shown = format!("{config:?} {}", config.telegram.token.as_ref().unwrap().value);
    assert!(!shown.contains("SECRET"), "{shown}");
    let read = read_secret(&config.telegram.token.unwrap().value, token_source::BOT);
    read.map(|token| token.reveal().to_owned()).map_err(|error| {
        let text = error.replace(home.folder.path().to_str().unwrap(), "~");
        assert!(!text.contains("SECRET") && !format!("{error:?}").contains("SECRET"), "{text}");
        text
    })
}

#[test]
fn the_token_comes_from_where_it_is_kept_and_shows_itself_nowhere() {
    let literal = || Home::with(&format!("telegram.token = \"{TOKEN}\""));
    assert_eq!(token(&literal()).unwrap(), TOKEN);
    let file = Home::with("telegram.token_file = \"~/token\"");
    file.write("token", &format!("{TOKEN}\n"));
    assert_eq!(token(&file).unwrap(), TOKEN);
    let environment = literal().variable("CALLGATE_TELEGRAM_TOKEN", "9:env");
    assert_eq!(token(&environment).unwrap(), "9:env");
    let command = Home::with("telegram.token_command = [\"/bin/echo\", \" 7:run \"]");
    assert_eq!(token(&command).unwrap(), "7:run");
    assert!(!format!("{:?}", HiddenText::new(TOKEN)).contains(TOKEN));
}

#[test]
fn a_token_that_others_can_read_is_refused_with_what_to_do() {
    for mode in [0o640, 0o604, 0o660, 0o644] {
        let home = Home::with("telegram.token_file = \"~/token\"");
        let path = home.write("token", TOKEN);
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let expected =
            "others can read the token in ~/token; keep it to yourself: chmod 600 ~/token";
        assert_eq!(token(&home).unwrap_err(), expected);
        let home = Home::with(&format!("telegram.token = \"{TOKEN}\""));
        let path = home.path(".config/callgate/config.toml");
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        assert!(token(&home).unwrap_err().contains("chmod 600 ~/.config/callgate/config.toml"));
    }
}

#[test]
fn what_is_no_token_is_told_without_it() {
    let check = |content: &str, expected: &str| {
        let home = Home::with("telegram.token_file = \"~/token\"");
        home.write("token", content);
        let error = token(&home).unwrap_err();
        assert!(error.contains(expected), "{content}: {error}");
    };
    check("", "the token is empty");
    check(" \n", "the token is empty");
    check("1:SECRET/../x", "characters that no token has");
    check("1:SECRET\n2:SECRET", "characters that no token has");
    check(&"SECRET".repeat(1000), "characters that no token has");
    let absent = Home::with("telegram.token_file = \"~/token\"");
    assert!(
        token(&absent).unwrap_err().starts_with("cannot read the token in ~/token: No such file")
    );
    let fails =
        Home::with("telegram.token_command = [\"/bin/sh\", \"-c\", \"echo 1:SEC''RET; exit 3\"]");
    assert_eq!(
        token(&fails).unwrap_err(),
        "cannot get the token: `/bin/sh` failed (exit status: 3); try it by hand"
    );
}

#[test]
fn only_one_place_keeps_the_token() {
    check_wrong(
        "[telegram]\ntoken = \"1:SECRET\"\ntoken_file = \"/t\"",
        &["3:14: there are both `telegram.token` and `telegram.token_file`; keep one"],
    );
    let off = Home::with("telegram.token_keyring = false\ntelegram.token_file = \"/t\"").config();
    assert_eq!(off.telegram.token.unwrap().value, TokenSource::File("/t".into()));
    let keyring = Home::with("telegram.token_keyring = true").config();
    assert_eq!(keyring.telegram.token.unwrap().value, TokenSource::Keyring(KeyringEntry::BotToken));
    let over =
        Home::with("telegram.token_keyring = true").variable("CALLGATE_TELEGRAM_TOKEN_FILE", "/e");
    assert_eq!(over.config().telegram.token.unwrap().value, TokenSource::File("/e".into()));
}
