//! The Gemini CLI as a client, with the settings that `mcp_config` returns.

use std::fs;

use callgate_testkit::chat::{API_KEY, Chat, ChatReply, Dialect};
use callgate_testkit::process::run;
use callgate_testkit::tools;
use callgate_tools::McpClient;
use serde_json::json;

use crate::fixture::{DEADLINE, Fixture, NAME};

#[test]
fn gemini_calls_the_tools_of_a_host() {
    let Some(mut command) = tools::gemini() else { return };
    let fixture = Fixture::sequential();
    let uses = |tool: &str, arguments| ChatReply::Call(format!("mcp_{NAME}_{tool}"), arguments);
    let fake = Chat::start(
        Dialect::Gemini,
        [
            uses("echo", json!({"text": "two words"})),
            uses("fail", json!({"text": "no such day"})),
            uses("add", json!({"a": "7; rm", "b": 2})),
            ChatReply::Text("Done.".to_owned()),
        ],
    );
    let mut settings = fixture.mcp_config(McpClient::Generic);
    // Without a terminal nobody can be asked, so only trusted servers run.
    settings["mcpServers"][NAME]["trust"] = json!(true);
    settings["security"] = json!({"auth": {"selectedType": "gemini-api-key"}});
    settings["privacy"] = json!({"usageStatisticsEnabled": false});
    settings["general"] = json!({"enableAutoUpdate": false});
    let home = fixture.home();
    fs::create_dir(home.join(".gemini")).unwrap();
    fs::write(home.join(".gemini/settings.json"), settings.to_string()).unwrap();

    command.args(["-m", "gemini-2.5-flash", "-p", "Go"]).current_dir(&home);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &home);
    command.env("TMPDIR", &home);
    command.env("GEMINI_API_KEY", API_KEY).env("GOOGLE_GEMINI_BASE_URL", fake.url());
    command.env("GEMINI_CLI_NO_RELAUNCH", "true").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    let done = run(command, 2 * DEADLINE).success();
    assert!(done.stdout.contains("Done."), "{}{}", done.stdout, done.stderr);
    let results = fake.results();
    assert!(results[0].contains("two words"), "{results:?}");
    assert!(results[1].contains("ValueError: no such day"), "{results:?}");
    // It holds arguments against the schema before it sends them.
    assert!(results[2].contains("must be integer"), "{results:?}");
}
