//! ID tokens of OpenID Connect: who has signed in, by the word of a company's provider. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

/// How far clocks may differ, in seconds.
const LEEWAY: i64 = 60;
/// The longest token, in bytes.
const LONGEST_TOKEN: usize = 16 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct ExpectedIdToken<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    /// The random text of the sign-in.
    pub nonce: &'a str,
    /// The time, in seconds since 1970.
    pub now: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdTokenError {
    #[error("the ID token cannot be read")]
    Malformed,
    #[error("the ID token is signed in a way that is not accepted")]
    Algorithm,
    #[error("the provider has no key with which the ID token is signed")]
    UnknownKey,
    #[error("the signature of the ID token is wrong")]
    Signature,
    #[error("the ID token is of another provider")]
    Issuer,
    #[error("the ID token is for another program")]
    Audience,
    #[error("the ID token is of another sign-in")]
    Nonce,
    #[error("the ID token has expired, or is of the future: compare the clocks")]
    Time,
    #[error("the provider does not say that the e-mail address belongs to the account")]
    NoEmail,
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    kid: Option<String>,
}

#[derive(Deserialize)]
struct TokenClaims {
    iss: String,
    aud: Value,
    azp: Option<String>,
    exp: i64,
    iat: i64,
    nonce: Option<String>,
    email: Option<String>,
    #[serde(default)]
    email_verified: Value,
}

/// Returns the e-mail address of the account for which a token was issued, in lower case. `keys`
/// are the provider's (a JWK set).
pub fn verify_id_token(
    token: &str,
    keys: &Value,
    expected: ExpectedIdToken<'_>,
) -> Result<String, IdTokenError> {
    let mut parts = token.split('.');
    let (Some(header), Some(claims), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(IdTokenError::Malformed);
    };
    // Before anything is decoded: the token comes from outside.
    if token.len() > LONGEST_TOKEN {
        return Err(IdTokenError::Malformed);
    }
    // The signature covers the text as it came, because encoding it again could give another one.
    let signed = &token[..header.len() + 1 + claims.len()];
    let header: TokenHeader = decode_json(header)?;
    // Before this nothing that the token says counts.
    check_signature(&header, keys, signed.as_bytes(), &decode_bytes(signature)?)?;
    check_claims(decode_json(claims)?, expected)
}

/// Returns the PKCE challenge of a verifier (S256): whoever brings the code has to show the
/// verifier itself.
pub fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

fn check_claims(
    claims: TokenClaims,
    expected: ExpectedIdToken<'_>,
) -> Result<String, IdTokenError> {
    if claims.iss != expected.issuer {
        return Err(IdTokenError::Issuer);
    }
    let is_for_us = match &claims.aud {
        Value::String(one) => one == expected.client_id,
        // With several audiences, `azp` says for which of them the token was issued (OpenID Connect
        // Core, 3.1.3.7).
        Value::Array(all) => {
            all.iter().any(|one| one == expected.client_id)
                && (all.len() == 1 || claims.azp.as_deref() == Some(expected.client_id))
        }
        _ => false,
    };
    if !is_for_us || claims.azp.as_deref().is_some_and(|azp| azp != expected.client_id) {
        return Err(IdTokenError::Audience);
    }
    // Without this a token of another sign-in, which somebody has intercepted, would count.
    if claims.nonce.as_deref() != Some(expected.nonce) {
        return Err(IdTokenError::Nonce);
    }
    let is_in_time = claims.exp.saturating_add(LEEWAY) > expected.now
        && claims.iat <= expected.now.saturating_add(LEEWAY);
    if !is_in_time {
        return Err(IdTokenError::Time);
    }
    // Some providers let people write any address into their account, so it has to be verified;
    // some say so by a text.
    let is_verified = claims.email_verified == true || claims.email_verified == "true";
    let email = claims.email.filter(|email| is_verified && email.contains('@'));
    // Case does not count, because providers return the address as somebody has typed it.
    email.map(|email| email.to_ascii_lowercase()).ok_or(IdTokenError::NoEmail)
}

