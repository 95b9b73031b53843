//! `selfsame wallet export`: writes all cards of a wallet into a file. A file that was begun is completed.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use clap::Args;
use selfsame_crypto::SecretString;
use selfsame_driver::paging::Listing;
use selfsame_driver::private_file;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_terminal::progress::Progress;
use selfsame_wallet::view::carried::{CarriedCredential, WalletExport};
use selfsame_wallet::view::export_file::{ExportEnd, ExportHead, ExportSecret, LINE_MAX, NewHead};
use serde_json::json;

use super::WalletOwner;
use super::words::SecretFiles;
use crate::client::{Client, segment};

/// Credentials of one request.
const PORTION: usize = 100;

/// Export all cards of a wallet into a file of JSON lines.
#[derive(Args)]
pub struct ExportWallet {
    /// The file to write. One that an earlier export has begun is completed; one that is complete gets the cards that were
    /// added since.
    file: PathBuf,
    #[command(flatten)]
    secret: SecretFiles,
    /// Leave the keys in the wallet. Cards that are bound to a key can then be shown only there.
    #[arg(long, conflicts_with_all = ["passphrase_file", "words_file"], required_unless_present_any = ["passphrase_file", "words_file"])]
    without_keys: bool,
    #[command(flatten)]
    owner: WalletOwner,
}

/// A file that is written.
struct ExportFile {
    file: BufWriter<File>,
    /// The key that the instance seals keys with, in base64url.
    sealing_key: Option<SecretString>,
    /// The credentials in the file.
    count: u64,
    /// The place in the wallet of the last of them.
    at: Option<String>,
}

/// What a file holds that an earlier export has begun.
struct BegunFile {
    head: ExportHead,
    /// The bytes of its complete lines, without the end.
    bytes: u64,
    count: u64,
    at: Option<String>,
}

impl ExportWallet {
    pub(super) async fn run(self) -> End {
        let secret = self.secret.secret()?;
        let mut output = self.output(secret.as_ref())?;
        let client = self.owner.wallet().await?.for_long_texts();
        let begun: WalletExport = client
            .post(
                "/api/wallet/exports",
                &self.order(output.sealing_key.as_ref())?,
            )
            .await?;
        let progress = Progress::new(self.owner.instance.json);
        self.read(&client, &begun.id, &mut output, &progress)
            .await?;
        drop(progress);
        let end = ExportEnd { end: output.count };
        self.line(&mut output, &json!(end))?;
        let written = output.file.flush();
        written
            .and_then(|()| output.file.get_ref().sync_all())
            .map_err(|error| self.failed(&error))?;
        let told = json!({"file": self.file, "credentials": output.count});
        output::either(self.owner.instance.json, &told, |_| {
            vec![format!(
                "{} credentials are in {}",
                end.end,
                self.file.display()
            )]
        });
        Ok(Answer::Yes)
    }

    /// What the instance is sent to begin with.
    fn order(&self, sealing_key: Option<&SecretString>) -> Result<serde_json::Value, Failure> {
        let password = self.owner.password()?;
        let sealing_key = sealing_key.map(SecretString::expose);
        Ok(json!({"password": password.expose(), "sealing_key": sealing_key}))
    }

    /// Writes the cards after those that the file has.
    async fn read(
        &self,
        client: &Client,
        id: &str,
        output: &mut ExportFile,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let first = format!("/api/wallet/exports/{}?limit={PORTION}", segment(id));
        loop {
            let from = match &output.at {
                Some(at) => format!("{first}&after={}", segment(at)),
                None => first.clone(),
            };
            let page: Listing<CarriedCredential> = client.get(&from).await?;
            for one in page.items {
                self.line(output, &json!(one))?;
                output.count = output.count.saturating_add(1);
                output.at = one.at;
            }
            progress.at("credentials", output.count);
            if page.next.is_none() {
                return Ok(());
            }
        }
    }

