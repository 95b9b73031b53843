//! The holder: link secret, requests, credentials, revocation states and presentations.
//!
//! | operation | what is checked | AnonCreds v1.0 |
//! |---|---|---|
//! | [`PreparedDefinition::new`] | the issuer's key: n is odd and 2,047 to 2,052 bits long; S, Z, Rctxt and every R lie between 1 and n - 1, are coprime to n, and no two are equal; one R is the link secret's; of a key for revocation, every point | "Generating a Credential Definition Without Revocation Support", "Generating a Credential Definition With Revocation Support" |
//! | [`create_credential_request`] | the key's correctness proof: lengths, one response for each R, its challenge; the proof about all bases where there is one (once for each definition; that of two safe primes by [`check_safe_primes`](crate::cl::CredentialKey::check_safe_primes)); the offer is for the definition's schema | "Verifying the Key Correctness Proof" |
//! | [`process_credential`] | schema and definition; the values are those of the definition's attributes; the lengths of all numbers, that A is coprime to n, that e is a prime in its range, the signature, and its own proof; the registry is the one that the credential names, the definition's and of its issuer; the witness and the non-revocation part | "Receiving a Credential", "Revocation Registry Definition Object Generation" |
//! | [`check_place`] | the place in the registry is the one that the credential names | |
//! | [`update_revocation_state`] | the tails file is the registry's; the witness fits the accumulator | "Collecting Data for Generating the Non-Revocation Proof" |
//! | [`create_presentation`] | every referent is answered, once, in its own way; predicates hold; each credential is of its definition's schema | "Generate Presentation" |

mod choice;
mod matching;
mod present;

pub use choice::Chosen;
pub use matching::{Candidates, Owned, candidates};
pub use present::create_presentation;

use selfsame_crypto::ctx::Ctx;

use crate::Error;
use crate::cl::revocation::{IssuedContext, RevocationRegistry, Tails, Witness, blind};
use crate::cl::{self, LinkSecret, Received};
use crate::definition::PreparedDefinition;
use crate::format::{
    AttributeValue, Credential, CredentialOffer, CredentialRequest, CredentialRequestMetadata,
    Encoding, Holder, Message, RevocationRegistryDefinition, RevocationRegistryId, RevocationState,
    RevocationStatusList,
};
use crate::seed;
use crate::verifier::NONCE_BITS;

/// A new link secret. A holder has one, and uses it in all of its credentials.
pub fn create_link_secret(ctx: &Ctx) -> LinkSecret {
    LinkSecret::new(&mut seed::random(ctx, "link secret", &[]))
}

/// A link secret and the name by which its owner refers to it.
#[derive(Clone, Copy, Debug)]
pub struct NamedSecret<'a> {
    /// The secret.
    pub secret: &'a LinkSecret,
    /// The name.
    pub name: &'a str,
}

/// Creates a request for the offered credential, and the metadata that the holder keeps until the credential arrives.
///
/// # Errors
/// [`Error::Issuer`] if the issuer's key is wrong, [`Error::Mismatch`] if the offer is for another schema,
/// [`Error::Malformed`] if the holder's entropy or DID is malformed.
pub fn create_credential_request(
    holder: Holder<'_>,
    link_secret: NamedSecret<'_>,
    definition: &PreparedDefinition,
    offer: &CredentialOffer,
    ctx: &Ctx,
) -> Result<(CredentialRequest, CredentialRequestMetadata), Error> {
    holder.check(&offer.cred_def_id)?;
    definition.check_schema_id(&offer.schema_id)?;
    let key = definition.key();
    key.check_correctness(&offer.key_correctness_proof)?;
    let offered = offer.to_json()?;
    let (who, own) = (format!("{holder:?}"), link_secret.secret.to_decimal());
    let inputs: [&[u8]; 4] = [
        offered.as_bytes(),
        who.as_bytes(),
        own.as_bytes(),
        key.digest(),
    ];
    let mut random = seed::random(ctx, "request", &inputs);
    let revocation = definition.revocation().map(|key| blind(key, &mut random));
    let nonce = crate::format::Nonce::of(&random.integer(NONCE_BITS));
    let blinded = cl::blind(
        key,
        link_secret.secret,
        &offer.nonce.number(),
        revocation,
        &mut random,
    )?;
    let (entropy, prover_did) = match holder {
        Holder::Entropy(entropy) => (Some(entropy.to_owned()), None),
        Holder::Did(did) => (None, Some(did.to_owned())),
    };
    let request = CredentialRequest {
        entropy,
        prover_did,
        cred_def_id: offer.cred_def_id.clone(),
        blinded_ms: blinded.secrets,
        blinded_ms_correctness_proof: blinded.proof,
        nonce: nonce.clone(),
    };
    request.validate()?;
    let metadata = CredentialRequestMetadata {
        link_secret_blinding_data: blinded.factors,
        nonce,
        link_secret_name: link_secret.name.to_owned(),
    };
    Ok((request, metadata))
}

