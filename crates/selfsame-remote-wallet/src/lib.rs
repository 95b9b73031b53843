//! Rows of Indy wallets of the type "remote", as TheOrgBook's key-value service of 2018 kept them.
//!
//! Owns: the rows, their limits, who may read and write them. Does not own: addresses, members and statuses of that
//! service, which are of `selfsame-endpoints`.

mod program;
mod row;
mod rows;
mod wallets;

pub use program::{KeyKnower, RowsProgram};
pub use row::{NewRow, WalletRow};
pub use rows::{ListedRows, ROWS_LISTED, WalletRows};
pub use wallets::{RemoteWallets, RemoteWalletsParts};
