//! Drafts of changes on the cheqd network: the document for a registrar, and the bytes that its keys sign.

use selfsame_crypto::{KeyType, PublicKey};
use serde_json::Value;

use crate::did::{Did, SyntaxError};
use crate::document::{Document, Relationship, Representation, VerificationMethod};

/// Field numbers of `MsgCreateDidDocPayload`, with the document's members they hold. `MsgUpdateDidDocPayload` has the
/// same numbers (`cheqd/did/v2/tx.proto`).
const LISTS: [(u32, &str); 2] = [(5, "authentication"), (6, "assertionMethod")];
const CONTEXT: u32 = 1;
const ID: u32 = 2;
const CONTROLLER: u32 = 3;
const VERIFICATION_METHOD: u32 = 4;
const VERSION: u32 = 12;

/// A document of a did:cheqd with Ed25519 keys, controlled by the DID itself.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentDraft {
    document: Document,
}

impl DocumentDraft {
    /// A document without keys.
    pub fn new(did: Did) -> Self {
        let mut document = Document::new(did.clone());
        document.controller.push(did);
        Self { document }
    }

    /// Adds a key. The current key authenticates and signs claims; former keys only verify claims.
    ///
    /// # Errors
    /// If the fragment is malformed, or the key type is not the one of the network's signatures.
    pub fn add(
        &mut self,
        fragment: &str,
        key: &PublicKey,
        is_current: bool,
    ) -> Result<(), SyntaxError> {
        if key.key_type() != KeyType::Ed25519 {
            return Err(SyntaxError::Url);
        }
        let method = VerificationMethod::suited(self.document.id.with_fragment(fragment)?, key);
        let relationships: &[Relationship] = match is_current {
            true => &[Relationship::Authentication, Relationship::AssertionMethod],
            false => &[Relationship::AssertionMethod],
        };
        self.document.add(method, relationships);
        Ok(())
    }

    /// The drafted document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The document in the form a registrar accepts: every member that may be a list is a list.
    pub fn to_value(&self) -> Value {
        let mut value = self.document.to_value(Representation::JsonLd);
        let controller = Value::Array(vec![Value::String(self.document.id.to_string())]);
        if let Some(members) = value.as_object_mut() {
            members.insert("controller".to_owned(), controller);
        }
        value
    }

    /// The bytes that the keys sign to create or update the DID, with this document as version `version`: the payload
    /// in Protocol Buffers, fields in the order of their numbers.
    pub fn signing_bytes(&self, version: &str) -> Vec<u8> {
        let value = self.to_value();
        let mut message = ProtobufMessage::default();
        message.texts(CONTEXT, value.get("@context"));
        message.text(ID, self.document.id.as_str());
        message.texts(CONTROLLER, value.get("controller"));
        let methods = value.get("verificationMethod").and_then(Value::as_array);
        for method in methods.into_iter().flatten() {
            let mut inner = ProtobufMessage::default();
            // `VerificationMethod` of cheqd/did/v2/diddoc.proto. For this type, the material is the multibase text.
            for (number, name) in [
                (1, "id"),
                (2, "type"),
                (3, "controller"),
                (4, "publicKeyMultibase"),
            ] {
                inner.text(
                    number,
                    method.get(name).and_then(Value::as_str).unwrap_or_default(),
                );
            }
            message.bytes(VERIFICATION_METHOD, &inner.0);
        }
        for (number, name) in LISTS {
            message.texts(number, value.get(name));
        }
        message.text(VERSION, version);
        message.0
    }
}

/// The bytes that the keys sign to deactivate a DID (`MsgDeactivateDidDocPayload`), as version `version`.
pub fn deactivation_bytes(did: &Did, version: &str) -> Vec<u8> {
    let mut message = ProtobufMessage::default();
    message.text(1, did.as_str());
    message.text(2, version);
    message.0
}

/// A Protocol Buffers message with only strings and messages as fields.
#[derive(Default)]
struct ProtobufMessage(Vec<u8>);

impl ProtobufMessage {
    /// Writes a string. An empty string is the field's default and is omitted.
    fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(number, text.as_bytes());
        }
    }

    fn texts(&mut self, number: u32, list: Option<&Value>) {
        let list = list.and_then(Value::as_array).into_iter().flatten();
        for text in list.filter_map(Value::as_str) {
            self.bytes(number, text.as_bytes());
        }
    }

    fn bytes(&mut self, number: u32, bytes: &[u8]) {
        // 2 is the wire type of length-delimited fields.
        self.varint(u64::from(number).saturating_mul(8) | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn varint(&mut self, mut value: u64) {
        loop {
            let low = u8::try_from(value & 0x7f).unwrap_or_default();
            value >>= 7;
            if value == 0 {
                self.0.push(low);
                return;
            }
            self.0.push(low | 0x80);
        }
    }
}
