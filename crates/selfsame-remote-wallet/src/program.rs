//! The programs that use rows, and what they may do.

use async_trait::async_trait;
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Result;

/// A program with an API key.
#[derive(Clone, Debug)]
pub struct RowsProgram {
    /// The name of the key.
    pub name: String,
    /// Whether it may read rows; the refusal if not.
    pub reads: Result<()>,
    /// Whether it may write rows; the refusal if not.
    pub writes: Result<()>,
}

/// Knows API keys.
#[async_trait]
pub trait KeyKnower: Send + Sync {
    /// The program with this API key, and what it may do in an organisation; `None` for a key that is none, or over.
    ///
    /// # Errors
    /// The store's.
    async fn program(&self, at: &OrganisationName, key: &str) -> Result<Option<RowsProgram>>;
}
