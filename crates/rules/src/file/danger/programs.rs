//! Programs whose arguments can make them run other programs or write files.

use callgate_mask::word_list::WordList;
use callgate_mask::words;

/// Programs that can start a shell or another program through their arguments or their own
/// commands; sorted, in lower case. The list is long, and rules are read at every call.
#[rustfmt::skip]
pub(in crate::file) const ESCAPES: &[&str] = &[
    "aa-exec", "acr", "agetty", "ansible", "ansible-playbook", "ansible-test", "ant", "aoss",
    "apache2", "apk", "apt", "apt-get", "aptitude", "arch-nspawn", "aria2c", "ash", "asterisk",
    "at", "autoconf", "autoheader", "autoreconf", "awk", "bash", "batch", "bconsole", "borg",
    "bpftrace", "brew", "bun", "bundle", "bundler", "busctl", "byebug", "bzless", "cabal", "capsh",
    "cdist", "certbot", "check_by_ssh", "check_ssl_cert", "choom", "chroot", "chrt", "clisp",
    "cmake", "cobc", "codex", "composer", "concurrently", "cowsay", "cowthink", "cpan", "cpanm",
    "cpio", "cpulimit", "crash", "crontab", "csh", "csvtool", "ctr", "dash", "dc", "debugfs",
    "deno", "dhclient", "distcc", "dmsetup", "dnf", "dnsmasq", "doas", "docker", "docker-compose",
    "dosbox", "dotnet", "dpkg", "dumpcap", "dvips", "easy_install", "easyrsa", "eb", "ed", "elvish",
    "emacs", "enscript", "entr", "env", "ex", "exiftool", "expect", "fabric", "fastfetch",
    "fastlane", "ffmpeg", "ffprobe", "find", "firejail", "fish", "flatpak", "flock", "forge", "ftp",
    "fzf", "gawk", "gcc", "gdb", "gem", "genie", "ghc", "ghci", "ghostscript", "gimp", "ginsh",
    "git", "gnuplot", "go", "gpg", "gpg2", "gradle", "grc", "groff", "gs", "gtester", "gtk-launch",
    "guile", "hatch", "helm", "hg", "hping3", "httpd", "iftop", "invoke", "ionice", "ip", "irb",
    "ispell", "java", "jjs", "joe", "jrunscript", "jshell", "jtag", "julia", "kate", "knife", "ksh",
    "ksu", "kubectl", "latex", "latexmk", "ld", "ld.so", "less", "lftp", "links", "lldb",
    "loadkeys", "loginctl", "logrotate", "logsave", "ltrace", "lua", "lualatex", "luatex",
    "lwp-request", "lxd", "lynx", "m4", "mail", "mail.mailutils", "make", "man", "mawk", "minicom",
    "mksh", "more", "mosh", "mosh-server", "mplayer", "mpv", "msfconsole", "msgfilter", "multitime",
    "mutt", "mvn", "mysql", "nano", "nawk", "nc", "ncdu", "ncftp", "neofetch", "neovim", "nginx",
    "nice", "nmap", "node", "nodemon", "nohup", "nox", "npm", "nroff", "nsenter", "nsupdate",
    "nvim", "octave", "octave-cli", "opencode", "openssl", "openvpn", "opkg", "pacman", "pandoc",
    "parallel", "pdb", "pdflatex", "pdftex", "pdm", "perf", "perl", "perlbug", "pexec", "pg", "php",
    "pic", "pidstat", "pip", "pipx", "pkexec", "plymouth", "podman", "posh", "pre-commit", "pry",
    "psftp", "psql", "pssh", "puppet", "pwsh", "python", "r", "rails", "rake", "ranger", "rc",
    "restic", "rlwrap", "rpm", "rpmdb", "rpmquery", "rpmverify", "rsync", "rtorrent", "ruby",
    "run-parts", "runscript", "rustup", "rview", "rvim", "rye", "salt", "sash", "sbt", "scanmem",
    "scp", "screen", "script", "scrot", "sed", "service", "setarch", "setlock", "sftp", "sg",
    "slsh", "smbclient", "snap", "socat", "socket", "softlimit", "split", "sqlite3", "ssh",
    "ssh-agent", "ssh-keygen", "sshfs", "sshpass", "sshuttle", "start-stop-daemon", "stdbuf",
    "strace", "su", "sudo", "sysctl", "systemctl", "systemd-run", "tar", "task", "taskset",
    "tasksh", "tbl", "tclsh", "tcpdump", "tcsh", "tdbtool", "telnet", "terraform", "tex", "tic",
    "time", "timeout", "tmate", "tmux", "top", "torify", "torsocks", "tox", "troff", "ts-node",
    "tshark", "tsx", "unshare", "uv", "vagrant", "valgrind", "vi", "view", "vim", "vimdiff", "vlc",
    "w3m", "watch", "watchexec", "wg-quick", "wget", "wish", "xargs", "xdg-user-dir", "xdotool",
    "xelatex", "xpra", "xterm", "xzless", "yarn", "yash", "yt-dlp", "yum", "zathura", "zip",
    "zless", "zmore", "zsh", "zsoelim", "zypper",
];

