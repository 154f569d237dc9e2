//! Tools for the user's desktop: open something, read and write the clipboard, and take a picture
//! of the screen. They use the helpers that desktops have, and are offered only where a display
//! exists.

mod helper;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use callgate_wire::session::tool_kind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::message::picture::{LARGEST_PICTURE, parse_picture};
use crate::tool::run::RunSettings;
use crate::tool::{AgentTool, CallOutcome, ToolSpec, blocking_tool};
use helper::{Helper, HelperEnv};

/// The longest text that is read from the clipboard, in bytes.
const LONGEST_CLIPBOARD: usize = 100_000;

/// What opens a file or an address.
const OPENERS: [Helper; 2] = [Helper::new("xdg-open", &[]), Helper::new("gio", &["open"])];
const WAYLAND_READERS: [Helper; 1] = [Helper::new("wl-paste", &["--no-newline"])];
const X11_READERS: [Helper; 2] = [
    Helper::new("xclip", &["-selection", "clipboard", "-o"]),
    Helper::new("xsel", &["--clipboard", "--output"]),
];
const WAYLAND_WRITERS: [Helper; 1] = [Helper::new("wl-copy", &[])];
const X11_WRITERS: [Helper; 2] = [
    Helper::new("xclip", &["-selection", "clipboard", "-i"]),
    Helper::new("xsel", &["--clipboard", "--input"]),
];
const WAYLAND_SCREEN: [Helper; 1] = [Helper::new("grim", &["-"])];
const X11_SCREEN: [Helper; 3] = [
    Helper::new("maim", &[]),
    Helper::new("scrot", &["-"]),
    Helper::new("import", &["-window", "root", "png:-"]),
];
const X11_WINDOW: [Helper; 1] = [Helper::new("scrot", &["--focused", "-"])];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DisplayKind {
    Wayland,
    X11,
}

/// Returns the tools for the desktop; none where no display exists.
pub fn build_desktop_tools(settings: &RunSettings) -> Vec<Arc<dyn AgentTool>> {
    let Some(display) = display_of(&settings.env) else { return Vec::new() };
    let helpers = Arc::new(HelperEnv { env: settings.env.clone(), cwd: settings.cwd.clone() });
    let tool = |name, about, members: Value, required: &[&str], kind, work: DesktopFunction| {
        let helpers = Arc::clone(&helpers);
        let spec = ToolSpec::new(name, about, &members, required, kind);
        blocking_tool(spec, "the desktop cannot be used", move |json| work(&helpers, display, json))
    };
    let target = "A file, a folder, or an address that begins with https://, http:// or mailto:.";
    let mode = "The whole screen, or the window that has the focus.";
    vec![
        tool(
            "open_in_default_app",
            "Opens a file, a folder or a web address for the user in the program that the desktop \
                uses for it.",
            json!({ "target": { "type": "string", "description": target } }),
            &["target"],
            tool_kind::EXECUTE,
            open_target,
        ),
        tool(
            "read_clipboard",
            "Returns the text in the user's clipboard.",
            json!({}),
            &[],
            tool_kind::READ,
            read_clipboard,
        ),
        tool(
            "write_clipboard",
            "Puts a text into the user's clipboard, in place of what is there.",
            json!({ "content": { "type": "string", "description": "The text." } }),
            &["content"],
            tool_kind::EDIT,
            write_clipboard,
        ),
        tool(
            "capture_screenshot",
            "Takes a picture of the user's screen, which you then see.",
            json!({
                "mode": { "type": "string", "enum": ["screen", "window"], "description": mode }
            }),
            &["mode"],
            tool_kind::READ,
            capture_screenshot,
        ),
    ]
}

fn display_of(env: &[(OsString, OsString)]) -> Option<DisplayKind> {
    let is_set = |name: &str| env.iter().any(|(other, value)| other == name && !value.is_empty());
    // First, because Wayland mostly has an X11 display beside it, for older programs.
    if is_set("WAYLAND_DISPLAY") {
        Some(DisplayKind::Wayland)
    } else {
        is_set("DISPLAY").then_some(DisplayKind::X11)
    }
}

