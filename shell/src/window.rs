//! The one window: where it is, when it is seen, and where it may lead.

use std::cell::Cell;

use tauri::utils::config::Color;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{
    AppHandle, LogicalSize, Manager, PhysicalPosition, PhysicalSize, Theme, Url, WebviewUrl,
    WebviewWindow, WebviewWindowBuilder, WindowEvent,
};
use webkit2gtk::{WebView, WebViewExt};

use crate::clipboard_files;
use crate::downloads;
use crate::file_drops;
use crate::placement::{ScreenArea, WindowPlacement};
use crate::shell_event::LABEL;
use crate::shell_log::log_complaint;
use crate::shell_state::ShellState;

/// The size of a window that was never moved: the page shows everything side by side from a width
/// of 1100 on, and a screen of 1920 pixels at a scale of 1.5 has room for 1280.
const FIRST_SIZE: LogicalSize<f64> = LogicalSize { width: 1200.0, height: 800.0 };
/// How often the page is loaded again after its process has died: more is no accident.
const MOST_DEATHS: u32 = 10;
const LEAST_SIZE: LogicalSize<f64> = LogicalSize { width: 360.0, height: 420.0 };

pub(crate) fn create_hidden(app: &AppHandle) -> tauri::Result<WebviewWindow> {
    let window = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::App("index.html".into()))
        .title("callgate")
        .inner_size(FIRST_SIZE.width, FIRST_SIZE.height)
        .min_inner_size(LEAST_SIZE.width, LEAST_SIZE.height)
        // It is shown once it is at its place, so that nobody sees it jump.
        .visible(false)
        // Otherwise the window would flash white before the page is drawn.
        .background_color(Color(18, 17, 16, 255))
        .on_navigation(is_own_page)
        // Links are opened by the command `open_outside`, which checks them.
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|page, event| downloads::handle_download(page.app_handle(), event))
        .on_page_load(|window, load| {
            if load.event() == PageLoadEvent::Started {
                // The page that read the streams is gone.
                window.state::<ShellState>().watches.end_all();
            }
        })
        .build()?;
    let of_window = window.clone();
    window.on_window_event(move |event| match event {
        WindowEvent::CloseRequested { api, .. } => {
            // The window is only hidden, because the shell goes on in the tray and behind its
            // shortcut.
            api.prevent_close();
            hide_keeping_place(&of_window);
        }
        WindowEvent::DragDrop(event) => file_drops::handle_drag(of_window.app_handle(), event),
        _ => {}
    });
    let of_paste = app.clone();
    log_failure(window.with_webview(|web_view| {
        let web_view = web_view.inner();
        reload_dead_page(&web_view);
        clipboard_files::watch_pastes(&web_view, of_paste);
    }));
    Ok(window)
}

/// Loads the page again when its process has died, which would leave the window empty. The session
/// lives in the shell and in the runtime, so the page continues where it was.
fn reload_dead_page(web_view: &WebView) {
    let deaths = Cell::new(0);
    web_view.connect_web_process_terminated(move |web_view, reason| {
        deaths.set(deaths.get() + 1);
        log_complaint(&format!("the process of the page has ended ({reason:?})"));
        if deaths.get() <= MOST_DEATHS {
            web_view.reload();
        }
    });
}

/// Returns true for the page itself, and for the files that it makes for download. Nothing else is
/// ever shown in the window.
fn is_own_page(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        // A file has the address of its page after the scheme.
        "blob" => url.path().starts_with("tauri://localhost/"),
        _ => false,
    }
}

pub(crate) fn main_window(app: &AppHandle) -> Option<WebviewWindow> {
    app.get_webview_window(LABEL)
}

/// Shows the window where it was, in front of the others.
pub(crate) fn show_in_front(window: &WebviewWindow) {
    let is_hidden = !window.is_visible().unwrap_or(false);
    if is_hidden {
        restore_placement(window);
    }
    log_failure(window.show());
    if is_hidden {
        // A window manager may have a place of its own for a window that appears.
        restore_placement(window);
    }
    log_failure(window.unminimize());
    log_failure(window.set_focus());
}

pub(crate) fn hide_keeping_place(window: &WebviewWindow) {
    keep_placement(window);
    log_failure(window.hide());
}

/// Returns true if the user works in the window. Whether it is in front may be known already.
pub(crate) fn is_used(window: &WebviewWindow, is_in_front: Option<bool>) -> bool {
    let is_in_front = is_in_front.unwrap_or_else(|| window.is_focused().unwrap_or(false));
    window.is_visible().unwrap_or(false) && is_in_front
}

/// Sets light or dark colours; those of the system if `None`.
pub(crate) fn set_theme(window: &WebviewWindow, theme: Option<Theme>) {
    log_failure(window.set_theme(theme));
}

fn restore_placement(window: &WebviewWindow) {
    let state = window.state::<ShellState>();
    let Some(kept) = state.placement.current().filter(|kept| kept.is_on(&screen_areas(window)))
    else {
        return;
    };
    log_failure(window.set_size(PhysicalSize::new(kept.width, kept.height)));
    log_failure(window.set_position(PhysicalPosition::new(kept.x, kept.y)));
    if kept.maximized {
        log_failure(window.maximize());
    }
}

/// Remembers where the window is, if it is seen.
pub(crate) fn keep_placement(window: &WebviewWindow) {
    if !window.is_visible().unwrap_or(false) || window.is_minimized().unwrap_or(false) {
        return;
    }
    let (Ok(at), Ok(size)) = (window.outer_position(), window.inner_size()) else { return };
    let state = window.state::<ShellState>();
    let maximized = window.is_maximized().unwrap_or(false);
    let seen =
        WindowPlacement { x: at.x, y: at.y, width: size.width, height: size.height, maximized };
    if let Err(error) = state.placement.keep(seen) {
        log_complaint(&format!("the place of the window is not kept: {error}"));
    }
}

fn screen_areas(window: &WebviewWindow) -> Vec<ScreenArea> {
    let monitors = window.available_monitors().unwrap_or_default();
    let area = |monitor: tauri::Monitor| {
        let (at, size) = (*monitor.position(), *monitor.size());
        ScreenArea { x: at.x, y: at.y, width: size.width, height: size.height }
    };
    monitors.into_iter().map(area).collect()
}

fn log_failure(done: tauri::Result<()>) {
    if let Err(error) = done {
        log_complaint(&format!("the window does not obey: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_page_itself_is_shown() {
        let is_own = |url: &str| is_own_page(&url.parse().unwrap());
        assert!(is_own("tauri://localhost/") && is_own("tauri://localhost/index.html#/chat"));
        assert!(is_own("blob:tauri://localhost/5e551000"));
        for other in [
            "https://example.com/",
            "http://localhost/",
            "tauri://evil/",
            "blob:https://example.com/5e551000",
            "blob:tauri://evil/5e551000",
            "blob:null/5e551000",
            "file:///etc/passwd",
            "data:text/html,x",
            "about:blank",
            "javascript:alert(1)",
        ] {
            assert!(!is_own(other), "{other}");
        }
    }
}
