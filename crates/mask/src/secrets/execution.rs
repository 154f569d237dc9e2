//! What a command would execute, as far as masking has to know it.
//!
//! Something hidden could run in two ways. It may itself be where a shell looks for a program, a
//! script or the target of a redirection. Or the command executes something that it computes: the
//! value of a variable, however it is reached (`$x`, `${!x}`, a reference made by `declare -n`, an
//! argument of a function), the output of a command, or what a pipe brings to a shell. Then
//! anything that is hidden anywhere in the text could be it. Both are over-approximated: at worst,
//! a person is told about a danger that there is not.

mod program_kind;
mod shell_tokens;
mod word_form;

use self::program_kind::{ProgramKind, own_arguments};
use self::shell_tokens::{HIDDEN, ShellOperator, ShellToken, ShellTokens};
use self::word_form::{
    assigned_name, attached_name, is_code_option, is_expanded, is_hidden_path, is_run_option,
    last_name,
};
use super::names::{NameRole, role_of_name};
use super::program_options;
use super::span::SecretSpan;
use crate::word_list::WordList;
use crate::words;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Execution {
    /// Whether something hidden is in the place of a program, a script or a redirection's target.
    pub(super) runs_hidden: bool,
    /// Whether something is executed that the text computes.
    pub(super) is_computed: bool,
}

impl Execution {
    /// Returns true if something hidden could be executed.
    pub(super) fn could_run(self) -> bool {
        self.runs_hidden || self.is_computed
    }
}

/// Examines a command with hidden spans, which are in order and do not overlap.
pub(super) fn examine_command(text: &[u8], spans: &[SecretSpan]) -> Execution {
    let mut reader = ExecutionReader::default();
    for token in ShellTokens::new(text, spans) {
        match token {
            ShellToken::Word(word) => reader.handle_word(&word),
            ShellToken::Operator(operator) => reader.handle_operator(operator),
        }
    }
    reader.end_call();
    reader.found
}

/// Functions by which programming languages run a command or code.
const RUN_FUNCTIONS: &WordList = words!(
    "system popen Popen exec execSync execFile execFileSync execv execvp eval spawn spawnSync \
    Command ProcessBuilder getRuntime passthru shell_exec proc_open qx x"
);

/// Words after which a shell runs the next one.
const KEYWORDS: &WordList = words!("then do else elif if while until { ! time");

/// Subcommands after which a program is named.
const RUN_SUBCOMMANDS: &WordList = words!("run exec compose dlx");

/// Variables whose value is run by other programs.
const RUN_VARIABLES: &WordList = words!(
    "LD_PRELOAD DYLD_INSERT_LIBRARIES BASH_ENV ENV PROMPT_COMMAND PAGER EDITOR VISUAL BROWSER \
    SHELL LESSOPEN MANPAGER GIT_SSH GIT_SSH_COMMAND GIT_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF \
    GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS RUSTC_WRAPPER CC CXX PYTHONSTARTUP NODE_OPTIONS PERL5OPT \
    RUBYOPT PATH"
);

/// The deepest nesting of substitutions that is followed.
const DEEPEST: usize = 64;

