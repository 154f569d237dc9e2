//! A smoke test with somebody else's idea of the Bot API: npm `telegram-test-api`. It holds no
//! poll, gives `null` for edits, knows no `setMyCommands` and no `chat_instance`.

use std::process::Command;

use callgate_approval::channel::{ChannelReport, MarkState, ReplyTo};
use callgate_approval::telegram::TelegramReport;
use callgate_testkit::process::Piped;
use callgate_testkit::tools::telegram_test_api;
use callgate_testkit::until::until;
use callgate_wire::approval::Action;
use serde_json::{Value, json};

use crate::rig::*;

/// Starts the emulator on a free port, and does what each line of its input says.
const SCRIPT: &str = r"
const { TelegramServer, default: other } = require(process.argv[1]);
const Server = TelegramServer || other || require(process.argv[1]);
const token = process.argv[2];
const server = new Server({ port: '0', host: '127.0.0.1' });
const say = (value) => process.stdout.write(JSON.stringify(value) + '\n');
const client = server.getClient(token, { chatId: 7, userId: 7, firstName: 'Ada' });
const actions = {
  press: ({ data, message }) =>
    server.addUserCallback(client.makeCallbackQuery(data, { message: { message_id: message } })),
  write: ({ text }) => server.addUserCommand(client.makeCommand(text)),
  look: () => server.storage.botMessages.map(({ messageId, message }) => ({ messageId, message })),
};
server.start().then(() => {
  say({ port: server.server.address().port });
  const lines = require('readline').createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const order = JSON.parse(line);
    say((await actions[order.do](order)) || null);
  });
  lines.on('close', () => process.exit(0));
});
";

const TOKEN: &str = "sampleToken";

struct Emulator(Piped);

impl Emulator {
    fn ask(&mut self, order: &Value) -> Value {
        self.0.send(order.to_string());
        self.0.recv()
    }

    /// Looks until a message holds `text`.
    fn wait_for(&mut self, text: &str) -> Value {
        until(&format!("a message with {text:?}"), || {
            let all = self.ask(&json!({"do": "look"}));
            let mut messages = all.as_array().unwrap().iter();
            let holds = |one: &&Value| one["message"]["text"].as_str().unwrap_or("").contains(text);
            messages.find(holds).cloned()
        })
    }
}

#[test]
fn a_question_is_sent_pressed_and_marked() {
    let Some((node, module)) = telegram_test_api() else { return };
    let mut command = Command::new(node);
    command.args(["-e", SCRIPT]).arg(module).arg(TOKEN);
    let mut emulator = Emulator(Piped::spawn(command));
    let port = emulator.0.recv()["port"].clone();
    let rig = Rig::with(settings(&format!("http://127.0.0.1:{port}/"), TOKEN));
    assert!(matches!(rig.report(), TelegramReport::Works { bot } if bot == "TestNameBot"));
    let card = bash(1);
    let copy = rig.show(&card, ADA);
    let sent = emulator.wait_for("make build-1");
    assert_eq!(sent["messageId"], copy.message);
    let keyboard = &sent["message"]["reply_markup"]["inline_keyboard"];
    assert_eq!(keyboard[0][0]["callback_data"], data(1, Action::Allow));
    let press = json!({"do": "press", "data": data(1, Action::Allow), "message": copy.message});
    emulator.ask(&press);
    let (what, reply_to) = pressed(rig.news());
    assert_eq!(what, "Ada (7) in private 7: allow for 01");
    assert!(matches!(reply_to, ReplyTo::Callback(_)));
    rig.order(tell(reply_to, "Allowed"));
    rig.order(mark(&card, [&copy], MarkState::Allowed, "Allowed by Ada"));
    emulator.wait_for("Allowed by Ada");
    emulator.ask(&json!({"do": "write", "text": "/status"}));
    assert!(matches!(rig.news(), ChannelReport::Command { name, .. } if name == "status"));
    assert!(rig.finish().is_empty());
}
