//! Programs and words with a meaning of their own, in lists with blanks between them.

use memchr::memchr2_iter;

/// Words of the grammar: with one of them a line is more than lists and pipelines.
pub(crate) const CONTROL: &str = "\
    if then elif else fi for while until do done case esac select function coproc ]] { } \
    repeat foreach end always noglob nocorrect -";

/// Those of them after which a command begins.
pub(crate) const OPENERS: &str = "\
    if then elif else while until do { coproc noglob nocorrect -";

/// Commands that change the shell, so that what follows may mean something else.
pub(crate) const STATEFUL: &str = "\
    alias unalias export declare typeset local readonly read readarray mapfile unset set shopt \
    setopt unsetopt emulate source . eval trap enable disable hash builtin exec let getopts \
    bind bindkey complete compgen compopt fc autoload zmodload functions vared zle sched \
    integer float popd rehash unhash unfunction zstyle zcompile zformat zparseopts zsocket \
    ztcp print zpty zselect sysopen limit";

/// Shells.
pub(crate) const SHELLS: &str = "\
    sh bash zsh dash ksh mksh ash fish csh tcsh rbash pwsh nu";

/// Programs that run the command that their arguments name.
pub(crate) const WRAPPERS: &str = "\
    sudo doas env timeout gtimeout nice ionice nohup setsid stdbuf time command builtin exec \
    chrt taskset chroot unshare nsenter xargs gxargs parallel watch strace ltrace gdb lldb \
    valgrind perf script flock caffeinate arch firejail bwrap systemd-run runuser setpriv \
    busybox toybox noglob nocorrect - faketime proxychains proxychains4 torsocks unbuffer entr \
    prlimit numactl cgexec dbus-run-session fakeroot pkexec catchsegv coproc rlwrap winpty npx \
    bunx pnpx uvx pipx direnv mise asdf hyperfine tsp nq gtime chpst softlimit setuidgid \
    s6-setuidgid";

/// Programs that run whatever their arguments or their input say, wherever it stands there.
pub(crate) const INTERPRETERS: &str = "\
    eval source . trap alias su ssh find gfind fd fdfind xargs gxargs parallel python python2 \
    python3 pypy pypy3 ipython perl ruby irb node nodejs deno bun php lua luajit awk gawk mawk \
    nawk vi vim nvim ex ed emacs emacsclient expect tclsh osascript docker podman nerdctl \
    kubectl lxc-attach tmux screen at batch crontab socat R Rscript julia busybox toybox \
    nix-shell wsl cmd powershell pwsh";

/// Other programs with options or files that make them run a program.
pub(crate) const CAN_RUN: &str = "\
    git make gmake just rake ninja tar gtar bsdtar rsync scp sftp zip man less more sed gsed \
    hg svn m4 nc ncat openssl gcc sqlite3 psql mysql uv poetry pipenv bundle npm pnpm yarn \
    cargo go dotnet java gradle mvn nix sort split curl wget gh rg pytest jest cmake tmutil \
    systemctl launchctl dpkg apt apt-get pip pip3 brew ansible terraform vagrant claude codex \
    gemini opencode";

/// Programs that remove, move or change whole folders.
pub(crate) const MOVERS: &str = "\
    rm rmdir mv cp gcp gmv grm ln gln install ginstall rsync chmod chown chgrp chattr setfacl \
    shred srm trash trash-put unlink find gfind fd fdfind rename mount umount bindfs tee \
    truncate dd rclone scp sftp cpio pax ditto xattr chflags mmv";

/// Programs that look at all that lies in a folder.
pub(crate) const SEARCHERS: &str = "\
    grep egrep fgrep zgrep rg ag ack ugrep tar gtar bsdtar zip 7z find gfind fd fdfind rsync \
    scp cp rclone cpio pax ditto strings";

/// Whether a name is in a list.
pub(crate) fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// Whether a program, by its last name and without a version, is in a list.
pub(crate) fn is_one_of(program: &str, list: &str) -> bool {
    let name = crate::place::last_name(program);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    holds_word(list, name) || (bare.len() < name.len() && holds_word(list, bare))
}

/// Returns true if `word` is one of the words of `list`, whatever the case of their letters. The
/// list is not cut into words: a hook that reads rules does this a thousand times.
fn holds_word(list: &str, word: &str) -> bool {
    let (list, word) = (list.as_bytes(), word.as_bytes());
    let Some(first) = word.first() else { return false };
    let is_end = |at: usize| list.get(at).is_none_or(u8::is_ascii_whitespace);
    let is_it = |at: usize| {
        let end = at + word.len();
        at.checked_sub(1).is_none_or(is_end)
            && is_end(end)
            && list.get(at..end).is_some_and(|known| known.eq_ignore_ascii_case(word))
    };
    let starts = memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), list);
    !word.iter().any(u8::is_ascii_whitespace) && starts.into_iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, word by word.
    fn is_word_of(list: &str, word: &str) -> bool {
        let is_it = |known: &str| known.eq_ignore_ascii_case(word);
        !word.is_empty() && list.split_ascii_whitespace().any(is_it)
    }

    proptest! {
        #[test]
        fn a_word_is_found_where_cutting_the_list_would_find_it(
            list in "[abAB. \\n]{0,24}",
            word in "[abAB. ]{0,3}",
        ) {
            prop_assert_eq!(holds_word(&list, &word), is_word_of(&list, &word));
        }
    }

    #[test]
    fn programs_are_known_by_their_last_names_without_versions() {
        for program in ["sudo", "/usr/bin/sudo", "SUDO", "sudo-1.9", "sudo2"] {
            assert!(is_one_of(program, WRAPPERS), "{program}");
        }
        for program in ["", "/", "sud", "sudo nice", "xsudo", "1.9"] {
            assert!(!is_one_of(program, WRAPPERS), "{program}");
        }
    }
}
