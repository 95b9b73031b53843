//! `selfsame certificate new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::x509::CertificateContents;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey, seal};
use selfsame_driver::clock::Clock;
use selfsame_mdoc::certificate::CertificateRole;
use selfsame_mdoc::certificate::make::{CertificateSubject, NewCertificate};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde::Serialize;

use crate::files;

const DAY: u64 = 86_400;

/// Make a key on P-256 and its certificate. `NAME.pem` and `NAME.key.pem` are written, and must not exist.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame certificate new iaca --country CH --name \"Road Office\" --out authority
         selfsame certificate new signer --authority authority --name \"Signer 1\" --out signer"
)]
pub struct NewCertificateFile {
    /// What it is for.
    role: NewRole,
    /// The name that it states.
    #[arg(long, value_name = "TEXT")]
    name: String,
    /// What the names of the files begin with.
    #[arg(long, value_name = "NAME")]
    out: PathBuf,
    /// The country of an authority: two letters in upper case. Others have that of their authority.
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// The state or province of an authority.
    #[arg(long, value_name = "CODE")]
    state: Option<String>,
    /// What the names of the authority's files begin with; for a signer or a reader.
    #[arg(long, value_name = "NAME")]
    authority: Option<PathBuf>,
    /// An address at which the authority can be reached.
    #[arg(long, value_name = "URL", default_value = "https://authority.example/")]
    contact: String,
    /// For how many days it is valid. Default: ten years for an authority, 450 days for others.
    #[arg(long)]
    days: Option<u64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// What a certificate is for.
#[derive(Clone, Copy, ValueEnum)]
enum NewRole {
    /// An authority, which signs the certificates of document signers and readers.
    Iaca,
    /// A document signer.
    Signer,
    /// A reader that authenticates itself.
    Reader,
}

/// The files that were written.
#[derive(Serialize)]
struct NewFiles {
    certificate: String,
    key: String,
}

/// The authority of a new certificate, and its key.
struct Above {
    certificate: Vec<u8>,
    key: PrivateKey,
}

impl NewCertificateFile {
    /// Makes the files.
    pub fn run(self) -> End {
        let above = self.above()?;
        let contents = above
            .as_ref()
            .and_then(|above| CertificateContents::parse(&above.certificate));
        let of_authority = |name| {
            contents
                .as_ref()
                .and_then(|one| one.subject_attribute(name))
        };
        let (country, state) = match above {
            Some(_) => (of_authority("C"), of_authority("ST")),
            None => (self.country.clone(), self.state.clone()),
        };
        let lacking = || {
            Failure::environment("the authority's country is missing").hint("name it: --country CH")
        };
        let country = country.ok_or_else(lacking)?;
        let ctx = Ctx::new(Clock::default().now(), seal::random_seed());
        let key = PrivateKey::generate(KeyType::P256);
        let key = key.map_err(|error| Failure::ours(error.to_string()))?;
        let (role, days) = self.role.with_days();
        let days = self.days.unwrap_or(days);
        let begin = ctx.now().minus(3_600);
        let longest = contents.as_ref().map(|one| (one.not_before, one.not_after));
        let (not_before, not_after) = match longest {
            Some((first, last)) => (begin.max(first), begin.plus(days * DAY).min(last)),
            None => (begin, begin.plus(days * DAY)),
        };
        let new = NewCertificate {
            role,
            subject: CertificateSubject {
                country: &country,
                state: state.as_deref(),
                organisation: None,
                common_name: &self.name,
            },
            key: key.public(),
            authority: above.as_ref().map(|above| &*above.certificate),
            serial: ctx.random::<16>("serial"),
            not_before,
            not_after,
            contact: &self.contact,
        };
        let signer = above.as_ref().map_or(&key, |above| &above.key);
        let draft = new.draft(algorithm_of(signer)?);
        let draft = draft.map_err(|why| Failure::environment(why.to_string()))?;
        let signature = signer.sign(draft.signing_bytes());
        let signature = signature.map_err(|error| Failure::ours(error.to_string()))?;
        files::write(&self.out, &draft.finish(&signature), &key)?;
        let (certificate, key) = files::beside(&self.out);
        let written = NewFiles {
            certificate: certificate.display().to_string(),
            key: key.display().to_string(),
        };
        output::either(self.json, &written, |written| {
            vec![
                format!("certificate {}", written.certificate),
                format!("key {}, which only you can read", written.key),
            ]
        });
        Ok(Answer::Yes)
    }

    fn above(&self) -> Result<Option<Above>, Failure> {
        match (self.role, &self.authority) {
            (NewRole::Iaca, None) => Ok(None),
            (NewRole::Iaca, Some(_)) => Err(Failure::environment(
                "an authority signs its own certificate",
            )
            .hint("leave out --authority")),
            (_, None) => Err(Failure::environment("the authority is missing")
                .hint("name what its files begin with: --authority authority")),
            (_, Some(name)) => {
                let (certificate, key) = files::beside(name);
                Ok(Some(Above {
                    certificate: files::certificate(&certificate)?,
                    key: files::private_key(&key)?,
                }))
            }
        }
    }
}

impl NewRole {
    /// The role, and for how many days its certificates are valid.
    const fn with_days(self) -> (CertificateRole, u64) {
        match self {
            Self::Iaca => (CertificateRole::Authority, 3_652),
            Self::Signer => (CertificateRole::Signer, 450),
            Self::Reader => (CertificateRole::Reader, 450),
        }
    }
}

fn algorithm_of(key: &PrivateKey) -> Result<Algorithm, Failure> {
    match key.algorithm() {
        known @ (Algorithm::Es256 | Algorithm::Es384) => Ok(known),
        _ => Err(Failure::environment(
            "the authority's key is not on P-256 or P-384",
        )),
    }
}