    fn line(&self, output: &mut ExportFile, value: &serde_json::Value) -> Result<(), Failure> {
        let line = writeln!(output.file, "{value}");
        line.map_err(|error| self.failed(&error))
    }

    fn unlike(&self, what: &str, advice: &str) -> Failure {
        let told = format!("{}: {what}", self.file.display());
        Failure::environment(told).hint(format!("{advice}, or name another file"))
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::environment(format!("{}: {error}", self.file.display()))
    }

    /// The file, with a new head, or as an earlier export has left it.
    fn output(&self, secret: Option<&ExportSecret>) -> Result<ExportFile, Failure> {
        let begun = match File::open(&self.file) {
            Ok(file) => self.begun(file)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(self.failed(&error)),
        };
        match begun {
            Some(begun) => self.continued(begun, secret),
            None => self.new_file(secret),
        }
    }

    fn new_file(&self, secret: Option<&ExportSecret>) -> Result<ExportFile, Failure> {
        let (head, sealing_key) = match secret {
            Some(secret) => {
                let NewHead { head, sealing_key } = ExportHead::under(secret)?;
                (head, Some(sealing_key))
            }
            None => (ExportHead::without_keys(), None),
        };
        private_file::write(&self.file, format!("{}\n", json!(head)).as_bytes())?;
        let file = self.appended(None)?;
        Ok(ExportFile {
            file,
            sealing_key,
            count: 0,
            at: None,
        })
    }

    fn continued(
        &self,
        begun: BegunFile,
        secret: Option<&ExportSecret>,
    ) -> Result<ExportFile, Failure> {
        let sealing_key = match (begun.head.has_keys(), secret) {
            (true, Some(secret)) => Some(begun.head.sealing_key(secret)?),
            (false, None) => None,
            (true, None) => {
                return Err(self.unlike("the file has keys", "name its passphrase or its words"));
            }
            (false, Some(_)) => {
                return Err(self.unlike("the file has no keys", "add --without-keys"));
            }
        };
        Ok(ExportFile {
            file: self.appended(Some(begun.bytes))?,
            sealing_key,
            count: begun.count,
            at: begun.at,
        })
    }

    /// The file to be written on, cut to this number of bytes.
    fn appended(&self, bytes: Option<u64>) -> Result<BufWriter<File>, Failure> {
        let opened = || {
            let mut file = OpenOptions::new().write(true).open(&self.file)?;
            if let Some(bytes) = bytes {
                file.set_len(bytes)?;
            }
            file.seek(SeekFrom::End(0))?;
            Ok(BufWriter::new(file))
        };
        opened().map_err(|error| self.failed(&error))
    }

    /// What the file holds; `None` if it is empty.
    fn begun(&self, file: File) -> Result<Option<BegunFile>, Failure> {
        let mut reader = BufReader::new(file);
        let mut begun: Option<BegunFile> = None;
        loop {
            let mut line = Vec::new();
            let mut limited = reader.by_ref().take(LONGEST);
            let read = limited.read_until(b'\n', &mut line);
            let read = read.map_err(|error| self.failed(&error))?;
            if line.pop() != Some(b'\n') {
                // The last line was cut off, or the file is empty.
                return Ok(begun);
            }
            let Some(known) = &mut begun else {
                let head = ExportHead::read(&String::from_utf8_lossy(&line));
                let head = head
                    .map_err(|error| Failure::from(error).at(&self.file.display().to_string()))?;
                begun = Some(BegunFile {
                    head,
                    bytes: read as u64,
                    count: 0,
                    at: None,
                });
                continue;
            };
            let Ok(one) = serde_json::from_slice::<CarriedCredential>(&line) else {
                // The end, which is written again, or a line that is damaged: what follows is read again.
                return Ok(begun);
            };
            known.bytes = known.bytes.saturating_add(read as u64);
            known.count = known.count.saturating_add(1);
            known.at = one.at;
        }
    }
}

/// Bytes of the longest line that an export has written.
const LONGEST: u64 = 4 * LINE_MAX as u64;
