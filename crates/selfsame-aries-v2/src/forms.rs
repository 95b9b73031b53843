//! The table of protocols in both forms: that of the Aries RFCs, which the machines know, and that of DIDComm v2. To add
//! one, add its file in this folder and its line in [`FORMS`].

mod exchange;
mod features;
mod ping;
mod report;
mod revocation;
mod text;

use selfsame_aries::discover_features::Feature;
use selfsame_aries::protocol;
use selfsame_aries::wire::{Unreadable, is_report};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver, Thread};

/// A protocol in both forms.
#[derive(Clone, Copy, Debug)]
pub struct TwoForms {
    /// Its name and version in the RFCs.
    pub rfc: NamedVersion,
    /// Its name and version in DIDComm v2.
    pub v2: NamedVersion,
    /// The messages whose names differ.
    pub renamed: &'static [RenamedMessage],
    /// Writes what a message of the RFC says as DIDComm v2 does. The type is written already.
    pub write: fn(&mut Message) -> Result<(), Unreadable>,
    /// Reads what a message of DIDComm v2 says as the RFC writes it. The type is that of the RFC already.
    pub read: fn(&mut Message) -> Result<(), Unreadable>,
}

/// A protocol and its version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NamedVersion {
    /// The protocol's name, as message types have it.
    pub name: &'static str,
    /// Its latest version.
    pub version: Semver,
}

/// A message whose name is not the same in both forms.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RenamedMessage {
    /// In the RFC.
    pub rfc: &'static str,
    /// In DIDComm v2.
    pub v2: &'static str,
}

/// The protocols that are spoken over DIDComm v2. Forwarding is the envelopes', invitations are in `invitation`.
pub const FORMS: &[&TwoForms] = &[
    &ping::FORM,
    &text::FORM,
    &features::FORM,
    &exchange::ISSUING,
    &exchange::PROVING,
    &revocation::FORM,
    &revocation::FIRST,
    &report::FORM,
];

/// The protocols of DIDComm v2 that are not in the table, and the roles in them.
const BESIDE: [(&str, &[&str]); 3] = [
    (
        "https://didcomm.org/out-of-band/2.0",
        &["sender", "receiver"],
    ),
    ("https://didcomm.org/routing/2.0", &["sender"]),
    ("https://didcomm.org/empty/1.0", &["sender", "receiver"]),
];
/// The protocol of messages that say nothing but their headers.
const EMPTY: &str = "empty";

impl NamedVersion {
    /// The version `major.minor` of a protocol.
    pub const fn new(name: &'static str, version: Semver) -> Self {
        Self { name, version }
    }

    fn is_of(&self, kind: &MessageType) -> bool {
        kind.is_of(self.name, self.version.major) && self.version.common(kind.version).is_some()
    }

    fn named(&self, message: &str) -> MessageType {
        MessageType::new(self.name, self.version, message)
    }
}

impl TwoForms {
    fn v2_name<'a>(&self, name: &'a str) -> &'a str {
        let mut renamed = self.renamed.iter();
        renamed
            .find(|one| one.rfc == name)
            .map_or(name, |one| one.v2)
    }

    fn rfc_name<'a>(&self, name: &'a str) -> &'a str {
        let mut renamed = self.renamed.iter();
        renamed
            .find(|one| one.v2 == name)
            .map_or(name, |one| one.rfc)
    }
}

/// The message of DIDComm v2 that says what a message of the Aries RFCs says. What an envelope adds, such as sender and
/// recipient, is added when it is packed.
///
/// # Errors
/// `Protocol` if the protocol is not spoken over DIDComm v2; why it can't be written otherwise.
pub fn write(message: &Message) -> Result<Message, Unreadable> {
    let mut written = message.clone();
    // Decorators and what else v1 alone has.
    written.other.clear();
    let Thread { thid, pthid, .. } = message.thread.clone();
    written.thread = Thread {
        thid,
        pthid,
        ..Thread::default()
    };
    if is_report(&message.kind) {
        report::write(&mut written);
        return Ok(written);
    }
    if is_empty(message) {
        return Ok(written);
    }
    let mut forms = FORMS.iter();
    let form = forms.find(|form| form.rfc.is_of(&message.kind));
    let form = form.ok_or(Unreadable::Protocol)?;
    written.kind = form.v2.named(form.v2_name(&message.kind.name));
    text::keep_language(message, &mut written);
    (form.write)(&mut written)?;
    Ok(written)
}

/// The message of the Aries RFCs that says what a message of DIDComm v2 says. Headers that the RFCs do not have stay.
///
/// # Errors
/// `Protocol` or `Version` if it is not spoken over DIDComm v2; why it can't be read otherwise.
pub fn read(message: &Message) -> Result<Message, Unreadable> {
    let kind = &message.kind;
    let mut read = message.clone();
    read.other.clear();
    if is_report(kind) {
        report::read(&mut read);
        return Ok(read);
    }
    if is_empty(message) {
        read.kind = empty_kind();
        return Ok(read);
    }
    let mut forms = FORMS.iter();
    let Some(form) = forms.find(|form| form.v2.is_of(kind)) else {
        let mut names = FORMS.iter();
        let is_known = names.any(|form| kind.is_of(form.v2.name, kind.version.major));
        return Err(match is_known {
            true => Unreadable::Version,
            false => Unreadable::Protocol,
        });
    };
    read.kind = form.rfc.named(form.rfc_name(&kind.name));
    text::take_language(message, &mut read);
    (form.read)(&mut read)?;
    Ok(read)
}

/// Whether a message of DIDComm v2 says nothing but its headers.
pub fn is_empty(message: &Message) -> bool {
    message.kind.is_of(EMPTY, 1)
}

/// A message in this thread that acknowledges messages and says nothing else (DIDComm v2.1, "ACKs", "Empty Message").
pub fn acknowledgement(thread: &str, acks: Vec<String>, id: String) -> Message {
    let mut message = Message::new(empty_kind(), id);
    message.thread.thid = Some(thread.to_owned());
    message.acks = acks;
    message
}

fn empty_kind() -> MessageType {
    MessageType::new(EMPTY, Semver::new(1, 0), EMPTY)
}

/// What is said of the protocols over DIDComm v2 to who asks for features.
pub fn features() -> Vec<Feature> {
    let feature = |id: String, roles: &[&str]| Feature {
        feature_type: "protocol".to_owned(),
        id,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
    };
    let spoken = FORMS.iter().map(|form| {
        let id = form.v2.named("").to_string();
        let known = protocol::find(&form.rfc.named("any"));
        let roles = known.map_or(&["sender", "receiver"][..], |known| known.roles);
        feature(id.trim_end_matches('/').to_owned(), roles)
    });
    let beside = BESIDE.iter();
    let beside = beside.map(|(id, roles)| feature((*id).to_owned(), roles));
    spoken.chain(beside).collect()
}

#[cfg(test)]
mod tests;
