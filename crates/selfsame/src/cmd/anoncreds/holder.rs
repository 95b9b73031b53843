//! The holder's steps: request, credential, presentation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_anoncreds::cl::LinkSecret;
use selfsame_anoncreds::cl::revocation::TailsFile;
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    Credential, CredentialOffer, CredentialRequestMetadata, Holder, Interval, PresentationRequest,
    RevocationRegistryDefinition, RevocationRegistryId, RevocationState, RevocationStatusList,
    SelfAttested,
};
use selfsame_anoncreds::holder::{
    Chosen, Expected, NamedSecret, Revocable, create_credential_request, create_link_secret,
    create_presentation, process_credential, update_revocation_state,
};

use super::choose;
use super::files;
use super::verifier::{Known, Published};
use crate::exit::Failure;
use crate::master_key;

/// Ask for the credential that is offered.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds request --cred-def cred-def.json --link-secret link-secret --metadata metadata.json < offer.json > request.json"
)]
pub struct Request {
    /// The offer's file; standard input if not named.
    #[arg(long, value_name = "FILE")]
    offer: Option<PathBuf>,
    /// The definition's file.
    #[arg(long, value_name = "FILE")]
    cred_def: PathBuf,
    /// The file of the link secret, which binds all credentials to their holder; made if it is not there.
    #[arg(long, value_name = "FILE")]
    link_secret: PathBuf,
    /// A new file for what the holder must know to finish the credential.
    #[arg(long, value_name = "FILE")]
    metadata: PathBuf,
    /// The holder's unqualified DID; random text takes its place if not told.
    #[arg(long, value_name = "DID")]
    prover_did: Option<String>,
}

/// Check a credential that was issued, and finish it.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds process --cred-def cred-def.json --metadata metadata.json --link-secret link-secret < issued.json > credential.json
Exit code 1 if the credential is not what was asked for."
)]
pub struct Process {
    /// The credential's file; standard input if not named.
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
}

/// Answer a presentation request.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds present --request question.json --link-secret link-secret --schema ID=schema.json --cred-def ID=cred-def.json < credential.json > presentation.json
Exit code 1 if the credentials do not answer what is asked."
)]
pub struct Present {
    /// The request's file.
    #[arg(long, value_name = "FILE")]
    request: PathBuf,
    /// A credential's file, once for each; standard input if none is named. The first that answers a referent is used.
    #[arg(long, value_name = "FILE")]
    credential: Vec<PathBuf>,
    /// The file of the link secret.
    #[arg(long, value_name = "FILE")]
    link_secret: PathBuf,
    #[command(flatten)]
    published: Published,
    /// The tails file of a registry; found by its hash.
    #[arg(long, value_name = "FILE")]
    tails: Vec<PathBuf>,
    /// A referent that is answered without showing its value.
    #[arg(long, value_name = "REFERENT")]
    hide: Vec<String>,
    /// A referent the holder answers alone.
    #[arg(long, value_name = "REFERENT=VALUE", value_parser = files::named)]
    self_attest: Vec<(String, String)>,
}

impl Request {
    /// Makes it, keeps what finishing it needs and prints it.
    pub fn run(self) -> Result<(), Failure> {
        let offer: CredentialOffer = files::read_or_pipe(self.offer.as_ref())?;
        let definition = PreparedDefinition::new(files::read(&self.cred_def)?)?;
        if !self.link_secret.exists() {
            let secret = create_link_secret(&files::ctx()).to_decimal();
            master_key::write_private(&self.link_secret, secret.as_bytes())?;
        }
        let secret = link_secret(&self.link_secret)?;
        let named = NamedSecret {
            secret: &secret,
            name: "default",
        };
        let ctx = files::ctx();
        let entropy = ctx.token("entropy");
        let holder = self
            .prover_did
            .as_deref()
            .map_or(Holder::Entropy(&entropy), Holder::Did);
        let (request, metadata) =
            create_credential_request(holder, named, (&definition, &offer), &ctx)?;
        files::keep(&self.metadata, &metadata)?;
        files::print(&request)
    }
}

