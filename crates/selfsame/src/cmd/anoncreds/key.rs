//! The proofs that an issuer gives for the key of a credential definition.

use std::path::PathBuf;

use clap::Args;
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::CredentialOffer;
use serde::Serialize;

use super::files;
use crate::exit::Failure;
use crate::output;

/// Show what an issuer proves about its key.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds key --cred-def cred-def.json < offer.json
Exit code 1 if a proof is invalid. A property without a proof may still be true."
)]
pub struct Key {
    /// The offer's file, which contains the proofs; default: standard input.
    #[arg(long, value_name = "FILE")]
    offer: Option<PathBuf>,
    /// The definition's file.
    #[arg(long, value_name = "FILE")]
    cred_def: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// The proofs that verified.
#[derive(Serialize)]
struct Proven {
    /// That Z and every R are powers of S, except for factors of small order.
    key_correctness: bool,
    /// That Z, Rctxt and every R are powers of S, whatever the modulus is.
    all_bases: bool,
    /// That n is a product of two safe primes, or has powers of one prime in place of p' or q'.
    safe_primes: bool,
}

impl Key {
    /// Verifies the proofs and prints which there are.
    pub fn run(self) -> Result<(), Failure> {
        let definition = files::prepared(&self.cred_def)?;
        let offer: CredentialOffer = files::read_or_pipe(self.offer.as_ref())?;
        let key = definition.key();
        key.check_correctness(&offer.key_correctness_proof)?;
        key.check_safe_primes(&offer.key_correctness_proof)?;
        let proven = Proven {
            key_correctness: true,
            all_bases: key.all_bases_are_proven(),
            safe_primes: key.safe_primes_are_proven(),
        };
        output::either(self.json, &proven, |proven| {
            let mark = |is_proven| if is_proven { '✓' } else { '–' };
            vec![
                "  ✓ key correctness  Z and every R are powers of S, except for factors of small order"
                    .to_owned(),
                format!(
                    "  {} all bases        {}",
                    mark(proven.all_bases),
                    of_bases(&definition)
                ),
                format!(
                    "  {} safe primes      {}",
                    mark(proven.safe_primes),
                    of_primes(&definition)
                ),
            ]
        });
        Ok(())
    }
}

/// Whether credentials of this definition can carry a mark, in words.
pub fn of_bases(definition: &PreparedDefinition) -> &'static str {
    if definition.key().all_bases_are_proven() {
        "the issuer proves that its key can't mark presentations"
    } else {
        "the issuer does not prove that its key can't mark presentations: with a key made for it, each proof would reveal its credential"
    }
}

/// Whether parties other than the issuer may be able to make credentials of this definition, in words.
pub fn of_primes(definition: &PreparedDefinition) -> &'static str {
    if definition.key().safe_primes_are_proven() {
        "the issuer proves that its modulus is a product of safe primes, or has powers of one prime in place of p' or q'"
    } else {
        "the issuer does not prove that its modulus is a product of safe primes: with a weak one, others could forge its credentials"
    }
}
