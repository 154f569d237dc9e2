//! The global shortcut: keys that X11 reports to the shell wherever the focus is.
//!
//! A thread waits for them and uses no processor time meanwhile. Wayland has no such keys; there
//! the user lets the compositor run `callgate-shell --toggle`.

use std::sync::{Arc, Mutex};
use std::thread;

use x11rb::connection::Connection;
use x11rb::errors::{ConnectError, ConnectionError, ReplyError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, GrabMode, ModMask};
use x11rb::rust_connection::RustConnection;

use crate::key_chord::{KeyChord, KeyChordError};
use crate::sync::lock;

/// Why a shortcut does not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShortcutError {
    /// The text names no keys.
    #[error(transparent)]
    Chord(#[from] KeyChordError),
    /// Wayland has no keys that are pressed wherever the focus is.
    #[error(
        "there is no X11 display for it ({0}); give `callgate-shell --toggle` a shortcut in the \
         settings of your desktop"
    )]
    NoDisplay(#[from] ConnectError),
    #[error("the display does not answer: {0}")]
    Connection(#[from] ConnectionError),
    #[error("another program has this shortcut, or the display refuses it")]
    Taken,
    #[error("the keyboard has no such key")]
    NoSuchKey,
    /// The thread that waits for keys cannot be started.
    #[error("no thread can be started: {0}")]
    Thread(#[from] std::io::Error),
}

#[derive(Debug, Clone, Copy)]
struct GrabbedKey {
    keycode: u8,
    modifiers: u16,
}

#[derive(Debug)]
pub(crate) struct GlobalShortcut {
    connection: Arc<RustConnection>,
    root: u32,
    grabbed: Mutex<Option<GrabbedKey>>,
}

/// Caps Lock and Num Lock count as modifiers for X11, and as nothing for people.
const LOCKS: [u16; 4] = [0, 1 << 1, 1 << 4, 1 << 1 | 1 << 4];

impl GlobalShortcut {
    /// Connects to the display. `pressed` is called by a thread of its own, and learns whether the
    /// user works in a window of this program, if the display says so.
    pub(crate) fn connect(
        pressed: impl Fn(Option<bool>) + Send + 'static,
    ) -> Result<Self, ShortcutError> {
        let (connection, screen) = RustConnection::connect(None)?;
        let root = connection.setup().roots.get(screen).map_or(0, |screen| screen.root);
        let connection = Arc::new(connection);
        let waiting = Arc::clone(&connection);
        let keys = thread::Builder::new().name("global shortcut".to_owned());
        keys.spawn(move || wait_for_keys(&waiting, root, pressed))?;
        Ok(Self { connection, root, grabbed: Mutex::default() })
    }

    /// Takes these keys in place of the ones before; `None` takes none. If they cannot be had, the
    /// ones before stay.
    pub(crate) fn set_chord(&self, chord: Option<KeyChord>) -> Result<(), ShortcutError> {
        // Before anything is released, so that a key that does not exist changes nothing.
        let wanted = chord.map(|chord| self.grabbed_key(chord)).transpose()?;
        let mut grabbed = lock(&self.grabbed);
        let before = grabbed.take();
        // The keys before go first: releasing them later would let go of the new ones, too, if both
        // are the same.
        if let Some(before) = before {
            self.release(before)?;
        }
        let Some(wanted) = wanted else { return Ok(()) };
        match self.grab(wanted) {
            Ok(()) => {
                *grabbed = Some(wanted);
                Ok(())
            }
            Err(error) => {
                *grabbed = before.filter(|before| self.grab(*before).is_ok());
                Err(error)
            }
        }
    }

    fn grabbed_key(&self, chord: KeyChord) -> Result<GrabbedKey, ShortcutError> {
        let keycode = self.keycode(chord.keysym)?.ok_or(ShortcutError::NoSuchKey)?;
        Ok(GrabbedKey { keycode, modifiers: chord.modifiers })
    }

    fn grab(&self, key: GrabbedKey) -> Result<(), ShortcutError> {
        for lock in LOCKS {
            let modifiers = ModMask::from(key.modifiers | lock);
            // A synchronous grab would freeze the keyboard until it is told to go on.
            let (keyboard, pointer) = (GrabMode::ASYNC, GrabMode::ASYNC);
            let asked = self.connection.grab_key(
                false,
                self.root,
                modifiers,
                key.keycode,
                pointer,
                keyboard,
            )?;
            // Those that were grabbed already are released, so that the shortcut works with all
            // locks or not at all.
            if let Err(error) = asked.check() {
                self.release(key)?;
                return Err(match error {
                    ReplyError::ConnectionError(error) => error.into(),
                    ReplyError::X11Error(_) => ShortcutError::Taken,
                });
            }
        }
        Ok(())
    }

    fn release(&self, key: GrabbedKey) -> Result<(), ConnectionError> {
        for lock in LOCKS {
            let modifiers = ModMask::from(key.modifiers | lock);
            self.connection.ungrab_key(key.keycode, self.root, modifiers)?.ignore_error();
        }
        self.connection.flush()
    }

    /// Returns the key of the keyboard that has this number.
    fn keycode(&self, keysym: u32) -> Result<Option<u8>, ShortcutError> {
        let setup = self.connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let asked = self.connection.get_keyboard_mapping(first, last - first + 1)?;
        let mapping = asked.reply().map_err(|_| ShortcutError::NoSuchKey)?;
        let width = usize::from(mapping.keysyms_per_keycode).max(1);
        let mut keys = (first..=last).zip(mapping.keysyms.chunks(width));
        Ok(keys.find(|(_, names)| names.first() == Some(&keysym)).map(|(code, _)| code))
    }
}

/// Calls `pressed` for each press until the connection ends. A key that is held down is reported
/// again and again, with a release and a press at the same moment.
fn wait_for_keys(connection: &RustConnection, root: u32, pressed: impl Fn(Option<bool>)) {
    let mut released = None;
    while let Ok(event) = connection.wait_for_event() {
        match event {
            Event::KeyPress(press) if released != Some(press.time) => {
                pressed(is_in_front(connection, root));
            }
            Event::KeyRelease(release) => released = Some(release.time),
            _ => {}
        }
    }
}

/// Returns true if the active window is one of this program. The window itself does not know: while
/// the keys of a shortcut are down, it has lost the focus to them.
fn is_in_front(connection: &RustConnection, root: u32) -> Option<bool> {
    let active = number_property(connection, root, b"_NET_ACTIVE_WINDOW", AtomEnum::WINDOW)?;
    let pid = number_property(connection, active, b"_NET_WM_PID", AtomEnum::CARDINAL)?;
    Some(pid == std::process::id())
}

fn number_property(
    connection: &RustConnection,
    window: u32,
    name: &[u8],
    kind: AtomEnum,
) -> Option<u32> {
    let name = connection.intern_atom(true, name).ok()?.reply().ok()?.atom;
    let property = connection.get_property(false, window, name, kind, 0, 1).ok()?.reply().ok()?;
    property.value32()?.next()
}
