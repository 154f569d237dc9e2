//! Programs that take a secret in a short option or in a certain position.

use std::sync::LazyLock;

use crate::word_list::WordList;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretPlacement {
    /// In the next word or right after the letter: `-p secret`, `-psecret`.
    Word,
    /// Only in the next word.
    Next,
    /// Only right after the letter: `-psecret`.
    Attached,
    /// In the next word or right after the letter, after the user's name and a colon or `%`.
    AfterUser,
    /// In a list of cookies.
    Cookies,
}

use SecretPlacement::{AfterUser, Attached, Cookies, Next, Word};

pub(super) struct OptionRule {
    programs: WordList,
    /// The subcommand that must have come before, if any.
    pub(super) after: Option<&'static str>,
    options: &'static str,
    pub(super) takes: SecretPlacement,
}

const fn option_rule(
    programs: &'static str,
    options: &'static str,
    takes: SecretPlacement,
) -> OptionRule {
    OptionRule { programs: WordList::new(programs), after: None, options, takes }
}

const MYSQL: &str = "\
    mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mariadb mariadb-dump";
const CONTAINERS: &str = "docker podman nerdctl buildah skopeo helm oras crane";
const MONGO: &str = "mongo mongosh mongodump mongorestore mongoexport mongoimport";
const LDAP: &str = "ldapsearch ldapadd ldapmodify ldappasswd ldapwhoami ldapdelete";
const REMOTE: &str = "crackmapexec evil-winrm netexec nxc";
const PACKERS: &str = "7z 7za 7zz 7zr rar unrar";

/// The rules; the first that matches counts.
static RULES: [OptionRule; 31] = [
    option_rule(MYSQL, "-p", Attached),
    option_rule("sshpass", "-p", Word),
    option_rule("curl", "-u -U --user --proxy-user", AfterUser),
    option_rule("curl", "-b --cookie", Cookies),
    option_rule("http https xh xhs", "-a --auth", AfterUser),
    OptionRule { after: Some("login"), ..option_rule(CONTAINERS, "-p", Word) },
    option_rule(CONTAINERS, "--creds --src-creds --dest-creds", AfterUser),
    option_rule("redis-cli", "-a", Word),
    option_rule(MONGO, "-p", Word),
    option_rule(LDAP, "-w", Word),
    option_rule("rabbitmqadmin", "-p", Word),
    option_rule("sqlcmd bcp osql", "-P", Word),
    option_rule("smbclient rpcclient smbget net", "-U", AfterUser),
    option_rule("zip unzip zipcloak", "-P", Word),
    option_rule(PACKERS, "-p", Attached),
    option_rule("openssl", "-k -K", Next),
    OptionRule { after: Some("login"), ..option_rule("az oc cf vault", "-p", Word) },
    OptionRule { after: Some("set"), ..option_rule("gh", "-b --body", Word) },
    option_rule("snmpwalk snmpget snmpset", "-A -X", Word),
    option_rule("xfreerdp rdesktop", "-p", Word),
    OptionRule { after: Some("put-parameter"), ..option_rule("aws", "--value", Word) },
    OptionRule { after: Some("set"), ..option_rule("az", "--value", Word) },
    option_rule("ssh-keygen", "-N -P", Next),
    option_rule("ldappasswd", "-s -a", Word),
    option_rule("useradd usermod", "-p", Next),
    option_rule("twine", "-p", Word),
    option_rule("security", "-w", Next),
    option_rule("lftp", "-u", AfterUser),
    option_rule("oathtool", "-b", Next),
    option_rule(REMOTE, "-p", Word),
    OptionRule { after: Some("nuget"), ..option_rule("dotnet", "-p", Next) },
];

/// Returns the name of the program that `word` calls, if there are rules for it.
pub(super) fn known_program(word: &[u8]) -> Option<&'static str> {
    /// The programs in order: a long text has hundreds of thousands of words to look up.
    static SORTED: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let mut all: Vec<&str> = RULES.iter().flat_map(|rule| rule.programs.iter()).collect();
        all.sort_unstable();
        all
    });
    let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
    // The same programs are called so on Windows and within WSL.
    let name = name.strip_suffix(b".exe").unwrap_or(name);
    let found = SORTED.binary_search_by(|known| known.as_bytes().cmp(name));
    found.ok().map(|at| SORTED[at])
}

/// Returns the rule of `program` for an option, and the length of the option's name.
pub(super) fn find_rule(program: &str, word: &[u8]) -> Option<(&'static OptionRule, usize)> {
    let of_program = |rule: &&'static OptionRule| rule.programs.contains(program.as_bytes());
    let flags = joined_flags(program, word);
    if flags > 0 {
        let word = [b"-", &word[1 + flags..]].concat();
        return find_rule(program, &word).map(|(rule, len)| (rule, len + flags));
    }
    RULES.iter().filter(of_program).find_map(|rule| {
        let fits = |option: &&str| {
            let Some(rest) = word.strip_prefix(option.as_bytes()) else { return false };
            let is_long = option.starts_with("--");
            // Otherwise `-keyout` of openssl would be taken for its `-k`.
            let is_exact = is_long || rule.takes == Next;
            rest.is_empty()
                || (is_long && rest[0] == b'=')
                || !(is_exact || word.starts_with(b"--"))
        };
        rule.options.split(' ').find(fits).map(|option| (rule, option.len()))
    })
}

/// Returns how many letters without a value precede that of an option: `-sSLuuser`, `-rP`.
fn joined_flags(program: &str, word: &[u8]) -> usize {
    let flags: &[u8] = match program {
        "curl" => b"sSLkfivgjnN46",
        "zip" => b"rqejm9",
        _ => return 0,
    };
    let is_short = word.len() > 2 && word[0] == b'-' && word[1] != b'-';
    let count = word.iter().skip(1).take_while(|byte| flags.contains(byte)).count();
    if is_short && count + 1 < word.len() { count } else { 0 }
}
