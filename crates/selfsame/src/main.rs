//! The `selfsame` command: parses the command line, runs one subcommand, maps its end to an exit code.

mod agents;
mod as_node;
mod cmd;
mod database;
mod instance;
mod kept;
mod operator_token;
mod settings;
mod tls;
mod traces;
mod trusting;

use std::process::ExitCode;

use clap::Parser;
use selfsame_driver::private_file;
use selfsame_network::directory as private_directory;
use selfsame_terminal::exit::{Failure, report};

// The C library's allocator does not return the memory of each Argon2 hash; this one does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = cmd::Cli::parse();
    // The server adds event loops of its own, one for each further core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let end = match runtime {
        Ok(runtime) => runtime.block_on(command.run()),
        Err(error) => Err(Failure::environment(format!(
            "can't start the runtime: {error}"
        ))),
    };
    report(end)
}
