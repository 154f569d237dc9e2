//! Whatever a shell would execute is shown, or the text says that something hidden could run.

use super::{mask_json, mask_text};

/// Commands that execute the program `@`. `§` is the name of a variable, `¤` that of another one.
const RUNNING: [&str; 120] = [
    // The program itself.
    "@",
    "@ --all",
    "./@",
    "/tmp/@ x",
    "~/@",
    "dir/@",
    "A=1 @",
    "A=1 B='x y' ./@",
    ">log @",
    "2>log @",
    "2>&1 @",
    "</dev/null @",
    "{ @; }",
    "! @",
    "if @; then :; fi",
    "while @; do :; done",
    "for x in 1; do @; done",
    "case x in x) @;; esac",
    "echo $(case x in x) @;; esac)",
    "f() { @; }; f",
    "f() ( @ ); f",
    "function f { @; }; f",
    "(@)",
    "coproc @",
    "time @",
    "true && @",
    "false || @",
    "true & @",
    "true | @",
    "true |& @",
    // Inside other words.
    "echo $(@)",
    "echo `@`",
    "echo \"$(@)\"",
    "cat <(@)",
    "tee >(@)",
    "§=$(@) env",
    "§=`@` env",
    "§=x$(@) env",
    "§=\"x$(@)\" env",
    "§=${¤:-$(@)} env",
    "§=${¤:-`@`} env",
    "mysql -p$(@)",
    "mysql -px$(@) db",
    "mysql -p`@`",
    "mysql -p\"$(@)\"",
    "curl -u bob:$(@) x",
    "curl -u bob:x$(@) x",
    "curl -H \"Authorization: Bearer $(@)\" x",
    "curl -H \"Authorization: Bearer abcdefgh1$(@)\" x",
    "curl -H \"Cookie: sid=abcdef$(@)\" x",
    "curl \"https://x.org/?token=abcdef$(@)\"",
    "curl https://bob:$(@)@h",
    "tool --password $(@)",
    "tool --password x$(@)",
    "tool --password=x$(@)",
    "tool --password <(@)",
    "sshpass -p $(@) ssh h",
    "echo $(@) | sudo -S ls",
    "cat <<EOF\npassword: $(@)\nEOF",
    // Programs that run others.
    "sudo @",
    "sudo -u root @",
    "sudo -E -u root -- @",
    "env -i A=1 @",
    "env -u A -C /tmp @",
    "timeout 5 @",
    "timeout -k 5 10s @",
    "nice -n 5 @",
    "flock /tmp/l @",
    "ssh h @",
    "ssh -p 22 h @",
    "docker exec -it c @",
    "docker run --rm i @",
    "kubectl exec p -- @",
    "find . -exec @ {} +",
    "xargs -n 1 @ < f",
    "bash @",
    "bash -x @",
    "bash /tmp/@",
    "bash -c @",
    "bash -euxc '@ x'",
    "bash -c 'true; @'",
    "bash -lc \"sudo @\"",
    "sh -s < @",
    "sh < /tmp/@",
    ". @",
    "source ./@",
    "python3 @",
    "python3 -u /tmp/@",
    "uv run @",
    "eval @",
    "eval 'true; @'",
    "trap @ EXIT",
    "bash <<< @",
    "java -jar /tmp/@",
    "LD_PRELOAD=./@ ls",
    "BASH_ENV=@ bash -c ls",
    // Values of variables.
    "§=@; $§",
    "§=@; ${§} x",
    "§=@; \"$§\" x",
    "export §=@; eval \"$§\"",
    "¤=§; §=@; ${!¤} x",
    "declare -n ¤=§; §=@; $¤ x",
    "declare -gn ¤=§; §=@; $¤ x",
    "typeset -n ¤=§; §=@; $¤",
    "f() { local -n ¤=$1; $¤; }; §=@; f §",
    "§=@; ¤=$§; $¤",
    "§=@ bash -c '$§'",
    "§=@ bash -c \"\\$§\"",
    "§=@; eval \"\\$§\"",
    "f() { \"$2\"; }; f --password @",
    "set -- --password @; $2",
    "a=(--password @); \"${a[1]}\"",
    "for c in §=@; do ${c#*=}; done",
    "while read c; do ${c#*=}; done <<< §=@",
    "echo §=@ | cut -d= -f2 | sh",
    "$(echo §=@ | cut -d= -f2)",
    "sh -c \"$(echo §=@ | cut -d= -f2)\"",
    "sh <(echo §=@ | cut -d= -f2)",
    "alias §=@; §",
    "echo §=@ | cut -d= -f2 | xargs sudo",
];

/// More of them, in other shells and languages.
const OTHERS: [&str; 12] = [
    "fish -c 'set -gx § @; $§'",
    "zsh -c '¤=§; §=@; ${(P)¤}'",
    "zsh -c '§=@; $=§'",
    "zsh -c 'for c (§=@) ${c#*=}'",
    "$§ = '@'; & $§",
    "$env:§ = '@'; iex $env:§",
    "set §=@ & %§%",
    "git config alias.§ '!@'; git §",
    "git -c alias.§='!@' §",
    "python3 -c \"import os; §='@'; os.system(§)\"",
    "node -e \"const § = '@'; require('child_process').execSync(§)\"",
    "SUDO_ASKPASS=@ sudo -A ls",
];

/// Programs, among them some whose names look like secrets.
fn programs() -> Vec<String> {
    vec![
        "reboot".to_owned(),
        "reb00t".to_owned(),
        "Kd93jQx0Zb5LmN2pRt8sVw".to_owned(),
        format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0aB3dE6"),
        format!("xo{}-{}", "xb", "2048123456-x6et6dFeMvAaCkqmoO2F5bmr"),
        "94c16ddb423418bb0784fa2336183bedf9345d77".to_owned(),
    ]
}

