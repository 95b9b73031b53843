//! `selfsame issue`: makes an offer that a wallet can accept, or one for each row of a file.

mod from_file;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use selfsame_crypto::json::{self, Limits};
use selfsame_issuing_view::NewIssuingList;
use selfsame_openid::view::issuer::{Offer, OfferState};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{output, qr};
use serde_json::{Map, Value, json};

use crate::called::Instance;
use crate::client::{Client, handed_in};
use from_file::{IssuedFile, kind_of};

/// How often an offer is looked at while it is waited for.
const LOOKED_EVERY: Duration = Duration::from_secs(1);

/// Create a credential offer, or one for each row of a file.
///
/// A file is CSV in UTF-8, whose header names the claims by their paths, or has a JSON object with `claims` a line. The
/// column `reference` is your own name for a credential, and offers can be mailed to the column `email`. The whole file is
/// checked before the first offer is made; each fault is printed with its line and column, and the exit code is 1. A
/// second run with the same file completes what the first one began.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame issue immunization --examples --claim patient.given_name=Maja
         selfsame issue driving-licence --format mso_mdoc --examples
         selfsame issue hospital-badge --examples --deferred
         selfsame issue hospital-badge --from people.csv --check
         selfsame issue hospital-badge --from people.csv --results offers.csv
         selfsame issue hospital-badge --from people.ndjson --mail --results offers.ndjson"
)]
pub struct IssueOffer {
    /// The id of the credential's type, such as `immunization`.
    #[arg(value_name = "TYPE")]
    type_id: String,
    /// `dc+sd-jwt`, `jwt_vc_json` or `vc+jwt`; `ldp_vc`, `mso_mdoc` or, for a machine, `cwt`, if the type allows it. Default: the first
    /// in which the issuer issues the type.
    #[arg(long)]
    format: Option<String>,
    /// A file with a row for each person: `.csv`, or `.ndjson`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["claims", "claims_file", "examples", "uses", "wait"])]
    from: Option<PathBuf>,
    /// Write what came of each row to this file, as CSV or NDJSON by its name, in place of standard output.
    #[arg(long, value_name = "FILE", requires = "from")]
    results: Option<PathBuf>,
    /// Check the file, and offer nothing.
    #[arg(long, requires = "from")]
    check: bool,
    /// Send each offer to the address in the column `email`.
    #[arg(long, requires = "from")]
    mail: bool,
    /// Issue a file again that was issued already.
    #[arg(long, requires = "from")]
    again: bool,
    /// How long offers can be accepted, in seconds; default one hour, and 30 days for a file.
    #[arg(long, value_name = "SECONDS")]
    expires_in: Option<u64>,
    /// A claim, `path.to.it=value`; the value may be JSON. May be repeated.
    #[arg(long = "claim", value_name = "PATH=VALUE")]
    claims: Vec<String>,
    /// A file with the claims as a JSON object; `--claim` overrides it.
    #[arg(long, value_name = "FILE")]
    claims_file: Option<PathBuf>,
    /// Use the type's example values for claims that are not given.
    #[arg(long)]
    examples: bool,
    /// How many times the offer can be accepted.
    #[arg(long, default_value_t = 1)]
    uses: u32,
    /// Require a transaction code from the wallet; it is printed here.
    #[arg(long)]
    tx_code: bool,
    /// Have somebody approve the wallet's request before the credential is issued (`selfsame approve`).
    #[arg(long, conflicts_with = "from")]
    deferred: bool,
    /// Put a reference to the offer into the link instead of the offer itself.
    #[arg(long)]
    by_reference: bool,
    /// Wait until the offer is accepted, this many seconds at most.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
    #[command(flatten)]
    instance: Instance,
}