/// Checks a signature with the provider's key of that name, or with any of its keys if the token
/// names none.
fn check_signature(
    header: &TokenHeader,
    keys: &Value,
    signed: &[u8],
    signature: &[u8],
) -> Result<(), IdTokenError> {
    // Not `none`, and no HMAC: its key would be one that everybody can read.
    const KNOWN: [&str; 5] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];
    if !KNOWN.contains(&&*header.alg) {
        return Err(IdTokenError::Algorithm);
    }
    let fits = |key: &&Value| {
        header.kid.as_deref().is_none_or(|kid| key["kid"] == kid)
            // A provider may also publish keys for encryption, which sign nothing.
            && (key["use"].is_null() || key["use"] == "sig")
            && (key["alg"].is_null() || key["alg"] == *header.alg)
    };
    let mut found = keys["keys"].as_array().into_iter().flatten().filter(fits).peekable();
    if found.peek().is_none() {
        return Err(IdTokenError::UnknownKey);
    }
    let is_good =
        found.any(|key| is_signed_with(key, &header.alg, signed, signature) == Some(true));
    if is_good { Ok(()) } else { Err(IdTokenError::Signature) }
}

/// Returns true if a key has signed this. Returns `None` for a key of another kind.
fn is_signed_with(key: &Value, algorithm: &str, signed: &[u8], signature: &[u8]) -> Option<bool> {
    let part = |name: &str| decode_bytes(key[name].as_str()?).ok();
    let curve = |name: &str| (key["crv"] == name).then_some(());
    let point = || {
        // The form of a point that is not compressed.
        let (x, y) = (part("x")?, part("y")?);
        Some([&[4][..], &x, &y].concat())
    };
    // Key and algorithm have to fit: otherwise the token would choose how the provider's key is
    // used.
    let verified = match (key["kty"].as_str()?, algorithm) {
        ("RSA", "RS256" | "PS256") => {
            let (n, e) = (part("n")?, part("e")?);
            let scheme = match algorithm {
                "PS256" => &RSA_PSS_2048_8192_SHA256,
                _ => &RSA_PKCS1_2048_8192_SHA256,
            };
            RsaPublicKeyComponents { n, e }.verify(scheme, signed, signature)
        }
        ("EC", "ES256") => {
            curve("P-256")?;
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point()?).verify(signed, signature)
        }
        ("EC", "ES384") => {
            curve("P-384")?;
            UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point()?).verify(signed, signature)
        }
        ("OKP", "EdDSA") => {
            curve("Ed25519")?;
            UnparsedPublicKey::new(&ED25519, part("x")?).verify(signed, signature)
        }
        _ => return None,
    };
    Some(verified.is_ok())
}

fn decode_bytes(text: &str) -> Result<Vec<u8>, IdTokenError> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| IdTokenError::Malformed)
}

