//! Programs that take a secret in a short option or in a place of their own.

/// How an option of a program takes its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// In the next word or right after the letter: `-p secret`, `-psecret`.
    Word,
    /// Only in the next word.
    Next,
    /// Only right after the letter: `-psecret`.
    Attached,
    /// In the next word or right after the letter, after the user's name and a colon or `%`.
    AfterUser,
    /// A row of cookies.
    Cookies,
}

/// One option of one family of programs.
pub(super) struct Rule {
    programs: &'static [&'static str],
    /// The subcommand that must have come before, if any.
    pub(super) after: Option<&'static str>,
    options: &'static [&'static str],
    pub(super) takes: Takes,
}

const fn rule(
    programs: &'static [&'static str],
    options: &'static [&'static str],
    takes: Takes,
) -> Rule {
    Rule { programs, after: None, options, takes }
}

const MYSQL: [&str; 8] = [
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlcheck",
    "mysqlshow",
    "mariadb",
    "mariadb-dump",
];
const CONTAINERS: [&str; 8] =
    ["docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane"];
const MONGO: [&str; 6] =
    ["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"];
const LDAP: [&str; 5] = ["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldapdelete"];
const PACKERS: [&str; 6] = ["7z", "7za", "7zz", "7zr", "rar", "unrar"];

/// The rules, of which the first that fits counts.
static RULES: [Rule; 20] = [
    rule(&MYSQL, &["-p"], Takes::Attached),
    rule(&["sshpass"], &["-p"], Takes::Word),
    rule(&["curl"], &["-u", "-U", "--user", "--proxy-user"], Takes::AfterUser),
    rule(&["curl"], &["-b", "--cookie"], Takes::Cookies),
    rule(&["http", "https", "xh", "xhs"], &["-a", "--auth"], Takes::AfterUser),
    Rule { after: Some("login"), ..rule(&CONTAINERS, &["-p"], Takes::Word) },
    rule(&CONTAINERS, &["--creds", "--src-creds", "--dest-creds"], Takes::AfterUser),
    rule(&["redis-cli"], &["-a"], Takes::Word),
    rule(&MONGO, &["-p"], Takes::Word),
    rule(&LDAP, &["-w"], Takes::Word),
    rule(&["rabbitmqadmin"], &["-p"], Takes::Word),
    rule(&["sqlcmd", "bcp", "osql"], &["-P"], Takes::Word),
    rule(&["smbclient", "rpcclient", "smbget", "net"], &["-U"], Takes::AfterUser),
    rule(&["zip", "unzip", "zipcloak"], &["-P"], Takes::Word),
    rule(&PACKERS, &["-p"], Takes::Attached),
    rule(&["openssl"], &["-k", "-K"], Takes::Next),
    Rule { after: Some("login"), ..rule(&["az", "oc", "cf", "vault"], &["-p"], Takes::Word) },
    Rule { after: Some("set"), ..rule(&["gh"], &["-b", "--body"], Takes::Word) },
    rule(&["snmpwalk", "snmpget", "snmpset"], &["-A", "-X"], Takes::Word),
    rule(&["xfreerdp", "rdesktop"], &["-p"], Takes::Word),
];

/// All programs of the rules, in order.
static PROGRAMS: [&str; 62] = [
    "7z",
    "7za",
    "7zr",
    "7zz",
    "az",
    "bcp",
    "buildah",
    "cf",
    "crane",
    "curl",
    "docker",
    "gh",
    "helm",
    "http",
    "https",
    "ldapadd",
    "ldapdelete",
    "ldapmodify",
    "ldapsearch",
    "ldapwhoami",
    "mariadb",
    "mariadb-dump",
    "mongo",
    "mongodump",
    "mongoexport",
    "mongoimport",
    "mongorestore",
    "mongosh",
    "mysql",
    "mysqladmin",
    "mysqlcheck",
    "mysqldump",
    "mysqlimport",
    "mysqlshow",
    "nerdctl",
    "net",
    "oc",
    "openssl",
    "oras",
    "osql",
    "podman",
    "rabbitmqadmin",
    "rar",
    "rdesktop",
    "redis-cli",
    "rpcclient",
    "skopeo",
    "smbclient",
    "smbget",
    "snmpget",
    "snmpset",
    "snmpwalk",
    "sqlcmd",
    "sshpass",
    "unrar",
    "unzip",
    "vault",
    "xfreerdp",
    "xh",
    "xhs",
    "zip",
    "zipcloak",
];

/// The name of the program that `word` calls, if there are rules for it.
pub(super) fn program(word: &[u8]) -> Option<&'static str> {
    let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
    let name = name.strip_suffix(b".exe").unwrap_or(name);
    let place = PROGRAMS.binary_search_by(|program| program.as_bytes().cmp(name)).ok()?;
    Some(PROGRAMS[place])
}

/// The rule of `program` for an option, and how long the option's name is.
pub(super) fn option(program: &str, word: &[u8]) -> Option<(&'static Rule, usize)> {
    RULES.iter().filter(|rule| rule.programs.contains(&program)).find_map(|rule| {
        let fits = |option: &&&str| {
            let Some(rest) = word.strip_prefix(option.as_bytes()) else { return false };
            let is_long = option.starts_with("--");
            let is_exact = is_long || rule.takes == Takes::Next;
            rest.is_empty()
                || (is_long && rest[0] == b'=')
                || !(is_exact || word.starts_with(b"--"))
        };
        rule.options.iter().find(fits).map(|option| (rule, option.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_programs_is_that_of_the_rules() {
        let mut all: Vec<&str> = RULES.iter().flat_map(|rule| rule.programs).copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all, PROGRAMS);
    }
}