impl IssueOffer {
    /// Makes the offer.
    pub async fn run(self) -> End {
        if let Some(file) = &self.from {
            return self.issued(file).await;
        }
        let body = json!({
            "type": self.type_id,
            "format": self.format,
            "claims": self.all_claims()?,
            "examples": self.examples,
            "uses": self.uses,
            "tx_code": self.tx_code,
            "needs_approval": self.deferred.then_some(true),
            "by_reference": self.by_reference,
            "expires_in": self.expires_in,
        });
        let operator = self.instance.operator()?;
        let offer: Offer = operator.post("/api/issuer/offers", &body).await?;
        output::either(self.instance.json, &offer, |offer| {
            let mut lines = vec![
                format!("offer {} until {}", offer.id, offer.expires),
                offer.uri.clone(),
            ];
            if let Some(code) = &offer.tx_code {
                lines.push(format!("transaction code, to be sent separately: {code}"));
            }
            lines
        });
        if !self.instance.json {
            qr::show(&offer.uri);
        }
        match self.wait {
            0 => Ok(Answer::Yes),
            seconds => self.accepted(&operator, &offer.id, seconds).await,
        }
    }

    /// Makes an offer for each row of a file.
    async fn issued(&self, path: &Path) -> End {
        let name = path.file_name().map(|name| name.to_string_lossy());
        let new = NewIssuingList {
            type_id: self.type_id.clone(),
            format: self.format.clone(),
            kind: kind_of(path),
            name: name.map(|name| name.chars().take(200).collect()),
            digest: None,
            tx_code: self.tx_code,
            expires_in: self.expires_in,
            mail: self.mail,
        };
        let file = IssuedFile {
            client: &self.instance.operator()?,
            path,
            new,
            results: self.results.as_deref(),
            check_only: self.check,
            again: self.again,
            json: self.instance.json,
        };
        file.run().await
    }

    /// Waits until the offer is not open any more, and says so on standard error.
    async fn accepted(&self, operator: &Client, id: &str, seconds: u64) -> End {
        let told = |text: &str| {
            if !self.instance.json {
                output::complain(text);
            }
        };
        told("waiting for a wallet");
        let path = format!("/api/issuer/offers/{id}");
        for _ in 0..seconds {
            tokio::time::sleep(LOOKED_EVERY).await;
            let offer: Offer = operator.get(&path).await?;
            let (text, answer) = match offer.state {
                OfferState::Open => continue,
                OfferState::Taken => ("a wallet has accepted the offer", Answer::Yes),
                OfferState::Locked => ("the transaction code was wrong too often", Answer::No),
                OfferState::Expired => ("the offer has expired", Answer::No),
            };
            told(text);
            return Ok(answer);
        }
        told("no wallet has accepted the offer yet");
        Ok(Answer::No)
    }

    fn all_claims(&self) -> Result<Map<String, Value>, Failure> {
        let mut claims = match &self.claims_file {
            None => Map::new(),
            Some(file) => {
                let wrong = |error: String| {
                    Failure::environment(format!("{}: {error}", file.display()))
                        .hint("--claims-file must name a file with one JSON object")
                };
                let read = File::open(file).and_then(handed_in);
                let text = read.map_err(|error| wrong(error.to_string()))?;
                json::parse_as(&text, &Limits::default())
                    .map_err(|error| wrong(error.to_string()))?
            }
        };
        for claim in &self.claims {
            let (path, value) = claim.split_once('=').ok_or_else(|| {
                Failure::environment(format!("`{claim}` is not a claim"))
                    .hint("write it as path.to.it=value")
            })?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            let path: Vec<&str> = path.split('.').collect();
            insert(&mut claims, &path, value)?;
        }
        Ok(claims)
    }
}

fn insert(into: &mut Map<String, Value>, path: &[&str], value: Value) -> Result<(), Failure> {
    match path {
        [] => Ok(()),
        [last] => {
            into.insert((*last).to_owned(), value);
            Ok(())
        }
        [first, rest @ ..] => match into
            .entry(*first)
            .or_insert_with(|| Value::Object(Map::new()))
        {
            Value::Object(inner) => insert(inner, rest, value),
            _ => Err(Failure::environment(format!(
                "`{first}` is both a value and an object"
            ))),
        },
    }
}
