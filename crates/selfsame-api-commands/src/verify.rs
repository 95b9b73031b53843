//! `selfsame verify`: verifies a credential from a file, or requests one and waits for the verdict.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;
use selfsame_credential::verdict::Outcome;
use selfsame_openid::view::verifier::{
    CredentialVerdict, RequestState, VerificationRequest, VerificationStatus,
};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{output, qr};
use serde_json::{Value, json};

use crate::called::Instance;
use crate::client::handed_in;
use crate::verdict::verdict_table;

/// Verify a credential, or request one and wait for the verdict.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame verify credential.txt      verifies a file (`-` for standard input)
         selfsame verify --ask immunization   prints a link and waits for a wallet
         selfsame verify --ask driving-licence --format mso_mdoc
         selfsame verify --ask driving-licence --dc-api   prints a request for a page to ask by its browser"
)]
pub struct Verify {
    /// The credential's file, `-` for standard input.
    credential: Option<PathBuf>,
    /// The credential's format. Default: that of the file, or the usual one of the type.
    #[arg(long)]
    format: Option<String>,
    /// Request a credential of this type from a wallet instead of verifying a file.
    #[arg(long, value_name = "TYPE", conflicts_with = "credential")]
    ask: Option<String>,
    /// Ask by a browser instead of a link: print what a page gives to `navigator.credentials.get` as `digital`.
    #[arg(long, requires = "ask")]
    dc_api: bool,
    /// How many seconds to wait for an answer.
    #[arg(long, default_value_t = 300)]
    wait: u64,
    #[command(flatten)]
    instance: Instance,
}

impl Verify {
    /// Verifies.
    pub async fn run(self) -> End {
        match &self.ask {
            Some(kind) => self.ask(kind).await,
            None => self.judge().await,
        }
    }

    async fn judge(&self) -> End {
        let credential = match &self.credential {
            Some(path) if path.as_os_str() != "-" => {
                let read = File::open(path).and_then(text_of);
                read.map_err(|error| {
                    Failure::environment(format!("{}: {error}", path.display()))
                        .hint("name a file with the credential, or `-` to read it from a pipe")
                })?
            }
            None => {
                return Err(Failure::environment("no credential given")
                    .hint("name the credential's file (`-` for standard input), or request one from a wallet: --ask immunization"));
            }
            Some(_) => text_of(io::stdin())?,
        };
        let body = json!({"credential": credential.trim(), "format": self.format});
        let verdict: CredentialVerdict = self
            .instance
            .operator()?
            .post("/api/verifier/verify", &body)
            .await?;
        output::either(self.instance.json, &verdict, verdict_table);
        Ok(answer(verdict.outcome))
    }

    async fn ask(&self, kind: &str) -> End {
        let operator = self.instance.operator()?;
        let request: VerificationRequest = operator
            .post(
                "/api/verifier/requests",
                &json!({"type": kind, "format": self.format}),
            )
            .await?;
        // What asks goes to standard error, so that standard output holds only the verdict.
        output::complain(&match self.dc_api {
            true => self.by_browser(&request.id).await?,
            false => request.uri.clone(),
        });
        let status = match self.instance.json || self.dc_api {
            true => operator.verification(&request.id, self.wait).await?,
            false => {
                qr::show(&request.uri);
                let mut progress = ToldState::default();
                progress.tell(RequestState::Created);
                let told = |status: &VerificationStatus| progress.tell(status.state);
                operator.followed(&request.id, self.wait, told).await?
            }
        };
        output::either(self.instance.json, &status, status_lines);
        let outcome = status.verdict.as_ref().map(|verdict| verdict.outcome);
        Ok(outcome.map_or(Answer::No, answer))
    }
}

impl Verify {
    /// The request as a page hands it to a browser.
    async fn by_browser(&self, id: &str) -> Result<String, Failure> {
        let path = format!("/api/verifier/requests/{id}/browser");
        let digital: Value = self.instance.operator()?.get(&path).await?;
        Ok(digital.to_string())
    }
}

/// What a person who waits for a wallet is told, each state once.
#[derive(Default)]
struct ToldState(Option<&'static str>);

impl ToldState {
    fn tell(&mut self, state: RequestState) {
        let told = match state {
            RequestState::Created => "waiting for a wallet",
            RequestState::Fetched => "a wallet has opened the request",
            RequestState::Spending => "the wallet has answered; the credential is being used up",
            RequestState::Answered => "the wallet has answered",
            RequestState::Declined => "the wallet has declined",
            RequestState::Expired => "the request has expired",
        };
        if self.0.replace(told) != Some(told) {
            output::complain(told);
        }
    }
}

fn status_lines(status: &VerificationStatus) -> Vec<String> {
    match &status.verdict {
        Some(verdict) => verdict.credentials.iter().flat_map(verdict_table).collect(),
        None => vec![format!("no verdict: {}", why_none(status))],
    }
}

fn why_none(status: &VerificationStatus) -> String {
    match (status.state, &status.error) {
        (RequestState::Created, _) => "no wallet has fetched the request yet".to_owned(),
        (RequestState::Fetched, _) => {
            "a wallet has the request, but has not answered yet".to_owned()
        }
        (RequestState::Spending, _) => "the credential is still being used up".to_owned(),
        (RequestState::Declined, Some(code)) => {
            format!("the wallet declined with the error {code}")
        }
        (RequestState::Declined, None) => "the wallet declined".to_owned(),
        (RequestState::Expired | RequestState::Answered, _) => "the request has expired".to_owned(),
    }
}

fn text_of(from: impl Read) -> io::Result<String> {
    String::from_utf8(handed_in(from)?).map_err(io::Error::other)
}

fn answer(outcome: Outcome) -> Answer {
    if outcome == Outcome::Valid {
        Answer::Yes
    } else {
        Answer::No
    }
}
