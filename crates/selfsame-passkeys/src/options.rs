//! What the browser is asked, as JSON for `PublicKeyCredential.parseCreationOptionsFromJSON` and
//! `parseRequestOptionsFromJSON` (§5.4, §5.5).

use selfsame_crypto::encoding::base64url_encode;
use serde::Serialize;

use crate::challenge::{CHALLENGE_SECONDS, PasskeyChallenge};
use crate::cose::PasskeyAlgorithm;
use crate::party::RelyingParty;
use crate::passkey::Passkey;

const TIMEOUT_MILLISECONDS: u64 = CHALLENGE_SECONDS.saturating_mul(1_000);
const PUBLIC_KEY: &str = "public-key";
const REQUIRED: &str = "required";

/// Whose passkey is created.
pub struct NewPasskey<'a> {
    /// The user handle of their account: bytes that tell nothing of the person (§14.6.1).
    pub user_handle: &'a [u8],
    /// The name of the account, which the browser shows.
    pub account: &'a str,
    /// The passkeys of the account: an authenticator that has one of them makes no other.
    pub existing: &'a [Passkey],
}

/// What the browser is asked to create: `PublicKeyCredentialCreationOptionsJSON`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreationOptions {
    rp: PartyEntity,
    user: UserEntity,
    challenge: String,
    pub_key_cred_params: Vec<KeyParameters>,
    timeout: u64,
    exclude_credentials: Vec<CredentialDescriptor>,
    authenticator_selection: Selection,
    attestation: &'static str,
}

/// What the browser is asked to answer: `PublicKeyCredentialRequestOptionsJSON`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestOptions {
    challenge: String,
    timeout: u64,
    rp_id: String,
    allow_credentials: Vec<CredentialDescriptor>,
    user_verification: &'static str,
}

#[derive(Serialize)]
struct PartyEntity {
    id: String,
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UserEntity {
    id: String,
    name: String,
    display_name: String,
}

#[derive(Serialize)]
struct KeyParameters {
    #[serde(rename = "type")]
    kind: &'static str,
    alg: i64,
}

#[derive(Serialize)]
struct CredentialDescriptor {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    transports: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Selection {
    resident_key: &'static str,
    require_resident_key: bool,
    user_verification: &'static str,
}

impl CreationOptions {
    /// Asks for a passkey that is found without the name of the account, and verifies its owner. No attestation is
    /// asked for.
    #[must_use]
    pub fn of(party: &RelyingParty, new: &NewPasskey<'_>, challenge: &PasskeyChallenge) -> Self {
        let params = PasskeyAlgorithm::ALL.map(|algorithm| KeyParameters {
            kind: PUBLIC_KEY,
            alg: algorithm.number(),
        });
        Self {
            rp: PartyEntity {
                id: party.id.clone(),
                name: party.name.clone(),
            },
            user: UserEntity {
                id: base64url_encode(new.user_handle),
                name: new.account.to_owned(),
                display_name: new.account.to_owned(),
            },
            challenge: challenge.text(),
            pub_key_cred_params: params.into(),
            timeout: TIMEOUT_MILLISECONDS,
            exclude_credentials: new.existing.iter().map(described).collect(),
            authenticator_selection: Selection {
                resident_key: REQUIRED,
                require_resident_key: true,
                user_verification: party.verification(),
            },
            attestation: "none",
        }
    }
}

impl RequestOptions {
    /// Asks any passkey of the site: the person need not say who they are.
    #[must_use]
    pub fn of(party: &RelyingParty, challenge: &PasskeyChallenge) -> Self {
        Self {
            challenge: challenge.text(),
            timeout: TIMEOUT_MILLISECONDS,
            rp_id: party.id.clone(),
            allow_credentials: Vec::new(),
            user_verification: party.verification(),
        }
    }
}

fn described(passkey: &Passkey) -> CredentialDescriptor {
    CredentialDescriptor {
        kind: PUBLIC_KEY,
        id: passkey.id.clone(),
        transports: passkey.transports.clone(),
    }
}
