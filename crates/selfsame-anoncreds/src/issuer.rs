//! The issuer: schemas, credential definitions, offers, credentials, and the registries in which they are revoked.
//!
//! | operation | what is checked | AnonCreds v1.0 |
//! |---|---|---|
//! | [`create_credential_definition`] | the schema's attributes | "Issuer Create and Publish Credential Definition Object" |
//! | [`Issuer::new`] | the private key is that of the definition | |
//! | [`Issuer::create_credential`] | offer and request are for this definition; the request's proof; one value for each attribute; the place has a bit (that it was not given out before is the caller's to know) | "Issue Credential" |
//! | [`Issuer::create_registry`], [`Issuer::update_status_list`] | the size; every place is in the list | "Revocation Registry Definition Object Generation", "AnonCreds Credential Activation/Revocation and Publication" |

mod registry;

pub use registry::{ListUpdate, NewRegistry, Registry};

use selfsame_crypto::ctx::Ctx;

use crate::Error;
use crate::cl::revocation::{
    CredentialRevocationPrivateKey, IssueRequest, Issued, RevocationRegistry, generate_key,
};
use crate::cl::{self, IssuerKey, KeyCorrectnessProof, SafePrimes, SigningRequest, fresh_context};
use crate::definition::PreparedDefinition;
use crate::format::{
    Credential, CredentialDefinition, CredentialDefinitionId, CredentialDefinitionPrivate,
    CredentialOffer, CredentialPrivateKeys, CredentialPublicKeys, CredentialRequest,
    CredentialValues, IssuerId, Message, Schema, SchemaId, SignatureType,
};
use crate::seed;
use crate::verifier::generate_nonce;

/// A schema with these attributes.
pub fn create_schema(
    name: &str,
    version: &str,
    issuer_id: &IssuerId,
    attributes: &[&str],
) -> Result<Schema, Error> {
    let schema = Schema {
        name: name.to_owned(),
        version: version.to_owned(),
        attr_names: attributes.iter().map(|name| (*name).to_owned()).collect(),
        issuer_id: issuer_id.clone(),
    };
    schema.validate()?;
    Ok(schema)
}

/// Two safe primes for one credential definition. The search takes a tenth of a second with AVX-512 IFMA, and
/// occasionally ten times that.
pub fn find_safe_primes(ctx: &Ctx) -> SafePrimes {
    SafePrimes::search(&mut seed::random(ctx, "safe primes", &[]))
}

/// The first safe prime 2h + 1 for the odd numbers h from `half` on, both big-endian: one attempt of
/// [`find_safe_primes`] from a given start, so that searches can be compared. Not for keys: the start determines the
/// prime. `None` if the attempt finds no prime.
pub fn first_safe_prime(half: &[u8]) -> Option<Vec<u8>> {
    cl::first_safe_prime(half)
}

/// The parameters of a new credential definition.
#[derive(Clone, Copy, Debug)]
pub struct NewDefinition<'a> {
    /// The schema's identifier.
    pub schema_id: &'a SchemaId,
    /// The schema.
    pub schema: &'a Schema,
    /// The issuer's identifier.
    pub issuer_id: &'a IssuerId,
    /// Distinguishes an issuer's definitions for one schema.
    pub tag: &'a str,
    /// Whether its credentials can be revoked.
    pub revocable: bool,
}

/// A new credential definition: its public and private parts.
#[derive(Clone, Debug)]
pub struct Defined {
    /// The public part, to publish.
    pub definition: CredentialDefinition,
    /// The private part, for the issuer only. Secret.
    pub private: CredentialDefinitionPrivate,
    /// The proof that goes into every offer.
    pub correctness: KeyCorrectnessProof,
}

