//! Secrets that are known by their names, addresses, headers and commands.

use super::{check, check_all, check_json};

/// [`hides`] for several places at once.
fn hide_all(places: &[(&str, &str)], secret: &str, label: &str) {
    check_all(places.iter().map(|(before, after)| {
        (format!("{before}{secret}{after}"), format!("{before}[hidden 1: {label}]{after}"))
    }));
}

/// `before` and `after` stay, and what is between is hidden under this label.
fn hides(before: &str, secret: &str, after: &str, label: &str) {
    check(&format!("{before}{secret}{after}"), &format!("{before}[hidden 1: {label}]{after}"));
}

#[test]
fn environment_assignments() {
    let places = [
        ("PGPASSWORD=", " psql -h db"),
        ("export DB_PASSWORD=", "; ./run"),
        ("export DB_PASSWORD=\"", "\""),
        ("DB_PASSWORD='", "' ./run"),
        ("set MYSQL_PWD=", "\r\nnext"),
        ("set \"API_KEY=", "\""),
        ("$env:API_KEY = \"", "\""),
        ("$Env:CLIENT_SECRET='", "'; run"),
        ("docker run -e DB_PASS=", " img"),
        ("A=1\nAWS_SECRET_ACCESS_KEY=", "\nB=2"),
        ("env SECRET_KEY_BASE=", " rails s"),
        ("API_KEY_PROD=", ""),
        ("bash -c \"PASSWORD=", " x\""),
        ("bash -c 'PASSWORD=\"", "\" x'"),
        ("bash -c \"PASSWORD=\\\"", "\\\" x\""),
        ("printf 'PASSWORD=", "\\nUSER=bob\\n' > .env"),
        ("fish -c 'set -gx ADMIN_PASSWORD ", "'"),
        ("setx APP_SECRET ", ""),
        ("ENV APP_SECRET ", "\nRUN x"),
        ("ssh h 'DB_PASSWORD=", " x; ls'"),
    ];
    hide_all(&places, "hunter2", "password");
    hide_all(&places, "Tr0ub4dor3", "password");
    hides("export GITHUB_TOKEN=", "abcdef0123", "", "token");
    hides("PASSWORD=", "pa\"ssw\"'ord1'x", " cmd", "password");
    hides("PASSWORD=", "${DB_PASSWORD:-hunter2}", "", "password");
}

#[test]
fn settings_files_and_code() {
    let places = [
        ("password: ", "\n"),
        ("user: bob\n  password: ", "  # note\n"),
        ("- db_password: \"", "\"\n"),
        ("password = ", "\n"),
        ("password=", "\n"),
        ("const apiKey = '", "';"),
        ("let password: String = \"", "\".into();"),
        ("password: str = \"", "\""),
        ("connect(user=\"x\", password=\"", "\")"),
        ("'password' => '", "',"),
        (":password => \"", "\""),
        ("config[\"api_key\"] = \"", "\""),
        ("{\"user\": \"x\", \"client_secret\": \"", "\"}"),
        ("curl -d '{\"password\":\"", "\"}' https://x"),
        ("curl -d \"{\\\"password\\\":\\\"", "\\\"}\" https://x"),
        ("<password>", "</password>"),
        ("passphrase := \"", "\""),
        ("Server=x;User Id=y;Password=", ";Encrypt=true"),
        ("пароль: ", "\n"),
        ("cmdkey /user:x /pass:", ""),
    ];
    hide_all(&places, "hunter2x", "password");
    hides("machine h login u password ", "hunter2", "\n", "password");
    hides("machine h\n  login u\n  password ", "hunter2", "\n", "password");
    hides("CREATE USER x WITH PASSWORD '", "hunter2", "';", "password");
}

#[test]
fn commands() {
    let places = [
        ("mysql -uroot --password=", " db"),
        ("tool --password ", " --verbose"),
        ("tool --password '", "' --verbose"),
        ("tool --db-password \"", "\""),
        ("mysql -u root -p", " db"),
        ("mysqldump -u root -p'", "' db"),
        ("docker exec db mysql -p", " -e x"),
        ("bash -c \"mysql -p", " db\""),
        ("curl -u bob:", " https://x"),
        ("curl -ubob:", " https://x"),
        ("curl --user 'bob:", "' https://x"),
        ("/usr/bin/curl -s --user=bob:", " https://x"),
        ("sshpass -p ", " ssh x"),
        ("sshpass -p'", "' ssh x"),
        ("docker login -u bob -p ", " r.io"),
        ("redis-cli -h x -a ", " ping"),
        ("mongosh -u x -p ", " db"),
        ("ldapsearch -x -w ", " -b y"),
        ("sqlcmd -S h -P ", " -Q x"),
        ("smbclient -U bob%", " //h/s"),
        ("7z a -p", " x.7z y"),
        ("zip -P ", " x.zip y"),
        ("openssl enc -aes-256-cbc -pass pass:", " -in x"),
        ("openssl enc -k ", " -in x"),
        ("keytool -storepass ", " -list"),
        ("gpg --batch --passphrase ", " -c x"),
        ("http -a bob:", " x.org"),
        ("echo ", " | docker login -u x --password-stdin"),
        ("echo '", "' | sudo -S ls"),
        ("echo bob:", " | chpasswd"),
        ("aws configure set aws_secret_access_key ", ""),
        ("kubectl create secret generic s --from-literal=x=", ""),
        ("tool \\\n  --password ", " \\\n  --verbose"),
        ("gh secret set NAME --body ", ""),
        ("mysql -e \"CREATE USER x IDENTIFIED BY '", "'\""),
        ("npm config set //r.org/:_password ", ""),
        ("htpasswd -b users.txt bob ", ""),
        ("htpasswd -bc users.txt bob ", ""),
        ("htpasswd -c -b users.txt bob ", " && ls"),
        ("htpasswd -nb bob ", ""),
        ("htpasswd -nbB -C 12 bob ", " > x"),
        ("restic --password-command \"echo ", "\" snapshots"),
        ("restic --password-command='echo ", "' snapshots"),
        ("restic --password-command 'printf %s ", "' snapshots"),
        ("BORG_PASSCOMMAND='echo ", "' borg list"),
        ("RESTIC_PASSWORD_COMMAND=\"echo ", "\" restic check"),
    ];
    hide_all(&places, "hunter2x", "password");
    hides("tool --token ", "abcdef", " x", "token");
    hides("curl -b 'sid=", "abc123", "' https://x", "cookie");
}