/// The longest name of a program that is remembered, in bytes.
const LONGEST_NAME: usize = 128;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ExpectedWord {
    #[default]
    Program,
    /// The program that another one runs, after `own` arguments of that other one.
    Wrapped {
        own: u8,
    },
    /// Code: every word is evaluated.
    Code,
    Argument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedirectionWord {
    File,
    HereString,
    Ignored,
}

#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact about the call")]
struct CodeCallState {
    expected: ExpectedWord,
    /// Whether a program was named that runs others.
    is_runner: bool,
    /// Whether it is a container's program, whose options are followed by values.
    is_container: bool,
    is_piped: bool,
    runs_input: bool,
    /// Whether its input is executed if no script is named.
    may_run_input: bool,
    /// The program, if there are rules about its secrets.
    program: Option<&'static str>,
    /// What the word before this one means for it.
    after_option: bool,
    after_secret_option: bool,
    is_run: bool,
    redirection: Option<RedirectionWord>,
}

#[derive(Default)]
struct ExecutionReader {
    found: Execution,
    call: CodeCallState,
    /// The word before this one in its call.
    last: Vec<u8>,
    /// The calls around open parentheses; `None` for those that are no substitution.
    outer: Vec<Option<CodeCallState>>,
    /// Whether a parenthesis may close without having been opened.
    has_cases: bool,
}

impl ExecutionReader {
    fn handle_operator(&mut self, operator: ShellOperator) {
        match operator {
            ShellOperator::Redirection => self.call.redirection = Some(RedirectionWord::File),
            ShellOperator::HereString => self.call.redirection = Some(RedirectionWord::HereString),
            ShellOperator::Ignored => self.call.redirection = Some(RedirectionWord::Ignored),
            ShellOperator::Separator => self.end_call(),
            ShellOperator::Pipe => {
                self.end_call();
                self.call.is_piped = true;
            }
            ShellOperator::Backtick => {
                self.found.is_computed |= self.runs_next();
                self.end_call();
            }
            ShellOperator::ProcessSubstitution => {
                self.found.is_computed |= self.runs_next();
                self.open_parenthesis(true);
            }
            // The word before it ends with `$` and was examined.
            ShellOperator::Substitution => self.open_parenthesis(true),
            ShellOperator::Parenthesis => {
                // In a programming language the word before it is the function that is called.
                self.found.is_computed |= RUN_FUNCTIONS.contains(last_name(&self.last));
                self.open_parenthesis(false);
            }
            ShellOperator::Close => self.close_parenthesis(),
        }
    }

    fn runs_next(&self) -> bool {
        let is_script = matches!(
            self.call.redirection,
            Some(RedirectionWord::File | RedirectionWord::HereString)
        ) && self.call.runs_input;
        is_script || self.call.is_run || self.call.expected != ExpectedWord::Argument
    }

    fn open_parenthesis(&mut self, is_substitution: bool) {
        let call = std::mem::take(&mut self.call);
        if self.outer.len() < DEEPEST {
            // The substitution is the word for which an open redirection waits.
            self.outer.push(is_substitution.then_some(CodeCallState { redirection: None, ..call }));
        } else {
            // Nobody reads what is so deep.
            self.found.is_computed = true;
        }
    }

    /// Ends a substitution, after which the call around it goes on, or another parenthesis.
    fn close_parenthesis(&mut self) {
        let inner = self.call.expected;
        self.end_call();
        if let Some(call) = self.outer.pop().flatten().filter(|_| !self.has_cases) {
            self.call = call;
            if inner != ExpectedWord::Argument {
                // Perhaps this parenthesis closes nothing.
                self.call.expected = inner;
            }
        }
    }

    fn end_call(&mut self) {
        self.found.is_computed |= self.call.may_run_input;
        self.call = CodeCallState::default();
        self.last.clear();
    }

    fn handle_word(&mut self, word: &[u8]) {
        // Modules by which programming languages run a command, and functions without parentheses.
        self.found.is_computed |=
            matches!(word, b"subprocess" | b"child_process" | b"system" | b"Start-Process");
        self.has_cases |= word == b"case";
        self.interpret_word(word);
        self.last.clear();
        // The end of a path is kept, because it has the name of the program.
        self.last.extend_from_slice(&word[word.len().saturating_sub(LONGEST_NAME)..]);
    }

    fn interpret_word(&mut self, word: &[u8]) {
        let is_hidden = word.contains(&HIDDEN);
        if let Some(redirection) = self.call.redirection.take() {
            return self.examine_redirected(redirection, word, is_hidden);
        }
        self.found.runs_hidden |= is_hidden && is_hidden_path(word);
        if self.call.expected == ExpectedWord::Code {
            self.found.runs_hidden |= is_hidden;
            self.found.is_computed |= is_expanded(word);
            return;
        }
        if let Some(name) = assigned_name(word)
            && self.call.expected != ExpectedWord::Argument
        {
            self.found.runs_hidden |= is_hidden && RUN_VARIABLES.contains(name);
            self.call.after_option = false;
            return;
        }
        self.examine(word, is_hidden);
        self.advance(word);
    }

    fn examine_redirected(&mut self, redirection: RedirectionWord, word: &[u8], is_hidden: bool) {
        match redirection {
            RedirectionWord::File => self.found.runs_hidden |= is_hidden,
            RedirectionWord::HereString if self.call.runs_input => {
                self.found.runs_hidden |= is_hidden;
                self.found.is_computed |= is_expanded(word);
            }
            RedirectionWord::HereString | RedirectionWord::Ignored => {}
        }
    }

    /// Records what it means that this word is here.
    fn examine(&mut self, word: &[u8], is_hidden: bool) {
        let call = &self.call;
        let is_option = word.starts_with(b"-");
        let is_program = match call.expected {
            ExpectedWord::Program => true,
            ExpectedWord::Wrapped { .. } => !is_option && !call.after_secret_option,
            ExpectedWord::Argument | ExpectedWord::Code => false,
        };
        if is_hidden {
            self.found.runs_hidden |= is_program
                || call.is_run
                || (is_option && is_run_option(attached_name(word)))
                // A program that runs others may be an argument of one that we do not know.
                || ProgramKind::from_word(&self.last) != ProgramKind::Other;
        }
        let is_value = call.is_container && call.after_option;
        let is_run = (is_program && !is_value) || (call.is_run && call.is_runner);
        self.found.is_computed |= is_run && is_expanded(word);
    }

    fn advance(&mut self, word: &[u8]) {
        let call = &mut self.call;
        let was_run = std::mem::take(&mut call.is_run);
        if is_run_option(word) || (call.is_runner && is_code_option(word)) {
            call.is_run = true;
            call.may_run_input = false;
            if call.is_runner {
                call.expected = ExpectedWord::Program;
            }
            return;
        }
        if word == b"--" && call.is_runner {
            call.expected = ExpectedWord::Program;
            return;
        }
        if word.len() > 1 && word.starts_with(b"-") {
            call.after_option = true;
            call.after_secret_option = is_secret_option(call.program, word);
            return;
        }
        call.after_secret_option = false;
        let after_option = std::mem::take(&mut call.after_option);
        let is_keyword =
            word == b"{" || (call.expected == ExpectedWord::Program && KEYWORDS.contains(word));
        if is_keyword {
            call.expected = ExpectedWord::Program;
            return;
        }
        if call.expected == ExpectedWord::Argument && !was_run {
            if RUN_SUBCOMMANDS.contains(word) {
                call.expected = ExpectedWord::Wrapped { own: 1 };
            }
            return;
        }
        call.program = program_options::known_program(word).or(call.program);
        self.begin_program(word, ProgramKind::from_word(word), after_option);
    }

    /// Begins the call of a program, or counts an argument of the one that runs it.
    fn begin_program(&mut self, word: &[u8], kind: ProgramKind, after_option: bool) {
        let call = &mut self.call;
        if kind != ProgramKind::Other {
            call.is_runner = true;
            call.expected = ExpectedWord::Wrapped { own: own_arguments(word) };
        }
        match kind {
            ProgramKind::Evaluator => call.expected = ExpectedWord::Code,
            ProgramKind::InputRunner => {
                call.runs_input = true;
                self.found.is_computed |= call.is_piped;
            }
            ProgramKind::Language => call.may_run_input = call.is_piped,
            ProgramKind::Container => call.is_container = true,
            ProgramKind::Wrapper => {}
            ProgramKind::Other => self.plain_word(word, after_option),
        }
    }

    fn plain_word(&mut self, word: &[u8], after_option: bool) {
        let call = &mut self.call;
        // `python FILE` does not run its input, but `python -` does.
        call.may_run_input &= word == b"-";
        call.expected = match call.expected {
            ExpectedWord::Wrapped { own } if RUN_SUBCOMMANDS.contains(word) => {
                ExpectedWord::Wrapped { own: own.max(1) }
            }
            // A number, or perhaps the value of an option.
            wrapped @ ExpectedWord::Wrapped { .. }
                if after_option || word.first().is_some_and(u8::is_ascii_digit) =>
            {
                wrapped
            }
            ExpectedWord::Wrapped { own: own @ 1.. } => ExpectedWord::Wrapped { own: own - 1 },
            _ => ExpectedWord::Argument,
        };
    }
}

/// Returns true if the value of an option is a secret, so that no program follows.
fn is_secret_option(program: Option<&str>, word: &[u8]) -> bool {
    let name = word.strip_prefix(b"--").or_else(|| word.strip_prefix(b"-")).unwrap_or(word);
    matches!(role_of_name(name), Some(NameRole::Secret(_)))
        || program.is_some_and(|program| program_options::find_rule(program, word).is_some())
}
