//! `selfsame wallet import`: takes the credentials of an exported file into a wallet. What is there already stays as it is,
//! so a second run completes the first one.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Args;
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::sha256;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_terminal::progress::Progress;
use selfsame_wallet::view::carried::{CarriedCredential, CarriedCredentials, TakenState};
use selfsame_wallet::view::export_file::{ExportHead, ExportLine, LINE_MAX};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::WalletOwner;
use super::words::SecretFiles;
use crate::client::Client;
use crate::lines::{Lines, NumberedLine, unreadable};

/// Bytes of the lines of one request.
const PORTION_BYTES: usize = 200 << 10;

/// Take the credentials of an exported file into a wallet.
#[derive(Args)]
pub struct ImportWallet {
    /// The file that `selfsame wallet export` has written.
    file: PathBuf,
    #[command(flatten)]
    secret: SecretFiles,
    #[command(flatten)]
    owner: WalletOwner,
}

/// What came of the lines of a file.
#[derive(Default, Serialize)]
struct ImportOutcome {
    /// Credentials that were taken in.
    stored: u64,
    /// Credentials that were there before.
    known: u64,
    /// The lines that were refused.
    refused: Vec<LineRefusal>,
    /// Whether the file is complete, as far as its last line says.
    complete: bool,
}

/// A line that was refused.
#[derive(Serialize)]
struct LineRefusal {
    line: u64,
    why: String,
}

/// What the instance says of each credential. Its reasons are sentences by then.
#[derive(Deserialize)]
struct TakenRows {
    items: Vec<TakenRow>,
}

#[derive(Deserialize)]
struct TakenRow {
    state: TakenState,
    why: Option<String>,
}

/// An import under way.
struct Importing<'a> {
    client: Client,
    sealing_key: Option<SecretString>,
    progress: &'a Progress,
    /// Whether refusals are printed in the end, as JSON.
    json: bool,
    /// The lines of the credentials in this file, by their hashes.
    seen: HashMap<[u8; 32], u64>,
    portion: Vec<CarriedCredential>,
    /// The lines of the portion.
    numbers: Vec<u64>,
    bytes: usize,
    outcome: ImportOutcome,
}

impl ImportWallet {
    pub(super) async fn run(self) -> End {
        let file = File::open(&self.file).map_err(|error| unreadable(&self.file, &error))?;
        let size = file.metadata().map_or(0, |known| known.len());
        let mut lines = Lines::new(BufReader::new(file), LINE_MAX);
        let sealing_key = self.sealing_key(&mut lines)?;
        let json = self.owner.instance.json;
        let progress = Progress::of(json, size).named("bytes of credentials");
        let mut importing = Importing {
            client: self.owner.wallet().await?.for_long_texts(),
            sealing_key,
            progress: &progress,
            json,
            seen: HashMap::new(),
            portion: Vec::new(),
            numbers: Vec::new(),
            bytes: 0,
            outcome: ImportOutcome::default(),
        };
        let failed = |error: io::Error| unreadable(&self.file, &error);
        while let Some(line) = lines.next_line().map_err(failed)? {
            importing.take(line).await?;
            progress.seen(lines.bytes());
        }
        importing.send().await?;
        let outcome = importing.outcome;
        drop(progress);
        output::either(json, &outcome, told);
        if !outcome.complete && !json {
            output::complain(
                "the file has no end: the export was cut off; run it again to complete the file",
            );
        }
        Ok(match outcome.refused.is_empty() && outcome.complete {
            true => Answer::Yes,
            false => Answer::No,
        })
    }

