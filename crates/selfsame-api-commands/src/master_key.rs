//! `selfsame master-key`: shows under which master key an instance's records are, and rotates it while the instance runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use selfsame_app::view::instance::MasterKeyStatus;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::{SecretString, encoding};
use selfsame_driver::private_file;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::master_key::MasterKey;
use selfsame_terminal::next_key::NextKey;
use selfsame_terminal::output;
use serde::Serialize;
use serde_json::json;
use tokio::time::sleep;

use crate::{Client, Instance};

/// How often the progress is asked for.
const EVERY: Duration = Duration::from_millis(300);
/// What the name of the former key's file has behind it.
const FORMER: &str = "former";

const GIVE_ONE: &str = "set SELFSAME_NEXT_PASSPHRASE to the new passphrase";
const NO_OTHER: &str = "leave out --new-master-key-file, and unset SELFSAME_NEXT_PASSPHRASE";
const NOT_BOTH: &str = "remove the file if it is not the key to rotate to; or leave out --new-master-key-file and SELFSAME_NEXT_PASSPHRASE";

/// Show or rotate the master key of a running instance.
#[derive(Args)]
#[command(after_help = "Example: selfsame master-key rotate --data data

Which keys there are, and what to do if one is lost: docs/keys.md")]
pub struct MasterKeyCommand {
    #[command(subcommand)]
    verb: MasterKeyVerb,
}

#[derive(Subcommand)]
enum MasterKeyVerb {
    /// Show under which master key the records are, and how far a rotation is.
    Show(Show),
    /// Rotate the master key while the instance runs.
    Rotate(Box<Rotate>),
}

#[derive(Args)]
#[command(after_help = "Example: selfsame master-key show --json")]
struct Show {
    #[command(flatten)]
    instance: Instance,
}

/// Rotate the master key while the instance runs.
///
/// The new key is written to a file beside the present one (`master-key.next`), where each process of the instance finds
/// it. The keys of all tenants are then wrapped under the new master key; no record is sealed again, and requests are
/// served meanwhile. If the command is interrupted, the instance goes on by itself; run it again to watch it. Several
/// processes on several machines: put the same file on each machine before (docs/keys.md).
#[derive(Args)]
#[command(after_help = "Example: selfsame master-key rotate --data data
         selfsame master-key rotate --master-key-file /etc/selfsame/key --new-master-key-file new-key
         SELFSAME_NEXT_PASSPHRASE=… selfsame master-key rotate --data data

Without --new-master-key-file, a new key is drawn at random. Backups made before need the former key: keep it with them.")]
struct Rotate {
    /// The data directory of the instance.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    #[command(flatten)]
    master_key: MasterKey,
    /// The file with the new master key: 64 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    new_master_key_file: Option<PathBuf>,
    /// The new passphrase; only from the environment.
    #[arg(
        long,
        env = "SELFSAME_NEXT_PASSPHRASE",
        hide = true,
        hide_env_values = true
    )]
    next_passphrase: Option<String>,
    #[command(flatten)]
    instance: Instance,
}

/// What the command prints in JSON when the rotation has ended.
#[derive(Serialize)]
struct Rotated {
    /// The check value of the new key.
    present: Option<String>,
    /// The file with the new key.
    file: PathBuf,
    /// The file with the former key, for backups that were made under it.
    former: Option<PathBuf>,
    #[serde(skip)]
    is_passphrase: bool,
}

impl MasterKeyCommand {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            MasterKeyVerb::Show(show) => show.run().await,
            MasterKeyVerb::Rotate(rotate) => rotate.run().await,
        }
    }
}

impl Show {
    async fn run(self) -> End {
        let status = status(&self.instance.operator()?).await?;
        output::either(self.instance.json, &status, lines);
        Ok(Answer::Yes)
    }
}

impl Rotate {
    async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let custody = self.master_key.custody(&self.data)?;
        let next = NextKey::after(&custody, &self.data);
        let mut now = status(&operator).await?;
        if now.stage == "settled" {
            self.prepare(&next)?;
            now = operator
                .post("/api/master-key/rotation", &json!({}))
                .await?;
        } else if !next.file.exists() {
            self.prepare(&next)?;
        }
        let ended = self.watch(&operator, now).await?;
        let is_passphrase = next.is_passphrase();
        let (file, former) = match (
            next.is_passphrase(),
            NextKey::place_of_present(&self.data, &custody),
        ) {
            (false, Some(present)) => {
                let former = put_in_place(&next.file, &present)?;
                (present, former)
            }
            _ => (next.file, None),
        };
        let rotated = Rotated {
            present: ended.present,
            file,
            former,
            is_passphrase,
        };
        output::either(self.instance.json, &rotated, |rotated| rotated.lines());
        Ok(Answer::Yes)
    }

    /// Writes the new key where the processes of the instance look for it. A file that is there already is used.
    fn prepare(&self, next: &NextKey) -> Result<(), Failure> {
        if next.file.exists() {
            if self.new_master_key_file.is_some() || self.next_passphrase.is_some() {
                let what = format!("{}: the file exists already", next.file.display());
                return Err(Failure::environment(what).hint(NOT_BOTH));
            }
        } else {
            private_file::write(&next.file, self.new_key(next)?.expose().as_bytes())?;
        }
        // A file that has no key is told here rather than by the instance.
        next.load().map(drop)
    }

    fn new_key(&self, next: &NextKey) -> Result<SecretString, Failure> {
        if let Some(hsm) = next.hsm() {
            return match (&self.next_passphrase, &self.new_master_key_file) {
                (None, None) => {
                    let wrapped = String::from_utf8(hsm.new_key()?);
                    Ok(SecretString::from(wrapped.map_err(|error| Failure::ours(error.to_string()))?))
                }
                _ => Err(Failure::environment("the master key of these data is encrypted by a hardware security module, which makes the new one too").hint(NO_OTHER)),
            };
        }
        match (next.is_passphrase(), &self.next_passphrase, &self.new_master_key_file) {
            (true, Some(passphrase), None) if !passphrase.trim().is_empty() => {
                Ok(SecretString::from(passphrase.clone()))
            }
            (true, ..) => Err(Failure::environment("there is no new passphrase").hint(GIVE_ONE)),
            (false, Some(_), _) => Err(Failure::environment(
                "the master key of these data comes from a file, and a passphrase was given for the new one",
            )
            .hint("unset SELFSAME_NEXT_PASSPHRASE; a rotation leads from a file to a file, and from a passphrase to a passphrase")),
            (false, None, Some(file)) => {
                let text = private_file::read(file, selfsame_driver::Reason::text(FORM))?;
                Ok(SecretString::from(text.expose().to_owned()))
            }
            (false, None, None) => Ok(SecretString::from(encoding::hex_encode(&random_seed()))),
        }
    }

    /// Waits until the rotation has ended, and says how far it is.
    async fn watch(
        &self,
        operator: &Client,
        mut now: MasterKeyStatus,
    ) -> Result<MasterKeyStatus, Failure> {
        let mut said = None;
        while now.stage != "settled" {
            if said.as_ref() != Some(&now) && !self.instance.json {
                lines(&now).into_iter().for_each(|line| output::say(&line));
                said = Some(now);
            }
            sleep(EVERY).await;
            now = status(operator).await?;
        }
        Ok(now)
    }
}

