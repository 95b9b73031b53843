//! The holder: requests a credential and checks the one that arrives. [`crate::answer`] presents it.

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::LinkSecret;
use selfsame_anoncreds::cl::revocation::TailsFile;
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    Credential, CredentialOffer, CredentialRequest, CredentialRequestMetadata, Holder,
    RevocationRegistryDefinition, RevocationRegistryId,
};
use selfsame_anoncreds::holder::{
    Expected, NamedSecret, Revocable, check_place, create_credential_request, process_credential,
};
use selfsame_anoncreds::verifier::Encoding;
use selfsame_crypto::ctx::Ctx;

use crate::{HeldCredential, KeyProofs, RoleError};

/// The name under which a request refers to the holder's only link secret.
const ONLY_SECRET: &str = "default";

/// The holder, as a request names it.
#[derive(Clone, Copy)]
pub struct Requester<'a> {
    /// The link secret, which binds all credentials to their holder.
    pub link_secret: &'a LinkSecret,
    /// The holder's unqualified DID; random text without it.
    pub did: Option<&'a str>,
}

/// A request for a credential.
pub struct OpenRequest {
    /// The request, to send to the issuer.
    pub request: CredentialRequest,
    /// What the holder needs to finish the credential. Secret.
    pub metadata: CredentialRequestMetadata,
    /// What the issuer proves about its key.
    pub proofs: KeyProofs,
}

/// Requests an offered credential, after checking the issuer's key.
///
/// # Errors
/// [`Error::Issuer`] if the key or a proof is wrong, [`Error::Mismatch`] if the offer is for another schema,
/// [`Error::Malformed`] for a wrong DID.
pub fn request(
    requester: Requester<'_>,
    definition: &PreparedDefinition,
    offer: &CredentialOffer,
    ctx: &Ctx,
) -> Result<OpenRequest, Error> {
    let named = NamedSecret {
        secret: requester.link_secret,
        name: ONLY_SECRET,
    };
    let entropy = ctx.token("entropy");
    let holder = requester.did.map_or(Holder::Entropy(&entropy), Holder::Did);
    let (request, metadata) = create_credential_request(holder, named, definition, offer, ctx)?;
    Ok(OpenRequest {
        request,
        metadata,
        proofs: KeyProofs::of_verified(definition, &offer.key_correctness_proof)?,
    })
}

/// What a holder knows when a credential arrives.
#[derive(Clone, Copy)]
pub struct Awaited<'a> {
    /// What was kept when it was requested.
    pub metadata: &'a CredentialRequestMetadata,
    /// The link secret.
    pub link_secret: &'a LinkSecret,
    /// The credential definition.
    pub definition: &'a PreparedDefinition,
    /// How raw values must be encoded.
    pub encoding: Encoding,
    /// The registry, if the credential can be revoked.
    pub registry: Option<AwaitedPlace<'a>>,
}

/// The registry in which a credential is to have a place.
#[derive(Clone, Copy)]
pub struct AwaitedPlace<'a> {
    /// The registry.
    pub registry: &'a RevocationRegistryDefinition,
    /// The identifier under which the registry is published; the credential's own without it.
    pub id: Option<&'a RevocationRegistryId>,
    /// The tails file, which shows whether the credential's index is the one that it names.
    pub tails: Option<&'a [u8]>,
}

impl AwaitedPlace<'_> {
    /// Refuses to leave the place of a credential in this registry unchecked. A credential in another place or registry
    /// than it names proves nothing later.
    ///
    /// # Errors
    /// [`RoleError::UncheckedPlace`] if the identifier or the tails file is not given.
    pub fn is_checked(&self) -> Result<(), RoleError> {
        match (self.id, self.tails) {
            (None, _) => Err(RoleError::UncheckedPlace("the registry's identifier")),
            (Some(_), None) => Err(RoleError::UncheckedPlace("the registry's tails file")),
            (Some(_), Some(_)) => Ok(()),
        }
    }
}

/// Checks a credential that arrived, and finishes it.
///
/// # Errors
/// [`Error::Issuer`] if it is not the requested one, [`Error::Mismatch`] if the parts do not belong together.
pub fn accept(credential: &Credential, awaited: &Awaited<'_>) -> Result<HeldCredential, Error> {
    let place = awaited.registry;
    let id = place.and_then(|place| place.id.or(credential.rev_reg_id.as_ref()));
    let expected = Expected {
        metadata: awaited.metadata,
        link_secret: awaited.link_secret,
        definition: awaited.definition,
        registry: id.zip(place.map(|place| place.registry)),
        encoding: awaited.encoding,
    };
    let finished = process_credential(credential, &expected)?;
    if let Some(AwaitedPlace {
        registry,
        tails: Some(tails),
        ..
    }) = place
    {
        let value = &registry.value;
        check_place(&Revocable {
            credential: &finished,
            definition: awaited.definition,
            registry,
            tails: &TailsFile::checked(tails, value.max_cred_num, &value.tails_hash)?,
        })?;
    }
    HeldCredential::of(finished)
}