/// The function of one tool, which may block. Its error is the text for the model.
type DesktopFunction = fn(&HelperEnv, DisplayKind, &str) -> Result<CallOutcome, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenInput {
    target: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoInput {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClipboardInput {
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScreenshotInput {
    mode: ScreenshotMode,
}

callgate_wire::words! {
    enum ScreenshotMode {
        Screen "screen",
        Window "window",
    }
}

fn parse_input<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("the input cannot be read: {error}"))
}

fn open_target(env: &HelperEnv, _: DisplayKind, json: &str) -> Result<CallOutcome, String> {
    let OpenInput { target } = parse_input(json)?;
    let place = target_of(env, &target)?;
    env.start(&OPENERS, "xdg-utils", Some(&place), None)?;
    Ok(CallOutcome::done(&json!({ "target": target }), format!("{target} was opened.")))
}

/// Returns what a helper is given: an address as it is, and a file by its absolute path, which
/// cannot be taken for an option.
fn target_of(env: &HelperEnv, target: &str) -> Result<String, String> {
    if ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return Ok(target.to_owned());
    }
    let path: PathBuf = env.cwd.join(target);
    if target.trim().is_empty() || !path.exists() {
        return Err(format!("{target:?} is neither a file nor a web address"));
    }
    path.into_os_string().into_string().map_err(|_| "its name is not UTF-8".to_owned())
}

fn read_clipboard(
    env: &HelperEnv,
    display: DisplayKind,
    json: &str,
) -> Result<CallOutcome, String> {
    let NoInput {} = parse_input(json)?;
    let (helpers, package) = match display {
        DisplayKind::Wayland => (&WAYLAND_READERS[..], "wl-clipboard"),
        DisplayKind::X11 => (&X11_READERS[..], "xclip"),
    };
    let bytes = env.run_for_output(helpers, package, LONGEST_CLIPBOARD)?;
    // Not converted with losses: a picture in the clipboard would become a long text of replacement
    // characters.
    let text = String::from_utf8(bytes)
        .map_err(|_| "the clipboard does not hold text; it is left as it is".to_owned())?;
    Ok(CallOutcome::done(&json!({ "text": text }), text))
}

fn write_clipboard(
    env: &HelperEnv,
    display: DisplayKind,
    json: &str,
) -> Result<CallOutcome, String> {
    let ClipboardInput { content } = parse_input(json)?;
    let (helpers, package) = match display {
        DisplayKind::Wayland => (&WAYLAND_WRITERS[..], "wl-clipboard"),
        DisplayKind::X11 => (&X11_WRITERS[..], "xclip"),
    };
    env.start(helpers, package, None, Some(content.as_bytes()))?;
    let text = format!("The clipboard holds {} characters.", content.chars().count());
    Ok(CallOutcome::done(&json!({ "characters": content.chars().count() }), text))
}

fn capture_screenshot(
    env: &HelperEnv,
    display: DisplayKind,
    json: &str,
) -> Result<CallOutcome, String> {
    let ScreenshotInput { mode } = parse_input(json)?;
    let (helpers, package) = match (display, mode) {
        (DisplayKind::Wayland, ScreenshotMode::Screen) => (&WAYLAND_SCREEN[..], "grim"),
        (DisplayKind::Wayland, ScreenshotMode::Window) => {
            return Err("Wayland has no picture of one window: use the mode \"screen\"".to_owned());
        }
        (DisplayKind::X11, ScreenshotMode::Screen) => (&X11_SCREEN[..], "scrot"),
        (DisplayKind::X11, ScreenshotMode::Window) => (&X11_WINDOW[..], "scrot"),
    };
    let bytes = env.run_for_output(helpers, package, LARGEST_PICTURE)?;
    let image = parse_picture(&bytes)?;
    let text = format!("The picture of the {} follows.", mode.name());
    Ok(CallOutcome {
        images: vec![image.clone()],
        ..CallOutcome::done(&json!({ "image": image }), text)
    })
}

#[cfg(test)]
mod tests;
