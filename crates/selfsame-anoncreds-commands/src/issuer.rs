//! The issuer's steps: schema, definition, offer, credential.

use std::path::PathBuf;

use clap::Args;
use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::KeyCorrectnessProof;
use selfsame_anoncreds::format::{
    CredentialDefinitionId, CredentialOffer, CredentialRequest, IssuerId,
    RevocationRegistryDefinition, RevocationRegistryPrivate, RevocationStatusList, Schema,
    SchemaId,
};
use selfsame_anoncreds::issuer::{
    self, Issuance, Issuer, Place, Registry, create_offer, create_schema,
};
use selfsame_anoncreds_roles::issuer as roles;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;

use crate::failure::failed;
use crate::files;

/// Create a schema.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds schema --issuer did:web:issuer.example --name donor --version 1.0 --attribute name --attribute born > schema.json"
)]
pub struct NewSchema {
    /// The publisher: a DID or another URI, or an unqualified Indy DID.
    #[arg(long)]
    issuer: String,
    /// Its name.
    #[arg(long)]
    name: String,
    /// Its version.
    #[arg(long)]
    version: String,
    /// An attribute's name; once for each attribute.
    #[arg(long, required = true)]
    attribute: Vec<String>,
}

/// Create a credential definition: the issuer's keys.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds cred-def --schema-id did:web:issuer.example/schema/1 --private cred-def.private --proof cred-def.proof < schema.json > cred-def.json
The search for two safe primes usually takes less than a second."
)]
pub struct NewDefinition {
    /// The schema's file; default: standard input.
    #[arg(long)]
    schema: Option<PathBuf>,
    /// The identifier under which the schema is published.
    #[arg(long)]
    schema_id: String,
    /// The issuer; default: the schema's publisher.
    #[arg(long)]
    issuer: Option<String>,
    /// A tag that distinguishes definitions of one issuer and schema.
    #[arg(long, default_value = "default")]
    tag: String,
    /// Credentials of this definition can be revoked.
    #[arg(long)]
    revocation: bool,
    /// A new file for the private keys.
    #[arg(long, value_name = "FILE")]
    private: PathBuf,
    /// A new file for the proof of the keys' correctness, which every offer carries.
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,
}

/// Offer a credential.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds offer --schema-id did:web:issuer.example/schema/1 --cred-def-id did:web:issuer.example/cred-def/1 --proof cred-def.proof > offer.json"
)]
pub struct Offer {
    /// The schema's identifier.
    #[arg(long)]
    schema_id: String,
    /// The definition's identifier.
    #[arg(long)]
    cred_def_id: String,
    /// The file of the proof of the keys' correctness; default: standard input.
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
}

/// Issue the requested credential.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds issue --cred-def cred-def.json --private cred-def.private --offer offer.json --value name=Alice --value born=19900101 < request.json > issued.json"
)]
pub struct IssueCredential {
    /// The definition's file.
    #[arg(long, value_name = "FILE")]
    cred_def: PathBuf,
    /// The file of its private keys.
    #[arg(long, value_name = "FILE")]
    private: PathBuf,
    /// The offer's file.
    #[arg(long, value_name = "FILE")]
    offer: PathBuf,
    /// The request's file; default: standard input.
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// An attribute's value; once for each attribute of the schema.
    #[arg(long, value_name = "NAME=VALUE", value_parser = files::named, required = true)]
    value: Vec<(String, String)>,
    /// The file of the registry in which the credential can be revoked.
    #[arg(long, value_name = "FILE", requires_all = ["rev_reg_private", "status_list", "index"])]
    rev_reg: Option<PathBuf>,
    /// The file of the registry's private key.
    #[arg(long, value_name = "FILE", requires = "rev_reg")]
    rev_reg_private: Option<PathBuf>,
    /// The file of the registry's newest status list.
    #[arg(long, value_name = "FILE", requires = "rev_reg")]
    status_list: Option<PathBuf>,
    /// The credential's index in the registry; no other credential may have it.
    #[arg(long, requires = "rev_reg", value_parser = files::index)]
    index: Option<u32>,
}

