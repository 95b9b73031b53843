//! Messages that other protocols adopt: acknowledgements (RFC 0015) and problem reports (RFC 0035).

mod messages;

use selfsame_didcomm::message::{MessageType, Semver};

pub use messages::{Ack, NotificationMessage, ProblemReport};

/// The protocol of acknowledgements.
const ACKS: &str = "notification";
/// The protocol of problem reports. Some agents send them as `notification/1.0/problem-report`, as RFC 0035 shows.
const REPORTS: &str = "report-problem";

/// Whether this is a message that other protocols adopt.
pub fn is_adopted(kind: &MessageType) -> bool {
    let version = Semver::new(1, 0);
    kind.version.common(version).is_some() && (kind.is(ACKS, "ack") || is_free_report(kind))
}

fn is_free_report(kind: &MessageType) -> bool {
    kind.is(REPORTS, "problem-report") || kind.is(ACKS, "problem-report")
}

/// The type of a problem report that is not of a protocol's own, with the prefix of this type.
pub fn report_type(of: &MessageType) -> MessageType {
    let kind = MessageType::new(REPORTS, Semver::new(1, 0), "problem-report");
    kind.with_prefix(of.prefix.clone())
}
