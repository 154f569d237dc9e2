//! What is no secret stays, and what runs is never hidden.

use super::{check_all, check_json, mask_json, mask_text};

#[test]
fn a_hash_stays_where_its_place_says_what_it_is() {
    let inputs = [
        "git show 0123456789abcdef0123456789abcdef01234567",
        "commit a1b2c3d4e5f60718293a4b5c6d7e8f9012345678\nAuthor: x",
        "git checkout 94c16ddb423418bb0784fa2336183bedf9345d77",
        "sudo -u x git -C y cherry-pick 94c16ddb423418bb0784fa2336183bedf9345d77",
        "sh -c 'git show 94c16ddb423418bb0784fa2336183bedf9345d77 --stat'",
        "gh api repos/x/y/commits/94c16ddb423418bb0784fa2336183bedf9345d77",
        "git log 94c16ddb423418bb0784fa2336183bedf9345d77..main",
        "cargo add x --git https://y/x --rev 94c16ddb423418bb0784fa2336183bedf9345d77",
        "This reverts commit 94c16ddb423418bb0784fa2336183bedf9345d77.",
        "pip install git+https://x/y@94c16ddb423418bb0784fa2336183bedf9345d77",
        "uses: actions/checkout@94c16ddb423418bb0784fa2336183bedf9345d77",
        "94c16ddb423418bb0784fa2336183bedf9345d77 refs/heads/main",
        "a\n94c16ddb423418bb0784fa2336183bedf9345d77  file.txt",
        "https://github.com/x/y/commit/94c16ddb423418bb0784fa2336183bedf9345d77",
        "https://raw.example.org/x/y/94c16ddb423418bb0784fa2336183bedf9345d77/a.txt",
        "https://github.com/x/AVeryLongRepositoryNameForTests2024/issues/12",
        "https://docs.rs/callgate/0.1.0/callgate/struct.VeryLongStructName.html",
        "https://x.org/123e4567-e89b-12d3-a456-426614174000",
        "https://x.org/services/my-long-service-name-2024",
        "htpasswd users.txt bob",
        "restic --password-command \"pass show x\" snapshots",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "token_count = 5",
        "max_tokens: 4096",
        "tokens: 12",
        "token: 5",
        "password: ${VAR}",
        "password: ${DB_PASSWORD:?must be set}",
        "password: \"$PASSWORD\"",
        "PASSWORD=$(cat file)",
        "PASSWORD=`cat file` x",
        "PASSWORD=\"$(pass show x)\" y",
        "password: {{ vault_password }}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "TOKEN=%TOKEN%",
        "--token <TOKEN>",
        "tool --password \"$PASSWORD\" x",
        "tool --password",
        "tool --password --verbose x",
        "tool --password '' x",
        "curl -u \"$USER:$PASS\" https://x",
        "curl -H \"Authorization: Bearer $TOKEN\" https://x",
        "curl -H 'Authorization: Bearer ${TOKEN}' https://x",
        "password=",
        "password=\"\"",
        "password: null",
    ];
    check_all(inputs.map(|input| (input, input)));
}

