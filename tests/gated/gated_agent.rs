//! The agents: how each is started without a terminal, and how it finds the fake of its model.

use std::fs;
use std::path::Path;
use std::process::Command;

use callgate_testkit::chat::{API_KEY, Dialect};
use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::script::write_program;
use callgate_testkit::tools;
use callgate_wire::hook::AgentProfile;
use serde_json::{Value, json};

/// The prompt of every agent. What the agent then does is decided by the fake model.
const PROMPT: &str = "Do what is needed";

/// The mode in which Gemini and Qwen run everything that no hook denies.
const YOLO: &[&str] = &["--approval-mode", "yolo"];

/// How an agent is run.
pub(crate) struct GatedAgent {
    /// Its word on callgate's command line.
    pub(crate) word: &'static str,
    /// The service that it uses.
    pub(crate) dialect: Dialect,
    /// Its tool for commands.
    pub(crate) tool: &'static str,
    /// Returns the input of that tool for a command.
    pub(crate) input: fn(&str) -> Value,
    /// Returns its program, if it is installed.
    pub(crate) program: fn() -> Option<Command>,
    /// Writes its settings, and adds its arguments and variables.
    pub(crate) prepare: fn(&mut Command, &AgentPlace<'_>),
    /// The arguments that have it run everything that no hook denies, for what it does when the
    /// hook fails. Otherwise it is run in its default mode.
    pub(crate) unattended: &'static [&'static str],
    /// The arguments without which it offers its model no tool for commands, for lack of a
    /// terminal. In its default mode it is then run with a tool that reads.
    pub(crate) for_commands: &'static [&'static str],
    /// A tool that it offers alone when it wants something beside the conversation.
    pub(crate) side_tool: Option<&'static str>,
    /// Whether a deny ends its task, so that the model reads nothing of it.
    pub(crate) ends_with_a_deny: bool,
}

/// Where an agent runs.
pub(crate) struct AgentPlace<'a> {
    pub(crate) home: &'a Path,
    /// The address of the fake.
    pub(crate) url: &'a str,
}

impl AgentPlace<'_> {
    /// Writes a file below the home folder.
    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Puts the package for plugins where the agent would install it from the network. It looks for
    /// its own version, which that of `program`, a package, is.
    fn copy_plugin_package(&self, folder: &str, package: &str, peer: &str, program: &str) {
        let modules = tools::peer_folder(peer).join("node_modules");
        let to = self.home.join(folder).join("node_modules").join(package);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let copied = Command::new("cp").arg("-r").arg(modules.join(package)).arg(to).status();
        assert!(copied.unwrap().success());
        let about = fs::read(modules.join(program).join("package.json")).unwrap();
        let about: Value = serde_json::from_slice(&about).unwrap();
        let wanted = json!({ "dependencies": { package: about["version"] } });
        self.write(&format!("{folder}/package.json"), wanted.to_string());
        let locked = json!({ "lockfileVersion": 3, "packages": { "": wanted } });
        self.write(&format!("{folder}/package-lock.json"), locked.to_string());
    }
}

impl GatedAgent {
    /// Returns what callgate knows about it.
    pub(crate) fn profile(&self) -> &'static AgentProfile {
        AgentProfile::find(self.word).unwrap()
    }

    /// Returns the agent in its default mode, in which its model searches files for what would be a
    /// command.
    pub(crate) fn searching(self) -> Self {
        Self {
            tool: "grep_search",
            input: |command| json!({ "pattern": command }),
            for_commands: &[],
            ..self
        }
    }

    /// An agent that speaks Chat Completions, and whose tool is `bash` with a command.
    fn new(
        word: &'static str,
        program: fn() -> Option<Command>,
        prepare: fn(&mut Command, &AgentPlace<'_>),
    ) -> Self {
        Self {
            word,
            dialect: Dialect::ChatCompletions,
            tool: "bash",
            input: |command| json!({ "command": command }),
            program,
            prepare,
            unattended: &[],
            for_commands: &[],
            side_tool: None,
            ends_with_a_deny: false,
        }
    }
}

