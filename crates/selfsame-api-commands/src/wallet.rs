//! `selfsame wallet`: creates a wallet on an instance, shows what is in it, exports it and imports it.

mod export;
mod import;
mod words;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use selfsame_crypto::SecretString;
use selfsame_driver::paging::Listing;
use selfsame_driver::{Reason, private_file};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_wallet::view::{Card, CardSummary, HistoryEntry, NewSession};
use serde_json::json;

use crate::called::{Instance, segment};
use crate::client::Client;
use export::ExportWallet;
use import::ImportWallet;
use words::NewWords;

/// Create a wallet, show its cards and its history, export and import it; `selfsame present` accepts and shows credentials.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame wallet create --email maja@example.org --password-file pw"
)]
pub struct WalletCommand {
    #[command(subcommand)]
    verb: WalletVerb,
}

#[derive(Subcommand)]
enum WalletVerb {
    /// Create a wallet.
    #[command(
        after_help = "Example: selfsame wallet create --email maja@example.org --password-file pw"
    )]
    Create {
        /// The token of an invitation, if the instance makes wallets by invitation.
        #[arg(long)]
        invitation: Option<String>,
        #[command(flatten)]
        owner: WalletOwner,
    },
    /// List the cards, newest first.
    #[command(
        after_help = "Example: selfsame wallet cards --email maja@example.org --password-file pw"
    )]
    Cards {
        #[command(flatten)]
        owner: WalletOwner,
    },
    /// Show a card with its claims and its status.
    #[command(
        after_help = "Example: selfsame wallet card 5Zr… --email maja@example.org --password-file pw"
    )]
    Card {
        /// The card's id, as the list shows it.
        #[arg(allow_hyphen_values = true)]
        id: String,
        #[command(flatten)]
        owner: WalletOwner,
    },
    /// Export all cards into a file of JSON lines, their keys sealed under a passphrase.
    ///
    /// The file has the claims of all cards in plain text: only its owner may read it. If the command is interrupted, run it
    /// again: it goes on where the file ends.
    #[command(
        after_help = "Example: selfsame wallet export cards.ndjson --passphrase-file phrase --email maja@example.org --password-file pw
         selfsame wallet export cards.ndjson --words-file words.txt --email maja@example.org --password-file pw
         selfsame wallet export cards.ndjson --without-keys --email maja@example.org --password-file pw

docs/bulk.md describes the lines of the file."
    )]
    Export(ExportWallet),
    /// Take the credentials of an exported file into a wallet.
    ///
    /// Each line that is refused is reported with its number, and all others are taken in; then the exit code is 1. A
    /// credential that is there already stays as it is, so a second run completes the first one.
    #[command(
        after_help = "Example: selfsame wallet import cards.ndjson --passphrase-file phrase --email maja@example.org --password-file pw
         selfsame wallet import cards.ndjson --words-file words.txt --email maja@example.org --password-file pw"
    )]
    Import(ImportWallet),
    /// Make recovery words: fifteen words under which exports are sealed, to be written down on paper.
    ///
    /// No instance is called. Whoever has the words and an export has the cards with their keys, so keep both apart.
    #[command(after_help = "Example: selfsame wallet words words.txt

docs/recovery.md describes how they restore a wallet on another instance.")]
    Words(NewWords),
    /// Print everything that the instance keeps of a wallet, a JSON object a line.
    #[command(
        after_help = "Example: selfsame wallet everything --email maja@example.org --password-file pw > maja.ndjson"
    )]
    Everything {
        #[command(flatten)]
        owner: WalletOwner,
    },
    /// Delete the account of a wallet, with all its cards and keys, at once and for good.
    #[command(
        after_help = "Example: selfsame wallet delete --yes --email maja@example.org --password-file pw"
    )]
    Delete {
        /// Confirms that everything shall be deleted.
        #[arg(long, required = true)]
        yes: bool,
        #[command(flatten)]
        owner: WalletOwner,
    },
    /// List what was received and shown, newest first.
    #[command(
        after_help = "Example: selfsame wallet history --email maja@example.org --password-file pw"
    )]
    History {
        #[command(flatten)]
        owner: WalletOwner,
    },
}

