//! Programs and words with a special meaning, in lists separated by blanks.

use callgate_mask::word_list::WordList;
use callgate_mask::words;

/// Keywords: with one of them a line is more than lists and pipelines.
pub(crate) const CONTROL: &WordList = words!(
    "if then elif else fi for while until do done case esac select function coproc ]] { } \
    repeat foreach end always noglob nocorrect -"
);

/// Those of them after which a command begins.
pub(crate) const OPENERS: &WordList =
    words!("if then elif else while until do { coproc noglob nocorrect -");

/// Commands that change the shell, so that what follows may have another meaning.
pub(crate) const STATEFUL: &WordList = words!(
    "alias unalias export declare typeset local readonly read readarray mapfile unset set shopt \
    setopt unsetopt emulate source . eval trap enable disable hash builtin exec let getopts \
    bind bindkey complete compgen compopt fc autoload zmodload functions vared zle sched \
    integer float popd rehash unhash unfunction zstyle zcompile zformat zparseopts zsocket \
    ztcp print zpty zselect sysopen limit"
);

/// Commands that assign to the names among their words.
pub(crate) const DECLARERS: &WordList =
    words!("export declare typeset local readonly integer float private");

/// What may come before the name of a command of the shell, besides options.
pub(crate) const SHELL_PREFIXES: &WordList = words!("command builtin noglob nocorrect time exec !");

/// Commands that run a text in the same shell.
pub(crate) const SAME_SHELL: &WordList = words!("eval source . trap emulate");

/// Other programs with options or files that make them run a program.
pub(crate) const CAN_RUN: &WordList = words!(
    "git make gmake just rake ninja tar gtar bsdtar rsync scp sftp zip man less more sed gsed \
    hg svn m4 nc ncat openssl gcc sqlite3 psql mysql uv poetry pipenv bundle npm pnpm yarn \
    cargo go dotnet java gradle mvn nix sort split curl wget gh rg pytest jest cmake tmutil \
    systemctl launchctl dpkg apt apt-get pip pip3 brew ansible terraform vagrant claude codex \
    gemini opencode"
);

/// Interpreters of languages other than the shell's.
pub(crate) const LANGUAGES: &WordList = words!(
    "python python2 python3 pypy pypy3 ipython perl ruby irb node nodejs deno bun php lua luajit \
    awk gawk mawk nawk tclsh osascript R Rscript julia"
);

/// Programs whose arguments are a command line.
pub(crate) const LINE_TAKERS: &WordList = words!("eval trap su ssh watch at batch emulate");

/// Variables whose value a shell runs, or that name a file which it runs.
pub(crate) const RUN_VARIABLES: [&str; 9] =
    ["PS0", "PS1", "PS2", "PS4", "PROMPT", "PROMPT_COMMAND", "BASH_ENV", "ENV", "ZDOTDIR"];

/// Programs that remove, move or change whole folders.
pub(crate) const MOVERS: &WordList = words!(
    "rm rmdir mv cp gcp gmv grm ln gln install ginstall rsync chmod chown chgrp chattr setfacl \
    shred srm trash trash-put unlink find gfind fd fdfind rename mount umount bindfs tee \
    truncate dd rclone scp sftp cpio pax ditto xattr chflags mmv"
);

/// Programs that read everything in a folder.
pub(crate) const SEARCHERS: &WordList = words!(
    "grep egrep fgrep zgrep rg ag ack ugrep tar gtar bsdtar zip 7z find gfind fd fdfind rsync \
    scp cp rclone cpio pax ditto strings"
);