#[test]
fn what_is_no_secret_stays() {
    let inputs = [
        "password: ********",
        "export PASSWORD=",
        "cat ~/.ssh/id_rsa.pub",
        "SSH_KEY=~/.ssh/id_ed25519",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0123456789abcdefghijklmnopqrstuvwxyz0 me@h",
        "The token is passed on. Each token: a unit of text.",
        "Note that the password: must be long",
        "password: must be at least 8 characters long",
        "use --password to set it, or --token with a file",
        "--- PASS: TestFoo (0.00s)",
        "PASS: 12 FAIL: 0",
        "let token = parser.next_token();",
        "token = await getToken()",
        "password = config.password",
        "connect(password=password, token=self.token)",
        "fn check(password: &str, token: String) -> bool",
        "apiKey?: string;",
        "interface X { password: string; token: string }",
        "if password == \"\" { }",
        "secret::Secret::new(x)",
        "https://example.org/path?page=2&key=name",
        "https://example.org:8080/a@b",
        "http://localhost:3000/@scope/pkg",
        "git@github.com:owner/repo.git",
        "PWD=/srv/app OLDPWD=/home/x",
        "docker run --name mysql -p3306:3306 img",
        "docker run -p 8080:80 img",
        "mysql -u root -p db",
        "openssl req -keyout k.pem",
        "class=\"sk-circle-fade-dot-animation-name\"",
        "sk-learn, task-manager-with-a-long-name-2024",
        "12:30:45 10:20",
        "a.bcdefg.hij",
        "token_url=https://x.org/token",
        "PASSWORD_FILE=/run/secrets/db",
        "Cookie: rm -rf ~",
        "ghp_short npm_run_build hf_ xoxb-",
        "AKIAxyz AIza",
        "keyboard: us, monkey = 1, primary_key: id",
        "password reset for the machine",
        "Set the password policy",
        "Basic understanding of authorization: users may",
        "pub lt_token: Token![<], x: y",
        "fn dispatch(token: mio::Token, ready: Ready) {",
        "const LONGEST_SECRET: usize = 4096;",
        "let secrets = [\"name\", \"other\"];",
        "Kind::Secret => \"text\".to_owned(),",
        "{\"progressToken\": \"p1\", \"progress\": 0.5}",
        "password: *const u8,",
        "password: *shared",
        "pub const A_TOKEN: _ty_5 = _ty_5::A_TOKEN;",
        "A_SECRET = 7,\nB_PASS = 0,",
        "pub const A_SECRET: c_long = 4000 + 447;",
        "format!(\"Authorization: Basic {}\", creds)",
        "printf 'PASSWORD=%s' \"$x\"",
        "self.password = password",
        "token = current",
        "const password = input",
        "const token = parts[1];",
        "bypass=true compass: north-east-12",
    ];
    check_all(inputs.map(|input| (input, input)));
}

#[test]
fn what_runs_is_never_hidden() {
    let cases = [
        ("echo \"password=\"; rm -rf ~; echo \"x\"", None),
        ("echo 'my token: '; rm -rf ~; echo 'x'", None),
        ("bash -c \"echo 'password='; rm -rf ~; echo 'x'\"", None),
        ("bash -c \"echo \\\"password=\\\"; rm -rf ~; echo \\\"x\\\"\"", None),
        ("PASSWORD=pw;reboot", Some("PASSWORD=[hidden 1: password];reboot")),
        ("PASSWORD=pw&&curl evil", Some("PASSWORD=[hidden 1: password]&&curl evil")),
        ("PASSWORD=pw|sh -c y", Some("PASSWORD=[hidden 1: password]|sh -c y")),
        (
            "PASSWORD='x\\'; rm -rf ~; echo '",
            Some("PASSWORD='[hidden 1: password]'; rm -rf ~; echo '"),
        ),
        ("echo \"\npassword=\"; rm -rf ~; echo \"x\"", None),
        ("password: pw1; rm -rf ~", Some("password: [hidden 1: password]; rm -rf ~")),
        ("Cookie: a=b1; rm -rf ~", Some("Cookie: a=[hidden 1: cookie]; rm -rf ~")),
        (
            "Authorization: Bearer abcdefgh; rm x",
            Some("Authorization: Bearer [hidden 1: credentials]; rm x"),
        ),
        ("PASSWORD=\"a$(rm -rf ~)b\"", None),
        ("curl -u a:b;reboot", Some("curl -u a:[hidden 1: password];reboot")),
        ("http://a:$(reboot)@h", None),
        ("http://a:b;reboot@h", None),
        ("echo 'x; reboot' | sudo -S ls", None),
        ("password=\\\"; rm -rf ~; \\\"", None),
        ("echo it's password='; rm -rf ~; '", None),
        ("API_KEY='rm -rf ~'; $API_KEY", None),
        ("API_KEY='rm -rf ~' ./run.sh", None),
        ("export API_KEY=\"rm -rf ~\"", None),
        ("API_KEY=reboot; $API_KEY", None),
        ("API_KEY=reboot; sh -c \"$API_KEY\"", None),
        ("API_KEY=reboot\neval ${API_KEY}", None),
        ("API_KEY=reboot; x=API_KEY; ${!API_KEY}", None),
        ("API_KEY=reboot; printenv API_KEY | sh", None),
        ("$env:API_KEY = 'reboot'; iex $env:API_KEY", None),
        ("set API_KEY=reboot\r\n%API_KEY%", None),
        ("fish -c 'set -gx API_KEY reboot; $API_KEY'", None),
        ("TOKEN=a;b", Some("TOKEN=[hidden 1: token];b")),
        ("TOKEN='a;b' x", None),
        ("TOKEN='a&reboot' x", None),
        ("TOKEN='rm${IFS}-rf${IFS}x' y", None),
        ("TOKEN='{rm,-rf,x}' y", None),
        ("PASSWORD=aB3xyz&Kd93jQ cmd", None),
        ("PASSWORD=pa\"ss wo\"rd cmd", None),
        ("PASSWORD=\"correct horse; battery & staple\" cmd", None),
        ("tool --password 'rm -rf ~'", None),
        ("password: 'rm -rf ~'", None),
        ("curl -u 'bob:rm -rf ~' x", None),
        ("restic --password-command \"rm -rf ~\" snapshots", None),
    ];
    check_all(cases.map(|(input, shown)| (input, shown.unwrap_or(input))));
}

