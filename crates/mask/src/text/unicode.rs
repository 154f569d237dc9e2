//! Which characters are invisible or deceptive, and which of them ordinary text needs.

/// Returns true for a character that is never shown as it is: controls, bidirectional
/// marks and overrides, zero-width and filler characters, tags, line and paragraph separators.
///
/// Not here, because ordinary text needs them in some places: tab, newline, the joiners
/// U+200C and U+200D and the variation selectors. Unusual blanks (no-break, ideographic) stay:
/// they are seen as blanks, and French and Chinese are written with them.
pub(super) fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{fdd0}'..='\u{fdef}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// Returns true for a variation selector, which changes the look of the character before it or
/// nothing at all.
pub(super) fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Letters of scripts whose spelling uses the joiners: Arabic and its relatives, the scripts of
/// India and their relatives, Khmer, Myanmar, Mongolian.
pub(super) fn is_joining_letter(c: char) -> bool {
    matches!(c,
        '\u{620}'..='\u{65f}' | '\u{66e}'..='\u{6d3}' | '\u{6d5}'..='\u{6ef}'
        | '\u{6fa}'..='\u{6ff}' | '\u{710}'..='\u{77f}' | '\u{7ca}'..='\u{7f5}'
        | '\u{840}'..='\u{85b}' | '\u{8a0}'..='\u{8e1}' | '\u{8e3}'..='\u{963}'
        | '\u{971}'..='\u{9e3}' | '\u{9f0}'..='\u{a63}' | '\u{a70}'..='\u{ae3}'
        | '\u{af9}'..='\u{b63}' | '\u{b70}'..='\u{be3}' | '\u{c00}'..='\u{c63}'
        | '\u{c80}'..='\u{ce3}' | '\u{cf1}'..='\u{d63}' | '\u{d7a}'..='\u{de3}'
        | '\u{df2}' | '\u{df3}' | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}'
        | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17d3}' | '\u{1820}'..='\u{18aa}'
        | '\u{fb50}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdfb}' | '\u{fe70}'..='\u{fefc}'
        | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e94b}')
}

/// Returns true for a virama, a sign of Indian scripts that removes a letter's vowel. A joiner may
/// follow one at the end of a word.
pub(super) fn is_virama(c: char) -> bool {
    // The blocks of these scripts have 128 characters each, and the virama at the same place.
    (('\u{900}'..='\u{d7f}').contains(&c) && u32::from(c) & 0x7f == 0x4d) || c == '\u{dca}'
}

/// Returns true for a Mongolian letter, whose shape the Mongolian variation selectors choose.
pub(super) fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18aa}')
}

/// Returns true for a character that is, or with U+FE0F becomes, a picture.
pub(super) fn is_picture(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25aa}'..='\u{25fe}' | '\u{2600}'..='\u{27bf}' | '\u{2934}' | '\u{2935}'
        | '\u{2b05}'..='\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Returns true for a mark that is drawn over its letter. Piled up they cover the lines around
/// them.
pub(super) fn is_overlay(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}' | '\u{483}'..='\u{489}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}