impl NewSchema {
    /// Makes the schema and prints it.
    pub fn run(self) -> Result<(), Failure> {
        let issuer = IssuerId::new(self.issuer).map_err(failed)?;
        let attributes: Vec<&str> = self.attribute.iter().map(String::as_str).collect();
        files::print(
            &create_schema(&self.name, &self.version, &issuer, &attributes).map_err(failed)?,
        )
    }
}

impl NewDefinition {
    /// Makes the definition, stores its secrets and prints it.
    pub fn run(self) -> Result<(), Failure> {
        files::must_be_new(&self.private)?;
        files::must_be_new(&self.proof)?;
        let schema: Schema = files::read_or_pipe(self.schema.as_ref())?;
        let issuer_id = match self.issuer {
            Some(issuer) => IssuerId::new(issuer).map_err(failed)?,
            None => schema.issuer_id.clone(),
        };
        let new = issuer::NewDefinition {
            schema_id: &SchemaId::new(self.schema_id).map_err(failed)?,
            schema: &schema,
            issuer_id: &issuer_id,
            tag: &self.tag,
            revocable: self.revocation,
        };
        let made = roles::define(&new, &files::ctx()).map_err(failed)?;
        files::keep(&self.private, &made.private)?;
        files::put(&self.proof, &made.correctness)?;
        files::print(&made.definition)
    }
}

impl Offer {
    /// Makes the offer and prints it.
    pub fn run(self) -> Result<(), Failure> {
        let schema_id = SchemaId::new(self.schema_id).map_err(failed)?;
        let cred_def_id = CredentialDefinitionId::new(self.cred_def_id).map_err(failed)?;
        let proof: KeyCorrectnessProof = files::read_or_pipe(self.proof.as_ref())?;
        files::print(&create_offer(
            &schema_id,
            &cred_def_id,
            &proof,
            &files::ctx(),
        ))
    }
}

/// A registry, its private part and its newest list, as `issue` takes them.
struct Revocable {
    registry: RevocationRegistryDefinition,
    private: RevocationRegistryPrivate,
    list: RevocationStatusList,
    index: u32,
}

impl IssueCredential {
    /// Issues the credential and prints it.
    pub fn run(self) -> Result<(), Failure> {
        let issuer = Issuer::new(files::read(&self.cred_def)?, &files::read(&self.private)?)
            .map_err(failed)?;
        let offer: CredentialOffer = files::read(&self.offer)?;
        let request: CredentialRequest = files::read_or_pipe(self.request.as_ref())?;
        let revocable = self.revocable()?;
        let place = revocable.as_ref().map(|revocable| Place {
            registry: Registry {
                definition: &revocable.registry,
                private: &revocable.private,
            },
            list: &revocable.list,
            index: revocable.index,
        });
        let values = roles::values_of(self.value).map_err(failed)?;
        let issuance = Issuance {
            offer: &offer,
            request: &request,
            values: &values,
            place,
        };
        let issued =
            roles::issue(&issuer, &issuance, &files::ctx()).map_err(|error| match error {
                Error::Mismatch {
                    what: "the set of values",
                    ..
                } => failed(error).hint(format!(
                    "--value NAME=VALUE once for each of: {}",
                    files::attributes(issuer.prepared())
                )),
                Error::Registry(_) => failed(error)
                    .hint("use another --index, or a new registry: selfsame anoncreds rev-reg"),
                other => failed(other),
            })?;
        if issued.is_revoked {
            output::complain(
                "selfsame: this list marks the credential's index as revoked: until the next list, made with `revoke --issue INDEX`, it can't prove that it is not revoked",
            );
        }
        files::print(&issued.credential)
    }

    fn revocable(&self) -> Result<Option<Revocable>, Failure> {
        let (Some(registry), Some(private), Some(list), Some(index)) = (
            &self.rev_reg,
            &self.rev_reg_private,
            &self.status_list,
            self.index,
        ) else {
            return Ok(None);
        };
        Ok(Some(Revocable {
            registry: files::read(registry)?,
            private: files::read(private)?,
            list: files::read(list)?,
            index,
        }))
    }
}
