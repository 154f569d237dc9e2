//! The desktop shell of callgate: a window that is one keystroke away and shows the page, with the
//! runtime as its child. Behaviour lives in `callgate-client` and in the page; what is here joins
//! them to the desktop.

mod arguments;
mod attached_files;
mod callgate_program;
mod clipboard_files;
mod command_refusal;
mod commands;
mod desk_access;
mod desk_arrival;
mod desktop;
mod desktop_wish;
mod downloads;
mod file_drops;
mod folder_dialog;
mod global_shortcut;
mod instance;
mod key_chord;
mod notices;
mod outside;
mod paced_channel;
mod page_files;
mod page_watches;
mod placement;
mod shell_event;
mod shell_log;
mod shell_settings;
mod shell_state;
mod sync;
mod tray;
mod window;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;

use ksni::TrayMethods;
use tauri::async_runtime::{Receiver, block_on, spawn};
use tauri::{App, AppHandle, Manager, RunEvent};
use tokio::signal::unix::{SignalKind, signal};
use zbus::Connection;

use crate::arguments::{HELP, ShellArguments, ShellCommandLine};
use crate::commands::{chat, desk, desktop as on_desktop, settings};
use crate::desktop_wish::DesktopWish;
use crate::global_shortcut::GlobalShortcut;
use crate::instance::ShellInstance;
use crate::notices::DesktopNotices;
use crate::page_files::PageFiles;
use crate::placement::KeptPlacement;
use crate::shell_event::ShellEvent;
use crate::shell_log::log_complaint;
use crate::shell_state::ShellState;
use crate::tray::ShellTray;

/// The exit code for a wrong command line.
const USAGE: u8 = 64;

/// What the first shell has on the session bus.
type OnBus = (Connection, Receiver<DesktopWish>);

fn main() -> ExitCode {
    let arguments = match arguments::parse_command_line(std::env::args_os().skip(1)) {
        ShellCommandLine::Start(arguments) => arguments,
        ShellCommandLine::Help => return print_text(HELP),
        ShellCommandLine::Version => {
            return print_text(concat!("callgate-shell ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        ShellCommandLine::Wrong(text) => {
            log_complaint(&format!("{text}; see callgate-shell --help"));
            return ExitCode::from(USAGE);
        }
    };
    match block_on(instance::claim_or_notify(&arguments)) {
        Ok(ShellInstance::Other) => ExitCode::SUCCESS,
        Ok(ShellInstance::First(bus, wishes)) => run_shell(arguments, Some((bus, wishes))),
        Err(error) => {
            log_complaint(&format!("no session bus, so no tray and no notifications: {error}"));
            run_shell(arguments, None)
        }
    }
}

fn print_text(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns what the build script knows: the settings of Tauri, the grants and the page.
#[allow(clippy::disallowed_methods, reason = "in code that Tauri makes for another platform")]
fn build_context() -> tauri::Context {
    let mut context = tauri::generate_context!();
    context.set_assets(Box::new(PageFiles));
    context
}

fn run_shell(arguments: ShellArguments, bus: Option<OnBus>) -> ExitCode {
    let built = tauri::Builder::default()
        .invoke_handler(tauri::generate_handler![
            on_desktop::shell_info,
            desk::desk_request,
            desk::desk_watch,
            desk::desk_unwatch,
            desk::desk_pair,
            chat::chat_start,
            chat::chat_send,
            chat::chat_watch,
            chat::chat_unwatch,
            chat::chat_restart,
            settings::settings_read,
            settings::settings_write,
            settings::settings_store_api_key,
            on_desktop::folder_choose,
            on_desktop::window_hide,
            on_desktop::open_outside,
            on_desktop::waiting_changed,
            on_desktop::notify,
            on_desktop::notify_answer,
            on_desktop::notify_unchecked,
        ])
        .setup(move |app| Ok(set_up(app, arguments, bus)?))
        .build(build_context());
    match built {
        Ok(app) => {
            app.run(|app, event| {
                if let RunEvent::Exit = event {
                    // Otherwise the runtime would be killed in the midst of what it writes.
                    block_on(app.state::<ShellState>().chats.close());
                }
            });
            ExitCode::SUCCESS
        }
        Err(error) => {
            log_complaint(&format!("the window cannot be opened: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Makes the window, and then, without waiting, everything else.
fn set_up(app: &mut App, arguments: ShellArguments, bus: Option<OnBus>) -> tauri::Result<()> {
    let data = app.path().app_local_data_dir()?;
    fs::create_dir_all(&data)?;
    // The storage of the page has its key to the desk.
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700))?;
    let is_hidden = arguments.is_hidden;
    // Before the window: its page calls commands at once, and they need the state.
    app.manage(ShellState::new(arguments, KeptPlacement::new(data.join("window.json"))));
    let window = window::create_hidden(app.handle())?;
    if !is_hidden {
        window::show_in_front(&window);
    }
    spawn(end_on_signal(app.handle().clone()));
    spawn(join_desktop(app.handle().clone(), bus));
    spawn(await_desks(app.handle().clone()));
    Ok(())
}

/// Ends the shell as its menu does when the session or the user ends it.
async fn end_on_signal(app: AppHandle) {
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    let (Ok(mut terminate), Ok(mut interrupt)) = signals else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    desktop::fulfil_wish(&app, DesktopWish::Quit);
}

/// Tells the page whenever a desk starts.
async fn await_desks(app: AppHandle) {
    // Without the program there is no desk either, and the page says so.
    let Ok(socket) = app.state::<ShellState>().desk.socket().await else { return };
    let tell = move || shell_event::tell_page(&app, ShellEvent::DeskStarted);
    if let Err(error) = desk_arrival::watch_for_desk(socket, tell) {
        log_complaint(&format!("a desk that starts later is not noticed: {error}"));
    }
}

/// Joins the desktop: settings, shortcut, tray, notifications and the wishes of later starts. What
/// a desktop does not have is logged and done without.
async fn join_desktop(app: AppHandle, bus: Option<OnBus>) {
    let state = app.state::<ShellState>();
    let of_wishes = app.clone();
    let fulfil = move |wish| desktop::fulfil_wish(&of_wishes, wish);
    let of_shortcut = fulfil.clone();
    let pressed = move |is_in_front| of_shortcut(DesktopWish::Toggle { is_in_front });
    drop(state.shortcut.set(GlobalShortcut::connect(pressed)));
    desktop::apply_settings(&app).await;
    let Some((bus, mut wishes)) = bus else { return };
    // A panel that has room for icons may start later.
    let tray = ShellTray::new(fulfil.clone()).assume_sni_available(true);
    match tray.disable_dbus_name(true).spawn().await {
        Ok(tray) => drop(state.tray.set(tray)),
        Err(error) => log_complaint(&format!("no icon in the tray: {error}")),
    }
    match DesktopNotices::connect(&bus, fulfil.clone()).await {
        Ok(notices) => drop(state.notices.set(notices)),
        Err(error) => log_complaint(&format!("no notifications: {error}")),
    }
    while let Some(wish) = wishes.recv().await {
        fulfil(wish);
    }
}
