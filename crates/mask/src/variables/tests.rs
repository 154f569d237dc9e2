//! The values of secret variables are hidden.

use super::*;

#[test]
fn values_are_hidden_wherever_they_occur() {
    let variables = [
        ("ANTHROPIC_API_KEY", "0123456789"),
        ("github_token", "abcdefgh"),
        ("MY_KEY", "short"),
        ("PWD", "/home/ada"),
        ("PATH", "/usr/bin:/bin"),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let secrets = SecretVariables::new(variables);
    assert_eq!(
        secrets.mask("/home/ada: bad key 0123456789, short abcdefgh0123456789"),
        "/home/ada: bad key [hidden 1: secret variable], short [hidden 2: secret variable]\
         [hidden 1: secret variable]"
    );
    assert_eq!(secrets.mask("a task"), "a task");
    assert_eq!(format!("{secrets:?}"), "SecretVariables { count: 2 }");
}