/// Programs that only read unless an option or a second name makes them write a file.
pub(in crate::file) const WRITERS: &WordList = words!(
    "sort uniq tree xxd iconv xmllint xsltproc dot gofmt goimports prettier eslint biome ruff black \
    isort yq shuf csplit tee dd install curl wget aria2c objcopy strip ld javac rustc clang g++ \
    cc c++ tsc esbuild convert magick jpegtran optipng qpdf pdftotext unzip gunzip unxz 7z bzip2 \
    gzip xz zstd patch clang-format rustfmt shfmt autopep8 sqlfluff protoc flake8 mypy bat"
);

/// Programs that do so only through options and words of the form `NAME=value`: where a rule lists
/// its `options`, the other words are names, targets and files.
pub(super) const ONLY_BY_OPTIONS: &WordList = words!(
    "git cargo go npm pnpm yarn make gmake just ninja pytest jest rg sort tree gofmt prettier \
    eslint biome ruff black isort mypy flake8 cmake mvn gradle dotnet gh tsc rustfmt bat man \
    pre-commit tox nox cabal"
);

/// Interpreters that take the file of a script, after which all words belong to the script.
pub(super) const TAKES_SCRIPT: &WordList = words!(
    "python python2 python3 pypy pypy3 perl ruby node nodejs php lua luajit Rscript julia tclsh \
    guile sh bash zsh dash ksh pwsh jshell tsx ts-node osascript"
);

/// Commands of such programs that neither run programs nor write files by their options: the
/// program, and its harmless commands.
pub(super) const HARMLESS: &[(&str, &WordList)] = &[
    (
        "git",
        words!(
            "status add branch blame describe ls-files ls-tree merge-base rev-list rev-parse \
             switch tag"
        ),
    ),
    ("go", words!("version env")),
    ("docker", words!("ps images logs inspect")),
    ("systemctl", words!("status is-active")),
    ("npm", words!("ls view")),
    ("pip", words!("show list freeze")),
    ("rustup", words!("show")),
    ("apt", words!("list show")),
    ("brew", words!("list info")),
    ("gem", words!("list")),
];

/// Commands with the option that a warning names as an example.
pub(in crate::file) const EXAMPLES: &[(&str, &str)] = &[
    ("git log", "--output=FILE"),
    ("git diff", "--output=FILE"),
    ("git show", "--output=FILE"),
    ("git fetch", "--upload-pack=PROGRAM"),
    ("git pull", "--upload-pack=PROGRAM"),
    ("git clone", "--upload-pack=PROGRAM"),
    ("git push", "--receive-pack=PROGRAM"),
    ("git grep", "--open-files-in-pager=PROGRAM"),
    ("git rebase", "--exec=COMMAND"),
    ("npm run", "--script-shell=PROGRAM"),
    ("npm test", "--script-shell=PROGRAM"),
    ("pnpm run", "--script-shell=PROGRAM"),
    ("go test", "-exec PROGRAM"),
    ("go build", "-toolexec PROGRAM"),
    ("git", "-c core.pager=PROGRAM"),
    ("cargo", "--config FILE"),
    ("npm", "--script-shell=PROGRAM"),
    ("pytest", "-p PLUGIN"),
    ("make", "SHELL=PROGRAM"),
    ("rg", "--pre=PROGRAM"),
    ("sort", "--compress-program=PROGRAM"),
    ("tar", "--to-command=PROGRAM"),
    ("find", "-exec PROGRAM"),
    ("ssh", "-o ProxyCommand=PROGRAM"),
    ("curl", "--output FILE"),
    ("wget", "--output-document=FILE"),
];
