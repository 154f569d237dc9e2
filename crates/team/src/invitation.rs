//! Invitations: what a machine, a job or a person needs to find a team's desk and to be let in.

use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use callgate_wire::HiddenText;
use callgate_wire::ledger::MemberKind;
use serde::{Deserialize, Serialize};

use crate::TeamKey;

/// The beginning of every invitation for a machine or a job.
const PREFIX: &str = "callgate-invitation-";
/// The longest invitation, in bytes: certificates of authorities have room in it.
const LONGEST: usize = 16 * 1024;
pub const LONGEST_MEMBER_NAME: usize = 64;

/// An invitation. Whoever has it can use it, so it is shown only where somebody asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Where the team's desk listens: `https://HOST:PORT`.
    pub address: String,
    /// The certificate of the authority by which the desk is recognized, as DER. Without one it is
    /// an authority that the system trusts.
    pub authority: Option<Vec<u8>>,
    pub name: String,
    pub kind: MemberKind,
    /// What proves that the invitation is not invented.
    pub secret: HiddenText,
    pub rules_key: Option<TeamKey>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    #[error(
        "it is not an invitation: it has to begin with `{PREFIX}`, as `callgate team invite` prints it"
    )]
    NoInvitation,
    #[error("the invitation is damaged: copy all of it, in one piece")]
    Damaged,
    #[error("the invitation leads to no https:// address: ask for another one")]
    Address,
    #[error(
        "a member's name is 1 to {LONGEST_MEMBER_NAME} letters, digits and `-`, `_`, `.`, `@`, `+`"
    )]
    Name,
}

#[derive(Serialize, Deserialize)]
struct InvitationJson {
    address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authority: Option<String>,
    name: String,
    kind: MemberKind,
    secret: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules_key: Option<TeamKey>,
}

impl Invitation {
    /// Returns the one line of text that a machine or a job is given.
    pub fn to_text(&self) -> HiddenText {
        let json = InvitationJson {
            address: self.address.clone(),
            authority: self.authority.as_ref().map(|der| URL_SAFE_NO_PAD.encode(der)),
            name: self.name.clone(),
            kind: self.kind,
            secret: self.secret.reveal().to_owned(),
            rules_key: self.rules_key,
        };
        let json = serde_json::to_vec(&json).unwrap_or_default();
        HiddenText::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(json)))
    }

    /// Returns the address that a person opens in a browser. The secret is in the part that a
    /// browser does not send.
    pub fn to_link(&self) -> HiddenText {
        HiddenText::new(format!("{}/#join={}", self.address, self.secret.reveal()))
    }
}

impl FromStr for Invitation {
    type Err = InvitationError;

    fn from_str(text: &str) -> Result<Self, InvitationError> {
        let coded = text.trim().strip_prefix(PREFIX).ok_or(InvitationError::NoInvitation)?;
        // A longer text is not decoded, since base64 and JSON would each copy it.
        if coded.len() > LONGEST {
            return Err(InvitationError::Damaged);
        }
        let decode =
            |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| InvitationError::Damaged);
        let json: InvitationJson =
            serde_json::from_slice(&decode(coded)?).map_err(|_| InvitationError::Damaged)?;
        let host = json.address.strip_prefix("https://").unwrap_or_default();
        // With one of these the address could lead elsewhere than it seems to.
        if host.is_empty() || host.contains(['/', '?', '#', '@']) {
            return Err(InvitationError::Address);
        }
        check_member_name(&json.name)?;
        Ok(Self {
            address: json.address,
            authority: json.authority.as_deref().map(decode).transpose()?,
            name: json.name,
            kind: json.kind,
            secret: HiddenText::new(json.secret),
            rules_key: json.rules_key,
        })
    }
}

pub fn check_member_name(name: &str) -> Result<(), InvitationError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@+".contains(&byte);
    let fits = (1..=LONGEST_MEMBER_NAME).contains(&name.len()) && name.bytes().all(is_plain);
    if fits { Ok(()) } else { Err(InvitationError::Name) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn invitation() -> Invitation {
        Invitation {
            address: "https://desk.example.org:7443".to_owned(),
            authority: Some(vec![0x30, 0x82, 0, 255]),
            name: "build-7".to_owned(),
            kind: MemberKind::Machine,
            secret: HiddenText::new("0123456789abcdef"),
            rules_key: "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"
                .parse()
                .ok(),
        }
    }

    #[test]
    fn an_invitation_is_one_word_that_reads_back() {
        let text = invitation().to_text();
        assert!(
            text.reveal().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        assert_eq!(format!(" {}\n", text.reveal()).parse(), Ok(invitation()));
        let bare = Invitation { authority: None, rules_key: None, ..invitation() };
        assert_eq!(bare.to_text().reveal().parse(), Ok(bare.clone()));
        assert_eq!(bare.to_link().reveal(), "https://desk.example.org:7443/#join=0123456789abcdef");
        assert!(!format!("{bare:?}").contains("0123456789abcdef"), "it is not shown by accident");
    }

    #[test]
    fn what_is_wrong_with_an_invitation_is_named() {
        let check = |invitation: Invitation| invitation.to_text().reveal().parse::<Invitation>();
        for address in ["http://x", "https://", "https://x/y", "https://a@x", "ftp://x", ""] {
            let wrong = Invitation { address: address.to_owned(), ..invitation() };
            assert_eq!(check(wrong), Err(InvitationError::Address), "{address}");
        }
        for name in ["", "a b", "a/b", "../x", &"x".repeat(65)] {
            let wrong = Invitation { name: name.to_owned(), ..invitation() };
            assert_eq!(check(wrong), Err(InvitationError::Name), "{name}");
        }
        assert_eq!("abc".parse::<Invitation>(), Err(InvitationError::NoInvitation));
        let long = format!("{PREFIX}{}", "A".repeat(LONGEST + 1));
        assert_eq!(long.parse::<Invitation>(), Err(InvitationError::Damaged));
    }

    proptest! {
        #[test]
        fn a_cut_invitation_is_refused(cut in 0usize..400) {
            let text = invitation().to_text();
            let cut = cut.min(text.reveal().len() - 1);
            prop_assert!(text.reveal()[..cut].parse::<Invitation>().is_err());
        }
    }
}
