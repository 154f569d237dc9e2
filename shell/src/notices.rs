//! Desktop notifications of new questions, of answers, and of calls that ran without a verdict.
//! They name the agent, the project and the kind of question, and never the command or the answer.
//! Allowing needs the window; denying does not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tauri::async_runtime::spawn;
use zbus::export::ordered_stream::OrderedStreamExt;
use zbus::zvariant::Value;
use zbus::{Connection, proxy};

use crate::desktop_wish::DesktopWish;
use crate::sync::lock;

/// The action of a click on the notification itself, as the specification names it.
const DEFAULT: &str = "default";
const OPEN: &str = "open";
const DENY: &str = "deny";
/// The most characters of a name in a notification.
const LONGEST: usize = 80;
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

/// What a notification is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoticeSubject {
    /// The question with this id.
    Question(String),
    /// An answer in the conversation with this id.
    Answer(String),
    /// A call that ran without a verdict.
    UncheckedRun,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DesktopNotice {
    subject: NoticeSubject,
    summary: String,
    body: String,
}

impl DesktopNotice {
    pub(crate) fn of_question(id: &str, agent: &str, project: &str, kind: &str) -> Self {
        Self {
            subject: NoticeSubject::Question(id.to_owned()),
            summary: format!("{} asks", short_text(agent)),
            // A service may take the body for markup, but not the summary.
            body: without_markup(&format!("{} in {}", short_text(kind), short_text(project))),
        }
    }

    pub(crate) fn of_answer(conversation: &str, project: &str, failed: bool) -> Self {
        Self {
            subject: NoticeSubject::Answer(conversation.to_owned()),
            summary: if failed { "Answer failed" } else { "Answer ready" }.to_owned(),
            body: without_markup(&format!("in {}", short_text(project))),
        }
    }

    pub(crate) fn of_unchecked_run(agent: &str, project: &str) -> Self {
        Self {
            subject: NoticeSubject::UncheckedRun,
            summary: format!("{} ran a call without a verdict", short_text(agent)),
            body: without_markup(&format!("in {}: its hook did not ask", short_text(project))),
        }
    }
}

fn short_text(text: &str) -> String {
    // Line ends go, because a name with one could pass for the rest of the text.
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

/// What the notifications that are shown are about, by the numbers of the service.
type ShownNotices = Arc<Mutex<HashMap<u32, NoticeSubject>>>;

#[derive(Debug)]
pub(crate) struct DesktopNotices {
    service: NotificationServiceProxy<'static>,
    shown: ShownNotices,
}

impl DesktopNotices {
    /// Listens to the presses of the user, which are passed on as wishes. The service itself may
    /// come later.
    pub(crate) async fn connect(
        bus: &Connection,
        fulfil: impl Fn(DesktopWish) + Send + Sync + 'static,
    ) -> zbus::Result<Self> {
        let service = NotificationServiceProxy::new(bus).await?;
        let shown = ShownNotices::default();
        let mut pressed = service.receive_action_invoked().await?;
        let of_pressed = Arc::clone(&shown);
        spawn(async move {
            while let Some(signal) = pressed.next().await {
                let Ok(press) = signal.args() else { continue };
                // The numbers of other programs' notifications are not among ours.
                let Some(subject) = lock(&of_pressed).get(&press.id).cloned() else { continue };
                if let Some(wish) = wish_of_action(press.action_key, subject) {
                    fulfil(wish);
                }
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

    /// Shows a notification; in place of the one that was shown about the same.
    pub(crate) async fn show(&self, notice: DesktopNotice) -> zbus::Result<()> {
        // The lock is released before the service is asked, which takes its time.
        let before = {
            let shown = lock(&self.shown);
            shown.iter().find(|(_, known)| **known == notice.subject).map_or(0, |(id, _)| *id)
        };
        // The service is asked each time, because it may have started only now.
        let has_actions = self.service.get_capabilities().await?.iter().any(|it| it == "actions");
        let actions: &[&str] = match &notice.subject {
            _ if !has_actions => &[],
            // "Open" is there twice, because the default action, a click on the notification, has
            // no button and is not offered by every service.
            NoticeSubject::Question(_) => &[DEFAULT, "Open", OPEN, "Open", DENY, "Deny"],
            NoticeSubject::Answer(_) | NoticeSubject::UncheckedRun => {
                &[DEFAULT, "Open", OPEN, "Open"]
            }
        };
        let hints = HashMap::from([
            ("desktop-entry", Value::from("callgate-shell")),
            ("category", Value::from("im.received")),
        ]);
        let DesktopNotice { subject, summary, body } = notice;
        let service = &self.service;
        let id = service
            .notify("callgate", before, "callgate-shell", &summary, &body, actions, hints, -1)
            .await?;
        let mut shown = lock(&self.shown);
        if shown.len() >= MOST_SHOWN {
            // The list has a limit, because a service may never say that a notification was closed.
            shown.clear();
        }
        shown.insert(id, subject);
        Ok(())
    }

    /// Takes back the notifications that are over.
    pub(crate) async fn close_matching(&self, is_over: impl Fn(&NoticeSubject) -> bool) {
        let over: Vec<u32> =
            lock(&self.shown).extract_if(|_, subject| is_over(subject)).map(|(id, _)| id).collect();
        for id in over {
            // One that the user has closed is gone already.
            self.service.close_notification(id).await.ok();
        }
    }
}

/// Returns what the user wants who pressed this action of a notification.
fn wish_of_action(action: &str, subject: NoticeSubject) -> Option<DesktopWish> {
    match (action, subject) {
        (DENY, NoticeSubject::Question(id)) => Some(DesktopWish::DenyQuestion(id)),
        (OPEN | DEFAULT, NoticeSubject::Question(id)) => Some(DesktopWish::OpenQuestion(id)),
        (OPEN | DEFAULT, NoticeSubject::Answer(id)) => Some(DesktopWish::OpenConversation(id)),
        (OPEN | DEFAULT, NoticeSubject::UncheckedRun) => Some(DesktopWish::OpenHistory),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_short_and_plain() {
        let notice =
            DesktopNotice::of_question("q1", "Claude\nCode", "<b>engine</b>", "run & more");
        assert_eq!(notice.summary, "ClaudeCode asks");
        assert_eq!(notice.body, "run &amp; more in &lt;b&gt;engine&lt;/b&gt;");
        let long = DesktopNotice::of_question("q2", &"a".repeat(500), "p", "k");
        assert_eq!(long.summary, format!("{}… asks", "a".repeat(LONGEST)));
        let answer = DesktopNotice::of_answer("c1", "a & b", false);
        assert_eq!((&*answer.summary, &*answer.body), ("Answer ready", "in a &amp; b"));
        assert_eq!(DesktopNotice::of_answer("c1", "a", true).summary, "Answer failed");
        let run = DesktopNotice::of_unchecked_run("Kimi Code", "<engine>");
        assert_eq!(run.summary, "Kimi Code ran a call without a verdict");
        assert_eq!(run.body, "in &lt;engine&gt;: its hook did not ask");
    }
}
