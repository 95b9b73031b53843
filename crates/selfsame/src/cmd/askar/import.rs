//! `selfsame askar import`: takes a profile of a wallet into an organisation of an instance.

use clap::Args;
use selfsame_core::organisation::OrganisationName;
use selfsame_moving::wallet::{
    CategoryReport, KeyReport, WalletImport, WalletImportError, WalletReport,
};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use super::{WalletOptions, counted, failed, shown};
use crate::kept::KeptOptions;
use selfsame_terminal::progress::Progress;

const SURE: &str = "nothing of the wallet was changed; run the import again, and if that does not help, restore the instance from a backup";

#[derive(Args)]
#[command(
    after_help = "Example: selfsame askar import wallet.db --key-file wallet.key --profile acme --into acme --data data
         selfsame askar import postgres://agent@localhost/wallets --key-file wallet.key --profile acme --into acme --database postgres://selfsame@localhost/selfsame

What becomes of which record: docs/askar.md"
)]
pub struct ImportWallet {
    #[command(flatten)]
    wallet: WalletOptions,
    /// The profile of the wallet; default: the one that Askar opens by default.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The organisation that gets the records; `main` is the one that every instance has.
    #[arg(long, value_name = "ORGANISATION")]
    into: String,
    #[command(flatten)]
    kept: KeptOptions,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl ImportWallet {
    /// Imports, compares, and prints what became of the records.
    pub async fn run(self) -> End {
        let name = OrganisationName::parse(&self.into)?;
        let wallet = self.wallet.open().await?;
        let profile = self.profile.as_deref().or(wallet.default_profile());
        let profile = profile.ok_or_else(|| {
            Failure::environment("the wallet has no default profile").hint("name one (--profile)")
        })?;
        let profile = wallet.profile(profile).await.map_err(|error| {
            failed(error).or_hint("selfsame askar show names the profiles of a wallet")
        })?;
        let store = self.kept.kept()?.open().await?;
        let import = WalletImport::into(&store, &name).await.map_err(refused)?;
        let progress = Progress::new(self.json);
        let tell = |what: &'static str, seen: u64| progress.at(what, seen);
        let report = import.run(&wallet, &profile, &tell).await;
        drop(progress);
        let report = report.map_err(refused)?;
        output::either(self.json, &report, lines);
        Ok(match report.unread {
            0 => Answer::Yes,
            _ => Answer::No,
        })
    }
}

fn refused(error: WalletImportError) -> Failure {
    match error {
        WalletImportError::Wallet(error) => failed(error),
        WalletImportError::Different(_) => Failure::no(error.to_string()).hint(SURE),
        WalletImportError::Refused(error) => Failure::from(error),
        WalletImportError::Store(error) => Failure::from(selfsame_driver::Error::from(error)),
    }
}

fn lines(report: &WalletReport) -> Vec<String> {
    let WalletReport {
        profile,
        organisation,
        records,
        hash,
        ..
    } = report;
    let mut lines = vec![format!(
        "profile {} is in {organisation}: {}, read back and compared, hash {hash}",
        shown(profile),
        counted(*records, "record"),
    )];
    lines.extend(report.categories.iter().map(category_line));
    lines.extend(report.keys.iter().map(key_line));
    if report.further > 0 {
        lines.push(format!("  {:>8}  of further categories", report.further));
    }
    if report.unread > 0 {
        lines.push(format!("  {:>8}  could not be read:", report.unread));
        let why = report.why_unread.iter();
        lines.extend(why.map(|why| format!("            {}", shown(why))));
    }
    lines.push(
        "Records are kept as they are in the wallet; this release does not work with them yet. Keys that can sign here are keys of the organisation."
            .to_owned(),
    );
    lines
}

fn category_line(report: &CategoryReport) -> String {
    let CategoryReport {
        category,
        new,
        already,
        changed,
    } = report;
    let mut line = format!("  {new:>8}  {}", shown(category));
    if *already > 0 {
        line.push_str(&format!(", {already} were there"));
    }
    if *changed > 0 {
        line.push_str(&format!(", {changed} had changed and are replaced"));
    }
    line
}

fn key_line(report: &KeyReport) -> String {
    let KeyReport {
        algorithm,
        usable,
        kept,
    } = report;
    let algorithm = shown(algorithm);
    match kept {
        0 => format!("  {usable:>8}  keys of {algorithm} that sign here"),
        _ => format!(
            "  {:>8}  keys of {algorithm}: {usable} that sign here, {kept} without a counterpart yet",
            usable.saturating_add(*kept)
        ),
    }
}
