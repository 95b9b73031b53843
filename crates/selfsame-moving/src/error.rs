//! Why something was not moved, by who must act.

use selfsame_crypto::password::PasswordError;
use selfsame_store::StoreError;

/// Why a tenant was not moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The file is not one of a moved tenant.
    #[error("this is not the file of a moved tenant: {0}")]
    Foreign(&'static str),
    /// Another release wrote the file.
    #[error("the file has version {0}, which this release does not read")]
    OtherVersion(u64),
    /// The key is wrong, or the file's first lines were changed.
    #[error("the key does not open this file, or its first two lines were changed")]
    KeyWrong,
    /// The key is unusable.
    #[error(transparent)]
    Key(#[from] PasswordError),
    /// The instance has the tenant.
    #[error("this instance has the tenant already")]
    There,
    /// The import of another file with this tenant was begun here.
    #[error("the import of another file with this tenant was begun here, and is not finished")]
    Unfinished,
    /// No import of this tenant was begun, or it is finished.
    #[error("there is no unfinished import of this tenant")]
    NothingBegun,
    /// The tenant has calls to make, too many for one commit.
    #[error("the tenant has {0} calls to make, more than can be moved at once")]
    Calls(usize),
    /// The rows that arrived are not those of the file.
    #[error("the rows of the tenant are not those of the file: {0}")]
    Different(String),
    /// The file can't be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The organisation can't be moved, or the entry of the audit trail can't be written.
    #[error("{0}")]
    Refused(#[from] selfsame_driver::Error),
    /// The records can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
