//! Owns: the commands that make and explain the certificates of mobile documents (ISO/IEC 18013-5 Annex B).
//! Does not own: the profiles (selfsame-mdoc), and the certificates that an instance makes itself.

mod explain;
mod files;
mod new;

use clap::{Args, Subcommand};
use selfsame_terminal::exit::End;

pub use explain::ExplainCertificate;
pub use new::NewCertificateFile;

/// Make and explain the certificates of mobile documents: of authorities (IACA), document signers and readers.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame certificate new iaca --country CH --name \"Road Office\" --out authority
         selfsame certificate new signer --authority authority --name \"Signer 1\" --out signer
         selfsame certificate explain signer.pem --authority authority.pem"
)]
pub struct CertificateCommand {
    #[command(subcommand)]
    verb: CertificateVerb,
}

#[derive(Subcommand)]
enum CertificateVerb {
    /// Make a key and its certificate, each in a file.
    New(NewCertificateFile),
    /// Name each rule of its profile, and whether a certificate keeps it.
    Explain(ExplainCertificate),
}

impl CertificateCommand {
    /// Makes or explains a certificate.
    ///
    /// # Errors
    /// Why it can't.
    pub fn run(self) -> End {
        match self.verb {
            CertificateVerb::New(new) => new.run(),
            CertificateVerb::Explain(explain) => explain.run(),
        }
    }
}