const FORM: &str = "a master key is 64 hexadecimal digits: openssl rand -hex 32";

async fn status(operator: &Client) -> Result<MasterKeyStatus, Failure> {
    operator.get("/api/master-key").await
}

/// Puts the new key in the place of the former one, which keeps a name of its own. There is a key in the place at every
/// moment.
fn put_in_place(next: &Path, present: &Path) -> Result<Option<PathBuf>, Failure> {
    let unwritable = |error: std::io::Error| {
        Failure::environment(format!("{}: {error}", present.display())).hint(
            "the rotation has ended, and the key in the file with `.next` is the present one: put it in this place yourself",
        )
    };
    let mut former = present.with_extension(FORMER);
    let mut number = 1;
    while former.exists() {
        number += 1;
        former = present.with_extension(format!("{FORMER}-{number}"));
    }
    // The present file may have been lost while the process ran.
    let has_former = present.exists();
    if has_former {
        std::fs::hard_link(present, &former).map_err(unwritable)?;
    }
    std::fs::rename(next, present).map_err(unwritable)?;
    Ok(has_former.then_some(former))
}

fn lines(status: &MasterKeyStatus) -> Vec<String> {
    let none = "unknown".to_owned();
    let present = status.present.as_ref().unwrap_or(&none);
    let next = status.next.as_ref().unwrap_or(&none);
    let line = match (status.stage.as_str(), status.waits_for) {
        ("begun", 0) => {
            format!("rotating from {present} to {next}: the tenants' keys are wrapped under both")
        }
        ("begun", waits_for) => format!(
            "rotating from {present} to {next}: waiting for {waits_for} processes that do not have the new key; each says in its log where it looks for it"
        ),
        ("ending", _) => {
            format!("rotating to {present}: the wraps under the former key are removed")
        }
        _ => format!("the records are under the master key with the check value {present}"),
    };
    vec![line]
}

impl Rotated {
    fn lines(&self) -> Vec<String> {
        let none = "unknown".to_owned();
        let present = self.present.as_ref().unwrap_or(&none);
        let file = self.file.display();
        let mut lines = vec![format!(
            "The rotation has ended: the records are under the master key with the check value {present}."
        )];
        match &self.former {
            None if !self.is_passphrase => {
                lines.push(format!("The new key is in {file}."));
            }
            Some(former) => lines.extend([
                format!("The new key is in {file}. On other machines, put it in the place of the former one too."),
                format!("The former key is in {}: only backups made before need it. Move it to where those are kept.", former.display()),
            ]),
            None => lines.push(format!(
                "Start with the new passphrase from now on (SELFSAME_PASSPHRASE), and then remove {file}. Backups made before need the former passphrase."
            )),
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_key_takes_the_place_of_the_former_one_which_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (present, next) = (folder.path().join("key"), folder.path().join("key.next"));
        for (round, expected) in ["key.former", "key.former-2"].into_iter().enumerate() {
            std::fs::write(&present, format!("{round}")).unwrap();
            std::fs::write(&next, "new").unwrap();
            let former = put_in_place(&next, &present).ok().unwrap().unwrap();
            assert_eq!(former, folder.path().join(expected));
            assert_eq!(std::fs::read_to_string(&former).unwrap(), round.to_string());
            assert_eq!(std::fs::read_to_string(&present).unwrap(), "new");
            assert!(!next.exists());
            std::fs::remove_file(&present).unwrap();
        }
    }

    #[test]
    fn what_a_rotation_waits_for_is_said() {
        let status = |stage: &str, waits_for| MasterKeyStatus {
            stage: stage.to_owned(),
            present: Some("aa".to_owned()),
            next: Some("bb".to_owned()),
            waits_for,
        };
        let said = |stage, waits_for| lines(&status(stage, waits_for)).concat();
        assert!(said("begun", 2).contains("waiting for 2 processes"));
        assert!(said("begun", 0).contains("from aa to bb"));
        assert!(said("settled", 0).contains("check value aa"));
    }
}
