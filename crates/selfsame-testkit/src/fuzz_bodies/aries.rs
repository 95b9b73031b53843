//! Messages of Aries protocols in both forms, and invitations.

use selfsame_aries::out_of_band::{InvitationText, read_invitation};
use selfsame_aries::protocol;
use selfsame_aries_v2::{forms, invitation};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Version;
use serde_json::{Value, json};

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

/// A message or an invitation of DIDComm v2: what is read as one of the Aries RFCs is written again,
/// and has one form.
pub fn aries_v2_message(data: &[u8]) -> bool {
    let Ok(message) = Message::read(data, Version::V2) else {
        return false;
    };
    let invited = invitation::read(message.to_members(Version::V2)).is_ok();
    let Ok(read) = forms::read(&message) else {
        return invited;
    };
    assert_eq!(read.id, message.id);
    let crossed = |message: &Message| {
        let written = forms::write(message).expect("what was read has a form");
        let sent = Message::read(&written.write(Version::V2), Version::V2);
        let sent = sent.expect("what is written can be read");
        forms::read(&sent).expect("it has a form")
    };
    let once = crossed(&read);
    assert_eq!(once.kind, read.kind);
    assert_eq!(crossed(&once), once, "it has one form");
    true
}

/// The examples of the RFCs as DIDComm v2 writes them, and an invitation.
pub(super) fn v2_seeds() -> Vec<Vec<u8>> {
    let messages: Value = serde_json::from_str(MESSAGES).expect("the vectors are JSON");
    let cases = messages["cases"].as_array().into_iter().flatten();
    let members = cases.filter_map(|case| case["message"].as_object().cloned());
    let read = members.filter_map(|members| Message::from_members(members, Version::V1).ok());
    let written = read.filter_map(|message| forms::write(&message).ok());
    let texts = written.map(|message| message.write(Version::V2));
    let invitation = json!({
        "type": "https://didcomm.org/out-of-band/2.0/invitation", "id": "1",
        "from": "did:example:alice", "body": {"goal": "To connect", "accept": ["didcomm/v2"]},
    });
    let invitation = std::iter::once(invitation.to_string().into_bytes());
    texts
        .chain(invitation)
        .filter(|seed| aries_v2_message(seed))
        .collect()
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