const NAMES: [&str; 7] =
    ["PASSWORD", "API_KEY", "password", "DB_PASS", "GITHUB_TOKEN", "client_secret", "PLAIN"];

/// What may be around a command; `…` stands for it.
const AROUND: [&str; 10] = [
    "…",
    "cd /x && …",
    "export A_TOKEN=abc123; …",
    "… ; ls",
    "set -e\n…\nls",
    "bash -c '…'",
    "echo 'it works'; …",
    "… 2>/dev/null",
    "curl -H 'X-Api-Key: Kd93jQx0Zb5L' x; …",
    "true # x\n…",
];

/// A generator of numbers that are the same in every run.
struct SeededNumbers(u64);

impl SeededNumbers {
    fn below(&mut self, end: usize) -> usize {
        // The multiplier and the increment are Knuth's.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Returns what is wrong with the way in which a command that runs `program` is shown.
fn unseen(command: &str, program: &str) -> Option<String> {
    let quoted = callgate_wire::raw::json_string(command);
    let input = format!("{{\"command\":{quoted},\"timeout\":5}}");
    let (text, json) = (mask_text(command), mask_json(&input));
    // Faces have only what is shown, and examine that again.
    let again = mask_json(json.shown());
    let is_wrong = [(&text, "text"), (&json, "JSON"), (&again, "shown")]
        .into_iter()
        .find(|(masked, _)| !(masked.shown().contains(program) || masked.could_run()));
    is_wrong.map(|(masked, form)| format!("{command:?} as {form}: {}", masked.shown()))
}

#[test]
fn every_program_that_would_run_is_shown_or_announced() {
    let mut wrong = Vec::new();
    for template in RUNNING.iter().chain(&OTHERS) {
        for program in programs() {
            let names = if template.contains('§') { &NAMES[..] } else { &NAMES[..1] };
            for name in names {
                let command =
                    template.replace('§', name).replace('¤', "reference").replace('@', &program);
                wrong.extend(unseen(&command, &program));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn so_is_every_program_in_generated_commands() {
    let mut numbers = SeededNumbers(0x0ca1_16a7);
    let programs = programs();
    let mut wrong = Vec::new();
    for _ in 0..1500 {
        let program = numbers.pick(&programs);
        let name = numbers.pick(&NAMES);
        let mut command = numbers.pick(&RUNNING).replace('@', program);
        for _ in 0..numbers.below(3) {
            let around = numbers.pick(&AROUND);
            if !(around.contains('\'') && command.contains('\'')) {
                command = around.replacen('…', &command, 1);
            }
        }
        let command = command.replace('§', name).replace('¤', "reference");
        wrong.extend(unseen(&command, program));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_code_in_a_value_is_shown_as_it_is() {
    for command in [
        "mysql -p$(touch x)",
        "mysql -p`touch x`",
        "N=PASSWORD; PASSWORD=reboot; ${!N} x",
        "declare -n ref=PASSWORD; PASSWORD=reboot; $ref x",
        "SUDO_ASKPASS=reboot sudo -A ls",
        "git config alias.password '!reboot'",
    ] {
        assert_eq!(mask_text(command).shown(), command);
    }
    let masked = mask_text("mysql -phunter2$(touch x) db");
    assert_eq!(masked.shown(), "mysql -p[hidden 1: password]$(touch x) db");
    let masked = mask_text("curl -H \"Authorization: Bearer abcdefgh1$(touch x)\"");
    assert!(masked.shown().ends_with("]$(touch x)\""), "{masked:?}");
}

#[test]
fn ordinary_commands_with_secrets_hide_nothing_that_runs() {
    for command in [
        "PGPASSWORD=hunter2 psql -h db -c 'select 1'",
        "PGPASSWORD=hunter2 psql | awk '{print $1, $2}'",
        "mysql -u root -phunter2 < dump.sql",
        "mysql -u root -phunter2 db > /tmp/out.txt 2>&1",
        "sudo mysql -phunter2 db",
        "sudo -u app tool --password hunter2",
        "curl -H 'Authorization: Bearer abcdef0123456' https://x | jq .name",
        "curl -H 'Authorization: Bearer abcdef0123456' https://x | python3 -m json.tool",
        "curl -d '<password>hunter2x</password>' https://x",
        "curl -d '{\"password\": \"hunter2x\"}' https://x",
        "curl -H 'Cookie: a=b1; c=d2' https://x",
        "curl -u bob:hunter2 $(host)/x -s",
        "echo hunter2 | sudo -S apt update",
        "echo hunter2 | docker login -u bob --password-stdin r.io",
        "docker login -u bob -p hunter2 r.io",
        "docker run --rm -v $PWD:/w -e DB_PASSWORD=hunter2 postgres",
        "docker run --rm -v $(pwd):/w -e DB_PASSWORD=hunter2 postgres",
        "kubectl create secret generic s --from-literal=k=hunter2",
        "ssh h 'DB_PASSWORD=hunter2 ./run.sh'",
        "python3 manage.py createuser --password hunter2",
        "cat > .env <<EOF\nDB_PASSWORD=hunter2\nPORT=1\nEOF",
        "DB_PASSWORD=hunter2 make test 2>/dev/null && ls",
        "git clone https://bob:hunter2@h.org/x.git && cd x",
        "sshpass -p hunter2 ssh bob@h uptime",
        "$HOME/bin/tool --token abcdef0123",
    ] {
        let masked = mask_text(command);
        assert!(masked.hidden_count() > 0, "{command}");
        assert!(!masked.could_run(), "{command}");
    }
}
