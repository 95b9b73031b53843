//! `selfsame anoncreds`: each step of AnonCreds separately, with JSON in and out, for use with any implementation.

mod choose;
mod files;
mod holder;
mod issuer;
mod key;
mod registry;
mod verifier;

use clap::{Args, Subcommand};

use crate::exit::{Answer, End};

/// Walk the steps of AnonCreds one by one, with messages in files or pipes.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds schema --issuer did:web:issuer.example --name donor --version 1.0 --attribute name

A message that a step reads comes from its file, or from standard input where a file is optional; what a step makes
goes to standard output, and what must stay secret to a file of its own. docs/anoncreds.md walks through all steps."
)]
pub struct AnonCreds {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    /// Make a schema.
    Schema(issuer::NewSchema),
    /// Make a credential definition: the issuer's keys.
    CredDef(issuer::NewDefinition),
    /// Offer a credential.
    Offer(issuer::Offer),
    /// Say what an issuer proves of its key.
    Key(key::Key),
    /// Ask for the credential that is offered.
    Request(holder::Request),
    /// Issue the credential that is asked for.
    Issue(Box<issuer::Issue>),
    /// Check a credential that was issued, and finish it.
    Process(holder::Process),
    /// Make a revocation registry and its tails file.
    RevReg(registry::NewRegistry),
    /// Make the first status list of a registry.
    StatusList(registry::NewList),
    /// Make the next status list, with credentials revoked or issued again.
    Revoke(registry::Revoke),
    /// Answer a presentation request.
    Present(Box<holder::Present>),
    /// Judge a presentation.
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
