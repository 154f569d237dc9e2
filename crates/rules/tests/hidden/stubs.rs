//! The programs that lines find: stubs that write down how they were called, and real ones that
//! hand words on.

/// Real programs that read, write and run what they are given.
pub(crate) const REAL_PROGRAMS: &str = "awk base64 basename bash cat chmod cp cut dash dd diff dirname \
    env false find flock grep head install ln ls mkdir mktemp mv nice nl nohup od paste perl printf \
    python3 readlink rev sed seq setsid sh sleep sort split stdbuf tac tail tar tee timeout touch tr true \
    truncate uniq wc xargs xxd zsh echo test ionice id expr";

/// Writes the name and the arguments into the log, which is beside the folder of the programs.
macro_rules! stub {
    ($rest:literal) => {
        concat!(
            "#!/bin/dash\nIFS='\x1f'\nprintf '%s\\n' \"${0##*/}\x1f$*\" >> \"${0%/*}/../log\"\n",
            "IFS=' \t\n'\n",
            $rest
        )
    };
}

/// The stubs: names, and a script of dash.
pub(crate) const STUBS: [(&str, &str); 5] = [
    ("callgate killall pkill", stub!("exit 0\n")),
    (
        "git",
        stub!(
            r#"
while :; do
    case $1 in
    -c)
        case $2 in alias.*) alias=${2#alias.} ;; esac
        shift 2
        ;;
    -C | --git-dir | --work-tree) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
if [ -n "$alias" ] && [ "$1" = "${alias%%=*}" ]; then
    shift
    case ${alias#*=} in
    !*) exec sh -c "${alias#*=!} \"\$@\"" git "$@" ;;
    *) exec "$0" ${alias#*=} "$@" ;;
    esac
fi
case $1 in
rebase)
    while [ $# -gt 0 ]; do
        case $1 in
        -x | --exec) exec sh -c "$2" ;;
        --exec=*) exec sh -c "${1#*=}" ;;
        esac
        shift
    done
    ;;
submodule)
    [ "$2" = foreach ] || exit 0
    shift 2
    [ "$1" = --recursive ] && shift
    exec sh -c "$*"
    ;;
bisect)
    [ "$2" = run ] || exit 0
    shift 2
    exec "$@"
    ;;
esac
exit 0
"#
        ),
    ),
    (
        "ssh",
        stub!(
            r#"
while :; do
    case $1 in
    -[pilo]) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
shift
[ "$1" = -- ] && shift
[ $# -gt 0 ] || exec sh
exec sh -c "$*"
"#
        ),
    ),
    (
        "su",
        stub!(
            r#"
while [ $# -gt 0 ]; do
    [ "$1" = -c ] && exec sh -c "$2"
    shift
done
exec sh
"#
        ),
    ),
    (
        "sudo doas",
        stub!(
            r#"
while :; do
    case $1 in
    -[ugp]) shift 2 ;;
    --) shift; break ;;
    -*) shift ;;
    *=*) export "$1"; shift ;;
    *) break ;;
    esac
done
exec "$@"
"#
        ),
    ),
];

/// Returns the call in a line of the log, if it must not happen without a person.
pub(crate) fn denied_run(call: &str) -> Option<String> {
    let mut words = call.split('\x1f');
    let is_denied = match words.next()? {
        "callgate" => words.next().is_some_and(|word| !word.starts_with("--")),
        "killall" | "pkill" => words.any(|word| word == "callgate"),
        "git" => git_command(words) == Some("push"),
        _ => false,
    };
    is_denied.then(|| format!("`{}` ran", call.replace('\x1f', " ")))
}

/// Returns the first word after the options of `git`.
fn git_command<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    loop {
        match words.next()? {
            "-c" | "-C" | "--git-dir" | "--work-tree" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
}