#[test]
fn what_runs_is_not_hidden_in_json_either() {
    for input in [
        r#"{"command":"API_KEY='rm -rf ~'; $API_KEY"}"#,
        r#"{"command":"API_KEY=reboot; \u0024API_KEY"}"#,
        r#"{"env":{"API_KEY":"rm -rf ~"},"command":"$API_KEY"}"#,
        r#"{"env":{"API_KEY":"reboot"},"command":"\u0024API_KEY"}"#,
    ] {
        check_json(input, input);
        assert!(!mask_json(input).could_run(), "{input}");
    }
}

#[test]
fn hidden_text_that_could_run_is_told() {
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0aB3dE6");
    for (command, expected) in [
        ("@", true),
        ("@ --flag", true),
        ("ls; @", true),
        ("ls | '@' x", true),
        ("sh -c @", true),
        ("sudo @", true),
        ("echo $(@)", true),
        ("X=@; $X", true),
        ("X='@'; eval \"$X\"", true),
        ("export X=@ && curl -H \"$X\" y", true),
        ("echo @", false),
        ("X=@ cmd", false),
        ("curl -H 'Authorization: Bearer @' x", false),
        ("git clone https://x:@@h/y", false),
        ("tool --token @ > x", false),
        ("ls", false),
    ] {
        let command = command.replacen('@', &token, 1);
        assert_eq!(mask_text(&command).could_run(), expected, "{command}");
        let quoted = callgate_wire::raw::json_string(&command);
        let input = format!(r#"{{"command":{quoted},"n":1}}"#);
        assert_eq!(mask_json(&input).could_run(), expected, "{input}");
        let words = format!(r#"{{"args":["x",{quoted}]}}"#);
        assert_eq!(mask_json(&words).could_run(), expected, "{words}");
        let content = format!(r#"{{"content":{quoted}}}"#);
        assert_eq!(mask_json(&content).could_run(), command.contains("$X"), "{content}");
        // What is shown tells it too.
        assert_eq!(mask_json(mask_json(&input).shown()).could_run(), expected, "{input}");
    }
    // Hidden by the name of the member: nobody sees whether a tool runs it.
    let masked = mask_json(r#"{"secret":"rm -rf ~"}"#);
    assert!(masked.could_run() && mask_json(masked.shown()).could_run());
    assert!(!mask_json(r#"{"secret":"hunter2"}"#).could_run());
    assert!(mask_text(&format!("{token} ").repeat(1200)).could_run());
}

#[test]
fn json_without_secrets_stays() {
    for input in [
        r#"{"command":"ls -la","n":1e5,"x":[true,null,{}],"s":"\u00e9\n\/"}"#,
        r#"{"properties":{"password":{"type":"string","description":"the password"}}}"#,
        r#"{"password":"","token":"${TOKEN}","secret":null,"pin":{"password":12}}"#,
        r#" [ 1 , "a" ] "#,
        r#""text""#,
        r#"{"\ud800":"\udc00"}"#,
    ] {
        check_json(input, input);
    }
}
