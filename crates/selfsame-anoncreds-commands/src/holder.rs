//! The holder's steps: request, credential, presentation.

use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::LinkSecret;
use selfsame_anoncreds::format::{
    Credential, CredentialOffer, CredentialRequestMetadata, PresentationRequest,
    RevocationRegistryDefinition, RevocationRegistryId,
};
use selfsame_anoncreds::holder::create_link_secret;
use selfsame_anoncreds::verifier::Encoding;
use selfsame_anoncreds_roles::answer::{AnswerDraft, HoldersChoice, ImplausibleBound, StateNeed};
use selfsame_anoncreds_roles::holder::{self, Awaited, AwaitedPlace, Requester};
use selfsame_anoncreds_roles::{HeldCredential, RoleError};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;

use crate::failure::failed;
use crate::verifier::Published;
use crate::{files, key};
use selfsame_driver::private_file;

/// Request the offered credential.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds request --cred-def cred-def.json --link-secret link-secret --metadata metadata.json < offer.json > request.json"
)]
pub struct RequestCredential {
    /// The offer's file; default: standard input.
    #[arg(long, value_name = "FILE")]
    offer: Option<PathBuf>,
    /// The definition's file.
    #[arg(long, value_name = "FILE")]
    cred_def: PathBuf,
    /// The file of the link secret, which binds all credentials to their holder; created if it does not exist.
    #[arg(long, value_name = "FILE")]
    link_secret: PathBuf,
    /// A new file for the data that the holder needs to finish the credential.
    #[arg(long, value_name = "FILE")]
    metadata: PathBuf,
    /// The holder's unqualified DID; default: random text.
    #[arg(long, value_name = "DID")]
    prover_did: Option<String>,
}

/// Check and finish an issued credential.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds process --cred-def cred-def.json --metadata metadata.json --link-secret link-secret < issued.json > credential.json
Exit code 1 if the credential is not the requested one."
)]
pub struct Process {
    /// The credential's file; default: standard input.
    #[arg(long, value_name = "FILE")]
    credential: Option<PathBuf>,
    /// The definition's file.
    #[arg(long, value_name = "FILE")]
    cred_def: PathBuf,
    /// The file that `request` wrote.
    #[arg(long, value_name = "FILE")]
    metadata: PathBuf,
    /// The file of the link secret.
    #[arg(long, value_name = "FILE")]
    link_secret: PathBuf,
    /// The registry's file, if the credential can be revoked.
    #[arg(long, value_name = "FILE")]
    rev_reg: Option<PathBuf>,
    /// The identifier under which this registry is published.
    #[arg(long, value_name = "ID", requires = "rev_reg")]
    rev_reg_id: Option<String>,
    /// The registry's tails file, which shows whether the credential's index is the one that it names.
    #[arg(long, value_name = "FILE", requires = "rev_reg")]
    tails: Option<PathBuf>,
    /// Accept a credential without --rev-reg-id or --tails. If it names another registry or index, it proves nothing.
    #[arg(long, requires = "rev_reg")]
    unchecked_place: bool,
    /// Do not compare the values' texts with the signed numbers, for an issuer with its own encoding.
    #[arg(long)]
    any_encoding: bool,
}

/// Answer a presentation request.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds present --request question.json --link-secret link-secret --schema ID=schema.json --cred-def ID=cred-def.json < credential.json > presentation.json
Exit code 1 if the credentials do not satisfy the request."
)]
pub struct PresentAnoncreds {
    /// The request's file.
    #[arg(long, value_name = "FILE")]
    request: PathBuf,
    /// A credential's file; may be repeated; default: standard input. The first one that satisfies a referent is used.
    #[arg(long, value_name = "FILE")]
    credential: Vec<PathBuf>,
    /// The file of the link secret.
    #[arg(long, value_name = "FILE")]
    link_secret: PathBuf,
    #[command(flatten)]
    published: Published,
    /// The tails file of a registry; matched by its hash.
    #[arg(long, value_name = "FILE")]
    tails: Vec<PathBuf>,
    /// A referent to answer without revealing its value.
    #[arg(long, value_name = "REFERENT")]
    hide: Vec<String>,
    /// A referent that the holder attests without a credential.
    #[arg(long, value_name = "REFERENT=VALUE", value_parser = files::named)]
    self_attest: Vec<(String, String)>,
}

impl RequestCredential {
    /// Makes the request, stores the secrets that finishing needs, and prints it.
    pub fn run(self) -> Result<(), Failure> {
        files::must_be_new(&self.metadata)?;
        let offer: CredentialOffer = files::read_or_pipe(self.offer.as_ref())?;
        let definition = files::prepared(&self.cred_def)?;
        if !self.link_secret.exists() {
            let secret = create_link_secret(&files::ctx()).to_decimal();
            private_file::write(&self.link_secret, secret.as_bytes())?;
        }
        let secret = link_secret(&self.link_secret)?;
        let requester = Requester {
            link_secret: &secret,
            did: self.prover_did.as_deref(),
        };
        let open =
            holder::request(requester, &definition, &offer, &files::ctx()).map_err(failed)?;
        files::keep(&self.metadata, &open.metadata)?;
        for said in [key::of_bases(&open.proofs), key::of_primes(&open.proofs)] {
            output::complain(&format!("selfsame: {said}"));
        }
        files::print(&open.request)
    }
}

