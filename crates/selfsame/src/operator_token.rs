//! Where the operator's token is kept: beside the data only if the master key is too.

use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_app::operator::Operator;
use selfsame_crypto::SecretString;
use selfsame_driver::Reason;
use selfsame_driver::data_directory::TOKEN_FILE;
use selfsame_store::Store;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::master_key::Custody;
use selfsame_terminal::output;

use crate::private_file;

const BESIDE: &str = "the operator's token is stored next to the data, so anyone who copies both can read everything: move the file elsewhere and name it with --operator-token-file, or keep the token in a password manager and remove the file";
const RENEW: &str = "put the token back; or remove the file and start again, which creates a new token and invalidates the old one";

/// Who keeps the operator's token.
#[derive(Args, Default)]
pub struct OperatorToken {
    /// The file that the operator's token is written to at the first start. Without it, the token is stored in the data
    /// directory if the master key is there too; otherwise it is printed once.
    #[arg(long, value_name = "FILE")]
    operator_token_file: Option<PathBuf>,
    /// Create a new operator's token; the previous one becomes invalid.
    #[arg(long)]
    new_operator_token: bool,
}

impl OperatorToken {
    /// With this file, if no other is named.
    pub fn unless_named(&mut self, file: PathBuf) {
        self.operator_token_file.get_or_insert(file);
    }

    /// For one of several processes: the file of all of them, if no other is named. One process alone makes a new token.
    pub fn share(&mut self, file: PathBuf, is_first: bool) {
        self.operator_token_file.get_or_insert(file);
        self.new_operator_token &= is_first;
    }
}

/// Where the token is kept, and whether to make a new one.
pub struct Keeping {
    /// The file, if the token is kept in one.
    pub file: Option<PathBuf>,
    renews: bool,
    /// Whether other processes may use the same records, so that a missing file is no wish for another token.
    pub is_shared: bool,
}

impl Keeping {
    /// In the file that the operator names. By default beside the data, but in no file if the master key is kept
    /// elsewhere: anyone who copied the data could read everything with the token.
    pub fn of(data: &Path, custody: &Custody, token: &OperatorToken, is_shared: bool) -> Self {
        let beside = data.join(TOKEN_FILE);
        let file = match (&token.operator_token_file, custody) {
            (Some(file), _) => Some(file.clone()),
            (None, Custody::BesideTheData) => Some(beside),
            (None, Custody::File(_) | Custody::Passphrase(_) | Custody::Hsm(_)) => {
                if beside.exists() {
                    output::complain(&format!("selfsame: {}: {BESIDE}", beside.display()));
                }
                None
            }
        };
        Self {
            file,
            renews: token.new_operator_token,
            is_shared,
        }
    }

    /// Forgets the token in this store if a new one is wanted: its file was lost or removed, or `renews` is set.
    ///
    /// # Errors
    /// The store's.
    pub async fn renew(&self, store: &Store) -> Result<(), Failure> {
        let is_gone = self.file.as_ref().is_some_and(|file| !file.exists());
        if (is_gone && !self.is_shared) || self.renews {
            Operator::forget(store).await?;
        }
        Ok(())
    }

    /// Writes a new token to the file, so that commands on this machine find it; returns it if it is kept in no file.
    /// An existing file must hold the token of these data.
    ///
    /// # Errors
    /// If the file can't be read or written, or holds another token.
    pub fn keep(
        &self,
        new: Option<SecretString>,
        operator: &Operator,
    ) -> Result<Option<SecretString>, Failure> {
        let Some(file) = &self.file else {
            return Ok(new);
        };
        let Some(token) = new else {
            if self.is_shared && !file.exists() {
                return Ok(None);
            }
            let kept = private_file::read(file, Reason::text(RENEW))?;
            if operator.is_token(kept.expose()) {
                return Ok(None);
            }
            let what = "not the operator's token of these data";
            return Err(Failure::environment(format!("{}: {what}", file.display())).hint(RENEW));
        };
        // The token of former data, which a restored backup replaced.
        if file.exists() {
            std::fs::remove_file(file)?;
        }
        private_file::write(file, token.expose().as_bytes())?;
        Ok(None)
    }
}
