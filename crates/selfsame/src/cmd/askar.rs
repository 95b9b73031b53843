//! `selfsame askar`: looks into a wallet of Askar, and imports it.

mod import;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use selfsame_askar::{ProfileSummary, StoreKey, Summary, Wallet, WalletAddress, WalletError};
use selfsame_crypto::SecretString;
use selfsame_driver::{Reason, private_file};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

/// What the file with the key has to be.
const WHAT_IT_IS: &str =
    "the file contains the wallet's passphrase or its raw key, and nothing else";

/// Look into a wallet of Askar, which other agents store their records in, and import it.
#[derive(Args)]
#[command(after_help = "Example: selfsame askar show wallet.db --key-file wallet.key")]
pub struct Askar {
    #[command(subcommand)]
    verb: AskarVerb,
}

#[derive(Subcommand)]
enum AskarVerb {
    /// Show the profiles of a wallet, how many records each has, and hashes over them. Never a value or a key.
    ///
    /// Reads each record once and changes nothing. Exit codes: 0 all was read, 1 something is damaged, 2 the wallet
    /// can't be opened.
    Show(Show),
    /// Take a profile of a wallet into an organisation: every record as it is, and the keys that can sign here.
    ///
    /// Each record is read back and compared with the wallet, which is not changed. It can be run again: what is there
    /// already stays. Exit codes: 0 all is in, 1 something of the wallet can't be read, 2 the import is not possible.
    Import(Box<import::ImportWallet>),
}

#[derive(Args)]
#[command(
    after_help = "Example: selfsame askar show wallet.db --key-file wallet.key
         selfsame askar show postgres://agent@localhost/wallets --key-file wallet.key --json

The password of a PostgreSQL server can be in PGPASSWORD. docs/askar.md says what is read, and what the hashes prove."
)]
struct Show {
    #[command(flatten)]
    wallet: WalletOptions,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Options that name a wallet and its key.
#[derive(Args)]
struct WalletOptions {
    /// The wallet: a file of SQLite, or an address that begins with sqlite:// or postgres://.
    wallet: String,
    /// The file with the wallet's passphrase or raw key. Only its owner may be able to read it.
    #[arg(long)]
    key_file: Option<PathBuf>,
    #[arg(long, env = "PGPASSWORD", hide = true, hide_env_values = true)]
    password: Option<String>,
}

impl WalletOptions {
    async fn open(&self) -> Result<Wallet, Failure> {
        let mut address: WalletAddress = self.wallet.parse().map_err(failed)?;
        if let Some(password) = &self.password {
            address = address.or_password(&SecretString::new(password.clone()));
        }
        let key = match &self.key_file {
            Some(file) => StoreKey::text(private_file::read(file, Reason::text(WHAT_IT_IS))?),
            None => StoreKey::none(),
        };
        Wallet::open(&address, key).await.map_err(failed)
    }
}

impl Askar {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            AskarVerb::Show(show) => show.run().await,
            AskarVerb::Import(import) => import.run().await,
        }
    }
}

impl Show {
    async fn run(self) -> End {
        let wallet = self.wallet.open().await?;
        let summary = wallet.summary().await.map_err(failed)?;
        output::either(self.json, &summary, lines);
        Ok(match summary.unread {
            0 => Answer::Yes,
            _ => Answer::No,
        })
    }
}

fn failed(error: WalletError) -> Failure {
    let hint = match error {
        WalletError::KeyNeeded(_) => Some("name the file that contains it with --key-file"),
        _ => error.what_to_do(),
    };
    let failure = match error {
        WalletError::Damaged(_) => Failure::no(error.to_string()),
        _ => Failure::environment(error.to_string()),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = vec![format!("protected by {}", summary.protection)];
    for profile in &summary.profiles {
        let is_default = summary.default_profile.as_ref() == Some(&profile.name);
        lines.extend(profile_lines(profile, is_default));
    }
    let profiles = summary.profiles.len();
    lines.push(format!(
        "{} in {}, hash {}",
        counted(summary.records, "record"),
        counted(profiles as u64, "profile"),
        summary.hash
    ));
    if summary.unread > 0 {
        lines.push(format!(
            "{} could not be read",
            counted(summary.unread, "record")
        ));
    }
    lines
}

fn profile_lines(profile: &ProfileSummary, is_default: bool) -> Vec<String> {
    let default = if is_default { " (default)" } else { "" };
    let head = format!(
        "profile {}{default}: {}, hash {}",
        shown(&profile.name),
        counted(profile.records, "record"),
        profile.hash
    );
    let line = |what: &str, count: &u64| format!("  {count:>8}  {what}");
    let categories = profile.categories.iter();
    let categories = categories.map(|(name, count)| line(&shown(name), count));
    let keys = profile.keys.iter();
    let keys = keys.map(|(name, count)| line(&format!("keys of {}", shown(name)), count));
    let further = (profile.further > 0).then(|| line("of further categories", &profile.further));
    let expiring =
        (profile.expiring > 0).then(|| line("of these with an expiry", &profile.expiring));
    let unread = (profile.unread > 0).then(|| line("could not be read:", &profile.unread));
    let why = profile
        .why_unread
        .iter()
        .map(|why| format!("            {}", shown(why)));
    (std::iter::once(head).chain(categories).chain(keys))
        .chain(further)
        .chain(expiring)
        .chain(unread)
        .chain(why)
        .collect()
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// A text of the wallet for a terminal, which control characters could mislead.
fn shown(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
