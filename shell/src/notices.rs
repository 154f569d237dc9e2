//! Desktop notifications of new questions. They name the agent, the project and the kind of
//! question, and never the command. Allowing needs the window; denying does not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tauri::AppHandle;
use tauri::async_runtime::spawn;
use zbus::export::ordered_stream::OrderedStreamExt;
use zbus::zvariant::Value;
use zbus::{Connection, proxy};

use crate::desktop::{self, DesktopWish, ShellEvent};

/// The action of a click on the notification itself, as the specification names it.
const DEFAULT: &str = "default";
const OPEN: &str = "open";
const DENY: &str = "deny";
/// The most characters of a name in a notification.
const LONGEST: usize = 80;
/// The most notifications that are remembered.
const MOST_SHOWN: usize = 64;

#[proxy(
    interface = "org.freedesktop.Notifications",
    default_service = "org.freedesktop.Notifications",
    default_path = "/org/freedesktop/Notifications"
)]
trait NotificationService {
    #[allow(clippy::too_many_arguments, reason = "the specification has them")]
    fn notify(
        &self,
        app_name: &str,
        replaces_id: u32,
        app_icon: &str,
        summary: &str,
        body: &str,
        actions: &[&str],
        hints: HashMap<&str, Value<'_>>,
        expire_timeout: i32,
    ) -> zbus::Result<u32>;

    fn close_notification(&self, id: u32) -> zbus::Result<()>;

    fn get_capabilities(&self) -> zbus::Result<Vec<String>>;

    #[zbus(signal)]
    fn action_invoked(&self, id: u32, action_key: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    fn notification_closed(&self, id: u32, reason: u32) -> zbus::Result<()>;
}

/// What a notification says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuestionNotice {
    question: String,
    summary: String,
    body: String,
}

impl QuestionNotice {
    pub(crate) fn new(question: &str, agent: &str, project: &str, kind: &str) -> Self {
        Self {
            question: question.to_owned(),
            summary: format!("{} asks", short(agent)),
            // A service may take the body for markup, but not the summary.
            body: without_markup(&format!("{} in {}", short(kind), short(project))),
        }
    }
}

fn short(text: &str) -> String {
    let shown = text.chars().filter(|character| !character.is_control());
    let mut short: String = shown.clone().take(LONGEST).collect();
    if shown.count() > LONGEST {
        short.push('…');
    }
    short
}

fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The questions of the notifications that are shown, by the numbers of the service.
type ShownNotices = Arc<Mutex<HashMap<u32, String>>>;

/// The desktop's notifications.
#[derive(Debug)]
pub(crate) struct DesktopNotices {
    service: NotificationServiceProxy<'static>,
    shown: ShownNotices,
}

impl DesktopNotices {
    /// Listens to the presses of the user. The service itself may come later.
    pub(crate) async fn connect(app: AppHandle, bus: &Connection) -> zbus::Result<Self> {
        let service = NotificationServiceProxy::new(bus).await?;
        let shown = ShownNotices::default();
        let mut pressed = service.receive_action_invoked().await?;
        let of_pressed = Arc::clone(&shown);
        spawn(async move {
            while let Some(signal) = pressed.next().await {
                let Ok(press) = signal.args() else { continue };
                // The numbers of other programs' notifications are not among ours.
                let Some(question) = lock(&of_pressed).get(&press.id).cloned() else { continue };
                act(&app, press.action_key, question);
            }
        });
        let mut closed = service.receive_notification_closed().await?;
        let of_closed = Arc::clone(&shown);
        spawn(async move {
            while let Some(signal) = closed.next().await {
                if let Ok(closed) = signal.args() {
                    lock(&of_closed).remove(&closed.id);
                }
            }
        });
        Ok(Self { service, shown })
    }

    /// Shows a notification; in place of the one that was shown for the same question.
    pub(crate) async fn show(&self, notice: QuestionNotice) -> zbus::Result<()> {
        let before = {
            let shown = lock(&self.shown);
            shown.iter().find(|(_, known)| **known == notice.question).map_or(0, |(id, _)| *id)
        };
        let has_actions = self.service.get_capabilities().await?.iter().any(|it| it == "actions");
        let actions: &[&str] =
            if has_actions { &[DEFAULT, "Open", OPEN, "Open", DENY, "Deny"] } else { &[] };
        let hints = HashMap::from([
            ("desktop-entry", Value::from("callgate-shell")),
            ("category", Value::from("im.received")),
        ]);
        let QuestionNotice { question, summary, body } = notice;
        let service = &self.service;
        let id = service
            .notify("callgate", before, "callgate-shell", &summary, &body, actions, hints, -1)
            .await?;
        let mut shown = lock(&self.shown);
        if shown.len() >= MOST_SHOWN {
            shown.clear();
        }
        shown.insert(id, question);
        Ok(())
    }

    /// Takes back all notifications: nothing waits any more.
    pub(crate) async fn close_all(&self) {
        let shown: Vec<u32> = lock(&self.shown).drain().map(|(id, _)| id).collect();
        for id in shown {
            // One that the user has closed is gone already.
            self.service.close_notification(id).await.ok();
        }
    }
}

fn act(app: &AppHandle, action: &str, id: String) {
    match action {
        DENY => desktop::tell_page(app, ShellEvent::DenyQuestion { id }),
        OPEN | DEFAULT => {
            desktop::fulfil(app, DesktopWish::Show);
            desktop::tell_page(app, ShellEvent::OpenQuestion { id });
        }
        _ => {}
    }
}

fn lock(shown: &Mutex<HashMap<u32, String>>) -> MutexGuard<'_, HashMap<u32, String>> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_short_and_plain() {
        let notice = QuestionNotice::new("q1", "Claude\nCode", "<b>engine</b>", "run & more");
        assert_eq!(notice.summary, "ClaudeCode asks");
        assert_eq!(notice.body, "run &amp; more in &lt;b&gt;engine&lt;/b&gt;");
        let long = QuestionNotice::new("q2", &"a".repeat(500), "p", "k");
        assert_eq!(long.summary, format!("{}… asks", "a".repeat(LONGEST)));
    }
}
