//! `selfsame completions` and `selfsame manual`: what a shell and `man` know of the commands.

use std::io;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use crate::cmd::Cli;

/// Print the completions for a shell.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame completions bash > ~/.local/share/bash-completion/completions/selfsame"
)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints them.
    pub fn run(self) -> End {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "selfsame", &mut text);
        String::from_utf8_lossy(&text).lines().for_each(output::say);
        Ok(Answer::Yes)
    }
}

/// Write the manual pages of all commands into a directory.
#[derive(Args)]
#[command(after_help = "Example: selfsame manual ~/.local/share/man/man1")]
pub struct Manual {
    /// The directory; it is created if it is not there.
    directory: PathBuf,
}

impl Manual {
    /// Writes them.
    pub fn run(self) -> End {
        let written = self.write();
        written.map_err(|error| {
            Failure::environment(format!("{}: {error}", self.directory.display()))
        })?;
        output::say(&format!("the pages are in {}", self.directory.display()));
        Ok(Answer::Yes)
    }

    fn write(&self) -> io::Result<()> {
        std::fs::create_dir_all(&self.directory)?;
        clap_mangen::generate_to(Cli::command(), &self.directory)
    }
}
