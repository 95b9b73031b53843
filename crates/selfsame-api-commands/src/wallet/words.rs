//! `selfsame wallet words`: makes recovery words; and what an export is sealed under.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_crypto::seal::random_seed;
use selfsame_driver::{Reason, private_file};
use selfsame_recovery::RecoveryWords;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_wallet::view::export_file::ExportSecret;
use serde_json::json;

/// The longest file of words, in bytes.
const WORDS_FILE_MAX: u64 = 4 * 1024;

/// Make recovery words.
#[derive(Args)]
pub struct NewWords {
    /// The file to write the words to. It must not exist yet, and its owner alone can read it.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What an export is sealed under.
#[derive(Args)]
pub struct SecretFiles {
    /// The file that holds the passphrase under which the keys of the cards are sealed.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// The file that holds recovery words, in place of a passphrase.
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    pub words_file: Option<PathBuf>,
}

impl NewWords {
    pub(super) fn run(self) -> End {
        let [secret, _] = halves(random_seed());
        let words = RecoveryWords::of(secret).text();
        let mut text = words.expose().to_owned();
        text.push('\n');
        private_file::write(&self.file, text.as_bytes())?;
        let told = json!({"file": self.file, "words": selfsame_recovery::COUNT});
        output::either(self.json, &told, |_| {
            vec![
                format!("the recovery words are in {}", self.file.display()),
                "write them down on paper in their order, and keep them apart from exports"
                    .to_owned(),
            ]
        });
        Ok(Answer::Yes)
    }
}

fn halves(seed: [u8; 32]) -> [[u8; 16]; 2] {
    let mut halves = [[0; 16]; 2];
    for (half, bytes) in halves.iter_mut().zip(seed.as_chunks::<16>().0) {
        *half = *bytes;
    }
    halves
}

impl SecretFiles {
    /// What it is sealed under, if something.
    ///
    /// # Errors
    /// If a file can't be read, or its words are wrong; the error names the place of the wrong word.
    pub(super) fn secret(&self) -> Result<Option<ExportSecret>, Failure> {
        match (&self.words_file, &self.passphrase_file) {
            (Some(file), _) => words(file).map(ExportSecret::Words).map(Some),
            (None, Some(file)) => {
                let hint =
                    Reason::text("name the file that holds the passphrase with --passphrase-file");
                let passphrase = private_file::read(file, hint)?;
                Ok(Some(ExportSecret::Passphrase(passphrase)))
            }
            (None, None) => Ok(None),
        }
    }
}

/// The words in a file.
fn words(file: &Path) -> Result<RecoveryWords, Failure> {
    let wrong = |why: String| Failure::environment(format!("{}: {why}", file.display()));
    let opened = File::open(file).map_err(|error| wrong(error.to_string()))?;
    let mut text = String::new();
    let read = opened.take(WORDS_FILE_MAX).read_to_string(&mut text);
    read.map_err(|error| wrong(error.to_string()))?;
    let words = RecoveryWords::parse(&text);
    words.map_err(|fault| {
        wrong(fault.to_string()).hint("compare the words with those that were written down")
    })
}