    /// Reads the head, and opens the key of the export.
    fn sealing_key(
        &self,
        lines: &mut Lines<BufReader<File>>,
    ) -> Result<Option<SecretString>, Failure> {
        let first = lines.next_line();
        let first = first.map_err(|error| unreadable(&self.file, &error))?;
        let text = first.and_then(|line| line.text.ok()).unwrap_or_default();
        let named = |failure: Failure| failure.at(&self.file.display().to_string());
        let head = ExportHead::read(&text).map_err(|error| named(error.into()))?;
        let secret = self.secret.secret()?;
        match (head.has_keys(), &secret) {
            (true, Some(secret)) => {
                let key = head.sealing_key(secret);
                key.map(Some).map_err(|error| named(error.into()))
            }
            (true, None) => Err(named(Failure::environment(
                "the keys in this file are sealed",
            ))
            .hint(
                "name the file with the passphrase of the export with --passphrase-file, or that with its recovery words with --words-file",
            )),
            (false, _) => Ok(None),
        }
    }
}

impl Importing<'_> {
    /// Takes a line. A portion that is full is sent.
    async fn take(&mut self, line: NumberedLine) -> Result<(), Failure> {
        let number = line.number;
        let length = line.text.as_ref().map_or(0, String::len);
        match self.read(line) {
            Err(why) => self.refuse(number, why),
            Ok(None) => self.outcome.complete = true,
            Ok(Some(one)) => {
                let is_full = self.portion.len() >= CarriedCredentials::ROWS_MAX
                    || self.bytes.saturating_add(length) > PORTION_BYTES;
                if is_full {
                    self.send().await?;
                }
                self.bytes = self.bytes.saturating_add(length);
                self.portion.push(one);
                self.numbers.push(number);
            }
        }
        Ok(())
    }

    /// The credential on a line; `None` for the end of the file. Otherwise, why the line is refused.
    fn read(&mut self, line: NumberedLine) -> Result<Option<CarriedCredential>, String> {
        let text = line.text.map_err(|fault| fault.to_string())?;
        let read = ExportLine::read(text.as_bytes());
        let one = match read.map_err(|error| format!("this is no line of an export: {error}"))? {
            ExportLine::Credential(one) => *one,
            ExportLine::End => return Ok(None),
        };
        match self.first_of(&one, line.number) {
            Some(first) => Err(format!("the same credential as on line {first}")),
            None => Ok(Some(one)),
        }
    }

    /// The earlier line with the same credential.
    fn first_of(&mut self, one: &CarriedCredential, number: u64) -> Option<u64> {
        let hash = sha256(one.credential.as_bytes());
        let first = *self.seen.entry(hash).or_insert(number);
        (first != number).then_some(first)
    }

    /// Sends the portion.
    async fn send(&mut self) -> Result<(), Failure> {
        if self.portion.is_empty() {
            return Ok(());
        }
        let credentials = std::mem::take(&mut self.portion);
        let numbers = std::mem::take(&mut self.numbers);
        self.bytes = 0;
        let key = self.sealing_key.as_ref().map(SecretString::expose);
        let body = json!({"sealing_key": key, "credentials": credentials});
        let path = "/api/wallet/credentials/import";
        let taken: TakenRows = self.client.post(path, &body).await.map_err(|failure| {
            failure.or_hint("run the command again: what was taken in stays, and the rest follows")
        })?;
        for (number, row) in numbers.into_iter().zip(taken.items) {
            match row.state {
                TakenState::Stored => self.outcome.stored += 1,
                TakenState::Known => self.outcome.known += 1,
                TakenState::Refused => self.refuse(number, row.why.unwrap_or_default()),
            }
        }
        Ok(())
    }

    fn refuse(&mut self, line: u64, why: String) {
        if !self.json {
            self.progress.complain(&format!("line {line}: {why}"));
        }
        self.outcome.refused.push(LineRefusal { line, why });
    }
}

fn told(outcome: &ImportOutcome) -> Vec<String> {
    let ImportOutcome {
        stored,
        known,
        refused,
        ..
    } = outcome;
    let mut lines = vec![format!(
        "{stored} credentials were taken in, {known} were there before"
    )];
    if !refused.is_empty() {
        lines.push(format!("{} lines were refused", refused.len()));
    }
    lines
}