/// The data against which a holder checks a new credential.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The metadata kept from the request.
    pub metadata: &'a CredentialRequestMetadata,
    /// The holder's link secret.
    pub link_secret: &'a LinkSecret,
    /// The credential definition.
    pub definition: &'a PreparedDefinition,
    /// The registry and the identifier it is published under, if the credential can be revoked.
    pub registry: Option<(&'a RevocationRegistryId, &'a RevocationRegistryDefinition)>,
    /// How the raw values, which the holder reads, must be encoded: only the encoding ties them to the signature.
    pub encoding: Encoding,
}

/// Checks a new credential and returns it in the form in which the holder keeps it.
///
/// # Errors
/// [`Error::Issuer`] if a check of the issuer's work fails; [`Error::Mismatch`] if the parts do not belong together.
pub fn process_credential(
    credential: &Credential,
    expected: &Expected<'_>,
) -> Result<Credential, Error> {
    credential.validate()?;
    check_encoding(credential, expected.encoding)?;
    let definition = expected.definition;
    definition.check_schema_id(&credential.schema_id)?;
    let signature = &credential.signature;
    let p_credential = cl::process(
        definition.key(),
        expected.link_secret,
        &Received {
            signature: &signature.p_credential,
            proof: &credential.signature_correctness_proof,
            nonce: &expected.metadata.nonce.number(),
            values: &credential.values.encoded()?,
            factors: &expected.metadata.link_secret_blinding_data,
        },
    )?;
    let mut processed = credential.clone();
    processed.signature.p_credential = p_credential;
    if credential.rev_reg_id.is_some() || signature.r_credential.is_some() {
        processed.signature.r_credential = Some(process_revocation(credential, expected)?);
    }
    Ok(processed)
}

fn check_encoding(credential: &Credential, encoding: Encoding) -> Result<(), Error> {
    let mut values = credential.values.0.values();
    if encoding == Encoding::OfTheIssuer || values.all(AttributeValue::is_consistent) {
        return Ok(());
    }
    Err(Error::Issuer(
        "a value is signed as another number than its text encodes to",
    ))
}

fn process_revocation(
    credential: &Credential,
    expected: &Expected<'_>,
) -> Result<cl::revocation::NonRevocationCredentialSignature, Error> {
    let missing = |why| Error::Mismatch {
        what: Credential::WHAT,
        why,
    };
    let (registry_id, registry) = expected.registry.ok_or(missing(
        "it can be revoked, and its registry's definition is not given",
    ))?;
    if credential.rev_reg_id.as_ref() != Some(registry_id) {
        return Err(missing("it names another registry, or none"));
    }
    let definition = expected.definition;
    definition.check_registry(&credential.cred_def_id, registry)?;
    let key = definition
        .revocation()
        .ok_or(missing("its definition does not allow revocation"))?;
    let state = credential.rev_reg.as_ref().zip(credential.witness.as_ref());
    let (state, witness) = state.ok_or(missing("it has no witness or no state of its registry"))?;
    let signature = &credential.signature;
    let part = signature.r_credential.as_ref();
    let part = part.ok_or(missing("it has no part for revocation"))?;
    let blinding = expected
        .metadata
        .link_secret_blinding_data
        .vr_prime
        .as_ref();
    let blinding = blinding.ok_or(missing("its request had no part for revocation"))?;
    let context = IssuedContext {
        key,
        registry: &registry.value.public_keys.accum_key,
        accumulator: &state.accum,
        capacity: registry.value.max_cred_num,
        context: signature.p_credential.context(),
    };
    part.process(&context, blinding, witness)
}

