//! Which variables commands see.

use super::*;

fn stays(name: &str, value: &str) -> bool {
    !scrub_variables(vec![(name.into(), value.into())], &["KEPT_TOKEN".into()]).is_empty()
}

#[test]
fn what_is_a_secret_by_its_name_goes() {
    for name in [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "AWS_PROFILE",
        "CALLGATE_SOCKET",
        "CLAUDE_CONFIG_DIR",
        "CLAUDECODE",
        "GITHUB_TOKEN",
        "github_token",
        "NPM_TOKENS",
        "DB_PASSWORD",
        "DB_PASS",
        "MYSQL_PWD",
        "PGPASSWORD",
        "PGPASSFILE_PASSWD",
        "SSH_AUTH_SOCK",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "OPENAI_ORG",
        "MYKEY",
        "SIGNING_KEY",
        "SIGNING_KEYS",
        "CLIENT_SECRET",
        "SESSION_COOKIE",
        "SENTRY_DSN",
        "npm_config_//registry/:_authToken",
        "HTTP_AUTHORIZATION",
        "RSA_PRIVATE",
        "OP_SESSION_my",
        "OP_SESSION_AbC123",
        "OP_SERVICE_ACCOUNT",
        "BW_SESSION",
        "LPASS_HOME",
        "MNEMONIC",
        "WALLET_MNEMONIC",
        "SEED_PHRASE",
        "SIGNING_SEED",
        "SEED",
        "PIN",
        "CARD_PIN",
        "pin",
        "PINCODE",
        "MY_PASSCODE",
        "OTP",
        "GITHUB_TOTP",
        "SESSION",
        "SESSION_ID",
        "PHP_SESSIONID",
        "API_BEARER",
        "HASH_PEPPER",
        "GNOME_KEYRING_CONTROL",
    ] {
        assert!(!stays(name, "x"), "{name}");
        assert!(!stays(name, ""), "{name} without a value");
    }
}

#[test]
fn what_is_a_secret_by_its_value_goes() {
    for value in [
        "postgres://ada:sesame-open-9@db.example/engine",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "before sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz after",
    ] {
        assert!(!stays("HARMLESS", value), "{value}");
    }
}

#[test]
fn what_commands_need_stays() {
    for (name, value) in [
        ("PATH", "/usr/bin:/bin:/nix/store/1b9p07z77phvv2hf6gm9f28syp39f1ag-x/bin"),
        ("HOME", "/home/ada"),
        ("PWD", "/home/ada/engine"),
        ("OLDPWD", "/home/ada"),
        ("LANG", "en_GB.UTF-8"),
        ("LC_ALL", "C"),
        ("TERM", "xterm"),
        ("GIT_AUTHOR_NAME", "Ada"),
        ("CARGO_HOME", "/home/ada/.cargo"),
        ("RUSTFLAGS", "-C target-cpu=native"),
        ("KEYBOARD_LAYOUT", "de"),
        ("NODE_OPTIONS", "--max-old-space-size=4096"),
        ("JAVA_HOME", "/usr/lib/jvm"),
        ("XDG_RUNTIME_DIR", "/run/user/1000"),
        ("COMPASS", "north"),
        ("RANDOM_SEED", "42"),
        ("PYTHONHASHSEED", "0"),
        ("PROPTEST_RNG_SEED", "18446744073709551615"),
        ("XDG_SESSION_TYPE", "wayland"),
        ("DESKTOP_SESSION", "gnome"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
        ("SESSION_MANAGER", "local/desk:@/tmp/.ICE-unix/1"),
        ("PINENTRY_USER_DATA", "tty"),
        ("SPINNER", "off"),
        ("OPTIONS", "-v"),
        ("http_proxy", "http://proxy.example:3128"),
        ("KEPT_TOKEN", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    ] {
        assert!(stays(name, value), "{name}={value}");
    }
}

#[test]
fn what_is_no_text_is_looked_at_too() {
    use std::os::unix::ffi::OsStringExt;
    let odd = |text: &[u8]| OsString::from_vec(text.to_vec());
    let vars = vec![(odd(b"A\xff"), odd(b"\xff")), (odd(b"\xff_TOKEN"), odd(b"x"))];
    assert_eq!(scrub_variables(vars.clone(), &[]), vars[..1]);
}

#[test]
fn a_number_that_is_no_seed_of_a_random_generator_is_a_secret() {
    assert!(!stays("SIGNING_SEED", "123456789012345678901"));
    assert!(!stays("SIGNING_SEED", "4f2a"));
    assert!(!stays("CARD_PIN", "4711"));
}
