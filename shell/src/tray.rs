//! The icon in the tray: a status notifier item, which shows how many questions wait.

use ksni::menu::{MenuItem, StandardItem};
use ksni::{Category, Icon, Status, ToolTip, Tray};
use tauri::image::Image;

use crate::desktop_wish::DesktopWish;

/// The icon while nothing waits, and while something does.
static QUIET: Image<'_> = tauri::include_image!("icons/tray.png");
static WAITING: Image<'_> = tauri::include_image!("icons/tray-waiting.png");

pub(crate) struct ShellTray {
    fulfil: Box<dyn Fn(DesktopWish) + Send + Sync>,
    pub(crate) waiting: u64,
}

impl ShellTray {
    /// Makes an icon whose presses are passed on as wishes.
    pub(crate) fn new(fulfil: impl Fn(DesktopWish) + Send + Sync + 'static) -> Self {
        Self { fulfil: Box::new(fulfil), waiting: 0 }
    }

    fn item(label: &str, wish: DesktopWish) -> MenuItem<Self> {
        let activate = move |tray: &mut Self| (tray.fulfil)(wish.clone());
        StandardItem { label: label.to_owned(), activate: Box::new(activate), ..Default::default() }
            .into()
    }
}

impl Tray for ShellTray {
    fn id(&self) -> String {
        "callgate-shell".to_owned()
    }

    fn title(&self) -> String {
        waiting_title(self.waiting)
    }

    fn category(&self) -> Category {
        Category::Communications
    }

    fn status(&self) -> Status {
        if self.waiting > 0 { Status::NeedsAttention } else { Status::Active }
    }

    fn icon_pixmap(&self) -> Vec<Icon> {
        vec![icon_from_image(if self.waiting > 0 { &WAITING } else { &QUIET })]
    }

    fn attention_icon_pixmap(&self) -> Vec<Icon> {
        vec![icon_from_image(&WAITING)]
    }

    fn tool_tip(&self) -> ToolTip {
        ToolTip { title: waiting_title(self.waiting), ..Default::default() }
    }

    fn activate(&mut self, _x: i32, _y: i32) {
        (self.fulfil)(DesktopWish::Toggle { is_in_front: None });
    }

    fn menu(&self) -> Vec<MenuItem<Self>> {
        vec![
            Self::item("Show", DesktopWish::Show),
            Self::item("Status", DesktopWish::Status),
            Self::item("Restart", DesktopWish::Restart),
            MenuItem::Separator,
            Self::item("Quit", DesktopWish::Quit),
        ]
    }
}

pub(crate) fn waiting_title(count: u64) -> String {
    match count {
        0 => "callgate".to_owned(),
        1 => "callgate: 1 question waits".to_owned(),
        _ => format!("callgate: {count} questions wait"),
    }
}

/// Returns a picture with the bytes of each point in the order of the tray: alpha first.
fn icon_from_image(image: &Image<'_>) -> Icon {
    let data = image.rgba().chunks_exact(4).flat_map(|point| {
        let [red, green, blue, alpha] = [point[0], point[1], point[2], point[3]];
        [alpha, red, green, blue]
    });
    let side = |length: u32| i32::try_from(length).unwrap_or_default();
    Icon { width: side(image.width()), height: side(image.height()), data: data.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_alpha_first() {
        let icon = icon_from_image(&Image::new(&[1, 2, 3, 4, 5, 6, 7, 8], 2, 1));
        assert_eq!((icon.width, icon.height, icon.data), (2, 1, vec![4, 1, 2, 3, 8, 5, 6, 7]));
        assert_ne!(icon_from_image(&QUIET).data, icon_from_image(&WAITING).data);
    }

    #[test]
    fn the_title_counts() {
        let titles = [0, 1, 12].map(waiting_title);
        assert_eq!(
            titles,
            ["callgate", "callgate: 1 question waits", "callgate: 12 questions wait"]
        );
    }
}
