//! A table of kinds of secrets, none of which is shown, and a table of texts that stay as they are.
//!
//! Every secret is made up. Those that look like a real service's are put together from pieces, so
//! that no scanner takes this file for a leak.

use super::{check_all, check_json, mask_json, mask_text};

/// A kind of secret in a text.
struct SecretKind {
    name: &'static str,
    text: &'static str,
    /// The part of the text that nobody may see.
    secret: &'static str,
}

macro_rules! kinds {
    ($($name:literal: $($before:literal)* [$($secret:literal)*] $($after:literal)*;)*) => {
        &[$(SecretKind {
            name: $name,
            text: concat!($($before,)* $($secret,)* $($after,)*),
            secret: concat!($($secret,)*),
        },)*]
    };
}

/// Returns true if `shown` has eight bytes in a row of a secret, or the whole of a shorter one.
fn leaks(shown: &str, secret: &str) -> bool {
    let len = secret.len().min(8);
    let mut windows = secret.as_bytes().windows(len);
    windows.any(|window| memchr::memmem::find(shown.as_bytes(), window).is_some())
}

/// Checks that no kind is shown: as text, in the input of a tool, and masked once more.
fn check_hidden(kinds: &[SecretKind]) {
    let mut wrong = Vec::new();
    for SecretKind { name, text, secret } in kinds {
        let quoted = callgate_wire::raw::json_string(text);
        for (masked, input) in [
            (mask_text(text), (*text).to_owned()),
            (mask_json(&format!("{{\"command\":{quoted}}}")), format!("{{\"command\":{quoted}}}")),
            (mask_json(&format!("{{\"content\":{quoted}}}")), format!("{{\"content\":{quoted}}}")),
        ] {
            assert_eq!(masked.restore(masked.shown()).as_deref(), Ok(input.as_str()), "{name}");
            if leaks(masked.shown(), secret) {
                wrong.push(format!("{name}: {}", masked.shown()));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} are shown:\n{}", wrong.len(), wrong.join("\n"));
}

/// Keys and tokens of services, in the places in which they are usually met.
const SERVICES: &[SecretKind] = kinds! {
    "AWS id": "aws_access_key_id = AK" "IA" ["QZ7XW2MJ4LRT6PKD"] "\n";
    "AWS secret": "aws_secret_access_key = " ["kQ3vT8xZ1mR6wY9bN4cJ7hL2pS5dF0gA+aE/uIo4"] "\n";
    "AWS session token": "export AWS_SESSION_TOKEN=" ["IQoJb3JpZ2luX2VjEJr3Kd93jQx0Zb5LmN2pRt8sVw"];
    "AWS configure": "aws configure set aws_secret_access_key " ["kQ3vT8xZ1mR6wY9bN4cJ7hL2pS5dF0gAbaE3uIo4"];
    "AWS Secrets Manager": "aws secretsmanager create-secret --name db --secret-string " ["Winter-2031-x"];
    "AWS Parameter Store": "aws ssm put-parameter --name /db --type SecureString --value " ["Winter-2031-x"];
    "AWS RDS": "aws rds modify-db-instance --master-user-password " ["Winter-2031-x"];
    "Google API key": "curl 'https://maps.example.org/x?key=AI" "za" ["5OH9uFccf121MK7eiJqyCv776CtRXNhlFTz"] "'";
    "Google client secret": "client_secret: GOC" "SPX-" ["xJhyEeNw7I1oqSPwUwzCgmHmkWPk"];
    "Google service account": "{\"type\": \"service_account\", \"private_key_id\": \"" ["8f14e45fceea167a5a36dedd4bea2543b1c2d3e4"] "\", \"client_email\": \"x@y\"}";
    "Google service account key": "{\"private_key\": \"-----BEGIN PRIV" "ATE KEY-----\\n" ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"] "\\n-----END PRIV" "ATE KEY-----\\n\"}";
    "Azure storage connection": "DefaultEndpointsProtocol=https;AccountName=a;Account" "Key=" ["pg1+H8DFX/WP5lvPUVU+QQ2SinEy1hbkVlUKncvl2i88Ly/QS6MLEx7U94iR"] "==;EndpointSuffix=core.windows.net";
    "Azure SAS": "https://a.blob.core.windows.net/c?sv=2024-01-01&se=2031-01-01&sig=" ["aB3%2Fd9KxQ7mZ1cV5bN8hJ2lP4sD6fG0%3D"];
    "Azure client secret": "az login --service-principal -u app -p a1b8Q~" ["mvlIBX8F9QWoizwxTYWFpAjVlk3qsvOPrv"] " --tenant t";
    "Azure key vault": "az keyvault secret set --vault-name v --name n --value " ["Winter-2031-x"];
    "Azure SQL": "az sql server create -n s -u admin --admin-password " ["Winter-2031-x"];
    "DigitalOcean": "doctl auth init -t do" "p_v1_" ["3a294f670425495e8006938f2708b37c0e3dd786106c6d43b83a9af425caaa3b"];
    "Heroku": "HEROKU_API_KEY=" ["9fa0b8b9-d60a-acb8-7910-d2d67422661f"] " heroku apps";
    "Cloudflare": "CLOUDFLARE_API_TOKEN=" ["Kd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPq"] " wrangler deploy";
    "GitHub": "git push https://x-access-token:gh" "p_" ["mtJsYPRrg1IytEmXcEcOgHEr2NrXf3rgTkvl"] "@github.com/x/y";
    "GitHub in a remote": "git remote set-url origin https://gh" "p_" ["mtJsYPRrg1IytEmXcEcOgHEr2NrXf3rgTkvl"] "@github.com/x/y";
    "GitHub header": "curl -H 'Authorization: token " ["94c16ddb423418bb0784fa2336183bedf9345d77"] "' x";
    "GitHub secret": "gh secret set NAME --body " ["Winter-2031-x"];
    "GitHub secret, short": "gh secret set NAME -b'" ["Winter-2031-x"] "'";
    "GitHub login": "echo " ["Kd93jQx0Zb5LmN2pRt8s"] " | gh auth login --with-token";
    "GitLab": "glab auth login --token gl" "pat-" ["AOLraw4CaBQsWcHjBiIP"];
    "GitLab header": "curl --header \"PRIVATE-TOKEN: " ["AOLraw4CaBQsWcHjBiIP"] "\" x";
    "GitLab variable": "glab variable set DB_PASS " ["Winter-2031-x"];
    "Bitbucket": "curl -u bob:ATBB" ["Kd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6G"] " x";
    "npm": "//registry.example.org/:_authToken=np" "m_" ["pNpitRhoebSfIRv8LkdAeGjW8SUrkQVxc0aa"];
    "npm config": "npm config set //registry.example.org/:_authToken " ["9fa0b8b9d60aacb87910d2d67422661f"];
    "npm legacy": "npm config set _auth " ["Ym9iOldpbnRlcjIwMzEh"];
    "PyPI": "twine upload -u __token__ -p py" "pi-" ["AgEIcHlwaS5vcmcFtEG7BEZp1BLdBJXPAkoFjUix5rrRYszZlGDPDYvygkBD"] " dist/*";
    "twine": "twine upload -u bob -p " ["Winter-2031-x"] " dist/*";
    "pip index": "pip install --index-url https://bob:" ["Winter-2031-x"] "@pypi.example.org/simple pkg";
    "cargo": "cargo login " ["cio9Kd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6"];
    "RubyGems": "---\n:rubygems_api_key: rubygems" "_" ["94c16ddb423418bb0784fa2336183bedf9345d7794c16ddb"];
    "Docker Hub": "docker login -u bob -p dckr" "_pat_" ["DJSHPrFCz8Qjspl530pml8sc3Tp"];
    "Docker config": "{\"auths\": {\"r.io\": {\"auth\": \"" ["Ym9iOldpbnRlcjIwMzEhUGFzcw"] "==\"}}}";
    "Hugging Face": "huggingface-cli login --token h" "f_" ["F2hAHkdYFsjdeXLlCIqVcTJQVMlUGcFE7O"];
    "OpenAI": "OPENAI_API_KEY=sk" "-proj-" ["fmBx2akWwMHOFydgYJ1olpshawKHaogxLrHt4lT4AmDupb2tpCRZM29dpOqC"];
    "Anthropic": "curl -H 'x-api-key: sk-" "ant-api03-" ["coO38Eu2E1sp8mmwlO9irrQfWFrGjIUnA23PAKkQWF0oNemVaEORxEfzuZNo"] "' x";
    "Slack token": "slack.WebClient('xo" "xb-" ["2048123456-x6et6dFeMvAaCkqmoO2F5bmr"] "')";
    "Slack webhook": "curl -d '{}' https://hooks.slack" ".com/services/" ["T0KHJPGY5V/B0K7ENWELM/KS5yZoIADSrnLghO5MNqY1vU"];
    "Discord bot": "client.login('MT" "A5" ["wGpLseemHA4yvgOoQEKX.JVrqGD.ADR5QvoqY2KVaL3E4crL3UMHpstPISiJ"] "')";
    "Discord webhook": "https://discord" ".com/api/webhooks/1234567890/" ["Kd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPq"];
    "Telegram": "curl https://api.telegram.org/bot" "7987654321:" ["AAbDIj2WgRe3gSyjwNEgC6b1TCk2KitbWbG"] "/getMe";
    "Stripe": "stripe.api_key = 'sk" "_live_" ["yd1VnQINscJGxAF2xmWXfFAz"] "'";
    "Stripe option": "stripe charges list --api-key " ["Kd93jQx0Zb5LmN2pRt8s"];
    "Twilio key": "TWILIO_API_KEY=S" "K" ["078f8d3df2a6a3e4739585dbe4a47eba"];
    "Twilio auth": "curl -u AC0123456789abcdef0123456789abcdef:" ["078f8d3df2a6a3e4739585dbe4a47eba"] " x";
    "Twilio client": "Client('AC0123456789abcdef', auth_token='" ["078f8d3df2a6a3e4739585dbe4a47eba"] "')";
    "SendGrid": "SENDGRID_API_KEY=S" "G." ["ZLfUq19pc8TXvkgo95s5kK.8G7da77IgoM3qPkW0tjkx4Gefg277PjP964zP"];
    "Mailgun": "curl -s --user 'api:key-" ["078f8d3df2a6a3e4739585dbe4a47eba"] "' x";
    "Datadog": "curl -H 'DD-API-KEY: " ["078f8d3df2a6a3e4739585dbe4a47eba"] "' x";
    "Datadog application": "DD_APP_KEY=" ["94c16ddb423418bb0784fa2336183bedf9345d77"] " x";
    "Sentry DSN": "SENTRY_DSN=https://" ["078f8d3df2a6a3e4739585dbe4a47eba"] "@o1.ingest.example.org/2";
    "Vault": "vault login hv" "s." ["Hd1mMM2qIXzED7OjSjYbx1qW"];
    "Vault option": "vault login -method=userpass username=bob password=" ["Winter-2031-x"];
    "Vault write": "vault kv put secret/db password=" ["Winter-2031-x"];
    "Vault unseal": "vault operator unseal " ["Kd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPq+/A="];
    "Tailscale": "tailscale up --authkey ts" "key-" ["auth-cUPRqewaPU5v-c3TFKIfXC6ls5HcOenWfGdzUO6eCCMiy"];
    "ngrok": "ngrok config add-authtoken " ["2Kd93jQx0Zb5LmN2pRt8sVw_Yc7Ah4Ef6Gi1JkMoPq"];
    "Terraform Cloud": "credentials \"app.terraform.io\" {\n  token = \"" ["Kd93jQx0Zb5LmN.atlasv1.2pRt8sVwYc7Ah4Ef6Gi1JkMoPq"] "\"\n}";
    "JWT": "curl -H 'X: ey" "J" ["hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.W4lW6EctC2A1T3UqMWfLybNIEluo"] "' x";
};

/// Private keys, hashes of passwords and one-time secrets.
const KEYS: &[SecretKind] = kinds! {
    "RSA key": "-----BEGIN RSA PRIV" "ATE KEY-----\n" ["MIIEowIBAAKCAQEAwycuTBGH3fSWyoOPS6uVZCewoDx7wjYNwXw3pNPzxv4sqlY4"] "\n-----END RSA PRIV" "ATE KEY-----";
    "EC key": "-----BEGIN EC PRIV" "ATE KEY-----\n" ["MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY1PuoAoGCCqGSM49"] "\n-----END EC PRIV" "ATE KEY-----";
    "DSA key": "-----BEGIN DSA PRIV" "ATE KEY-----\n" ["MIIBuwIBAAKBgQDKd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPqRsTuVwXyZ"] "\n-----END DSA PRIV" "ATE KEY-----";
    "encrypted PKCS 8 key": "-----BEGIN ENCRYPTED PRIV" "ATE KEY-----\n" ["MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQIKd93jQx0Zb5LmN2p"] "\n-----END ENCRYPTED PRIV" "ATE KEY-----";
    "OpenSSH key": "-----BEGIN OPENSSH PRIV" "ATE KEY-----\n" ["b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz"] "\n-----END OPENSSH PRIV" "ATE KEY-----";
    "PGP key": "-----BEGIN PGP PRIV" "ATE KEY BLOCK-----\nVersion: 1\n\n" ["lQdGBGXKd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPqRsTuVwXyZ01234567"] "\n=aB3d\n-----END PGP PRIV" "ATE KEY BLOCK-----";
    "SSH2 key": "---- BEGIN SSH2 ENCRYPTED PRIV" "ATE KEY ----\n" ["P2/56wAAAgIAAAAmZGwtbW9kcHtzaWdue2RzYS1uaXN0LXNoYTF9LGRoe3BsYWlu"] "\n---- END SSH2 ENCRYPTED PRIV" "ATE KEY ----";
    "PuTTY key": "PuTTY-User-Key-File-3: ssh-ed25519\nPriv" "ate-Lines: 1\n" ["AAAAIKd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPqRsT"] "\nPrivate-MAC: 00\n";
    "key in a heredoc": "cat > k <<EOF\n-----BEGIN PRIV" "ATE KEY-----\n" ["MC4CAQAwBQYDK2VwBCIEIKd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPqRsT"] "\n-----END PRIV" "ATE KEY-----\nEOF";
    "key on one line": "echo '-----BEGIN PRIV" "ATE KEY-----" ["MC4CAQAwBQYDK2VwBCIEIKd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPqRsT"] "-----END PRIV" "ATE KEY-----' > k";
    "kubeconfig key": "users:\n- name: x\n  user:\n    client-key-data: " ["LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFb3dJQkFBS0NBUUVB"] "\n";
    "kubeconfig token": "users:\n- name: x\n  user:\n    token: " ["Kd93jQx0Zb5LmN2pRt8sVwYc7Ah4Ef6G"] "\n";
    "Kubernetes secret": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  x: " ["V2ludGVyLTIwMzEtUGFzc3dvcmQ="] "\n";
    "Kubernetes secret in words": "kind: Secret\nstringData:\n  admin.conf: \"" ["Winter-2031-x"] "\"\n";
    "WireGuard key": "[Interface]\nPrivateKey = " ["yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="] "\nAddress = 10.0.0.1/24\n";
    "WireGuard preshared key": "[Peer]\nPresharedKey = " ["FpCyhws9cxwWoV4xELtfJvjJN+zQVRPISllRWgeopVE="] "\n";
    "WireGuard key in a heredoc": "sudo tee /etc/wireguard/wg0.conf <<EOF\n[Interface]\nPrivateKey = " ["yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="] "\nEOF";
    "WireGuard key, echoed": "echo 'PrivateKey = " ["yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="] "' >> wg0.conf";
    "WireGuard command": "echo " ["yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="] " | wg pubkey";
    "age key": "AGE-SECRET" "-KEY-1" ["4O556R3AYAIV43FWFVLHBT6MHNWGVEMKS254KPR4YDDK7IUYBRRT55Y4G5"];
    "shadow file": "root:$6$" ["Kd93jQx0$Zb5LmN2pRt8sVwYc7Ah4Ef6Gi1JkMoPqRsTuVwXyZ0123456789abcdefgh"] ":19000:0:99999:7:::\n";
    "bcrypt hash": "bob:$2y$10$" ["Kd93jQx0Zb5LmN2pRt8sVuYc7Ah4Ef6Gi1JkMoPqRsTuVwXyZ0123"] "\n";
    "Argon2 hash": "hash: $argon2id$v=19$m=65536,t=3,p=4$" ["Kd93jQx0Zb5LmN2p$Rt8sVwYc7Ah4Ef6Gi1JkMoPqRsTuVwXyZ01"] "\n";
    "yescrypt hash": "usermod -p '$y$j9T$" ["Kd93jQx0Zb5LmN2pRt8sV.$wYc7Ah4Ef6Gi1JkMoPqRsTuVwXyZ0123456789abcd"] "' bob";
    "Apache hash": "bob:$apr1$" ["Kd93jQx0$Zb5LmN2pRt8sVwYc7Ah4E."] "\n";
    "otpauth": "otpauth://totp/Example:bob?secret=" ["JBSWY3DPEHPK3PXPKRSXG5DT"] "&issuer=Example";
    "TOTP seed": "oathtool --totp -b " ["JBSWY3DPEHPK3PXPKRSXG5DT"];
    "TOTP setting": "totp_secret: " ["JBSWY3DPEHPK3PXPKRSXG5DT"] "\n";
    "LUKS": "echo -n " ["Winter-2031-x"] " | cryptsetup luksOpen /dev/sdb1 x -";
    "Ethereum key": "cast send 0x00 --private-key 0x" ["4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"];
};

/// Options and inputs of programs.
const PROGRAMS: &[SecretKind] = kinds! {
    "mysql": "mysql -u root -p" ["Winter-2031-x"] " db";
    "mysql, long": "mysql --user=root --password='" ["Winter-2031-x"] "' db";
    "mysqladmin": "mysqladmin -u root password '" ["Winter-2031-x"] "'";
    "psql": "PGPASSWORD=" ["Winter-2031-x"] " psql -h db";
    "psql conninfo": "psql \"host=db user=app password=" ["Winter-2031-x"] " dbname=app\"";
    "curl": "curl -u bob:" ["Winter-2031-x"] " https://example.org";
    "curl, joined": "curl -sSLubob:" ["Winter-2031-x"] " https://example.org";
    "curl form": "curl -F password=" ["Winter-2031-x"] " https://example.org";
    "curl data": "curl --data 'user=bob&password=" ["Winter-2031-x"] "' https://example.org";
    "curl bearer": "curl --oauth2-bearer " ["Kd93jQx0Zb5LmN2pRt8s"] " https://example.org";
    "curl key": "curl --cert c.pem --pass " ["Winter-2031-x"] " https://example.org";
    "wget": "wget --user=bob --password=" ["Winter-2031-x"] " https://example.org";
    "wget header": "wget --header='Authorization: Basic " ["Ym9iOldpbnRlcjIwMzEh"] "' x";
    "HTTPie": "http -a bob:" ["Winter-2031-x"] " example.org";
    "HTTPie header": "http example.org X-Api-Key:" ["Kd93jQx0Zb5LmN2pRt8s"];
    "sshpass": "sshpass -p " ["Winter-2031-x"] " ssh bob@h";
    "sshpass variable": "SSHPASS=" ["Winter-2031-x"] " sshpass -e ssh h";
    "ssh-keygen": "ssh-keygen -t ed25519 -N '" ["Winter-2031-x"] "' -f k";
    "docker login": "docker login -u bob -p " ["Winter-2031-x"] " r.io";
    "docker login, stdin": "printf '%s' '" ["Winter-2031-x"] "' | docker login -u bob --password-stdin";
    "docker variable": "docker run -e POSTGRES_PASSWORD=" ["Winter-2031-x"] " postgres";
    "docker secret": "echo " ["Winter-2031-x"] " | docker secret create db -";
    "podman secret": "printf " ["Winter-2031-x"] " | podman secret create db -";
    "openssl": "openssl rsa -in k -passin pass:" ["Winter-2031-x"] " -out x";
    "openssl, out": "openssl pkcs12 -export -passout 'pass:" ["Winter-2031-x"] "'";
    "openssl passwd": "openssl passwd -6 " ["Winter-2031-x"];
    "htpasswd": "htpasswd -bc f bob " ["Winter-2031-x"];
    "ldapsearch": "ldapsearch -x -D cn=admin -w " ["Winter-2031-x"] " -b dc=x";
    "ldappasswd": "ldappasswd -s " ["Winter-2031-x"] " cn=bob";
    "redis-cli": "redis-cli -h h -a " ["Winter-2031-x"] " ping";
    "redis-cli, long": "redis-cli --user bob --pass " ["Winter-2031-x"] " ping";
    "redis AUTH": "redis-cli AUTH " ["Winter-2031-x"];
    "redis.conf": "bind 127.0.0.1\nrequirepass " ["Winter-2031-x"] "\n";
    "mongosh": "mongosh -u bob -p " ["Winter-2031-x"] " db";
    "sqlcmd": "sqlcmd -S h -U sa -P " ["Winter-2031-x"] " -Q x";
    "sqlplus": "sqlplus bob/" ["Winter-2031-x"] "@db";
    "smbclient": "smbclient //h/s -U bob%" ["Winter-2031-x"];
    "mount.cifs": "mount -t cifs //h/s /mnt -o username=bob,password=" ["Winter-2031-x"];
    "rclone": "rclone config create r sftp user=bob pass=" ["Winter-2031-x"];
    "rclone obscure": "rclone obscure " ["Winter-2031-x"];
    "gpg": "gpg --batch --passphrase " ["Winter-2031-x"] " -c f";
    "gpg, stdin": "echo '" ["Winter-2031-x"] "' | gpg --batch --passphrase-fd 0 -d f";
    "zip": "zip -P " ["Winter-2031-x"] " x.zip f";
    "zip, joined options": "zip -rP " ["Winter-2031-x"] " x.zip f";
    "7z": "7z a -p" ["Winter-2031-x"] " x.7z f";
    "keytool": "keytool -genkey -storepass " ["Winter-2031-x"] " -keypass x";
    "jarsigner": "jarsigner -keypass " ["Winter-2031-x"] " a.jar k";
    "sudo": "echo " ["Winter-2031-x"] " | sudo -S apt update";
    "sudo, joined options": "echo '" ["Winter-2031-x"] "' | sudo -kS apt update";
    "sudo, later": "echo " ["Winter-2031-x"] " | sudo -u bob -S ls";
    "sudo, long": "echo " ["Winter-2031-x"] " | sudo --stdin ls";
    "sudo, here string": "sudo -S ls <<< " ["Winter-2031-x"];
    "sudo, here string in quotes": "sudo -S ls <<<'" ["Winter-2031-x"] "'";
    "su": "echo " ["Winter-2031-x"] " | su -c ls bob";
    "chpasswd": "echo bob:" ["Winter-2031-x"] " | chpasswd";
    "chpasswd, quoted": "echo \"bob:" ["Winter-2031-x"] "\" | sudo chpasswd";
    "chpasswd, path": "printf 'bob:" ["Winter-2031-x"] "' | /usr/sbin/chpasswd -c SHA512";
    "chpasswd, heredoc": "chpasswd <<EOF\nbob:" ["Winter-2031-x"] "\nEOF";
    "chpasswd, here string": "sudo chpasswd <<< 'bob:" ["Winter-2031-x"] "'";
    "passwd": "echo " ["Winter-2031-x"] " | passwd --stdin bob";
    "passwd, twice": "printf '" ["Winter-2031-x"] "\\n" "Winter-2031-x\\n' | passwd bob";
    "useradd": "useradd -p " ["Winter-2031-x"] " bob";
    "net user": "net user bob " ["Winter-2031-x"] " /add";
    "kinit": "echo " ["Winter-2031-x"] " | kinit bob@X";
    "ansible": "ansible all -e ansible_password=" ["Winter-2031-x"];
    "ansible-vault": "ansible-vault encrypt_string '" ["Winter-2031-x"] "' --name db";
    "kubectl literal": "kubectl create secret generic s --from-literal=k=" ["Winter-2031-x"];
    "kubectl literal, next word": "kubectl create secret generic s --from-literal k=" ["Winter-2031-x"];
    "kubectl registry": "kubectl create secret docker-registry r --docker-password=" ["Winter-2031-x"];
    "kubectl credentials": "kubectl config set-credentials x --token=" ["Kd93jQx0Zb5LmN2pRt8s"];
    "helm": "helm install x y --set auth.password=" ["Winter-2031-x"];
    "heroku": "heroku config:set DB_PASSWORD=" ["Winter-2031-x"];
    "fly": "flyctl secrets set FOO=" ["Winter-2031-x"];
    "wrangler": "echo " ["Winter-2031-x"] " | wrangler secret put FOO";
    "Vercel": "vercel --token " ["Kd93jQx0Zb5LmN2pRt8s"] " deploy";
    "Terraform": "terraform apply -var db_password=" ["Winter-2031-x"];
    "nmcli": "nmcli dev wifi connect Home password " ["Winter-2031-x"];
    "wpa_passphrase": "wpa_passphrase Home " ["Winter-2031-x"];
    "wpa_supplicant": "network={\n  ssid=\"Home\"\n  psk=\"" ["Winter-2031-x"] "\"\n}";
    "iwctl": "iwctl --passphrase " ["Winter-2031-x"] " station wlan0 connect Home";
    "security": "security add-generic-password -a bob -s s -w " ["Winter-2031-x"];
    "secret-tool": "printf '" ["Winter-2031-x"] "' | secret-tool store --label=x a b";
    "git credential": "printf 'host=h\\nusername=bob\\npassword=" ["Winter-2031-x"] "\\n' | git credential approve";
    "git-credentials": "https://bob:" ["Winter-2031-x"] "@git.example.org\n";
    ".netrc on one line": "machine h login bob password " ["Winter-2031-x"] "\n";
    ".netrc on lines": "machine api.example.org\n  login bob\n  password " ["Winter-2031-x"] "\n";
    ".netrc, default": "default login anonymous password " ["Winter-2031-x"] "\n";
    ".netrc, echoed": "echo 'machine h login bob password " ["Winter-2031-x"] "' > ~/.netrc";
    ".netrc, heredoc": "cat > ~/.netrc <<EOF\nmachine h\nlogin bob\npassword " ["Winter-2031-x"] "\nEOF";
    "lftp": "lftp -u bob," ["Winter-2031-x"] " h";
    "ftp": "ftp://bob:" ["Winter-2031-x"] "@h/f";
    "rsync": "RSYNC_PASSWORD=" ["Winter-2031-x"] " rsync a b";
    "restic": "RESTIC_PASSWORD=" ["Winter-2031-x"] " restic backup";
    "borg": "BORG_PASSPHRASE='" ["Winter-2031-x"] "' borg list";
    "evil-winrm": "evil-winrm -i h -u bob -p " ["Winter-2031-x"];
    "xfreerdp": "xfreerdp /v:h /u:bob /p:" ["Winter-2031-x"];
    "vncpasswd": "echo " ["Winter-2031-x"] " | vncpasswd -f > p";
    "PowerShell": "ConvertTo-SecureString '" ["Winter-2031-x"] "' -AsPlainText -Force";
    "cmdkey": "cmdkey /add:h /user:bob /pass:" ["Winter-2031-x"];
};

/// Settings, addresses, headers and code.
const TEXTS: &[SecretKind] = kinds! {
    "environment file": "USER=bob\nDB_PASSWORD=" ["Winter-2031-x"] "\nPORT=1\n";
    "JSON": "{\"user\": \"bob\", \"password\": \"" ["Winter-2031-x"] "\"}";
    "JSON in a heredoc": "cat > c.json <<'EOF'\n{\"api_key\": \"" ["Winter-2031-x"] "\"}\nEOF";
    "JSON, escaped": "curl -d \"{\\\"password\\\":\\\"" ["Winter-2031-x"] "\\\"}\" x";
    "YAML": "db:\n  user: bob\n  password: " ["Winter-2031-x"] "\n";
    "YAML, quoted": "db:\n  password: '" ["Winter-2031-x"] "'\n";
    "YAML list": "env:\n- name: DB_PASSWORD\n  value: " ["Winter-2031-x"] "\n";
    "YAML list, quoted": "env:\n  - name: DB_PASSWORD\n    value: \"" ["Winter-2031-x"] "\"\n";
    "TOML": "[db]\npassword = \"" ["Winter-2031-x"] "\"\n";
    "INI": "[client]\nuser=root\npassword=" ["Winter-2031-x"] "\n";
    "INI, spaced": "[client]\npassword = " ["Winter-2031-x"] "\n";
    "properties": "spring.datasource.password=" ["Winter-2031-x"] "\n";
    "XML element": "<server><password>" ["Winter-2031-x"] "</password></server>";
    "XML attribute": "<add name=\"x\" password=\"" ["Winter-2031-x"] "\" />";
    "XML key and value": "<add key=\"ApiSecret\" value=\"" ["Winter-2031-x"] "\" />";
    "Terraform": "resource \"x\" \"y\" {\n  admin_password = \"" ["Winter-2031-x"] "\"\n}";
    "Dockerfile": "FROM x\nENV DB_PASSWORD=" ["Winter-2031-x"] "\n";
    "Compose": "environment:\n  - MYSQL_ROOT_PASSWORD=" ["Winter-2031-x"] "\n";
    "GitHub Actions": "env:\n  API_KEY: " ["Kd93jQx0Zb5LmN2pRt8s"] "\n";
    "PostgreSQL address": "postgresql://app:" ["Winter-2031-x"] "@db/app";
    "MySQL address": "mysql://root:" ["Winter-2031-x"] "@db:3306/app";
    "MongoDB address": "mongodb+srv://bob:" ["Winter-2031-x"] "@c0.example.org/x";
    "Redis address": "redis://:" ["Winter-2031-x"] "@h:6379/0";
    "AMQP address": "amqp://guest:" ["Winter-2031-x"] "@mq:5672/";
    "SMTP address": "smtp://bob%40x.org:" ["Winter-2031-x"] "@mail:587";
    "JDBC": "jdbc:postgresql://h/db?user=bob&password=" ["Winter-2031-x"];
    "JDBC, SQL Server": "jdbc:sqlserver://h:1433;user=sa;password=" ["Winter-2031-x"] ";encrypt=true";
    "JDBC, Oracle": "jdbc:oracle:thin:bob/" ["Winter-2031-x"] "@h:1521:x";
    "ADO.NET": "Server=h;Database=d;User Id=sa;Password=" ["Winter-2031-x"] ";";
    "ODBC": "Driver={x};Server=h;Uid=sa;Pwd=" ["Winter-2031-x"] ";";
    "Go data source": "sql.Open(\"mysql\", \"root:" ["Winter-2031-x"] "@tcp(h:3306)/db\")";
    "SQLAlchemy": "create_engine('mysql+pymysql://root:" ["Winter-2031-x"] "@h/db')";
    "presigned address": "https://b.s3.example.org/k?X-Amz-Credential=x&X-Amz-Signature=" ["c18299943f76eb8a7c4797dfc4d64e0dabd6c7ce315ade7da253bb0cb68c1b2c"];
    "presigned security token": "https://b.s3.example.org/k?X-Amz-Security-Token=" ["IQoJb3JpZ2luX2VjEJrKd93jQx0Zb5LmN2pRt8sVw"];
    "Google presigned address": "https://storage.example.org/k?X-Goog-Signature=" ["00ff00ff12ab34cd00ff00ff12ab34cd"];
    "bearer header": "Authorization: Bearer " ["Kd93jQx0Zb5LmN2pRt8s"] "\r\n";
    "basic header": "Authorization: Basic " ["Ym9iOldpbnRlcjIwMzEh"] "\r\n";
    "key header": "X-Api-Key: " ["Kd93jQx0Zb5LmN2pRt8s"] "\r\n";
    "AWS header": "X-Amz-Security-Token: " ["IQoJb3JpZ2luX2VjEJrKd93jQx0Zb5LmN2pRt8sVw"] "\r\n";
    "cookie": "Cookie: session=" ["Kd93jQx0Zb5LmN2pRt8s"] "; theme=dark\r\n";
    "set cookie": "Set-Cookie: sid=" ["Kd93jQx0Zb5LmN2pRt8s"] "; HttpOnly\r\n";
    "CSRF header": "X-CSRF-Token: " ["Kd93jQx0Zb5LmN2pRt8s"] "\r\n";
    "Python argument": "conn = connect(host='h', password='" ["Winter-2031-x"] "')";
    "Python argument in a command": "python3 -c \"import x; x.connect(password='" ["Winter-2031-x"] "')\"";
    "Python argument, short": "python3 -c \"x.connect('h', password='" ["hunter2"] "', port=1)\"";
    "Python argument in single quotes": "python3 -c 'import x; x.connect(host=\"h\", password=\"" ["hunter2"] "\")'";
    "Python argument on a line": "conn = psycopg2.connect(\n    host='h',\n    password='" ["Winter-2031-x"] "',\n)";
    "Python positional": "client.login('bob@example.org', '" ["Winter-2031-x"] "')";
    "Python HTTP": "requests.get(u, auth=('bob', '" ["Winter-2031-x"] "'))";
    "Python HTTP, class": "HTTPBasicAuth('bob', '" ["Winter-2031-x"] "')";
    "Python dictionary": "cfg = {'user': 'bob', 'passwd': '" ["Winter-2031-x"] "'}";
    "Python environment": "os.environ['API_KEY'] = '" ["Winter-2031-x"] "'";
    "Python environment default": "os.getenv('API_KEY', '" ["Winter-2031-x"] "')";
    "Python heredoc": "python3 - <<'EOF'\nimport pymysql\npymysql.connect(host='h', password='" ["Winter-2031-x"] "')\nEOF";
    "JavaScript": "new Pool({ user: 'bob', password: '" ["Winter-2031-x"] "' })";
    "JavaScript in a command": "node -e \"new Pool({user: 'bob', password: '" ["Winter-2031-x"] "'})\"";
    "JavaScript default": "const key = process.env.API_KEY || '" ["Winter-2031-x"] "';";
    "Ruby": "Mysql2::Client.new(host: 'h', password: '" ["Winter-2031-x"] "')";
    "Ruby, arrow": "Mysql2::Client.new(:password => '" ["Winter-2031-x"] "')";
    "PHP": "new PDO('mysql:host=h', 'root', '" ["Winter-2031-x"] "');";
    "PHP define": "define('DB_PASSWORD', '" ["Winter-2031-x"] "');";
    "PHP variable": "$dbPassword = '" ["Winter-2031-x"] "';";
    "mysqli": "mysqli_connect('h', 'root', '" ["Winter-2031-x"] "');";
    "Go": "cfg := Config{User: \"bob\", Password: \"" ["Winter-2031-x"] "\"}";
    "Go call": "req.SetBasicAuth(\"bob\", \"" ["Winter-2031-x"] "\")";
    "Java": "DriverManager.getConnection(url, \"bob\", \"" ["Winter-2031-x"] "\")";
    "Java setter": "ds.setPassword(\"" ["Winter-2031-x"] "\");";
    "Rust": "Config::new().password(\"" ["Winter-2031-x"] "\")";
    "C#": "new NetworkCredential(\"bob\", \"" ["Winter-2031-x"] "\")";
    "SQL": "CREATE USER bob IDENTIFIED BY '" ["Winter-2031-x"] "';";
    "SQL, PostgreSQL": "ALTER ROLE bob WITH ENCRYPTED PASSWORD '" ["Winter-2031-x"] "';";
    "SQL, lower case": "psql -c \"alter user bob password '" ["Winter-2031-x"] "'\"";
    "SQL, function": "SET PASSWORD FOR 'bob'@'h' = PASSWORD('" ["Winter-2031-x"] "');";
    "prose": "The password is " ["Winter-2031-x"] ", do not share it.";
    "Maven settings": "<servers><server><id>x</id><username>bob</username><password>" ["Winter-2031-x"] "</password></server></servers>";
    ".s3cfg": "[default]\nsecret_key = " ["kQ3vT8xZ1mR6wY9bN4cJ7hL2pS5dF0gAbaE3uIo4"] "\n";
    "SNMP": "snmpwalk -v3 -u bob -A " ["Winter-2031-x"] " -X y h";
    "IPsec": "%any : PSK \"" ["Winter-2031-x"] "\"\n";
    "git config": "git config --global github.token " ["94c16ddb423418bb0784fa2336183bedf9345d77"];
    "composer token": "composer config github-oauth.github.com " ["94c16ddb423418bb0784fa2336183bedf9345d77"];
    "NuGet": "dotnet nuget add source u -n x -u bob -p " ["Winter-2031-x"] " --store-password-in-clear-text";
    "Gradle": "signing.password=" ["Winter-2031-x"] "\n";
    "fish": "set -gx DB_PASSWORD " ["Winter-2031-x"] "\n";
    "PowerShell variable": "$Password = '" ["Winter-2031-x"] "'\n";
};

#[test]
fn keys_and_tokens_of_services_are_hidden() {
    check_hidden(SERVICES);
}

#[test]
fn private_keys_hashes_and_one_time_secrets_are_hidden() {
    check_hidden(KEYS);
}

#[test]
fn secrets_in_options_and_inputs_of_programs_are_hidden() {
    check_hidden(PROGRAMS);
}

#[test]
fn secrets_in_settings_addresses_headers_and_code_are_hidden() {
    check_hidden(TEXTS);
}

#[test]
fn the_table_has_at_least_101_kinds() {
    let tables = [SERVICES, KEYS, PROGRAMS, TEXTS];
    let mut texts: Vec<&str> =
        tables.iter().flat_map(|kinds| kinds.iter().map(|kind| kind.text)).collect();
    texts.sort_unstable();
    texts.dedup();
    assert!(texts.len() >= 101, "{}", texts.len());
}

/// Ordinary commands and texts, which are shown as they are.
const ORDINARY: &[&str] = &[
    "git show 94c16ddb423418bb0784fa2336183bedf9345d77",
    "git log --oneline 94c16dd..HEAD",
    "git commit -m 'Rotate the API token and reset the password'",
    "git checkout -b fix/password-reset",
    "git diff HEAD~3 -- src/secrets/token.rs",
    "git config --global user.name 'Bob'",
    "curl https://x.org/users/123e4567-e89b-12d3-a456-426614174000",
    "sha256sum -c <<< '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  f'",
    "docker pull x@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "restic --password-file /etc/restic.pw snapshots",
    "tool --password-file x",
    "ansible-playbook --vault-password-file ~/.vault site.yml",
    "python3 scripts/password_reset.py --user bob",
    "pytest tests/test_token.py::test_password_is_hashed -k secret",
    "grep -n token src",
    "grep -rn 'password' --include=*.rs src",
    "rg -n \"api_key|secret\" src",
    "sed -i 's/password/passphrase/' README.md",
    "ls -la ~/.ssh/ /run/secrets",
    "cat token.txt | wc -l",
    "echo aGVsbG8= | base64 -d",
    "echo hello | base64",
    "echo 'login page'; echo done",
    "npm install react@18.2.0 left-pad@1.3.0",
    "cargo add serde@1.0.219 --features derive",
    "pip install 'requests>=2.31,<3' token-bucket==0.3.0",
    "apt install -y passwd libsecret-1-0=0.20.5-3",
    "docker run -p 8080:80 -v $PWD:/w nginx:1.27",
    "ssh -p 2222 bob@h.example.org uptime",
    "mkdir -p /tmp/a && cp -p f /tmp/a",
    "useradd -m -s /bin/bash bob",
    "passwd bob",
    "sudo passwd -l bob",
    "su - postgres -c 'psql -l'",
    "sudo -S -v",
    "curl -sSL https://x.org/install.sh -o install.sh",
    "curl -sSf -u \"$USER:$PASS\" https://x.org",
    "zip -r out.zip src",
    "openssl rand -hex 32",
    "openssl passwd -6",
    "ssh-keygen -t ed25519 -f ~/.ssh/id_test",
    "wg genkey | tee key | wg pubkey",
    "vault kv get secret/db",
    "kubectl get secrets -n prod",
    "kubectl get secret db -o yaml",
    "gh secret list",
    "flyctl secrets list",
    "aws ssm get-parameter --name /db --with-decryption",
    "aws ssm put-parameter --name /x --value $VALUE",
    "az keyvault secret show --name n",
    "redis-cli ping",
    "net user",
    "cargo login",
    "nmcli dev wifi list",
    "security find-generic-password -a bob -w",
    "fn login(user: &str, password: &str) -> Result<Token, Error> {",
    "client.login(username, password)",
    "os.environ.get('API_KEY', '')",
    "os.getenv('API_KEY', default)",
    "const key = process.env.API_KEY || '';",
    "input = getpass('Password: ')",
    "t('password', 'Password')",
    "user.setPassword(hash(input));",
    "let token = tokens.next().unwrap();",
    "kind: Deployment\ndata:\n  x: y1z2\n",
    "kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  level: debug2\n",
    "- name: LOG_LEVEL\n  value: debug2\n",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db2\n",
    "<add key=\"Timeout\" value=\"30s\" />",
    "price: $5, or $6 with tax; a $20 bill",
    "awk '{print $1 $2}' f",
    "version 1.22.333-rc.4+build.5",
    "2031-01-01T12:34:56Z request_id=7f3a9c status=200",
    "alter table users add column password text",
    "The password is wrong.",
    "The password is not set, the token is expired.",
    "default login page of the machine",
    "createToken('session')",
    "PASSWORD_MIN_LENGTH=12",
    "TOKEN_URL=https://x.org/oauth/token",
];

#[test]
fn ordinary_texts_stay_as_they_are() {
    check_all(ORDINARY.iter().map(|text| (*text, *text)));
    for text in ORDINARY {
        let input = format!("{{\"command\":{}}}", callgate_wire::raw::json_string(text));
        check_json(&input, &input);
    }
    assert!(ORDINARY.len() >= 40);
}
