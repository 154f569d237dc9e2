//! Signing in to a team's page with an account of the company: what goes back and forth.
//!
//! A tab begins, its browser goes to the provider and comes back with an answer, and the tab shows
//! the desk that answer with its ticket. The desk remembers nothing between these steps, so each
//! may be at another desk of the team. Only the tab that has begun has the ticket, without which an
//! answer is worth nothing: nobody is signed in by a link of somebody else. An answer is good once,
//! and not for long, because the provider gives an ID token for a code only once and soon.

use crate::machine_routes::DeskFuture;
use crate::origin::{PageOrigin, SIGN_IN_RETURN};

/// The longest text of a ticket or of an answer, in bytes: some providers' codes are long.
pub(crate) const LONGEST_SIGN_IN: usize = 8 * 1024;

/// A sign-in that a person is to go through.
#[derive(Debug, Clone)]
pub struct BegunSignIn {
    pub address: String,
    pub ticket: SignInTicket,
}

/// What the tab that has begun a sign-in keeps until it is finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInTicket {
    /// The text by which the provider's answer is known.
    pub state: String,
    /// What proves to the provider that the answer is for whoever has asked.
    pub verifier: String,
    /// The text that the provider has to repeat.
    pub nonce: String,
}

/// What a provider has sent with the browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderAnswer {
    pub code: String,
    /// From whom the answer is, if it says so.
    pub issuer: Option<String>,
}

pub trait AccountProvider: Send + Sync + 'static {
    /// Begins a sign-in after which the browser comes back to `redirect`.
    fn begin_sign_in<'a>(
        &'a self,
        redirect: &'a str,
    ) -> DeskFuture<'a, Result<BegunSignIn, String>>;

    /// Returns the e-mail address of whoever has signed in.
    fn finish_sign_in<'a>(
        &'a self,
        ticket: &'a SignInTicket,
        redirect: &'a str,
        answer: &'a ProviderAnswer,
    ) -> DeskFuture<'a, Result<String, String>>;

    /// Says why a sign-in has failed, to whoever runs the desk.
    fn report_failure(&self, why: &str);
}

/// Why nobody is signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignInFailure {
    /// The answer is not one of this tab's sign-in.
    Refused,
    /// The provider does not say who it is.
    Failed,
}

impl SignInTicket {
    /// Returns the text that the tab keeps.
    pub(crate) fn render(&self) -> String {
        [self.state.as_str(), &self.verifier, &self.nonce].join(".")
    }

    fn parse(text: &str) -> Option<Self> {
        let is_word = |part: &str| part.len() >= SHORTEST_PART && part.bytes().all(is_of_words);
        let parts: Vec<&str> = text.split('.').collect();
        let [state, verifier, nonce] = parts[..] else { return None };
        let owned = str::to_owned;
        [state, verifier, nonce].into_iter().all(is_word).then(|| Self {
            state: owned(state),
            verifier: owned(verifier),
            nonce: owned(nonce),
        })
    }
}

/// The fewest characters of a part of a ticket.
const SHORTEST_PART: usize = 32;

fn is_of_words(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Returns the address to which a browser is sent that comes back from the provider: the tab takes
/// the answer from its fragment.
pub(crate) fn lead_back(query: &str) -> String {
    match read_answer(query) {
        Some((_, Some(_))) if query.len() <= LONGEST_SIGN_IN => {
            // Kept as it came, for the tab to hand over: only `finish_sign_in` takes it apart.
            let quoted = query.replace('%', "%25").replace('&', "%26").replace('+', "%2B");
            format!("/#answer={quoted}")
        }
        _ => "/#sign-in=refused".to_owned(),
    }
}

/// Returns the e-mail address of whoever has signed in, by what the browser came back with and the
/// ticket of the tab.
pub(crate) async fn finish_sign_in(
    provider: &dyn AccountProvider,
    answer: &str,
    ticket: &str,
    origin: &PageOrigin,
) -> Result<String, SignInFailure> {
    // All checks before the provider is asked: a link of somebody else costs it nothing.
    let (state, answer) = read_answer(answer).ok_or(SignInFailure::Refused)?;
    let ticket = SignInTicket::parse(ticket).filter(|ticket| ticket.state == state);
    let ticket = ticket.ok_or(SignInFailure::Refused)?;
    let answer = answer.ok_or(SignInFailure::Refused)?;
    let account = provider.finish_sign_in(&ticket, &redirect_of(origin), &answer).await;
    account.map_err(|why| {
        provider.report_failure(&why);
        SignInFailure::Failed
    })
}

pub(crate) fn redirect_of(origin: &PageOrigin) -> String {
    format!("{}{SIGN_IN_RETURN}", origin.0)
}

/// Reads what a provider has sent: its state, and the code unless the sign-in was broken off.
/// Returns `None` for what is no such answer.
fn read_answer(query: &str) -> Option<(String, Option<ProviderAnswer>)> {
    let (mut state, mut code, mut issuer) = (None, None, None);
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=')?;
        let place = match name {
            "state" => &mut state,
            "code" => &mut code,
            "iss" => &mut issuer,
            _ => continue,
        };
        // Two values of one name could be read in two ways.
        if place.replace(decode_percent(value)?).is_some() {
            return None;
        }
    }
    Some((state?, code.map(|code| ProviderAnswer { code, issuer })))
}

fn decode_percent(value: &str) -> Option<String> {
    let mut bytes = value.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_providers_are_read_strictly() {
        let answer = |code: &str, issuer: Option<&str>| ProviderAnswer {
            code: code.to_owned(),
            issuer: issuer.map(str::to_owned),
        };
        let read = |query: &str| read_answer(query);
        assert_eq!(
            read("code=a%2Bb+c&state=s1&iss=https%3A%2F%2Fi"),
            Some(("s1".to_owned(), Some(answer("a+b c", Some("https://i")))))
        );
        assert_eq!(read("error=access_denied&state=s1"), Some(("s1".to_owned(), None)));
        for wrong in ["", "code=a", "code=a&code=b&state=s", "state=s&state=s", "state=%zz", "x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_browser_that_comes_back_is_led_to_the_page() {
        assert_eq!(lead_back("code=a%2Bb+c&state=s"), "/#answer=code=a%252Bb%2Bc%26state=s");
        let long = format!("state=s&code={}", "x".repeat(LONGEST_SIGN_IN));
        for refused in ["error=access_denied&state=s", "code=a", "", &long] {
            assert_eq!(lead_back(refused), "/#sign-in=refused", "{refused}");
        }
    }

    #[test]
    fn tickets_are_read_strictly() {
        let part = |letter: char| letter.to_string().repeat(64);
        let (state, verifier, nonce) = (part('a'), part('b'), part('c'));
        let ticket = SignInTicket { state, verifier, nonce };
        let text = ticket.render();
        assert_eq!(SignInTicket::parse(&text), Some(ticket));
        let short = &text[40..];
        let more = format!("{text}.{text}");
        for wrong in ["", "a.b.c", short, &more, &text.replace('b', "/"), &text[..129]] {
            assert_eq!(SignInTicket::parse(wrong), None, "{wrong}");
        }
    }
}