#[test]
fn addresses() {
    hides("git clone https://bob:", "hunter2", "@h.org/x.git", "password");
    hides("'postgres://u:", "p@ss&w:ord", "@h:5432/d'", "password");
    hides("redis://:", "hunter2", "@h", "password");
    hides("https://", "0123456789abcdef0123456789abcdef01234567", "@h/x", "token");
    hides("u:", "hunter2", "@tcp(h:3306)/db", "password");
    hides("https://x.org/?token=", "abcdef", "&a=b", "URL parameter");
    hides("https://x.org/?a=b&key=", "abcd1234efgh", "#x", "URL parameter");
    hides("https://x.org/?sv=2&sig=", "aB3%2Fd9Kx%3D", "'", "URL parameter");
    hides("https://x.org/#access_token=", "abcdef", "", "URL parameter");
    hides("https://x/?X-Goog-Signature=", "00ff00ff12ab34cd", "", "URL parameter");
    hides("curl https://api.x.org/v1/", "a7Kd93jQx0Zb5LmN2pRt8sVw", "/getMe", "token");
    hides("curl -d x 'https://x.org/hooks/catch/1234567/", "o2x4k9qzw8v7b6n5", "/'", "token");
    hides("https://x.org/api/webhooks/123456789/", "94c16ddb423418bb0784fa23", "", "token");
}

#[test]
fn a_word_of_40_hexadecimal_digits_is_a_key() {
    let key = "94c16ddb423418bb0784fa2336183bedf9345d77";
    hides("doctl auth init -t ", key, "", "key");
    hides("tool login ", key, " && ls", "key");
    hides("tool '", key, "'", "key");
    hides("ls; tool ", key, "", "key");
}

#[test]
fn headers() {
    let places = [
        ("curl -H \"authorization: token ", "\" x"),
        ("Authorization: Basic ", "\r\nHost: x"),
        ("Proxy-Authorization: Basic ", ""),
        ("\"Authorization\": \"", "\""),
    ];
    hide_all(&places, "abcdef0123456", "credentials");
    hides("curl -H 'Authorization: Bearer ", "abcdef0123456", "' x", "bearer token");
    hides("{'Authorization': 'Bearer ", "abcdef0123456", "'}", "bearer token");
    hides("Authorization: Bearer ", "abcdefgh", "", "credentials");
    hides("send Bearer ", "abcdef0123456789", " there", "bearer token");
    hides("X-Auth-Token: ", "abcdef0123", "\r\n", "token");
    hides("curl -H 'PRIVATE-TOKEN: ", "abcdef0123", "'", "token");
    check(
        "Cookie: sid=abc; theme=dark\r\n",
        "Cookie: sid=[hidden 1: cookie]; theme=[hidden 2: cookie]\r\n",
    );
    check(
        "Set-Cookie: sid=abc; Path=/; HttpOnly; Max-Age=5",
        "Set-Cookie: sid=[hidden 1: cookie]; Path=/; HttpOnly; Max-Age=5",
    );
}

#[test]
fn members_with_telling_names() {
    for (key, is_hidden) in [
        ("password", true),
        ("apiKey", true),
        ("api-key", true),
        ("X-Api-Key", true),
        ("clientSecret", true),
        ("private_key", true),
        ("Authorization", true),
        ("accessToken", true),
        ("DBPassword", true),
        ("tokens_used", false),
        ("tokenizer", false),
        ("keyboard", false),
        ("secretary", false),
        ("compass", false),
        ("nextPageToken", false),
        ("public_key", false),
        ("has_password", false),
        ("password_file", false),
    ] {
        let input = format!(r#"{{"a":{{"{key}" : "some thing"}}, "n":1.50 }}"#);
        let label = "secret of several words";
        let hidden = format!(r#"{{"a":{{"{key}" : "[hidden 1: {label}]"}}, "n":1.50 }}"#);
        check_json(&input, if is_hidden { &hidden } else { &input });
    }
    check_json(
        r#"{"password": "hunter2", "accessToken": "abcdef"}"#,
        r#"{"password": "[hidden 1: password]", "accessToken": "[hidden 2: token]"}"#,
    );
}
