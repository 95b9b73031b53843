//! Messages of Aries protocols, and invitations as links.

use selfsame_aries::out_of_band::{InvitationText, read_invitation};
use selfsame_aries::protocol;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Version;
use serde_json::Value;

const MESSAGES: &str = include_str!("../../../../vectors/aries/messages.json");
const LINKS: &str = include_str!("../../../../vectors/aries/invitations.json");

/// A message of any protocol of the table, or an invitation as a link: what is read is written in one form, which is
/// read again.
pub fn aries_message(data: &[u8]) -> bool {
    let link = std::str::from_utf8(data).is_ok_and(|text| read_invitation(text).is_ok());
    let Ok(message) = Message::read(data, Version::V1) else {
        return link;
    };
    let Some(protocol) = protocol::find(&message.kind) else {
        return link;
    };
    let Ok(written) = (protocol.reread)(&message) else {
        return link;
    };
    assert_eq!(written.id, message.id);
    assert_eq!(written.kind.prefix, message.kind.prefix);
    assert!(written.kind.version <= message.kind.version);
    let read = Message::read(&written.write(Version::V1), Version::V1);
    assert_eq!(
        read.as_ref(),
        Ok(&written),
        "what is written reads back as itself"
    );
    let again = (protocol.reread)(&written);
    assert_eq!(again.as_ref(), Ok(&written), "it has one form");
    true
}

/// The examples of the RFCs that are read.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let messages: Value = serde_json::from_str(MESSAGES).expect("the vectors are JSON");
    let cases = messages["cases"].as_array().into_iter().flatten();
    let read = cases.filter(|case| case.get("refused").is_none());
    let texts = read.map(|case| case["message"].to_string());
    let links: Value = serde_json::from_str(LINKS).expect("the vectors are JSON");
    let links = ["out_of_band", "connection"].map(|name| links[name].clone());
    let links = links
        .into_iter()
        .filter_map(|link| link.as_str().map(str::to_owned));
    let all = texts.chain(links.filter(|link| is_invitation(link)));
    all.map(String::into_bytes)
        .filter(|seed| aries_message(seed))
        .collect()
}

fn is_invitation(text: &str) -> bool {
    matches!(
        read_invitation(text),
        Ok(InvitationText::OutOfBand(_) | InvitationText::Connection(_))
    )
}