fn decode_json<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, IdTokenError> {
    serde_json::from_slice(&decode_bytes(text)?).map_err(|_| IdTokenError::Malformed)
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    };
    use serde_json::json;

    use super::*;

    const EXPECTED: ExpectedIdToken<'_> = ExpectedIdToken {
        issuer: "https://id.example.org",
        client_id: "callgate",
        nonce: "n1",
        now: 1_000_000,
    };

    fn claims() -> Value {
        json!({
            "iss": "https://id.example.org", "aud": "callgate", "sub": "7", "nonce": "n1",
            "iat": 999_990, "exp": 1_000_600, "email": "Ada@example.org", "email_verified": true,
        })
    }

    fn encode(value: &Value) -> String {
        URL_SAFE_NO_PAD.encode(value.to_string())
    }

    /// A provider with an Ed25519 key.
    struct Provider(Ed25519KeyPair);

    impl Provider {
        fn new() -> Self {
            Self(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap())
        }

        fn keys(&self) -> Value {
            let x = URL_SAFE_NO_PAD.encode(self.0.public_key());
            json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": x }] })
        }

        fn token(&self, header: &Value, claims: &Value) -> String {
            let signed = format!("{}.{}", encode(header), encode(claims));
            let signature = URL_SAFE_NO_PAD.encode(self.0.sign(signed.as_bytes()));
            format!("{signed}.{signature}")
        }

        fn verify(&self, claims: &Value) -> Result<String, IdTokenError> {
            let token = self.token(&json!({ "alg": "EdDSA", "kid": "k1" }), claims);
            verify_id_token(&token, &self.keys(), EXPECTED)
        }
    }

    #[test]
    fn a_token_names_the_account_and_every_claim_counts() {
        let provider = Provider::new();
        assert_eq!(provider.verify(&claims()), Ok("ada@example.org".to_owned()));
        let check = |name: &str, value: Value, expected: IdTokenError| {
            let mut changed = claims();
            changed[name] = value;
            assert_eq!(provider.verify(&changed), Err(expected), "{name}");
        };
        check("iss", json!("https://id.example.org/"), IdTokenError::Issuer);
        check("aud", json!("other"), IdTokenError::Audience);
        check("aud", json!(["callgate", "other"]), IdTokenError::Audience);
        check("azp", json!("other"), IdTokenError::Audience);
        check("aud", json!(7), IdTokenError::Audience);
        check("nonce", json!("n2"), IdTokenError::Nonce);
        check("nonce", Value::Null, IdTokenError::Nonce);
        check("exp", json!(999_900), IdTokenError::Time);
        check("iat", json!(1_000_100), IdTokenError::Time);
        check("exp", json!("never"), IdTokenError::Malformed);
        check("email_verified", json!(false), IdTokenError::NoEmail);
        check("email_verified", Value::Null, IdTokenError::NoEmail);
        check("email", Value::Null, IdTokenError::NoEmail);
        let mut several = claims();
        (several["aud"], several["azp"]) = (json!(["other", "callgate"]), json!("callgate"));
        assert!(provider.verify(&several).is_ok());
    }

    #[test]
    fn a_token_that_the_provider_has_not_signed_is_refused() {
        let provider = Provider::new();
        let (header, keys) = (json!({ "alg": "EdDSA", "kid": "k1" }), provider.keys());
        let token = provider.token(&header, &claims());
        let check = |token: &str, keys: &Value, expected: IdTokenError| {
            assert_eq!(verify_id_token(token, keys, EXPECTED), Err(expected), "{token}");
        };
        let mut forged = claims();
        forged["email"] = json!("eve@example.org");
        let parts: Vec<&str> = token.split('.').collect();
        let swapped = format!("{}.{}.{}", parts[0], encode(&forged), parts[2]);
        check(&swapped, &keys, IdTokenError::Signature);
        check(&format!("{}.{}.", parts[0], parts[1]), &keys, IdTokenError::Signature);
        check(&format!("{token}.x"), &keys, IdTokenError::Malformed);
        check("", &keys, IdTokenError::Malformed);
        for algorithm in ["none", "HS256", "RS512", "eddsa"] {
            let token = provider.token(&json!({ "alg": algorithm, "kid": "k1" }), &claims());
            check(&token, &keys, IdTokenError::Algorithm);
        }
        // A key of one kind does not count for another.
        let other = provider.token(&json!({ "alg": "ES256", "kid": "k1" }), &claims());
        check(&other, &keys, IdTokenError::Signature);
        let unknown = provider.token(&json!({ "alg": "EdDSA", "kid": "k2" }), &claims());
        check(&unknown, &keys, IdTokenError::UnknownKey);
        check(&token, &json!({ "keys": [] }), IdTokenError::UnknownKey);
        check(&token, &json!([]), IdTokenError::UnknownKey);
        let mut encrypts = keys.clone();
        encrypts["keys"][0]["use"] = json!("enc");
        check(&token, &encrypts, IdTokenError::UnknownKey);
        // Without a name any key of the provider may be the one.
        let unnamed = provider.token(&json!({ "alg": "EdDSA" }), &claims());
        assert!(verify_id_token(&unnamed, &keys, EXPECTED).is_ok());
    }

    #[test]
    fn a_challenge_is_as_the_standard_has_it() {
        // RFC 7636, appendix B.
        let challenge = code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn keys_on_a_curve_are_read() {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pair.as_ref(), &random).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        let keys = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "x": x, "y": y }] });
        let signed = format!("{}.{}", encode(&json!({ "alg": "ES256" })), encode(&claims()));
        let signature = pair.sign(&random, signed.as_bytes()).unwrap();
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()));
        assert!(verify_id_token(&token, &keys, EXPECTED).is_ok());
    }
}
