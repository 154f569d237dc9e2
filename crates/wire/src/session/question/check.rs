//! Compares an answer with the fields of its question, and reads answers that are given in words.

use serde_json::{Map, Number, Value};

use super::{AgentQuestion, FieldKind, FieldOption, NumberBounds, QuestionField};

/// The longest text in an answer, in characters.
const LONGEST_ANSWER: u64 = 16_384;

impl AgentQuestion {
    /// Returns what is wrong with the values of an answer, in words for the person who gave it.
    pub fn check_values(&self, values: &Map<String, Value>) -> Result<(), String> {
        let is_known = |name: &String| self.fields.iter().any(|field| field.name == *name);
        if let Some(name) = values.keys().find(|name| !is_known(name)) {
            return Err(format!("there is no field {name:?}"));
        }
        for field in &self.fields {
            let wrong = |what: String| format!("{}: {what}", field.title);
            match values.get(&field.name) {
                Some(value) => field.kind.check_value(value).map_err(wrong)?,
                None if field.required => return Err(wrong("an answer is required".to_owned())),
                None => {}
            }
        }
        Ok(())
    }
}

impl QuestionField {
    /// Reads a value that was typed: a choice by its number, its title or its value. Returns `None`
    /// for an empty text in a field without a default, and an error in words if nothing fits.
    pub fn read_words(&self, words: &str) -> Result<Option<Value>, String> {
        let words = words.trim();
        if words.is_empty() {
            return Ok(self.kind.default_value());
        }
        let value = self.kind.value_of(words)?;
        // A number or a text may have the right type and still be out of its bounds.
        self.kind.check_value(&value)?;
        Ok(Some(value))
    }
}

impl FieldKind {
    /// Returns the value that a field has at first.
    pub fn default_value(&self) -> Option<Value> {
        match self {
            Self::Text { default, .. } | Self::OneOf { default, .. } => {
                default.clone().map(Value::String)
            }
            Self::Number(bounds) | Self::Integer(bounds) => {
                bounds.default.clone().map(Value::Number)
            }
            Self::Boolean { default } => default.map(Value::Bool),
            Self::SeveralOf { default, .. } => default.clone().map(Value::from),
        }
    }

    /// Returns what can be chosen.
    pub fn options(&self) -> &[FieldOption] {
        match self {
            Self::OneOf { options, .. } | Self::SeveralOf { options, .. } => options,
            _ => &[],
        }
    }

    fn value_of(&self, words: &str) -> Result<Value, String> {
        // As a `Number`, so that a large whole number keeps all its digits.
        let number = || words.parse::<Number>().map(Value::Number);
        match self {
            Self::Text { .. } => Ok(words.into()),
            Self::Number(_) => number().map_err(|_| "this is not a number".to_owned()),
            Self::Integer(_) => number().map_err(|_| "this is not a whole number".to_owned()),
            Self::Boolean { .. } => match words.to_lowercase().as_str() {
                "y" | "yes" | "true" | "1" => Ok(true.into()),
                "n" | "no" | "false" | "2" => Ok(false.into()),
                _ => Err("answer yes or no".to_owned()),
            },
            Self::OneOf { options, free_text, .. } => {
                Ok(chosen_value(options, words, *free_text)?.into())
            }
            Self::SeveralOf { options, free_text, .. } => {
                // First as a whole, because a choice may have a comma in its title.
                if let Ok(one) = chosen_value(options, words, false) {
                    return Ok(vec![one].into());
                }
                let parts = words.split(',').map(str::trim).filter(|part| !part.is_empty());
                let all: Result<Vec<String>, String> =
                    parts.map(|part| chosen_value(options, part, false)).collect();
                match all {
                    Ok(all) => Ok(all.into()),
                    Err(_) if *free_text => Ok(vec![words.to_owned()].into()),
                    Err(why) => Err(why),
                }
            }
        }
    }

    fn check_value(&self, value: &Value) -> Result<(), String> {
        match self {
            Self::Text { min_length, max_length, format, .. } => {
                let text = value.as_str().ok_or("this is not a text")?;
                let length = text.chars().count() as u64;
                let most = max_length.unwrap_or(LONGEST_ANSWER).min(LONGEST_ANSWER);
                if length > most {
                    return Err(format!("at most {most} characters"));
                }
                if let Some(least) = min_length.filter(|least| length < *least) {
                    return Err(format!("at least {least} characters"));
                }
                has_format(text, format.as_deref())
            }
            Self::Number(bounds) => {
                bounds.check_number(value.as_f64().ok_or("this is not a number")?)
            }
            Self::Integer(bounds) => {
                // As in JSON Schema, `1.0` is a whole number.
                let number = value.as_f64().filter(|number| number.fract() == 0.0);
                bounds.check_number(number.ok_or("this is not a whole number")?)
            }
            Self::Boolean { .. } => {
                value.as_bool().map(drop).ok_or_else(|| "this is not true or false".to_owned())
            }
            Self::OneOf { options, free_text, .. } => is_option(options, value, *free_text),
            Self::SeveralOf { options, free_text, min_items, max_items, .. } => {
                let chosen = value.as_array().ok_or("this is not a list")?;
                chosen.iter().try_for_each(|one| is_option(options, one, *free_text))?;
                if chosen.iter().enumerate().any(|(at, one)| chosen[..at].contains(one)) {
                    return Err("the same is chosen twice".to_owned());
                }
                let count = chosen.len() as u64;
                if let Some(least) = min_items.filter(|least| count < *least) {
                    return Err(format!("choose at least {least}"));
                }
                match max_items.filter(|most| count > *most) {
                    Some(most) => Err(format!("choose at most {most}")),
                    None => Ok(()),
                }
            }
        }
    }
}

