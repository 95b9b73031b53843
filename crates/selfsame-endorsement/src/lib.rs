//! Endorsement of registry transactions by the transaction endorser protocol 1.0, as author and as endorser.
//!
//! Owns: the messages, the record and the steps of the protocol; the records of transactions on both sides; the roles
//! noted of connections; what authors and endorsers do by themselves. Does not own: what a transaction publishes
//! (selfsame-anoncreds-wallet), connections and how messages travel, who may endorse (selfsame-registry).

mod acts;
mod connections;
mod endorsements;
mod entry;
mod machine;
mod meeting;
pub mod protocol;
mod roles;
mod taking;
mod terms;

pub use connections::{PeerConnections, SaidToPeer};
pub use endorsements::{Authors, Endorsements, WeakEndorsements};
pub use entry::TransactionView;
pub use roles::{EndorserInfo, TransactionJobs};
pub use terms::{EndorsementRole, EndorsementTerms};