/// Creates a credential definition from two safe primes, which must not be used for another one.
pub fn create_credential_definition(
    new: &NewDefinition<'_>,
    primes: &SafePrimes,
    ctx: &Ctx,
) -> Result<Defined, Error> {
    new.schema.validate()?;
    let schema = new.schema.to_json()?;
    let modulus = primes.modulus();
    // If two keys shared the exponents and their masks, the proofs would reveal the exponents.
    let inputs: [&[u8]; 6] = [
        new.schema_id.as_str().as_bytes(),
        schema.as_bytes(),
        new.tag.as_bytes(),
        new.issuer_id.as_str().as_bytes(),
        &[u8::from(new.revocable)],
        &modulus,
    ];
    let mut random = seed::random(ctx, "definition", &inputs);
    let made = cl::generate(&new.schema.attributes(), primes, &mut random)?;
    let (revocation, r_key) = new.revocable.then(|| generate_key(&mut random)).unzip();
    let definition = CredentialDefinition {
        schema_id: new.schema_id.clone(),
        signature_type: SignatureType::default(),
        tag: new.tag.to_owned(),
        value: CredentialPublicKeys {
            primary: made.public,
            revocation,
        },
        issuer_id: new.issuer_id.clone(),
    };
    definition.validate()?;
    Ok(Defined {
        definition,
        private: CredentialDefinitionPrivate {
            value: CredentialPrivateKeys {
                p_key: made.private,
                r_key,
            },
        },
        correctness: made.proof,
    })
}

/// An offer of a credential.
pub fn create_offer(
    schema_id: &SchemaId,
    cred_def_id: &CredentialDefinitionId,
    correctness: &KeyCorrectnessProof,
    ctx: &Ctx,
) -> CredentialOffer {
    CredentialOffer {
        schema_id: schema_id.clone(),
        cred_def_id: cred_def_id.clone(),
        key_correctness_proof: correctness.clone(),
        nonce: generate_nonce(ctx),
        method_name: None,
    }
}

/// An issuer with the keys of one credential definition, ready for use.
#[derive(Debug)]
pub struct Issuer {
    prepared: PreparedDefinition,
    key: IssuerKey,
    revocation: Option<CredentialRevocationPrivateKey>,
}

/// The inputs from which a credential is issued.
#[derive(Clone, Copy, Debug)]
pub struct Issuance<'a> {
    /// The offer that the holder answered.
    pub offer: &'a CredentialOffer,
    /// The holder's request.
    pub request: &'a CredentialRequest,
    /// One value for each attribute of the schema.
    pub values: &'a CredentialValues,
    /// The place in a registry, if the credential can be revoked.
    pub place: Option<Place<'a>>,
}

/// A place in a registry.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The registry.
    pub registry: Registry<'a>,
    /// The registry's current status list.
    pub list: &'a crate::format::RevocationStatusList,
    /// The place, from 1 to the size minus one.
    pub index: u32,
}

impl Issuer {
    /// Joins the public and private parts of a credential definition.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if they do not belong together.
    pub fn new(
        definition: CredentialDefinition,
        private: &CredentialDefinitionPrivate,
    ) -> Result<Self, Error> {
        Self::of(PreparedDefinition::new(definition)?, private)
    }

    /// Like [`Issuer::new`], from a prepared definition, with which the issuer shares its tables.
    pub fn of(
        prepared: PreparedDefinition,
        private: &CredentialDefinitionPrivate,
    ) -> Result<Self, Error> {
        let key = IssuerKey::new(prepared.key(), &private.value.p_key)?;
        let revocation = private.value.r_key.clone();
        if revocation.is_some() != prepared.revocation().is_some() {
            return Err(Error::Mismatch {
                what: "the private part of the credential definition",
                why: "one part is for revocation and the other is not",
            });
        }
        Ok(Self {
            prepared,
            key,
            revocation,
        })
    }

    /// The prepared public part.
    pub fn prepared(&self) -> &PreparedDefinition {
        &self.prepared
    }

