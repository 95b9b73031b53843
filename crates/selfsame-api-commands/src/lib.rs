//! The commands that call the API of a running instance.
//!
//! Owns: a client of the API, a command for each thing that the API does, and the healthcare scenarios over it. Does not
//! own: starting an instance; exit codes and output, which are of `selfsame-terminal`.

mod approve;
mod audit;
mod backup;
mod book;
mod called;
mod client;
mod credential_type;
mod did;
mod issue;
mod lines;
mod links;
mod master_key;
mod organisation;
mod people;
mod present;
mod records;
mod registry_clock;
mod revoke;
mod roots;
mod saved_request;
pub mod scenario;
mod status;
mod verdict;
mod verify;
mod wallet;
mod webhook;

use clap::Subcommand;
use selfsame_terminal::exit::End;

pub use backup::Backup;
pub use called::Instance;
pub use client::Client;
pub use registry_clock::ClockOfRegistry;
pub use roots::Roots;
pub use verdict::verdict_table;

/// The commands that call the API of a running instance.
#[derive(Subcommand)]
pub enum ApiCommand {
    /// Create, show, change and suspend organisations.
    Organisation(organisation::Organisation),
    /// Invite people to an organisation, and change their roles.
    Person(people::Person),
    /// Create, list and revoke API keys.
    Key(people::ApiKeys),
    /// Create, show, resolve, update and deactivate DIDs.
    Did(did::Did),
    /// Create a credential offer.
    Issue(issue::IssueOffer),
    /// List requests that need an approval, and approve or refuse one.
    Approve(approve::Approve),
    /// Accept a credential offer or answer a presentation request.
    Present(present::Present),
    /// Create a wallet, and show its cards and its history.
    Wallet(wallet::WalletCommand),
    /// Verify a credential, or request one and wait for the verdict.
    Verify(verify::Verify),
    /// Revoke, suspend or reinstate credentials.
    Revoke(revoke::Revoke),
    /// List and show credential offers.
    Offer(records::OfferRecords),
    /// List and show issued credentials.
    Credential(records::CredentialRecords),
    /// Let others use up or revoke credentials of this issuer.
    Delegation(records::Delegations),
    /// Create, list, show and recheck presentation requests.
    Request(records::Requests),
    /// Save what a verifier asks for, and open it.
    SavedRequest(saved_request::SavedRequests),
    /// Show, export and verify the audit trail.
    Audit(audit::Audit),
    /// Send events to another program.
    Webhook(webhook::Webhook),
    /// Build the search index of a credential book anew.
    Book(book::BookCommand),
    /// Create, check, publish, show and retire credential types.
    #[command(name = "type")]
    Type(credential_type::CredentialTypes),
    /// Show the status of a running instance.
    Status(status::Status),
    /// Show or rotate the master key of a running instance.
    MasterKey(master_key::MasterKeyCommand),
    /// Print a link that signs in the operator's browser.
    SignIn(links::SignIn),
    /// Print an invitation: a link with which one person can make a wallet.
    Invite(links::Invite),
}

impl ApiCommand {
    /// Runs the command.
    ///
    /// # Errors
    /// What the instance refuses, and what keeps the command from calling it.
    pub async fn run(self) -> End {
        match self {
            Self::Organisation(organisation) => organisation.run().await,
            Self::Person(person) => person.run().await,
            Self::Key(key) => key.run().await,
            Self::Did(did) => did.run().await,
            Self::Issue(issue) => issue.run().await,
            Self::Approve(approve) => approve.run().await,
            Self::Present(present) => present.run().await,
            Self::Wallet(wallet) => wallet.run().await,
            Self::Verify(verify) => verify.run().await,
            Self::Revoke(revoke) => revoke.run().await,
            Self::Offer(offers) => offers.run().await,
            Self::Credential(credentials) => credentials.run().await,
            Self::Delegation(delegations) => delegations.run().await,
            Self::Request(requests) => requests.run().await,
            Self::SavedRequest(requests) => requests.run().await,
            Self::Audit(audit) => audit.run().await,
            Self::Webhook(webhook) => webhook.run().await,
            Self::Book(book) => book.run().await,
            Self::Type(types) => types.run().await,
            Self::Status(status) => status.run().await,
            Self::MasterKey(command) => command.run().await,
            Self::SignIn(sign_in) => sign_in.run().await,
            Self::Invite(invite) => invite.run().await,
        }
    }
}