/// The owner of a wallet, and the instance that keeps it.
#[derive(Args)]
pub struct WalletOwner {
    /// The e-mail address of the wallet's owner.
    #[arg(long, env = "SELFSAME_EMAIL")]
    pub email: String,
    /// The file that holds the password of the wallet's owner.
    #[arg(long, env = "SELFSAME_PASSWORD_FILE")]
    pub password_file: PathBuf,
    #[command(flatten)]
    pub instance: Instance,
}

impl WalletOwner {
    /// A client that acts for the owner.
    pub async fn wallet(&self) -> Result<Client, Failure> {
        self.session("/api/wallet/sessions", None).await
    }

    /// The owner's password.
    fn password(&self) -> Result<SecretString, Failure> {
        let hint = Reason::text("name the file that holds the password with --password-file");
        Ok(private_file::read(&self.password_file, hint)?)
    }

    async fn session(&self, path: &str, invitation: Option<&str>) -> Result<Client, Failure> {
        let password = self.password()?;
        let mut body = json!({"email": self.email, "password": password.expose()});
        if let Some(invitation) = invitation {
            body["invitation"] = invitation.into();
        }
        let client = self.instance.anybody()?;
        let session: NewSession = client.post(path, &body).await?;
        Ok(client.with_token(SecretString::new(session.token)))
    }
}

impl WalletCommand {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        match self.verb {
            WalletVerb::Export(export) => return export.run().await,
            WalletVerb::Import(import) => return import.run().await,
            WalletVerb::Words(words) => return words.run(),
            WalletVerb::Create { invitation, owner } => {
                let path = "/api/wallet/register";
                owner.session(path, invitation.as_deref()).await?;
                let created = json!({"email": owner.email});
                output::either(owner.instance.json, &created, |_| {
                    vec![format!("{} has a wallet", owner.email)]
                });
            }
            WalletVerb::Everything { owner } => {
                let client = owner.wallet().await?.for_long_texts();
                let text = client.text("/api/wallet/everything").await?;
                output::say(text.trim_end());
            }
            WalletVerb::Delete { owner, .. } => {
                let password = owner.password()?;
                let body = json!({"password": password.expose()});
                let client = owner.wallet().await?;
                client.delete_with("/api/wallet/account", &body).await?;
                let deleted = json!({"deleted": owner.email});
                output::either(owner.instance.json, &deleted, |_| {
                    vec![format!("the account of {} is deleted", owner.email)]
                });
            }
            WalletVerb::Cards { owner } => {
                let path = "/api/wallet/credentials?limit=200";
                let listed: Listing<CardSummary> = owner.wallet().await?.get(path).await?;
                output::either(owner.instance.json, &listed, |listed| {
                    listed.items.iter().map(listed_card).collect()
                });
            }
            WalletVerb::Card { id, owner } => {
                let path = format!("/api/wallet/credentials/{}", segment(&id));
                let card: Card = owner.wallet().await?.get(&path).await?;
                output::either(owner.instance.json, &card, card_lines);
            }
            WalletVerb::History { owner } => {
                let path = "/api/wallet/history?limit=200";
                let listed: Listing<HistoryEntry> = owner.wallet().await?.get(path).await?;
                output::either(owner.instance.json, &listed, |listed| {
                    listed.items.iter().map(history_line).collect()
                });
            }
        }
        Ok(Answer::Yes)
    }
}

/// A card of the list, with its status if that calls for attention.
fn listed_card(card: &CardSummary) -> String {
    let status = card.status.as_deref().filter(|status| *status != "valid");
    let status = status.map_or_else(String::new, |status| format!("  {status}"));
    format!("{}{status}", card_line(card))
}

fn card_line(card: &CardSummary) -> String {
    let issuer = card.issuer_name.as_ref().unwrap_or(&card.issuer);
    format!("{}  {}  from {issuer}", card.id, card.display.title)
}

fn card_lines(card: &Card) -> Vec<String> {
    let mut lines = vec![format!("{}  {}", card_line(&card.summary), card.status)];
    let claims = card.claims.iter().filter(|claim| !claim.technical);
    lines.extend(claims.map(|claim| format!("  {}: {}", claim.label, claim.in_full())));
    lines
}

fn history_line(entry: &HistoryEntry) -> String {
    format!(
        "{}  {}  {}  {}",
        entry.at,
        entry.what,
        entry.party,
        entry.claims.join(", ")
    )
}
