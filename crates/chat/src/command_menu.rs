//! The menu of commands that a slash opens. Pure.

use crate::key_decoder::KeyStroke;
use crate::line_editor::LineEditor;
use crate::slash_command::{SlashCommand, beginning_with};
use crate::styled_text::{ChatPage, StyledText, TextStyle};

/// The most rows of the menu.
const MOST_ROWS: usize = 8;

/// Which command is chosen, and whether the menu was closed by hand.
#[derive(Debug, Default)]
pub(crate) struct CommandMenu {
    chosen: usize,
    is_closed: bool,
}

/// What a key does to the menu.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MenuKey {
    /// It has no meaning to the menu.
    Other,
    /// It was for the menu alone.
    Taken,
    /// It chooses this command, which takes the place of what is typed.
    Chosen(&'static str),
}

impl CommandMenu {
    /// Returns the commands that are shown; none while the menu is closed.
    fn entries(&self, editor: &LineEditor) -> Vec<SlashCommand> {
        let text = editor.text();
        let is_command = text.starts_with('/') && !text.contains(char::is_whitespace);
        if self.is_closed || !is_command || editor.cursor() != text.len() {
            return Vec::new();
        }
        let mut entries = beginning_with(&text[1..]);
        // The command whose name is complete comes first.
        entries.sort_by_key(|entry| entry.name() != &text[1..]);
        entries
    }

    /// Returns true while the menu is shown.
    pub(crate) fn is_open(&self, editor: &LineEditor) -> bool {
        !self.entries(editor).is_empty()
    }

    /// Notes that something else was typed.
    pub(crate) fn note_typing(&mut self) {
        *self = Self::default();
    }

    /// Closes the menu until something is typed.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(crate) fn handle_key(&mut self, key: KeyStroke, editor: &LineEditor) -> MenuKey {
        let entries = self.entries(editor);
        let Some(entry) = entries.get(self.chosen).or_else(|| entries.first()).copied() else {
            return MenuKey::Other;
        };
        match key {
            KeyStroke::Escape => self.close(),
            KeyStroke::Up | KeyStroke::Ctrl('p') => {
                self.chosen = self.chosen.checked_sub(1).unwrap_or(entries.len() - 1);
            }
            KeyStroke::Down | KeyStroke::Ctrl('n') => {
                self.chosen = (self.chosen + 1) % entries.len();
            }
            KeyStroke::Tab => return MenuKey::Chosen(entry.name()),
            // Nothing runs whose name nobody has typed or seen in the input.
            KeyStroke::Enter if entry.name() != &editor.text()[1..] => {
                return MenuKey::Chosen(entry.name());
            }
            _ => return MenuKey::Other,
        }
        MenuKey::Taken
    }

    pub(crate) fn rows(&self, editor: &LineEditor, page: &ChatPage) -> Vec<String> {
        let entries = self.entries(editor);
        let chosen = self.chosen.min(entries.len().saturating_sub(1));
        let first = (chosen + 1).saturating_sub(MOST_ROWS);
        let usages: Vec<String> = entries.iter().map(|entry| entry.usage()).collect();
        let width = usages.iter().map(String::len).max().unwrap_or(0);
        let row = |(number, entry): (usize, &SlashCommand)| {
            let (sign, style) = if number == chosen {
                ("› ", TextStyle::CYAN | TextStyle::BOLD)
            } else {
                ("  ", TextStyle::PLAIN)
            };
            let usage = format!("{:<width$}  ", usages[number]);
            let line = StyledText::new(sign, style).and_text(&usage, style);
            line.and_text(entry.entry().about, TextStyle::DIM).row(page)
        };
        let mut rows: Vec<String> =
            entries.iter().enumerate().skip(first).take(MOST_ROWS).map(row).collect();
        let more = entries.len().saturating_sub(first + MOST_ROWS);
        if more > 0 {
            rows.push(StyledText::new(&format!("  … {more} more"), TextStyle::DIM).row(page));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::styled_text::tests::page;

    fn rows(menu: &CommandMenu, text: &str) -> Vec<String> {
        menu.rows(&LineEditor::with_text(text.to_owned()), &page(60))
    }

    #[test]
    fn a_slash_opens_it_and_letters_narrow_it() {
        let menu = CommandMenu::default();
        let all = rows(&menu, "/");
        assert_eq!(all.len(), MOST_ROWS + 1, "{all:?}");
        assert!(all[0].starts_with("› /help"), "{all:?}");
        assert!(all[MOST_ROWS].ends_with("more"), "{all:?}");
        let some = rows(&menu, "/re");
        assert_eq!(some.len(), 4, "{some:?}");
        assert!(some[0].starts_with("› /rename TITLE    renames"), "{some:?}");
        // The command whose name is complete comes first.
        assert!(rows(&menu, "/mode")[0].starts_with("› /mode "));
        for text in ["", "hello", "/mode ", "/mode plan", "/etc/hosts", "/zebra", "a /"] {
            assert_eq!(rows(&menu, text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn keys_choose_and_only_a_whole_name_is_run() {
        let mut menu = CommandMenu::default();
        let typed = LineEditor::with_text("/re".to_owned());
        assert_eq!(menu.handle_key(KeyStroke::Down, &typed), MenuKey::Taken);
        assert_eq!(menu.handle_key(KeyStroke::Enter, &typed), MenuKey::Chosen("regenerate"));
        assert_eq!(menu.handle_key(KeyStroke::Up, &typed), MenuKey::Taken);
        assert_eq!(menu.handle_key(KeyStroke::Up, &typed), MenuKey::Taken);
        assert_eq!(menu.handle_key(KeyStroke::Tab, &typed), MenuKey::Chosen("restart"));
        assert_eq!(menu.handle_key(KeyStroke::Char('x'), &typed), MenuKey::Other);
        assert_eq!(menu.handle_key(KeyStroke::Escape, &typed), MenuKey::Taken);
        assert!(!menu.is_open(&typed));
        assert_eq!(menu.handle_key(KeyStroke::Enter, &typed), MenuKey::Other);
        menu.note_typing();
        let whole = LineEditor::with_text("/new".to_owned());
        assert_eq!(menu.handle_key(KeyStroke::Enter, &whole), MenuKey::Other);
    }

    #[test]
    fn what_is_chosen_stays_in_sight() {
        let mut menu = CommandMenu::default();
        let typed = LineEditor::with_text("/".to_owned());
        menu.handle_key(KeyStroke::Up, &typed);
        let shown = menu.rows(&typed, &page(60));
        assert!(shown.last().unwrap().starts_with("› /quit"), "{shown:?}");
    }
}
