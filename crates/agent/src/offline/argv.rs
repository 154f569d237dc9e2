//! A command line as the words of a program, with the quotes of a shell but without a shell.

/// The words of a command line; the error says what of it needs a shell.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => return Err("it has more than one line".into()),
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => loop {
                match chars.next() {
                    Some('\'') => break word = Some(word.unwrap_or_default()),
                    Some(c) => word.get_or_insert_default().push(c),
                    None => return Err(open("'")),
                }
            },
            '"' => double(&mut chars, word.get_or_insert_default())?,
            '\\' => match chars.next() {
                Some('\n') | None => return Err("it ends with a `\\`".into()),
                Some(c) => word.get_or_insert_default().push(c),
            },
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | '{' => {
                return Err(means(c));
            }
            '~' | '#' if word.is_none() => return Err(means(c)),
            '=' if words.is_empty() && word.as_deref().is_some_and(is_name) => {
                return Err("it sets a variable".into());
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// What stands in double quotes.
fn double(chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    loop {
        match chars.next() {
            Some('"') => return Ok(()),
            Some(c @ ('$' | '`')) => return Err(means(c)),
            Some('\\') => match chars.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => return Err(open("\"")),
            },
            Some(c) => word.push(c),
            None => return Err(open("\"")),
        }
    }
}

fn open(quote: &str) -> String {
    format!("its {quote} is not closed")
}

fn means(sign: char) -> String {
    format!("its `{sign}` means something to a shell")
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
