//! The colours of a command line: what the reader took each character for.

use callgate_wire::desk::SegmentStyle;

#[derive(Debug)]
pub(super) struct SegmentPaint {
    styles: Vec<Option<SegmentStyle>>,
    /// Where the operators between commands of the line itself begin.
    pub(super) breaks: Vec<usize>,
}

impl SegmentPaint {
    pub(super) fn new(length: usize) -> Self {
        Self { styles: vec![None; length], breaks: Vec::new() }
    }

    /// Paints those characters of a range that nothing within it has painted.
    pub(super) fn paint(&mut self, from: usize, to: usize, style: SegmentStyle) {
        let to = to.min(self.styles.len());
        for painted in self.styles.get_mut(from..to).into_iter().flatten() {
            painted.get_or_insert(style);
        }
    }

    /// Returns the style of a character, if the reader came to it.
    pub(super) fn style(&self, at: usize) -> Option<SegmentStyle> {
        self.styles.get(at).copied().flatten()
    }
}
