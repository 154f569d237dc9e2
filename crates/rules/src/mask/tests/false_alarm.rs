//! What is no secret stays, and what runs is never hidden.

use super::{check_all, check_json};

#[test]
fn what_is_no_secret_stays() {
    let inputs = [
        "git show 0123456789abcdef0123456789abcdef01234567",
        "commit a1b2c3d4e5f60718293a4b5c6d7e8f9012345678\nAuthor: x",
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
    ];
    check_all(cases.map(|(input, shown)| (input, shown.unwrap_or(input))));
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
