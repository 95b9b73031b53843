//! The authentication ceremony: a passkey answers (§7.2).

use selfsame_crypto::hash;

use crate::answer::{AssertionResponse, bytes};
use crate::authenticator::AuthenticatorData;
use crate::client::{CeremonyKind, ClientData};
use crate::error::PasskeyError;
use crate::party::RelyingParty;
use crate::passkey::Passkey;

/// What is checked of an answer.
pub struct Assertion<'a> {
    /// The challenge that was sent.
    pub challenge: &'a [u8],
    /// The user handle of the account that the passkey belongs to.
    pub user_handle: &'a [u8],
    /// The passkey, as it is kept.
    pub passkey: &'a Passkey,
    /// What the browser sends.
    pub response: &'a AssertionResponse,
}

impl RelyingParty {
    /// The passkey as it is to be kept from now on, if its holder answers.
    ///
    /// # Errors
    /// The first rule of §7.2 that the answer breaks. A counter that does not grow is refused.
    pub fn proven(&self, of: &Assertion<'_>) -> Result<Passkey, PasskeyError> {
        let (passkey, answer) = (of.passkey, &of.response.response);
        if of.response.id()? != passkey.id {
            return Err(PasskeyError::OtherPasskey);
        }
        // The person is not known before, so the handle is needed (§7.2 step 6).
        let handle = answer.user_handle.as_deref().map(bytes).transpose()?;
        let is_own = handle.is_some_and(|handle| hash::ct_eq(&handle, of.user_handle));
        if !is_own {
            return Err(PasskeyError::OtherPasskey);
        }
        let client_data = bytes(&answer.client_data)?;
        let client = ClientData::read(&client_data)?;
        self.called(&client, CeremonyKind::Authentication)?;
        if !hash::ct_eq(&client.challenge, of.challenge) {
            return Err(PasskeyError::Challenge);
        }
        let signed = bytes(&answer.authenticator_data)?;
        let data = AuthenticatorData::read(&signed)?;
        self.met(&data)?;
        // §6.1: attested credential data belong to a new passkey; §7.2 step 19: eligibility does not change.
        if data.attested.is_some() || data.flags.is_backup_eligible() != passkey.backup_eligible {
            return Err(PasskeyError::Malformed("authenticator data"));
        }
        let message = [&signed[..], &hash::sha256(&client_data)].concat();
        let key = passkey.key().ok_or(PasskeyError::Signature)?;
        let signature = bytes(&answer.signature)?;
        if !passkey.algorithm.verifies(&key, &message, &signature) {
            return Err(PasskeyError::Signature);
        }
        counted(data.sign_count, passkey.sign_count)?;
        Ok(Passkey {
            sign_count: data.sign_count,
            backed_up: data.flags.is_backed_up(),
            ..passkey.clone()
        })
    }
}

/// Two zeros are from an authenticator that does not count; else the counter grows (§7.2 step 22).
fn counted(new: u32, old: u32) -> Result<(), PasskeyError> {
    match new > old || (new, old) == (0, 0) {
        true => Ok(()),
        false => Err(PasskeyError::Counter),
    }
}