/// A revocable credential with its definition, registry and tails.
#[derive(Clone, Copy, Debug)]
pub struct Revocable<'a, T> {
    /// The credential.
    pub credential: &'a Credential,
    /// The credential's definition.
    pub definition: &'a PreparedDefinition,
    /// The credential's registry.
    pub registry: &'a RevocationRegistryDefinition,
    /// The registry's tails file, whose hash has been checked
    /// ([`TailsFile::checked`](crate::cl::revocation::TailsFile::checked)).
    pub tails: &'a T,
}

/// Refuses a credential whose place in the registry is not the one that it names: its holder could never prove
/// non-revocation. [`process_credential`] checks everything that can be checked without the tails file.
///
/// # Errors
/// [`Error::Issuer`] if the place differs, [`Error::Mismatch`] if the credential cannot be revoked, and errors of
/// reading the tails.
pub fn check_place(of: &Revocable<'_, impl Tails>) -> Result<(), Error> {
    let part = of.credential.signature.r_credential.as_ref();
    let (part, key) = part.zip(of.definition.revocation()).ok_or(NOT_REVOCABLE)?;
    part.check_index(key, of.tails)
}

const NOT_REVOCABLE: Error = Error::Mismatch {
    what: Credential::WHAT,
    why: "it cannot be revoked",
};

/// The state that proves that a credential was not revoked when `list` was made. With an older state and its list, this
/// reads a few tails; without, it reads the tails of all places that are not revoked.
///
/// # Errors
/// [`Error::Registry`] if the credential is revoked, [`Error::Mismatch`] if the parts do not belong together, and
/// errors of reading the tails.
pub fn update_revocation_state(
    of: &Revocable<'_, impl Tails>,
    list: &RevocationStatusList,
    older: Option<(&RevocationState, &RevocationStatusList)>,
) -> Result<RevocationState, Error> {
    let malformed = |why| Error::Mismatch {
        what: "the status list",
        why,
    };
    let capacity = of.registry.value.max_cred_num;
    if list.revocation_list.capacity() != capacity || list.issuer_id != of.registry.issuer_id {
        return Err(malformed("it is of another registry"));
    }
    let named = list.rev_reg_def_id.as_ref();
    if named.is_some() && named != of.credential.rev_reg_id.as_ref() {
        return Err(malformed("it is of another registry"));
    }
    let timestamp = list.timestamp.ok_or(malformed("it has no timestamp"))?;
    let part = of.credential.signature.r_credential.as_ref();
    let (part, key) = part.zip(of.definition.revocation()).ok_or(NOT_REVOCABLE)?;
    let accumulator = list.accumulator()?;
    let accum_key = &of.registry.value.public_keys.accum_key;
    let context = part.witness_context(key, accum_key, accumulator);
    let anew = || Witness::build(&context, &list.revocation_list, of.tails);
    let witness = match older {
        Some((state, older)) => {
            let changes = older.revocation_list.changes_to(&list.revocation_list)?;
            let updated = state.witness.update(&context, &changes, of.tails, capacity);
            match updated {
                // The older state does not belong to the list it came with.
                Err(Error::Mismatch { .. }) => anew()?,
                updated => updated?,
            }
        }
        None => anew()?,
    };
    Ok(RevocationState {
        witness,
        rev_reg: RevocationRegistry {
            accum: *accumulator,
        },
        timestamp,
    })
}

#[cfg(test)]
mod tests;
