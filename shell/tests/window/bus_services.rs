//! What a desktop has on its session bus: a panel for icons, and a service for notifications.

#![allow(
    clippy::unused_self,
    clippy::used_underscore_binding,
    clippy::needless_pass_by_value,
    reason = "the methods have the forms that the specifications of the desktop give them"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::process::DEADLINE;
use zbus::blocking::{Connection, Proxy, connection::Builder};
use zbus::interface;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::{OwnedValue, Value};

use crate::test_desktop::TestDesktop;

/// The items that have registered, by their names on the bus.
type RegisteredItems = Arc<Mutex<Vec<String>>>;

struct WatcherObject(RegisteredItems);

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl WatcherObject {
    fn register_status_notifier_item(
        &self,
        service: &str,
        #[zbus(header)] header: zbus::message::Header<'_>,
    ) {
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        let name = if service.starts_with('/') { sender } else { service.to_owned() };
        self.0.lock().unwrap().push(name);
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

/// A panel that shows icons.
pub(crate) struct IconPanel {
    bus: Connection,
    items: RegisteredItems,
}

/// An item of a menu, as it is on the bus: its number, its properties and what is below it.
type MenuLayout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

impl IconPanel {
    pub(crate) fn start(desktop: &TestDesktop) -> Self {
        let items = RegisteredItems::default();
        let builder = Builder::address(desktop.bus.as_str()).unwrap();
        let builder = builder.name("org.kde.StatusNotifierWatcher").unwrap();
        let object = WatcherObject(Arc::clone(&items));
        let bus = builder.serve_at("/StatusNotifierWatcher", object).unwrap().build().unwrap();
        Self { bus, items }
    }

    fn item(&self, path: &str, interface: &str) -> Proxy<'static> {
        let name = until("an icon", || self.items.lock().unwrap().last().cloned());
        Proxy::new(&self.bus, name, path.to_owned(), interface.to_owned()).unwrap()
    }

    fn icon(&self) -> Proxy<'static> {
        self.item("/StatusNotifierItem", "org.kde.StatusNotifierItem")
    }

    /// Returns the title of the icon.
    pub(crate) fn title(&self) -> String {
        self.icon().get_property("Title").unwrap()
    }

    /// Returns whether the icon wants attention, and the bytes of its picture.
    pub(crate) fn look(&self) -> (String, Vec<u8>) {
        let pictures: Vec<(i32, i32, Vec<u8>)> = self.icon().get_property("IconPixmap").unwrap();
        (self.icon().get_property("Status").unwrap(), pictures[0].2.clone())
    }

    /// Clicks on the icon.
    pub(crate) fn click(&self) {
        self.icon().call_method("Activate", &(0, 0)).unwrap();
    }

    /// Chooses an item of the menu.
    pub(crate) fn choose(&self, label: &str) {
        let path: zbus::zvariant::OwnedObjectPath = self.icon().get_property("Menu").unwrap();
        let menu = self.item(path.as_str(), "com.canonical.dbusmenu");
        let wanted: Vec<String> = Vec::new();
        let answer = menu.call_method("GetLayout", &(0, -1, wanted)).unwrap();
        let (_, (_, _, children)): (u32, MenuLayout) = answer.body().deserialize().unwrap();
        let labels = children.into_iter().filter_map(|child| {
            let (id, properties, _): MenuLayout = Value::from(child).downcast().ok()?;
            let label = properties.get("label")?.downcast_ref::<&str>().ok()?.to_owned();
            Some((id, label))
        });
        let all: Vec<(i32, String)> = labels.collect();
        let found = all.iter().find(|(_, known)| known == label);
        let (id, _) = found.unwrap_or_else(|| panic!("no {label} in {all:?}"));
        menu.call_method("Event", &(*id, "clicked", Value::from(0), 0_u32)).unwrap();
    }
}

/// A notification as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct SeenNotice {
    pub(crate) id: u32,
    pub(crate) summary: String,
    pub(crate) body: String,
    pub(crate) actions: Vec<String>,
    pub(crate) is_closed: bool,
}

type SeenNotices = Arc<Mutex<Vec<SeenNotice>>>;

struct NoticeObject(SeenNotices);

#[interface(name = "org.freedesktop.Notifications")]
impl NoticeObject {
    #[allow(clippy::too_many_arguments, reason = "the specification has them")]
    fn notify(
        &self,
        _app_name: &str,
        replaces_id: u32,
        _app_icon: &str,
        summary: &str,
        body: &str,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _expire_timeout: i32,
    ) -> u32 {
        let mut seen = self.0.lock().unwrap();
        let next = u32::try_from(seen.len()).unwrap() + 1;
        let id = if replaces_id == 0 { next } else { replaces_id };
        let (summary, body) = (summary.to_owned(), body.to_owned());
        seen.push(SeenNotice { id, summary, body, actions, is_closed: false });
        id
    }

    fn close_notification(&self, id: u32) {
        let mut seen = self.0.lock().unwrap();
        seen.iter_mut().filter(|one| one.id == id).for_each(|one| one.is_closed = true);
    }

    fn get_capabilities(&self) -> Vec<String> {
        vec!["actions".to_owned(), "body".to_owned()]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        let word = || "test".to_owned();
        (word(), word(), word(), "1.2".to_owned())
    }

    #[zbus(signal)]
    async fn action_invoked(
        emitter: &SignalEmitter<'_>,
        id: u32,
        action_key: &str,
    ) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn notification_closed(
        emitter: &SignalEmitter<'_>,
        id: u32,
        reason: u32,
    ) -> zbus::Result<()>;
}

/// A service that shows notifications.
pub(crate) struct NoticeService {
    bus: Connection,
    seen: SeenNotices,
}

const NOTICES: &str = "/org/freedesktop/Notifications";

impl NoticeService {
    pub(crate) fn start(desktop: &TestDesktop) -> Self {
        let seen = SeenNotices::default();
        let builder = Builder::address(desktop.bus.as_str()).unwrap();
        let builder = builder.name("org.freedesktop.Notifications").unwrap();
        let object = NoticeObject(Arc::clone(&seen));
        let bus = builder.serve_at(NOTICES, object).unwrap().build().unwrap();
        Self { bus, seen }
    }

    /// Waits for the notification of this number, counted from 1.
    pub(crate) fn wait_for(&self, count: usize) -> SeenNotice {
        until("a notification", || self.seen.lock().unwrap().get(count - 1).cloned())
    }

    pub(crate) fn wait_until_closed(&self, id: u32) {
        until("a closed notification", || {
            let seen = self.seen.lock().unwrap();
            seen.iter().any(|one| one.id == id && one.is_closed).then_some(())
        });
    }

    /// Presses a button of a notification.
    pub(crate) fn press(&self, id: u32, action: &str) {
        let interface = "org.freedesktop.Notifications";
        let body = &(id, action);
        self.bus.emit_signal(None::<&str>, NOTICES, interface, "ActionInvoked", body).unwrap();
    }
}

/// Waits until a program serves this name on the bus. Whoever asked it before would have the bus
/// start another one.
pub(crate) fn wait_for_service(desktop: &TestDesktop, name: &str) {
    let bus = Builder::address(desktop.bus.as_str()).unwrap().build().unwrap();
    let itself = "org.freedesktop.DBus";
    let proxy = Proxy::new(&bus, itself, "/org/freedesktop/DBus", itself).unwrap();
    until(name, || proxy.call::<_, _, bool>("NameHasOwner", &(name,)).unwrap().then_some(()));
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "never came: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
