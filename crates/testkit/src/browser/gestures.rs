//! What hands do at a keyboard and with a mouse, by the browser's own input handling.

use std::path::Path;

use serde_json::{Value, json};

use super::{Browser, ELEMENT};

impl Browser {
    /// Presses keys one after the other, wherever the focus is.
    pub fn press_keys(&self, keys: &str) {
        let presses = keys.chars().flat_map(|key| [("keyDown", key), ("keyUp", key)]);
        self.act_on_keys(presses);
    }

    /// Presses keys together, such as Ctrl and V, wherever the focus is.
    pub fn press_together(&self, keys: &str) {
        let down = keys.chars().map(|key| ("keyDown", key));
        self.act_on_keys(down.chain(keys.chars().rev().map(|key| ("keyUp", key))));
    }

    fn act_on_keys(&self, presses: impl Iterator<Item = (&'static str, char)>) {
        let actions: Vec<Value> =
            presses.map(|(kind, key)| json!({ "type": kind, "value": key })).collect();
        let source = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.session.post("actions", &json!({ "actions": [source] }));
    }

    /// Turns the wheel of the mouse over an element. Down is positive.
    pub fn scroll(&self, css: &str, pixels: i32) {
        let element = self.find(css).unwrap_or_else(|| panic!("{css} is not there"));
        let action = json!({
            "type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": pixels,
            "origin": { ELEMENT: element },
        });
        let source = json!({ "type": "wheel", "id": "wheel", "actions": [action] });
        self.session.post("actions", &json!({ "actions": [source] }));
    }

    /// Drops files of this machine onto the middle of an element, as from a file manager.
    pub fn drop_files(&self, css: &str, files: &[&Path]) {
        let place = self.run(
            "const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
            return [x + width / 2, y + height / 2]",
            &json!([css]),
        );
        let _ = self.run(
            "window.isDragged = false;
            addEventListener('dragover', () => { window.isDragged = true; }, { once: true });",
            &json!([]),
        );
        let data = json!({ "items": [], "files": files, "dragOperationsMask": 1 });
        let send = |kind: &str| {
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "data": data });
            self.cdp("Input.dispatchDragEvent", &event);
        };
        // What is dropped before the page has said that it takes it is opened in a tab of its own.
        send("dragEnter");
        self.until("the page takes the drag", || {
            send("dragOver");
            self.wait_for_frames();
            (self.run("return window.isDragged", &json!([])) == true).then_some(())
        });
        send("drop");
    }

    /// Waits until the page was drawn twice: then what it said of an event has reached the browser.
    fn wait_for_frames(&self) {
        let _ = self.run_async(
            "const [done] = arguments;
            requestAnimationFrame(() => requestAnimationFrame(() => done(true)));",
            &json!([]),
        );
    }
}