    /// Checks a request and issues the credential.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if offer, request, values, registry and definition do not belong together, [`Error::Proof`]
    /// and [`Error::Malformed`] for a bad request, [`Error::Registry`] for a place that does not exist.
    pub fn create_credential(
        &self,
        issuance: &Issuance<'_>,
        ctx: &Ctx,
    ) -> Result<Credential, Error> {
        let Issuance {
            offer,
            request,
            values,
            place,
        } = issuance;
        request.validate()?;
        values.validate()?;
        self.prepared.check_schema_id(&offer.schema_id)?;
        if request.cred_def_id != offer.cred_def_id {
            return Err(mismatch(
                "the credential request",
                "it answers another offer",
            ));
        }
        place
            .map(|place| self.check_place(&place, request))
            .transpose()?;
        let mut random = self.random(issuance, ctx)?;
        let index = place.map(|place| place.index);
        let context = fresh_context(request.holder()?, index, &mut random);
        let (p_credential, signature_correctness_proof) = cl::sign(
            &self.key,
            &SigningRequest {
                secrets: &request.blinded_ms,
                proof: &request.blinded_ms_correctness_proof,
                offer_nonce: &offer.nonce.number(),
                request_nonce: &request.nonce.number(),
                context: &context,
                values: &values.encoded()?,
            },
            &mut random,
        )?;
        let issued = place
            .map(|place| self.activate(&place, request, &context, &mut random))
            .transpose()?;
        let rev_reg_id = place.and_then(|place| place.list.rev_reg_def_id.clone());
        let (r_credential, state) = issued
            .map(|issued| (issued.signature, (issued.accumulator, issued.witness)))
            .unzip();
        let (accumulator, witness) = state.unzip();
        Ok(Credential {
            schema_id: offer.schema_id.clone(),
            cred_def_id: offer.cred_def_id.clone(),
            rev_reg_id,
            values: CredentialValues::clone(values),
            signature: cl::CredentialSignature {
                p_credential,
                r_credential,
            },
            signature_correctness_proof,
            rev_reg: accumulator.map(|accum| RevocationRegistry { accum }),
            witness,
        })
    }

    /// Refuses a place that does not exist, before anything is signed.
    fn check_place(&self, place: &Place<'_>, request: &CredentialRequest) -> Result<(), Error> {
        self.at(&place.registry)?;
        let definition = place.registry.definition;
        self.prepared
            .check_registry(&request.cred_def_id, definition)?;
        place.registry.check_list(place.list)?;
        if place.list.rev_reg_def_id.is_none() {
            return Err(mismatch("the status list", "it does not name its registry"));
        }
        place.list.revocation_list.is_revoked(place.index)?;
        Ok(())
    }

    /// The non-revocation part, for a place that has been checked.
    fn activate(
        &self,
        place: &Place<'_>,
        request: &CredentialRequest,
        context: &dashu_int::UBig,
        random: &mut selfsame_bignum::Random,
    ) -> Result<Issued, Error> {
        let registry = self.at(&place.registry)?;
        let revoked = place.list.revocation_list.is_revoked(place.index)?;
        let blinded = request.blinded_ms.ur.as_ref().ok_or(Error::Malformed {
            what: CredentialRequest::WHAT,
            why: "it has no blinded secret for revocation",
        })?;
        let request = IssueRequest {
            index: place.index,
            context,
            blinded,
            accumulator: place.list.accumulator()?,
            is_active: !revoked,
        };
        registry.issue(&request, random)
    }

    fn random(&self, issuance: &Issuance<'_>, ctx: &Ctx) -> Result<selfsame_bignum::Random, Error> {
        let request = issuance.request.to_json()?;
        let values = serde_json::to_vec(&issuance.values).map_err(|_| Error::Malformed {
            what: Credential::WHAT,
            why: "its values cannot be written as JSON",
        })?;
        let place = issuance.place.map(|place| {
            let registry = place.registry.definition.to_json()?;
            Ok::<_, Error>((registry, place.list.to_json()?, place.index))
        });
        let (registry, list, index) = place.transpose()?.unwrap_or_default();
        let inputs: [&[u8]; 7] = [
            issuance.offer.nonce.as_str().as_bytes(),
            request.as_bytes(),
            &values,
            &index.to_be_bytes(),
            registry.as_bytes(),
            list.as_bytes(),
            self.prepared.key().digest(),
        ];
        Ok(seed::random(ctx, "credential", &inputs))
    }
}

pub(crate) fn mismatch(what: &'static str, why: &'static str) -> Error {
    Error::Mismatch { what, why }
}

#[cfg(test)]
mod tests;
