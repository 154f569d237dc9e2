//! Parses what represents characters: classes and escapes.

use super::PatternParser;
use crate::schema::pattern::class::CharacterSet;

impl PatternParser<'_> {
    /// Parses a class after its opening bracket.
    pub(super) fn parse_class(&mut self) -> Result<CharacterSet, String> {
        let is_negated = self.take_if_next("^");
        let mut set = CharacterSet::default();
        loop {
            let (first, first_point) = match self.rest.next() {
                None => return Err("a `]` is missing".to_owned()),
                Some(']') => break,
                Some(c) => self.class_item(c)?,
            };
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && !matches!(ahead.next(), None | Some(']'));
            let Some(first_point) = first_point.filter(|_| is_range) else {
                set.add(&first);
                continue;
            };
            self.rest.next();
            let last = self.rest.next().unwrap_or('-');
            match self.class_item(last)? {
                (_, Some(last)) if last < first_point => {
                    return Err("a range of characters ends before it begins".to_owned());
                }
                (_, Some(last)) => set.ranges.push((first_point, last)),
                // A set cannot end a range, so the hyphen stands for itself.
                (last, None) => {
                    set.add(&first);
                    set.add(&CharacterSet::from_code_point('-'.into()));
                    set.add(&last);
                }
            }
        }
        Ok(if is_negated { set.negated() } else { set })
    }

    /// Parses one item of a class: a set, and its character if there is only one.
    fn class_item(&mut self, first: char) -> Result<(CharacterSet, Option<u32>), String> {
        if first != '\\' {
            return Ok((CharacterSet::from_code_point(first.into()), Some(first.into())));
        }
        // In a class this is the backspace; only outside of one is it a boundary.
        if self.take_if_next("b") {
            return Ok((CharacterSet::from_code_point(8), Some(8)));
        }
        if let Some(set) = self.set_escape()? {
            return Ok((set, None));
        }
        let point = self.point_escape()?;
        Ok((CharacterSet::from_code_point(point), Some(point)))
    }

    pub(super) fn escaped_set(&mut self) -> Result<CharacterSet, String> {
        match self.set_escape()? {
            Some(set) => Ok(set),
            None => self.point_escape().map(CharacterSet::from_code_point),
        }
    }

    /// Takes an escape that stands for a set.
    fn set_escape(&mut self) -> Result<Option<CharacterSet>, String> {
        let Some(letter) = self.rest.peek().copied() else { return Ok(None) };
        if let Some(set) = CharacterSet::from_escape(letter) {
            self.rest.next();
            return Ok(Some(set));
        }
        if !matches!(letter, 'p' | 'P') {
            return Ok(None);
        }
        self.rest.next();
        let name = match self.rest.next() {
            Some('{') => self.take_until('}')?,
            name => name.into_iter().collect(),
        };
        let set = CharacterSet::from_property(&name);
        let set = set.ok_or_else(|| format!("the property {name:?} is unknown"))?;
        Ok(Some(if letter == 'P' { set.negated() } else { set }))
    }

    /// Takes an escape that stands for a character.
    fn point_escape(&mut self) -> Result<u32, String> {
        let Some(c) = self.rest.next() else {
            return Err("it ends with a backslash".to_owned());
        };
        Ok(match c {
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            '0' if !self.rest.peek().is_some_and(char::is_ascii_digit) => 0,
            'c' => match self.rest.next().filter(char::is_ascii_alphabetic) {
                Some(letter) => u32::from(letter) % 32,
                None => return Err("`\\c` names no control character".to_owned()),
            },
            'x' => self.parse_hexadecimal(2)?,
            'u' if self.take_if_next("{") => {
                let digits = self.take_until('}')?;
                let point = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                point.ok_or_else(|| format!("there is no character {digits}"))?.into()
            }
            'u' => self.parse_utf16()?,
            c if c.is_ascii_alphanumeric() => return Err(format!("the escape `\\{c}` is unknown")),
            c => c.into(),
        })
    }

    fn parse_hexadecimal(&mut self, count: usize) -> Result<u32, String> {
        let digits: String = self.rest.by_ref().take(count).collect();
        u32::from_str_radix(&digits, 16)
            .ok()
            .filter(|_| digits.len() == count)
            .ok_or_else(|| format!("{digits:?} is not a hexadecimal number of {count} digits"))
    }

    /// Takes one code unit of UTF-16, or two that belong together.
    fn parse_utf16(&mut self) -> Result<u32, String> {
        let first = self.parse_hexadecimal(4)?;
        let ahead = self.rest.clone();
        if (0xD800..0xDC00).contains(&first) && self.take_if_next("\\u") {
            let second = self.parse_hexadecimal(4)?;
            if (0xDC00..0xE000).contains(&second) {
                return Ok(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
            self.rest = ahead;
        }
        Ok(first)
    }
}