pub(crate) fn goose() -> GatedAgent {
    let program = || tools::large_program("goose", "@aaif/goose-binary-linux-x64/bin/goose");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let config = "GOOSE_PROVIDER: openai\nGOOSE_MODEL: fake-model\n\
                      extensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n";
        place.write(".config/goose/config.yaml", config);
        command.args(["run", "--no-session", "-t", PROMPT]);
        let host = place.url.strip_suffix("/v1").unwrap();
        command.env("OPENAI_HOST", host).env("OPENAI_API_KEY", API_KEY);
        command.env("GOOSE_DISABLE_KEYRING", "1");
    };
    GatedAgent { tool: "shell", ..GatedAgent::new("goose", program, prepare) }
}

pub(crate) fn pi() -> GatedAgent {
    let program = || tools::large_script("pi", "package/dist/bundle/cli.js");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let models = json!({ "providers": { "fake": {
            "baseUrl": place.url, "api": "openai-completions", "apiKey": API_KEY,
            "models": [{ "id": "fake-model" }],
        } } });
        place.write(".pi/agent/models.json", models.to_string());
        command.args(["--offline", "--provider", "fake", "--model", "fake-model", "-p", PROMPT]);
        command.env("PI_OFFLINE", "1");
    };
    GatedAgent::new("pi", program, prepare)
}

pub(crate) fn kimi() -> GatedAgent {
    let program =
        || tools::large_script("kimi", "node_modules/@moonshot-ai/kimi-code/dist/main.mjs");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let config = format!(
            "default_model = \"fake\"\ntelemetry = false\n\
             [providers.fake]\ntype = \"openai\"\nbase_url = {:?}\napi_key = {API_KEY:?}\n\
             [models.fake]\nprovider = \"fake\"\nmodel = \"fake-model\"\nmax_context_size = 100000\n",
            place.url
        );
        place.write(".kimi-code/config.toml", config);
        command.args(["-p", PROMPT, "--output-format", "stream-json"]);
    };
    GatedAgent { tool: "Bash", ..GatedAgent::new("kimi", program, prepare) }
}

pub(crate) fn qwen() -> GatedAgent {
    let program = || tools::large_script("qwen", "node_modules/@qwen-code/qwen-code/cli-entry.js");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let settings = json!({
            "security": { "auth": { "selectedType": "openai" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false },
        });
        place.write(".qwen/settings.json", settings.to_string());
        command.args(["-p", PROMPT]);
        command.env("OPENAI_API_KEY", API_KEY).env("OPENAI_BASE_URL", place.url);
        command.env("OPENAI_MODEL", "fake-model");
    };
    GatedAgent {
        tool: "run_shell_command",
        input: |command| json!({ "command": command, "is_background": false }),
        for_commands: YOLO,
        ..GatedAgent::new("qwen", program, prepare)
    }
}

pub(crate) fn openhands() -> GatedAgent {
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        command.args(["--headless", "--override-with-envs", "-t", PROMPT]);
        command.env("LLM_API_KEY", API_KEY).env("LLM_BASE_URL", place.url);
        command.env("LLM_MODEL", "openai/fake-model").env("OPENHANDS_SUPPRESS_BANNER", "1");
        // Its commands run in a server of tmux, if there is one, which would stay behind and hold
        // its output open.
        let programs = place.home.join("programs");
        fs::create_dir(&programs).unwrap();
        write_program(&programs.join("tmux"), "#!/bin/sh\nexit 1\n");
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", programs.display()));
        // It would look for the prices of models in the network, three times.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("TMPDIR", place.home);
    };
    GatedAgent {
        tool: "terminal",
        input: |command| json!({ "command": command, "security_risk": "LOW" }),
        ..GatedAgent::new("openhands", tools::openhands, prepare)
    }
}

pub(crate) fn gemini() -> GatedAgent {
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false },
        });
        place.write(".gemini/settings.json", settings.to_string());
        command.args(["-m", "gemini-2.5-flash", "-p", PROMPT]);
        command.env("GEMINI_API_KEY", API_KEY).env("GOOGLE_GEMINI_BASE_URL", place.url);
        command.env("GEMINI_CLI_NO_RELAUNCH", "true").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        command.env("TMPDIR", place.home);
    };
    GatedAgent {
        dialect: Dialect::Gemini,
        tool: "run_shell_command",
        input: |command| json!({ "command": command, "description": "For the test" }),
        for_commands: YOLO,
        ..GatedAgent::new("gemini", tools::gemini, prepare)
    }
}

