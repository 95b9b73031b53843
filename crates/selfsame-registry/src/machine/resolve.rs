//! Resolution: the DID document and its metadata, of the present version, of a numbered one, or of the one at a time.

use selfsame_did::{
    Did, DidUrl, Document, DocumentMetadata, Options, Relationship, Resolution, ResolutionError,
    Service, SyntaxError, VerificationMethod,
};
use serde_json::{Map, Value};

use crate::content::{Content, Uses};
use crate::did::DidVersion;
use crate::history::{History, PresentVersion};
use crate::identifier::Identifier;
use crate::receipt::Receipt;
use crate::state::{StateError, StateKey, StateRead};

use super::StateMachine;

/// The uses of keys and their names in DID Core.
const RELATIONSHIPS: [(Uses, Relationship); 5] = [
    (Uses::AUTHENTICATION, Relationship::Authentication),
    (Uses::ASSERTION, Relationship::AssertionMethod),
    (Uses::AGREEMENT, Relationship::KeyAgreement),
    (Uses::INVOCATION, Relationship::CapabilityInvocation),
    (Uses::DELEGATION, Relationship::CapabilityDelegation),
];

impl StateMachine {
    /// Resolves a DID of this network. A failure is a [`Resolution`] too.
    pub fn resolve(&self, state: &dyn StateRead, did: &Did, options: &Options) -> Resolution {
        let Some(id) = Identifier::of_did(did, self.network()) else {
            // A DID of another network, or not a `did:selfsame`.
            return Resolution::failed(match selfsame_did::selfsame::parts(did) {
                Some(_) => ResolutionError::NotFound,
                None => ResolutionError::InvalidDid,
            });
        };
        let state = self.begun(state);
        let history = History::new(&state, StateKey::Did(id));
        match resolved(&history, did, options) {
            Ok(Ok(resolution)) => resolution,
            Ok(Err(error)) => Resolution::failed(error),
            Err(_) => Resolution::failed(ResolutionError::InternalError),
        }
    }

    /// The number and the content of the present version of a DID, to make an update from. The content is `None` if the
    /// DID is deactivated.
    pub fn present(
        &self,
        state: &dyn StateRead,
        did: &Did,
    ) -> Result<Option<(u64, Option<Content>)>, StateError> {
        let Some(id) = Identifier::of_did(did, &self.network) else {
            return Ok(None);
        };
        let state = self.begun(state);
        let present = History::<DidVersion>::new(&state, StateKey::Did(id)).last()?;
        Ok(present.map(|(number, version)| (number, version.content)))
    }

    /// The receipts of the transactions that made the last `count` versions of a DID, oldest first; empty for a DID
    /// that this network does not know.
    pub fn history(
        &self,
        state: &dyn StateRead,
        did: &Did,
        count: usize,
    ) -> Result<Vec<Receipt>, StateError> {
        let Some(id) = Identifier::of_did(did, self.network()) else {
            return Ok(Vec::new());
        };
        let state = self.begun(state);
        let versions = History::<DidVersion>::new(&state, StateKey::Did(id)).latest(count)?;
        Ok(versions
            .into_iter()
            .map(|version| version.receipt)
            .collect())
    }
}

type Versions<'a> = History<'a, DidVersion>;

fn resolved(
    versions: &Versions<'_>,
    did: &Did,
    options: &Options,
) -> Result<Result<Resolution, ResolutionError>, StateError> {
    let Some(present) = versions.present()? else {
        return Ok(Err(ResolutionError::NotFound));
    };
    let wanted = match (&options.version_id, options.version_time) {
        (Some(_), Some(_)) => return Ok(Err(ResolutionError::InvalidOptions)),
        (Some(version), None) => version_number(version).filter(|n| *n <= present.version),
        (None, Some(time)) => versions.number_at(time)?,
        (None, None) => Some(present.version),
    };
    let Some(number) = wanted else {
        let mut missing = Resolution::failed(ResolutionError::NotFound);
        missing.metadata.reason = Some("the DID has no such version".to_owned());
        return Ok(Ok(missing));
    };
    // Read once: decompressing a key takes as long as verifying a signature with it.
    let version = versions.version(number)?;
    let metadata = metadata(versions, number, &version, present)?;
    let Some(content) = version.content else {
        return Ok(Ok(Resolution::deactivated(metadata)));
    };
    let document = document(did, &content)
        .map_err(|error| StateError(format!("a record makes no document ({error})")))?;
    let mut resolution = Resolution::found(document, options.accept);
    resolution.document_metadata = metadata;
    Ok(Ok(resolution))
}

fn metadata(
    versions: &Versions<'_>,
    number: u64,
    version: &DidVersion,
    present: PresentVersion,
) -> Result<DocumentMetadata, StateError> {
    let next = match number < present.version {
        true => Some(number.saturating_add(1)),
        false => None,
    };
    let time = |number| versions.version(number).map(|version| version.receipt.time);
    let own = version.receipt.time;
    let (created, updated) = match number {
        1 => (own, None),
        _ => (time(1)?, Some(own)),
    };
    Ok(DocumentMetadata {
        created: Some(created),
        updated,
        // DID Core §7.1.3: this is about the DID, not about the requested version.
        deactivated: present.deactivated,
        next_update: next.map(time).transpose()?,
        version_id: Some(number.to_string()),
        next_version_id: next.map(|next| next.to_string()),
        ..DocumentMetadata::default()
    })
}

/// Parses a version, which is written in decimal, from 1, without leading zeroes.
fn version_number(text: &str) -> Option<u64> {
    let number = text.parse::<u64>().ok()?;
    (number > 0 && number.to_string() == text).then_some(number)
}

fn document(did: &Did, content: &Content) -> Result<Document, SyntaxError> {
    let mut document = Document::new(did.clone());
    document.also_known_as.clone_from(&content.also_known_as);
    for key in &content.keys {
        let id = DidUrl::join(did, &format!("#{}", key.id))?;
        let listed = RELATIONSHIPS
            .iter()
            .filter(|(uses, _)| key.uses.include(*uses));
        let relationships: Vec<Relationship> =
            listed.map(|(_, relationship)| *relationship).collect();
        document.add(
            VerificationMethod::multikey(id, &key.public),
            &relationships,
        );
    }
    document.service = content
        .services
        .iter()
        .map(|service| Service {
            id: format!("{did}#{}", service.id),
            type_: vec![service.kind.clone()],
            endpoint: Value::String(service.endpoint.clone()),
            other: Map::new(),
        })
        .collect();
    Ok(document)
}
