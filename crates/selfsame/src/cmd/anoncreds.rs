//! `selfsame anoncreds`: each step of AnonCreds separately, with JSON in and out, for use with any implementation.

mod files;
mod holder;
mod issuer;
mod key;
mod registry;
mod verifier;

use clap::{Args, Subcommand};

use crate::exit::{Answer, End};

/// Run the steps of AnonCreds one by one, with messages in files or pipes.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds schema --issuer did:web:issuer.example --name donor --version 1.0 --attribute name

A step reads each message from its file, or from standard input where the file is optional. It prints its result to
standard output, and writes secrets to separate files. docs/anoncreds.md shows all steps."
)]
pub struct AnonCreds {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    /// Create a schema.
    Schema(issuer::NewSchema),
    /// Create a credential definition: the issuer's keys.
    CredDef(issuer::NewDefinition),
    /// Offer a credential.
    Offer(issuer::Offer),
    /// Show what an issuer proves about its key.
    Key(key::Key),
    /// Request the offered credential.
    Request(holder::Request),
    /// Issue the requested credential.
    Issue(Box<issuer::Issue>),
    /// Check and finish an issued credential.
    Process(holder::Process),
    /// Create a revocation registry and its tails file.
    RevReg(registry::NewRegistry),
    /// Create the first status list of a registry.
    StatusList(registry::NewList),
    /// Create the next status list, with credentials revoked or issued again.
    Revoke(registry::Revoke),
    /// Answer a presentation request.
    Present(Box<holder::Present>),
    /// Verify a presentation.
    Verify(verifier::Verify),
}

impl AnonCreds {
    /// Runs the step.
    pub fn run(self) -> End {
        match self.step {
            Step::Schema(step) => step.run()?,
            Step::CredDef(step) => step.run()?,
            Step::Offer(step) => step.run()?,
            Step::Key(step) => step.run()?,
            Step::Request(step) => step.run()?,
            Step::Issue(step) => step.run()?,
            Step::Process(step) => step.run()?,
            Step::RevReg(step) => step.run()?,
            Step::StatusList(step) => step.run()?,
            Step::Revoke(step) => step.run()?,
            Step::Present(step) => step.run()?,
            Step::Verify(step) => return step.run(),
        }
        Ok(Answer::Yes)
    }
}