impl Process {
    /// Checks the credential and prints it in the form that its holder stores.
    pub fn run(self) -> Result<(), Failure> {
        let credential: Credential = files::read_or_pipe(self.credential.as_ref())?;
        let metadata: CredentialRequestMetadata = files::read(&self.metadata)?;
        let registry: Option<RevocationRegistryDefinition> =
            self.rev_reg.as_deref().map(files::read).transpose()?;
        let encoding = if self.any_encoding {
            Encoding::OfTheIssuer
        } else {
            Encoding::Recommended
        };
        let told = self.rev_reg_id.clone().map(RevocationRegistryId::new);
        let told = told.transpose().map_err(failed)?;
        let tails = self.tails.as_deref().map(tails_bytes).transpose()?;
        let place = registry.as_ref().map(|registry| AwaitedPlace {
            registry,
            id: told.as_ref(),
            tails: tails.as_deref(),
        });
        // A credential with a revocation part is refused below if there is no registry.
        if let (Some(place), Some(_), false) =
            (&place, &credential.rev_reg_id, self.unchecked_place)
        {
            place.is_checked().map_err(failed)?;
        }
        let definition = files::prepared(&self.cred_def)?;
        let awaited = Awaited {
            metadata: &metadata,
            link_secret: &link_secret(&self.link_secret)?,
            definition: &definition,
            encoding,
            registry: place,
        };
        let held = holder::accept(&credential, &awaited).map_err(|error| {
            let failure = failed(error);
            match (&credential.rev_reg_id, &registry) {
                (Some(id), None) => failure.hint(format!("add --rev-reg FILE of {id}")),
                (Some(id), Some(_)) if told.as_ref().is_some_and(|told| told != id) => {
                    failure.hint(format!("the credential names {id}"))
                }
                _ => failure,
            }
        })?;
        files::print_held(&held)
    }
}

fn tails_bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        Failure::environment(format!("{}: {error}", file.display()))
            .hint("name the file that `rev-reg --tails` wrote")
    })
}

fn link_secret(file: &Path) -> Result<LinkSecret, Failure> {
    LinkSecret::from_decimal(files::text(file)?.trim())
        .map_err(|error| files::of_file(file, error).hint("the first `request` creates this file"))
}

impl PresentAnoncreds {
    /// Chooses credentials, makes the proof and prints the presentation.
    pub fn run(self) -> Result<(), Failure> {
        let request: PresentationRequest = files::read(&self.request)?;
        let published = self.published.read()?;
        let credentials: Vec<HeldCredential> = match self.credential.as_slice() {
            [] => vec![files::held(Path::new("-"))?],
            named => named
                .iter()
                .map(|file| files::held(file))
                .collect::<Result<_, _>>()?,
        };
        let choice = HoldersChoice {
            hidden: self.hide.clone(),
            attested: self.self_attest.iter().cloned().collect(),
        };
        let mut draft =
            AnswerDraft::new(&request, &credentials, &published, &choice).map_err(failed)?;
        while let Some(need) = draft.need().map_err(failed)? {
            warn_of_age(&need);
            self.prove(&mut draft, &need)?;
        }
        warn_of_bounds(&draft);
        let secret = link_secret(&self.link_secret)?;
        files::print(&draft.present(&secret, &files::ctx()).map_err(failed)?)
    }

    /// Makes the state of a credential from the first tails file that is its registry's.
    fn prove<'a>(&self, draft: &mut AnswerDraft<'a>, need: &StateNeed<'a>) -> Result<(), Failure> {
        for file in &self.tails {
            if draft
                .prove_state(need, &tails_bytes(file)?)
                .map_err(unprovable)?
            {
                return Ok(());
            }
        }
        Err(failed(RoleError::Missing(need.missing_tails())))
    }
}

/// Why there is no state to prove from, and what to do.
fn unprovable(error: Error) -> Failure {
    match error {
        Error::Registry(_) => {
            failed(error).hint("its issuer revoked it: request a new one, or answer without it")
        }
        other => failed(other),
    }
}

/// Warns of a list that only some verifiers accept.
fn warn_of_age(need: &StateNeed<'_>) {
    if let (Some(at), Some(from)) = (need.list.timestamp, need.begins_after) {
        output::complain(&format!(
            "selfsame: the list is as of {at}, and the interval begins at {from}: a verifier accepts it with --in-force"
        ));
    }
}

/// Warns of predicates that no sensible request has.
fn warn_of_bounds(draft: &AnswerDraft<'_>) {
    for ImplausibleBound { referent, bound } in draft.implausible_bounds() {
        output::complain(&format!(
            "selfsame: {referent} compares with {bound}, an implausible bound"
        ));
    }
}