impl NumberBounds {
    fn check_number(&self, number: f64) -> Result<(), String> {
        let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
        if let (Some(least), Some(minimum)) = (bound(&self.minimum), &self.minimum)
            && number < least
        {
            return Err(format!("at least {minimum}"));
        }
        match (bound(&self.maximum), &self.maximum) {
            (Some(most), Some(maximum)) if number > most => Err(format!("at most {maximum}")),
            _ => Ok(()),
        }
    }
}

/// Returns the value that words choose: by its value, its title, or its number.
fn chosen_value(options: &[FieldOption], words: &str, free_text: bool) -> Result<String, String> {
    let is_same = |text: &String| text.to_lowercase() == words.to_lowercase();
    let exact = options.iter().find(|one| one.value == words);
    let named = || options.iter().find(|one| is_same(&one.title) || is_same(&one.value));
    let numbered = || words.parse::<usize>().ok().and_then(|at| options.get(at.checked_sub(1)?));
    // Numbers come last, because a choice may itself be called `2`.
    match exact.or_else(named).or_else(numbered) {
        Some(option) => Ok(option.value.clone()),
        None if free_text => Ok(words.to_owned()),
        None => Err("this is not one of the choices".to_owned()),
    }
}

fn is_option(options: &[FieldOption], value: &Value, free_text: bool) -> Result<(), String> {
    let text = value.as_str().ok_or("this is not a text")?;
    if options.iter().any(|option| option.value == text) {
        return Ok(());
    }
    match (free_text, text.chars().count() as u64) {
        // A person's own words are not in the list, so only their length can be checked.
        (true, 1..=LONGEST_ANSWER) if !text.trim().is_empty() => Ok(()),
        (true, _) => Err(format!("write at most {LONGEST_ANSWER} characters")),
        (false, _) => Err("this is not one of the choices".to_owned()),
    }
}

/// Compares a text with a format, roughly: the server checks it as well. Other formats fit
/// anything.
fn has_format(text: &str, format: Option<&str>) -> Result<(), String> {
    let (is_right, expected) = match format {
        Some("email") => (is_email(text), "an email address"),
        Some("uri") => (is_uri(text), "an address such as https://example.org"),
        Some("date") => (is_date(text), "a date such as 2026-01-31"),
        Some("date-time") => (is_date_time(text), "a time such as 2026-01-31T12:00:00Z"),
        _ => return Ok(()),
    };
    if is_right { Ok(()) } else { Err(format!("this is not {expected}")) }
}

fn is_email(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    let has_gap = text.contains(char::is_whitespace);
    parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty()) && !has_gap
}

fn is_uri(text: &str) -> bool {
    let has_gap = text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one))
    };
    text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
        && !has_gap
}

fn is_date(text: &str) -> bool {
    let part = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse().ok());
    let is_digits = |(at, letter): (usize, char)| match at {
        4 | 7 => letter == '-',
        _ => letter.is_ascii_digit(),
    };
    let (month, day): (Option<u8>, Option<u8>) = (part(5, 7), part(8, 10));
    text.len() == 10
        && text.char_indices().all(is_digits)
        && month.is_some_and(|month| (1..=12).contains(&month))
        && day.is_some_and(|day| (1..=31).contains(&day))
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let zone = time.rfind(['Z', 'z', '+', '-']).map(|at| time.split_at(at));
    let Some((clock, zone)) = zone else { return false };
    let is_clock = |clock: &str, parts: usize| {
        let fits = |(part, most): (&str, u8)| {
            part.len() == 2 && part.parse::<u8>().is_ok_and(|number| number <= most)
        };
        // A second may have the number 60, if it is a leap second.
        clock.split(':').count() == parts && clock.split(':').zip([23, 59, 60]).all(fits)
    };
    let whole = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    is_date(date)
        && is_clock(whole, 3)
        && (zone.eq_ignore_ascii_case("z") || zone.get(1..).is_some_and(|zone| is_clock(zone, 2)))
}
