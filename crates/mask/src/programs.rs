//! Programs that run other programs. The rules read these lists too.
//!
//! Each list is one string with whitespace between the names.

use crate::word_list::WordList;
use crate::words;

pub const SHELLS: &WordList = words!("sh bash zsh dash ksh mksh ash fish csh tcsh rbash pwsh nu");

/// Programs that run the command that their arguments name.
pub const WRAPPERS: &WordList = words!(
    "sudo doas env timeout gtimeout nice ionice nohup setsid stdbuf time command builtin exec \
    chrt taskset chroot unshare nsenter xargs gxargs parallel watch strace ltrace gdb lldb \
    valgrind script flock caffeinate arch firejail systemd-run runuser setpriv \
    busybox toybox noglob nocorrect - faketime proxychains proxychains4 torsocks unbuffer entr \
    prlimit numactl cgexec dbus-run-session fakeroot pkexec catchsegv coproc rlwrap winpty npx \
    bunx pnpx uvx pipx direnv mise asdf hyperfine tsp nq gtime chpst softlimit setuidgid \
    s6-setuidgid setarch linux32 linux64 i386 x86_64 choom xvfb-run ld.so ld-linux.so.2 \
    ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1 ld-musl-aarch64.so.1"
);

/// Programs that run whatever their arguments or their input say, wherever it occurs in them.
pub const INTERPRETERS: &WordList = words!(
    "eval source . trap alias su ssh find gfind fd fdfind xargs gxargs parallel python python2 \
    python3 pypy pypy3 ipython perl ruby irb node nodejs deno bun php lua luajit awk gawk mawk \
    nawk vi vim nvim ex ed emacs emacsclient expect tclsh osascript docker podman nerdctl \
    kubectl lxc-attach tmux screen at batch crontab socat R Rscript julia busybox toybox \
    nix-shell wsl cmd powershell pwsh perf bwrap"
);

/// Returns true if a program is in `list`. Its folder, its version and the case of its letters do
/// not matter: `/usr/bin/Python3.12` is `python`.
pub fn is_one_of(program: &str, list: &WordList) -> bool {
    let name = program.trim_end_matches('/').rsplit('/').next().unwrap_or(program);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    list.contains_in_any_case(name) || (bare.len() < name.len() && list.contains_in_any_case(bare))
}

#[cfg(test)]
mod tests;
