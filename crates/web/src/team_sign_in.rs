//! Signing in to a team's page with an account of the company: what is remembered between the steps.
//!
//! A tab begins, its browser goes to the provider and comes back with a code, and the tab exchanges a
//! word that is good once for a session. Only the tab that has begun has the ticket for that, so
//! nobody is signed in by a link of somebody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use callgate_link::random::random_bytes;
use callgate_link::sync::lock;

use crate::machine_routes::DeskFuture;
use crate::origin::{PageOrigin, SIGN_IN_RETURN};

/// How long a person may take to sign in, and the page to come for its session.
const SIGNED_IN_WITHIN: Duration = Duration::from_mins(10);
/// How many sign-ins are remembered; with more, the oldest is forgotten.
const MOST_SIGN_INS: usize = 256;

/// A sign-in that a person is to go through.
#[derive(Debug, Clone)]
pub struct BegunSignIn {
    pub address: String,
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
        begun: &'a BegunSignIn,
        redirect: &'a str,
        answer: &'a ProviderAnswer,
    ) -> DeskFuture<'a, Result<String, String>>;

    /// Says why a sign-in has failed, to whoever runs the desk.
    fn report_failure(&self, why: &str);
}

pub(crate) struct TeamSignIns {
    provider: Arc<dyn AccountProvider>,
    /// Those whose person is at the provider, by their state.
    begun: Mutex<OngoingSteps<BegunSignIn>>,
    /// Those whose page is to come for its session, by a word that is good once. Each has the e-mail
    /// address of its person.
    done: Mutex<OngoingSteps<String>>,
}

/// Steps that are waited for, by the word that ends each.
struct OngoingSteps<T>(HashMap<String, OngoingStep<T>>);

struct OngoingStep<T> {
    what: T,
    ticket: String,
    origin: String,
    at: Instant,
}

impl<T> OngoingSteps<T> {
    fn add(&mut self, word: String, step: OngoingStep<T>) {
        self.0.retain(|_, step| step.at.elapsed() < SIGNED_IN_WITHIN);
        if self.0.len() >= MOST_SIGN_INS
            && let Some(oldest) = self.0.iter().min_by_key(|(_, step)| step.at)
        {
            let oldest = oldest.0.clone();
            self.0.remove(&oldest);
        }
        self.0.insert(word, step);
    }

    /// Takes the step that a word ends, at the origin where it was begun.
    fn take(&mut self, word: &str, origin: &PageOrigin) -> Option<OngoingStep<T>> {
        let step = self.0.remove(word)?;
        (step.at.elapsed() < SIGNED_IN_WITHIN && step.origin == origin.0).then_some(step)
    }
}

impl TeamSignIns {
    pub(crate) fn new(provider: Arc<dyn AccountProvider>) -> Self {
        let (begun, done) = (OngoingSteps(HashMap::new()), OngoingSteps(HashMap::new()));
        Self { provider, begun: Mutex::new(begun), done: Mutex::new(done) }
    }

    /// Returns the e-mail address of the person to whom a page belongs that shows this word and the
    /// ticket of its tab. Whether or not they fit, the word is used up.
    pub(crate) fn take_person(
        &self,
        word: &str,
        ticket: Option<&str>,
        origin: &PageOrigin,
    ) -> Option<String> {
        let step = lock(&self.done).take(word, origin)?;
        (ticket == Some(&step.ticket)).then_some(step.what)
    }

    /// Begins a sign-in. Returns where the person signs in, and the ticket of the tab; `None` if the
    /// provider cannot be reached.
    pub(crate) async fn begin(&self, origin: &PageOrigin) -> Option<(String, String)> {
        let begun = self.provider.begin_sign_in(&redirect_of(origin)).await;
        let begun = begun.inspect_err(|why| self.provider.report_failure(why)).ok()?;
        let ticket = random_word()?;
        let (address, state) = (begun.address.clone(), begun.state.clone());
        let (kept, origin) = (ticket.clone(), origin.0.clone());
        let step = OngoingStep { what: begun, ticket: kept, origin, at: Instant::now() };
        lock(&self.begun).add(state, step);
        Some((address, ticket))
    }

    /// Takes the end of a sign-in: what the provider has sent with the browser. An error says in a
    /// word why it has failed.
    pub(crate) async fn finish(
        &self,
        query: &str,
        origin: &PageOrigin,
    ) -> Result<SignedIn, &'static str> {
        let (state, answer) = read_answer(query).ok_or("refused")?;
        let step = lock(&self.begun).take(&state, origin).ok_or("refused")?;
        let answer = answer.ok_or("refused")?;
        let OngoingStep { what: begun, ticket, origin: begun_at, .. } = step;
        let redirect = redirect_of(origin);
        let account = self.provider.finish_sign_in(&begun, &redirect, &answer).await;
        let account = account.inspect_err(|why| self.provider.report_failure(why));
        let account = account.map_err(|_| "failed")?;
        Ok(SignedIn(OngoingStep { what: account, ticket, origin: begun_at, at: Instant::now() }))
    }

    /// Keeps somebody who has signed in for their page. Returns the word with which it comes.
    pub(crate) fn keep_for_page(&self, signed_in: SignedIn) -> Option<String> {
        let word = random_word()?;
        lock(&self.done).add(word.clone(), signed_in.0);
        Some(word)
    }
}

/// Somebody who has signed in, and whose page is waited for.
pub(crate) struct SignedIn(OngoingStep<String>);

impl SignedIn {
    /// Returns the e-mail address of the account.
    pub(crate) fn account(&self) -> &str {
        &self.0.what
    }
}

fn redirect_of(origin: &PageOrigin) -> String {
    format!("{}{SIGN_IN_RETURN}", origin.0)
}

/// Returns a word that nobody guesses, if the system gives random numbers.
fn random_word() -> Option<String> {
    let bytes = random_bytes::<32>().ok()?;
    let letters = |byte: u8| [byte % 16, byte / 16].map(|half| char::from(b'a' + half));
    Some(bytes.into_iter().flat_map(letters).collect())
}

/// Reads what a provider has sent: its state, and the code unless the sign-in was broken off. Returns
/// `None` for what is no such answer.
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
    fn a_step_ends_once_and_where_it_was_begun() {
        let mut steps = OngoingSteps(HashMap::new());
        let here = PageOrigin("https://desk.test".to_owned());
        let step = || OngoingStep {
            what: (),
            ticket: String::new(),
            origin: here.0.clone(),
            at: Instant::now(),
        };
        for number in 0..MOST_SIGN_INS + 10 {
            steps.add(number.to_string(), step());
        }
        assert_eq!(steps.0.len(), MOST_SIGN_INS);
        assert!(steps.take("0", &here).is_none(), "the oldest make room");
        let last = (MOST_SIGN_INS + 9).to_string();
        assert!(steps.take(&last, &here).is_some() && steps.take(&last, &here).is_none());
        let before = (MOST_SIGN_INS + 8).to_string();
        assert!(steps.take(&before, &PageOrigin("https://other.test".to_owned())).is_none());
        assert!(steps.take(&before, &here).is_none(), "it is used up");
    }
}