pub(crate) fn copilot() -> GatedAgent {
    let program = || tools::large_program("copilot", "@github/copilot-linux-x64/copilot");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        command.args(["--no-color", "--trust-folder", "-p", PROMPT]);
        command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
        command.env("COPILOT_PROVIDER_BASE_URL", place.url);
        command.env("COPILOT_PROVIDER_API_KEY", API_KEY).env("COPILOT_MODEL", "fake-model");
    };
    GatedAgent {
        input: |command| json!({ "command": command, "description": "For the test" }),
        unattended: &["--allow-all-tools"],
        ..GatedAgent::new("copilot", program, prepare)
    }
}

pub(crate) fn opencode() -> GatedAgent {
    let program = || tools::opencode().map(Command::new);
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        place.write(".config/opencode/opencode.json", opencode_settings(place).to_string());
        let package = "@opencode-ai/plugin";
        place.copy_plugin_package(".config/opencode", package, "opencode", "opencode-linux-x64");
        command.args(["run", "--format", "json", PROMPT]);
        command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    };
    GatedAgent {
        input: |command| json!({ "command": command, "description": "For the test" }),
        ..GatedAgent::new("opencode", program, prepare)
    }
}

pub(crate) fn kilo() -> GatedAgent {
    let program = || tools::large_program("kilo", "@kilocode/cli-linux-x64/bin/kilo");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        place.write(".config/kilo/kilo.json", opencode_settings(place).to_string());
        let (package, program) = ("@kilocode/plugin", "@kilocode/cli-linux-x64");
        place.copy_plugin_package(".config/kilo", package, "kilo", program);
        command.args(["run", "--format", "json", PROMPT]);
        command.env("KILO_DISABLE_AUTOUPDATE", "1").env("KILO_DISABLE_MODELS_FETCH", "1");
    };
    GatedAgent { program, prepare, word: "kilo", ..opencode() }
}

fn opencode_settings(place: &AgentPlace<'_>) -> Value {
    json!({
        "model": "fake/fake-model",
        "provider": { "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": place.url, "apiKey": API_KEY },
            "models": { "fake-model": { "name": "Fake" } },
        } },
    })
}

pub(crate) fn droid() -> GatedAgent {
    let program = || tools::large_program("droid", "@factory/cli-linux-x64/bin/droid");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let settings = json!({ "customModels": [{
            "model": "fake-model", "id": "custom:fake-0", "baseUrl": place.url, "apiKey": API_KEY,
            "provider": "generic-chat-completion-api",
        }] });
        place.write(".factory/settings.json", settings.to_string());
        command.args(["exec", "-m", "custom:fake-0", PROMPT]);
    };
    GatedAgent {
        tool: "Execute",
        input: |command| {
            json!({
                "command": command, "summary": "For the test", "riskLevelReason": "It is a test",
                "riskLevel": "low",
            })
        },
        ..GatedAgent::new("droid", program, prepare)
    }
}

pub(crate) fn grok() -> GatedAgent {
    let program = || tools::large_program("grok", "@xai-official/grok-linux-x64/bin/grok");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let config = format!(
            "[models]\ndefault = \"fake\"\n[model.fake]\nmodel = \"fake-model\"\nbase_url = {:?}\n\
             api_key = {API_KEY:?}\napi_backend = \"chat_completions\"\n",
            place.url
        );
        place.write(".grok/config.toml", config);
        command.args(["-m", "fake", "-p", PROMPT]);
    };
    GatedAgent {
        tool: "run_terminal_command",
        input: |command| json!({ "command": command, "description": "For the test" }),
        unattended: &["--always-approve"],
        side_tool: Some("session_title"),
        ..GatedAgent::new("grok", program, prepare)
    }
}

pub(crate) fn cline() -> GatedAgent {
    let program = || tools::large_program("cline", ".bin/cline");
    let prepare = |command: &mut Command, place: &AgentPlace<'_>| {
        let mut login = Command::new(command.get_program());
        login.args(["auth", "-p", "openai-compatible", "-k", API_KEY, "-m", "fake-model"]);
        login.args(["-b", place.url]).env_clear();
        for (name, value) in command.get_envs() {
            login.env(name, value.unwrap_or_default());
        }
        let _ = run(login, 2 * DEADLINE).success();
        command.args(["--json", "-t", "120", PROMPT]);
    };
    GatedAgent {
        tool: "run_commands",
        input: |command| json!({ "commands": [command] }),
        ends_with_a_deny: true,
        ..GatedAgent::new("cline", program, prepare)
    }
}
