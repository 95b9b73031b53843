//! `selfsame anoncreds`: each step of AnonCreds separately, with JSON in and out, for use with any implementation.

use clap::{Args, Subcommand};
use selfsame_terminal::exit::{Answer, End};

use crate::{holder, issuer, key, registry, verifier};

/// Run the steps of AnonCreds one by one, with messages in files or pipes.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds schema --issuer did:web:issuer.example --name donor --version 1.0 --attribute name

A step reads each message from its file, or from standard input where the file is optional. It prints its result to
standard output, and writes secrets to separate files. docs/anoncreds.md shows all steps."
)]
pub struct AnonCreds {
    #[command(subcommand)]
    step: AnoncredsVerb,
}

#[derive(Subcommand)]
enum AnoncredsVerb {
    /// Create a schema.
    Schema(issuer::NewSchema),
    /// Create a credential definition: the issuer's keys.
    CredDef(issuer::NewDefinition),
    /// Offer a credential.
    Offer(issuer::Offer),
    /// Show what an issuer proves about its key.
    Key(key::Key),
    /// Request the offered credential.
    Request(holder::RequestCredential),
    /// Issue the requested credential.
    Issue(Box<issuer::IssueCredential>),
    /// Check and finish an issued credential.
    Process(holder::Process),
    /// Create a revocation registry and its tails file.
    RevReg(registry::NewRegistry),
    /// Create the first status list of a registry.
    StatusList(registry::NewList),
    /// Create the next status list, with credentials revoked or issued again.
    Revoke(registry::Revoke),
    /// Answer a presentation request.
    Present(Box<holder::PresentAnoncreds>),
    /// Verify a presentation.
    Verify(verifier::Verify),
}

impl AnonCreds {
    /// Runs the step.
    pub fn run(self) -> End {
        match self.step {
            AnoncredsVerb::Schema(step) => step.run()?,
            AnoncredsVerb::CredDef(step) => step.run()?,
            AnoncredsVerb::Offer(step) => step.run()?,
            AnoncredsVerb::Key(step) => step.run()?,
            AnoncredsVerb::Request(step) => step.run()?,
            AnoncredsVerb::Issue(step) => step.run()?,
            AnoncredsVerb::Process(step) => step.run()?,
            AnoncredsVerb::RevReg(step) => step.run()?,
            AnoncredsVerb::StatusList(step) => step.run()?,
            AnoncredsVerb::Revoke(step) => step.run()?,
            AnoncredsVerb::Present(step) => step.run()?,
            AnoncredsVerb::Verify(step) => return step.run(),
        }
        Ok(Answer::Yes)
    }
}