impl Process {
    /// Checks it and prints it as its holder keeps it.
    pub fn run(self) -> Result<(), Failure> {
        let credential: Credential = files::read_or_pipe(self.credential.as_ref())?;
        let metadata: CredentialRequestMetadata = files::read(&self.metadata)?;
        let registry: Option<RevocationRegistryDefinition> =
            self.rev_reg.as_deref().map(files::read).transpose()?;
        let expected = Expected {
            metadata: &metadata,
            link_secret: &link_secret(&self.link_secret)?,
            definition: &PreparedDefinition::new(files::read(&self.cred_def)?)?,
            registry: registry.as_ref(),
        };
        files::print(&process_credential(&credential, &expected)?)
    }
}

fn link_secret(file: &Path) -> Result<LinkSecret, Failure> {
    Ok(LinkSecret::from_decimal(files::text(file)?.trim())?)
}

impl Present {
    /// Chooses what answers, proves it and prints the presentation.
    pub fn run(self) -> Result<(), Failure> {
        let request: PresentationRequest = files::read(&self.request)?;
        let known = self.published.read()?;
        let credentials: Vec<Credential> = match self.credential.as_slice() {
            [] => vec![files::read_or_pipe(None)?],
            named => named
                .iter()
                .map(|file| files::read(file))
                .collect::<Result<_, _>>()?,
        };
        let alone: BTreeMap<String, String> = self.self_attest.iter().cloned().collect();
        let mut hands = choose::hands(&credentials, &known)?;
        choose::deal(&mut hands, &request, &alone, &self.hide);
        for hand in &mut hands {
            if let Some(interval) = hand.interval(&request) {
                hand.state = Some(self.state(hand, &known, interval)?);
            }
        }
        let chosen: Vec<Chosen<'_>> = hands.iter().map(choose::Hand::chosen).collect();
        let attested = alone
            .into_iter()
            .map(|(referent, value)| (referent, SelfAttested(value)));
        let answers = (chosen.as_slice(), &attested.collect());
        let secret = link_secret(&self.link_secret)?;
        files::print(&create_presentation(
            &request,
            answers,
            &secret,
            &files::ctx(),
        )?)
    }

    /// The state by the newest list that is not younger than the interval.
    fn state(
        &self,
        hand: &choose::Hand<'_>,
        known: &Known,
        interval: Interval,
    ) -> Result<RevocationState, Failure> {
        let id = hand
            .credential
            .rev_reg_id
            .as_ref()
            .map_or("", RevocationRegistryId::as_str);
        let registry = known
            .registries
            .get(id)
            .ok_or_else(|| missing("the revocation registry", id))?;
        let of_it = |list: &&RevocationStatusList| {
            list.rev_reg_def_id
                .as_ref()
                .is_some_and(|other| other.as_str() == id)
                && interval
                    .to
                    .is_none_or(|to| list.timestamp.is_some_and(|at| at <= to))
        };
        let lists = known.lists.iter().filter(of_it);
        let list = lists
            .max_by_key(|list| list.timestamp)
            .ok_or_else(|| missing("a status list of", id))?;
        for file in &self.tails {
            let bytes = std::fs::read(file)
                .map_err(|error| Failure::environment(format!("{}: {error}", file.display())))?;
            let value = &registry.value;
            if let Ok(tails) = TailsFile::checked(&bytes, value.max_cred_num, &value.tails_hash) {
                let of = Revocable {
                    credential: hand.credential,
                    definition: hand.definition,
                    registry,
                    tails: &tails,
                };
                return Ok(update_revocation_state(&of, list, None)?);
            }
        }
        Err(missing("the tails file of", id))
    }
}

fn missing(what: &str, id: &str) -> Failure {
    Failure::environment(format!("{what} {id} is not named"))
        .hint("--rev-reg ID=FILE --status-list FILE --tails FILE")
}
