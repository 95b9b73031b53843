//! The proofs that an issuer gives for the key of a credential definition.

use std::path::PathBuf;

use clap::Args;
use selfsame_anoncreds::cl::KeyCorrectnessProof;
use selfsame_anoncreds::format::CredentialOffer;
use selfsame_anoncreds_roles::KeyProofs;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;

use crate::failure::failed;
use crate::files;

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
    /// The issuer's whole proof, if the offer only tells where it is published.
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
    /// The definition's file.
    #[arg(long, value_name = "FILE")]
    cred_def: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Key {
    /// Verifies the proofs and prints which there are.
    pub fn run(self) -> Result<(), Failure> {
        let definition = files::prepared(&self.cred_def)?;
        let offer: CredentialOffer = files::read_or_pipe(self.offer.as_ref())?;
        let offered = &offer.key_correctness_proof;
        let whole = self.whole(offered)?;
        let proof = whole.as_ref().unwrap_or(offered);
        let proven = KeyProofs::verify(&definition, proof).map_err(failed)?;
        output::either(self.json, &proven, |proven| {
            let mark = |is_proven| if is_proven { '✓' } else { '–' };
            let mut lines = vec![
                "  ✓ key correctness  Z and every R are powers of S, except for factors of small order"
                    .to_owned(),
                format!(
                    "  {} all bases        {}",
                    mark(proven.all_bases),
                    of_bases(proven)
                ),
                format!(
                    "  {} safe primes      {}",
                    mark(proven.safe_primes),
                    of_primes(proven)
                ),
            ];
            lines.extend(proof.published.as_ref().map(|published| {
                format!(
                    "The issuer publishes more proofs at {}. Download them and name the file with --proof.",
                    published.location
                )
            }));
            lines
        });
        Ok(())
    }

    /// The whole proof that the offer refers to.
    fn whole(&self, offered: &KeyCorrectnessProof) -> Result<Option<KeyCorrectnessProof>, Failure> {
        let Some(file) = &self.proof else {
            return Ok(None);
        };
        let Some(published) = &offered.published else {
            return Err(
                Failure::environment("the offer refers to no published proof")
                    .hint("leave out --proof: the offer has all its proofs"),
            );
        };
        let proof = published.read(files::text(file)?.as_bytes());
        proof.map(Some).map_err(failed)
    }
}

/// Whether credentials of this definition can carry a mark, in words.
pub fn of_bases(proofs: &KeyProofs) -> &'static str {
    if proofs.all_bases {
        "the issuer proves that its key can't mark presentations"
    } else {
        "the issuer does not prove that its key can't mark presentations: with a key made for it, each proof would reveal its credential"
    }
}

/// Whether parties other than the issuer may be able to make credentials of this definition, in words.
pub fn of_primes(proofs: &KeyProofs) -> &'static str {
    if proofs.safe_primes {
        "the issuer proves that its modulus is a product of safe primes, or has powers of one prime in place of p' or q'"
    } else {
        "the issuer does not prove that its modulus is a product of safe primes: with a weak one, others could forge its credentials"
    }
}
