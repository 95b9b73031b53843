//! `selfsame explain`: what is in a file or a link, and what is wrong with it, offline.

use std::fs::File;
use std::io::{Read as _, stdin};
use std::path::Path;

use clap::Args;
use selfsame_driver::clock::Clock;
use selfsame_show::{MAX_BYTES, NotShown, ShownFile, explain, is_link};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

/// Explain what is in a file or a link, and what is wrong with it, offline.
///
/// Recognises SD-JWT VC, W3C credentials as JWT, ISO mdoc as issued and as presented, compact credentials, other JWTs,
/// credential offers, presentation requests, status lists, invitations of agents, DID documents, messages of COSE, and
/// any other CBOR. CBOR may be bytes, base64url, base64 or hexadecimal. Each fault is named with the paragraph that it
/// breaks. Nothing is fetched, and no issuer is trusted: whether a credential is valid is for `selfsame verify` to say.
/// Codes and private keys are masked. Exit codes: 0 nothing is wrong with it, 1 something is, or it is nothing that is
/// known here, 2 it can't be read.
#[derive(Args)]
#[command(after_help = "Example: selfsame explain licence.cbor
         selfsame explain licence.cbor --diagnostic
         selfsame explain 'openid-credential-offer://?credential_offer_uri=…'
         pbpaste | selfsame explain -")]
pub struct ExplainFile {
    /// The file or the link; - for standard input.
    #[arg(value_name = "FILE|LINK")]
    input: String,
    /// Show CBOR in diagnostic notation (RFC 8949 §8), whatever it contains.
    #[arg(long, conflicts_with = "json")]
    diagnostic: bool,
    /// Print one JSON object instead of text, with nothing cut.
    #[arg(long)]
    json: bool,
}

impl ExplainFile {
    /// Reads the file, and prints what it is.
    pub fn run(self) -> End {
        let file = self
            .read()
            .map_err(|error| Failure::environment(format!("{}: {error}", self.input)))?;
        let shown = explain(&file, Clock::default().now()).map_err(not_shown)?;
        match (self.diagnostic, &shown.notation) {
            (true, Some(notation)) => output::say(notation),
            (true, None) => {
                let message = format!("{} is text and no CBOR", shown.title);
                return Err(Failure::no(message).hint("leave out --diagnostic"));
            }
            (false, _) => output::either(self.json, &shown, ShownFile::lines),
        }
        Ok(match shown.problems.is_empty() {
            true => Answer::Yes,
            false => Answer::No,
        })
    }

    /// The link, or the file up to one byte more than is shown.
    fn read(&self) -> std::io::Result<Vec<u8>> {
        let limit = MAX_BYTES.saturating_add(1) as u64;
        let mut bytes = Vec::new();
        let path = Path::new(&self.input);
        if self.input == "-" {
            stdin().take(limit).read_to_end(&mut bytes)?;
        } else if is_link(&self.input) && !path.exists() {
            bytes = self.input.clone().into_bytes();
        } else {
            File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }
}

fn not_shown(refused: NotShown) -> Failure {
    let failure = Failure::no(refused.to_string());
    match refused {
        NotShown::Unknown => failure
            .hint("give a credential, an offer, a request, a status list or a DID document alone"),
        NotShown::TooLong | NotShown::Empty | NotShown::Malformed { .. } => failure,
    }
}
