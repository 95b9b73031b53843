//! The holder's steps: request, credential, presentation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::LinkSecret;
use selfsame_anoncreds::cl::revocation::TailsFile;
use selfsame_anoncreds::format::{
    Credential, CredentialOffer, CredentialRequestMetadata, Holder, Interval, Presentation,
    PresentationRequest, RevocationRegistryDefinition, RevocationRegistryId, RevocationState,
    RevocationStatusList, SelfAttested,
};
use selfsame_anoncreds::holder::{
    Chosen, Expected, NamedSecret, Revocable, check_place, create_credential_request,
    create_link_secret, create_presentation, process_credential, update_revocation_state,
};
use selfsame_anoncreds::verifier::{Encoding, Policy, verify_presentation};

use super::choose;
use super::files;
use super::key;
use super::verifier::{Known, Published};
use crate::exit::Failure;
use crate::{output, private_file};

/// Request the offered credential.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds request --cred-def cred-def.json --link-secret link-secret --metadata metadata.json < offer.json > request.json"
)]
pub struct Request {
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
pub struct Present {
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

impl Request {
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
            create_credential_request(holder, named, &definition, &offer, &ctx)?;
        let proof = &offer.key_correctness_proof;
        definition.key().check_safe_primes(proof)?;
        files::keep(&self.metadata, &metadata)?;
        for said in [key::of_bases(&definition), key::of_primes(&definition)] {
            output::complain(&format!("selfsame: {said}"));
        }
        files::print(&request)
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
        // A credential with a revocation part is refused below if there is no registry.
        if credential.rev_reg_id.is_some() && registry.is_some() {
            self.check_told()?;
        }
        let told = self.rev_reg_id.clone().map(RevocationRegistryId::new);
        let registry_id = told.transpose()?.or_else(|| credential.rev_reg_id.clone());
        let definition = files::prepared(&self.cred_def)?;
        let expected = Expected {
            metadata: &metadata,
            link_secret: &link_secret(&self.link_secret)?,
            definition: &definition,
            registry: registry_id.as_ref().zip(registry.as_ref()),
            encoding,
        };
        let processed = process_credential(&credential, &expected);
        let processed = processed.map_err(|error| {
            let failure = Failure::from(error);
            match (&credential.rev_reg_id, &registry) {
                (Some(id), None) => failure.hint(format!("add --rev-reg FILE of {id}")),
                (Some(id), Some(_)) if registry_id.as_ref() != Some(id) => {
                    failure.hint(format!("the credential names {id}"))
                }
                _ => failure,
            }
        })?;
        if let (Some(file), Some(registry)) = (&self.tails, &registry) {
            let bytes = tails_bytes(file)?;
            let value = &registry.value;
            check_place(&Revocable {
                credential: &processed,
                definition: &definition,
                registry,
                tails: &TailsFile::checked(&bytes, value.max_cred_num, &value.tails_hash)?,
            })?;
        }
        files::print(&processed)
    }
}

impl Process {
    /// Refuses to leave the place in a registry unchecked, unless that is requested.
    fn check_told(&self) -> Result<(), Failure> {
        let missing = match (&self.rev_reg_id, &self.tails) {
            (Some(_), Some(_)) => return Ok(()),
            _ if self.unchecked_place => return Ok(()),
            (None, _) => "the registry's identifier",
            (Some(_), None) => "the registry's tails file",
        };
        Err(Failure::environment(format!(
            "the credential can be revoked, but {missing} is missing"
        ))
        .hint("add --rev-reg-id ID --tails FILE, or --unchecked-place"))
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

impl Present {
    /// Chooses credentials, makes the proof and prints the presentation.
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
        self.check_referents(&request)?;
        let mut hands = choose::hands(&credentials, &known)?;
        choose::deal(&mut hands, &request, &alone, &self.hide);
        for hand in &mut hands {
            if let Some(interval) = hand.chosen().interval(&request) {
                hand.state = Some(self.state(hand, &known, interval)?);
            }
        }
        let chosen: Vec<Chosen<'_>> = hands.iter().map(choose::Hand::chosen).collect();
        let attested = alone
            .into_iter()
            .map(|(referent, value)| (referent, SelfAttested(value)));
        strange_bounds(&chosen, &request);
        let secret = link_secret(&self.link_secret)?;
        let (attested, ctx) = (attested.collect(), files::ctx());
        let presentation = create_presentation(&request, &chosen, &attested, &secret, &ctx)?;
        check_proof(&presentation, &request, &known)?;
        files::print(&presentation)
    }

    /// Refuses to hide or to self-attest a referent that is not requested: most likely another one was meant.
    fn check_referents(&self, request: &PresentationRequest) -> Result<(), Failure> {
        let asked = &request.requested_attributes;
        let said = self.self_attest.iter().map(|(referent, _)| referent);
        let mut named = self.hide.iter().chain(said);
        match named.find(|referent| !asked.contains_key(*referent)) {
            None => Ok(()),
            Some(referent) => {
                let names: Vec<&str> = asked.keys().map(String::as_str).collect();
                Err(
                    Failure::environment(format!("the request has no attribute {referent}"))
                        .hint(format!("its attributes are: {}", names.join(", "))),
                )
            }
        }
    }

    /// The revocation state by the newest list that is not newer than the interval.
    fn state(
        &self,
        hand: &choose::Hand<'_>,
        known: &Known,
        interval: Interval,
    ) -> Result<RevocationState, Failure> {
        let id = hand
            .owned
            .credential
            .rev_reg_id
            .as_ref()
            .map_or("", RevocationRegistryId::as_str);
        let registry = known
            .registries
            .get(id)
            .ok_or_else(|| missing("the revocation registry", id))?;
        let list = newest(known, id, interval)?;
        for file in &self.tails {
            let bytes = tails_bytes(file)?;
            let value = &registry.value;
            if let Ok(tails) = TailsFile::checked(&bytes, value.max_cred_num, &value.tails_hash) {
                let of = Revocable {
                    credential: hand.owned.credential,
                    definition: hand.owned.definition,
                    registry,
                    tails: &tails,
                };
                return update_revocation_state(&of, list, None).map_err(unprovable);
            }
        }
        let hash = &registry.value.tails_hash;
        Err(missing(
            &format!("the tails file with the hash {hash} of"),
            id,
        ))
    }
}

/// Values that people measure are closer to the bounds they are compared with.
const SENSIBLE: u64 = 1_000_000_000;

/// Warns of predicates that no sensible request has: they hold for all values except those that are looked for.
fn strange_bounds(chosen: &[Chosen<'_>], request: &PresentationRequest) {
    for chosen in chosen {
        let values = &chosen.credential.values;
        for referent in &chosen.predicates {
            let asked = request.requested_predicates.get(referent);
            let value = asked.and_then(|asked| values.get(&asked.name)?.encoded.parse().ok());
            let (Some(asked), Some(value)) = (asked, value) else {
                continue;
            };
            let bound = i64::from(asked.p_value);
            if bound.unsigned_abs() > SENSIBLE || bound.abs_diff(value) > SENSIBLE {
                output::complain(&format!(
                    "selfsame: {referent} compares with {bound}, an implausible bound"
                ));
            }
        }
    }
}

/// Refuses to send a presentation that would not verify. All messages may be well formed and the proof still invalid:
/// the credential is not finished, or is bound to another link secret. The verifier alone knows which restrictions and
/// which age of lists it accepts, so neither is checked here; everything else must hold.
fn check_proof(
    presentation: &Presentation,
    request: &PresentationRequest,
    known: &Known,
) -> Result<(), Failure> {
    let policy = Policy {
        encoding: Encoding::OfTheIssuer,
        ..Policy::default()
    };
    let mut asked = request.clone();
    asked.non_revoked = None;
    for attribute in asked.requested_attributes.values_mut() {
        (attribute.restrictions, attribute.non_revoked) = (None, None);
    }
    for predicate in asked.requested_predicates.values_mut() {
        (predicate.restrictions, predicate.non_revoked) = (None, None);
    }
    let verdict = verify_presentation(presentation, &asked, &known.evidence()?, &policy);
    match verdict.reason() {
        _ if verdict.is_valid() => Ok(()),
        Some(rule) if rule.name != "proof" => Err(Failure::no(format!(
            "no verifier would accept this: {}: {}",
            rule.name, rule.detail
        ))),
        _ => Err(Failure::no("these files do not make a valid proof").hint(
            "--credential must be the output of `process`, --link-secret the file that was used to request it",
        )),
    }
}

/// Why there is no state to prove from, and what to do.
fn unprovable(error: Error) -> Failure {
    match error {
        Error::Registry(_) => Failure::from(error)
            .hint("its issuer revoked it: request a new one, or answer without it"),
        other => other.into(),
    }
}

/// The newest list of a registry that is not newer than the interval.
fn newest<'a>(
    known: &'a Known,
    id: &str,
    interval: Interval,
) -> Result<&'a RevocationStatusList, Failure> {
    let of_it = |list: &&RevocationStatusList| {
        let named = list.rev_reg_def_id.as_ref();
        named.is_some_and(|other| other.as_str() == id)
            && interval
                .to
                .is_none_or(|to| list.timestamp.is_some_and(|at| at <= to))
    };
    let lists = known.lists.iter().filter(of_it);
    let list = lists
        .max_by_key(|list| list.timestamp)
        .ok_or_else(|| missing(&early(interval), id))?;
    if let (Some(at), Some(from)) = (list.timestamp, interval.from)
        && at < from
    {
        output::complain(&format!(
            "selfsame: the list is as of {at}, and the interval begins at {from}: a verifier accepts it with --in-force"
        ));
    }
    Ok(list)
}

/// Which list would be suitable.
fn early(interval: Interval) -> String {
    let last = interval.to.map(|to| format!(" as of {to} or earlier"));
    format!("a status list{} of", last.unwrap_or_default())
}

fn missing(what: &str, id: &str) -> Failure {
    Failure::environment(format!("{what} {id} is missing"))
        .hint("--rev-reg ID=FILE --status-list FILE --tails FILE")
}
