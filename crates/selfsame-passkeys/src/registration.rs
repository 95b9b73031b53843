//! The registration ceremony: a passkey is created (§7.1).

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash;

use crate::answer::{RegistrationResponse, bytes};
use crate::attestation::AttestationObject;
use crate::client::{CeremonyKind, ClientData};
use crate::error::PasskeyError;
use crate::party::RelyingParty;
use crate::passkey::Passkey;

/// The registered ways in which browsers reach a passkey (§5.8.4); others are left out.
const TRANSPORTS: [&str; 6] = ["usb", "nfc", "ble", "smart-card", "hybrid", "internal"];

/// What is checked of a new passkey.
pub struct Creation<'a> {
    /// The challenge that was sent.
    pub challenge: &'a [u8],
    /// What the browser sends.
    pub response: &'a RegistrationResponse,
}

impl RelyingParty {
    /// The passkey that was created. That its id is new is for the caller to check (§7.1 step 26).
    ///
    /// # Errors
    /// The first rule of §7.1 that the answer breaks.
    pub fn registered(&self, of: &Creation<'_>) -> Result<Passkey, PasskeyError> {
        let answer = &of.response.response;
        let client = ClientData::read(&bytes(&answer.client_data)?)?;
        self.called(&client, CeremonyKind::Registration)?;
        if !hash::ct_eq(&client.challenge, of.challenge) {
            return Err(PasskeyError::Challenge);
        }
        let object = AttestationObject::read(&bytes(&answer.attestation_object)?)?;
        let data = object.data;
        self.met(&data)?;
        let attested = data.attested;
        let attested = attested.ok_or(PasskeyError::Malformed("authenticator data"))?;
        let id = base64url_encode(&attested.id);
        if of.response.id()? != id {
            return Err(PasskeyError::OtherPasskey);
        }
        let transports = TRANSPORTS.into_iter().map(str::to_owned);
        Ok(Passkey {
            id,
            algorithm: attested.key.algorithm,
            public_key: Passkey::kept(&attested.key.key).ok_or(PasskeyError::Algorithm)?,
            sign_count: data.sign_count,
            backup_eligible: data.flags.is_backup_eligible(),
            backed_up: data.flags.is_backed_up(),
            transports: transports
                .filter(|known| answer.transports.contains(known))
                .collect(),
            aaguid: attested.aaguid,
        })
    }
}
