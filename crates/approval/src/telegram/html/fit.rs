//! Divides the room of a message among its parts and writes them.

use callgate_mask::text::{Measure, boundary_before, measured_length};

use super::{HtmlPart, MessageLimits, RenderedHtml, escaped_len, push_escaped};

/// The size of a piece of a message, in both measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct HtmlSize {
    units: usize,
    bytes: usize,
}

/// A size that fits nowhere.
const TOO_LONG: HtmlSize = HtmlSize { units: usize::MAX, bytes: usize::MAX };

impl HtmlSize {
    fn plus(self, other: Self) -> Self {
        Self {
            units: self.units.saturating_add(other.units),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    fn minus(self, other: Self) -> Option<Self> {
        let units = self.units.checked_sub(other.units)?;
        Some(Self { units, bytes: self.bytes.checked_sub(other.bytes)? })
    }

    fn fits(self, room: Self) -> bool {
        room.minus(self).is_some()
    }

    fn of_char(c: char) -> Self {
        Self { units: c.len_utf16(), bytes: escaped_len(c) }
    }

    fn of_text(text: &str) -> Self {
        text.chars().fold(Self::default(), |size, c| size.plus(Self::of_char(c)))
    }
}

impl HtmlPart {
    fn tags(&self) -> HtmlSize {
        HtmlSize { units: 0, bytes: self.open.len() + self.close.len() }
    }

    fn size(&self) -> HtmlSize {
        if self.text.is_empty() {
            return HtmlSize::default();
        }
        HtmlSize::of_text(&self.text).plus(self.tags())
    }

    /// Returns the size as it counts against the room: a part of which something is already missing
    /// never fits without a notice.
    fn whole_size(&self) -> HtmlSize {
        if self.more > 0 {
            return TOO_LONG;
        }
        self.size()
    }
}

pub(super) fn render_parts(parts: &[HtmlPart], limits: MessageLimits) -> RenderedHtml {
    let room = HtmlSize { units: limits.utf16, bytes: limits.bytes };
    let fixed = parts.iter().filter(|part| !part.may_be_cut).map(HtmlPart::whole_size);
    let fixed = fixed.fold(HtmlSize::default(), HtmlSize::plus);
    let mut message = RenderedHtml::default();
    match room.minus(fixed) {
        Some(room) => write_shares(parts, room, &mut message),
        None => write_squeezed(parts, room, &mut message),
    }
    message
}

/// Writes the fixed parts whole, and of the others what their share of `room` allows.
fn write_shares(parts: &[HtmlPart], room: HtmlSize, message: &mut RenderedHtml) {
    let share = fair_share(parts, room);
    for part in parts {
        if !part.may_be_cut || part.whole_size().fits(share) {
            message.push_whole(part, &part.text);
        } else {
            message.cut_to(part, share);
        }
    }
}

/// Returns how much each cut part may take. A part that is too long by one measure gets a notice,
/// and so may take its whole share by the other measure too; each cut part makes the share smaller,
/// until no more are cut.
fn fair_share(parts: &[HtmlPart], room: HtmlSize) -> HtmlSize {
    let mut sizes: Vec<HtmlSize> =
        parts.iter().filter(|part| part.may_be_cut).map(HtmlPart::whole_size).collect();
    loop {
        let share = HtmlSize {
            units: fair_level(sizes.iter().map(|size| size.units).collect(), room.units),
            bytes: fair_level(sizes.iter().map(|size| size.bytes).collect(), room.bytes),
        };
        let mut is_settled = true;
        for size in sizes.iter_mut().filter(|size| **size != TOO_LONG && !size.fits(share)) {
            *size = TOO_LONG;
            is_settled = false;
        }
        if is_settled {
            return share;
        }
    }
}

/// Returns the greatest level such that all lengths, each cut to that level, fit the room together.
fn fair_level(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let mut left = room;
    let mut count = lengths.len();
    for length in lengths {
        if length.saturating_mul(count) > left {
            return left / count;
        }
        left -= length;
        count -= 1;
    }
    room
}

/// Writes what fits of the fixed parts, in order, when they alone are too long.
fn write_squeezed(parts: &[HtmlPart], room: HtmlSize, message: &mut RenderedHtml) {
    let mut room = room;
    for part in parts {
        let for_text = room.minus(part.tags()).filter(|_| !part.may_be_cut).unwrap_or_default();
        let text = fitting_prefix(&part.text, for_text);
        if !text.is_empty() {
            message.push_whole(part, text);
            room = room.minus(HtmlSize::of_text(text).plus(part.tags())).unwrap_or_default();
        }
        message.cut += measured_length(&part.text[text.len()..], Measure::Chars) + part.more;
        if !part.may_be_cut && text.len() < part.text.len() {
            // Text after a cut part would look as if nothing were missing.
            room = HtmlSize::default();
        }
    }
}

/// Returns the longest beginning of `text` that fits and splits no character.
fn fitting_prefix(text: &str, room: HtmlSize) -> &str {
    let mut used = HtmlSize::default();
    let end = text.char_indices().find(|(_, c)| {
        used = used.plus(HtmlSize::of_char(*c));
        !used.fits(room)
    });
    end.map_or(text, |(end, _)| &text[..boundary_before(text, end)])
}

/// Returns the longest end of `text` that fits and splits no character.
fn fitting_suffix(text: &str, room: HtmlSize) -> &str {
    let mut used = HtmlSize::default();
    let start = text.char_indices().rev().find(|(_, c)| {
        used = used.plus(HtmlSize::of_char(*c));
        !used.fits(room)
    });
    let start = start.map_or(0, |(at, c)| at + c.len_utf8());
    // Marks that belong to the character before are left out with it.
    let start = text[start..]
        .char_indices()
        .map(|(at, _)| start + at)
        .find(|at| boundary_before(text, *at) == *at)
        .unwrap_or(text.len());
    &text[start..]
}

impl RenderedHtml {
    /// Writes `text` between the tags of `part`. Telegram accepts no empty tags.
    fn push_whole(&mut self, part: &HtmlPart, text: &str) {
        if text.is_empty() {
            return;
        }
        self.html.push_str(&part.open);
        push_escaped(text, &mut self.html);
        self.html.push_str(part.close);
    }

    /// Writes as much of the beginning and the end of `part` as fits into `share`, and a notice of
    /// how much is missing between them.
    fn cut_to(&mut self, part: &HtmlPart, share: HtmlSize) {
        let all = measured_length(&part.text, Measure::Chars) + part.more;
        // The longest notice that may come: how much is missing is known only after the cut.
        let longest = cut_notice(all, part.is_block);
        let room = share.minus(HtmlSize {
            // One more for the line end before the tail.
            units: measured_length(&longest, Measure::Utf16) + 1,
            bytes: longest.len() + NOTICE_TAGS.len() + 1,
        });
        let Some(room) = room else {
            self.cut += all;
            return;
        };
        // The beginning and the end each have their own tags.
        let room = room.minus(part.tags()).and_then(|room| room.minus(part.tags()));
        let room = room.unwrap_or_default();
        let for_tail = HtmlSize { units: room.units / 3, bytes: room.bytes / 3 };
        let tail = fitting_suffix(&part.text, for_tail);
        let used = HtmlSize::of_text(tail);
        let head = fitting_prefix(&part.text, room.minus(used).unwrap_or_default());
        let shown = measured_length(head, Measure::Chars) + measured_length(tail, Measure::Chars);
        let missing = all.saturating_sub(shown);
        self.push_whole(part, head);
        let notice = cut_notice(missing, part.is_block && !head.is_empty());
        self.html.push_str(&NOTICE_TAGS[..3]);
        self.html.push_str(&notice);
        self.html.push_str(&NOTICE_TAGS[3..]);
        if !tail.is_empty() {
            self.html.push('\n');
            self.push_whole(part, tail);
        }
        self.cut += missing;
    }
}

/// The tags of the notice, outside the content's own tags, so that content cannot imitate it.
const NOTICE_TAGS: &str = "<i></i>";

/// Returns a notice such as `… 3,412 more characters`, on its own line after a block.
fn cut_notice(missing: usize, on_its_own_line: bool) -> String {
    let start = if on_its_own_line { "\n" } else { "" };
    let plural = if missing == 1 { "" } else { "s" };
    format!("{start}… {} more character{plural}", with_commas(missing))
}

/// Formats a number with a comma between groups of three digits.
pub(super) fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
